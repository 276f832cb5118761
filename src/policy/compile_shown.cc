// Directories and files of the host that the view shows beyond system software: toolchain rows
// (view/toolchain_table.h) and what profile and command line ask for with ro, rw and show.
// RT-05: a directory is shown by an overlay, whose inodes are not the host's sockets and FIFOs; a
// regular file by a bind; --rw is the one exception and writes through.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "policy/asked.h"
#include "policy/build.h"
#include "policy/paths.h"
#include "policy/protected.h"
#include "policy/view/toolchain_table.h"

namespace bawn::policy {
namespace {

using plan::PathKind;

std::vector<std::string> PathEntries(const Build& build) {
  std::vector<std::string> entries;
  std::string_view path = CallerVariable(build.host, "PATH");
  while (!path.empty()) {
    size_t colon = path.find(':');
    Result<std::string> entry = CleanPath(path.substr(0, colon), "");
    if (entry) entries.push_back(std::move(*entry));
    path.remove_prefix(colon == std::string_view::npos ? path.size() : colon + 1);
  }
  return entries;
}

// Sorted by path: a parent is mounted before what lies in it.
using Shown = std::map<std::string, plan::Op>;

plan::Op ReadOp(const std::string& path, const plan::PathFact& fact) {
  return fact.kind == PathKind::kDirectory ? OverlayOp(path, fact) : BindOp(path, fact, true);
}

// A cache with an upper of its own below the sandbox's directory; false when there is no such
// place.
bool MakeWritable(Build* build, std::string_view id, plan::Op* op) {
  const std::string& base = build->request.private_dir;
  if (base.empty() || op->kind != plan::OpKind::kOverlay) return false;
  std::vector<std::string>& dirs = build->out.make_dirs;
  std::string caches = Join(base, "caches");
  if (std::ranges::find(dirs, caches) == dirs.end()) dirs.push_back(caches);
  std::string own = Join(caches, id);
  op->upper.path = own + "/upper";
  op->work.path = own + "/work";
  dirs.insert(dirs.end(), {own, op->upper.path, op->work.path});
  return true;
}

bool Applies(const ToolchainRow& row, const std::string& home,
             const std::vector<std::string>& path_entries) {
  if (row.on_path.empty()) return true;
  std::string wanted = Join(home, row.on_path);
  return std::ranges::any_of(path_entries,
                             [&](const std::string& entry) { return IsAtOrBelow(entry, wanted); });
}

void AddToolchain(Build* build, const ToolchainRow& row, bool named, Shown* shown) {
  std::string path = Join(build->home, row.path);
  std::string rule = "view.toolchain." + std::string(row.id);
  const plan::PathFact& fact = build->Fact(path);
  if (fact.kind == PathKind::kMissing || Overlaps(path, build->workspace.path)) return;
  if (row.kind == ToolKind::kCache && !named) {
    build->Note(plan::Verdict::kDeny, "view:" + path, rule, kBuiltIn,
                "a cache is shown only to a profile that names it",
                "name '" + std::string(row.id) + "' in view.caches of a profile");
    return;
  }
  if (fact.kind != PathKind::kDirectory && fact.kind != PathKind::kFile) {
    build->Note(plan::Verdict::kDeny, "view:" + path, rule, kBuiltIn,
                "it is no directory but a link or special file",
                fact.link_target.empty() ? "" : "--ro " + ResolveLink(path, fact.link_target));
    return;
  }
  plan::Op op = ReadOp(path, fact);
  // A parent may be a link or a mount of its own; a missing toolchain is no reason not to run.
  op.optional = true;
  bool writable = named && MakeWritable(build, row.id, &op);
  build->Note(plan::Verdict::kAllow, "view:" + path, rule, kBuiltIn,
              writable ? "a cache named by the profile; what is written ends with the sandbox"
                       : "toolchain, read-only",
              "--hide " + path);
  build->visible.push_back(path);
  shown->insert_or_assign(path, std::move(op));
}

Result<std::set<std::string_view>> NamedCaches(const Policy& policy) {
  std::vector<std::string_view> known;
  for (const ToolchainRow& row : kToolchainTable) {
    if (row.kind != ToolKind::kTool) known.push_back(row.id);
  }
  std::set<std::string_view> named;
  for (const std::string& name : policy.caches) {
    if (std::ranges::find(known, name) == known.end()) {
      std::string nearest = Nearest(name, known);
      return Fail(
          ErrorCode::kInvalidArgument, "view.caches: no cache is called '" + EscapeName(name) + "'",
          nearest.empty() ? "`bawn plan` lists the rows" : "did you mean '" + nearest + "'?",
          "view.caches");
    }
    named.insert(name);
  }
  return named;
}

void AddAsked(Build* build, const Asked& asked, Shown* shown) {
  const plan::PathFact& fact = build->Fact(asked.path);
  bool writable = asked.key == "rw";
  plan::Op op = writable ? BindOp(asked.path, fact, false) : ReadOp(asked.path, fact);
  build->Note(plan::Verdict::kAllow, "view:" + asked.path, "view." + std::string(asked.key),
              asked.origin,
              writable ? "asked for; what is written goes straight to the host" : "asked for");
  if (writable) {
    build->Rule(asked.path, plan::PathRights::kWrite);
    build->out.direct_writes.push_back(asked.path);
  }
  build->visible.push_back(asked.path);
  shown->insert_or_assign(asked.path, std::move(op));
}

// Protected paths that a shown directory would bring along. Their place in the order is by path: a
// path that --show names inside such a cover is mounted after it.
void CoverProtected(Build* build, Shown* shown) {
  std::vector<std::string> overlays;
  for (const auto& [path, op] : *shown) {
    if (op.kind == plan::OpKind::kOverlay) overlays.push_back(path);
  }
  for (const std::string& overlay : overlays) {
    for (const ProtectedMatch& row :
         ProtectedBelow(overlay, build->host.home, build->host.environment)) {
      const plan::PathFact& fact = build->Fact(row.path);
      if (fact.kind == PathKind::kMissing || fact.kind == PathKind::kSymlink) continue;
      if (!shown->emplace(row.path, EmptyCoverOp(row.path, fact)).second) continue;
      build->out.covered.push_back(row.path);
      build->Note(plan::Verdict::kDeny, "view:" + row.path, "view.protected", kBuiltIn,
                  "protected: " + std::string(row.what),
                  row.protection == Protection::kNever ? "--secret NAME passes one value"
                                                       : "--show " + row.path);
    }
  }
}

}  // namespace

Result<> AddShown(Build* build) {
  Shown shown;
  std::set<std::string_view> named = BAWN_TRY(NamedCaches(build->policy));
  if (build->home == build->host.home) {
    std::vector<std::string> entries = PathEntries(*build);
    for (const ToolchainRow& row : kToolchainTable) {
      if (!Applies(row, build->home, entries)) continue;
      AddToolchain(build, row, named.contains(row.id), &shown);
    }
  }
  // In this order: a path that is asked for twice is writable in the end.
  for (std::string_view key : {"ro", "show", "rw"}) {
    std::vector<Asked> all =
        BAWN_TRY(AskedPaths(build->policy, build->request, build->host.home, key));
    for (const Asked& asked : all) {
      AskedVerdict verdict = BAWN_TRY(JudgeAsked(build, asked));
      if (verdict == AskedVerdict::kShow) AddAsked(build, asked, &shown);
    }
  }
  CoverProtected(build, &shown);
  for (auto& [path, op] : shown) build->out.plan.ops.push_back(std::move(op));
  std::ranges::sort(build->out.direct_writes);
  return {};
}

}  // namespace bawn::policy
