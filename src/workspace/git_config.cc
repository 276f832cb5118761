// The config git would see in a directory: system, global, local, worktree and environment, with
// includes and their conditions (git-config(1) "FILES", "Includes", "ENVIRONMENT"). Read from the
// host's own files before anything ran; depth, size and number of files are bounded.
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/environment.h"
#include "workspace/git_include.h"
#include "workspace/git_syntax.h"
#include "workspace/repository.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

constexpr int kIncludeDepthMax = 10;  // as git
constexpr int kConfigFilesMax = 500;
constexpr size_t kParametersMax = 1000;

class Reader {
 public:
  Reader(const IncludeContext& context, bool remote_conditions)
      : context_(context), remote_conditions_(remote_conditions) {}

  Result<std::vector<ConfigEntry>> ReadAll() {
    BAWN_CHECK_OK(ReadSystemAndGlobal());
    if (context_.repository != nullptr) {
      BAWN_CHECK_OK(ReadFile(context_.repository->common_dir + "/config", 0));
      if (context_.repository->worktree_config) {
        BAWN_CHECK_OK(ReadFile(context_.repository->git_dir + "/config.worktree", 0));
      }
    }
    BAWN_CHECK_OK(ReadEnvironment());
    return std::move(entries_);
  }

 private:
  Result<> ReadSystemAndGlobal() {
    const std::vector<std::string>& env = *context_.environment;
    std::optional<std::string> none = EnvValue(env, "GIT_CONFIG_NOSYSTEM");
    if (!none || !ConfigBool(none).value_or(false)) {
      BAWN_CHECK_OK(ReadFile(EnvValue(env, "GIT_CONFIG_SYSTEM").value_or("/etc/gitconfig"), 0));
    }
    if (std::optional<std::string> global = EnvValue(env, "GIT_CONFIG_GLOBAL")) {
      return ReadFile(*global, 0, true);
    }
    std::string xdg = EnvValue(env, "XDG_CONFIG_HOME").value_or("");
    if (xdg.empty() && !context_.home.empty()) xdg = context_.home + "/.config";
    if (!xdg.empty()) BAWN_CHECK_OK(ReadFile(xdg + "/git/config", 0, true));
    if (context_.home.empty()) return {};
    return ReadFile(context_.home + "/.gitconfig", 0, true);
  }

  // Like git: what does not exist is nothing, what cannot be read is an error (not so for the
  // user's own file, which `sudo` may have made unreadable).
  Result<> ReadFile(const std::string& path, int depth, bool ignore_denied = false) {
    if (path.empty()) return {};
    Result<std::string> text = sys::ReadFileAt(AT_FDCWD, path, kConfigFileMax);
    if (!text) {
      int code = text.error().sys_errno;
      if (code == ENOENT || code == ENOTDIR || (code == EACCES && ignore_denied)) return {};
      return std::unexpected(WithContext(text.error(), "git config"));
    }
    if (++files_ > kConfigFilesMax) {
      return Fail(ErrorCode::kResourceExhausted,
                  "git config: more than " + std::to_string(kConfigFilesMax) + " files");
    }
    for (ConfigEntry& entry : BAWN_TRY(ParseConfigText(*text, path))) {
      BAWN_CHECK_OK(Take(std::move(entry), path, depth));
    }
    return {};
  }

  Result<> Take(ConfigEntry entry, const std::string& file, int depth) {
    std::string condition;
    if (!IsInclude(entry.key, &condition)) {
      entries_.push_back(std::move(entry));
      return {};
    }
    if (!entry.value) {
      return Fail(ErrorCode::kInvalidArgument, "git config: " + EscapeName(entry.key) +
                                                   " without a path in " + EscapeName(file));
    }
    if (!condition.empty() && !BAWN_TRY(Holds(condition, file))) return {};
    if (depth >= kIncludeDepthMax) {
      return Fail(ErrorCode::kInvalidArgument, "git config: includes nested deeper than " +
                                                   std::to_string(kIncludeDepthMax) + " at " +
                                                   EscapeName(file));
    }
    return ReadFile(BAWN_TRY(IncludedPath(context_, *entry.value, file)), depth + 1);
  }

  Result<bool> Holds(const std::string& condition, const std::string& file) {
    constexpr std::string_view kRemote = "hasconfig:remote.*.url:";
    if (!condition.starts_with(kRemote)) return ConditionHolds(context_, condition, file);
    if (!remote_conditions_) return false;
    if (!remote_urls_) {
      // The URLs of everything that is not itself included by such a condition.
      remote_urls_.emplace();
      for (const ConfigEntry& entry : BAWN_TRY(Reader(context_, false).ReadAll())) {
        bool is_url = entry.key.starts_with("remote.") && entry.key.ends_with(".url");
        if (is_url && entry.value) remote_urls_->push_back(*entry.value);
      }
    }
    return AnyMatches(condition.substr(kRemote.size()), *remote_urls_);
  }

  // `git -c` of an outer git, and the GIT_CONFIG_COUNT triples; without includes by relative path.
  Result<> ReadEnvironment() {
    const std::vector<std::string>& env = *context_.environment;
    std::vector<ConfigEntry> given;
    std::string count = EnvValue(env, "GIT_CONFIG_COUNT").value_or("0");
    size_t pairs = 0;
    auto [end, parsed] = std::from_chars(count.data(), count.data() + count.size(), pairs);
    if (parsed != std::errc() || end != count.data() + count.size() || pairs > kParametersMax) {
      return Fail(ErrorCode::kInvalidArgument, "bogus count in GIT_CONFIG_COUNT");
    }
    for (size_t i = 0; i < pairs; ++i) {
      std::optional<std::string> key = EnvValue(env, "GIT_CONFIG_KEY_" + std::to_string(i));
      std::optional<std::string> value = EnvValue(env, "GIT_CONFIG_VALUE_" + std::to_string(i));
      if (!key || !value) {
        return Fail(ErrorCode::kInvalidArgument, "GIT_CONFIG_COUNT is " + EscapeName(count) +
                                                     ", but pair " + std::to_string(i) +
                                                     " is missing");
      }
      given.push_back({*key, value});
    }
    if (std::optional<std::string> text = EnvValue(env, "GIT_CONFIG_PARAMETERS")) {
      BAWN_CHECK_OK(ParseParameters(*text, &given));
    }
    for (ConfigEntry& entry : given) {
      std::string key = NormalizeConfigKey(entry.key);
      if (key.empty()) {
        return Fail(ErrorCode::kInvalidArgument,
                    "environment: no git config key: " + EscapeName(entry.key));
      }
      entry.key = std::move(key);
      BAWN_CHECK_OK(Take(std::move(entry), "", 0));
    }
    return {};
  }

  const IncludeContext& context_;
  bool remote_conditions_;
  int files_ = 0;
  std::vector<ConfigEntry> entries_;
  std::optional<std::vector<std::string>> remote_urls_;
};

}  // namespace

std::optional<std::string> GitConfig::Get(const std::string& key) const {
  std::string wanted = NormalizeConfigKey(key);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->first == wanted) return entry->second;
  }
  return std::nullopt;
}

Result<GitConfig> ReadGitConfig(const std::optional<Repository>& repository,
                                const std::string& home,
                                const std::vector<std::string>& environment) {
  IncludeContext context{repository ? &*repository : nullptr, home, &environment};
  GitConfig config;
  for (ConfigEntry& entry : BAWN_TRY(Reader(context, true).ReadAll())) {
    config.entries.emplace_back(std::move(entry.key), std::move(entry.value).value_or("true"));
  }
  return config;
}

}  // namespace bawn::workspace
