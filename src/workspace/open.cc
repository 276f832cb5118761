#include "workspace/open.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/copy_tree.h"
#include "workspace/covers.h"
#include "workspace/git_places.h"
#include "workspace/initial.h"
#include "workspace/ladder.h"
#include "workspace/paths.h"
#include "workspace/scan.h"
#include "workspace/view_ops.h"

namespace bawn::workspace {
namespace {

constexpr size_t kNamedMax = 8;  // names in one note

int64_t BoottimeOffsetNs() {
  timespec boot = {};
  BAWN_ASSERT(clock_gettime(CLOCK_BOOTTIME, &boot) == 0);
  return RealtimeNs() - (int64_t{boot.tv_sec} * 1'000'000'000 + boot.tv_nsec);
}

std::string Names(const std::vector<std::string>& paths) {
  std::string text;
  for (size_t i = 0; i < paths.size() && i < kNamedMax; ++i) {
    text += (i > 0 ? ", " : "") + EscapeName(paths[i]);
  }
  if (paths.size() > kNamedMax)
    text += " and " + std::to_string(paths.size() - kNamedMax) + " more";
  return text;
}

// One opening, step by step; the members are what the steps hand on.
class Opening {
 public:
  Opening(const SandboxDir& dir, const OpenRequest& request) : dir_(dir), request_(request) {}

  Result<Opened> Run() {
    NoteTime();
    BAWN_CHECK_OK(CheckRoot(request_));
    BAWN_CHECK_OK(OpenRoot());
    BAWN_CHECK_OK(Scan());
    in_memory_ = request_.memory_bytes != 0 && reasons_.empty();
    if (!in_memory_) BAWN_CHECK_OK(OpenUpper());
    BAWN_CHECK_OK(WriteInitial());
    BAWN_CHECK_OK(reasons_.empty() ? PrepareOverlay() : Copy());
    BAWN_CHECK_OK(Finish());
    return std::move(out_);
  }

 private:
  // T comes before the first look at the tree: what changes from here on has diverged (RT-09).
  void NoteTime() {
    SandboxMeta& meta = out_.meta;
    meta.opened_at_ns = RealtimeCoarseNs();
    meta.boottime_offset_ns = BoottimeOffsetNs();
    meta.created_at_ns = RealtimeNs();
    meta.id = dir_.id;
    meta.ephemeral = request_.ephemeral;
    meta.extra = JsonObject{};
  }

  Result<> OpenRoot() {
    root_ = BAWN_TRY(sys::OpenDir(AT_FDCWD, request_.root, sys::kNoSymlinks));
    root_stat_ = BAWN_TRY(sys::Fstat(root_.get()));
    out_.meta.workspace_path = request_.root;
    out_.meta.workspace_dev = root_stat_.dev;
    out_.meta.workspace_ino = root_stat_.ino;
    return {};
  }

  Result<> OpenUpper() {
    BAWN_CHECK_OK(MakeLayers(dir_));
    upper_ = BAWN_TRY(sys::OpenDir(dir_.fd.get(), "layers/0/upper", sys::kUntrusted));
    return {};
  }

  Result<> Scan() {
    scan_ = BAWN_TRY(
        ScanTree(root_.get(), NameRules(request_.protected_names), request_.uid, request_.gid));
    if (request_.memory_bytes == 0) BAWN_CHECK_OK(MakeLayers(dir_));  // looked at by the ladder
    LadderInput input{root_.get(),  request_.root, request_.memory_bytes == 0 ? dir_.fd.get() : -1,
                      request_.uid, request_.gid,  &scan_};
    reasons_ = BAWN_TRY(ReasonsToCopy(input));
    if (request_.private_place) {
      reasons_.insert(reasons_.begin(), {"level restricted cannot mount", "run at level isolated"});
    } else if (request_.force_copy) {
      reasons_.insert(reasons_.begin(), {"it was asked for", ""});
    }
    if (!scan_.complete) {
      out_.notes.push_back("protected names were looked for in the first " +
                           std::to_string(scan_.directories) + " directories only");
    }
    return {};
  }

  bool HasOwnRepository() const {
    return request_.repository && request_.repository->work_tree == request_.root;
  }

  Result<> WriteInitial() {
    std::string shown = request_.private_place ? dir_.path + "/layers/0/upper" : request_.root;
    initial_.emplace(root_.get(), dir_.fd.get());
    GitPlaces git(request_, shown, dir_.fd.get(), &*initial_, GitInMemory() ? &git_ops_ : nullptr);
    if (HasOwnRepository()) {
      BAWN_CHECK_OK(git.AddOwn(*request_.repository));
    } else if (request_.repository && IsAtOrBelow(request_.root, request_.repository->work_tree)) {
      out_.notes.push_back(
          "git is not available inside: the workspace is a part of the work tree " +
          EscapeName(request_.repository->work_tree));
    }
    BAWN_CHECK_OK(git.AddNested(scan_.nested));
    std::vector<std::string>& notes = out_.notes;
    notes.insert(notes.end(), git.notes().begin(), git.notes().end());
    std::vector<std::string> cover =
        BAWN_TRY(FilesToCover(request_, std::move(scan_.candidates), git.places(), &notes));
    for (const std::string& path : cover) BAWN_CHECK_OK(HideFile(path));
    SandboxMeta& meta = out_.meta;
    meta.covered.insert(meta.covered.end(), git.hidden().begin(), git.hidden().end());
    meta.git_target = git.target();
    meta.object_dirs = git.object_dirs();
    if (HasOwnRepository()) NoteRepository(*request_.repository);
    return {};
  }

  // Others may have their git directory inside of the workspace's own: then it is on disk.
  bool GitInMemory() const {
    bool alone = std::ranges::all_of(scan_.nested, &std::string::empty);
    return in_memory_ && alone && HasOwnRepository() && request_.repository->submodules.empty() &&
           IndexFitsPlan(*request_.repository);
  }

  Result<> HideFile(const std::string& path) {
    bool below_hidden = std::ranges::any_of(initial_->replaced(), [&](const std::string& replaced) {
      return IsAtOrBelow(path, replaced);
    });
    if (below_hidden) return {};
    Result<> hidden = initial_->HideFile(path);
    if (!hidden && hidden.error().sys_errno == ENOENT) return {};  // removed since the scan
    if (hidden) out_.meta.covered.push_back(path);
    return hidden;
  }

  void NoteRepository(const Repository& repository) {
    out_.meta.git_dir = repository.git_dir;
    out_.meta.common_dir = repository.common_dir;
    out_.meta.base_ref = repository.head_ref;
    out_.meta.base_commit = repository.head_commit;
    if (faccessat(AT_FDCWD, (repository.common_dir + "/refs").c_str(), W_OK, AT_EACCESS) != 0) {
      out_.notes.push_back("git: the repository may not be written (" + ErrnoName(errno) +
                           "): its base commit is not pinned, and publish is not possible");
    }
    Identity author = AuthorIdentity(request_.git_config, request_.environment);
    if (author.name.empty() || author.email.empty()) {
      out_.notes.push_back(
          "git: no author name and address are set (git config user.name, user.email)");
    }
  }

  Result<> PrepareOverlay() {
    BAWN_CHECK_OK(initial_->Finish());
    out_.meta.rung = "overlay";
    if (!out_.meta.git_target.empty()) {
      for (const char* name : {"git/upper", "git/work"}) {
        BAWN_CHECK_OK(sys::Mkdirat(dir_.fd.get(), name, 0755));
      }
    }
    if (in_memory_) return {};
    return sys::Fchmod(upper_.get(), root_stat_.mode & 0777);  // the upper's is what is shown
  }

  Result<> Copy() {
    CopyOptions options{request_.copy_bytes_max, request_.copy_entries_max, initial_->replaced()};
    Result<CopyReport> copied = CopyTree(root_.get(), upper_.get(), options);
    if (!copied) return TooMuchToCopy(copied.error());
    for (const std::string& path : copied->unreadable) BAWN_CHECK_OK(HideUnreadable(path));
    BAWN_CHECK_OK(initial_->Finish());
    // What Bawn puts in is copied, not linked: the payload may write these files in place.
    BAWN_CHECK_OK(CopyOwn("initial", upper_));
    if (!out_.meta.git_target.empty()) {
      BAWN_CHECK_OK(sys::Mkdirat(dir_.fd.get(), "git/upper", 0755));
      UniqueFd git = BAWN_TRY(sys::OpenDir(dir_.fd.get(), "git/upper", sys::kUntrusted));
      BAWN_CHECK_OK(CopyOwn("git/base", git));
    }
    BAWN_CHECK_OK(sys::Fchmod(upper_.get(), root_stat_.mode & 0777));
    BAWN_CHECK_OK(
        sys::Utimensat(dir_.fd.get(), "layers/0/upper", root_stat_.mtime_ns, AT_SYMLINK_NOFOLLOW));
    out_.meta.rung = copied->any_plain ? "copy" : "reflink";
    NoteCopy(*copied);
    // Whatever is changed later has a later change time than every file of the copy.
    (*out_.meta.extra.AsObject())["copied_at_ns"] = RealtimeCoarseNs();
    return {};
  }

  Result<> CopyOwn(const std::string& from, const UniqueFd& to) {
    CopyOptions options;
    options.bytes_max = options.entries_max = UINT64_MAX;
    UniqueFd source = BAWN_TRY(sys::OpenDir(dir_.fd.get(), from, sys::kUntrusted));
    BAWN_CHECK_OK(CopyTree(source.get(), to.get(), options));
    return {};
  }

  // It is in the tree but may not be read: shown empty, so that it is not taken for deleted.
  Result<> HideUnreadable(const std::string& path) {
    sys::FileStat st = BAWN_TRY(sys::Fstatat(root_.get(), path));
    if (st.IsDir()) {
      BAWN_TRY(initial_->HideDirectory(path));
    } else {
      BAWN_CHECK_OK(initial_->HideFile(path));
    }
    out_.meta.covered.push_back(path);
    return {};
  }

  Result<> TooMuchToCopy(Error error) const {
    if (error.code != ErrorCode::kResourceExhausted) return std::unexpected(std::move(error));
    return Fail(ErrorCode::kFailedPrecondition,
                "workspace " + EscapeName(request_.root) + " cannot be shown as it is, because " +
                    reasons_[0].why + "; and it is too large to copy: " + error.message,
                reasons_[0].remedy, "workspace.ladder");
  }

  void NoteCopy(const CopyReport& copied) {
    out_.notes.push_back(
        "the workspace is a " + out_.meta.rung + " of " + std::to_string(copied.entries) +
        " files (" + FormatBytes(copied.bytes) + "), because " + reasons_[0].why +
        (reasons_[0].remedy.empty() ? "" : "; to avoid it: " + reasons_[0].remedy));
    if (!copied.special.empty()) {
      out_.notes.push_back("not in the copy (sockets, FIFOs, devices): " + Names(copied.special));
    }
    if (!copied.unreadable.empty()) {
      out_.notes.push_back("not readable, so empty inside: " + Names(copied.unreadable));
    }
  }

  Result<> Finish() {
    SandboxMeta& meta = out_.meta;
    std::ranges::sort(meta.covered);
    if (!meta.covered.empty()) {
      out_.notes.push_back("covered: " + Names(meta.covered) + " (--show PATH shows one)");
    }
    out_.facts = request_.private_place ? PrivateViewOf(dir_, meta) : BAWN_TRY(ViewOf(dir_, meta));
    if (in_memory_) HoldInMemory();
    return {};
  }

  void HoldInMemory() {
    plan::WorkspaceFacts& facts = out_.facts;
    auto tree = std::ranges::find(facts.ops, request_.root, &plan::Op::target);
    BAWN_ASSERT(tree != facts.ops.end() && tree->kind == plan::OpKind::kOverlay);
    tree->upper = tree->work = plan::Source();
    tree->size_bytes = request_.memory_bytes;
    tree->inodes = request_.memory_inodes;
    tree->mode = root_stat_.mode & 0777;
    facts.in_memory = true;
    if (!initial_->used()) tree->lowers.erase(tree->lowers.begin());
    if (!git_ops_.empty()) tree->content = ".git";
    facts.ops.insert(tree + 1, std::make_move_iterator(git_ops_.begin()),
                     std::make_move_iterator(git_ops_.end()));
  }

  const SandboxDir& dir_;
  const OpenRequest& request_;
  UniqueFd root_, upper_;
  sys::FileStat root_stat_;
  ScanResult scan_;
  std::vector<CopyReason> reasons_;  // empty: overlay
  std::optional<InitialLayer> initial_;
  bool in_memory_ = false;
  std::vector<plan::Op> git_ops_;  // in memory: the files of the private git directory
  Opened out_;
};

// The two work directories lie on one file system: what made the workspace's layer durable (and
// took its volatile mark) did the same for the git directory's.
Result<> SettleGitDir(const SandboxDir& dir) {
  if (sys::Fstatat(dir.fd.get(), "layers/0/work/work")) return {};
  return ForgetVolatile(dir);
}

}  // namespace

Result<Opened> OpenLive(const SandboxDir& dir, const OpenRequest& request) {
  return Opening(dir, request).Run();
}

Result<Opened> Reopen(const SandboxDir& dir, const SandboxMeta& meta, const OpenRequest& request) {
  auto refuse = [&](const std::string& why) {
    return Fail(ErrorCode::kFailedPrecondition,
                "the workspace " + EscapeName(meta.workspace_path) + " " + why,
                "put the directory back where it was, or bawn discard the sandbox",
                "workspace.replaced");
  };
  BAWN_CHECK_OK(CheckRoot(request));
  UniqueFd root = BAWN_TRY(sys::OpenDir(AT_FDCWD, meta.workspace_path, sys::kNoSymlinks));
  sys::FileStat st = BAWN_TRY(sys::Fstat(root.get()));
  if (st.dev != meta.workspace_dev || st.ino != meta.workspace_ino) {
    return refuse("is not the directory that the sandbox was opened on");
  }
  if (meta.rung == "overlay") {
    BAWN_CHECK_OK(SettleGitDir(dir));
    ScanResult nothing;
    LadderInput input{root.get(), meta.workspace_path, dir.fd.get(), st.uid, st.gid, &nothing};
    std::vector<CopyReason> reasons = BAWN_TRY(ReasonsToCopy(input));
    if (!reasons.empty()) return refuse("cannot be shown any more: " + reasons[0].why);
  }
  Opened opened;
  opened.meta = meta;
  opened.facts = request.private_place ? PrivateViewOf(dir, meta) : BAWN_TRY(ViewOf(dir, meta));
  return opened;
}

}  // namespace bawn::workspace
