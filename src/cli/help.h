// cli/help.h
// Texts made from the table: help, the manual page, completion scripts, and the table as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "cli/table.h"

namespace bawn::cli {

std::string GeneralHelp();
std::string VerbHelp(Verb verb);
std::string ManualPage();                              // roff, man(7)
std::string CompletionScript(std::string_view shell);  // one of ShellNames()
// {"version", "commands": [{"name", "purpose", "usage", "options": [{"name", "letter", …}]}]}
Json TableJson();

// "bawn run [OPTION]... [--] COMMAND [ARGUMENT]..."
std::string Synopsis(const VerbRow& row);
// "-w, --workspace DIR"
std::string OptionHead(const OptionRow& row);

}  // namespace bawn::cli
