#include "policy/identity.h"

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "policy/build.h"

namespace bawn::policy {
namespace {

constexpr uint32_t kNobody = 65534;

// What may stand in a field of passwd(5) and group(5): no ':', no newline, no control, and not "-"
// or a digit first, which tools take for options and numbers.
bool IsPortableName(std::string_view name) {
  if (name.empty() || name.size() > 64 || name[0] == '-') return false;
  if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '@' || c == '+' || c == '$';
  });
}

bool IsPortablePath(std::string_view path) {
  return path.starts_with('/') &&
         std::ranges::all_of(path, [](char c) { return c > ' ' && c != ':' && c != 0x7f; });
}

}  // namespace

Identity InnerIdentity(const plan::HostFacts& host, bool shell_visible) {
  Identity user;
  bool reserved = host.user_name == "root" || host.user_name == "nobody";
  user.name = !reserved && IsPortableName(host.user_name) ? host.user_name : "user";
  user.shell = shell_visible && IsPortablePath(host.shell) ? host.shell : "/bin/sh";
  user.uid = host.uid != 0 ? host.uid : kRangeInnerId;
  user.gid = host.uid != 0 ? host.gid : kRangeInnerId;
  return user;
}

std::string PasswdText(const Identity& user, const std::string& home) {
  std::string text = "root:x:0:0:root:/root:/bin/sh\n";
  if (user.uid != kNobody) {
    text += user.name + ":x:" + std::to_string(user.uid) + ":" + std::to_string(user.gid) +
            "::" + (IsPortablePath(home) ? home : "/tmp") + ":" + user.shell + "\n";
  }
  return text + "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
}

std::string GroupText(const Identity& user, const plan::HostFacts& host) {
  std::string text = "root:x:0:\nnogroup:x:65534:\n";
  std::set<uint32_t> ids = {0, kNobody};
  std::set<std::string> names = {"root", "nogroup"};
  auto add = [&](uint32_t gid, const std::string& name) {
    if (!ids.insert(gid).second) return;
    bool usable = IsPortableName(name) && names.insert(name).second;
    text += (usable ? name : "group" + std::to_string(gid)) + ":x:" + std::to_string(gid) + ":" +
            (gid == user.gid ? "" : user.name) + "\n";
  };
  for (const auto& [gid, name] : host.groups) add(gid, name);
  add(user.gid, user.name);
  return text;
}

std::string HostsText() {
  std::string name(kHostname);
  return "127.0.0.1 localhost " + name + "\n::1 localhost ip6-localhost ip6-loopback " + name +
         "\n";
}

std::string ResolvConfText() {
  // Loopback: refused at once while nothing listens there, so that no program waits for a time-out.
  return "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
}

std::string NsswitchText() {
  return "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
         "protocols: files\nservices: files\nethers: files\nrpc: files\n";
}

std::string MachineIdText(const std::string& sandbox_id) {
  return Sha256Hex("bawn machine-id " + sandbox_id).substr(0, 32) + "\n";
}

void AddIdentity(Build* build) {
  const plan::HostFacts& host = build->host;
  plan::Plan& plan = build->out.plan;
  Identity user = InnerIdentity(host, build->IsVisible(host.shell));
  build->user_name = user.name;
  build->shell = user.shell;
  plan.uid = user.uid;
  plan.gid = user.gid;
  plan.ids_from_range = host.uid == 0;
  plan.hostname = kHostname;
  plan.ops.push_back(FileOp("/etc/passwd", PasswdText(user, build->home)));
  plan.ops.push_back(FileOp("/etc/group", GroupText(user, host)));
  plan.ops.push_back(FileOp("/etc/hosts", HostsText()));
  plan.ops.push_back(FileOp("/etc/hostname", std::string(kHostname) + "\n"));
  plan.ops.push_back(FileOp("/etc/resolv.conf", ResolvConfText()));
  plan.ops.push_back(FileOp("/etc/nsswitch.conf", NsswitchText()));
  plan.ops.push_back(FileOp("/etc/machine-id", MachineIdText(build->sandbox_id), 0444));
  plan.ops.push_back(SymlinkOp("/etc/mtab", "/proc/self/mounts"));
  build->Note(plan::Verdict::kAllow, "view:/etc/passwd", "view.identity", kBuiltIn,
              "root, nobody, the user and the user's groups; written by Bawn");
}

}  // namespace bawn::policy
