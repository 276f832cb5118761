#include "policy/binary.h"

#include "policy/canonical.h"

namespace bawn::policy {
namespace {

// "BWP" and the version of this layout.
constexpr uint32_t kFormat = 0x31505742;
constexpr uint8_t kNoLevel = 0xff;
constexpr size_t kOriginBytesMin = 8;

class Writer {
 public:
  template <class T>
  void Uint(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void Text(std::string_view value) {
    Uint(static_cast<uint32_t>(value.size()));
    bytes_ += value;
  }
  void Texts(const std::vector<std::string>& values) {
    Uint(static_cast<uint32_t>(values.size()));
    for (const std::string& value : values) Text(value);
  }
  void Place(const Origin& origin) {
    Text(origin.file);
    Uint(origin.line);
  }
  void Number(const std::optional<uint64_t>& value) {
    Uint(static_cast<uint8_t>(value ? 1 : 0));
    if (value) Uint(*value);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Never reads past its bytes: after the first violation every read gives zero or empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  template <class T>
  T Uint() {
    if (left_.size() < sizeof(T)) return Violation(), T{0};
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(left_[i])) << (8 * i));
    }
    left_.remove_prefix(sizeof(T));
    return value;
  }
  std::string Text() {
    auto size = Uint<uint32_t>();
    if (size > left_.size()) return Violation(), std::string();
    std::string value(left_.substr(0, size));
    left_.remove_prefix(size);
    return value;
  }
  // A count of things that take at least `bytes_min` each: bounded by what is left.
  size_t Count(size_t bytes_min) {
    auto count = Uint<uint32_t>();
    if (count > left_.size() / bytes_min) return Violation(), size_t{0};
    return count;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> values(Count(sizeof(uint32_t)));
    for (std::string& value : values) value = Text();
    return values;
  }
  Origin Place() {
    Origin origin;
    origin.file = Text();
    origin.line = Uint<uint32_t>();
    return origin;
  }
  std::optional<uint64_t> Number() {
    if (!Flag()) return std::nullopt;
    return Uint<uint64_t>();
  }
  bool Flag() {
    auto flag = Uint<uint8_t>();
    if (flag > 1) Violation();
    return flag == 1;
  }
  void Violation() {
    ok_ = false;
    left_ = {};
  }
  bool Finished() const { return ok_ && left_.empty(); }

 private:
  std::string_view left_;
  bool ok_ = true;
};

constexpr std::vector<PathRule> Policy::* kPathLists[] = {&Policy::ro, &Policy::rw, &Policy::hide,
                                                          &Policy::show};
constexpr std::optional<uint64_t> Limits::* kNumbers[] = {
    &Limits::cpus_milli, &Limits::memory_bytes, &Limits::pids,    &Limits::disk_bytes,
    &Limits::inodes,     &Limits::time_ms,      &Limits::idle_ms, &Limits::output_bytes};
constexpr std::vector<std::string> Policy::* kTextLists[] = {&Policy::secrets, &Policy::caches,
                                                             &Policy::syscall_profiles};

std::vector<PathRule> ReadPaths(Reader* reader) {
  std::vector<PathRule> rules(reader->Count(sizeof(uint32_t) + kOriginBytesMin));
  for (PathRule& rule : rules) {
    rule.path = reader->Text();
    rule.origin = reader->Place();
  }
  return rules;
}

std::vector<EnvRule> ReadEnv(Reader* reader) {
  std::vector<EnvRule> rules(reader->Count(sizeof(uint32_t) + 1 + kOriginBytesMin));
  for (EnvRule& rule : rules) {
    rule.name = reader->Text();
    if (reader->Flag()) rule.value = reader->Text();
    rule.origin = reader->Place();
  }
  return rules;
}

}  // namespace

std::string EncodePolicy(const Policy& policy) {
  Writer writer;
  writer.Uint(kFormat);
  writer.Text(policy.name);
  writer.Text(policy.extends);
  writer.Uint(policy.level_floor ? static_cast<uint8_t>(*policy.level_floor) : kNoLevel);
  for (auto list : kPathLists) {
    writer.Uint(static_cast<uint32_t>((policy.*list).size()));
    for (const PathRule& rule : policy.*list) {
      writer.Text(rule.path);
      writer.Place(rule.origin);
    }
  }
  writer.Uint(static_cast<uint32_t>(policy.env.size()));
  for (const EnvRule& rule : policy.env) {
    writer.Text(rule.name);
    writer.Uint(static_cast<uint8_t>(rule.value ? 1 : 0));
    if (rule.value) writer.Text(*rule.value);
    writer.Place(rule.origin);
  }
  for (auto number : kNumbers) writer.Number(policy.limits.*number);
  writer.Texts(policy.limits.best_effort);
  for (auto list : kTextLists) writer.Texts(policy.*list);
  writer.Uint(static_cast<uint32_t>(policy.sources.size()));
  for (const Origin& origin : policy.sources) writer.Place(origin);
  return writer.Take();
}

Result<Policy> DecodePolicy(std::string_view bytes) {
  auto malformed = [](std::string what) {
    return Fail(ErrorCode::kInvalidArgument, "compiled profile: " + std::move(what),
                "compile it anew with bawn-policy", "profile.binary");
  };
  if (bytes.size() > kCompiledBytesMax) return malformed("over 1 MiB");
  Reader reader(bytes);
  if (reader.Uint<uint32_t>() != kFormat) return malformed("not of this version");
  Policy policy;
  policy.name = reader.Text();
  policy.extends = reader.Text();
  auto level = reader.Uint<uint8_t>();
  if (level <= static_cast<uint8_t>(plan::Level::kGuest)) {
    policy.level_floor = static_cast<plan::Level>(level);
  } else if (level != kNoLevel) {
    reader.Violation();
  }
  for (auto list : kPathLists) policy.*list = ReadPaths(&reader);
  policy.env = ReadEnv(&reader);
  for (auto number : kNumbers) policy.limits.*number = reader.Number();
  policy.limits.best_effort = reader.Texts();
  for (auto list : kTextLists) policy.*list = reader.Texts();
  policy.sources.resize(reader.Count(kOriginBytesMin));
  for (Origin& origin : policy.sources) origin = reader.Place();
  if (!reader.Finished()) return malformed("malformed");
  policy.digest = PolicyDigest(policy);
  return policy;
}

}  // namespace bawn::policy
