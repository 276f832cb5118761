#include "publish/inside.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "publish/inside_trees.h"

namespace bawn::publish {
namespace {

std::unexpected<Error> Refuse(std::string message, std::string_view rule) {
  return Fail(ErrorCode::kFailedPrecondition, std::move(message), kSquashHint, std::string(rule));
}

// Finds the commits to write: from the tip to where history meets the repository's.
class History {
 public:
  History(git::Repo& repo, const git::ObjectStream& stream, const Junction& junction)
      : repo_(repo),
        stream_(stream),
        junction_(junction),
        meets_(junction.inside.begin(), junction.inside.end()) {}

  // Parents first. Depth by an own stack: a payload can make a history of any length.
  Result<std::vector<InsideCommit>> From(const git::Oid& tip) {
    struct Step {
      git::Oid oid;
      size_t next = 0;  // parent to look at
    };
    std::vector<Step> way;
    BAWN_CHECK_OK(Enter(tip));
    way.push_back({tip});
    while (!way.empty()) {
      Step& step = way.back();
      InsideCommit& commit = found_.at(step.oid);
      if (step.next == commit.parents.size()) {
        BAWN_CHECK_OK(Write(commit));
        done_.push_back(std::move(commit));
        way.pop_back();
        continue;
      }
      const git::Oid parent = commit.parents[step.next++];
      if (outside_.contains(parent) || !BAWN_TRY(IsNew(parent))) continue;
      BAWN_CHECK_OK(Enter(parent));
      way.push_back({parent});
    }
    if (descends_.contains(tip)) return std::move(done_);
    return Refuse("the commits made inside do not descend from " +
                      (junction_.outside.empty() ? "nothing" : junction_.outside.substr(0, 12)) +
                      ", which this publish goes on",
                  "publish.inside_history");
  }

 private:
  // True: a commit of the payload that was not looked at yet. Else notes what stands for it.
  Result<bool> IsNew(const git::Oid& oid) {
    if (meets_.contains(oid) && !junction_.outside.empty()) {
      outside_[oid] = junction_.outside;
      descends_.insert(oid);
      return false;
    }
    std::optional<git::ObjectKind> kind = BAWN_TRY(repo_.KindOf(oid));
    if (kind == git::ObjectKind::kCommit) {  // the repository's own: taken as it is
      outside_[oid] = oid;
      bool here = !junction_.outside.empty() && BAWN_TRY(repo_.Contains(oid, junction_.outside));
      if (here) descends_.insert(oid);
      return false;
    }
    if (found_.contains(oid)) {
      return Refuse("commit " + oid + " is its own ancestor", "publish.inside_history");
    }
    return true;
  }

  Result<> Enter(const git::Oid& oid) {
    if (found_.size() >= kInsideCommitsMax) {
      return Refuse("more than " + std::to_string(kInsideCommitsMax) + " commits were made inside",
                    "publish.inside_limit");
    }
    InsideCommit commit;
    commit.oid = oid;
    std::string bytes = BAWN_TRY(stream_.Read(oid, git::ObjectKind::kCommit));
    commit.text = BAWN_TRY(git::ParseCommit(bytes));
    commit.parents = commit.text.parents;
    found_.emplace(oid, std::move(commit));
    return {};
  }

  // All parents are known now, and with them the name that it will have.
  Result<> Write(InsideCommit& commit) {
    bool root = commit.parents.empty() && junction_.outside.empty();
    if (root) descends_.insert(commit.oid);
    for (git::Oid& parent : commit.text.parents) {
      if (descends_.contains(parent)) descends_.insert(commit.oid);
      parent = outside_.at(parent);
    }
    commit.text.committer.who = std::string(kCommitterName) + " <" + kCommitterEmail + ">";
    commit.written = git::Repo::HashObject(git::ObjectKind::kCommit, git::CommitBytes(commit.text));
    outside_[commit.oid] = commit.written;
    return {};
  }

  git::Repo& repo_;
  const git::ObjectStream& stream_;
  const Junction& junction_;
  std::unordered_set<git::Oid> meets_;
  std::unordered_map<git::Oid, InsideCommit> found_;
  std::unordered_map<git::Oid, git::Oid> outside_;  // inside -> the name outside
  std::unordered_set<git::Oid> descends_;
  std::vector<InsideCommit> done_;
};

// The tree of a parent: one that is written before, or the repository's own.
Result<git::Oid> TreeOfParent(git::Repo& repo,
                              const std::unordered_map<git::Oid, git::Oid>& written,
                              const git::Oid& parent) {
  auto at = written.find(parent);
  if (at != written.end()) return at->second;
  return repo.TreeOfCommit(parent);
}

}  // namespace

Result<Inside> ReadInside(git::Repo& repo, const git::ObjectStream& stream,
                          const Junction& junction) {
  Inside inside;
  if (stream.IsEmpty()) return inside;
  for (const git::Oid& known : junction.inside) {
    if (known == stream.First()) return inside;  // nothing was committed since
  }
  // HEAD inside was moved to a commit of the repository: its tree is published like any other.
  if (BAWN_TRY(repo.KindOf(stream.First()))) return inside;
  inside.tip = stream.First();
  inside.commits = BAWN_TRY(History(repo, stream, junction).From(inside.tip));
  InsideTrees trees(repo, stream);
  std::unordered_map<git::Oid, git::Oid> written;
  for (const InsideCommit& commit : inside.commits) {
    std::vector<git::Oid> parents;
    parents.reserve(commit.text.parents.size());
    for (const git::Oid& parent : commit.text.parents) {
      parents.push_back(BAWN_TRY(TreeOfParent(repo, written, parent)));
    }
    BAWN_CHECK_OK(trees.Compare(commit.text.tree, parents));
    written[commit.written] = commit.text.tree;
  }
  inside.written = inside.commits.back().written;
  inside.tree = inside.commits.back().text.tree;
  inside.touched = trees.TakeTouched();
  inside.objects = trees.TakeObjects();
  return inside;
}

Result<> AddInside(git::Repo& repo, const git::ObjectStream& stream, const Inside& inside) {
  auto add = [&](git::ObjectKind kind, const std::string& bytes, const git::Oid& name) -> Result<> {
    if (BAWN_TRY(repo.AddObject(kind, bytes)) == name) return {};
    return Fail(ErrorCode::kInternal, "object " + name + " was written under another name");
  };
  for (const git::Oid& oid : inside.objects) {
    const git::ObjectStream::Object* object = stream.Find(oid);
    BAWN_ASSERT(object != nullptr);
    std::string bytes = BAWN_TRY(stream.Read(oid, object->kind));
    BAWN_CHECK_OK(add(object->kind, bytes, oid));
  }
  for (const InsideCommit& commit : inside.commits) {
    BAWN_CHECK_OK(add(git::ObjectKind::kCommit, git::CommitBytes(commit.text), commit.written));
  }
  return {};
}

Result<std::string> InsideBlob(git::Repo& repo, const git::ObjectStream& stream,
                               const git::Oid& oid, uint64_t bytes_max) {
  const git::ObjectStream::Object* object = stream.Find(oid);
  if (object == nullptr) return repo.ReadBlob(oid, bytes_max);
  if (object->size > bytes_max) {
    return Refuse("object " + oid + " has " + FormatBytes(object->size), "publish.inside_limit");
  }
  return stream.Read(oid, git::ObjectKind::kBlob);
}

}  // namespace bawn::publish
