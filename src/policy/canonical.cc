#include "policy/canonical.h"

#include "base/sha256.h"
#include "base/text.h"

namespace bawn::policy {
namespace {

void Line(std::string* text, std::string_view key, std::string_view value) {
  text->append(key).append(" ").append(EscapeName(value)).append("\n");
}

void Lines(std::string* text, std::string_view key, const std::vector<std::string>& values) {
  for (const std::string& value : values) Line(text, key, value);
}

void Paths(std::string* text, std::string_view key, const std::vector<PathRule>& rules) {
  for (const PathRule& rule : rules) Line(text, key, rule.path);
}

void Number(std::string* text, std::string_view key, const std::optional<uint64_t>& value) {
  if (value) Line(text, key, std::to_string(*value));
}

}  // namespace

std::string CanonicalText(const Policy& policy) {
  std::string text = "bawn profile 1\n";
  if (!policy.extends.empty()) Line(&text, "extends", policy.extends);
  if (policy.level_floor) Line(&text, "level", LevelName(*policy.level_floor));
  Paths(&text, "ro", policy.ro);
  Paths(&text, "rw", policy.rw);
  Paths(&text, "hide", policy.hide);
  Paths(&text, "show", policy.show);
  Lines(&text, "cache", policy.caches);
  for (const EnvRule& rule : policy.env) {
    Line(&text, rule.value ? "set" : "pass",
         rule.value ? rule.name + "=" + *rule.value : rule.name);
  }
  Lines(&text, "secret", policy.secrets);
  Number(&text, "cpu", policy.limits.cpus_milli);
  Number(&text, "memory", policy.limits.memory_bytes);
  Number(&text, "pids", policy.limits.pids);
  Number(&text, "disk", policy.limits.disk_bytes);
  Number(&text, "inodes", policy.limits.inodes);
  Number(&text, "time", policy.limits.time_ms);
  Number(&text, "idle", policy.limits.idle_ms);
  Number(&text, "output", policy.limits.output_bytes);
  Lines(&text, "best_effort", policy.limits.best_effort);
  Lines(&text, "syscalls", policy.syscall_profiles);
  return text;
}

std::string PolicyDigest(const Policy& policy) { return Sha256Hex(CanonicalText(policy)); }

}  // namespace bawn::policy
