#include "sys/sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace bawn::sys {
namespace {

Result<std::pair<UniqueFd, UniqueFd>> Pair(int type) {
  std::array<int, 2> fds = {-1, -1};
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds.data()) < 0)
    return FailErrno(errno, "socketpair");
  return std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

struct UnixAddress {
  sockaddr_un address = {};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Result<UnixAddress> MakeAddress(const std::string& bytes) {
  UnixAddress made;
  sockaddr_un& address = made.address;
  address.sun_family = AF_UNIX;
  if (bytes.size() >= sizeof address.sun_path) {
    return Fail(ErrorCode::kInvalidArgument,
                "socket name of " + std::to_string(bytes.size()) + " bytes; unix(7) allows 107");
  }
  std::memcpy(address.sun_path, bytes.data(), bytes.size());
  made.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes.size());
  return made;
}

Result<UniqueFd> Listen(const std::string& bytes, int type, int backlog) {
  UnixAddress address = BAWN_TRY(MakeAddress(bytes));
  UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return FailErrno(errno, "socket(AF_UNIX)");
  if (bind(fd.get(), address.get(), address.length) < 0) return FailErrno(errno, "bind(AF_UNIX)");
  if (listen(fd.get(), backlog) < 0) return FailErrno(errno, "listen");
  return fd;
}

}  // namespace

Result<UniqueFd> ListenPathname(const std::string& path) { return Listen(path, SOCK_STREAM, 1); }
Result<UniqueFd> ListenAbstract(const std::string& name) {
  return Listen(std::string(1, '\0') + name, SOCK_STREAM, 1);
}
Result<UniqueFd> ListenPackets(const std::string& path) { return Listen(path, SOCK_SEQPACKET, 16); }

Result<UniqueFd> ConnectPackets(const std::string& path) {
  UnixAddress address = BAWN_TRY(MakeAddress(path));
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return FailErrno(errno, "socket(AF_UNIX)");
  if (connect(fd.get(), address.get(), address.length) < 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) {
      return Fail(ErrorCode::kUnavailable, "connect: nobody listens");
    }
    return FailErrno(errno, "connect(AF_UNIX)");
  }
  return fd;
}

Result<UniqueFd> AcceptOwnUser(int listener) {
  UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd.valid()) return FailErrno(errno, "accept4");
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
    return FailErrno(errno, "getsockopt(SO_PEERCRED)");
  }
  if (peer.uid != geteuid()) {
    return Fail(ErrorCode::kPermissionDenied, "a client of uid " + std::to_string(peer.uid));
  }
  return fd;
}

Result<std::pair<UniqueFd, UniqueFd>> SeqpacketPair() { return Pair(SOCK_SEQPACKET); }
Result<std::pair<UniqueFd, UniqueFd>> StreamPair() { return Pair(SOCK_STREAM); }

Result<std::pair<UniqueFd, UniqueFd>> Pipe() {
  std::array<int, 2> fds = {-1, -1};
  if (pipe2(fds.data(), O_CLOEXEC) < 0) return FailErrno(errno, "pipe2");
  return std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

Result<> SetNonBlocking(int fd, bool enabled) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return FailErrno(errno, "fcntl(F_GETFL)");
  flags = enabled ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (fcntl(fd, F_SETFL, flags) < 0) return FailErrno(errno, "fcntl(F_SETFL)");
  return {};
}

Result<> SetPipeSize(int fd, int bytes) {
  if (fcntl(fd, F_SETPIPE_SZ, bytes) < 0) return FailErrno(errno, "fcntl(F_SETPIPE_SZ)");
  return {};
}

Result<> SendPacket(int fd, std::string_view bytes, const std::vector<int>& fds) {
  BAWN_ASSERT(fds.size() <= kFdsPerFrameMax);
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kFdsPerFrameMax)> control = {};
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  }
  while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) {
      return Fail(ErrorCode::kUnavailable, "sendmsg: the other end is gone");
    }
    return FailErrno(errno, "sendmsg");
  }
  return {};
}

Result<> SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      return Fail(ErrorCode::kUnavailable, "send: the other end is gone");
    }
    if (sent < 0) return FailErrno(errno, "send");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return {};
}

Result<Packet> ReceivePacket(int fd, size_t bytes_max, bool wait) {
  Packet packet;
  packet.bytes.resize(bytes_max);
  iovec part = {packet.bytes.data(), packet.bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kFdsPerFrameMax)> control = {};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  // A peer that closed with our last frame unread answers ECONNRESET once, before what it sent
  // itself: its last words are still to come.
  bool reset = false;
  do {
    reset = reset || (got < 0 && errno == ECONNRESET);
    got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !reset)));
  if (got < 0 && errno != ECONNRESET) return FailErrno(errno, "recvmsg");
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(h) + i * sizeof(int), sizeof(int));
      packet.fds.emplace_back(received);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Fail(ErrorCode::kInternal, "recvmsg: a frame over its limit");
  }
  packet.eof = got <= 0;
  packet.bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return packet;
}

}  // namespace bawn::sys
