#include "base/ids.h"

#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/result.h"

namespace bawn {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr size_t kIdCharacters = 26;  // 26 * 5 = 130 >= 128 bits

constexpr std::array<std::string_view, 32> kFirst = {
    "amber", "bold",  "brave", "brisk", "calm",   "clear", "clever", "crisp",
    "eager", "early", "fair",  "fleet", "fond",   "fresh", "glad",   "green",
    "happy", "keen",  "kind",  "light", "lively", "mild",  "neat",   "noble",
    "proud", "quick", "quiet", "ready", "sharp",  "snug",  "solid",  "warm"};
constexpr std::array<std::string_view, 32> kSecond = {
    "alder", "badger", "beech", "birch", "cairn",  "cedar", "crane", "dale",
    "elm",   "falcon", "fern",  "finch", "glen",   "hare",  "hawk",  "hazel",
    "heron", "holly",  "lark",  "maple", "marten", "moss",  "oak",   "otter",
    "pine",  "raven",  "reed",  "rowan", "stoat",  "swift", "thorn", "wren"};

void Random(void* into, size_t size) { BAWN_ASSERT(getentropy(into, size) == 0); }

}  // namespace

std::string NewId(std::string_view prefix) {
  std::array<uint8_t, kIdCharacters> random = {};
  Random(random.data(), random.size());
  std::string id(prefix);
  for (uint8_t byte : random) id += kAlphabet[byte & 31];
  return id;
}

bool IsId(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix) || text.size() != prefix.size() + kIdCharacters) return false;
  return text.substr(prefix.size()).find_first_not_of(kAlphabet) == std::string_view::npos;
}

std::string NewReadableName() {
  std::array<uint8_t, 5> random = {};
  Random(random.data(), random.size());
  std::string name(kFirst[random[0] & 31]);
  name += '-';
  name += kSecond[random[1] & 31];
  name += '-';
  for (size_t i = 2; i < 5; ++i) name += kAlphabet[random[i] & 31];
  return name;
}

}  // namespace bawn
