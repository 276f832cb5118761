#include "workspace/ladder.h"

#include <algorithm>

#include "base/text.h"
#include "sys/files.h"
#include "sys/scan.h"
#include "workspace/git_syntax.h"
#include "workspace/paths.h"

namespace bawn::workspace {
namespace {

constexpr size_t kMountinfoMax = 64 << 20;

struct FsRow {
  uint64_t magic;  // statfs(2), linux/magic.h
  const char* name;
  bool lower;  // can be an overlay's lower
  bool upper;  // can hold an overlay's upper, with user.* attributes
};
constexpr FsRow kFileSystems[] = {
    {0xEF53, "ext4", true, true},         {0x58465342, "xfs", true, true},
    {0x9123683E, "btrfs", true, true},    {0xF2F52010, "f2fs", true, true},
    {0xCA451A4E, "bcachefs", true, true}, {0x01021994, "tmpfs", true, true},
    {0x2FC12FC1, "zfs", true, true},      {0x794C7630, "overlayfs", true, false},
    {0x6969, "nfs", true, false},         {0x65735546, "fuse", true, false},
    {0x01021997, "9p", false, false},     {0xFF534D42, "cifs", false, false},
    {0xFE534D42, "smb2", false, false},   {0x4D44, "vfat", false, false},
    {0x2011BAB0, "exfat", false, false},  {0x5346544E, "ntfs", false, false},
    {0x7366746E, "ntfs3", false, false},  {0x4244, "hfs", false, false},
    {0x482B, "hfsplus", false, false},    {0xF15F, "ecryptfs", false, false},
    {0x61756673, "aufs", false, false},   {0x00C36400, "ceph", true, false},
};

// Types of /proc/self/mountinfo whose trees are files that can simply be copied.
constexpr std::string_view kPlainTypes[] = {"ext2", "ext3",  "ext4",    "xfs",   "btrfs",
                                            "f2fs", "tmpfs", "ramfs",   "zfs",   "bcachefs",
                                            "vfat", "exfat", "overlay", "erofs", "squashfs"};

const FsRow* FindFs(uint64_t magic) {
  for (const FsRow& row : kFileSystems) {
    if (row.magic == magic) return &row;
  }
  return nullptr;
}

// An unknown file system can be a lower (overlayfs needs little of one); to hold the upper it must
// show that it keeps user.* attributes.
Result<> CheckFileSystems(const LadderInput& input, std::vector<CopyReason>* reasons) {
  const FsRow* lower = FindFs(BAWN_TRY(sys::Fstatfs(input.root_fd)).type);
  if (lower != nullptr && !lower->lower) {
    reasons->push_back({std::string("its file system is ") + lower->name,
                        "keep the project on ext4, xfs or btrfs"});
  } else if (sys::IsCaseFolded(input.root_fd)) {
    reasons->push_back({"its names ignore case", "turn case folding off for the directory"});
  }
  if (input.sandbox_fd < 0) return {};
  const FsRow* upper = FindFs(BAWN_TRY(sys::Fstatfs(input.sandbox_fd)).type);
  bool good = upper != nullptr && upper->upper;
  if (upper == nullptr || upper->magic == 0x01021994 /* tmpfs has them since Linux 6.6 */) {
    good = bool(sys::Lsetxattrat(input.sandbox_fd, "layers/0/work", "user.bawn", "1"));
  }
  if (!good) {
    reasons->push_back({std::string("Bawn's state is on ") +
                            (upper ? upper->name : "a file system") +
                            ", which cannot hold an overlay's changes",
                        "set BAWN_STATE_DIR to a directory on ext4, xfs or btrfs"});
  }
  return {};
}

Result<> CheckAttributes(const LadderInput& input) {
  for (const std::string& name : BAWN_TRY(sys::XattrNames(input.root_fd))) {
    if (!name.starts_with("user.overlay.") && !name.starts_with("trusted.overlay.")) continue;
    std::string_view what = std::string_view(name).substr(name.find(".overlay.") + 9);
    if (what == "origin" || what == "impure" || what == "uuid" || what == "nlink") continue;
    return Fail(ErrorCode::kFailedPrecondition,
                "workspace " + EscapeName(input.root) + " carries the attribute " +
                    EscapeName(name) + ", which would change what an overlay shows of it",
                "setfattr -x " + EscapeName(name) + " " + EscapeName(input.root),
                "workspace.xattr");
  }
  return {};
}

Result<> CheckSubmounts(const LadderInput& input, std::vector<CopyReason>* reasons) {
  std::string text = BAWN_TRY(sys::ReadFileAt(AT_FDCWD, "/proc/self/mountinfo", kMountinfoMax));
  for (const Submount& mount : SubmountsBelow(text, input.root)) {
    if (std::ranges::find(kPlainTypes, mount.type) == std::end(kPlainTypes)) {
      return Fail(ErrorCode::kFailedPrecondition,
                  "a " + EscapeName(mount.type) + " file system is mounted on " +
                      EscapeName(mount.path) + ", inside the workspace",
                  "unmount it, or name a directory without it with -w", "workspace.submount");
    }
    reasons->push_back({"a file system is mounted on " + EscapeName(mount.path),
                        "unmount it, or name a directory without it with -w"});
  }
  return {};
}

void CheckOwners(const LadderInput& input, std::vector<CopyReason>* reasons) {
  const ScanResult& scan = *input.scan;
  if (scan.foreign.empty()) return;
  std::string path = EscapeName(JoinPath(input.root, scan.foreign == "." ? "" : scan.foreign));
  if (scan.foreign_uid != input.uid) {
    reasons->push_back({path + " belongs to uid " + std::to_string(scan.foreign_uid),
                        "sudo chown -R " + std::to_string(input.uid) + ":" +
                            std::to_string(input.gid) + " " + EscapeName(input.root)});
    return;
  }
  reasons->push_back({path + " belongs to group " + std::to_string(scan.foreign_gid),
                      "chgrp -R " + std::to_string(input.gid) + " " + EscapeName(input.root)});
}

// mountinfo writes space, tab, newline and backslash as octal.
std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool octal = text[i] == '\\' && i + 3 < text.size();
    for (size_t k = 1; octal && k <= 3; ++k) octal = text[i + k] >= '0' && text[i + k] <= '7';
    if (!octal) {
      out += text[i];
      continue;
    }
    out +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
    i += 3;
  }
  return out;
}

}  // namespace

std::vector<Submount> SubmountsBelow(std::string_view mountinfo, std::string_view root) {
  std::vector<Submount> found;
  for (std::string_view line : Lines(mountinfo)) {
    size_t at = 0;
    for (int field = 0; field < 4 && at != std::string_view::npos; ++field) {
      at = line.find(' ', at);
      if (at != std::string_view::npos) ++at;
    }
    size_t dash = line.find(" - ");
    if (at == std::string_view::npos || dash == std::string_view::npos) continue;
    std::string path = Unescape(line.substr(at, line.find(' ', at) - at));
    if (path == root || !IsAtOrBelow(path, root)) continue;
    std::string_view type = line.substr(dash + 3);
    found.push_back({std::move(path), std::string(type.substr(0, type.find(' ')))});
  }
  return found;
}

Result<std::vector<CopyReason>> ReasonsToCopy(const LadderInput& input) {
  std::vector<CopyReason> reasons;
  BAWN_CHECK_OK(CheckAttributes(input));
  BAWN_CHECK_OK(CheckSubmounts(input, &reasons));
  BAWN_CHECK_OK(CheckFileSystems(input, &reasons));
  CheckOwners(input, &reasons);
  return reasons;
}

}  // namespace bawn::workspace
