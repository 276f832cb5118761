#include "workspace/remembered.h"

#include <cerrno>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/changes.h"

namespace bawn::workspace {
namespace {

constexpr char kName[] = "remembered.json";
constexpr size_t kBytesMax = size_t{1} << 30;

// [path, fingerprint, ino, ctime_ns] and [path, ino, ctime_ns]
Result<> ReadRow(const JsonArray& row, Remembered& out) {
  std::optional<std::string> path;
  if (!row.empty() && row[0].AsString() != nullptr) path = UnescapeName(*row[0].AsString());
  bool carried = row.size() == 4;
  size_t numbers = carried ? 2 : 1;
  if (!path || (row.size() != 3 && row.size() != 4) || !row[numbers].AsUint() ||
      !row[numbers + 1].AsInt() || (carried && row[1].AsString() == nullptr)) {
    return Fail(ErrorCode::kInternal, std::string(kName) + ": malformed row");
  }
  uint64_t ino = *row[numbers].AsUint();
  int64_t ctime_ns = *row[numbers + 1].AsInt();
  if (carried) {
    out.carried[*path] = {*row[1].AsString(), ino, ctime_ns};
  } else {
    out.left[*path] = {ino, ctime_ns};
  }
  return {};
}

}  // namespace

bool Remembered::AsLeft(const std::string& path, const sys::FileStat& now) const {
  auto found = left.find(path);
  return found != left.end() && found->second.ino == now.ino &&
         found->second.ctime_ns == now.ctime_ns;
}

std::string Fingerprint(const Change& change) {
  std::string text = std::to_string(static_cast<int>(change.kind)) + ":" +
                     std::to_string(static_cast<int>(change.new_type)) + ":" +
                     std::to_string(change.new_mode) + ":" + change.new_sha256;
  return Sha256Hex(text);
}

Result<Remembered> ReadRemembered(const SandboxDir& dir) {
  Remembered out;
  Result<std::string> text = sys::ReadFileAt(dir.fd.get(), kName, kBytesMax, sys::kUntrusted);
  if (!text && text.error().sys_errno == ENOENT) return out;
  if (!text) return std::unexpected(std::move(text).error());
  Json json = BAWN_TRY(ParseJson(*text, {.bytes_max = kBytesMax, .depth_max = 4}));
  const JsonArray* rows = json.AsArray();
  if (rows == nullptr) return Fail(ErrorCode::kInternal, std::string(kName) + ": not an array");
  for (const Json& row : *rows) {
    const JsonArray* cells = row.AsArray();
    if (cells == nullptr) return Fail(ErrorCode::kInternal, std::string(kName) + ": not a row");
    BAWN_CHECK_OK(ReadRow(*cells, out));
  }
  return out;
}

Result<> WriteRemembered(const SandboxDir& dir, const Remembered& remembered) {
  JsonArray rows;
  rows.reserve(remembered.carried.size() + remembered.left.size());
  for (const auto& [path, carried] : remembered.carried) {
    rows.emplace_back(
        JsonArray{EscapeName(path), carried.fingerprint, carried.ino, carried.ctime_ns});
  }
  for (const auto& [path, left] : remembered.left) {
    rows.emplace_back(JsonArray{EscapeName(path), left.ino, left.ctime_ns});
  }
  return sys::WriteFileAtomic(dir.fd.get(), kName, ToJsonText(Json(std::move(rows))), 0600, true);
}

}  // namespace bawn::workspace
