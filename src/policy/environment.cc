#include "policy/environment.h"

#include <map>

#include "base/text.h"
#include "policy/asked.h"
#include "policy/build.h"
#include "policy/paths.h"

namespace bawn::policy {
namespace {

constexpr size_t kNameBytesMax = 255;

std::string Upper(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

// In order of name: a job's environment depends on its inputs only.
using Variables = std::map<std::string, std::string, std::less<>>;

std::pair<std::string_view, std::string_view> Split(std::string_view entry) {
  size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return {entry, {}};
  return {entry.substr(0, equals), entry.substr(equals + 1)};
}

std::unexpected<Error> RefuseVariable(const std::string& where, const EnvVerdict& verdict) {
  std::string hint;
  if (verdict.tier == EnvTier::kCredential) hint = "--secret NAME passes it as a file";
  if (verdict.tier == EnvTier::kHook) hint = "set it in the command itself, inside the sandbox";
  return Refuse(where, TierReason(verdict.tier), hint, std::string(TierRule(verdict.tier)));
}

// The caller's own variables: reviewed ones pass; what looks like a secret or a hook is noted, so
// that `why` can answer; the rest is left out without a word.
void PassReviewed(Build* build, Variables* variables) {
  for (const std::string& entry : build->host.environment) {
    auto [name, value] = Split(entry);
    if (!IsVariableName(name)) continue;
    EnvVerdict verdict = JudgeVariable(name);
    if (verdict.tier == EnvTier::kReviewed) {
      (*variables)[std::string(name)] = value;
    } else if (verdict.tier == EnvTier::kCredential || verdict.tier == EnvTier::kHook) {
      build->Note(plan::Verdict::kDeny, "env:" + EscapeName(name),
                  std::string(TierRule(verdict.tier)), kBuiltIn, TierReason(verdict.tier),
                  verdict.tier == EnvTier::kCredential ? "--secret NAME passes it as a file" : "");
    }
  }
}

std::string EnvWhere(const Origin& origin, std::string_view key, std::string_view name) {
  std::string shown = EscapeName(name);
  if (origin.file == kCommandLine.file) return "--" + std::string(key) + " " + shown;
  return origin.file + ":" + std::to_string(origin.line) + ": env." +
         (key == "env" ? "set " : "pass ") + shown;
}

Result<> AddRule(Build* build, const EnvRule& rule, Variables* variables) {
  std::string_view key = rule.value ? "env" : "pass-env";
  std::string where = EnvWhere(rule.origin, key, rule.name);
  if (!IsVariableName(rule.name) || (rule.value && rule.value->find('\0') != std::string::npos)) {
    return Fail(ErrorCode::kInvalidArgument, where + ": not a possible variable",
                rule.value ? "write NAME=VALUE" : "write a NAME", "env.name");
  }
  EnvVerdict verdict = JudgeVariable(rule.name);
  if (IsRefusedTier(verdict.tier)) return RefuseVariable(where, verdict);
  if (rule.value) {
    (*variables)[rule.name] = *rule.value;
  } else {
    std::string prefix = rule.name + "=";
    bool found = false;
    for (const std::string& entry : build->host.environment) {
      if (!entry.starts_with(prefix)) continue;
      (*variables)[rule.name] = entry.substr(prefix.size());
      found = true;
      break;
    }
    if (!found) {
      build->Note(plan::Verdict::kDeny, "env:" + EscapeName(rule.name), "env.unset", rule.origin,
                  "the caller has no such variable");
      return {};
    }
  }
  build->Note(plan::Verdict::kAllow, "env:" + EscapeName(rule.name), "env." + std::string(key),
              rule.origin, rule.value ? "set as asked" : "passed as asked");
  return {};
}

// What the caller's PATH names, in its order, as far as the view has it; then the system's own.
std::string ComposePath(const Build& build) {
  constexpr std::string_view kSystemPath[] = {"/usr/local/bin",  "/usr/bin",  "/bin",
                                              "/usr/local/sbin", "/usr/sbin", "/sbin"};
  std::vector<std::string> entries;
  auto add = [&](std::string_view entry) {
    for (const std::string& other : entries) {
      if (other == entry) return;
    }
    entries.emplace_back(entry);
  };
  std::string_view rest = CallerVariable(build.host, "PATH");
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    Result<std::string> entry = CleanPath(rest.substr(0, colon), "");
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    // The private home is empty but for what the view put there, which has trees of its own.
    bool shown = entry && (IsAtOrBelow(*entry, build.workspace.path) || build.ShowsHost(*entry));
    if (shown) add(*entry);
  }
  for (std::string_view entry : kSystemPath) add(entry);
  std::string path;
  for (const std::string& entry : entries) path += (path.empty() ? "" : ":") + entry;
  return path;
}

void AddOurs(const Build& build, Variables* variables) {
  variables->try_emplace("PATH", ComposePath(build));
  variables->try_emplace("HOME", build.home);
  variables->try_emplace("SHELL", build.shell);
  (*variables)["USER"] = build.user_name;
  (*variables)["LOGNAME"] = build.user_name;
  (*variables)["PWD"] = build.out.job.cwd;
  (*variables)["BAWN_SANDBOX"] = build.sandbox_id;
  if (!build.secrets_dir.empty()) (*variables)["BAWN_SECRETS_DIR"] = build.secrets_dir;
  if (!build.scratch.empty()) variables->try_emplace("TMPDIR", build.scratch);
  // The host's own would be read there, and git stops at one that it may not read.
  if (build.level == plan::Level::kRestricted) (*variables)["GIT_CONFIG_NOSYSTEM"] = "1";
  if (build.request.pty && !build.request.term.empty()) {
    variables->try_emplace("TERM", build.request.term);
  }
}

}  // namespace

EnvVerdict JudgeVariable(std::string_view name) {
  std::string upper = Upper(name);
  for (const EnvRow& row : kEnvironmentTable) {
    std::string_view subject = row.tier == EnvTier::kReviewed ? name : std::string_view(upper);
    // Most rows begin with another letter: a start judges every variable of the caller.
    if (row.pattern[0] != '*' && !subject.starts_with(row.pattern[0])) continue;
    if (MatchGlob(row.pattern, subject)) return {row.tier, row.pattern};
  }
  return {};
}

bool IsRefusedTier(EnvTier tier) {
  return tier == EnvTier::kHook || tier == EnvTier::kDoor || tier == EnvTier::kOurs ||
         tier == EnvTier::kCredential;
}

std::string_view TierRule(EnvTier tier) {
  switch (tier) {
    case EnvTier::kKept:
      return "env.kept";
    case EnvTier::kHook:
      return "env.hook";
    case EnvTier::kDoor:
      return "env.door";
    case EnvTier::kOurs:
      return "env.ours";
    case EnvTier::kCredential:
      return "env.credential";
    case EnvTier::kReviewed:
      return "env.reviewed";
    case EnvTier::kOther:
      return "env.other";
  }
  return "env.other";
}

std::string_view TierReason(EnvTier tier) {
  switch (tier) {
    case EnvTier::kHook:
      return "it makes a loader, shell or interpreter run something else";
    case EnvTier::kDoor:
      return "it is the address of a host service that the view does not hold";
    case EnvTier::kOurs:
      return "Bawn sets it";
    case EnvTier::kCredential:
      return "its name is that of a credential";
    case EnvTier::kKept:
    case EnvTier::kReviewed:
    case EnvTier::kOther:
      return "no rule refuses it";
  }
  return "";
}

bool IsVariableName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         name.find('=') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

Result<> AddEnvironment(Build* build) {
  Variables variables;
  PassReviewed(build, &variables);
  for (const EnvRule& rule : build->policy.env) BAWN_CHECK_OK(AddRule(build, rule, &variables));
  for (const std::string& name : build->request.pass_env) {
    BAWN_CHECK_OK(AddRule(build, {name, std::nullopt, kCommandLine}, &variables));
  }
  for (const std::string& entry : build->request.env) {
    auto [name, value] = Split(entry);
    if (name.size() == entry.size()) {
      return Fail(ErrorCode::kInvalidArgument, "--env " + EscapeName(entry) + ": there is no '='",
                  "write NAME=VALUE; --pass-env NAME passes the caller's", "env.name");
    }
    BAWN_CHECK_OK(
        AddRule(build, {std::string(name), std::string(value), kCommandLine}, &variables));
  }
  AddOurs(*build, &variables);
  for (const auto& [name, value] : variables) build->out.job.env.push_back(name + "=" + value);
  return {};
}

}  // namespace bawn::policy
