#include "service/select.h"

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "workspace/marker.h"
#include "workspace/open.h"

namespace bawn::service {

Result<std::string> FindWorkspace(const Caller& caller, const std::string& dash_w) {
  std::string from = dash_w.empty() ? caller.cwd : sys::RealPath(AbsolutePath(caller, dash_w));
  if (from.empty()) {
    return Fail(ErrorCode::kNotFound, "workspace " + EscapeName(dash_w) + " does not exist",
                "-w takes an existing directory");
  }
  std::optional<workspace::Repository> repository = BAWN_TRY(workspace::FindRepository(from));
  return workspace::ResolveRoot(dash_w, caller.cwd, repository);
}

std::string Describe(const workspace::SandboxMeta& meta) {
  int64_t minutes = (RealtimeNs() - meta.created_at_ns) / 60'000'000'000;
  std::string age = minutes < 120 ? std::to_string(minutes) + " min ago"
                                  : std::to_string(minutes / 60) + " h ago";
  std::string command;
  for (const std::string& word : meta.command) command += (command.empty() ? "" : " ") + word;
  return meta.name + "  " + age + "  " + EscapeName(command.substr(0, 60));
}

namespace {

Result<workspace::SandboxMeta> ByName(const std::vector<workspace::ListedSandbox>& all,
                                      const std::string& name) {
  const workspace::ListedSandbox* found = nullptr;
  for (const workspace::ListedSandbox& one : all) {
    if (one.meta.id != name && (one.meta.name != name || !one.damaged.empty())) continue;
    if (found != nullptr) {
      return Fail(ErrorCode::kConflict, "two sandboxes are called " + EscapeName(name),
                  "use the id: " + found->meta.id + " or " + one.meta.id);
    }
    found = &one;
  }
  if (found == nullptr) {
    std::vector<std::string_view> names;
    for (const workspace::ListedSandbox& one : all) names.push_back(one.meta.name);
    std::string near = Nearest(name, names);
    return Fail(ErrorCode::kNotFound, "no sandbox is called " + EscapeName(name),
                near.empty() ? "bawn list shows them" : "did you mean " + near + "?");
  }
  if (!found->damaged.empty()) {
    return Fail(ErrorCode::kFailedPrecondition,
                "the record of " + found->meta.id + " cannot be read: " + found->damaged,
                "bawn discard " + found->meta.id + " removes it");
  }
  return found->meta;
}

}  // namespace

Result<std::optional<workspace::SandboxMeta>> FindLive(const workspace::StateDir& state,
                                                       const std::string& name) {
  std::optional<workspace::SandboxMeta> found;
  for (const std::string& id : BAWN_TRY(workspace::MarkedIds(state))) {
    Result<workspace::SandboxDir> dir = workspace::OpenSandboxDir(state, id, false);
    Result<workspace::SandboxMeta> meta =
        dir ? workspace::ReadMeta(*dir) : std::unexpected(dir.error());
    if (!meta || meta->state != "live" || (meta->name != name && meta->id != name)) continue;
    if (found) return std::optional<workspace::SandboxMeta>();  // two: a matter for SelectSandbox
    found = *std::move(meta);
  }
  return found;
}

Result<workspace::SandboxMeta> SelectSandbox(const Caller& caller, const workspace::StateDir& state,
                                             const SandboxSelector& selector, Meaning meaning) {
  std::vector<workspace::ListedSandbox> all = BAWN_TRY(workspace::ListSandboxes(state));
  if (!selector.name.empty() && selector.name != "@last") return ByName(all, selector.name);
  std::string root = BAWN_TRY(FindWorkspace(caller, selector.workspace));
  std::vector<const workspace::SandboxMeta*> here;
  for (const workspace::ListedSandbox& one : all) {
    if (!one.damaged.empty() || one.meta.workspace_path != root) continue;
    if (meaning == Meaning::kAct && !one.meta.kept && one.meta.state != "live") continue;
    here.push_back(&one.meta);
  }
  std::sort(here.begin(), here.end(),
            [](auto* a, auto* b) { return a->created_at_ns > b->created_at_ns; });
  if (here.empty()) {
    bool act = meaning == Meaning::kAct;
    return Fail(ErrorCode::kNotFound,
                std::string(act ? "no sandbox with changes" : "no sandbox") + " belongs to " +
                    EscapeName(root),
                "bawn run -- COMMAND makes one; bawn list --all shows those of other workspaces");
  }
  if (meaning == Meaning::kAct && selector.name.empty() && here.size() > 1) {
    std::string lines;
    for (auto* meta : here) lines += "\n  " + Describe(*meta);
    return Fail(ErrorCode::kFailedPrecondition,
                std::to_string(here.size()) + " sandboxes of this workspace have changes:" + lines,
                "name one; @last is the newest", "sandbox.ambiguous");
  }
  return *here.front();
}

}  // namespace bawn::service
