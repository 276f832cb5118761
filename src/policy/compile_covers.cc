// What is taken out of the view again by --hide.
#include <algorithm>

#include "base/text.h"
#include "policy/build.h"
#include "policy/paths.h"
#include "policy/view/system_table.h"

namespace bawn::policy {
namespace {

using plan::PathKind;

// Ops of our own at or below a hidden path need no cover: they are left out.
void EraseOps(Build* build, const std::string& path) {
  auto gone = [&](std::string_view target) { return IsAtOrBelow(target, path); };
  std::erase_if(build->out.plan.ops, [&](const plan::Op& op) { return gone(op.target); });
  std::erase_if(build->visible, gone);
  std::erase_if(build->out.direct_writes, gone);
  std::erase_if(build->out.covered, gone);
}

Result<> CheckHide(const Build& build, const Asked& asked) {
  for (const RefusedTree& tree : kRefusedTrees) {
    if (!IsAtOrBelow(asked.path, tree.path)) continue;
    return Refuse(Where(asked), tree.reason, "leave the option out", "view.hide");
  }
  if (IsAtOrBelow(build.workspace.path, asked.path) || IsAtOrBelow(build.home, asked.path) ||
      asked.path == "/tmp") {
    return Refuse(Where(asked), "no job could run without it", "hide a path below it", "view.hide");
  }
  if (build.Fact(asked.path).kind == PathKind::kSymlink &&
      IsBelow(asked.path, build.workspace.path)) {
    return Refuse(Where(asked), "it is a symbolic link", "hide its target", "view.hide");
  }
  return {};
}

void Hide(Build* build, const Asked& asked) {
  const plan::PathFact& fact = build->Fact(asked.path);
  bool inside = IsBelow(asked.path, build->workspace.path);
  size_t ops = build->out.plan.ops.size();
  if (!inside) EraseOps(build, asked.path);
  bool seen = inside || build->ShowsHost(asked.path) || ops != build->out.plan.ops.size();
  bool coverable = fact.kind == PathKind::kDirectory || fact.kind == PathKind::kFile ||
                   fact.kind == PathKind::kOther;
  if (coverable && (inside || build->ShowsHost(asked.path))) {
    build->out.plan.ops.push_back(EmptyCoverOp(asked.path, fact));
    build->out.covered.push_back(asked.path);
  }
  build->Note(plan::Verdict::kDeny, "view:" + asked.path, "view.hide", asked.origin,
              seen ? "hidden as asked" : "not in the view, hidden or not");
}

}  // namespace

Result<> AddCovers(Build* build) {
  std::vector<Asked> hide =
      BAWN_TRY(AskedPaths(build->policy, build->request, build->host.home, "hide"));
  for (const Asked& asked : hide) {
    BAWN_CHECK_OK(CheckHide(*build, asked));
    Hide(build, asked);
  }
  return {};
}

}  // namespace bawn::policy
