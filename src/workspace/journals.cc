#include "workspace/journals.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "sys/files.h"

namespace bawn::workspace {
namespace {

// When its last line was written; absent: work of it is left.
Result<std::optional<int64_t>> FinishedAt(int journals, const std::string& name) {
  Result<UniqueFd> log =
      sys::Openat2(journals, name + "/log", O_RDONLY | O_NONBLOCK, 0, sys::kUntrusted);
  if (!log && log.error().sys_errno == ENOENT) return std::optional<int64_t>();
  if (!log) return std::unexpected(std::move(log).error());
  sys::FileStat st = BAWN_TRY(sys::Fstat(log->get()));
  const std::string wanted = std::string(kJournalFinished) + "\n";
  if (st.size < wanted.size()) return std::optional<int64_t>();
  std::string end(std::min<uint64_t>(st.size, wanted.size() + 1), '\0');
  end.resize(BAWN_TRY(sys::Pread(log->get(), end.data(), end.size(), st.size - end.size())));
  bool finished = end == wanted || end == "\n" + wanted;
  return finished ? std::optional<int64_t>(st.mtime_ns) : std::nullopt;
}

}  // namespace

Result<std::optional<int64_t>> RemoveOldJournals(const SandboxDir& dir, bool ended,
                                                 int64_t cutoff_ns) {
  std::optional<int64_t> oldest;
  Result<UniqueFd> journals = sys::OpenDir(dir.fd.get(), "journal", sys::kUntrusted);
  if (!journals && journals.error().sys_errno == ENOENT) return oldest;
  if (!journals) return std::unexpected(std::move(journals).error());
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(journals->get()))) {
    std::optional<int64_t> at = BAWN_TRY(FinishedAt(journals->get(), entry.name));
    if (!at && ended) at = BAWN_TRY(sys::Fstatat(journals->get(), entry.name)).mtime_ns;
    if (!at) continue;
    if (*at < cutoff_ns) {
      BAWN_CHECK_OK(RemoveTree(journals->get(), entry.name));
    } else {
      oldest = std::min(oldest.value_or(*at), *at);
    }
  }
  return oldest;
}

}  // namespace bawn::workspace
