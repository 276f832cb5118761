#include <cerrno>

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
    std::string inner = std::string(name) + "/work";
    Result<UniqueFd> held =
        sys::Openat2(dir.fd.get(), inner, O_PATH | O_DIRECTORY, 0, sys::kUntrusted);
    if (!held) continue;
    // Mode 000 by the kernel's own hand; the owner may open it.
    if (!sys::FchmodPath(held->get(), 0700)) return true;
    if (sys::Fstatat(held->get(), "incompat/volatile")) return true;
  }
  return false;
}

}  // namespace bawn::workspace
