// plan/gates_text.h
// The text of policy/gates.txt, compiled in.
#pragma once

#include <string_view>

namespace bawn::plan {

std::string_view GatesText();

}  // namespace bawn::plan
