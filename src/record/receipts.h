// record/receipts.h
// Receipts as files: jobs/<job_id>/receipt.json in the sandbox's directory, written by rename, and
// read back by list, show, why. `receipt_version` 1. After 7 days they go, at the next command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "plan/receipt.h"

namespace bawn::record {

Json ToJson(const plan::Receipt& receipt);

// `sandbox_fd` is the sandbox's directory (borrowed).
Result<> WriteReceipt(int sandbox_fd, const plan::Receipt& receipt, bool durable);
Result<> WriteReceiptFile(const std::string& path, const plan::Receipt& receipt);  // --receipt FILE

struct StoredReceipt {
  std::string job_id;
  Json json;
};
// Newest first.
Result<std::vector<StoredReceipt>> ReadReceipts(int sandbox_fd);

}  // namespace bawn::record
