// workspace/owner_open.h
// Opening what a payload left with modes that shut out its owner (000 files, 000 directories): the
// mode is widened through an O_PATH descriptor (RT-10: fchmodat2), the thing is opened, the mode is
// put back. Only ever used below a sandbox's own layers, never on the user's tree.
// A kill -9 between the two steps leaves the wider mode of one object behind; nothing else is lost.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace bawn::workspace {

// Keeps a directory's wider mode until the end of its life.
class WidenedMode {
 public:
  WidenedMode() = default;
  WidenedMode(UniqueFd held, uint32_t mode) : held_(std::move(held)), mode_(mode) {}
  WidenedMode(WidenedMode&&) noexcept = default;
  WidenedMode& operator=(WidenedMode&& other) noexcept;
  ~WidenedMode() { Restore(); }

 private:
  void Restore();
  UniqueFd held_;
  uint32_t mode_ = 0;
};

struct OwnedDir {
  UniqueFd fd;
  WidenedMode widened;
};
// One component of a path. ENOTDIR and ELOOP stay errnos. `known_mode`: as a look at it just
// showed; 0 when nobody looked.
Result<OwnedDir> OpenDirAsOwner(int dirfd, std::string_view name, uint32_t known_mode = 0);

// For reading; one component, link not followed, FIFO not waited for. The mode is put back before
// it returns.
Result<UniqueFd> OpenFileAsOwner(int dirfd, std::string_view name);

// The same for a path of several components, widening directories on the way while it looks.
// kLink: the link itself (O_PATH), for readlink; ELOOP never comes for it.
enum class OpenAs { kFile, kLink };
Result<UniqueFd> OpenPathAsOwner(int rootfd, std::string_view path, OpenAs as = OpenAs::kFile);

}  // namespace bawn::workspace
