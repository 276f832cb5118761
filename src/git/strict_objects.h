// git/strict_objects.h
// Trees and commits that a payload made, parsed by rules at least as strict as `git fsck --strict`
// (git's fsck.c): what passes can be read in one way only. Pure; no git library looks at the bytes.
// Names are checked as names here; what they mean to the host is for plan/gates.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/repo.h"

namespace bawn::git {

bool IsOidText(std::string_view text);  // 40 lower-case hex digits

// Modes as git writes them, names without '/', not empty, ".", ".." or ".git" in any case, at most
// 255 bytes; in git's order, no name twice (also not once as a file and once as a directory), no
// null id.
Result<std::vector<TreeEntry>> ParseTree(std::string_view bytes);

struct CommitText {
  struct Signature {
    std::string who;   // "Name <mail>"
    std::string when;  // "1700000000 +0100"
  };
  Oid tree;
  std::vector<Oid> parents;
  Signature author, committer;
  std::string encoding;  // of the message; empty: UTF-8
  std::string message;
};
// Other headers (signatures, merged tags) are read over: they belong to the very bytes of a commit,
// and this one will be written anew.
Result<CommitText> ParseCommit(std::string_view bytes);
std::string CommitBytes(const CommitText& commit);

}  // namespace bawn::git
