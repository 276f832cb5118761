// git/open.cc
// Start of the library, and a repository opened by its exact git directory.
#include <fcntl.h>
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

#include <algorithm>
#include <array>

#include "base/text.h"
#include "git/impl.h"
#include "git/repo.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

// libgit2 1.5 leaks 20 KiB in its own search for extensions at each open of a version 1 repository.
// Where leaks are looked for, these are not looked for again.
#if __has_feature(address_sanitizer)
using KnownLeak = __lsan::ScopedDisabler;
#else
struct KnownLeak {};
#endif

// Extensions that change nothing for a reader of objects and refs, or whose values CheckExtension
// judges. libgit2 1.5 would refuse the repository for any of them (RT-23, case E-10).
constexpr std::array kJudgedHere = {"worktreeconfig",    "partialclone", "preciousobjects",
                                    "relativeworktrees", "objectformat", "refstorage"};

std::unexpected<Error> Unsupported(const std::string& what, const std::string& git_dir) {
  return Fail(ErrorCode::kUnavailable, "repository " + git_dir + ": " + what + " is not supported",
              "publish is not possible; `bawn apply` works, commit with your own git",
              "git.unsupported");
}

Result<> CheckExtension(std::string_view name, std::string_view value, int64_t version,
                        const std::string& git_dir) {
  if (name == "objectformat" && value != "sha1") {
    return Unsupported("object format " + std::string(value), git_dir);
  }
  if (name == "refstorage" && value != "files") {
    return Unsupported("ref storage " + std::string(value), git_dir);
  }
  const bool known = std::ranges::find(kJudgedHere, name) != kJudgedHere.end() || name == "noop" ||
                     name == "noop-v1";
  if (!known && version > 0) {  // version 0 ignores what it does not know, as git does
    return Unsupported("extension " + EscapeName(name), git_dir);
  }
  return {};
}

Result<> CheckFormat(const std::string& common_dir, const std::string& git_dir) {
  git_config* opened = nullptr;
  const std::string path = common_dir + "/config";
  if (const int code = git_config_open_ondisk(&opened, path.c_str()); code < 0) {
    return FailGit(code, "read " + path);
  }
  const ConfigHandle config(opened);
  int64_t version = 0;
  const int code = git_config_get_int64(&version, config.get(), "core.repositoryformatversion");
  if (code < 0 && code != GIT_ENOTFOUND) return FailGit(code, "read " + path);
  if (version < 0 || version > 1) {
    return Unsupported("repository format " + std::to_string(version), git_dir);
  }
  git_config_iterator* iterator = nullptr;
  if (const int error = git_config_iterator_new(&iterator, config.get()); error < 0) {
    return FailGit(error, "read " + path);
  }
  const Handle<git_config_iterator, git_config_iterator_free> owner(iterator);
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, iterator) == 0) {
    constexpr std::string_view kSection = "extensions.";
    const std::string_view name = entry->name;
    if (!name.starts_with(kSection)) continue;  // libgit2's own regex search leaks memory
    BAWN_CHECK_OK(CheckExtension(name.substr(kSection.size()),
                                 entry->value == nullptr ? "" : entry->value, version, git_dir));
  }
  return {};
}

// `commondir` of gitrepository-layout(5): only linked worktrees have one.
Result<std::string> CommonDir(const std::string& git_dir) {
  auto text = sys::ReadFileAt(AT_FDCWD, git_dir + "/commondir", 64 << 10);
  if (!text && text.error().sys_errno == ENOENT) return git_dir;
  if (!text) return std::unexpected(text.error());
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return text->starts_with('/') ? *text : git_dir + "/" + *text;
}

}  // namespace

void InitGit() {
  if (git_libgit2_init() > 1) return;
  std::array<const char*, kJudgedHere.size()> names = kJudgedHere;
  git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names.data(), names.size());
  git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
  git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
}

std::unexpected<Error> FailGit(int code, std::string_view what) {
  const git_error* last = git_error_last();
  std::string message(what);
  message += ": ";
  message += last != nullptr && last->message != nullptr ? EscapeName(last->message) : "failed";
  const ErrorCode kind = code == GIT_ENOTFOUND                          ? ErrorCode::kNotFound
                         : code == GIT_EMODIFIED || code == GIT_ELOCKED ? ErrorCode::kConflict
                         : code == GIT_EINVALIDSPEC ? ErrorCode::kInvalidArgument
                                                    : ErrorCode::kSystem;
  return Fail(kind, std::move(message));
}

Repo::Repo(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Repo::Repo(Repo&&) noexcept = default;
Repo& Repo::operator=(Repo&&) noexcept = default;
Repo::~Repo() = default;

Result<Repo> Repo::Open(const std::string& git_dir) {
  auto impl = std::make_unique<Impl>();
  impl->git_dir = git_dir;
  impl->common_dir = BAWN_TRY(CommonDir(git_dir));
  BAWN_CHECK_OK(CheckFormat(impl->common_dir, git_dir));
  git_repository* repository = nullptr;
  constexpr unsigned kExactly =
      GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_NO_DOTGIT | GIT_REPOSITORY_OPEN_BARE;
  int code = 0;
  {
    [[maybe_unused]] const KnownLeak known;
    code = git_repository_open_ext(&repository, git_dir.c_str(), kExactly, nullptr);
  }
  if (code < 0) return FailGit(code, "open repository " + git_dir);
  impl->repository.reset(repository);
  const bool linked = impl->common_dir != git_dir;
  impl->common_dir = git_repository_commondir(repository);  // real path, no ".."
  while (impl->common_dir.ends_with('/')) impl->common_dir.pop_back();
  git_odb* odb = nullptr;
  code = git_repository_odb(&odb, repository);
  if (code < 0) return FailGit(code, "open objects of " + git_dir);
  impl->odb.reset(odb);
  code = git_mempack_new(&impl->collected);
  if (code == 0) code = git_odb_add_backend(odb, impl->collected, 999);
  if (code < 0) return FailGit(code, "open objects of " + git_dir);
  git_config* config = nullptr;
  code = git_repository_config(&config, repository);
  if (code < 0) return FailGit(code, "read config of " + git_dir);
  impl->config.reset(config);
  Repo repo(std::move(impl));
  if (BAWN_TRY(repo.ConfigBool("extensions.worktreeconfig", false))) {
    const std::string path = git_dir + "/config.worktree";  // libgit2 1.5 does not know this file
    code = git_config_add_file_ondisk(config, path.c_str(), GIT_CONFIG_LEVEL_APP, repository, 1);
    if (code < 0 && code != GIT_ENOTFOUND) return FailGit(code, "read " + path);
  }
  // A repository opened as bare gets no reflogs by default. Nothing here ever looks at a work tree,
  // so any directory does as one.
  if (linked || !BAWN_TRY(repo.ConfigBool("core.bare", false))) {
    code = git_repository_set_workdir(repository, git_dir.c_str(), 0);
    if (code < 0) return FailGit(code, "open repository " + git_dir);
  }
  return repo;
}

Result<std::optional<std::string>> Repo::ConfigString(const std::string& key) {
  git_buf value = GIT_BUF_INIT;
  const int code = git_config_get_string_buf(&value, impl_->config.get(), key.c_str());
  const Defer free([&] { git_buf_dispose(&value); });
  if (code == GIT_ENOTFOUND) return std::nullopt;
  if (code < 0) return FailGit(code, "config " + key);
  return std::string(value.ptr, value.size);
}

Result<bool> Repo::ConfigBool(const std::string& key, bool otherwise) {
  int value = 0;
  const int code = git_config_get_bool(&value, impl_->config.get(), key.c_str());
  if (code == GIT_ENOTFOUND) return otherwise;
  if (code < 0) return FailGit(code, "config " + key);
  return value != 0;
}

}  // namespace bawn::git
