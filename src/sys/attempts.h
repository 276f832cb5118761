// sys/attempts.h
// Tries what a wall should refuse and says which call answered what. For the canaries (behind the
// last wall, before exec) and the machine probe. Nothing is created, changed or sent where the
// attempt succeeds, but where said. No allocation; EINTR is retried.
// Sources: open(2), connect(2), kill(2), unshare(2), ip(7), unix(7), vsock(7).
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::sys {

// The last call that was made: its name and its errno, 0 when it succeeded.
struct Attempt {
  const char* call = "";
  int error = 0;
};

// open(O_WRONLY) without creating or truncating.
Attempt TryOpenForWrite(const char* path);
Attempt TryLstat(const char* path);

enum class Transport { kUdp, kTcp };
// connect to an IPv4 address given in host order. UDP sends nothing: it asks for a route. TCP sends
// a SYN where there is a route (EINPROGRESS).
Attempt TryConnectInet(Transport transport, uint32_t address, uint16_t port);
Attempt TryConnectInet6Udp();  // to 2001:db8::1 port 9, the documentation prefix

// A stream connect to a socket path, or to an abstract name (without the leading NUL). Where a
// stream listener is there it sees a connection that ends at once.
Attempt TryConnectUnix(std::string_view name, bool abstract);

Attempt TrySocketInet();  // made and closed: nothing is dialled
Attempt TrySocketVsock();
// kill(pid, 0): no signal is sent.
Attempt TrySignalZero(int pid);
// Where it succeeds the caller is in the new namespaces from then on.
Attempt TryUnshareUserAndMount();

}  // namespace bawn::sys
