// base/clock.h
// Times as the receipts write them (RFC 3339, UTC, milliseconds) and a monotonic clock.
#pragma once

#include <cstdint>
#include <string>

namespace bawn {

int64_t MonotonicNs();       // CLOCK_MONOTONIC
int64_t RealtimeNs();        // CLOCK_REALTIME
int64_t RealtimeCoarseNs();  // CLOCK_REALTIME_COARSE: the clock that file times are taken from
std::string FormatTime(int64_t realtime_ns);  // "2026-11-29T20:59:14.123Z"

}  // namespace bawn
