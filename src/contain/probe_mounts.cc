// Decided in: nowhere; a probe only tries. Enforced by: the kernel, in the probe's own child.
// Recorded as: a fact of `bawn doctor`.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "contain/probes.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/mounts.h"
#include "sys/processes.h"

namespace bawn::contain {
namespace {

constexpr uint64_t kNewUser = 0x10000000;
constexpr uint64_t kQuiet = sys::kNoSuid | sys::kNoDev;

struct Dirs {
  UniqueFd lower, upper, work;
};

Result<UniqueFd> MadeDir(int parent, const char* name) {
  BAWN_CHECK_OK(sys::Mkdirat(parent, name, 0700));
  return sys::OpenDir(parent, name);
}

// A lower directory with one file, on a tmpfs that goes with its last descriptor.
struct PrivateTmpfs {
  UniqueFd mount, lower;
};
Result<PrivateTmpfs> MakeTmpfs() {
  sys::FsBuilder tmpfs = BAWN_TRY(sys::FsBuilder::Open("tmpfs"));
  PrivateTmpfs made;
  made.mount = BAWN_TRY(tmpfs.Mount(kQuiet));
  made.lower = BAWN_TRY(MadeDir(made.mount.get(), "lower"));
  BAWN_CHECK_OK(sys::WriteFileAtomic(made.lower.get(), "below", "base", 0600, false));
  return made;
}

// Writes and deletes through the overlay and looks at what came to lie in the upper.
Result<> UseOverlay(const Dirs& dirs, bool is_volatile) {
  sys::FsBuilder overlay = BAWN_TRY(sys::FsBuilder::Open("overlay"));
  BAWN_CHECK_OK(overlay.SetFlag("userxattr"));
  BAWN_CHECK_OK(overlay.SetFd("lowerdir+", dirs.lower.get()));
  BAWN_CHECK_OK(overlay.SetFd("upperdir", dirs.upper.get()));
  BAWN_CHECK_OK(overlay.SetFd("workdir", dirs.work.get()));
  if (is_volatile) BAWN_CHECK_OK(overlay.SetFlag("volatile"));
  UniqueFd merged = BAWN_TRY(overlay.Mount(kQuiet));
  BAWN_CHECK_OK(sys::WriteFileAtomic(merged.get(), "made", "new", 0600, false));
  BAWN_CHECK_OK(sys::Unlinkat(merged.get(), "below"));
  std::string made = BAWN_TRY(sys::ReadFileAt(dirs.upper.get(), "made", 16));
  sys::FileStat whiteout = BAWN_TRY(sys::Fstatat(dirs.upper.get(), "below"));
  if (made != "new" || !whiteout.IsWhiteout()) {
    return Fail(ErrorCode::kUnavailable, "the upper does not hold what was changed");
  }
  return {};
}

// The id-mapped mount needs a user namespace to name: a child of its own holds one.
Result<UniqueFd> MappedUserNamespace(sys::Child* holder) {
  pid_t own = getpid();
  *holder = BAWN_TRY(sys::Clone3(kNewUser));
  if (holder->pid == 0) sys::WaitToBeKilled(own);
  constexpr sys::IdMapLine kLine = {0, 100000, 65536};
  BAWN_CHECK_OK(sys::WriteIdMaps(holder->pid, kLine, kLine));
  return sys::Openat2(AT_FDCWD, "/proc/" + std::to_string(holder->pid) + "/ns/user", O_RDONLY);
}

// The smallest x86-64 program: one segment that calls exit(0). ELF header, program header, code.
constexpr char kExitZero[] =
    "\x7f\x45\x4c\x46\x02\x01\x01\0\0\0\0\0\0\0\0\0"  // ELF64, little-endian
    "\x02\0\x3e\0\x01\0\0\0\x78\0\x40\0\0\0\0\0"      // EXEC, x86-64, entry
    "\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"              // program header at 64
    "\0\0\0\0\x40\0\x38\0\x01\0\0\0\0\0\0\0"          // one of them
    "\x01\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0"            // LOAD, read and execute
    "\0\0\x40\0\0\0\0\0\0\0\x40\0\0\0\0\0"            // at 0x400000
    "\x81\0\0\0\0\0\0\0\x81\0\0\0\0\0\0\0"            // 129 bytes
    "\0\x10\0\0\0\0\0\0"                              // page alignment
    "\xb8\x3c\0\0\0\x31\xff\x0f\x05";                 // exit(0)
static_assert(sizeof kExitZero == 129 + 1);

// A private tmpfs over /usr, which every system has, with the program as a file in it.
Result<UniqueFd> ProgramOnTmpfs() {
  BAWN_CHECK_OK(sys::MakeTreePrivate());
  sys::FsBuilder tmpfs = BAWN_TRY(sys::FsBuilder::Open("tmpfs"));
  UniqueFd mount = BAWN_TRY(tmpfs.Mount(kQuiet));
  BAWN_CHECK_OK(sys::MoveMount(mount.get(), AT_FDCWD, "/usr"));
  std::string_view program(kExitZero, sizeof kExitZero - 1);
  BAWN_CHECK_OK(sys::WriteFileAtomic(mount.get(), "exit", program, 0700, false));
  return sys::Openat2(mount.get(), "exit", O_PATH);
}

}  // namespace

Result<std::string> ProbeOverlay(bool is_volatile) {
  PrivateTmpfs tmpfs = BAWN_TRY(MakeTmpfs());
  Dirs dirs;
  dirs.lower = std::move(tmpfs.lower);
  dirs.upper = BAWN_TRY(MadeDir(tmpfs.mount.get(), "upper"));
  dirs.work = BAWN_TRY(MadeDir(tmpfs.mount.get(), "work"));
  BAWN_CHECK_OK(UseOverlay(dirs, is_volatile));
  return is_volatile ? "userxattr and volatile, by descriptor" : "userxattr, by descriptor";
}

Result<std::string> ProbeOverlayIn(const std::string& directory) {
  PrivateTmpfs tmpfs = BAWN_TRY(MakeTmpfs());
  Dirs dirs;
  dirs.lower = std::move(tmpfs.lower);
  dirs.upper = BAWN_TRY(sys::OpenDir(AT_FDCWD, directory + "/upper", sys::kNoMagiclinks));
  dirs.work = BAWN_TRY(sys::OpenDir(AT_FDCWD, directory + "/work", sys::kNoMagiclinks));
  BAWN_CHECK_OK(UseOverlay(dirs, true));
  return "an upper there works";
}

Result<std::string> ProbeDetachedExec() {
  UniqueFd file = BAWN_TRY(ProgramOnTmpfs());
  UniqueFd program = BAWN_TRY(sys::CloneTree(file.get(), "", false));
  BAWN_CHECK_OK(sys::SetMountAttributes(program.get(), sys::kReadOnly | kQuiet, false));
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) _exit(sys::ExecFd(program.get(), {"bawn-probe"}, {}).sys_errno);
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (WIFEXITED(exit.status) && WEXITSTATUS(exit.status) != 0) {
    return FailErrno(WEXITSTATUS(exit.status), "execveat(detached mount)");
  }
  if (!WIFEXITED(exit.status)) {
    return Fail(ErrorCode::kUnavailable, "a program on a detached mount died");
  }
  return "a program runs from a read-only detached mount";
}

Result<std::string> ProbeIdmappedMounts() {
  sys::Child holder;
  Result<UniqueFd> userns = MappedUserNamespace(&holder);
  Result<std::string> answer = [&]() -> Result<std::string> {
    if (!userns) return std::unexpected(userns.error());
    UniqueFd tree = BAWN_TRY(sys::CloneTree(AT_FDCWD, "/usr", false));
    BAWN_CHECK_OK(sys::SetIdmap(tree.get(), userns->get()));
    sys::FileStat stat = BAWN_TRY(sys::Fstat(tree.get()));
    if (stat.uid != 100000) {
      return Fail(ErrorCode::kUnavailable, "the owner is " + std::to_string(stat.uid));
    }
    return "/usr shows its owner as 100000";
  }();
  if (holder.pid > 0) {
    bool ended = false;
    BAWN_CHECK_OK(sys::PidfdSendSignal(holder.pidfd.get(), SIGKILL));
    BAWN_CHECK_OK(sys::WaitPidfd(holder.pidfd.get(), true, &ended));
  }
  return answer;
}

}  // namespace bawn::contain
