#include "workspace/scan.h"

#include <dirent.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "sys/files.h"
#include "sys/scan.h"
#include "workspace/wildmatch.h"

namespace bawn::workspace {
namespace {

// Large, machine-made, and either ignored by git or full of other people's files.
constexpr std::string_view kSkipped[] = {".git",  "node_modules", "target",      "build",
                                         ".venv", "venv",         "__pycache__", ".tox"};

class Scanner {
 public:
  Scanner(int root_fd, const NameRules& rules, uint32_t uid, uint32_t gid)
      : root_fd_(root_fd), rules_(rules), uid_(uid), gid_(gid) {}

  Result<ScanResult> Run() {
    device_ = BAWN_TRY(sys::Fstat(root_fd_)).dev;
    queue_.emplace_back("");
    while (!queue_.empty() && out_.complete) {
      std::string path = std::move(queue_.front());
      queue_.pop_front();
      if (out_.directories >= kScanDirectoriesMax || out_.entries >= kScanEntriesMax) {
        out_.complete = false;
        break;
      }
      BAWN_CHECK_OK(Look(path));
    }
    return std::move(out_);
  }

 private:
  Result<> Look(const std::string& path) {
    Result<UniqueFd> fd =
        path.empty() ? sys::OpenDir(root_fd_, ".") : sys::OpenDir(root_fd_, path, sys::kUntrusted);
    if (!fd) return {};  // unreadable or just removed: nothing of it can be seen inside either
    sys::FileStat st = BAWN_TRY(sys::Fstat(fd->get()));
    if (st.dev != device_) return {};
    ++out_.directories;
    NoteOwner(path, st);
    std::string prefix = path.empty() ? path : path + "/";
    int bare_marks = 0;
    BAWN_CHECK_OK(sys::ForEachEntry(fd->get(), [&](const sys::SeenEntry& entry) {
      if (out_.entries >= kScanEntriesMax) {
        out_.complete = false;
        return false;
      }
      ++out_.entries;
      bare_marks += entry.name == "HEAD" || entry.name == "objects" || entry.name == "refs";
      Take(fd->get(), prefix, path, entry);
      return true;
    }));
    // A bare repository: its config may hold a token like any other's.
    if (bare_marks == 3 && sys::Fstatat(fd->get(), "config")) {
      out_.candidates.push_back(prefix + "config");
    }
    return {};
  }

  void Take(int dirfd, const std::string& prefix, const std::string& directory,
            const sys::SeenEntry& entry) {
    unsigned char type = entry.type;
    if (type == DT_UNKNOWN) type = TypeOf(dirfd, std::string(entry.name));
    if (entry.name == ".git") {
      if (type != DT_LNK) NoteOwner(prefix + ".git");
      out_.nested.push_back(directory);
    } else if (type == DT_REG) {
      if (rules_.Protects(entry.name)) out_.candidates.push_back(prefix + std::string(entry.name));
    } else if (type == DT_DIR) {
      bool skipped = std::ranges::find(kSkipped, entry.name) != std::end(kSkipped);
      std::string below = prefix + std::string(entry.name);
      if (skipped) {
        NoteOwner(below);
      } else {
        queue_.push_back(std::move(below));
      }
    }
  }

  static unsigned char TypeOf(int dirfd, const std::string& name) {
    Result<sys::FileStat> st = sys::Fstatat(dirfd, name);
    if (!st) return DT_UNKNOWN;
    return st->IsDir() ? DT_DIR : st->IsRegular() ? DT_REG : st->IsSymlink() ? DT_LNK : DT_UNKNOWN;
  }

  void NoteOwner(const std::string& path) {
    Result<sys::FileStat> st = sys::Fstatat(root_fd_, path);
    if (st && (st->IsDir() || st->IsRegular())) NoteOwner(path, *st);
  }
  void NoteOwner(const std::string& path, const sys::FileStat& st) {
    if (!out_.foreign.empty() || (st.uid == uid_ && st.gid == gid_)) return;
    out_.foreign = path.empty() ? "." : path;
    out_.foreign_uid = st.uid;
    out_.foreign_gid = st.gid;
  }

  int root_fd_;
  const NameRules& rules_;
  uint32_t uid_, gid_;
  uint64_t device_ = 0;
  std::deque<std::string> queue_;
  ScanResult out_;
};

}  // namespace

NameRules::NameRules(const std::vector<std::string>& patterns) {
  for (std::string_view pattern : patterns) {
    Rule rule;
    rule.keeps = pattern.starts_with('!');
    if (rule.keeps) pattern.remove_prefix(1);
    size_t first = pattern.find_first_of("*?[\\"), last = pattern.find_last_of("*?[\\");
    if (first == std::string_view::npos) {
      rule.shape = Shape::kExact;
    } else if (first == last && pattern[first] == '*' && first == 0) {
      rule.shape = Shape::kSuffix;
      pattern.remove_prefix(1);
    } else if (first == last && pattern[first] == '*' && first + 1 == pattern.size()) {
      rule.shape = Shape::kPrefix;
      pattern.remove_suffix(1);
    }
    rule.text = pattern;
    if (!rule.keeps) {
      auto byte = [](char c) { return static_cast<unsigned char>(c); };
      bool open_start = rule.shape == Shape::kSuffix || (rule.shape == Shape::kGlob && first == 0);
      bool open_end = rule.shape == Shape::kGlob && last + 1 == pattern.size();
      if (!open_start && !pattern.empty()) {
        first_.set(byte(pattern.front()));
      } else if (!open_end && !pattern.empty()) {
        last_.set(byte(pattern.back()));
      } else {
        first_.set();
      }
    }
    rules_.push_back(std::move(rule));
  }
}

bool NameRules::Protects(std::string_view name) const {
  if (name.empty()) return false;
  auto first = static_cast<unsigned char>(name.front());
  auto last = static_cast<unsigned char>(name.back());
  if (!first_.test(first) && !last_.test(last)) return false;
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    bool matches = false;
    switch (rule->shape) {
      case Shape::kExact:
        matches = name == rule->text;
        break;
      case Shape::kPrefix:
        matches = name.starts_with(rule->text);
        break;
      case Shape::kSuffix:
        matches = name.ends_with(rule->text);
        break;
      case Shape::kGlob:
        matches = WildMatch(rule->text, name);
        break;
    }
    if (matches) return !rule->keeps;
  }
  return false;
}

Result<ScanResult> ScanTree(int root_fd, const NameRules& rules, uint32_t uid, uint32_t gid) {
  return Scanner(root_fd, rules, uid, gid).Run();
}

}  // namespace bawn::workspace
