// meta.json: a sandbox's values as JSON and back. Paths and arguments are bytes in SandboxMeta and
// escaped names (DESIGN 8) in the file, so that the file is valid UTF-8 whatever the user's names.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/state.h"

namespace bawn::workspace {
namespace {

constexpr size_t kMetaBytesMax = 16 << 20;
constexpr int64_t kMetaVersion = 1;

// One row per member: its name in the file and its place in the value.
constexpr std::pair<std::string_view, std::string SandboxMeta::*> kStrings[] = {
    {"id", &SandboxMeta::id},
    {"name", &SandboxMeta::name},
    {"workspace_path", &SandboxMeta::workspace_path},
    {"mode", &SandboxMeta::mode},
    {"rung", &SandboxMeta::rung},
    {"base_commit", &SandboxMeta::base_commit},
    {"base_ref", &SandboxMeta::base_ref},
    {"git_dir", &SandboxMeta::git_dir},
    {"common_dir", &SandboxMeta::common_dir},
    {"git_target", &SandboxMeta::git_target},
    {"state", &SandboxMeta::state},
};
constexpr std::pair<std::string_view, uint64_t SandboxMeta::*> kUnsigned[] = {
    {"workspace_dev", &SandboxMeta::workspace_dev},
    {"workspace_ino", &SandboxMeta::workspace_ino},
    {"rev", &SandboxMeta::rev},
};
constexpr std::pair<std::string_view, int64_t SandboxMeta::*> kSigned[] = {
    {"opened_at_ns", &SandboxMeta::opened_at_ns},
    {"boottime_offset_ns", &SandboxMeta::boottime_offset_ns},
    {"created_at_ns", &SandboxMeta::created_at_ns},
};
constexpr std::pair<std::string_view, bool SandboxMeta::*> kFlags[] = {
    {"ephemeral", &SandboxMeta::ephemeral},
    {"kept", &SandboxMeta::kept},
};
constexpr std::pair<std::string_view, std::vector<std::string> SandboxMeta::*> kLists[] = {
    {"command", &SandboxMeta::command},
    {"covered", &SandboxMeta::covered},
    {"object_dirs", &SandboxMeta::object_dirs},
};

std::unexpected<Error> Damaged(std::string_view key, std::string_view expected) {
  return Fail(ErrorCode::kFailedPrecondition,
              "meta.json: " + std::string(key) + " is not " + std::string(expected));
}

Result<std::string> Text(const Json& value, std::string_view key) {
  const std::string* text = value.AsString();
  if (text == nullptr) return Damaged(key, "a string");
  std::optional<std::string> bytes = UnescapeName(*text);
  if (!bytes) return Damaged(key, "an escaped name");
  return *std::move(bytes);
}

Result<std::vector<std::string>> TextList(const Json& value, std::string_view key) {
  const JsonArray* array = value.AsArray();
  if (array == nullptr) return Damaged(key, "a list");
  std::vector<std::string> list;
  for (const Json& item : *array) list.push_back(BAWN_TRY(Text(item, key)));
  return list;
}

Result<> ReadMembers(const Json& json, SandboxMeta* meta) {
  for (const auto& [key, member] : kStrings) {
    if (const Json* value = json.Get(key)) meta->*member = BAWN_TRY(Text(*value, key));
  }
  for (const auto& [key, member] : kLists) {
    if (const Json* value = json.Get(key)) meta->*member = BAWN_TRY(TextList(*value, key));
  }
  for (const auto& [key, member] : kUnsigned) {
    const Json* value = json.Get(key);
    if (value == nullptr) continue;
    if (!value->AsUint()) return Damaged(key, "a number");
    meta->*member = *value->AsUint();
  }
  for (const auto& [key, member] : kSigned) {
    const Json* value = json.Get(key);
    if (value == nullptr) continue;
    if (!value->AsInt()) return Damaged(key, "a number");
    meta->*member = *value->AsInt();
  }
  for (const auto& [key, member] : kFlags) {
    const Json* value = json.Get(key);
    if (value == nullptr) continue;
    if (value->AsBool() == nullptr) return Damaged(key, "true or false");
    meta->*member = *value->AsBool();
  }
  return {};
}

}  // namespace

Json ToJson(const SandboxMeta& meta) {
  JsonObject object;
  object["meta_version"] = kMetaVersion;
  for (const auto& [key, member] : kStrings) object[key] = EscapeName(meta.*member);
  for (const auto& [key, member] : kUnsigned) object[key] = meta.*member;
  for (const auto& [key, member] : kSigned) object[key] = meta.*member;
  for (const auto& [key, member] : kFlags) object[key] = meta.*member;
  for (const auto& [key, member] : kLists) {
    JsonArray array;
    for (const std::string& item : meta.*member) array.emplace_back(EscapeName(item));
    object[key] = std::move(array);
  }
  object["extra"] = meta.extra.is_null() ? Json(JsonObject{}) : meta.extra;
  return object;
}

Result<SandboxMeta> MetaFromJson(const Json& json) {
  if (json.AsObject() == nullptr) return Damaged("the text", "an object");
  if (int64_t version = json.GetInt("meta_version"); version != kMetaVersion) {
    return Fail(ErrorCode::kFailedPrecondition, "meta.json has version " + std::to_string(version) +
                                                    "; this Bawn reads " +
                                                    std::to_string(kMetaVersion));
  }
  SandboxMeta meta;
  BAWN_CHECK_OK(ReadMembers(json, &meta));
  if (!IsId(meta.id, "sb_")) return Damaged("id", "a sandbox id");
  meta.extra = JsonObject{};
  if (const Json* extra = json.Get("extra")) {
    if (extra->AsObject() == nullptr) return Damaged("extra", "an object");
    meta.extra = *extra;
  }
  return meta;
}

Result<> WriteMeta(const SandboxDir& dir, const SandboxMeta& meta, bool durable) {
  return sys::WriteFileAtomic(dir.fd.get(), "meta.json", ToJsonText(ToJson(meta), 1) + "\n", 0600,
                              durable);
}

Result<SandboxMeta> ReadMeta(const SandboxDir& dir) {
  std::string text =
      BAWN_TRY(sys::ReadFileAt(dir.fd.get(), "meta.json", kMetaBytesMax, sys::kUntrusted));
  Json json = BAWN_TRY(ParseJson(text));
  SandboxMeta meta = BAWN_TRY(MetaFromJson(json));
  if (meta.id != dir.id) {
    return Fail(ErrorCode::kFailedPrecondition, "meta.json is that of " + meta.id);
  }
  return meta;
}

}  // namespace bawn::workspace
