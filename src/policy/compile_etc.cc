// The allowlist of /etc (view/etc_table.h).
#include "policy/build.h"
#include "policy/paths.h"
#include "policy/view/etc_table.h"

namespace bawn::policy {
namespace {

using plan::PathKind;

constexpr int kLinksMax = 8;

// A file or link at `path`, and what its chain of links needs that the view does not have already.
// Returns false when nothing could be shown.
bool AddCopy(Build* build, std::string path) {
  for (int link = 0; link < kLinksMax; ++link) {
    const plan::PathFact& fact = build->Fact(path);
    if (fact.kind == PathKind::kFile) {
      // No content: empty, unreadable or over the size that facts carry. None is worth a file.
      if (fact.content.empty() || fact.content.size() > kEtcCopyBytesMax) return link > 0;
      build->AddOnce(FileOp(std::move(path), fact.content));
      return true;
    }
    if (fact.kind != PathKind::kSymlink) return link > 0;
    std::string target = ResolveLink(path, fact.link_target);
    // Only /etc and the system's own trees are followed: a link must not widen the view.
    if (!build->IsVisible(target) && !IsBelow(target, "/etc")) return link > 0;
    build->AddOnce(SymlinkOp(path, fact.link_target));
    if (build->IsVisible(target)) return true;
    path = std::move(target);
  }
  return true;
}

// Direct children of `directory` that were looked at: std::map keeps them together.
bool AddChildren(Build* build, const std::string& directory) {
  bool any = false;
  std::string prefix = directory + "/";
  auto entry = build->host.paths.lower_bound(prefix);
  for (; entry != build->host.paths.end() && entry->first.starts_with(prefix); ++entry) {
    if (entry->first.find('/', prefix.size()) != std::string::npos) continue;
    any |= AddCopy(build, entry->first);
  }
  return any;
}

}  // namespace

void AddEtc(Build* build) {
  for (const EtcRow& row : kEtcTable) {
    const plan::PathFact& fact = build->Fact(row.path);
    std::string path(row.path);
    bool added = false;
    if (fact.kind == PathKind::kSymlink || row.form == EtcForm::kCopy) {
      added = AddCopy(build, path);
    } else if (row.form == EtcForm::kCopyEach) {
      added = fact.kind == PathKind::kDirectory && AddChildren(build, path);
    } else {
      PathKind wanted = row.form == EtcForm::kDirectory ? PathKind::kDirectory : PathKind::kFile;
      added = fact.kind == wanted && fact.uid == 0;
      if (added) build->out.plan.ops.push_back(BindOp(path, fact, true));
      if (added) build->visible.push_back(path);
    }
    if (!added) continue;
    build->Note(plan::Verdict::kAllow, "view:" + path, std::string(kEtcRuleId), kBuiltIn,
                row.reason, "--hide " + path);
  }
}

}  // namespace bawn::policy
