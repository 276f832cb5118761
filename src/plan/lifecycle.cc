// plan/lifecycle.cc
// Gates that depend on what changed inside a file: keys of package managers that run at the next
// installation or commit, and drivers that git runs on files by attribute.
#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/json.h"
#include "plan/gates.h"
#include "plan/path_alias.h"

namespace bawn::plan {
namespace {

// npm-scripts(7), "Life Cycle Scripts": what `npm install` runs without being asked.
constexpr std::array kNpmScripts = {"preinstall",  "install",     "postinstall", "prepublish",
                                    "preprepare",  "prepare",     "postprepare", "prerebuild",
                                    "postrebuild", "dependencies"};
// Read by hook managers at the next commit, and by package managers at their next call.
constexpr std::array kNpmKeys = {"husky",
                                 "lint-staged",
                                 "simple-git-hooks",
                                 "gitHooks",
                                 "pre-commit",
                                 "pre-push",
                                 "lefthook",
                                 "pnpm",
                                 "packageManager",
                                 "devEngines",
                                 "gypfile",
                                 "volta",
                                 "trustedDependencies"};
constexpr std::array kComposerKeys = {"scripts", "config", "repositories"};

constexpr size_t kManifestBytesMax = 16 << 20;

std::string LastName(std::string_view path) { return FoldName(path.substr(path.rfind('/') + 1)); }

Result<Json> Parse(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.empty()) return Json(JsonObject());
  Json json = BAWN_TRY(ParseJson(text, {.bytes_max = kManifestBytesMax, .depth_max = 64}));
  if (json.AsObject() == nullptr) return Fail(ErrorCode::kInvalidArgument, "not an object");
  return json;
}

std::string Shown(const Json* value) { return value == nullptr ? "" : ToJsonText(*value); }

template <size_t N>
bool AnyDiffers(const Json* before, const Json* after, const std::array<const char*, N>& keys) {
  const auto member = [](const Json* of, const char* key) {
    return of == nullptr ? nullptr : of->Get(key);
  };
  return std::ranges::any_of(keys, [&](const char* key) {
    return Shown(member(before, key)) != Shown(member(after, key));
  });
}

bool ManifestDiffers(bool npm, std::string_view before, std::string_view after) {
  if (before == after) return false;
  const auto old_json = Parse(before);
  const auto new_json = Parse(after);
  if (!old_json || !new_json) return true;  // not ours to read: then it is for a person to judge
  if (!npm) return AnyDiffers(&*old_json, &*new_json, kComposerKeys);
  return AnyDiffers(&*old_json, &*new_json, kNpmKeys) ||
         AnyDiffers(old_json->Get("scripts"), new_json->Get("scripts"), kNpmScripts);
}

// The lines that name a driver, whatever order they stand in.
std::multiset<std::string> DriverLines(std::string_view text) {
  std::multiset<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const bool driver = line.find("filter") != std::string_view::npos ||
                        line.find("diff=") != std::string_view::npos ||
                        line.find("merge=") != std::string_view::npos ||
                        line.find("[attr]") != std::string_view::npos;
    if (driver && line[line.find_first_not_of(" \t\r")] != '#') lines.emplace(line);
  }
  return lines;
}

bool IsManifest(std::string_view name) { return name == "package.json" || name == "composer.json"; }

}  // namespace

bool HasContentGate(std::string_view path) {
  const std::string name = LastName(path);
  return IsManifest(name) || name == ".gitattributes";
}

GateVerdict JudgeContent(std::string_view path, std::string_view before, std::string_view after) {
  const std::string name = LastName(path);
  if (IsManifest(name) && ManifestDiffers(name == "package.json", before, after)) {
    return {.kind = GateKind::kRunsByItself,
            .rule_id = "gate.lifecycle",
            .reason =
                "a script that the package manager runs by itself, or a setting that chooses "
                "what it runs, differs"};
  }
  if (name == ".gitattributes" && DriverLines(before) != DriverLines(after)) {
    return {.kind = GateKind::kRunsByItself,
            .rule_id = "gate.attributes",
            .reason = "git runs the drivers of the user's configuration on the files it names"};
  }
  return {};
}

bool LifecycleChanged(std::string_view path, std::string_view before, std::string_view after) {
  return JudgeContent(path, before, after).kind != GateKind::kNone;
}

}  // namespace bawn::plan
