#include "service/context.h"

#include <fcntl.h>

#include "policy/paths.h"
#include "service/root_mode.h"
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

constexpr size_t kChildrenMax = 64;
constexpr int kLinksMax = 8;

plan::PathFact LookAt(const std::string& path, bool content) {
  plan::PathFact fact;
  std::optional<sys::FileStat> st = sys::FindStat(AT_FDCWD, path.c_str());
  if (!st) return fact;  // kMissing
  fact.uid = st->uid;
  fact.dev = st->dev;
  fact.ino = st->ino;
  if (st->IsDir()) {
    fact.kind = plan::PathKind::kDirectory;
  } else if (st->IsSymlink()) {
    fact.kind = plan::PathKind::kSymlink;
    fact.link_target = sys::Readlinkat(AT_FDCWD, path).value_or("");
  } else if (st->IsRegular()) {
    fact.kind = plan::PathKind::kFile;
  } else {
    fact.kind = plan::PathKind::kOther;
  }
  if (content && fact.kind == plan::PathKind::kFile) {
    fact.content = sys::ReadFileAt(AT_FDCWD, path, kCopiedFileBytesMax).value_or("");
  }
  return fact;
}

// One path and, as asked, the further links of its chain and the entries of the directory.
void Probe(const policy::ProbePath& probe, plan::HostFacts* facts) {
  std::string path = probe.path;
  for (int link = 0; link < kLinksMax; ++link) {
    plan::PathFact& fact = facts->paths[path] = LookAt(path, probe.content);
    if (!probe.follow || fact.kind != plan::PathKind::kSymlink) break;
    path = policy::ResolveLink(path, fact.link_target);
    if (path.empty() || facts->paths.contains(path)) break;
  }
  if (!probe.children || facts->paths[probe.path].kind != plan::PathKind::kDirectory) return;
  Result<UniqueFd> directory = sys::OpenDir(AT_FDCWD, probe.path);
  if (!directory) return;
  auto entries = sys::ListDir(directory->get(), kChildrenMax);
  if (!entries) return;
  for (const sys::DirEntry& entry : *entries) {
    std::string child = policy::Join(probe.path, entry.name);
    Probe({.path = child, .content = probe.content, .follow = probe.follow}, facts);
  }
}

}  // namespace

plan::HostFacts GatherHostFacts(const Caller& caller, const std::vector<policy::ProbePath>& paths) {
  plan::HostFacts facts;
  for (const policy::ProbePath& probe : paths) Probe(probe, &facts);
  facts.user_name = caller.user.name;
  facts.home = caller.home;
  facts.shell = caller.user.shell;
  facts.uid = caller.ids.uid;
  facts.gid = caller.ids.gid;
  std::vector<uint32_t> gids = caller.ids.groups;
  gids.push_back(caller.ids.gid);
  facts.groups = sys::GroupNames(gids);
  if (caller.ids.uid == 0) {  // inside, root's files are those of an ordinary user
    facts.uid = facts.gid = kInnerId;
    facts.user_name = kInnerName;
    facts.groups = {{kInnerId, kInnerName}};
  }
  facts.memory_bytes = sys::TotalMemoryBytes();
  facts.environment = caller.environment;
  facts.cwd = caller.cwd;
  return facts;
}

}  // namespace bawn::service
