#include "publish/inside_judge.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "plan/gates.h"
#include "review/base_tree.h"
#include "sys/files.h"

namespace bawn::publish {
namespace {

constexpr uint64_t kLinkBytesMax = 4096;

std::unexpected<Error> Refuse(const std::string& path, std::string_view why, std::string_view rule,
                              std::string hint = kSquashHint) {
  return Fail(
      ErrorCode::kFailedPrecondition,
      "the commits made inside cannot come along: " + EscapeName(path) + " " + std::string(why),
      std::move(hint), std::string(rule));
}

class InsideJudge {
 public:
  InsideJudge(const review::Source& source, const git::ObjectStream& stream,
              const review::Review& review, review::BaseTree base)
      : source_(source), stream_(stream), base_(std::move(base)) {
    for (const review::Reviewed& one : review.paths) reviewed_[one.change.path] = &one;
  }

  Result<> Path(const Touched& touched) {
    plan::GateVerdict verdict = plan::JudgePath(touched.path);
    if (verdict.kind == plan::GateKind::kNever) {
      return Refuse(touched.path, verdict.reason, verdict.rule_id);
    }
    if (!touched.oid.empty()) {
      const git::TreeEntry* base = BAWN_TRY(base_.Find(touched.path));
      bool as_base = base != nullptr && base->oid == touched.oid;
      if (!as_base) BAWN_CHECK_OK(NewContent(touched, base, verdict));
    }
    auto shown = reviewed_.find(touched.path);
    if (shown == reviewed_.end() || !shown->second->in_commit) {
      Gate(touched.path, "publish.history_only",
           "is changed by a commit made inside, and not in the diff");
    }
    return {};
  }
  std::vector<Named> Take() { return std::move(gates_); }

 private:
  Result<> NewContent(const Touched& touched, const git::TreeEntry* base,
                      plan::GateVerdict verdict) {
    if (touched.mode == git::FileMode::kSymlink) {
      verdict = BAWN_TRY(Link(touched, verdict));
    } else {
      BAWN_CHECK_OK(Driver(touched));
      verdict = BAWN_TRY(Content(touched, verdict));
    }
    if (verdict.kind == plan::GateKind::kNever) {
      return Refuse(touched.path, verdict.reason, verdict.rule_id);
    }
    if (verdict.kind == plan::GateKind::kRunsByItself) {
      Gate(touched.path, verdict.rule_id, verdict.reason);
    }
    bool ignored = base == nullptr &&
                   BAWN_TRY(source_.repo->IsIgnored(source_.meta.base_commit, touched.path, false));
    if (ignored) return Refuse(touched.path, "is ignored by git", "publish.ignored");
    return UsersOwn(touched);
  }

  Result<plan::GateVerdict> Link(const Touched& touched, plan::GateVerdict verdict) {
    std::string target = BAWN_TRY(InsideBlob(*source_.repo, stream_, touched.oid, kLinkBytesMax));
    if (target.empty() || target.find('\0') != std::string::npos) {
      return Refuse(touched.path, "is a symlink that leads nowhere", "publish.inside_object");
    }
    plan::GateVerdict of_link = plan::JudgeSymlink(touched.path, target);
    return of_link.kind == plan::GateKind::kNone ? verdict : of_link;
  }

  // RT-08: git inside has no driver, so what it committed is what the driver would have hidden.
  Result<> Driver(const Touched& touched) {
    git::Conversion how =
        BAWN_TRY(source_.repo->ConversionOf(source_.meta.base_commit, touched.path));
    if (how.filter.empty()) return {};
    return Refuse(touched.path,
                  "was committed without the filter driver '" + EscapeName(how.filter) + "'",
                  "publish.filter");
  }

  Result<plan::GateVerdict> Content(const Touched& touched, plan::GateVerdict verdict) {
    if (verdict.kind == plan::GateKind::kRunsByItself || !plan::HasContentGate(touched.path)) {
      return verdict;
    }
    auto read = [&](const git::Oid& oid) {
      return InsideBlob(*source_.repo, stream_, oid, review::kFileBytesMax);
    };
    std::string before;
    if (!touched.before.empty()) before = BAWN_TRY(read(touched.before));
    plan::GateVerdict of_content =
        plan::JudgeContent(touched.path, before, BAWN_TRY(read(touched.oid)));
    return of_content.kind == plan::GateKind::kNone ? verdict : of_content;
  }

  // Committed inside as the user's tree has it, and the base commit has not: unfinished work
  // (RT-09).
  Result<> UsersOwn(const Touched& touched) {
    if (reviewed_.contains(touched.path)) return {};  // judged with the changes
    auto file = sys::Openat2(source_.set.lower.get(), touched.path,
                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, sys::kUntrusted);
    if (!file || !BAWN_TRY(sys::Fstat(file->get())).IsRegular()) return {};
    std::string raw = BAWN_TRY(sys::ReadAll(file->get(), review::kFileBytesMax));
    std::string blob = BAWN_TRY(source_.repo->ToGit(source_.meta.base_commit, touched.path, raw));
    if (git::Repo::HashBlob(blob) != touched.oid) return {};
    return Refuse(touched.path, "contains your own uncommitted changes", "publish.dirty_base",
                  "commit them first; or --squash, which leaves them out");
  }

  void Gate(const std::string& path, std::string_view rule, std::string_view reason) {
    if (!seen_.insert({path, std::string(rule)}).second) return;
    gates_.push_back({path, std::string(rule), std::string(reason),
                      "say yes to it by name: --yes-path " + EscapeName(path)});
  }

  const review::Source& source_;
  const git::ObjectStream& stream_;
  review::BaseTree base_;
  std::unordered_map<std::string_view, const review::Reviewed*> reviewed_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<Named> gates_;
};

}  // namespace

Result<std::vector<Named>> JudgeInside(const review::Source& source,
                                       const git::ObjectStream& stream, const Inside& inside,
                                       const review::Review& review) {
  InsideJudge judge(source, stream, review,
                    BAWN_TRY(review::BaseTree::Open(source.repo, source.meta.base_commit)));
  for (const Touched& touched : inside.touched) BAWN_CHECK_OK(judge.Path(touched));
  return judge.Take();
}

Result<> HoldInside(const Inside& inside, const std::vector<Named>& gates,
                    const SelectOptions& options, Selection& selection) {
  if (inside.tip.empty()) return {};
  if (!options.paths.empty()) {
    return Fail(ErrorCode::kFailedPrecondition,
                "--path takes a part of the changes, and commits made inside come whole",
                "with --squash one commit is made of that part", "publish.inside_whole");
  }
  std::set<std::string_view> touched;
  for (const Touched& one : inside.touched) touched.insert(one.path);
  for (const Named& refused : selection.refused) {
    if (!touched.contains(refused.path)) continue;
    std::string hint = refused.hint.empty() ? "" : refused.hint + "; or ";
    return Refuse(refused.path, refused.reason, refused.rule, hint + kSquashHint);
  }
  for (const Named& gate : gates) {
    bool yes = std::ranges::find(options.yes_paths, gate.path) != options.yes_paths.end();
    bool named =
        std::ranges::find(selection.gated, gate.path, &Named::path) != selection.gated.end();
    if (!yes && !named) selection.gated.push_back(gate);
  }
  return {};
}

}  // namespace bawn::publish
