// git/convert.h
// The conversions that git does itself, without a program: line ends and $Id$. Pure.
// Own code, after convert.c of git 2.39: libgit2 1.5 replaces only the first $Id$ of a file, takes
// "$Identity$" for one, and judges CRs already committed by another rule, so its blobs differ from
// those of `git add` (RT-08).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "git/attributes.h"

namespace bawn::git {

enum class AutoCrlf : uint8_t { kFalse, kTrue, kInput };

// What the user's config says: core.autocrlf and core.eol=crlf.
struct LineEndConfig {
  AutoCrlf autocrlf = AutoCrlf::kFalse;
  bool eol_crlf = false;
};

struct TextRules {
  bool text = false;   // line ends are converted at all
  bool guess = false;  // only when the content looks like text
  bool crlf_in_work_tree = false;
  bool ident = false;
};

TextRules RulesFrom(const std::map<std::string, AttributeValue>& attributes,
                    const LineEndConfig& config);

// Work tree -> repository. `base_has_crlf`: HasCommittedCrlf() of the blob now at that path; asked
// for only where it matters (rules.guess).
std::string BytesToGit(const TextRules& rules, std::string_view bytes, bool base_has_crlf);
std::string BytesToWorkTree(const TextRules& rules, std::string_view blob);

// A guessed text file that was committed with CRLF keeps it: git's "safer autocrlf".
bool HasCommittedCrlf(std::string_view blob);

}  // namespace bawn::git
