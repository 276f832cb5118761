// record/receipts.h
// Receipts as files: jobs/<job_id>/receipt.json in the sandbox's directory, written by rename, and
// read back by list, show, why. `receipt_version` 1. After 7 days they go, at the next command.
// Shape: DESIGN 8, "Receipt". Names and arguments are bytes and stand there by EscapeName; prose is
// valid UTF-8 text. What nothing measured is null and its JSON path stands in `unmeasured`.
// Threads: no shared state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "plan/receipt.h"

namespace bawn::record {

inline constexpr size_t kReceiptBytesMax = 16 << 20;
inline constexpr int64_t kRetentionNs = int64_t{7} * 24 * 3600 * 1'000'000'000;

Json ToJson(const plan::Receipt& receipt);

// `sandbox_fd` is the sandbox's directory (borrowed); jobs/<job_id> is made 0700 when absent.
// kInvalidArgument when receipt.job_id is no job id. `durable`: bytes, then name, are synced.
Result<> WriteReceipt(int sandbox_fd, const plan::Receipt& receipt, bool durable);

// --receipt FILE: replaced by rename, so a reader sees the old or the new one, and a link planted
// at that name is replaced, not followed. Below /dev/ and /proc/self/fd/ it is written in place.
Result<> WriteReceiptFile(const std::string& path, const plan::Receipt& receipt);

struct StoredReceipt {
  std::string job_id;
  Json json;            // null when damaged
  std::string damaged;  // why it cannot be read; empty when it can
};
// Newest start first, damaged ones last. A job without a receipt (still running, or interrupted
// before one was written) is not listed.
Result<std::vector<StoredReceipt>> ReadReceipts(int sandbox_fd);

// Jobs that began and whose receipt was never written: they run, or were interrupted.
Result<std::vector<std::string>> JobsWithoutReceipt(int sandbox_fd);

// Removes receipt and kept output of every job that ended more than kRetentionNs before `now_ns`
// (CLOCK_REALTIME); a job without a readable receipt counts from its directory's last change.
// Returns how many jobs went. The caller holds the sandbox's lock.
Result<uint64_t> RemoveOldReceipts(int sandbox_fd, int64_t now_ns);

}  // namespace bawn::record
