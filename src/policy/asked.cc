#include "policy/asked.h"

#include <algorithm>

#include "base/text.h"
#include "policy/paths.h"
#include "policy/protected.h"
#include "policy/view/system_table.h"

namespace bawn::policy {
namespace {

using plan::PathKind;

constexpr std::string_view kSharedPlaces[] = {"/tmp", "/var/tmp", "/dev/shm"};

// What no option shows, whatever lies there.
Result<> CheckPlace(const Build& build, const Asked& asked) {
  const std::string& path = asked.path;
  for (const RefusedTree& tree : kRefusedTrees) {
    if (IsAtOrBelow(path, tree.path)) return Refuse(Where(asked), tree.reason, "", "view.refused");
  }
  if (path == "/" || path == "/etc") {
    return Refuse(Where(asked), "the view holds a chosen part of it",
                  "name the one path below it that is needed", "view.whole");
  }
  if (IsAtOrBelow(build.host.home, path) && !build.host.home.empty()) {
    return Refuse(Where(asked), "it is a home directory or holds one",
                  "name the one path below it that is needed", "view.home");
  }
  return {};
}

Result<> CheckObject(const Build& build, const Asked& asked) {
  const plan::PathFact& fact = build.Fact(asked.path);
  switch (fact.kind) {
    case PathKind::kDirectory:
    case PathKind::kFile:
      return {};
    case PathKind::kMissing:
      return Fail(ErrorCode::kNotFound, Where(asked) + ": there is no such path",
                  "make it first, or leave the option out", "view.missing");
    case PathKind::kSymlink:
      return Refuse(Where(asked), "it is a symbolic link",
                    "name its target: " + EscapeName(ResolveLink(asked.path, fact.link_target)),
                    "view.symlink");
    case PathKind::kOther:
      return Refuse(Where(asked), "it is a socket, FIFO or device: a door to the host",
                    "only files and directories can be shown", "view.special");
  }
  return {};
}

// `may_ask`: the option is --show, which opens rows of kind kAsk and kPlain.
Result<> CheckProtected(const Build& build, const Asked& asked, bool may_ask) {
  auto found = FindProtected(asked.path, build.host.home, build.host.environment);
  if (!found) {
    if (!may_ask) return {};
    return Fail(ErrorCode::kInvalidArgument, Where(asked) + ": it is not a protected path",
                "use --ro " + EscapeName(asked.path), "view.show");
  }
  std::string what = "protected: " + std::string(found->what);
  if (found->protection == Protection::kNever) {
    return Refuse(Where(asked), what, "--secret NAME passes one value", "view.protected.never");
  }
  if (may_ask) return {};
  return Refuse(Where(asked), what,
                asked.key == "rw" ? "--show shows it read-only; --secret NAME passes one value"
                                  : "--show " + EscapeName(asked.path),
                "view.protected");
}

// Bawn's own state below a shown directory would be both a disclosure and a loop (RT-02).
Result<> CheckOwnState(const Build& build, const Asked& asked) {
  for (const ProtectedMatch& row :
       ProtectedBelow(asked.path, build.host.home, build.host.environment)) {
    bool present = row.moved || build.Exists(row.path);
    if (!present || (!row.own && asked.key != "rw")) continue;
    return Refuse(
        Where(asked),
        "it holds a protected path: " + EscapeName(row.path) + " (" + std::string(row.what) + ")",
        "name the one path below it that is needed", "view.protected");
  }
  return {};
}

Result<> CheckWritable(const Build& build, const Asked& asked) {
  const std::string& path = asked.path;
  for (const SystemRow& row : kSystemTable) {
    if (!Overlaps(path, row.path)) continue;
    return Refuse(Where(asked), "it is or holds system software", "", "view.rw.system");
  }
  if (Overlaps(path, "/etc")) {
    return Refuse(Where(asked), "it is system configuration", "", "view.rw.system");
  }
  if (std::ranges::find(kSharedPlaces, path) != std::end(kSharedPlaces)) {
    return Refuse(Where(asked), "every program of the host uses it", "name a directory below it",
                  "view.rw.shared");
  }
  if (Overlaps(path, build.workspace.path)) {
    return Refuse(Where(asked), "changes of the workspace are reviewed before they reach the host",
                  "leave the option out; then `bawn apply`", "view.rw.workspace");
  }
  for (std::string_view rest = path; !rest.empty();) {
    size_t slash = rest.find('/', 1);
    if (rest.substr(0, slash) == "/.git") {
      return Refuse(Where(asked), "git on the host runs what is written there", "", "view.rw.git");
    }
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash);
  }
  return {};
}

bool IsSystem(std::string_view path) {
  return std::ranges::any_of(kSystemTable,
                             [&](const SystemRow& row) { return IsAtOrBelow(path, row.path); });
}

}  // namespace

std::string_view CallerVariable(const plan::HostFacts& host, std::string_view name) {
  for (const std::string& entry : host.environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return std::string_view(entry).substr(name.size() + 1);
    }
  }
  return {};
}

Result<AskedVerdict> JudgeAsked(Build* build, const Asked& asked) {
  bool show = asked.key == "show";
  bool inside = IsAtOrBelow(asked.path, build->workspace.path);
  if (show && inside) {
    build->Note(plan::Verdict::kAllow, "view:" + asked.path, "view.show", asked.origin,
                "a protected name of the workspace keeps its content");
    return AskedVerdict::kNothingToDo;
  }
  BAWN_CHECK_OK(CheckPlace(*build, asked));
  if (asked.key == "rw") BAWN_CHECK_OK(CheckWritable(*build, asked));
  if (inside) {
    return Refuse(Where(asked), "it is part of the workspace, which the job sees and may write",
                  "--hide PATH takes it out of the view", "view.ro.workspace");
  }
  BAWN_CHECK_OK(CheckProtected(*build, asked, show));
  BAWN_CHECK_OK(CheckOwnState(*build, asked));
  BAWN_CHECK_OK(CheckObject(*build, asked));
  if (asked.key == "ro" && IsSystem(asked.path)) {
    build->Note(plan::Verdict::kAllow, "view:" + asked.path, "view.ro", asked.origin,
                "system software is in the view already");
    return AskedVerdict::kNothingToDo;
  }
  return AskedVerdict::kShow;
}

}  // namespace bawn::policy
