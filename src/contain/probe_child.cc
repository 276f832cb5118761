// Decided in: nowhere; a probe only tries. Enforced by: the kernel, in the probe's own child.
// Recorded as: a fact of `bawn doctor`.
#include "contain/probe_child.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/files.h"
#include "sys/identity.h"
#include "sys/processes.h"
#include "sys/sockets.h"
#include "wire/codec.h"

namespace bawn::contain {
namespace {

constexpr uint64_t kNewUser = 0x10000000;
constexpr unsigned kDeadlineSeconds = 10;
constexpr size_t kAnswerBytesMax = 64 << 10;

struct Ids {
  uint32_t uid = geteuid();
  uint32_t gid = getegid();
};

Result<> MapOwnId(const Ids& ids) {
  UniqueFd proc = BAWN_TRY(sys::Openat2(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY));
  return sys::WriteOwnIdentityMap(proc.get(), ids.uid, ids.gid);
}

[[noreturn]] void RunChild(int answer_fd, uint64_t namespaces, const Ids& ids, const Probe& probe) {
  alarm(kDeadlineSeconds);
  Result<std::string> answer = [&]() -> Result<std::string> {
    if ((namespaces & kNewUser) != 0) BAWN_CHECK_OK(MapOwnId(ids));
    return probe();
  }();
  wire::Writer writer;
  writer.Bool(answer.has_value());
  writer.Bytes(answer ? *answer : answer.error().message);
  writer.Uint(static_cast<uint32_t>(answer ? 0 : answer.error().sys_errno));
  writer.Enum(answer ? ErrorCode::kInternal : answer.error().code);
  writer.Bytes(answer ? "" : answer.error().hint);
  (void)sys::WriteAll(answer_fd, writer.bytes());  // the parent sees a missing answer
  _exit(0);
}

Result<std::string> Decode(const std::string& bytes) {
  if (bytes.empty()) return Fail(ErrorCode::kInternal, "the probe's process died");
  wire::Reader reader(bytes);
  bool ok = reader.Bool();
  std::string text = reader.Bytes();
  Error error;
  error.sys_errno = static_cast<int>(reader.Uint<uint32_t>());
  error.code = reader.Enum(ErrorCode::kInternal);
  error.hint = reader.Bytes();
  BAWN_CHECK_OK(reader.Finish());
  if (ok) return text;
  error.message = text;
  return std::unexpected(error);
}

bool IsRefusal(const Error& error) {
  if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kFailedPrecondition) {
    return true;
  }
  for (int refusal :
       {EPERM, EACCES, ENOSYS, ENOSPC, EUSERS, EINVAL, ENODEV, EOPNOTSUPP, ENOENT, EROFS, EBUSY}) {
    if (error.sys_errno == refusal) return true;
  }
  return false;
}

}  // namespace

Result<std::string> TryInChild(uint64_t namespaces, const Probe& probe) {
  Ids ids;
  auto [reader, writer] = BAWN_TRY(sys::Pipe());
  sys::Child child = BAWN_TRY(sys::Clone3(namespaces));
  if (child.pid == 0) RunChild(writer.get(), namespaces, ids, probe);
  writer.Reset();
  Result<std::string> bytes = sys::ReadAll(reader.get(), kAnswerBytesMax);
  bool ended = false;
  BAWN_CHECK_OK(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (!bytes) return std::unexpected(bytes.error());
  return Decode(*bytes);
}

ProbeFact FactOf(const char* name, const Result<std::string>& answer, const std::string& remedy) {
  if (answer) return {name, "ok", *answer, ""};
  const Error& error = answer.error();
  return {name, IsRefusal(error) ? "missing" : "unknown", error.message,
          error.hint.empty() ? remedy : error.hint};
}

}  // namespace bawn::contain
