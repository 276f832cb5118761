// contain/subids.h
// Bawn's own subordinate ids: the entry `bawn` of /etc/subuid and /etc/subgid, from which root mode
// leases ranges (launch/id_ranges.h). It must overlap no id of an account, a group or another
// entry: a payload of root mode would have that one's rights (RT-30). Sources: subuid(5),
// subgid(5), passwd(5), group(5). NOT seen: accounts that only a directory service knows (NSS); the
// suggested line lies above what those and container managers use by default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bawn::contain {

inline constexpr std::string_view kSubIdOwner = "bawn";

// Tests name files of their own.
struct SubIdFiles {
  std::string subuid = "/etc/subuid";
  std::string subgid = "/etc/subgid";
  std::string passwd = "/etc/passwd";
  std::string group = "/etc/group";
};

struct IdSpan {
  uint32_t first = 0;
  uint32_t count = 0;
};
struct SubIds {
  IdSpan uids;
  IdSpan gids;
};

// One entry in each file, below 2^32 - 1 and above 65535, clear of everything else.
// kFailedPrecondition: absent (the hint is the line to add, for both files), doubled, malformed (of
// any owner: it may hide an overlap) or overlapping (the message names with what).
Result<SubIds> ReadSubIds(const SubIdFiles& files = {});

}  // namespace bawn::contain
