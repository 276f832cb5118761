// base/json.h
// The one JSON reader and writer. The reader refuses duplicate keys, invalid UTF-8, trailing bytes,
// and more than `JsonLimits`; numbers are kept as their token, so nothing is rounded.
// Source: RFC 8259; built on Boost.JSON's basic_parser (json.cc is the only file that includes it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace bawn {

class Json;
struct JsonMember;
using JsonArray = std::vector<Json>;

// Keeps the order in which members were added; lookup is linear (our objects are small).
class JsonObject {
 public:
  JsonObject();
  JsonObject(const JsonObject& other);
  JsonObject(JsonObject&& other) noexcept;
  JsonObject& operator=(const JsonObject& other);
  JsonObject& operator=(JsonObject&& other) noexcept;
  ~JsonObject();

  Json& operator[](std::string_view key);  // added as null when absent
  const Json* Find(std::string_view key) const;
  size_t size() const;
  const JsonMember* begin() const;  // [begin, end) in order
  const JsonMember* end() const;

 private:
  std::vector<JsonMember> members_;
};

struct JsonNumber {
  std::string token;
};

class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}                                              // NOLINT(google-explicit-*)
  Json(bool value) : value_(value) {}                                  // NOLINT
  Json(int value) : Json(int64_t{value}) {}                            // NOLINT
  Json(int64_t value) : value_(JsonNumber{std::to_string(value)}) {}   // NOLINT
  Json(uint64_t value) : value_(JsonNumber{std::to_string(value)}) {}  // NOLINT
  Json(uint32_t value) : Json(uint64_t{value}) {}                      // NOLINT
  Json(const char* value) : value_(std::string(value)) {}              // NOLINT
  Json(std::string value) : value_(std::move(value)) {}                // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}         // NOLINT
  Json(JsonNumber value) : value_(std::move(value)) {}                 // NOLINT
  Json(JsonArray value) : value_(std::move(value)) {}                  // NOLINT
  Json(JsonObject value) : value_(std::move(value)) {}                 // NOLINT

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  const bool* AsBool() const { return std::get_if<bool>(&value_); }
  const std::string* AsString() const { return std::get_if<std::string>(&value_); }
  const JsonNumber* AsNumber() const { return std::get_if<JsonNumber>(&value_); }
  std::optional<int64_t> AsInt() const;    // exact integers only
  std::optional<uint64_t> AsUint() const;  // exact integers only
  const JsonArray* AsArray() const;
  const JsonObject* AsObject() const;
  JsonArray* AsArray();
  JsonObject* AsObject();

  // Members of an object with defaults, for reading back our own files.
  const Json* Get(std::string_view key) const;  // null when not an object or absent
  std::string GetString(std::string_view key, std::string_view otherwise = {}) const;
  int64_t GetInt(std::string_view key, int64_t otherwise = 0) const;
  bool GetBool(std::string_view key, bool otherwise = false) const;

 private:
  std::variant<std::nullptr_t, bool, JsonNumber, std::string, JsonArray, JsonObject> value_ =
      nullptr;
};

struct JsonMember {
  std::string key;
  Json value;
};

struct JsonLimits {
  size_t bytes_max = 16 << 20;
  size_t depth_max = 32;
};

Result<Json> ParseJson(std::string_view text, const JsonLimits& limits = {});

// Compact when `indent` is 0. Strings that are not valid UTF-8 are a bug of the caller (use
// EscapeName or {text|base64} first): asserted.
std::string ToJsonText(const Json& value, int indent = 0);

}  // namespace bawn
