// sys/sockets.h
// Unix sockets between our own processes: SOCK_SEQPACKET pairs with descriptors passed by
// SCM_RIGHTS, and whole-frame send and receive. Sources: unix(7), recvmsg(2).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

inline constexpr size_t kFdsPerFrameMax = 16;

Result<std::pair<UniqueFd, UniqueFd>> SeqpacketPair();
Result<std::pair<UniqueFd, UniqueFd>> StreamPair();
Result<std::pair<UniqueFd, UniqueFd>> Pipe();  // {read end, write end}
Result<> SetNonBlocking(int fd, bool enabled);
Result<> SetPipeSize(int fd, int bytes);

// Sends one packet. kUnavailable when the peer is gone (never SIGPIPE); EAGAIN stays an errno.
Result<> SendPacket(int fd, std::string_view bytes, const std::vector<int>& fds = {});

// All bytes to a stream socket. kUnavailable when the peer is gone (never SIGPIPE).
Result<> SendAll(int fd, std::string_view bytes);

// Listening stream sockets, backlog 1: the witnesses that a canary must not reach.
Result<UniqueFd> ListenPathname(const std::string& path);  // the path must not exist
Result<UniqueFd> ListenAbstract(const std::string& name);  // without the leading NUL

// The keeper's door: a SOCK_SEQPACKET listener at a path in a private directory, and its clients.
Result<UniqueFd> ListenPackets(const std::string& path);
Result<UniqueFd> ConnectPackets(const std::string& path);  // kUnavailable: nobody listens
// Accepts one client; kPermissionDenied (and closed) when its uid is not ours (SO_PEERCRED).
Result<UniqueFd> AcceptOwnUser(int listener);

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> fds;
  bool eof = false;
};
// Receives one packet of at most `bytes_max`; a larger one or more than kFdsPerFrameMax descriptors
// is kInternal (its descriptors are closed). `wait` false: EAGAIN is an error with that errno.
Result<Packet> ReceivePacket(int fd, size_t bytes_max, bool wait);

}  // namespace bawn::sys
