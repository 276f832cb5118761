#include "policy/secrets.h"

#include <algorithm>

#include "base/text.h"
#include "policy/build.h"
#include "policy/paths.h"

namespace bawn::policy {
namespace {

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

bool IsSecretName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
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
