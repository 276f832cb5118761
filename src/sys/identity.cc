#include "sys/identity.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/files.h"

namespace bawn::sys {
namespace {

// One write(2): a map may be written once, and only whole.
Result<> WriteProcFile(int proc_fd, const std::string& path, const std::string& text) {
  UniqueFd fd = BAWN_TRY(Openat2(proc_fd, path, O_WRONLY));
  if (write(fd.get(), text.data(), text.size()) < 0) {
    return FailErrno(errno, "write(" + path + ", '" + text + "')");
  }
  return {};
}

std::string Line(const IdMapLine& line) {
  return std::to_string(line.inner) + " " + std::to_string(line.outer) + " " +
         std::to_string(line.count) + "\n";
}

}  // namespace

Result<> WriteOwnIdentityMap(int proc_fd, uint32_t uid, uint32_t gid) {
  BAWN_CHECK_OK(WriteProcFile(proc_fd, "self/setgroups", "deny"));
  BAWN_CHECK_OK(WriteProcFile(proc_fd, "self/uid_map", Line({uid, uid, 1})));
  return WriteProcFile(proc_fd, "self/gid_map", Line({gid, gid, 1}));
}

Result<> WriteIdMaps(int pid, const IdMapLine& uids, const IdMapLine& gids) {
  UniqueFd directory = BAWN_TRY(OpenDir(AT_FDCWD, "/proc/" + std::to_string(pid), kNoSymlinks));
  BAWN_CHECK_OK(WriteProcFile(directory.get(), "uid_map", Line(uids)));
  return WriteProcFile(directory.get(), "gid_map", Line(gids));
}

Result<> TakeIds(uint32_t uid, uint32_t gid) {
  if (setgroups(0, nullptr) < 0) return FailErrno(errno, "setgroups(none)");
  if (setresgid(gid, gid, gid) < 0)
    return FailErrno(errno, "setresgid(" + std::to_string(gid) + ")");
  if (setresuid(uid, uid, uid) < 0)
    return FailErrno(errno, "setresuid(" + std::to_string(uid) + ")");
  return {};
}

Result<> CheckIds(uint32_t uid, uint32_t gid) {
  uid_t real_uid = 0, effective_uid = 0, saved_uid = 0;
  gid_t real_gid = 0, effective_gid = 0, saved_gid = 0;
  if (getresuid(&real_uid, &effective_uid, &saved_uid) < 0) return FailErrno(errno, "getresuid");
  if (getresgid(&real_gid, &effective_gid, &saved_gid) < 0) return FailErrno(errno, "getresgid");
  if (real_uid == uid && effective_uid == uid && saved_uid == uid && real_gid == gid &&
      effective_gid == gid && saved_gid == gid) {
    return {};
  }
  return Fail(ErrorCode::kInternal, "ids are " + std::to_string(effective_uid) + ":" +
                                        std::to_string(effective_gid) + ", not " +
                                        std::to_string(uid) + ":" + std::to_string(gid));
}

Result<> SetHostname(const std::string& name) {
  if (sethostname(name.data(), name.size()) < 0)
    return FailErrno(errno, "sethostname(" + name + ")");
  return {};
}

Result<> SetDumpable(bool dumpable) {
  if (prctl(PR_SET_DUMPABLE, dumpable ? 1L : 0L, 0L, 0L, 0L) < 0) {
    return FailErrno(errno, "prctl(PR_SET_DUMPABLE)");
  }
  return {};
}

Result<> SetNoNewPrivileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0) {
    return FailErrno(errno, "prctl(PR_SET_NO_NEW_PRIVS)");
  }
  return {};
}

Result<bool> HasNoNewPrivileges() {
  int value = prctl(PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L);
  if (value < 0) return FailErrno(errno, "prctl(PR_GET_NO_NEW_PRIVS)");
  return value == 1;
}

void SetProcessName(const char* name) { prctl(PR_SET_NAME, name, 0L, 0L, 0L); }

Result<> BecomeSubreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) < 0) {
    return FailErrno(errno, "prctl(PR_SET_CHILD_SUBREAPER)");
  }
  return {};
}

}  // namespace bawn::sys
