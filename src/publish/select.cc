#include "publish/select.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace bawn::publish {
namespace {

using workspace::ChangeKind;
using workspace::EntryType;

bool IsBelow(const std::string& path, const std::string& prefix) {
  return path == prefix ||
         (path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '/');
}

std::string_view ProblemReason(const std::string& problem) {
  if (problem == "special_file") return "is a socket, FIFO or device";
  if (problem == "protected") return "is a protected path: the view had it covered";
  if (problem == "unreadable") return "cannot be read";
  if (problem == "changed_while_reading") return "changed while it was read";
  if (problem == "path_too_long") return "has a path longer than the system allows";
  return "cannot be carried out";
}

std::string_view ProblemHint(const std::string& problem) {
  if (problem == "protected") return "run again with --show PATH if it is meant to be changed";
  if (problem == "changed_while_reading") return "end the sandbox, then repeat";
  return "";
}

// Whatever is said: reason, rule and remedy; an empty path when it may be carried out.
Named Refusal(const review::Reviewed& reviewed, const SelectOptions& options, bool yes) {
  const workspace::Change& change = reviewed.change;
  auto named = [&](std::string_view rule, std::string_view reason, std::string_view hint) {
    return Named{change.path, std::string(rule), std::string(reason), std::string(hint)};
  };
  if (reviewed.gate.kind == plan::GateKind::kNever) {
    return named(reviewed.gate.rule_id, reviewed.gate.reason, "");
  }
  if (!change.problem.empty()) {
    return named("publish." + change.problem, ProblemReason(change.problem),
                 ProblemHint(change.problem));
  }
  bool publish = options.purpose == Purpose::kPublish;
  if (publish && !reviewed.refused.empty()) {
    return named(reviewed.refused_rule, reviewed.refused, "");
  }
  bool merged = options.merges != nullptr && options.merges->done.contains(change.path);
  if (change.diverged && change.old_type != EntryType::kNone && !merged) {
    if (options.merges != nullptr) {
      auto why = options.merges->conflicts.find(change.path);
      bool conflict = why != options.merges->conflicts.end();
      return named(conflict ? "publish.merge_conflict" : "publish.diverged",
                   conflict ? std::string_view(why->second)
                            : "was changed in the workspace too, and is no file that can be merged",
                   "run again on today's tree to redo the change");
    }
    return named("publish.diverged", "was changed in the workspace since the sandbox opened",
                 "--merge takes both where they differ in different lines; or run again on today's "
                 "tree");
  }
  if (change.diverged && !yes && !merged) {
    // Nothing would be overwritten, but what was there at open cannot be told any more (RT-09).
    return named(
        "publish.diverged",
        "nothing is there, but the directory around it was changed since the sandbox opened",
        "say yes to it by name: --yes-path " + EscapeName(change.path));
  }
  if (publish && reviewed.dirty_base && reviewed.in_commit && !options.include_dirty) {
    return named("publish.dirty_base", "contains your own uncommitted changes",
                 "commit them first, or publish them along with --include-dirty");
  }
  return {};
}

class Selector {
 public:
  explicit Selector(const SelectOptions& options)
      : options_(options), yes_(options.yes_paths.begin(), options.yes_paths.end()) {}

  void Add(const review::Reviewed& reviewed) {
    const std::string& path = reviewed.change.path;
    if (!IsNamed(path)) {
      out_.not_named += reviewed.ignored ? 0 : 1;
      return;
    }
    if (reviewed.ignored) {
      ++out_.ignored;
      return;
    }
    bool yes = yes_.contains(path);
    if (Named refused = Refusal(reviewed, options_, yes); !refused.path.empty()) {
      out_.refused.push_back(std::move(refused));
      return;
    }
    if (options_.purpose == Purpose::kPublish && !reviewed.in_commit) {
      // A directory goes with the last path below it.
      if (reviewed.change.kind != ChangeKind::kDeleted) out_.unrecorded.push_back(path);
      return;
    }
    if (reviewed.gate.kind == plan::GateKind::kRunsByItself && !yes) {
      out_.gated.push_back({path, std::string(reviewed.gate.rule_id),
                            std::string(reviewed.gate.reason),
                            "say yes to it by name: --yes-path " + EscapeName(path)});
    }
    if (reviewed.gate.kind == plan::GateKind::kRunsOnBuild) {
      out_.builds.push_back(
          {path, std::string(reviewed.gate.rule_id), std::string(reviewed.gate.reason), ""});
    }
    if (!reviewed.note.empty()) out_.notes.push_back({path, "", reviewed.note, ""});
    Take(reviewed);
  }

  Result<Selection> Finish() {
    for (size_t i = 0; i < options_.paths.size(); ++i) {
      if (met_.contains(i)) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "nothing changed at or below " + EscapeName(options_.paths[i]),
                  "`bawn diff --names` lists what changed", "publish.path");
    }
    for (const std::string& path : options_.also_known) {
      if (yes_.contains(path)) met_yes_.insert(path);
    }
    if (met_yes_.size() != yes_.size()) {
      return Fail(ErrorCode::kInvalidArgument, "a --yes-path names no changed path: " + UnseenYes(),
                  "`bawn diff --names` lists what changed", "publish.yes_path");
    }
    return std::move(out_);
  }

 private:
  bool IsNamed(const std::string& path) {
    bool named = options_.paths.empty();
    for (size_t i = 0; i < options_.paths.size(); ++i) {
      if (!IsBelow(path, options_.paths[i])) continue;
      met_.insert(i);
      named = true;
    }
    if (yes_.contains(path)) met_yes_.insert(path);
    return named;
  }

  void Take(const review::Reviewed& reviewed) {
    Selection::Taken taken{&reviewed, reviewed.change.diverged};
    if (options_.merges != nullptr && reviewed.change.diverged) {
      auto found = options_.merges->done.find(reviewed.change.path);
      if (found != options_.merges->done.end()) taken.merged = &found->second;
    }
    if (taken.merged != nullptr) out_.merged.push_back(reviewed.change.path);
    out_.taken.push_back(taken);
    switch (reviewed.change.kind) {
      case ChangeKind::kAdded:
        ++out_.added;
        break;
      case ChangeKind::kModified:
        ++out_.modified;
        break;
      case ChangeKind::kDeleted:
        ++out_.deleted;
        break;
    }
  }

  std::string UnseenYes() const {
    for (const std::string& path : yes_) {
      if (!met_yes_.contains(path)) return EscapeName(path);
    }
    return "";
  }

  const SelectOptions& options_;
  std::set<std::string> yes_, met_yes_;
  std::set<size_t> met_;
  Selection out_;
};

std::string ListOf(const std::vector<Named>& all) {
  constexpr size_t kShownMax = 20;
  std::string text;
  for (size_t i = 0; i < all.size() && i < kShownMax; ++i) {
    text += "\n  " + EscapeName(all[i].path) + ": " + all[i].reason;
    if (!all[i].rule.empty()) text += " (" + all[i].rule + ")";
  }
  if (all.size() > kShownMax) text += "\n  and " + std::to_string(all.size() - kShownMax) + " more";
  return text;
}

Json ListToJson(const std::vector<Named>& all) {
  JsonArray rows;
  rows.reserve(all.size());
  for (const Named& one : all) {
    JsonObject row;
    row["path"] = EscapeName(one.path);
    if (!one.rule.empty()) row["rule"] = one.rule;
    row["reason"] = one.reason;
    if (!one.hint.empty()) row["hint"] = one.hint;
    rows.emplace_back(std::move(row));
  }
  return Json(std::move(rows));
}

}  // namespace

Result<Selection> Select(const review::Review& review, const SelectOptions& options) {
  Selector selector(options);
  for (const review::Reviewed& reviewed : review.paths) selector.Add(reviewed);
  return selector.Finish();
}

Result<> CheckComplete(const Selection& selection, Purpose purpose) {
  if (!selection.gated.empty()) {
    auto failed =
        Fail(ErrorCode::kPermissionDenied, "these need a yes each:" + ListOf(selection.gated),
             "look at them, then name each with --yes-path PATH; or leave them out with "
             "--path",
             selection.gated.front().rule);
    failed.error().kind = "gated";
    return failed;
  }
  if (!selection.taken.empty()) return {};
  // Deletions of what git never had, empty directories and modes alone: a publish has nothing to
  // say.
  const char* verb = purpose == Purpose::kPublish ? "publish" : "apply";
  std::string message = "there is nothing to " + std::string(verb);
  if (!selection.refused.empty()) message += "; refused:" + ListOf(selection.refused);
  if (selection.ignored != 0) {
    message += "; " + std::to_string(selection.ignored) + " changed paths are ignored by git";
  }
  const std::string hint =
      selection.refused.empty() ? "`bawn diff` shows what changed" : selection.refused.front().hint;
  return Fail(ErrorCode::kFailedPrecondition, message, hint,
              selection.refused.empty() ? "publish.nothing" : selection.refused.front().rule);
}

JsonObject ToJson(const Selection& selection) {
  JsonObject json;
  JsonObject taken;
  taken["added"] = selection.added;
  taken["modified"] = selection.modified;
  taken["deleted"] = selection.deleted;
  json["summary"] = std::move(taken);
  json["refused"] = ListToJson(selection.refused);
  json["gated"] = ListToJson(selection.gated);
  json["builds"] = ListToJson(selection.builds);
  json["notes"] = ListToJson(selection.notes);
  JsonArray merged;
  for (const std::string& path : selection.merged) merged.emplace_back(EscapeName(path));
  json["merged"] = std::move(merged);
  JsonArray unrecorded;
  for (const std::string& path : selection.unrecorded) unrecorded.emplace_back(EscapeName(path));
  json["unrecorded"] = std::move(unrecorded);
  json["ignored"] = selection.ignored;
  json["not_named"] = selection.not_named;
  return json;
}

Result<> CheckConsent(const Consent& consent, const std::string& digest) {
  if (!consent.reviewed.empty() && consent.unreviewed) {
    return Fail(ErrorCode::kInvalidArgument, "--reviewed and --unreviewed exclude each other", "",
                "publish.consent");
  }
  if (consent.unreviewed || consent.reviewed == digest) return {};
  if (consent.reviewed.empty()) {
    return Fail(ErrorCode::kPermissionDenied, "nobody said that these changes were reviewed",
                "look at `bawn diff`, then give --reviewed with the digest of "
                "`bawn diff --digest`; or say --unreviewed",
                "publish.consent");
  }
  return Fail(ErrorCode::kConflict,
              "the changes are not what was reviewed: their digest is " + digest,
              "look at them again with `bawn diff`", "publish.digest");
}

}  // namespace bawn::publish
