// wire/codec.h
// The fixed binary encoding of frames between our own processes: little-endian integers, byte
// strings with a 32-bit length. A Reader never reads past its bytes: after the first violation
// every read gives zero or empty and Finish() is an error; trailing bytes are an error too.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bawn::wire {

class Writer {
 public:
  template <std::unsigned_integral T>
  void Uint(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void Int64(int64_t value) { Uint(static_cast<uint64_t>(value)); }
  void Bool(bool value) { Uint(static_cast<uint8_t>(value ? 1 : 0)); }
  template <class E>
    requires std::is_enum_v<E>
  void Enum(E value) {
    Uint(static_cast<uint8_t>(value));
  }
  void Bytes(std::string_view value) {
    BAWN_ASSERT(value.size() <= UINT32_MAX);
    Uint(static_cast<uint32_t>(value.size()));
    bytes_ += value;
  }
  void Strings(const std::vector<std::string>& values) {
    Uint(static_cast<uint32_t>(values.size()));
    for (const std::string& value : values) Bytes(value);
  }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <std::unsigned_integral T>
  T Uint() {
    if (left_.size() < sizeof(T)) return Violation(), T{0};
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(left_[i])) << (8 * i));
    }
    left_.remove_prefix(sizeof(T));
    return value;
  }
  int64_t Int64() { return static_cast<int64_t>(Uint<uint64_t>()); }
  bool Bool() {
    auto value = Uint<uint8_t>();
    if (value > 1) Violation();
    return value == 1;
  }
  // An enum whose last enumerator is `last`.
  template <class E>
    requires std::is_enum_v<E>
  E Enum(E last) {
    auto value = Uint<uint8_t>();
    if (value > static_cast<uint8_t>(last)) return Violation(), E{};
    return static_cast<E>(value);
  }
  std::string Bytes(size_t bytes_max = UINT32_MAX) {
    auto size = Uint<uint32_t>();
    if (size > left_.size() || size > bytes_max) return Violation(), std::string();
    std::string value(left_.substr(0, size));
    left_.remove_prefix(size);
    return value;
  }
  // A count of things that each take at least `element_bytes_min` bytes: bounded by what is left.
  size_t Count(size_t element_bytes_min, size_t count_max = SIZE_MAX) {
    auto count = Uint<uint32_t>();
    if (count > left_.size() / element_bytes_min || count > count_max) {
      return Violation(), size_t{0};
    }
    return count;
  }
  std::vector<std::string> Strings() {
    std::vector<std::string> values(Count(4));
    for (std::string& value : values) value = Bytes();
    return values;
  }
  bool ok() const { return ok_; }
  Result<> Finish() const {
    if (ok_ && left_.empty()) return {};
    return Fail(ErrorCode::kInternal, ok_ ? "frame with trailing bytes" : "malformed frame");
  }

 private:
  void Violation() {
    ok_ = false;
    left_ = {};
  }
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace bawn::wire
