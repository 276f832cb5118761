// init/wall_switch.h
// "Is this wall up?", asked where pid 1 puts one up. In every shipped program the answer is a
// constant and nothing of the question is left. The escape suite has a build of its own
// (tests/walls), never installed, in which walls can be left out by name: so each attack is seen to
// succeed where its walls are down, and to be stopped by the next one where only the first is.
// A test holds that no shipped program knows the switch (tests/escape/test_walls.py).
#pragma once

#include <cstdint>

namespace bawn::init {

enum class Wall : uint8_t {
  kSeccomp,
  kLandlock,
  kCapabilities,
  kNoNewPrivs,
  kRlimits,
  kPid1Dumpable,
  kUserLimit,
  kMounts,  // the view: the job then sees the host's own tree
  kSecondUserns
};

#ifdef BAWN_TEST_WALLS
void ReadWallsDown();  // first act of the program
bool IsUp(Wall wall);
bool AnyDown();  // then nothing is refused for a layer that does not hold
#else
inline void ReadWallsDown() {}
constexpr bool IsUp(Wall /*wall*/) { return true; }
constexpr bool AnyDown() { return false; }
#endif

}  // namespace bawn::init
