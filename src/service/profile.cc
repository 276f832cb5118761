// Finds and loads the profile in force. A name is looked up built-in first, then in the operator's
// directory, then in the user's; a profile that does not parse stops the run (deny is the default).
#include <fcntl.h>

#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "policy/binary.h"
#include "policy/builtin.h"
#include "policy/extend.h"
#include "service/context.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::service {
namespace {

constexpr size_t kProfileTextBytesMax = 64 << 10;
constexpr size_t kCompiledBytesMax = 1 << 20;

std::string FindProfileFile(const Caller& caller, const std::string& name) {
  if (name.find('/') != std::string::npos) return AbsolutePath(caller, name);
  std::string config = caller.Env("XDG_CONFIG_HOME");
  if (config.empty()) config = caller.home + "/.config";
  for (const std::string& directory :
       {std::string("/etc/bawn/profiles"), config + "/bawn/profiles"}) {
    std::string path = directory + "/" + name + ".yaml";
    if (sys::Fstatat(AT_FDCWD, path)) return path;
  }
  return {};
}

// Runs bawn-policy: YAML never meets this process. Its stdout is the compiled form, its stderr the
// errors in `file:line: message` form.
Result<std::string> CompileProfile(const Caller& caller, const std::string& path) {
  UniqueFd program = BAWN_TRY(sys::OpenSibling("bawn-policy"));
  UniqueFd out = BAWN_TRY(sys::Memfd("bawn-profile"));
  UniqueFd err = BAWN_TRY(sys::Memfd("bawn-profile-errors"));
  UniqueFd null = BAWN_TRY(sys::Openat2(AT_FDCWD, "/dev/null", O_RDONLY));
  sys::SpawnSpec spec;
  spec.program_fd = program.get();
  spec.argv = {"bawn-policy", path};
  spec.envp = {"HOME=" + caller.home, "XDG_CONFIG_HOME=" + caller.Env("XDG_CONFIG_HOME")};
  spec.fds = {null.get(), out.get(), err.get()};
  sys::Child child = BAWN_TRY(sys::Spawn(spec));
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  auto text = [](const UniqueFd& fd) -> Result<std::string> {
    UniqueFd again = BAWN_TRY(sys::Reopen(fd.get(), O_RDONLY));
    return sys::ReadAll(again.get(), kCompiledBytesMax);
  };
  if (exit.status == 0) return text(out);
  return Fail(ErrorCode::kInvalidArgument,
              "the profile is refused:\n" + TerminalSafe(text(err).value_or("")),
              "nothing ran; a profile that does not parse denies everything", "profile.parse");
}

// A compiled profile is cached by the digest of its text. What it `extends` is a file of its own,
// cached likewise, or built in.
Result<policy::Policy> LoadFile(const Caller& caller, const workspace::StateDir& state,
                                const std::string& path) {
  std::string text = BAWN_TRY(sys::ReadFileAt(AT_FDCWD, path, kProfileTextBytesMax));
  std::string name = Sha256Hex(path + '\0' + BAWN_VERSION + '\0' + text);
  Result<> made = sys::Mkdirat(state.fd.get(), "profiles", 0700);
  UniqueFd cache = BAWN_TRY(sys::OpenDir(state.fd.get(), "profiles", sys::kUntrusted));
  Result<std::string> cached =
      sys::ReadFileAt(cache.get(), name, kCompiledBytesMax, sys::kUntrusted);
  if (cached) {
    Result<policy::Policy> policy = policy::DecodePolicy(*cached);
    if (policy) return policy;  // a damaged entry is compiled again
  }
  std::string compiled = BAWN_TRY(CompileProfile(caller, path));
  policy::Policy policy = BAWN_TRY(policy::DecodePolicy(compiled));
  BAWN_CHECK_OK(sys::WriteFileAtomic(cache.get(), name, compiled, 0600, false));
  return policy;
}

Result<policy::Policy> LoadOne(const Caller& caller, const workspace::StateDir& state,
                               const std::string& wanted) {
  if (std::optional<policy::Policy> builtin = policy::BuiltinPolicy(wanted)) return *builtin;
  std::string path = FindProfileFile(caller, wanted);
  if (!path.empty()) return LoadFile(caller, state, path);
  std::string near = Nearest(wanted, policy::BuiltinPolicyNames());
  return Fail(ErrorCode::kNotFound, "no profile is called " + EscapeName(wanted),
              near.empty() ? "built-in are default, browser, debug; others are looked up in "
                             "/etc/bawn/profiles and the user's bawn/profiles"
                           : "did you mean " + near + "?",
              "profile.unknown");
}

}  // namespace

Result<policy::Policy> LoadProfile(const Caller& caller, const workspace::StateDir& state,
                                   const std::string& name) {
  std::string wanted = name.empty() ? caller.Env("BAWN_PROFILE") : name;
  if (wanted.empty()) wanted = "default";
  policy::Policy policy = BAWN_TRY(LoadOne(caller, state, wanted));
  return policy::ResolveExtends(std::move(policy), [&](std::string_view base) {
    return LoadOne(caller, state, std::string(base));
  });
}

}  // namespace bawn::service
