// contain/idmap.h
// Root mode: a detached clone of a host tree in which one owner appears as another, so that files
// of host root (or of a user) are the sandbox's own inside, without a change on disk. Needs
// CAP_SYS_ADMIN in the first user namespace and a file system that can be id-mapped (ext4, xfs,
// btrfs, tmpfs; not overlayfs, NFS, FUSE: RT-30); submounts are not taken along (RT-17).
// Source: mount_setattr(2) "ID-mapped mounts".
// Decided in: the lease of an id range. Enforced by: the kernel, per mount.
// Recorded as: the rung of the workspace.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::contain {

// What `from` owns on disk is owned by `to` in the clone, and the other way round for what is
// created there; all others' files are nobody's. Ids are the host's. The path is opened without
// following symlinks. For ProvisionRequest::fds.
Result<UniqueFd> IdmappedTree(std::string_view path, uint32_t from_uid, uint32_t from_gid,
                              uint32_t to_uid, uint32_t to_gid);

// The same of what an O_PATH descriptor holds.
Result<UniqueFd> IdmappedTreeOf(int fd, uint32_t from_uid, uint32_t from_gid, uint32_t to_uid,
                                uint32_t to_gid);

}  // namespace bawn::contain
