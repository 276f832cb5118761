#include "sys/netif.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace bawn::sys {

Result<> BringLoopbackUp() {
  UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return FailErrno(errno, "socket(AF_INET)");
  ifreq request = {};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP;
  if (ioctl(fd.get(), SIOCSIFFLAGS, &request) < 0)
    return FailErrno(errno, "ioctl(lo, SIOCSIFFLAGS)");
  return {};
}

namespace {

// One RTM_NEWLINK message: its flags and IFLA_IFNAME.
Interface ParseLink(const nlmsghdr* header) {
  Interface link;
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  link.up = (info->ifi_flags & IFF_UP) != 0;
  auto left = static_cast<unsigned>(IFLA_PAYLOAD(header));
  for (const rtattr* at = IFLA_RTA(info); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    if (at->rta_type == IFLA_IFNAME) link.name = static_cast<const char*>(RTA_DATA(at));
  }
  return link;
}

}  // namespace

Result<std::vector<Interface>> ListInterfaces() {
  UniqueFd fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.valid()) return FailErrno(errno, "socket(NETLINK_ROUTE)");
  struct {
    nlmsghdr header;
    ifinfomsg body;
  } request = {};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  if (send(fd.get(), &request, sizeof request, 0) < 0) return FailErrno(errno, "send(RTM_GETLINK)");
  std::vector<Interface> links;
  alignas(nlmsghdr) std::array<char, 16384> buffer;
  while (true) {
    ssize_t got = recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return FailErrno(errno, "recv(RTM_GETLINK)");
    auto left = static_cast<unsigned>(got);
    const auto* header = reinterpret_cast<const nlmsghdr*>(buffer.data());
    for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE) return links;
      if (header->nlmsg_type == NLMSG_ERROR) return FailErrno(EIO, "RTM_GETLINK");
      links.push_back(ParseLink(header));
    }
    if (got == 0) return FailErrno(EIO, "RTM_GETLINK: no end");
  }
}

}  // namespace bawn::sys
