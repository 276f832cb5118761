// git/pack.cc
// The objects of one publish: hashed as they come, kept in memory, written as one pack. Loose
// objects would cost an fsync each (RT-23: 1,150 take seconds).
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "git/impl.h"
#include "git/pack_file.h"
#include "git/repo.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

// What no tree of ours may hold; the aliases of .git are gated by name before (plan/gates.h).
bool IsTreeName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name != ".git" &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

// git's order: bytes, a directory counting as "name/".
bool Before(const TreeEntry& a, const TreeEntry& b) {
  const auto key = [](const TreeEntry& entry) {
    return entry.mode == FileMode::kTree ? entry.name + "/" : entry.name;
  };
  return key(a) < key(b);
}

std::string Octal(uint32_t mode) {
  std::string text;
  for (; mode != 0; mode >>= 3) text.insert(text.begin(), static_cast<char>('0' + (mode & 7)));
  return text;
}

Result<std::string> SignatureLine(std::string_view role, const Repo::Signature& who) {
  constexpr std::string_view kForbidden("<>\n\0", 4);
  if (who.name.empty() || who.name.find_first_of(kForbidden) != std::string::npos ||
      who.email.find_first_of(kForbidden) != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string(role) +
                    ": a name is needed, and neither name nor mail may hold '<', "
                    "'>', a line break or NUL",
                "set user.name and user.email");
  }
  const int minutes = std::abs(who.offset_minutes);
  char zone[8];
  std::snprintf(zone, sizeof zone, "%c%02d%02d", who.offset_minutes < 0 ? '-' : '+',
                (minutes / 60) % 100, minutes % 60);
  return std::string(role) + " " + who.name + " <" + who.email + "> " +
         std::to_string(who.seconds) + " " + zone + "\n";
}

}  // namespace

git_object_t ToGitKind(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kBlob:
      return GIT_OBJECT_BLOB;
    case ObjectKind::kTree:
      return GIT_OBJECT_TREE;
    case ObjectKind::kCommit:
      return GIT_OBJECT_COMMIT;
  }
  return GIT_OBJECT_INVALID;
}

namespace {

ObjectKind FromGitKind(git_object_t kind) {
  if (kind == GIT_OBJECT_COMMIT) return ObjectKind::kCommit;
  return kind == GIT_OBJECT_TREE ? ObjectKind::kTree : ObjectKind::kBlob;
}

}  // namespace

Result<git_oid> Repo::Impl::Collect(git_object_t kind, std::string_view bytes) {
  git_oid oid;
  const int code = git_odb_hash(&oid, bytes.data(), bytes.size(), kind);
  if (code < 0) return FailGit(code, "hash an object");
  BAWN_CHECK_OK(CollectAs(oid, kind, bytes));
  return oid;
}

Result<> Repo::Impl::CollectAs(const git_oid& oid, git_object_t kind, std::string_view bytes) {
  // No refresh: looking through the pack directory again for each new object would cost more than
  // storing an object twice.
  if (git_odb_exists_ext(odb.get(), &oid, GIT_ODB_LOOKUP_NO_REFRESH) == 1) return {};
  const int code = collected->write(collected, &oid, bytes.data(), bytes.size(), kind);
  if (code < 0) return FailGit(code, "keep object " + OidText(oid));
  collected_oids.push_back(oid);
  return {};
}

Result<> Repo::AddHashedBlob(const Oid& oid, std::string_view bytes) {
  return impl_->CollectAs(BAWN_TRY(ParseOid(oid)), GIT_OBJECT_BLOB, bytes);
}

Result<Oid> Repo::AddObject(ObjectKind kind, std::string_view bytes) {
  return OidText(BAWN_TRY(impl_->Collect(ToGitKind(kind), bytes)));
}

Result<Oid> Repo::AddBlob(std::string_view bytes) { return AddObject(ObjectKind::kBlob, bytes); }

Result<Oid> Repo::AddTree(const std::vector<TreeEntry>& entries) {
  std::vector<const TreeEntry*> sorted;
  sorted.reserve(entries.size());
  for (const TreeEntry& entry : entries) sorted.push_back(&entry);
  std::ranges::sort(sorted, [](const auto* a, const auto* b) { return Before(*a, *b); });
  std::vector<std::string_view> names;
  std::string bytes;
  for (const TreeEntry* entry : sorted) {
    if (!IsTreeName(entry->name)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "a git tree cannot hold the name '" + entry->name + "'");
    }
    const git_oid oid = BAWN_TRY(ParseOid(entry->oid));
    bytes += Octal(static_cast<uint32_t>(entry->mode)) + " " + entry->name;
    bytes += '\0';
    bytes.append(reinterpret_cast<const char*>(oid.id), GIT_OID_RAWSZ);
    names.push_back(entry->name);
  }
  std::ranges::sort(names);  // "a" and the directory "a" are not neighbours in git's order
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return Fail(ErrorCode::kInvalidArgument,
                "a git tree holds '" + std::string(*twice) + "' twice");
  }
  return AddObject(ObjectKind::kTree, bytes);
}

Result<Oid> Repo::AddCommit(const Oid& tree, const std::vector<Oid>& parents,
                            const Signature& author, const Signature& committer,
                            std::string_view message) {
  if (message.find('\0') != std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument, "a commit message cannot hold NUL");
  }
  std::string bytes = "tree " + OidText(BAWN_TRY(ParseOid(tree))) + "\n";
  for (const Oid& parent : parents) {
    bytes += "parent " + OidText(BAWN_TRY(ParseOid(parent))) + "\n";
  }
  bytes += BAWN_TRY(SignatureLine("author", author));
  bytes += BAWN_TRY(SignatureLine("committer", committer));
  bytes += '\n';
  bytes += message;
  return AddObject(ObjectKind::kCommit, bytes);
}

namespace {

// Nothing but what PackFile wrote there is in it.
Result<> RemoveStaging(int objects, const std::string& name) {
  Result<UniqueFd> staging = sys::OpenDir(objects, name, sys::kUntrusted);
  if (!staging && staging.error().sys_errno == ENOENT) return {};
  if (!staging) return std::unexpected(std::move(staging).error());
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(staging->get()))) {
    BAWN_CHECK_OK(sys::Unlinkat(staging->get(), entry.name));
  }
  return sys::Unlinkat(objects, name, AT_REMOVEDIR);
}

// A pack without an index is nobody's to clean up. While it has none it is a second name of the
// one in the directory of ours, by which a later command knows it (workspace/remove.h).
Result<> MovePack(int staging, int packs, const std::string& name) {
  Result<> linked = sys::Linkat(staging, name, packs, name);
  if (linked) return linked;
  // The same objects have been packed before; or the file system has no second names.
  return sys::Renameat2(staging, name, packs, name);
}

// git finds a pack by its index: the pack itself goes first.
Result<> MoveIntoPlace(int objects, const std::string& name) {
  UniqueFd staging = BAWN_TRY(sys::OpenDir(objects, name, sys::kUntrusted));
  UniqueFd packs = BAWN_TRY(sys::OpenDir(objects, "pack"));
  std::vector<sys::DirEntry> entries = BAWN_TRY(sys::ListDir(staging.get()));
  for (const sys::DirEntry& entry : entries) {
    if (entry.name.ends_with(".pack")) {
      BAWN_CHECK_OK(MovePack(staging.get(), packs.get(), entry.name));
    }
  }
  for (const sys::DirEntry& entry : entries) {
    if (!entry.name.ends_with(".idx")) continue;
    Result<> moved = sys::Renameat2(staging.get(), entry.name, packs.get(), entry.name);
    if (moved) continue;
    // Unless it was there before, with its index, the pack goes again.
    std::string pack = entry.name.substr(0, entry.name.size() - 4) + ".pack";
    Result<sys::FileStat> index = sys::Fstatat(packs.get(), entry.name);
    if (!index && index.error().sys_errno == ENOENT) (void)sys::Unlinkat(packs.get(), pack);
    return moved;
  }
  BAWN_CHECK_OK(sys::Fsync(packs.get()));
  return RemoveStaging(objects, name);
}

}  // namespace

// From the memory itself: the object database would hash what was hashed to get there. Freed by
// whoever asks.
Result<PackObject> Repo::Impl::FromMemory(const git_oid& oid) {
  void* bytes = nullptr;
  size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  const int code = collected->read(&bytes, &size, &kind, collected, &oid);
  if (code < 0) return FailGit(code, "pack object " + OidText(oid));
  return PackObject{FromGitKind(kind),
                    {reinterpret_cast<const char*>(oid.id), GIT_OID_RAWSZ},
                    {static_cast<const char*>(bytes), size}};
}

Result<> Repo::Impl::FillPack(int directory) {
  constexpr size_t kBatchBytes = 2 << 20;  // enough for two threads to share
  const int level = BAWN_TRY(CompressionLevel());
  PackFile pack =
      BAWN_TRY(PackFile::Create(directory, static_cast<uint32_t>(collected_oids.size()), level));
  size_t at = 0;
  while (at < collected_oids.size()) {
    std::vector<PackObject> batch;
    const Defer free([&] {
      for (PackObject& one : batch) {
        git_odb_backend_data_free(collected, const_cast<char*>(one.bytes.data()));  // NOLINT
      }
    });
    for (size_t bytes = 0; at < collected_oids.size() && bytes < kBatchBytes; ++at) {
      batch.push_back(BAWN_TRY(FromMemory(collected_oids[at])));
      bytes += batch.back().bytes.size();
    }
    BAWN_CHECK_OK(pack.Add(batch));
  }
  return pack.Finish();
}

// As `git add` compresses: core.loosecompression, core.compression, zlib's fastest.
Result<int> Repo::Impl::CompressionLevel() {
  for (const char* key : {"core.loosecompression", "core.compression"}) {
    int32_t level = 0;
    const int code = git_config_get_int32(&level, config.get(), key);
    if (code == GIT_ENOTFOUND) continue;
    if (code < 0) return FailGit(code, std::string("config ") + key);
    if (level >= -1 && level <= 9) return level;
    return Fail(
        ErrorCode::kInvalidArgument,
        "config " + std::string(key) + ": " + std::to_string(level) + " is no level of zlib's",
        "-1 to 9");
  }
  return 1;
}

Result<> Repo::WritePack(const std::string& name) {
  if (impl_->collected_oids.empty()) return {};
  UniqueFd objects = BAWN_TRY(sys::OpenDir(AT_FDCWD, impl_->common_dir + "/objects"));
  const std::string staging = name + ".pack";
  BAWN_CHECK_OK(RemoveStaging(objects.get(), staging));
  BAWN_CHECK_OK(sys::Mkdirat(objects.get(), staging, 0700));
  Result<UniqueFd> directory = sys::OpenDir(objects.get(), staging, sys::kUntrusted);
  Result<> moved =
      directory ? impl_->FillPack(directory->get()) : Result<>(std::unexpected(directory.error()));
  if (moved) moved = MoveIntoPlace(objects.get(), staging);
  if (!moved) {
    (void)RemoveStaging(objects.get(), staging);  // the first error is the one to report
    return moved;
  }
  impl_->collected_oids.clear();
  int code = git_mempack_reset(impl_->collected);
  if (code == 0) code = git_odb_refresh(impl_->odb.get());
  if (code < 0) return FailGit(code, "read the pack back");
  return {};
}

}  // namespace bawn::git
