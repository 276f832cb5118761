// Shared by this room's tests: makes an opened workspace appear for real, in a user and mount
// namespace of a child, and runs a shell in it. A small stand-in for what init does.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "plan/facts.h"
#include "sys/files.h"
#include "sys/mounts.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::workspace {

class TestView {
 public:
  // Output of `script` (sh -e) with the workspace as its directory, and its status in `*status`.
  static std::string Run(const plan::WorkspaceFacts& facts, const std::string& script,
                         int* status) {
    auto pipe = std::move(*sys::Pipe());
    sys::Child child = std::move(*sys::Clone3(0));
    if (child.pid == 0) {
      dup2(pipe.second.get(), 1);
      dup2(pipe.second.get(), 2);
      Result<> built = Build(facts);
      if (!built) {
        (void)sys::WriteAll(2, "view: " + built.error().message + "\n");
        _exit(99);
      }
      const char* argv[] = {"sh", "-ec", script.c_str(), nullptr};
      const char* env[] = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "HOME=/nonexistent",
                           "GIT_CONFIG_NOSYSTEM=1", nullptr};
      execve("/bin/sh", const_cast<char**>(argv), const_cast<char**>(env));
      _exit(98);
    }
    pipe.second.Reset();
    std::string output = *sys::ReadAll(pipe.first.get(), 64 << 20);
    bool ended = false;
    *status = sys::WaitPidfd(child.pidfd.get(), true, &ended)->status >> 8;
    return output;
  }

  // What `body` says, run in a child that may mount.
  template <class F>
  static std::string InNamespaces(F body) {
    auto pipe = std::move(*sys::Pipe());
    sys::Child child = std::move(*sys::Clone3(0));
    if (child.pid == 0) {
      Result<> entered = EnterNamespaces();
      std::string text = entered ? body() : "namespaces: " + entered.error().message;
      (void)sys::WriteAll(pipe.second.get(), text);
      _exit(0);
    }
    pipe.second.Reset();
    std::string output = *sys::ReadAll(pipe.first.get(), 1 << 20);
    bool ended = false;
    EXPECT_TRUE(sys::WaitPidfd(child.pidfd.get(), true, &ended));
    return output;
  }

  static Result<> MountTmpfs(const std::string& path) {
    sys::FsBuilder tmpfs = BAWN_TRY(sys::FsBuilder::Open("tmpfs"));
    UniqueFd mount = BAWN_TRY(tmpfs.Mount(0));
    return sys::MoveMount(mount.get(), AT_FDCWD, path);
  }

 private:
  // A user namespace with the caller's own ids and a mount namespace of its own.
  static Result<> EnterNamespaces() {
    std::string uid = std::to_string(geteuid()), gid = std::to_string(getegid());
    BAWN_CHECK_OK(sys::Unshare(0x10000000 /*NEWUSER*/ | 0x00020000 /*NEWNS*/));
    BAWN_CHECK_OK(Put("/proc/self/setgroups", "deny"));
    BAWN_CHECK_OK(Put("/proc/self/uid_map", uid + " " + uid + " 1"));
    BAWN_CHECK_OK(Put("/proc/self/gid_map", gid + " " + gid + " 1"));
    return sys::MakeTreePrivate();
  }

  static Result<> Put(const char* file, const std::string& text) {
    UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, file, O_WRONLY));
    return sys::WriteAll(fd.get(), text);
  }

  static Result<> Build(const plan::WorkspaceFacts& facts) {
    BAWN_CHECK_OK(EnterNamespaces());
    // The new root is hung over /mnt, which every system has and no test uses.
    sys::FsBuilder tmpfs = BAWN_TRY(sys::FsBuilder::Open("tmpfs"));
    UniqueFd root = BAWN_TRY(tmpfs.Mount(0));
    BAWN_CHECK_OK(sys::MoveMount(root.get(), AT_FDCWD, "/mnt"));
    for (std::string name : {"usr", "bin", "sbin", "lib", "lib64", "etc", "dev", "proc"}) {
      if (Result<std::string> link = sys::Readlinkat(AT_FDCWD, "/" + name)) {
        BAWN_CHECK_OK(sys::Symlinkat(*link, root.get(), name));
      } else if (sys::Fstatat(AT_FDCWD, "/" + name)) {
        BAWN_CHECK_OK(sys::Mkdirat(root.get(), name, 0755));
        UniqueFd tree = BAWN_TRY(sys::CloneTree(AT_FDCWD, "/" + name, true));
        BAWN_CHECK_OK(sys::MoveMount(tree.get(), root.get(), name));
      }
    }
    BAWN_CHECK_OK(sys::MakeDirs(root.get(), "tmp", 01777));
    for (const plan::Op& op : facts.ops) BAWN_CHECK_OK(Mount(root.get(), op));
    if (fchdir(root.get()) != 0) return FailErrno(errno, "fchdir");
    BAWN_CHECK_OK(sys::PivotRootHere());
    if (chdir(facts.path.c_str()) != 0) return FailErrno(errno, "chdir " + facts.path);
    return {};
  }

  static Result<> Mount(int root, const plan::Op& op) {
    std::string target = op.target.substr(1);
    UniqueFd mount;
    bool directory = true;
    if (op.kind == plan::OpKind::kOverlay) {
      sys::FsBuilder overlay = BAWN_TRY(sys::FsBuilder::Open("overlay"));
      BAWN_CHECK_OK(overlay.SetFlag("userxattr"));
      for (const plan::Source& lower : op.lowers) {
        UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, lower.path, O_PATH, 0, sys::kNoSymlinks));
        sys::FileStat st = BAWN_TRY(sys::Fstat(fd.get()));
        if (lower.ino != 0 && (st.dev != lower.dev || st.ino != lower.ino)) {
          return Fail(ErrorCode::kConflict, "swapped");
        }
        BAWN_CHECK_OK(overlay.SetFd("lowerdir+", fd.get()));
      }
      UniqueFd upper = BAWN_TRY(sys::Openat2(AT_FDCWD, op.upper.path, O_PATH));
      UniqueFd work = BAWN_TRY(sys::Openat2(AT_FDCWD, op.work.path, O_PATH));
      BAWN_CHECK_OK(overlay.SetFd("upperdir", upper.get()));
      BAWN_CHECK_OK(overlay.SetFd("workdir", work.get()));
      BAWN_CHECK_OK(overlay.SetFlag("volatile"));
      mount = BAWN_TRY(overlay.Mount(0));
    } else {
      UniqueFd source =
          BAWN_TRY(sys::Openat2(AT_FDCWD, op.lowers[0].path, O_PATH, 0, sys::kNoSymlinks));
      directory = BAWN_TRY(sys::Fstat(source.get())).IsDir();
      mount = BAWN_TRY(sys::CloneTree(source.get(), "", op.recursive));
      if (op.read_only) BAWN_CHECK_OK(sys::SetMountAttributes(mount.get(), sys::kReadOnly, false));
    }
    if (directory) BAWN_CHECK_OK(sys::MakeDirs(root, target, 0755));
    return sys::MoveMount(mount.get(), root, target);
  }
};

}  // namespace bawn::workspace
