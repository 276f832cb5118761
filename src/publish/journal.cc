#include "publish/journal.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "workspace/journals.h"
#include "workspace/remove.h"

namespace bawn::publish {
namespace {

constexpr size_t kPlanBytesMax = size_t{1} << 30;
constexpr size_t kLogBytesMax = size_t{1} << 30;
constexpr int64_t kVersion = 1;

Json ToJson(const Action& action) {
  JsonObject json;
  json["kind"] = static_cast<int>(action.kind);
  json["path"] = EscapeName(action.path);
  json["before"] = JsonArray{static_cast<int>(action.before.type), action.before.mode,
                             action.before.ino, action.before.size, action.before.mtime_ns};
  json["type"] = static_cast<int>(action.new_type);
  json["mode"] = action.new_mode;
  json["sha256"] = action.new_sha256;
  json["staging"] = EscapeName(action.staging);
  json["mtime_ns"] = action.mtime_ns;
  json["fingerprint"] = action.fingerprint;
  json["consented"] = action.consented;
  return Json(std::move(json));
}

std::unexpected<Error> Damaged(const std::string& what) {
  return Fail(ErrorCode::kInternal, "apply journal: " + what + " cannot be read",
              "look at the journal directory below the sandbox; the tree was not touched");
}

Result<Action> ActionFromJson(const Json& json) {
  Action action;
  std::optional<std::string> path = UnescapeName(json.GetString("path"));
  std::optional<std::string> staging = UnescapeName(json.GetString("staging"));
  const Json* before = json.Get("before");
  const JsonArray* row = before == nullptr ? nullptr : before->AsArray();
  int64_t kind = json.GetInt("kind", -1);
  int64_t type = json.GetInt("type", -1);
  if (!path || path->empty() || !staging || row == nullptr || row->size() != 5 || kind < 0 ||
      kind > static_cast<int>(ActionKind::kMode) || type < 0 || type > 4) {
    return Damaged("an action");
  }
  action.kind = static_cast<ActionKind>(kind);
  action.path = *path;
  action.staging = *staging;
  action.before.type = static_cast<workspace::EntryType>((*row)[0].AsInt().value_or(0));
  action.before.mode = static_cast<uint32_t>((*row)[1].AsUint().value_or(0));
  action.before.ino = (*row)[2].AsUint().value_or(0);
  action.before.size = (*row)[3].AsUint().value_or(0);
  action.before.mtime_ns = (*row)[4].AsInt().value_or(0);
  action.new_type = static_cast<workspace::EntryType>(type);
  action.new_mode = static_cast<uint32_t>(json.GetInt("mode"));
  action.new_sha256 = json.GetString("sha256");
  action.mtime_ns = json.GetInt("mtime_ns");
  action.fingerprint = json.GetString("fingerprint");
  action.consented = json.GetBool("consented");
  return action;
}

template <class T>
bool TakeNumber(std::string_view& text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return true;
}

}  // namespace

Found ToFound(const sys::FileStat& st) {
  Found found;
  found.type = st.IsRegular()   ? workspace::EntryType::kFile
               : st.IsSymlink() ? workspace::EntryType::kSymlink
               : st.IsDir()     ? workspace::EntryType::kDirectory
                                : workspace::EntryType::kSpecial;
  found.mode = st.mode & 07777;
  found.ino = st.ino;
  found.size = st.size;
  found.mtime_ns = st.mtime_ns;
  return found;
}

Result<Journal> Journal::Create(const workspace::SandboxDir& dir, const std::string& name,
                                const std::vector<Action>& actions, const Header& header) {
  BAWN_CHECK_OK(sys::MakeDirs(dir.fd.get(), "journal/" + name + "/old", 0700));
  Journal journal;
  BAWN_CHECK_OK(journal.OpenFiles(dir, name));
  journal.actions_ = actions;
  journal.header_ = header;
  JsonArray rows;
  rows.reserve(actions.size());
  for (const Action& action : actions) rows.push_back(ToJson(action));
  JsonObject plan;
  plan["version"] = kVersion;
  plan["undoes"] = header.undoes;
  plan["covers_all"] = header.covers_all;
  plan["actions"] = std::move(rows);
  BAWN_CHECK_OK(sys::WriteFileAtomic(journal.fd_.get(), "plan.json",
                                     ToJsonText(Json(std::move(plan))), 0600, false));
  return journal;
}

Result<Journal> Journal::Open(const workspace::SandboxDir& dir, const std::string& name) {
  Journal journal;
  BAWN_CHECK_OK(journal.OpenFiles(dir, name));
  std::string text = BAWN_TRY(sys::ReadFileAt(journal.fd_.get(), "plan.json", kPlanBytesMax));
  Json plan = BAWN_TRY(ParseJson(text, {.bytes_max = kPlanBytesMax, .depth_max = 8}));
  const Json* rows = plan.Get("actions");
  if (plan.GetInt("version") != kVersion || rows == nullptr || rows->AsArray() == nullptr) {
    return Damaged("plan.json");
  }
  journal.header_ = {plan.GetString("undoes"), plan.GetBool("covers_all")};
  for (const Json& row : *rows->AsArray()) {
    journal.actions_.push_back(BAWN_TRY(ActionFromJson(row)));
  }
  BAWN_CHECK_OK(journal.ReadLog());
  return journal;
}

Result<std::vector<std::string>> Journal::List(const workspace::SandboxDir& dir) {
  std::vector<std::string> names;
  Result<UniqueFd> all = sys::OpenDir(dir.fd.get(), "journal", sys::kUntrusted);
  if (!all && all.error().sys_errno == ENOENT) return names;
  if (!all) return std::unexpected(std::move(all).error());
  for (sys::DirEntry& entry : BAWN_TRY(sys::ListDir(all->get()))) {
    names.push_back(std::move(entry.name));
  }
  return names;
}

Result<> Journal::Remove(const workspace::SandboxDir& dir, const std::string& name) {
  Result<UniqueFd> all = sys::OpenDir(dir.fd.get(), "journal", sys::kUntrusted);
  if (!all && all.error().sys_errno == ENOENT) return {};
  if (!all) return std::unexpected(std::move(all).error());
  return workspace::RemoveTree(all->get(), name);
}

Result<> Journal::OpenFiles(const workspace::SandboxDir& dir, const std::string& name) {
  BAWN_ASSERT(!name.empty() && name.find('/') == std::string::npos && name.front() != '.');
  name_ = name;
  fd_ = BAWN_TRY(sys::OpenDir(dir.fd.get(), "journal/" + name, sys::kUntrusted));
  old_ = BAWN_TRY(sys::OpenDir(fd_.get(), "old", sys::kUntrusted));
  log_ = BAWN_TRY(sys::Openat2(fd_.get(), "log", O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0600));
  return {};
}

Result<> Journal::Append(const std::string& line) { return sys::WriteAll(log_.get(), line + "\n"); }

Result<> Journal::NoteStaged(size_t action, uint64_t ino) {
  progress_.staged[action] = ino;
  return Append("s " + std::to_string(action) + " " + std::to_string(ino));
}

Result<> Journal::NoteAllStaged() {
  BAWN_CHECK_OK(Append("S"));
  BAWN_CHECK_OK(sys::Fsync(log_.get()));
  progress_.all_staged = true;
  return {};
}

Result<> Journal::NoteBegun(size_t action) {
  progress_.begun.insert(action);
  return Append("b " + std::to_string(action));
}

Result<> Journal::NoteDone(size_t action, std::string_view word) {
  BAWN_CHECK_OK(Append("d " + std::to_string(action) + " " + std::string(word)));
  progress_.done[action] = word;
  return {};
}

Result<> Journal::NoteMixed() {
  BAWN_CHECK_OK(Append("U"));
  progress_.mixed = true;
  return {};
}

Result<> Journal::NoteFinished() {
  BAWN_CHECK_OK(Append(workspace::kJournalFinished));
  progress_.finished = true;
  return {};
}

Result<> Journal::ReadFact(std::string_view line) {
  char fact = line.size() > 2 && line[1] == ' ' ? line[0] : '\0';
  line.remove_prefix(std::min<size_t>(2, line.size()));
  size_t action = 0;
  uint64_t ino = 0;
  if (!TakeNumber(line, action) || action >= actions_.size()) return Damaged("log");
  switch (fact) {
    case 's':
      if (!TakeNumber(line, ino)) return Damaged("log");
      progress_.staged[action] = ino;
      return {};
    case 'b':
      progress_.begun.insert(action);
      return {};
    case 'd':
      progress_.done[action] = line;
      return {};
    default:
      return Damaged("log");
  }
}

Result<> Journal::ReadLog() {
  last_line_ns_ = BAWN_TRY(sys::Fstat(log_.get())).mtime_ns;
  std::string text = BAWN_TRY(sys::ReadAll(log_.get(), kLogBytesMax));
  std::string_view left = text;
  // A last line without its newline was cut short by a crash: the fact it was to state is found out
  // again from the tree.
  for (size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
    std::string_view line = left.substr(0, end);
    left.remove_prefix(end + 1);
    bool* mark = line == "S"                           ? &progress_.all_staged
                 : line == "U"                         ? &progress_.mixed
                 : line == workspace::kJournalFinished ? &progress_.finished
                                                       : nullptr;
    if (mark != nullptr) {
      *mark = true;
      continue;
    }
    BAWN_CHECK_OK(ReadFact(line));
  }
  if (!left.empty()) BAWN_CHECK_OK(sys::Ftruncate(log_.get(), text.size() - left.size()));
  return {};
}

}  // namespace bawn::publish
