#include "workspace/private_config.h"

#include <algorithm>
#include <map>
#include <utility>

#include "workspace/git_syntax.h"

namespace bawn::workspace {
namespace {

// Settings of core that change what git does with the files and name no program, path or host.
constexpr std::string_view kCoreKeys[] = {
    "abbrev",
    "autocrlf",
    "bigfilethreshold",
    "checkroundtripencoding",
    "commentchar",
    "compression",
    "eol",
    "filemode",
    "ignorecase",
    "logallrefupdates",
    "loosecompression",
    "precomposeunicode",
    "preloadindex",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "safecrlf",
    "sharedrepository",
    "sparsecheckout",
    "sparsecheckoutcone",
    "splitindex",
    "symlinks",
    "untrackedcache",
    "warnambiguousrefs",
    "whitespace",
};
constexpr std::string_view kBranchKeys[] = {"merge", "pushremote", "rebase", "remote"};

std::string Quoted(std::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      default:
        out += c;
    }
  }
  return out + '"';
}

std::string Header(std::string_view section, std::string_view subsection) {
  std::string out = "[" + std::string(section) + " \"";
  for (char c : subsection) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"]\n";
}

struct Text {
  std::string out;
  void Set(std::string_view key, std::string_view value) {
    out += "\t" + std::string(key) + " = " + Quoted(value) + "\n";
  }
  void Flag(std::string_view key, bool value) { Set(key, value ? "true" : "false"); }
};

// "remote.NAME.key" with a name that can stand in a header line.
bool SplitKey(std::string_view full, std::string_view section, std::string* name,
              std::string* key) {
  if (!full.starts_with(section) || full.size() <= section.size()) return false;
  if (full[section.size()] != '.') return false;
  size_t last = full.rfind('.');
  if (last <= section.size()) return false;
  *name = full.substr(section.size() + 1, last - section.size() - 1);
  *key = full.substr(last + 1);
  return name->find_first_of(std::string_view("\n\0", 2)) == std::string::npos;
}

void WriteCore(const PrivateConfig& facts, const GitConfig& config, Text* text) {
  text->out += "[core]\n";
  // What promisor and precious repositories need is an extension, and that needs version 1.
  bool partial = config.Get("extensions.partialclone").has_value();
  bool precious = config.Get("extensions.preciousobjects").has_value();
  bool version1 = facts.sha256 || partial || precious;
  text->Set("repositoryFormatVersion", version1 ? "1" : "0");
  text->Flag("bare", facts.bare);
  if (!facts.work_tree.empty()) text->Set("worktree", facts.work_tree);
  for (std::string_view key : kCoreKeys) {
    std::optional<std::string> value = config.Get("core." + std::string(key));
    if (value) text->Set(key, *value);
  }
  // The files are the same, their inode numbers, change times and owners need not be (E-13).
  text->Set("checkStat", "minimal");
  text->Flag("trustctime", false);
  text->Flag("commitGraph", false);
  if (!facts.attributes.empty()) text->Set("attributesFile", facts.attributes);
  if (!facts.excludes.empty()) text->Set("excludesFile", facts.excludes);
  if (!version1) return;
  text->out += "[extensions]\n";
  if (facts.sha256) text->Set("objectFormat", "sha256");
  if (partial) text->Set("partialClone", *config.Get("extensions.partialclone"));
  if (precious) text->Set("preciousObjects", *config.Get("extensions.preciousobjects"));
}

void WriteRemotes(const GitConfig& config, Text* text) {
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> remotes;
  std::string name, key;
  for (const auto& [full, value] : config.entries) {
    if (!SplitKey(full, "remote", &name, &key) || name.find("://") != std::string::npos) continue;
    if (key == "fetch") remotes[name].emplace_back(key, value);
    if (key != "url") continue;
    if (std::optional<std::string> url = WithoutUserinfo(value)) {
      remotes[name].emplace_back(key, *url);
    }
  }
  for (const auto& [remote, values] : remotes) {
    text->out += Header("remote", remote);
    for (const auto& [k, v] : values) text->Set(k, v);
  }
}

void WriteBranches(const GitConfig& config, Text* text) {
  std::map<std::string, std::map<std::string, std::string>> branches;
  std::string name, key;
  for (const auto& [full, value] : config.entries) {
    if (!SplitKey(full, "branch", &name, &key)) continue;
    if (std::ranges::find(kBranchKeys, key) == std::end(kBranchKeys)) continue;
    bool may_be_url = key.ends_with("remote");  // git takes a URL where a remote's name stands
    std::optional<std::string> safe = may_be_url ? WithoutUserinfo(value) : value;
    if (safe) branches[name][key] = *safe;
  }
  for (const auto& [branch, values] : branches) {
    text->out += Header("branch", branch);
    for (const auto& [k, v] : values) text->Set(k, v);
  }
}

}  // namespace

std::optional<std::string> WithoutUserinfo(std::string_view url) {
  size_t helper = url.find("::");
  size_t scheme_end = url.find("://");
  // "ext::sh -c …" is a command line; other helpers put a URL behind their name.
  if (helper != std::string_view::npos && helper < scheme_end) {
    if (scheme_end == std::string_view::npos || url.starts_with("ext::")) return std::nullopt;
  }
  if (scheme_end == std::string_view::npos) return std::string(url);  // a path, or user@host:path
  size_t host = scheme_end + 3;
  size_t path = std::min(url.find_first_of("/?#", host), url.size());
  size_t at = url.substr(0, path).rfind('@');
  std::string out(url.substr(0, host));
  if (at != std::string_view::npos && at >= host) {
    std::string_view user = url.substr(host, at - host);
    std::string_view scheme = url.substr(0, scheme_end);
    if (scheme.ends_with("ssh")) out += std::string(user.substr(0, user.find(':'))) + "@";
    host = at + 1;
  }
  out += url.substr(host, std::min(url.find_first_of("?#", host), url.size()) - host);
  return out;
}

std::string PrivateConfigText(const PrivateConfig& facts, const GitConfig& config) {
  Text text;
  WriteCore(facts, config, &text);
  if (!facts.identity.name.empty() || !facts.identity.email.empty()) {
    text.out += "[user]\n";
    if (!facts.identity.name.empty()) text.Set("name", facts.identity.name);
    if (!facts.identity.email.empty()) text.Set("email", facts.identity.email);
  }
  // Other work trees and other sandboxes look stale from in here (RT-18).
  text.out += "[gc]\n";
  text.Set("auto", "0");
  text.Set("pruneExpire", "never");
  text.Set("worktreePruneExpire", "never");
  WriteRemotes(config, &text);
  WriteBranches(config, &text);
  for (const std::string& name : facts.active_submodules) {
    text.out += Header("submodule", name);
    text.Flag("active", true);
  }
  return std::move(text.out);
}

}  // namespace bawn::workspace
