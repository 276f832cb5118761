#include "base/clock.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace bawn {
namespace {
int64_t Now(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
}  // namespace

int64_t MonotonicNs() { return Now(CLOCK_MONOTONIC); }
int64_t RealtimeNs() { return Now(CLOCK_REALTIME); }
int64_t RealtimeCoarseNs() { return Now(CLOCK_REALTIME_COARSE); }

std::string FormatTime(int64_t realtime_ns) {
  time_t seconds = realtime_ns / 1'000'000'000;
  tm parts = {};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text = {};
  size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ",
                static_cast<int>(realtime_ns / 1'000'000 % 1000));
  return text.data();
}

}  // namespace bawn
