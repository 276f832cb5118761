// publish/inside.h
// Commits made inside, that come along on a publish (RT-11): from the stream of objects that a job
// in that sandbox printed to the commits that will be written. Every commit is taken apart and
// written anew: tree, parents, author and message as they were, the committer says Bawn (and when
// the payload's said), signatures and other headers stay behind. So nothing gets into the
// repository that was not parsed strictly here, and the same commits give the same names again.
//   closed     every object of them is in the stream or in the trusted repository
//   descended  a walk over their parents arrives at the commit that the publish goes on
//   judged     each commit's own changes, for what never shows in the final diff too
// Other branches, tags and stashes made inside stay there.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/object_stream.h"
#include "git/repo.h"
#include "git/strict_objects.h"

namespace bawn::publish {

inline constexpr size_t kInsideCommitsMax = 10'000;
inline constexpr size_t kInsidePathsMax = 500'000;

// What one commit changes at one path, against all of its parents.
struct Touched {
  std::string path;
  git::FileMode mode = git::FileMode::kFile;
  git::Oid oid;     // empty: removed
  git::Oid before;  // the blob that the first parent has there; empty: none
};

struct InsideCommit {
  git::Oid oid;  // inside
  git::CommitText text;
  std::vector<git::Oid> parents;  // inside; text.parents are those of the commit to be written
  git::Oid written;               // the name it will have
};

struct Inside {
  git::Oid tip;                       // inside; empty: HEAD has nothing of its own
  git::Oid written;                   // the name that the tip will have
  git::Oid tree;                      // of the tip
  std::vector<InsideCommit> commits;  // to be written, parents first
  std::vector<Touched> touched;       // sorted by path, each (path, mode, oid) once
  std::vector<git::Oid> objects;      // trees and blobs that the repository lacks
};

// Where inside history and the repository's meet.
struct Junction {
  std::vector<git::Oid> inside;  // these commits inside …
  git::Oid outside;              // … are this one outside. Empty: the publish makes a root commit
};

// Reads nothing but `stream` and the trusted repository, writes nothing. Refusals name the commit
// or path, and `--squash`.
Result<Inside> ReadInside(git::Repo& repo, const git::ObjectStream& stream,
                          const Junction& junction);

// Adds everything to the pack that the publish will write.
Result<> AddInside(git::Repo& repo, const git::ObjectStream& stream, const Inside& inside);

// The content of a blob of either side.
Result<std::string> InsideBlob(git::Repo& repo, const git::ObjectStream& stream,
                               const git::Oid& oid, uint64_t bytes_max);

inline constexpr char kCommitterName[] = "Bawn";
inline constexpr char kCommitterEmail[] = "bawn@localhost";
inline constexpr char kSquashHint[] =
    "--squash publishes what the tree holds now, as one commit, without them";

}  // namespace bawn::publish
