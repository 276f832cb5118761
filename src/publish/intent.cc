#include "publish/intent.h"

#include <cerrno>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "sys/files.h"

namespace bawn::publish {
namespace {

constexpr const char* kName = workspace::kPublishing;
constexpr size_t kBytesMax = size_t{1} << 30;

Result<CarriedPath> ReadRow(const Json& row) {
  const JsonArray* cells = row.AsArray();
  bool good = cells != nullptr && cells->size() == 2 && (*cells)[0].AsString() != nullptr &&
              (*cells)[1].AsString() != nullptr;
  std::optional<std::string> path;
  if (good) path = UnescapeName(*(*cells)[0].AsString());
  if (path) return CarriedPath{*path, *(*cells)[1].AsString()};
  return Fail(ErrorCode::kInternal, std::string(kName) + ": malformed row");
}

}  // namespace

bool HasIntent(const workspace::SandboxDir& dir) {
  return sys::Fstatat(dir.fd.get(), kName).has_value();
}

Result<std::optional<Intent>> ReadIntent(const workspace::SandboxDir& dir) {
  Result<std::string> text = sys::ReadFileAt(dir.fd.get(), kName, kBytesMax, sys::kUntrusted);
  if (!text && text.error().sys_errno == ENOENT) return std::optional<Intent>();
  if (!text) return std::unexpected(std::move(text).error());
  Json json = BAWN_TRY(ParseJson(*text, {.bytes_max = kBytesMax, .depth_max = 4}));
  Intent intent;
  intent.written_at_ns = BAWN_TRY(sys::Fstatat(dir.fd.get(), kName)).mtime_ns;
  intent.ref = json.GetString("ref");
  intent.commit = json.GetString("commit");
  intent.inside_tip = json.GetString("inside_tip");
  intent.covers_all = json.GetBool("covers_all");
  intent.update_tree = json.GetBool("update_tree");
  const Json* inode = json.Get("index_inode");
  intent.index_inode = inode == nullptr ? 0 : inode->AsUint().value_or(0);
  const Json* rows = json.Get("carried");
  if (rows == nullptr || rows->AsArray() == nullptr || intent.ref.empty()) {
    return Fail(ErrorCode::kInternal, std::string(kName) + " cannot be read");
  }
  for (const Json& row : *rows->AsArray()) intent.carried.push_back(BAWN_TRY(ReadRow(row)));
  return std::optional<Intent>(std::move(intent));
}

Result<> WriteIntent(const workspace::SandboxDir& dir, const Intent& intent) {
  JsonArray rows;
  rows.reserve(intent.carried.size());
  for (const CarriedPath& one : intent.carried) {
    rows.emplace_back(JsonArray{EscapeName(one.path), one.fingerprint});
  }
  JsonObject json;
  json["ref"] = intent.ref;
  json["commit"] = intent.commit;
  json["inside_tip"] = intent.inside_tip;
  json["covers_all"] = intent.covers_all;
  json["update_tree"] = intent.update_tree;
  json["index_inode"] = intent.index_inode;
  json["carried"] = std::move(rows);
  return sys::WriteFileAtomic(dir.fd.get(), kName, ToJsonText(Json(std::move(json))), 0600, false);
}

Result<> RemoveIntent(const workspace::SandboxDir& dir) {
  Result<> gone = sys::Unlinkat(dir.fd.get(), kName);
  if (!gone && gone.error().sys_errno != ENOENT) return gone;
  return {};
}

}  // namespace bawn::publish
