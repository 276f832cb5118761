// review/notes.h
// What is said about a path beside its diff, one printable line each.
#pragma once

#include <string>
#include <vector>

#include "review/review.h"

namespace bawn::review {

std::vector<std::string> NotesOf(const Reviewed& reviewed);

}  // namespace bawn::review
