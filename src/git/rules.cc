// git/rules.cc
// Attribute and ignore rules as of a commit: its .gitattributes and .gitignore blobs, info/ of the
// repository, and the user's own files. What the work tree holds is never read (RT-08, RT-15).
#include <fcntl.h>
#include <stdlib.h>

#include "git/impl.h"
#include "git/repo.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// As git: a user's file that is absent or unreadable holds no rules.
Result<std::string> OptionalFile(const std::string& path) {
  auto text = sys::ReadFileAt(AT_FDCWD, path, kRuleFileBytesMax);
  if (text) return text;
  const int error = text.error().sys_errno;
  if (error == ENOENT || error == ENOTDIR || error == EACCES || error == EISDIR) return "";
  return std::unexpected(text.error());
}

}  // namespace

Result<std::string> Repo::Impl::FileOfUser(const std::string& config_key,
                                           const std::string& default_name) {
  git_buf path = GIT_BUF_INIT;
  const int code = git_config_get_path(&path, config.get(), config_key.c_str());
  const Defer free([&] { git_buf_dispose(&path); });
  if (code == 0) return OptionalFile(std::string(path.ptr, path.size));
  if (code != GIT_ENOTFOUND) return FailGit(code, "config " + config_key);
  const char* xdg = getenv("XDG_CONFIG_HOME");
  const char* home = getenv("HOME");
  if (xdg != nullptr && *xdg != '\0')
    return OptionalFile(std::string(xdg) + "/git/" + default_name);
  if (home == nullptr) return "";
  return OptionalFile(std::string(home) + "/.config/git/" + default_name);
}

Result<const UserRules*> Repo::Impl::User() {
  if (user) return &*user;
  UserRules rules;
  const std::string info = common_dir + "/info/";
  rules.info_attributes = ParseAttributeFile(BAWN_TRY(OptionalFile(info + "attributes")), true);
  rules.info_exclude = ParseIgnoreFile(BAWN_TRY(OptionalFile(info + "exclude")));
  rules.user_attributes =
      ParseAttributeFile(BAWN_TRY(FileOfUser("core.attributesfile", "attributes")), true);
  rules.user_excludes = ParseIgnoreFile(BAWN_TRY(FileOfUser("core.excludesfile", "ignore")));
  int value = 0;
  if (git_config_get_bool(&value, config.get(), "core.ignorecase") == 0) {
    rules.ignore_case = value != 0;
  }
  const git_configmap kCrlf[] = {{GIT_CONFIGMAP_FALSE, nullptr, 0},
                                 {GIT_CONFIGMAP_TRUE, nullptr, 1},
                                 {GIT_CONFIGMAP_STRING, "input", 2}};
  int code = git_config_get_mapped(&value, config.get(), "core.autocrlf", kCrlf, 3);
  if (code < 0 && code != GIT_ENOTFOUND) return FailGit(code, "config core.autocrlf");
  if (code == 0) rules.line_ends.autocrlf = static_cast<AutoCrlf>(value);
  git_buf eol = GIT_BUF_INIT;
  code = git_config_get_string_buf(&eol, config.get(), "core.eol");
  const Defer free([&] { git_buf_dispose(&eol); });
  if (code < 0 && code != GIT_ENOTFOUND) return FailGit(code, "config core.eol");
  rules.line_ends.eol_crlf = code == 0 && std::string_view(eol.ptr, eol.size) == "crlf";
  user = std::move(rules);
  return &*user;
}

Result<> Repo::Impl::UseBase(const Oid& commit) {
  if (base.commit == commit && (commit.empty() || !base.root.empty())) return {};
  base = BaseRules{};
  base.commit = commit;
  if (commit.empty()) return {};
  const OdbObjectHandle object = BAWN_TRY(Read(commit, GIT_OBJECT_COMMIT));
  const std::string_view text(static_cast<const char*>(git_odb_object_data(object.get())),
                              git_odb_object_size(object.get()));
  if (!text.starts_with("tree ") || text.size() < 45) {
    return Fail(ErrorCode::kSystem, "commit " + commit + " is malformed");
  }
  base.root = text.substr(5, 40);
  return {};
}

Result<std::optional<Oid>> Repo::Impl::TreeOf(std::string_view directory) {
  if (base.root.empty()) return std::nullopt;
  if (directory.empty()) return base.root;
  if (const auto known = base.trees.find(directory); known != base.trees.end()) {
    return known->second;
  }
  std::optional<Oid> found;
  if (const auto parent = BAWN_TRY(TreeOf(ParentOf(directory)))) {
    const TreeHandle tree = BAWN_TRY(Tree(*parent));
    const std::string name(directory.substr(directory.rfind('/') + 1));
    const git_tree_entry* entry = git_tree_entry_byname(tree.get(), name.c_str());
    if (entry != nullptr && git_tree_entry_filemode(entry) == GIT_FILEMODE_TREE) {
      found = OidText(*git_tree_entry_id(entry));
    }
  }
  base.trees.emplace(directory, found);
  return found;
}

Result<std::optional<TreeEntry>> Repo::Impl::EntryOfBase(std::string_view path) {
  const auto tree_oid = BAWN_TRY(TreeOf(ParentOf(path)));
  if (!tree_oid) return std::nullopt;
  const TreeHandle tree = BAWN_TRY(Tree(*tree_oid));
  const std::string name(path.substr(path.rfind('/') + 1));
  const git_tree_entry* entry = git_tree_entry_byname(tree.get(), name.c_str());
  if (entry == nullptr) return std::nullopt;
  return EntryOf(entry);
}

Result<std::string> Repo::Impl::RuleFile(std::string_view directory, std::string_view name) {
  const std::string path =
      directory.empty() ? std::string(name) : std::string(directory) + "/" + std::string(name);
  const auto entry = BAWN_TRY(EntryOfBase(path));
  if (!entry || (entry->mode != FileMode::kFile && entry->mode != FileMode::kExecutable)) return "";
  const OdbObjectHandle blob = BAWN_TRY(Read(entry->oid, GIT_OBJECT_BLOB));
  const size_t size = git_odb_object_size(blob.get());
  if (size > kRuleFileBytesMax) return "";  // git ignores such a file, with a warning
  return std::string(static_cast<const char*>(git_odb_object_data(blob.get())), size);
}

Result<const AttributeFile*> Repo::Impl::AttributesIn(std::string_view directory) {
  auto known = base.attributes.find(directory);
  if (known == base.attributes.end()) {
    const std::string text = BAWN_TRY(RuleFile(directory, ".gitattributes"));
    known =
        base.attributes.emplace(directory, ParseAttributeFile(text, /*macros=*/directory.empty()))
            .first;
  }
  return &known->second;
}

Result<const IgnoreFile*> Repo::Impl::IgnoresIn(std::string_view directory) {
  auto known = base.ignores.find(directory);
  if (known == base.ignores.end()) {
    const std::string text = BAWN_TRY(RuleFile(directory, ".gitignore"));
    known = base.ignores.emplace(directory, ParseIgnoreFile(text)).first;
  }
  return &known->second;
}

Result<const AttributeValues*> Repo::Impl::Attributes(const Oid& commit, std::string_view path) {
  BAWN_CHECK_OK(UseBase(commit));
  if (base.last && base.last->first == path) return &base.last->second;
  const UserRules* rules = BAWN_TRY(User());
  std::vector<AttributeSource> sources = {{&rules->info_attributes, ""}};
  for (std::string_view directory = ParentOf(path);; directory = ParentOf(directory)) {
    sources.push_back({BAWN_TRY(AttributesIn(directory)), directory});
    if (directory.empty()) break;
  }
  sources.push_back({&rules->user_attributes, ""});
  base.last.emplace(path, AttributesOf(sources, path, rules->ignore_case));
  return &base.last->second;
}

Result<bool> Repo::Impl::DirectoryIgnored(std::string_view directory) {
  if (directory.empty()) return false;
  if (const auto known = base.directory_ignored.find(directory);
      known != base.directory_ignored.end()) {
    return known->second;
  }
  const bool ignored = BAWN_TRY(PathIgnored(directory, true));
  base.directory_ignored.emplace(directory, ignored);
  return ignored;
}

Result<bool> Repo::Impl::PathIgnored(std::string_view path, bool is_directory) {
  // Nothing below an ignored directory can be re-included; rule files in there do not count.
  if (BAWN_TRY(DirectoryIgnored(ParentOf(path)))) return true;
  const UserRules* rules = BAWN_TRY(User());
  for (std::string_view directory = ParentOf(path);; directory = ParentOf(directory)) {
    const IgnoreFile* file = BAWN_TRY(IgnoresIn(directory));
    const auto verdict = IgnoreVerdict(*file, directory, path, is_directory, rules->ignore_case);
    if (verdict) return *verdict;
    if (directory.empty()) break;
  }
  for (const IgnoreFile* file : {&rules->info_exclude, &rules->user_excludes}) {
    const auto verdict = IgnoreVerdict(*file, "", path, is_directory, rules->ignore_case);
    if (verdict) return *verdict;
  }
  return false;
}

Result<bool> Repo::IsIgnored(const Oid& commit, std::string_view path, bool is_directory) {
  BAWN_CHECK_OK(impl_->UseBase(commit));
  if (is_directory) return impl_->DirectoryIgnored(path);
  return impl_->PathIgnored(path, false);
}

Result<Conversion> Repo::ConversionOf(const Oid& commit, std::string_view path) {
  const AttributeValues& attributes = *BAWN_TRY(impl_->Attributes(commit, path));
  const auto text = [&](const char* name) {
    const auto found = attributes.find(name);
    const auto* value =
        found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    return value == nullptr ? std::string() : *value;
  };
  Conversion conversion;
  conversion.filter = text("filter");
  conversion.working_tree_encoding = text("working-tree-encoding");
  std::string folded = conversion.working_tree_encoding;
  for (char& c : folded) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (folded == "utf-8" || folded == "utf8") conversion.working_tree_encoding.clear();
  if (const auto diff = attributes.find("diff"); diff != attributes.end()) {
    conversion.binary = diff->second == AttributeValue(AttributeState::kFalse);
    conversion.text = diff->second == AttributeValue(AttributeState::kTrue);
  }
  return conversion;
}

Result<TextRules> Repo::Impl::TextRulesOf(const Oid& commit, std::string_view path) {
  const AttributeValues* attributes = BAWN_TRY(Attributes(commit, path));
  return RulesFrom(*attributes, BAWN_TRY(User())->line_ends);
}

Result<bool> Repo::Impl::BaseHasCrlf(std::string_view path) {
  const auto entry = BAWN_TRY(EntryOfBase(path));
  if (!entry || entry->mode == FileMode::kTree || entry->mode == FileMode::kGitlink) return false;
  const OdbObjectHandle blob = BAWN_TRY(Read(entry->oid, GIT_OBJECT_BLOB));
  return HasCommittedCrlf(
      {static_cast<const char*>(git_odb_object_data(blob.get())), git_odb_object_size(blob.get())});
}

Result<std::string> Repo::ToGit(const Oid& commit, std::string_view path, std::string_view bytes) {
  const TextRules rules = BAWN_TRY(impl_->TextRulesOf(commit, path));
  const bool asks = rules.guess && bytes.find('\r') != std::string_view::npos;
  const bool base_has_crlf = asks && BAWN_TRY(impl_->BaseHasCrlf(path));
  return BytesToGit(rules, bytes, base_has_crlf);
}

Result<std::string> Repo::ToWorkTree(const Oid& commit, std::string_view path,
                                     std::string_view blob) {
  return BytesToWorkTree(BAWN_TRY(impl_->TextRulesOf(commit, path)), blob);
}

Result<bool> Repo::RoundTrips(const Oid& commit, std::string_view path, std::string_view bytes) {
  TextRules rules = BAWN_TRY(impl_->TextRulesOf(commit, path));
  rules.ident = false;
  if (!rules.text) return true;  // nothing is converted, either way
  const bool asks = rules.guess && bytes.find('\r') != std::string_view::npos;
  const bool base_has_crlf = asks && BAWN_TRY(impl_->BaseHasCrlf(path));
  return BytesToWorkTree(rules, BytesToGit(rules, bytes, base_has_crlf)) == bytes;
}

}  // namespace bawn::git
