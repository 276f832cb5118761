// sys/netif.h
// The interfaces of the caller's network namespace: loopback is all that a sandbox ever has.
// Sources: netdevice(7), rtnetlink(7).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace bawn::sys {

Result<> BringLoopbackUp();  // SIOCSIFFLAGS; CAP_NET_ADMIN over the namespace
struct Interface {
  std::string name;
  bool up = false;
};
Result<std::vector<Interface>> ListInterfaces();  // all of them, with or without an address

}  // namespace bawn::sys
