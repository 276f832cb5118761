// cli/cli.h
// The command line as one call: parse, refuse inside a sandbox, run the verb, say what went wrong.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "service/bawn.h"

namespace bawn::cli {

// `arguments` without the program's name. Returns the exit code of DESIGN 8.
int Main(const std::vector<std::string>& arguments, const Console& console, service::Bawn& bawn);

// The real descriptors, asked once what they are.
Console ProcessConsole(std::vector<std::string> environment);

}  // namespace bawn::cli
