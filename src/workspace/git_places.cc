#include "workspace/git_places.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "workspace/environment.h"
#include "workspace/git_syntax.h"
#include "workspace/paths.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

constexpr char kObjectsInView[] = "/.bawn/objects/";

// core.excludesFile and core.attributesFile, or the places git looks at without them.
std::string UserFile(const OpenRequest& request, const GitConfig& config, const char* key,
                     const char* name) {
  if (std::optional<std::string> value = config.Get(key)) {
    if (value->starts_with("~/")) return request.home + value->substr(1);
    return value->starts_with('/') ? *value : std::string();
  }
  std::string xdg = EnvValue(request.environment, "XDG_CONFIG_HOME").value_or("");
  if (xdg.empty() && !request.home.empty()) xdg = request.home + "/.config";
  return xdg.empty() ? std::string() : xdg + "/git/" + name;
}

// Names of the submodules whose git directories lie directly in the repository's.
std::vector<std::string> SubmoduleNames(const Repository& repository) {
  std::vector<std::string> names;
  std::string prefix = repository.git_dir + "/modules/";
  for (const Repository::Submodule& submodule : repository.submodules) {
    if (!submodule.git_dir.starts_with(prefix)) continue;
    std::string name = submodule.git_dir.substr(prefix.size());
    if (name.find("/modules/") == std::string::npos) names.push_back(name);
  }
  return names;
}

}  // namespace

std::string GitPlaces::ObjectPath(const std::string& real) {
  auto at = std::ranges::find(object_dirs_, real);
  size_t index = static_cast<size_t>(at - object_dirs_.begin());
  if (at == object_dirs_.end()) object_dirs_.push_back(real);
  return request_.private_place ? real : kObjectsInView + std::to_string(index);
}

bool GitPlaces::IsKnown(const std::string& path) const {
  return std::ranges::any_of(places_, [&](const Place& place) { return place.path == path; });
}

PrivateGit GitPlaces::Describe(const std::string& path, const Repository& repository,
                               const GitConfig& config) {
  PrivateGit git;
  git.repository = &repository;
  git.config = &config;
  git.flat = request_.private_place;
  git.excludes_file = UserFile(request_, config, "core.excludesFile", "ignore");
  git.attributes_file = UserFile(request_, config, "core.attributesFile", "attributes");
  for (const std::string& dir : repository.object_dirs) git.alternates.push_back(ObjectPath(dir));
  git.facts.sha256 = repository.sha256;
  git.facts.identity = AuthorIdentity(config, request_.environment);
  git.facts.active_submodules = SubmoduleNames(repository);
  if (git.flat) return git;
  git.facts.bare = ConfigBool(config.Get("core.bare").value_or("false")).value_or(false);
  // A submodule's git directory says where its work tree is; a linked one must not.
  bool own = repository.dot_git_is_file && repository.common_dir == repository.git_dir;
  if (own) git.facts.work_tree = JoinPath(shown_root_, path);
  return git;
}

// The directory for a private common part; an invalid descriptor when there is no place for one.
Result<UniqueFd> GitPlaces::MakeCommon(const std::string& path, const Repository& repository,
                                       std::string* shown_at) {
  if (!repository.dot_git_is_file || request_.private_place) {
    std::string place = JoinPath(path, ".git");
    *shown_at = JoinPath(shown_root_, place);
    return initial_->HideDirectory(place);
  }
  for (const Common& common : commons_) {
    if (!IsAtOrBelow(repository.common_dir, common.host)) continue;
    std::string below = RelativeTo(repository.common_dir, common.host);
    *shown_at = JoinPath(common.shown_at, below);
    if (below.empty()) return sys::Dup(common.fd.get());
    BAWN_CHECK_OK(sys::MakeDirs(common.fd.get(), below, 0755));
    return sys::OpenDir(common.fd.get(), below, sys::kUntrusted);
  }
  if (!path.empty()) return UniqueFd();
  target_ = *shown_at = repository.common_dir;
  BAWN_CHECK_OK(sys::MakeDirs(sandbox_fd_, "git/base", 0755));
  return sys::OpenDir(sandbox_fd_, "git/base", sys::kUntrusted);
}

Result<> GitPlaces::WriteIntoPlan(PrivateGit git) {
  git.shown_at = JoinPath(shown_root_, ".git");
  initial_->NoteReplaced(".git");
  GitFiles files(-1, git.shown_at, ops_);
  const Repository& repository = *git.repository;
  BAWN_CHECK_OK(WritePrivateCommon(files, std::move(git)));
  bool by_link = repository.git_dir != JoinPath(repository.work_tree, ".git");
  return by_link ? HideReal("", repository.common_dir) : Result<>();
}

Result<> GitPlaces::Write(const std::string& path, const Repository& repository,
                          const GitConfig& config) {
  PrivateGit git = Describe(path, repository, config);
  bool linked = repository.common_dir != repository.git_dir && !git.flat;
  if (linked && LinkedName(repository).empty()) {
    return Hide(path, "its git directory has an unusual place");
  }
  auto known = std::ranges::find(commons_, repository.common_dir, &Common::host);
  if (known == commons_.end() || git.flat) {
    if (ops_ != nullptr && path.empty() && !repository.dot_git_is_file && !linked) {
      return WriteIntoPlan(std::move(git));
    }
    UniqueFd fd = BAWN_TRY(MakeCommon(path, repository, &git.shown_at));
    if (!fd.valid()) return HidePointed(path);
    GitFiles files(fd.get());
    BAWN_CHECK_OK(WritePrivateCommon(files, git));
    commons_.push_back({repository.common_dir, git.shown_at, std::move(fd)});
    known = commons_.end() - 1;
    bool by_link =
        !repository.dot_git_is_file && repository.git_dir != JoinPath(repository.work_tree, ".git");
    if (by_link || git.flat) BAWN_CHECK_OK(HideReal(path, repository.common_dir));
  }
  return linked ? WritePrivateWorktree(known->fd.get(), git) : Result<>();
}

Result<> GitPlaces::Add(const std::string& path, const Repository& repository,
                        const GitConfig& config) {
  std::string name = path.empty() ? "the workspace" : EscapeName(path);
  if (!repository.unsupported.empty() && !repository.sha256) {
    places_.push_back({path, repository});
    return Hide(path, repository.unsupported);
  }
  BAWN_CHECK_OK(Write(path, repository, config));
  for (const std::string& state : repository.in_progress) {
    notes_.push_back("git: the " + state + " in progress in " + name + " is not seen inside");
  }
  for (const std::string& missing : repository.missing_alternates) {
    notes_.push_back("git: object directory " + EscapeName(missing) + " of " + name +
                     " does not exist; what it held is missing inside");
  }
  places_.push_back({path, repository});
  return {};
}

Result<> GitPlaces::AddOwn(const Repository& repository) {
  BAWN_CHECK_OK(Add("", repository, request_.git_config));
  if (!repository.unsupported.empty()) {
    notes_.push_back("git: " + repository.unsupported +
                     " repositories cannot be published to; bawn apply works");
  }
  for (const Repository::Submodule& submodule : repository.submodules) {
    std::optional<Repository> found =
        BAWN_TRY(ReadRepositoryAt(JoinPath(repository.work_tree, submodule.path)));
    if (!found) continue;
    std::string prefix = submodule.path + "/";
    for (const Repository::Submodule& deeper : repository.submodules) {
      if (!deeper.path.starts_with(prefix)) continue;
      found->submodules.push_back({deeper.path.substr(prefix.size()), deeper.git_dir});
    }
    GitConfig config = BAWN_TRY(ReadGitConfig(found, request_.home, request_.environment));
    BAWN_CHECK_OK(Add(submodule.path, *found, config));
  }
  return {};
}

Result<> GitPlaces::AddNested(const std::vector<std::string>& directories) {
  size_t added = 0;
  for (const std::string& path : directories) {
    if (IsKnown(path)) continue;
    if (++added > kNestedPrivateMax) {
      BAWN_CHECK_OK(Hide(path, "there are more than " + std::to_string(kNestedPrivateMax)));
      continue;
    }
    Result<std::optional<Repository>> found = ReadRepositoryAt(JoinPath(request_.root, path));
    if (!found || !*found) {
      BAWN_CHECK_OK(Hide(path, found ? "" : found.error().message));
      continue;
    }
    Result<GitConfig> config = ReadGitConfig(*found, request_.home, request_.environment);
    if (!config) {
      BAWN_CHECK_OK(Hide(path, config.error().message));
      continue;
    }
    BAWN_CHECK_OK(Add(path, **found, *config));
  }
  return {};
}

// No git there: an empty directory in place of `.git`. A `.git` file holds no secret itself.
Result<> GitPlaces::Hide(const std::string& path, const std::string& why) {
  if (!why.empty()) {
    notes_.push_back("git is not available inside in " +
                     (path.empty() ? "the workspace" : EscapeName(path)) + ": " + why);
  }
  Result<sys::FileStat> st =
      sys::Fstatat(AT_FDCWD, JoinPath(request_.root, JoinPath(path, ".git")));
  if (!st) return {};
  if (st->IsRegular()) return HidePointed(path);
  BAWN_CHECK_OK(initial_->HideDirectory(JoinPath(path, ".git")));
  return {};
}

// What a `.git` file points to is hidden where it lies in the tree under a name of its own.
Result<> GitPlaces::HidePointed(const std::string& path) {
  std::string top = JoinPath(request_.root, path);
  UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, top, O_PATH | O_DIRECTORY));
  Result<std::string> text = sys::ReadFileAt(fd.get(), ".git", kSmallFileMax);
  if (!text || !text->starts_with("gitdir: ")) return {};
  Result<UniqueFd> pointed = sys::OpenDir(fd.get(), TrimRight(*text).substr(8));
  if (!pointed) return {};
  std::optional<std::string> common =
      BAWN_TRY(ReadIfExists(pointed->get(), "commondir", kSmallFileMax));
  if (common) pointed = sys::OpenDir(pointed->get(), TrimRight(*common));
  if (!pointed) return {};
  return HideReal(path, BAWN_TRY(PathOfFd(pointed->get())));
}

Result<> GitPlaces::HideReal(const std::string& path, const std::string& real) {
  if (!IsAtOrBelow(real, request_.root) || real == request_.root) return {};
  std::string below = RelativeTo(real, request_.root);
  bool covered = std::ranges::any_of(initial_->replaced(), [&](const std::string& replaced) {
    return IsAtOrBelow(below, replaced);
  });
  // Something of ours inside of it already, or it holds the work tree: then it stays as it is.
  bool holds = IsAtOrBelow(path, below) ||
               std::ranges::any_of(initial_->replaced(), [&](const std::string& replaced) {
                 return IsAtOrBelow(replaced, below);
               });
  if (covered || holds) return {};
  BAWN_CHECK_OK(initial_->HideDirectory(below));
  hidden_.push_back(below);
  return {};
}

}  // namespace bawn::workspace
