// The switch of the test build: the names of walls, one a line, in a file of the directory that
// bawn was started in.
#include <fcntl.h>

#include <string>

#include "init/wall_switch.h"
#include "sys/files.h"

namespace bawn::init {
namespace {

constexpr char kSwitchFile[] = "bawn-test-walls-down";
constexpr const char* kNames[] = {"seccomp",      "landlock", "capabilities",
                                  "no-new-privs", "rlimits",  "pid1-dumpable",
                                  "user-limit",   "mounts",   "second-userns"};

std::string& Down() {
  static std::string down;
  return down;
}

}  // namespace

void ReadWallsDown() { Down() = "\n" + sys::ReadFileAt(AT_FDCWD, kSwitchFile, 4096).value_or(""); }

bool IsUp(Wall wall) {
  return !Down().contains("\n" + std::string(kNames[static_cast<uint8_t>(wall)]) + "\n");
}

bool AnyDown() { return Down().size() > 1; }

}  // namespace bawn::init
