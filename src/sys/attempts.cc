#include "sys/attempts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/unique_fd.h"

namespace bawn::sys {
namespace {

Attempt Said(const char* call, long result) { return {call, result < 0 ? errno : 0}; }

Attempt MakeSocket(int family, int type) {
  int fd = socket(family, type | SOCK_CLOEXEC, 0);
  Attempt attempt = Said("socket", fd);
  UniqueFd close_it(fd);
  return attempt;
}

template <class Address>
Attempt Connect(int family, int type, const Address& address, size_t size) {
  UniqueFd fd(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Said("socket", -1);
  int result = 0;
  do {
    result = connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                     static_cast<socklen_t>(size));
  } while (result < 0 && errno == EINTR);
  return Said("connect", result);
}

}  // namespace

Attempt TryOpenForWrite(const char* path) {
  int fd = -1;
  do {
    fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  Attempt attempt = Said("open", fd);
  UniqueFd close_it(fd);
  return attempt;
}

Attempt TryLstat(const char* path) {
  struct stat st = {};
  return Said("lstat", lstat(path, &st));
}

Attempt TryConnectInet(Transport transport, uint32_t address, uint16_t port) {
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(address);
  to.sin_port = htons(port);
  return Connect(AF_INET, transport == Transport::kUdp ? SOCK_DGRAM : SOCK_STREAM, to, sizeof to);
}

Attempt TryConnectInet6Udp() {
  sockaddr_in6 to = {};
  to.sin6_family = AF_INET6;
  constexpr uint8_t kDocumentation[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0,
                                          0,    0,    0,    0,    0, 0, 0, 1};
  std::memcpy(&to.sin6_addr, kDocumentation, sizeof kDocumentation);
  to.sin6_port = htons(9);
  return Connect(AF_INET6, SOCK_DGRAM, to, sizeof to);
}

Attempt TryConnectUnix(std::string_view name, bool abstract) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  size_t skip = abstract ? 1 : 0;
  if (name.size() + skip > sizeof to.sun_path) return {"connect", ENAMETOOLONG};
  std::memcpy(to.sun_path + skip, name.data(), name.size());
  return Connect(AF_UNIX, SOCK_STREAM, to, offsetof(sockaddr_un, sun_path) + skip + name.size());
}

Attempt TrySocketInet() { return MakeSocket(AF_INET, SOCK_DGRAM); }

Attempt TrySocketVsock() { return MakeSocket(AF_VSOCK, SOCK_STREAM); }

Attempt TrySignalZero(int pid) { return Said("kill", kill(pid, 0)); }

Attempt TryUnshareUserAndMount() { return Said("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNS)); }

}  // namespace bawn::sys
