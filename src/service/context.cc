#include "service/context.h"

#include <fcntl.h>

#include "sys/files.h"

namespace bawn::service {
namespace {
constexpr size_t kCopiedFileBytesMax = 1
                                       << 20;  // files the view copies: ld.so.cache is the largest
}

std::string Caller::Env(std::string_view name) const {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

Result<Caller> IdentifyCaller(std::vector<std::string> environment) {
  Caller caller;
  caller.environment = std::move(environment);
  caller.ids = sys::CurrentCredentials();
  if (caller.ids.uid != caller.ids.euid) {
    return Fail(ErrorCode::kFailedPrecondition,
                "real and effective user differ: Bawn is not made to be set-user-id",
                "remove the setuid bit from the bawn program");
  }
  std::optional<sys::PasswdEntry> entry = sys::FindUser(caller.ids.uid);
  if (entry) {
    caller.user = *entry;
  } else {
    std::string name = caller.Env("USER");
    caller.user = {name.empty() ? "user" : name, caller.Env("HOME"), "/bin/sh", caller.ids.uid,
                   caller.ids.gid};
  }
  std::string home = caller.Env("HOME");
  caller.home = sys::RealPath(home.empty() ? caller.user.home : home);
  if (caller.home == "/") caller.home.clear();
  caller.cwd = sys::CurrentDirectory();
  if (caller.cwd.empty()) {
    return Fail(ErrorCode::kNotFound, "the current directory does not exist any more",
                "cd to an existing directory");
  }
  return caller;
}

Result<workspace::StateDir> OpenState(const Caller& caller) {
  workspace::StateEnv env;
  env.bawn_state_dir = caller.Env("BAWN_STATE_DIR");
  env.xdg_state_home = caller.Env("XDG_STATE_HOME");
  env.home = caller.home;
  env.uid = caller.ids.uid;
  return workspace::OpenStateDir(env);
}

std::string AbsolutePath(const Caller& caller, const std::string& path) {
  if (path == "~" || path.starts_with("~/")) return caller.home + path.substr(1);
  if (path.starts_with("/")) return path;
  return caller.cwd + "/" + path;
}

namespace {

plan::PathFact LookAt(const policy::ProbePath& probe) {
  plan::PathFact fact;
  Result<sys::FileStat> st = sys::Fstatat(AT_FDCWD, probe.path);
  if (!st) return fact;  // kMissing
  fact.uid = st->uid;
  fact.dev = st->dev;
  fact.ino = st->ino;
  if (st->IsDir()) {
    fact.kind = plan::PathKind::kDirectory;
  } else if (st->IsSymlink()) {
    fact.kind = plan::PathKind::kSymlink;
    fact.link_target = sys::Readlinkat(AT_FDCWD, probe.path).value_or("");
  } else if (st->IsRegular()) {
    fact.kind = plan::PathKind::kFile;
  } else {
    fact.kind = plan::PathKind::kOther;
  }
  bool readable = fact.kind == plan::PathKind::kFile || fact.kind == plan::PathKind::kSymlink;
  if (probe.content && readable) {
    fact.content = sys::ReadFileAt(AT_FDCWD, probe.path, kCopiedFileBytesMax).value_or("");
  }
  return fact;
}

}  // namespace

plan::HostFacts GatherHostFacts(const Caller& caller, const std::vector<policy::ProbePath>& paths) {
  plan::HostFacts facts;
  for (const policy::ProbePath& probe : paths) facts.paths[probe.path] = LookAt(probe);
  facts.user_name = caller.user.name;
  facts.home = caller.home;
  facts.shell = caller.user.shell;
  facts.uid = caller.ids.uid;
  facts.gid = caller.ids.gid;
  std::vector<uint32_t> gids = caller.ids.groups;
  gids.push_back(caller.ids.gid);
  facts.groups = sys::GroupNames(gids);
  facts.memory_bytes = sys::TotalMemoryBytes();
  facts.environment = caller.environment;
  facts.cwd = caller.cwd;
  return facts;
}

}  // namespace bawn::service
