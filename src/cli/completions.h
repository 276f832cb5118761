// cli/completions.h
// What the three completion scripts share. One file per shell beside this one.
#pragma once

#include <string>
#include <string_view>

#include "cli/table.h"

namespace bawn::cli {

std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

// The names of kept sandboxes, one a line: a pipeline for use inside a completion script.
inline constexpr std::string_view kListNames =
    "bawn list --json 2>/dev/null | sed -n 's/.*\"name\": \"\\([a-z0-9_-]*\\)\".*/\\1/p'";

// "none restricted isolated"
std::string JoinedWords(std::span<const std::string_view> words);

// `text` in single quotes for bash and zsh, or for fish, whose quotes know \' and \\.
std::string ShellQuoted(std::string_view text);
std::string FishQuoted(std::string_view text);

}  // namespace bawn::cli
