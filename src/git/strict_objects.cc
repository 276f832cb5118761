#include "git/strict_objects.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/text.h"

namespace bawn::git {
namespace {

constexpr size_t kRawOidBytes = 20;
constexpr size_t kNameBytesMax = 255;
constexpr size_t kParentsMax = 64;
constexpr size_t kEncodingBytesMax = 32;
constexpr size_t kSecondsDigitsMax = 12;  // until the year 33658

std::unexpected<Error> Bad(std::string_view what, const std::string& why) {
  return Fail(ErrorCode::kFailedPrecondition,
              "a " + std::string(what) + " made inside is not one that git accepts: " + why,
              "--squash publishes what the tree holds now, as one commit, without it",
              "publish.inside_object");
}

std::optional<FileMode> ModeNamed(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, FileMode>, 5> kModes = {{
      {"40000", FileMode::kTree},
      {"100644", FileMode::kFile},
      {"100755", FileMode::kExecutable},
      {"120000", FileMode::kSymlink},
      {"160000", FileMode::kGitlink},
  }};
  for (const auto& [name, mode] : kModes) {
    if (name == text) return mode;
  }
  return std::nullopt;
}

bool IsDotGit(std::string_view name) {
  return name.size() == 4 && name[0] == '.' && (name[1] | 0x20) == 'g' && (name[2] | 0x20) == 'i' &&
         (name[3] | 0x20) == 't';
}

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && name != "." && name != ".." &&
         !IsDotGit(name) && name.find('/') == std::string_view::npos;
}

// git's order: a directory counts as "name/".
bool InOrder(const TreeEntry& a, const TreeEntry& b) {
  const auto key = [](const TreeEntry& entry) {
    return entry.mode == FileMode::kTree ? entry.name + "/" : entry.name;
  };
  return key(a) < key(b);
}

Oid ToText(std::string_view raw) {
  constexpr char kDigits[] = "0123456789abcdef";
  Oid text;
  text.reserve(raw.size() * 2);
  for (const char c : raw) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Takes the line "KEY REST\n" off `text`; absent when the next line has another key.
std::optional<std::string_view> TakeLine(std::string_view& text, std::string_view key) {
  if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != ' ') return {};
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view rest = text.substr(key.size() + 1, end - key.size() - 1);
  text.remove_prefix(end + 1);
  return rest;
}

bool AllDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsTime(std::string_view when) {
  const size_t blank = when.find(' ');
  if (blank == std::string_view::npos) return false;
  const std::string_view seconds = when.substr(0, blank);
  const std::string_view zone = when.substr(blank + 1);
  return AllDigits(seconds) && seconds.size() <= kSecondsDigitsMax &&
         (seconds.size() == 1 || seconds[0] != '0') && zone.size() == 5 &&
         (zone[0] == '+' || zone[0] == '-') && AllDigits(zone.substr(1)) &&
         zone.substr(1, 2) <= "14" && zone.substr(3) <= "59";
}

// "Name <mail> seconds zone"
Result<CommitText::Signature> ParseSignature(std::string_view line) {
  const size_t open = line.find('<');
  const size_t close = line.find('>');
  const bool shaped = open != std::string_view::npos && open >= 2 && line[open - 1] == ' ' &&
                      line[open - 2] != ' ' && line[0] != ' ' && close != std::string_view::npos &&
                      close > open && close + 2 < line.size() && line[close + 1] == ' ' &&
                      line.find('<', open + 1) == std::string_view::npos &&
                      line.find('>', close + 1) == std::string_view::npos;
  if (!shaped || !IsTime(line.substr(close + 2))) {
    return Bad("commit", "an author or committer without name, address and time: " +
                             EscapeName(line.substr(0, 200)));
  }
  return CommitText::Signature{std::string(line.substr(0, close + 1)),
                               std::string(line.substr(close + 2))};
}

bool IsEncoding(std::string_view name) {
  return !name.empty() && name.size() <= kEncodingBytesMax && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

// Headers after the committer, each "key value" with further lines that start with a blank.
Result<> ReadOtherHeaders(std::string_view& text, CommitText& commit) {
  bool first = true;
  while (!text.empty() && text.front() != '\n') {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return Bad("commit", "its headers do not end");
    const std::string_view line = text.substr(0, end);
    if (line.starts_with("encoding ")) {
      commit.encoding = line.substr(9);
      if (!IsEncoding(commit.encoding)) return Bad("commit", "an encoding that is none");
    }
    const std::string_view key = line.substr(0, line.find(' '));
    const bool again = key == "tree" || key == "parent" || key == "author" || key == "committer";
    if (again || (first && line.starts_with(' '))) return Bad("commit", "a header out of place");
    first = false;
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return Bad("commit", "it has no message");
  text.remove_prefix(1);
  return {};
}

}  // namespace

bool IsOidText(std::string_view text) {
  return text.size() == 40 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<std::vector<TreeEntry>> ParseTree(std::string_view bytes) {
  std::vector<TreeEntry> entries;
  while (!bytes.empty()) {
    const size_t blank = bytes.find(' ');
    const size_t nul = bytes.find('\0');
    if (blank == std::string_view::npos || nul == std::string_view::npos || blank > nul ||
        bytes.size() - nul - 1 < kRawOidBytes) {
      return Bad("tree", "it ends in the middle of an entry");
    }
    TreeEntry entry;
    const std::optional<FileMode> mode = ModeNamed(bytes.substr(0, blank));
    if (!mode)
      return Bad("tree", "the mode " + EscapeName(bytes.substr(0, std::min<size_t>(blank, 20))));
    entry.mode = *mode;
    entry.name = bytes.substr(blank + 1, nul - blank - 1);
    if (!IsName(entry.name)) return Bad("tree", "the name '" + EscapeName(entry.name) + "'");
    entry.oid = ToText(bytes.substr(nul + 1, kRawOidBytes));
    if (entry.oid == kZeroOid) return Bad("tree", "an entry without an object");
    bytes.remove_prefix(nul + 1 + kRawOidBytes);
    if (!entries.empty() && !InOrder(entries.back(), entry)) {
      return Bad("tree", "the name '" + EscapeName(entry.name) + "' twice or out of order");
    }
    entries.push_back(std::move(entry));
  }
  std::vector<std::string_view>
      names;  // "a" and the directory "a" are not neighbours in git's order
  names.reserve(entries.size());
  for (const TreeEntry& entry : entries) names.emplace_back(entry.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) return Bad("tree", "the name '" + EscapeName(*twice) + "' twice");
  return entries;
}

Result<CommitText> ParseCommit(std::string_view bytes) {
  if (bytes.find('\0') != std::string_view::npos) return Bad("commit", "a NUL");
  CommitText commit;
  const auto tree = TakeLine(bytes, "tree");
  if (!tree || !IsOidText(*tree)) return Bad("commit", "it has no tree");
  commit.tree = *tree;
  while (const auto parent = TakeLine(bytes, "parent")) {
    if (!IsOidText(*parent) || commit.parents.size() >= kParentsMax) {
      return Bad("commit", "a parent that is no object, or too many");
    }
    commit.parents.emplace_back(*parent);
  }
  const auto author = TakeLine(bytes, "author");
  if (!author) return Bad("commit", "it has no author");
  commit.author = BAWN_TRY(ParseSignature(*author));
  const auto committer = TakeLine(bytes, "committer");
  if (!committer) return Bad("commit", "it has no committer");
  commit.committer = BAWN_TRY(ParseSignature(*committer));
  BAWN_CHECK_OK(ReadOtherHeaders(bytes, commit));
  commit.message = bytes;
  return commit;
}

std::string CommitBytes(const CommitText& commit) {
  std::string bytes = "tree " + commit.tree + "\n";
  for (const Oid& parent : commit.parents) bytes += "parent " + parent + "\n";
  bytes += "author " + commit.author.who + " " + commit.author.when + "\n";
  bytes += "committer " + commit.committer.who + " " + commit.committer.when + "\n";
  if (!commit.encoding.empty()) bytes += "encoding " + commit.encoding + "\n";
  return bytes + "\n" + commit.message;
}

}  // namespace bawn::git
