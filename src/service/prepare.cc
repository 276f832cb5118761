#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/ids.h"
#include "base/text.h"
#include "contain/engines/native.h"
#include "policy/protected.h"
#include "service/recover.h"
#include "service/root_mode.h"
#include "service/select.h"
#include "service/session.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sealed.h"
#include "sys/sockets.h"
#include "workspace/marker.h"

namespace bawn::service {
namespace {

// The secrets of --secret NAME: taken from the caller's environment, shown as a file.
Result<> ReadSecrets(const Caller& caller, const std::vector<std::string>& names,
                     policy::JobRequest* request) {
  for (const std::string& name : names) {
    bool known = std::ranges::any_of(request->secrets, [&](const auto& secret) {
      return secret.first == name;  // profile and option may name the same one
    });
    if (known) continue;
    std::string value = caller.Env(name);
    if (value.empty()) {
      return Fail(ErrorCode::kNotFound,
                  "--secret " + EscapeName(name) + ": not set in the environment",
                  "export " + EscapeName(name) + " for the command, or leave the option out");
    }
    request->secrets.emplace_back(name, value);
  }
  return {};
}

}  // namespace

Result<policy::JobRequest> MakeJobRequest(const Caller& caller, const RunOptions& options,
                                          bool pty) {
  policy::JobRequest request;
  request.argv = options.argv;
  if (request.argv.empty()) {
    std::string shell = caller.Env("SHELL");
    request.argv = {shell.starts_with("/") ? shell : caller.user.shell};
  }
  request.cwd = caller.cwd;
  auto absolute = [&](const std::vector<std::string>& from, std::vector<std::string>* to) {
    for (const std::string& path : from) to->push_back(AbsolutePath(caller, path));
  };
  absolute(options.ro, &request.ro);
  absolute(options.rw, &request.rw);
  absolute(options.hide, &request.hide);
  absolute(options.show, &request.show);
  request.env = options.env;
  request.pass_env = options.pass_env;
  BAWN_CHECK_OK(ReadSecrets(caller, options.secrets, &request));
  request.level = options.level;
  const LimitOptions& limits = options.limits;
  request.limits.cpus_milli = limits.cpus_milli;
  request.limits.memory_bytes = limits.memory_bytes;
  request.limits.pids = limits.pids;
  request.limits.disk_bytes = limits.disk_bytes;
  request.limits.inodes = limits.inodes;
  request.limits.output_bytes = limits.output_bytes;
  request.limits.time_ms = limits.time_ms;
  request.limits.idle_ms = limits.idle_ms;
  request.limits.best_effort = limits.best_effort;
  request.pty = pty;
  request.keep = options.keep;
  request.term = caller.Env("TERM");
  return request;
}

namespace {

// An ephemeral run's changes: the half of the machine's memory, as /tmp has it.
constexpr uint64_t kMemoryShare = 2;
constexpr uint64_t kMemoryInodes = 2'000'000;

// A limit on them is held by a monitor that reads them; root's lease of ids is found by them.
bool MayHoldInMemory(const Caller& caller, const policy::Policy& policy,
                     const RunOptions& options) {
  bool limited = options.limits.disk_bytes || options.limits.inodes || policy.limits.disk_bytes ||
                 policy.limits.inodes;
  return options.ephemeral && !limited && !IsRootMode(caller);
}

}  // namespace

workspace::OpenRequest MakeOpenRequest(const Session& session, const RunOptions& options,
                                       const std::string& root) {
  const Caller& caller = session.caller;
  workspace::OpenRequest request;
  request.root = root;
  request.repository = session.repository;
  request.home = caller.home;
  request.state_path = session.state.path;
  for (const auto& path : policy::ProtectedPaths(caller.home, caller.environment)) {
    request.protected_paths.emplace_back(path);
  }
  for (const auto& name : policy::ProtectedNames()) request.protected_names.emplace_back(name);
  for (const std::string& path : options.show) request.show.push_back(AbsolutePath(caller, path));
  for (const policy::PathRule& rule : session.policy.show) {
    request.show.push_back(AbsolutePath(caller, rule.path));
  }
  request.ephemeral = options.ephemeral;
  if (MayHoldInMemory(session.caller, session.policy, options) &&
      session.level >= plan::Level::kIsolated && sys::MemoryKeepsUserAttributes()) {
    request.memory_bytes = sys::TotalMemoryBytes() / kMemoryShare;
    request.memory_inodes = kMemoryInodes;
  }
  request.environment = caller.environment;
  request.uid = caller.ids.uid;
  request.gid = caller.ids.gid;
  request.private_place = session.level == plan::Level::kRestricted;
  return request;
}

namespace {

// Level none: the tree itself, and nothing of ours around it.
Result<> OpenInPlace(const std::string& root, Session* session) {
  UniqueFd tree = BAWN_TRY(sys::OpenDir(AT_FDCWD, root, sys::kNoSymlinks));
  sys::FileStat st = BAWN_TRY(sys::Fstat(tree.get()));
  workspace::SandboxMeta& meta = session->opened.meta;
  meta.workspace_path = root;
  meta.workspace_dev = st.dev;
  meta.workspace_ino = st.ino;
  meta.mode = "in_place";
  meta.rung = "in_place";
  meta.opened_at_ns = RealtimeNs();
  meta.extra = JsonObject{};
  plan::WorkspaceFacts& facts = session->opened.facts;
  facts.path = root;
  facts.mode = facts.rung = "in_place";
  session->opened.notes.emplace_back(
      "level none: nothing is contained, the host's network is open, and there is no diff or undo");
  return {};
}

Result<> OpenWorkspace(const RunOptions& options, Session* session) {
  const Caller& caller = session->caller;
  std::string from = options.workspace.empty()
                         ? caller.cwd
                         : sys::RealPath(AbsolutePath(caller, options.workspace));
  if (from.empty()) {
    return Fail(ErrorCode::kNotFound,
                "workspace " + EscapeName(options.workspace) + " does not exist",
                "-w takes an existing directory");
  }
  session->repository = BAWN_TRY(workspace::FindRepository(from));
  std::string root =
      BAWN_TRY(workspace::ResolveRoot(options.workspace, caller.cwd, session->repository));
  if (session->repository && session->repository->work_tree != root) {
    session->repository.reset();  // -w names a directory inside a work tree: a tree of its own
  }
  if (session->level == plan::Level::kNone) {
    session->repository.reset();
    return OpenInPlace(root, session);
  }
  if (IsRootMode(caller)) BAWN_CHECK_OK(CheckRootTree(root));
  workspace::OpenRequest request = MakeOpenRequest(*session, options, root);
  request.git_config =
      BAWN_TRY(workspace::ReadGitConfig(session->repository, caller.home, caller.environment));
  session->opened = BAWN_TRY(workspace::OpenLive(session->dir, request));
  return {};
}

void FillMeta(const RunOptions& options, const std::vector<std::string>& argv, Session* session) {
  workspace::SandboxMeta& meta = session->opened.meta;
  meta.id = session->dir.id;
  meta.name = options.name.empty() ? NewReadableName() : options.name;
  meta.ephemeral = options.ephemeral;
  meta.state = options.ephemeral ? "ended" : "running";  // written once; live by its lock
  meta.command = argv;
  meta.created_at_ns = RealtimeNs();
  (*meta.extra.AsObject())["level"] = plan::LevelName(session->level);
}

}  // namespace

void NameWitnesses(Session* session) {
  plan::CanaryTargets& targets = session->compiled.plan.canaries;
  targets.outside_file = session->dir.path + "/lock";
  targets.pathname_socket = session->dir.path + "/witness";
  targets.abstract_socket = "bawn-" + session->dir.id;
  targets.host_pid = static_cast<uint32_t>(sys::CurrentPid());
}

Result<> PlaceWitnesses(Session* session) {
  // By descriptor: sun_path is short, state directories are not.
  std::string place = "/proc/self/fd/" + std::to_string(session->dir.fd.get()) + "/witness";
  session->pathname_witness = BAWN_TRY(sys::ListenPathname(place));
  session->abstract_witness =
      BAWN_TRY(sys::ListenAbstract(session->compiled.plan.canaries.abstract_socket));
  return {};
}

namespace {

// The directories that the Plan mounts from and that are the sandbox's own. They end with its pid
// 1: an overlay does not take the work directory of an earlier one.
Result<> MakePrivateDirs(const Session& session) {
  if (session.attached) return {};
  BAWN_CHECK_OK(workspace::RemoveTree(session.dir.fd.get(), kPrivateDir));
  if (session.compiled.make_dirs.empty()) return {};
  BAWN_CHECK_OK(sys::Mkdirat(session.dir.fd.get(), kPrivateDir, 0700));
  for (const std::string& path : session.compiled.make_dirs) {
    BAWN_CHECK_OK(sys::Mkdirat(AT_FDCWD, path, 0700));
  }
  return {};
}

}  // namespace

namespace {

// At `restricted` the workspace lies in another place than the caller stands in.
std::string InView(const Session& session, const std::string& cwd) {
  const std::string& from = session.opened.meta.workspace_path;
  const std::string& to = session.opened.facts.path;
  bool below = cwd.starts_with(from) && (cwd.size() == from.size() || cwd[from.size()] == '/');
  return below ? to + cwd.substr(from.size()) : cwd;
}

}  // namespace

Result<> CompileSession(const RunOptions& options, bool pty, Session* session) {
  policy::JobRequest request = BAWN_TRY(MakeJobRequest(session->caller, options, pty));
  BAWN_CHECK_OK(ReadSecrets(session->caller, session->policy.secrets, &request));
  request.private_dir = session->dir.path + "/" + kPrivateDir;
  request.cwd = InView(*session, request.cwd);
  plan::HostFacts host = GatherHostFacts(
      session->caller, policy::PathsToProbe(session->policy, request, session->caller.home));
  session->compiled = BAWN_TRY(policy::Compile(
      session->policy, request, host, session->opened.facts, session->dir.id, session->level));
  session->compiled.plan.job_domains = options.keep || session->level == plan::Level::kRestricted;
  if (session->attached) return {};  // the view stands already
  if (session->group) {
    // Pid 1, and in a kept sandbox the guard of a job, are not of the payload.
    uint64_t ours = options.keep ? 2 : 1;
    BAWN_CHECK_OK(session->group->SetLimits(session->compiled.plan.tree, ours));
  }
  BAWN_CHECK_OK(MakePrivateDirs(*session));
  if (IsRootMode(session->caller)) BAWN_CHECK_OK(EnterRootMode(session));
  return {};
}

Result<> DropSandbox(Session* session, const std::string& id) {
  const std::string& common_dir = session->opened.meta.common_dir;
  if (!common_dir.empty()) BAWN_CHECK_OK(workspace::UnpinBase(common_dir, id));
  if (session->dir.fd.valid()) {
    // Control groups before their record, which goes with the directory.
    session->group.reset();
    BAWN_CHECK_OK(RemoveRuntimeParts(session->dir, true));
    BAWN_CHECK_OK(workspace::RemoveSandboxDir(session->state, std::move(session->dir)));
  }
  BAWN_CHECK_OK(workspace::RemoveHalves(session->state, id));
  return workspace::Unmark(session->state, id);
}

namespace {

// The kernel makes namespaces, and pid 1 comes up, while the rest is decided here.
Result<> StartAhead(const RunOptions& options, Session* session) {
  bool plain = session->level == plan::Level::kIsolated && !IsRootMode(session->caller);
  if (!plain || options.keep) return {};
  session->plan_file = BAWN_TRY(sys::Memfd("bawn-plan"));
  session->engine =
      std::make_unique<contain::NativeEngine>(BAWN_TRY(sys::OpenSibling("bawn-init")));
  session->engine->Prestart(session->plan_file.get());
  return {};
}

}  // namespace

Result<Session> PrepareSession(Caller caller, const RunOptions& options, bool pty, bool to_run) {
  Session session;
  session.caller = std::move(caller);
  session.pty = pty;
  session.state = BAWN_TRY(OpenState(session.caller));
  session.policy = BAWN_TRY(LoadProfile(session.caller, session.state, options.profile));
  std::string id = NewId("sb_");
  // Before anything that it would have to explain.
  session.marker = BAWN_TRY(workspace::Mark(session.state, id));
  auto rest = [&]() -> Result<> {
    bool layers = !MayHoldInMemory(session.caller, session.policy, options);
    session.dir = BAWN_TRY(workspace::CreateSandboxDir(session.state, id, layers));
    BAWN_CHECK_OK(ChooseLevel(options, &session));
    if (to_run) BAWN_CHECK_OK(StartAhead(options, &session));
    BAWN_CHECK_OK(OpenWorkspace(options, &session));
    BAWN_CHECK_OK(CompileSession(options, pty, &session));
    FillMeta(options, session.compiled.job.argv, &session);
    NameWitnesses(&session);
    return {};
  };
  Result<> done = rest();
  if (!done) {
    session.engine.reset();
    Result<> removed = DropSandbox(&session, id);
    if (!removed)
      done.error().message += " (and its directory stays: " + removed.error().message + ")";
    return std::unexpected(done.error());
  }
  return session;
}

}  // namespace bawn::service
