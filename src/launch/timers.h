// launch/timers.h
// The deadlines of one job as a pure value: what is due at a given time, and how long to wait. All
// times are CLOCK_MONOTONIC nanoseconds; 0 means "not set".
#pragma once

#include <algorithm>
#include <cstdint>

namespace bawn::launch {

struct Timers {
  int64_t setup = 0;    // the sandbox must stand by then
  int64_t time = 0;     // wall clock of the job
  int64_t idle_ns = 0;  // length of the no-output limit
  int64_t idle_since = 0;
  int64_t grace = 0;  // KILL is due
  int64_t quota = 0;  // the next step of the quota monitor
  int64_t tree = 0;   // the next look at what the control group counted
  int64_t drain = 0;  // stop waiting for output after the main process ended

  int64_t idle() const { return idle_ns == 0 ? 0 : idle_since + idle_ns; }
  static bool Due(int64_t at, int64_t now) { return at != 0 && now >= at; }

  // For poll(2): milliseconds until the next deadline, rounded up, -1 when none is set.
  int WaitMs(int64_t now) const {
    int64_t next = INT64_MAX;
    for (int64_t at : {setup, time, idle(), grace, quota, tree, drain}) {
      if (at != 0) next = std::min(next, at);
    }
    if (next == INT64_MAX) return -1;
    int64_t ms = (next - now + 999'999) / 1'000'000;
    return static_cast<int>(std::clamp<int64_t>(ms, 0, 3'600'000));
  }
};

}  // namespace bawn::launch
