#include "base/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <charconv>

#include "base/text.h"

namespace bawn {

JsonObject::JsonObject() = default;
JsonObject::JsonObject(const JsonObject& other) = default;
JsonObject::JsonObject(JsonObject&& other) noexcept = default;
JsonObject& JsonObject::operator=(const JsonObject& other) = default;
JsonObject& JsonObject::operator=(JsonObject&& other) noexcept = default;
JsonObject::~JsonObject() = default;

Json& JsonObject::operator[](std::string_view key) {
  for (JsonMember& member : members_) {
    if (member.key == key) return member.value;
  }
  return members_.emplace_back(std::string(key), Json()).value;
}

const Json* JsonObject::Find(std::string_view key) const {
  for (const JsonMember& member : members_) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

size_t JsonObject::size() const { return members_.size(); }
const JsonMember* JsonObject::begin() const { return members_.data(); }
const JsonMember* JsonObject::end() const { return members_.data() + members_.size(); }

namespace {
template <class T>
std::optional<T> ExactInteger(const JsonNumber* number) {
  if (number == nullptr) return std::nullopt;
  T value = 0;
  const char* end = number->token.data() + number->token.size();
  auto [stop, error] = std::from_chars(number->token.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}
}  // namespace

std::optional<int64_t> Json::AsInt() const { return ExactInteger<int64_t>(AsNumber()); }
std::optional<uint64_t> Json::AsUint() const { return ExactInteger<uint64_t>(AsNumber()); }
const JsonArray* Json::AsArray() const { return std::get_if<JsonArray>(&value_); }
const JsonObject* Json::AsObject() const { return std::get_if<JsonObject>(&value_); }
JsonArray* Json::AsArray() { return std::get_if<JsonArray>(&value_); }
JsonObject* Json::AsObject() { return std::get_if<JsonObject>(&value_); }

const Json* Json::Get(std::string_view key) const {
  const JsonObject* object = AsObject();
  return object == nullptr ? nullptr : object->Find(key);
}

std::string Json::GetString(std::string_view key, std::string_view otherwise) const {
  const Json* member = Get(key);
  const std::string* text = member == nullptr ? nullptr : member->AsString();
  return text == nullptr ? std::string(otherwise) : *text;
}

int64_t Json::GetInt(std::string_view key, int64_t otherwise) const {
  const Json* member = Get(key);
  return member == nullptr ? otherwise : member->AsInt().value_or(otherwise);
}

bool Json::GetBool(std::string_view key, bool otherwise) const {
  const Json* member = Get(key);
  const bool* value = member == nullptr ? nullptr : member->AsBool();
  return value == nullptr ? otherwise : *value;
}

namespace {

namespace bj = boost::json;

// Builds a Json from the parser's events. A stack of open containers; each knows the pending key.
struct Handler {
  static constexpr size_t max_object_size = size_t(-1);
  static constexpr size_t max_array_size = size_t(-1);
  static constexpr size_t max_key_size = size_t(-1);
  static constexpr size_t max_string_size = size_t(-1);

  struct Open {
    Json container;
    std::string key;
  };

  bool Add(Json value, bj::error_code& error) {
    if (stack.empty()) {
      root = std::move(value);
      return true;
    }
    Open& top = stack.back();
    if (JsonArray* array = top.container.AsArray()) {
      array->push_back(std::move(value));
      return true;
    }
    JsonObject* object = top.container.AsObject();
    if (object->Find(top.key) != nullptr) {
      duplicate = top.key;
      error = bj::error::syntax;
      return false;
    }
    (*object)[top.key] = std::move(value);
    return true;
  }
  bool Close(bj::error_code& error) {
    Json done = std::move(stack.back().container);
    stack.pop_back();
    return Add(std::move(done), error);
  }

  bool on_document_begin(bj::error_code&) { return true; }
  bool on_document_end(bj::error_code&) { return true; }
  bool on_object_begin(bj::error_code&) { return stack.push_back({JsonObject(), {}}), true; }
  bool on_object_end(size_t, bj::error_code& error) { return Close(error); }
  bool on_array_begin(bj::error_code&) { return stack.push_back({JsonArray(), {}}), true; }
  bool on_array_end(size_t, bj::error_code& error) { return Close(error); }
  bool on_key_part(bj::string_view part, size_t, bj::error_code&) {
    return text.append(part.data(), part.size()), true;
  }
  bool on_key(bj::string_view part, size_t, bj::error_code&) {
    text.append(part.data(), part.size());
    stack.back().key = std::exchange(text, {});
    return true;
  }
  bool on_string_part(bj::string_view part, size_t, bj::error_code&) {
    return text.append(part.data(), part.size()), true;
  }
  bool on_string(bj::string_view part, size_t, bj::error_code& error) {
    text.append(part.data(), part.size());
    return Add(Json(std::exchange(text, {})), error);
  }
  bool on_number_part(bj::string_view part, bj::error_code&) {
    return text.append(part.data(), part.size()), true;
  }
  bool Number(bj::string_view part, bj::error_code& error) {
    text.append(part.data(), part.size());
    return Add(Json(JsonNumber{std::exchange(text, {})}), error);
  }
  bool on_int64(int64_t, bj::string_view part, bj::error_code& error) {
    return Number(part, error);
  }
  bool on_uint64(uint64_t, bj::string_view part, bj::error_code& error) {
    return Number(part, error);
  }
  bool on_double(double, bj::string_view part, bj::error_code& error) {
    return Number(part, error);
  }
  bool on_bool(bool value, bj::error_code& error) { return Add(Json(value), error); }
  bool on_null(bj::error_code& error) { return Add(Json(), error); }
  bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
  bool on_comment(bj::string_view, bj::error_code&) { return true; }

  Json root;
  std::vector<Open> stack;
  std::string text;
  std::string duplicate;
};

}  // namespace

Result<Json> ParseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return Fail(ErrorCode::kInvalidArgument, "JSON text of " + std::to_string(text.size()) +
                                                 " bytes; the limit is " +
                                                 std::to_string(limits.bytes_max));
  }
  bj::parse_options options;
  options.max_depth = limits.depth_max;
  bj::basic_parser<Handler> parser(options);
  bj::error_code error;
  size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
    error = bj::error::extra_data;
  }
  if (!error && !parser.done()) error = bj::error::incomplete;
  if (error) {
    const std::string& duplicate = parser.handler().duplicate;
    std::string why =
        duplicate.empty() ? error.message() : "duplicate key " + EscapeName(duplicate);
    return Fail(ErrorCode::kInvalidArgument, "JSON, byte " + std::to_string(used) + ": " + why);
  }
  return std::move(parser.handler().root);
}

namespace {

void WriteString(std::string* out, const std::string& text) {
  BAWN_ASSERT(IsValidUtf8(text));
  *out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      *out += "\\u00";
      *out += kDigits[static_cast<unsigned char>(c) >> 4];
      *out += kDigits[static_cast<unsigned char>(c) & 15];
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void NewLine(std::string* out, int indent, int depth) {
  if (indent == 0) return;
  *out += '\n';
  out->append(static_cast<size_t>(indent) * static_cast<size_t>(depth), ' ');
}

void Write(std::string* out, const Json& value, int indent, int depth) {
  if (const bool* flag = value.AsBool()) {
    *out += *flag ? "true" : "false";
  } else if (const JsonNumber* number = value.AsNumber()) {
    *out += number->token;
  } else if (const std::string* text = value.AsString()) {
    WriteString(out, *text);
  } else if (const JsonArray* array = value.AsArray()) {
    *out += '[';
    for (size_t i = 0; i < array->size(); ++i) {
      if (i > 0) *out += ',';
      NewLine(out, indent, depth + 1);
      Write(out, (*array)[i], indent, depth + 1);
    }
    if (!array->empty()) NewLine(out, indent, depth);
    *out += ']';
  } else if (const JsonObject* object = value.AsObject()) {
    *out += '{';
    bool first = true;
    for (const JsonMember& member : *object) {
      if (!std::exchange(first, false)) *out += ',';
      NewLine(out, indent, depth + 1);
      WriteString(out, member.key);
      *out += indent == 0 ? ":" : ": ";
      Write(out, member.value, indent, depth + 1);
    }
    if (object->size() > 0) NewLine(out, indent, depth);
    *out += '}';
  } else {
    *out += "null";
  }
}

}  // namespace

std::string ToJsonText(const Json& value, int indent) {
  std::string out;
  Write(&out, value, indent, 0);
  return out;
}

}  // namespace bawn
