// bawn-keeper SANDBOX_ID KEEP_FOR_MS CGROUPS [OUTER_UID OUTER_GID]: the parent of a kept sandbox's
// pid 1 (launch/kept.h). Descriptors: 3 the listener, 4 the sealed Plan, 5 the program of pid 1, 6
// the sandbox's lock, 7 and 8 the witnesses, from 9 on the directories of its CGROUPS control
// groups (level bounded), then what Source::fd_slot names (root mode).
// Started by service/continue.cc, in a session of its own.
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "contain/cgroup.h"
#include "contain/engines/native.h"
#include "launch/kept.h"

namespace {

template <class T>
bool ParseNumber(std::string_view text, T* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

constexpr int kFirstGroup = 9;
constexpr int kSlotsEnd = 64;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 6) return 2;
  bawn::launch::KeptSandbox kept;
  if (!ParseNumber(argv[2], &kept.keep_for_ms)) return 2;
  int groups = 0;
  if (!ParseNumber(argv[3], &groups) || groups < 0 || groups > kSlotsEnd - kFirstGroup) return 2;
  // Before anything is opened here: what is open without a gap is what was handed over.
  for (int fd = kFirstGroup + groups; fd < kSlotsEnd && fcntl(fd, F_GETFD) >= 0; ++fd) {
    kept.provision.fds.emplace_back(fd);
  }
  if (groups > 0) {
    std::vector<bawn::UniqueFd> directories;
    for (int fd = kFirstGroup; fd < kFirstGroup + groups; ++fd) directories.emplace_back(fd);
    auto group = bawn::contain::Cgroup::Adopt(std::move(directories),
                                              bawn::contain::Cgroup::NameFor(argv[1]));
    if (!group) return 125;
    kept.provision.group = std::move(*group);
  }
  if (argc == 6) {
    bawn::contain::ProvisionRequest::IdRange range;
    range.count = 1;
    if (!ParseNumber(argv[4], &range.outer_uid) || !ParseNumber(argv[5], &range.outer_gid))
      return 2;
    kept.provision.ids = range;
  }
  bawn::contain::NativeEngine engine(bawn::UniqueFd(5));
  kept.engine = &engine;
  kept.listener.Reset(3);
  kept.provision.sandbox_id = argv[1];
  kept.provision.plan.Reset(4);
  return bawn::launch::ServeKept(std::move(kept)) ? 0 : 125;
}
