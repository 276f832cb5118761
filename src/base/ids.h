// base/ids.h
// Unguessable ids ("sb_" + 26 characters of lower-case base 32, 128 random bits) and the readable
// names beside them. An id is a safe file name and a safe ref component by construction.
#pragma once

#include <string>
#include <string_view>

namespace bawn {

std::string NewId(std::string_view prefix);                 // "sb_", "job_"
bool IsId(std::string_view text, std::string_view prefix);  // exactly what NewId makes
std::string NewReadableName();  // "brave-otter-k3f": for people, not unique

}  // namespace bawn
