// policy/identity.h
// Who the payload is inside: synthesised, so that names and numbers resolve and nothing of the
// host's user database or network is shown (E-24, E-28, RT-31). Pure text.
#pragma once

#include <cstdint>
#include <string>

#include "plan/facts.h"

namespace bawn::policy {

inline constexpr std::string_view kHostname = "bawn";
// Root's jobs run under ids of a range: this one inside (DESIGN, promise 7: inner 0 never exists).
inline constexpr uint32_t kRangeInnerId = 1000;

struct Identity {
  std::string
      name;  // a portable user name: the host's, or "user" when that could not stand in passwd
  std::string shell;
  uint32_t uid = 0;  // inner; never 0
  uint32_t gid = 0;
};

// `shell` is kept when `shell_visible`, else it is /bin/sh.
Identity InnerIdentity(const plan::HostFacts& host, bool shell_visible);

std::string PasswdText(const Identity& user, const std::string& home);
// Every group the user shows has a name (E-24). Unmapped ones resolve; chown to them still fails.
std::string GroupText(const Identity& user, const plan::HostFacts& host);
std::string HostsText();
std::string ResolvConfText();
std::string NsswitchText();
std::string MachineIdText(const std::string& sandbox_id);

}  // namespace bawn::policy
