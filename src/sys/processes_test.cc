#include "sys/processes.h"

#include <poll.h>
#include <unistd.h>

#include "sys/sockets.h"

namespace bawn::sys {
namespace {

// The pipe ends with the last process that has its writing end.
TEST(ProcessesTest, WhoWaitsToBeKilledEndsWithItsParent) {
  auto pipe = std::move(*Pipe());
  Result<Child> parent = Clone3(0);
  ASSERT_TRUE(parent);
  if (parent->pid == 0) {
    pid_t own = getpid();
    Result<Child> child = Clone3(0);
    if (child && child->pid == 0) WaitToBeKilled(own);
    _exit(child ? 0 : 1);  // at once: before the child has asked for the signal, or behind it
  }
  pipe.second.Reset();
  pollfd end = {pipe.first.get(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 5000), 1) << "it is left behind";
  bool ended = false;
  Result<Exit> exit = WaitPidfd(parent->pidfd.get(), true, &ended);
  EXPECT_TRUE(exit && exit->status == 0);
}

}  // namespace
}  // namespace bawn::sys
