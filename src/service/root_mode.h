// service/root_mode.h
// What differs when root runs Bawn: no payload has host id 0, so the sandbox gets a leased range of
// Bawn's own subordinate ids, and what belongs to root on disk appears inside as the sandbox's own
// user by id-mapped mounts. Root works on trees that root owns; another user's tree is that user's
// to run on (the worker would otherwise have to read and write as somebody else).
// Recorded as: layer "userns" (ids) of the receipt; the lease itself in <state>/ids.
#pragma once

#include "base/result.h"
#include "contain/subids.h"
#include "service/context.h"
#include "service/session.h"

namespace bawn::service {

// The user that a payload of root mode is inside, and its name there.
inline constexpr uint32_t kInnerId = 1000;
inline constexpr const char* kInnerName = "bawn";

bool IsRootMode(const Caller& caller);

// /etc/subuid and /etc/subgid, or those of $BAWN_SUBID_DIR: tests name files of their own, so that
// no test edits the machine's (only root's own word counts here).
contain::SubIdFiles SubIdFilesOf(const Caller& caller);

// Refuses a tree that root does not own, naming the owner and the remedy.
Result<> CheckRootTree(const std::string& path);

// Leases the ids and turns the Plan's private sources into descriptors. After Compile.
Result<> EnterRootMode(Session* session);

// Gives the lease back once nothing of it is left; a sandbox with kept changes keeps it.
Result<> LeaveRootMode(const Session& session);

}  // namespace bawn::service
