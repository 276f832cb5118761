// What is taken out of the view again by --hide, and the one thing that is put in last: secrets.
#include <algorithm>

#include "base/text.h"
#include "policy/build.h"
#include "policy/paths.h"
#include "policy/view/system_table.h"

namespace bawn::policy {
namespace {

using plan::PathKind;

constexpr std::string_view kSecretsDir = "/.bawn/secrets";
constexpr size_t kSecretBytesMax = 64 << 10;

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

bool IsSecretName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

Result<> CheckSecrets(const Build& build) {
  for (const std::string& name : build.policy.secrets) {
    bool given = std::ranges::any_of(build.request.secrets,
                                     [&](const auto& secret) { return secret.first == name; });
    if (given) continue;
    return Fail(ErrorCode::kNotFound, "secret '" + EscapeName(name) + "' has no value",
                "set it in the environment of bawn", "secrets.missing");
  }
  for (const auto& [name, value] : build.request.secrets) {
    if (!IsSecretName(name)) {
      return Fail(ErrorCode::kInvalidArgument, "'" + EscapeName(name) + "' is no name of a secret",
                  "use letters, digits, '_', '-' and '.', at most 64", "secrets.name");
    }
    if (value.size() > kSecretBytesMax) {
      return Fail(ErrorCode::kInvalidArgument, "secret '" + name + "' is over 64 KiB", "",
                  "secrets.size");
    }
  }
  return {};
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

Result<> AddSecrets(Build* build) {
  BAWN_CHECK_OK(CheckSecrets(*build));
  if (build->request.secrets.empty()) return {};
  // On the sandbox's own root, which is private memory, and for the user's eyes only.
  plan::Op dir;
  dir.target = kSecretsDir;
  build->secrets_dir = kSecretsDir;
  dir.mode = 0700;
  build->out.plan.ops.push_back(std::move(dir));
  for (const auto& [name, value] : build->request.secrets) {
    build->out.plan.ops.push_back(FileOp(Join(kSecretsDir, name), value, 0400));
    build->Note(plan::Verdict::kAllow, "secret:" + name, "secrets", kCommandLine,
                "readable as " + Join(kSecretsDir, name));
  }
  return {};
}

}  // namespace bawn::policy
