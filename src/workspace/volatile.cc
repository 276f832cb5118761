#include <cerrno>
#include <string>
#include <utility>

#include "sys/files.h"
#include "workspace/open.h"

namespace bawn::workspace {
namespace {

constexpr const char* kWorkDirs[] = {"layers/0/work", "git/work"};

}  // namespace

Result<> ForgetVolatile(const SandboxDir& dir) {
  for (const char* name : kWorkDirs) {
    Result<UniqueFd> work = sys::OpenDir(dir.fd.get(), name, sys::kUntrusted);
    if (!work && work.error().sys_errno == ENOENT) continue;
    if (!work) return std::unexpected(work.error());
    // The whole of it: the kernel makes it anew at each mount, and keeps nothing in it.
    BAWN_CHECK_OK(RemoveTree(work->get(), "work"));
  }
  return {};
}

bool IsVolatile(const SandboxDir& dir) {
  for (const char* name : kWorkDirs) {
    // Both directories on the way are of mode 000 by the kernel's own hand; the owner may open
    // them.
    UniqueFd held;
    for (std::string path = std::string(name) + "/work";; path = "incompat") {
      Result<UniqueFd> next = sys::Openat2(held.valid() ? held.get() : dir.fd.get(), path,
                                           O_PATH | O_DIRECTORY, 0, sys::kUntrusted);
      if (!next) break;
      held = std::move(*next);
      if (!sys::FchmodPath(held.get(), 0700)) return true;
      if (sys::Fstatat(held.get(), "volatile")) return true;
    }
  }
  return false;
}

}  // namespace bawn::workspace
