#include "policy/compile.h"

#include <algorithm>

#include "base/text.h"
#include "policy/build.h"
#include "policy/paths.h"
#include "policy/view/device_table.h"

namespace bawn::policy {
namespace {

using plan::Level;

Result<> CheckLevel(const Policy& policy, const JobRequest& request, Level level) {
  std::string name(LevelName(level));
  if (level == Level::kGuest) {
    return Fail(ErrorCode::kUnavailable, "this version has no engine for level guest",
                "ask for level bounded or isolated", "level.guest");
  }
  if (request.level && *request.level != level) {
    return Fail(ErrorCode::kUnavailable,
                "level " + std::string(LevelName(*request.level)) + " was asked for, " + name +
                    " is what there is",
                "`bawn doctor` says what is missing", "level.exact");
  }
  if (policy.level_floor && level < *policy.level_floor) {
    return Fail(ErrorCode::kPermissionDenied,
                "profile '" + policy.name + "' asks for level " +
                    std::string(LevelName(*policy.level_floor)) + " or higher, this is " + name,
                "`bawn doctor` says what is missing", "level.floor");
  }
  return {};
}

// What workspace::Open gave, as it is: this room decides nothing about it.
void AddWorkspace(Build* build) {
  const plan::WorkspaceFacts& workspace = build->workspace;
  for (const plan::Op& op : workspace.ops) build->out.plan.ops.push_back(op);
  for (const std::string& path : workspace.writable) build->Rule(path, plan::PathRights::kWrite);
  build->Note(plan::Verdict::kAllow, "view:" + workspace.path, "view.workspace", kBuiltIn,
              workspace.rung == "in_place" ? "the workspace itself"
              : workspace.in_memory
                  ? "the workspace; changes are held in memory and end with the run"
                  : "the workspace; changes wait for publish or apply");
}

// A link cannot be on the way to something of the host's, such as a home or a work tree below
// /var/tmp: there it is left out, and its name is a plain directory.
void DropCrossedLinks(std::vector<plan::Op>* ops) {
  for (const LinkRow& link : kScratchLinks) {
    std::string below = std::string(link.path) + "/";
    if (std::ranges::any_of(*ops,
                            [&](const plan::Op& op) { return op.target.starts_with(below); })) {
      std::erase_if(*ops, [&](const plan::Op& op) { return op.target == link.path; });
    }
  }
}

Result<> AddView(Build* build) {
  build->home = HomeInView(build->host);
  AddSystem(build);
  AddEtc(build);
  AddIdentity(build);
  AddDevices(build);
  AddHome(build);
  BAWN_CHECK_OK(AddShown(build));
  AddWorkspace(build);
  DropCrossedLinks(&build->out.plan.ops);
  BAWN_CHECK_OK(AddCovers(build));
  return AddSecrets(build);
}

Result<> AddRestrictedView(Build* build) {
  BAWN_CHECK_OK(AddRestricted(build));
  AddWorkspace(build);
  for (const std::string& path : build->workspace.readable) {
    build->Rule(path, plan::PathRights::kRead);
  }
  build->out.plan.ops.clear();  // nothing can be mounted
  return {};
}

// the job's directory is checked against the view and never widens it.
std::string JobDirectory(Build* build) {
  const std::string& workspace = build->workspace.path;
  if (build->request.cwd.empty()) return workspace;
  Result<std::string> cwd = CleanPath(build->request.cwd, "");
  bool known = cwd && (build->level == Level::kNone || IsAtOrBelow(*cwd, workspace) ||
                       build->ShowsHost(*cwd) || *cwd == build->home || *cwd == "/tmp");
  if (known) return *cwd;
  build->Note(plan::Verdict::kDeny, "cwd:" + EscapeName(build->request.cwd), "job.cwd",
              kCommandLine, "the view does not hold it; the job starts in the workspace");
  return workspace;
}

}  // namespace

Result<> AddJob(Build* build) {
  const JobRequest& request = build->request;
  if (request.argv.empty() || request.argv[0].empty()) {
    return Fail(ErrorCode::kInvalidArgument, "there is no command to run", "write it after --",
                "job.command");
  }
  for (const std::string& argument : request.argv) {
    if (argument.find('\0') == std::string::npos) continue;
    return Fail(ErrorCode::kInvalidArgument, "an argument holds a NUL byte", "", "job.command");
  }
  build->out.job.argv = request.argv;
  build->out.job.cwd = JobDirectory(build);
  build->out.job.pty = request.pty;
  return AddEnvironment(build);
}

Result<Compiled> Compile(const Policy& policy, const JobRequest& request,
                         const plan::HostFacts& host, const plan::WorkspaceFacts& workspace,
                         const std::string& sandbox_id, plan::Level level) {
  if (!policy.extends.empty()) {
    // Half a profile must not pass for a whole one.
    return Fail(ErrorCode::kInternal,
                "profile '" + EscapeName(policy.name) + "' still extends '" +
                    EscapeName(policy.extends) + "'",
                "", "profile.extends");
  }
  BAWN_CHECK_OK(CheckLevel(policy, request, level));
  Build build{.policy = policy,
              .request = request,
              .host = host,
              .workspace = workspace,
              .sandbox_id = sandbox_id,
              .level = level};
  build.out.plan.sandbox_id = sandbox_id;
  build.out.plan.level = level;
  build.out.plan.job_domains = request.keep && build.has_view();
  if (build.has_view()) {
    BAWN_CHECK_OK(AddView(&build));
  } else if (level == Level::kRestricted) {
    build.Note(plan::Verdict::kDeny, "network", "level.restricted", kBuiltIn,
               "no sockets but connected pairs: below level isolated the host's network is there");
    BAWN_CHECK_OK(AddRestrictedView(&build));
  } else {
    build.Note(plan::Verdict::kAllow, "network", "level.none", kCommandLine,
               "level none: the host's network is open");
    build.Note(plan::Verdict::kAllow, "view:/", "level.none", kCommandLine,
               "level none: every file of the user is open, changes are made in place");
    build.home = host.home;
    build.user_name = host.user_name;
    build.shell = host.shell;
    build.out.plan.uid = host.uid;
    build.out.plan.gid = host.gid;
    build.visible.emplace_back("/");
  }
  BAWN_CHECK_OK(AddLimits(&build));
  BAWN_CHECK_OK(AddJob(&build));
  std::ranges::sort(build.out.covered);
  build.out.plan.direct_writes = !build.out.direct_writes.empty();
  return std::move(build.out);
}

}  // namespace bawn::policy
