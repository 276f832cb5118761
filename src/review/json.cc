// review/json.cc
// A review as JSON: names by the reversible escape, modes as octal text, what is absent left out.
#include <array>

#include "base/text.h"
#include "review/review.h"

namespace bawn::review {
namespace {

std::string ModeText(uint32_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%06o", mode);
  return text.data();
}

std::string_view GateName(plan::GateKind kind) {
  switch (kind) {
    case plan::GateKind::kNone:
      return "none";
    case plan::GateKind::kRunsByItself:
      return "runs_by_itself";
    case plan::GateKind::kRunsOnBuild:
      return "runs_on_build";
    case plan::GateKind::kNever:
      return "never";
  }
  return "none";
}

void AddText(JsonObject* object, std::string_view key, std::string_view text) {
  if (!text.empty()) (*object)[key] = text;
}

Json PathJson(const Reviewed& path) {
  JsonObject object;
  object["path"] = EscapeName(path.change.path);
  object["kind"] = path.old_path.empty() ? workspace::ChangeKindName(path.change.kind) : "renamed";
  AddText(&object, "old_path", EscapeName(path.old_path));
  AddText(&object, "new_path", EscapeName(path.new_path));
  if (!path.old_path.empty()) object["similarity"] = path.similarity;
  object["old_type"] = workspace::EntryTypeName(path.change.old_type);
  object["new_type"] = workspace::EntryTypeName(path.change.new_type);
  if (path.old_git_mode != 0) object["old_mode"] = ModeText(path.old_git_mode);
  if (path.new_git_mode != 0) object["new_mode"] = ModeText(path.new_git_mode);
  AddText(&object, "old_oid", path.old_oid);
  AddText(&object, "new_oid", path.new_oid);
  AddText(&object, "sha256", path.change.new_sha256);
  object["new_size"] = path.change.new_size;
  object["in_commit"] = path.in_commit;
  if (path.dirty_base) object["uncommitted"] = true;
  if (path.change.diverged) object["diverged"] = true;
  AddText(&object, "problem", path.change.problem);
  AddText(&object, "refused", path.refused);
  AddText(&object, "refused_rule", path.refused_rule);
  AddText(&object, "note", path.note);
  if (path.gate.kind != plan::GateKind::kNone) {
    JsonObject gate;
    gate["kind"] = GateName(path.gate.kind);
    gate["rule"] = path.gate.rule_id;
    gate["reason"] = path.gate.reason;
    object["gate"] = std::move(gate);
  }
  if (path.binary) object["binary"] = true;
  object["lines_added"] = path.lines_added;
  object["lines_removed"] = path.lines_removed;
  return object;
}

Json Names(const std::vector<std::string>& names) {
  JsonArray array;
  for (const std::string& name : names) array.emplace_back(EscapeName(name));
  return array;
}

}  // namespace

Json ToJson(const Review& review) {
  JsonArray paths, ignored;
  for (const Reviewed& path : review.paths) {
    if (path.ignored) {
      ignored.emplace_back(EscapeName(path.change.path));
    } else {
      paths.push_back(PathJson(path));
    }
  }
  JsonObject object;
  object["digest"] = review.digest;
  object["paths"] = std::move(paths);
  object["ignored"] = review.ignored_count;
  object["ignored_paths"] = std::move(ignored);
  object["uncommitted_paths"] = Names(review.base_dirty);
  object["equal_for_git"] = Names(review.equal);
  object["base_changed_since_open"] = review.base_changed_since_open;
  return object;
}

}  // namespace bawn::review
