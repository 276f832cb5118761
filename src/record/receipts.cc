#include "record/receipts.h"

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/ids.h"
#include "sys/files.h"

namespace bawn::record {
namespace {

constexpr std::string_view kJobPrefix = "job_";
constexpr std::string_view kFileName = "receipt.json";
constexpr size_t kJobsMax = 1'000'000;

Result<UniqueFd> OpenJobDir(int sandbox_fd, const std::string& job_id) {
  return sys::OpenDir(sandbox_fd, "jobs/" + job_id, sys::kUntrusted);
}

// Ids of all jobs that have a directory; none when nothing ran yet.
Result<std::vector<std::string>> ListJobs(int sandbox_fd) {
  Result<UniqueFd> jobs = sys::OpenDir(sandbox_fd, "jobs", sys::kUntrusted);
  if (!jobs && jobs.error().sys_errno == ENOENT) return std::vector<std::string>();
  UniqueFd dir = BAWN_TRY(std::move(jobs));
  std::vector<std::string> ids;
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(dir.get(), kJobsMax))) {
    if (IsId(entry.name, kJobPrefix)) ids.push_back(entry.name);
  }
  return ids;
}

// The receipt of one job; absent when it has none.
Result<std::optional<StoredReceipt>> ReadReceipt(int job_fd, const std::string& job_id) {
  Result<std::string> text = sys::ReadFileAt(job_fd, kFileName, kReceiptBytesMax, sys::kUntrusted);
  if (!text && text.error().sys_errno == ENOENT) return std::nullopt;
  if (!text && IsMomentary(text.error())) return std::unexpected(std::move(text).error());
  StoredReceipt stored;
  stored.job_id = job_id;
  Result<Json> json = text ? ParseJson(*text) : std::unexpected(text.error());
  if (!json) {
    stored.damaged = json.error().message;
  } else if (json->GetInt("receipt_version") != 1 || json->GetString("job_id") != job_id) {
    stored.damaged = "not a receipt of version 1 of this job";
  } else {
    stored.json = *std::move(json);
  }
  return stored;
}

// Receipt, output and directory. Bawn alone writes there and makes no directories in it.
Result<> RemoveJob(int sandbox_fd, int job_fd, const std::string& job_id) {
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(job_fd))) {
    BAWN_CHECK_OK(sys::Unlinkat(job_fd, entry.name));
  }
  return sys::Unlinkat(sandbox_fd, "jobs/" + job_id, AT_REMOVEDIR);
}

Result<bool> IsOld(int job_fd, const std::string& job_id, int64_t cutoff_ns) {
  std::optional<StoredReceipt> stored = BAWN_TRY(ReadReceipt(job_fd, job_id));
  std::string ended_at = stored ? stored->json.GetString("ended_at") : std::string();
  // FormatTime has a fixed width and UTC, so text order is time order.
  if (!ended_at.empty()) return ended_at < FormatTime(cutoff_ns);
  return BAWN_TRY(sys::Fstat(job_fd)).mtime_ns < cutoff_ns;
}

}  // namespace

Result<> WriteReceipt(int sandbox_fd, const plan::Receipt& receipt, bool durable) {
  if (!IsId(receipt.job_id, kJobPrefix)) {
    return Fail(ErrorCode::kInvalidArgument, "not a job id: " + receipt.job_id);
  }
  BAWN_CHECK_OK(sys::MakeDirs(sandbox_fd, "jobs/" + receipt.job_id, 0700));
  UniqueFd job = BAWN_TRY(OpenJobDir(sandbox_fd, receipt.job_id));
  return sys::WriteFileAtomic(job.get(), kFileName, ToJsonText(ToJson(receipt), 2) + "\n", 0600,
                              durable);
}

Result<> WriteReceiptFile(const std::string& path, const plan::Receipt& receipt) {
  std::string text = ToJsonText(ToJson(receipt), 2) + "\n";
  if (path.starts_with("/dev/") || path.starts_with("/proc/self/fd/")) {
    UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, path, O_WRONLY | O_APPEND | O_NOCTTY));
    return sys::WriteAll(fd.get(), text);
  }
  size_t slash = path.rfind('/');
  std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return Fail(ErrorCode::kInvalidArgument, "receipt file " + path + ": names a directory",
                "name a file, e.g. --receipt receipt.json");
  }
  UniqueFd dir = BAWN_TRY(sys::OpenDir(AT_FDCWD, parent));
  return sys::WriteFileAtomic(dir.get(), name, text, 0600, false);
}

Result<std::vector<StoredReceipt>> ReadReceipts(int sandbox_fd) {
  std::vector<StoredReceipt> receipts;
  for (const std::string& job_id : BAWN_TRY(ListJobs(sandbox_fd))) {
    Result<UniqueFd> opened = OpenJobDir(sandbox_fd, job_id);
    if (!opened && opened.error().sys_errno == ENOENT) continue;  // removed in between
    UniqueFd job = BAWN_TRY(std::move(opened));
    std::optional<StoredReceipt> stored = BAWN_TRY(ReadReceipt(job.get(), job_id));
    if (stored) receipts.push_back(*std::move(stored));
  }
  auto key = [](const StoredReceipt& stored) {
    return std::pair(stored.json.GetString("started_at"), stored.job_id);
  };
  std::sort(receipts.begin(), receipts.end(),
            [&](const StoredReceipt& a, const StoredReceipt& b) { return key(a) > key(b); });
  return receipts;
}

Result<std::vector<std::string>> JobsWithoutReceipt(int sandbox_fd) {
  std::vector<std::string> without;
  for (const std::string& job_id : BAWN_TRY(ListJobs(sandbox_fd))) {
    UniqueFd job = BAWN_TRY(OpenJobDir(sandbox_fd, job_id));
    Result<sys::FileStat> receipt = sys::Fstatat(job.get(), kFileName);
    if (receipt) continue;
    if (receipt.error().sys_errno != ENOENT) return std::unexpected(receipt.error());
    without.push_back(job_id);
  }
  return without;
}

Result<uint64_t> RemoveOldReceipts(int sandbox_fd, int64_t now_ns) {
  uint64_t removed = 0;
  for (const std::string& job_id : BAWN_TRY(ListJobs(sandbox_fd))) {
    UniqueFd job = BAWN_TRY(OpenJobDir(sandbox_fd, job_id));
    if (!BAWN_TRY(IsOld(job.get(), job_id, now_ns - kRetentionNs))) continue;
    BAWN_CHECK_OK(RemoveJob(sandbox_fd, job.get(), job_id));
    removed += 1;
  }
  return removed;
}

}  // namespace bawn::record
