#include "contain/canary.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <string>
#include <utility>

#include "sys/attempts.h"
#include "sys/files.h"

namespace bawn::contain {
namespace {

using plan::Level;
using sys::Attempt;
using wire::LayerFact;
using wire::LayerState;

constexpr uint32_t kTestNet1 = 0xc0000201;  // 192.0.2.1, RFC 5737
constexpr uint16_t kDiscardPort = 9;

// What one attempt shows: an errno of `refusals` holds, success or an errno of `reached` is the
// wall missing, any other errno is unknown.
LayerState Judge(const Attempt& attempt, std::initializer_list<int> refusals,
                 std::initializer_list<int> reached = {}) {
  auto is_in = [&](std::initializer_list<int> set) {
    return std::find(set.begin(), set.end(), attempt.error) != set.end();
  };
  if (attempt.error == 0 || is_in(reached)) return LayerState::kFailed;
  return is_in(refusals) ? LayerState::kHeld : LayerState::kUnknown;
}

// One canary of several attempts: the worst counts, all are written down.
class Canary {
 public:
  explicit Canary(const char* name) { fact_.name = std::string("canary:") + name; }

  LayerState Saw(const char* object, const Attempt& attempt, LayerState state) {
    std::string answer = attempt.error == 0 ? "succeeded" : ErrnoName(attempt.error);
    if (!fact_.verified_by.empty()) fact_.verified_by += ", ";
    fact_.verified_by += std::string(object) + " " + attempt.call + ": " + answer;
    if (Rank(state) > Rank(worst_)) worst_ = state;
    return state;
  }
  void Note(const std::string& text) { fact_.verified_by += text; }

  LayerFact Done() && {
    fact_.state = worst_;
    return std::move(fact_);
  }
  LayerFact Unknown(const char* why) && {
    fact_.state = LayerState::kUnknown;
    fact_.verified_by = why;
    return std::move(fact_);
  }
  LayerFact Off(const char* why) && {
    fact_.state = LayerState::kOff;
    fact_.verified_by = why;
    return std::move(fact_);
  }

 private:
  static int Rank(LayerState state) {
    return state == LayerState::kFailed ? 2 : state == LayerState::kUnknown ? 1 : 0;
  }
  LayerFact fact_;
  LayerState worst_ = LayerState::kHeld;
};

LayerFact WriteOutside(const plan::CanaryTargets& targets) {
  Canary canary("write_outside");
  if (targets.outside_file.empty()) return std::move(canary).Unknown("no target");
  Attempt attempt = sys::TryOpenForWrite(targets.outside_file.c_str());
  canary.Saw("file", attempt, Judge(attempt, {ENOENT, ENOTDIR, EACCES, EROFS}));
  return std::move(canary).Done();
}

LayerFact ConnectOutside(Level level) {
  Canary canary("connect");
  Attempt vsock = sys::TrySocketVsock();
  canary.Saw("vsock", vsock, Judge(vsock, {EAFNOSUPPORT}));
  if (level == Level::kRestricted) {  // the host's network is there: nothing is dialled
    Attempt inet = sys::TrySocketInet();
    canary.Saw("inet", inet, Judge(inet, {EAFNOSUPPORT}));
    return std::move(canary).Done();
  }
  // UDP asks for a route and sends nothing; only where there is none TCP is tried as well.
  Attempt udp = sys::TryConnectInet(sys::Transport::kUdp, kTestNet1, kDiscardPort);
  if (canary.Saw("udp", udp, Judge(udp, {ENETUNREACH})) == LayerState::kHeld) {
    Attempt tcp = sys::TryConnectInet(sys::Transport::kTcp, kTestNet1, kDiscardPort);
    canary.Saw("tcp", tcp, Judge(tcp, {ENETUNREACH}, {EINPROGRESS, ECONNREFUSED}));
  }
  Attempt udp6 = sys::TryConnectInet6Udp();
  canary.Saw("udp6", udp6, Judge(udp6, {ENETUNREACH, EAFNOSUPPORT, EADDRNOTAVAIL}));
  return std::move(canary).Done();
}

// The witness's number may be in use inside as well (small numbers: Bawn itself in a container).
// Then what we see is another process when /proc is of our own pid namespace and its pid 1 is our
// init: the witness is outside of that namespace by being no descendant of it.
bool NumberIsOursToo() {
  Result<std::string> self = sys::Readlinkat(AT_FDCWD, "/proc/self");
  if (!self || *self != std::to_string(getpid())) return false;
  Result<std::string> name = sys::ReadFileAt(AT_FDCWD, "/proc/1/comm", 64);
  return name && *name == std::string(kInitName) + "\n";
}

struct Witness {
  Attempt signal;
  Attempt proc;
  bool other_process = false;
};

Witness LookForWitness(uint32_t pid) {
  Witness witness;
  witness.signal = sys::TrySignalZero(static_cast<int>(pid));
  witness.proc = sys::TryLstat(("/proc/" + std::to_string(pid)).c_str());
  if (witness.signal.error != ESRCH || witness.proc.error != ENOENT) {
    witness.other_process = NumberIsOursToo();
  }
  return witness;
}

LayerFact HostPid(const Witness& witness, const plan::CanaryTargets& targets, Level level) {
  Canary canary("host_pid");
  if (level == Level::kRestricted) return std::move(canary).Off("not promised at restricted");
  if (targets.host_pid == 0) return std::move(canary).Unknown("no target");
  LayerState seen = witness.other_process ? LayerState::kHeld : LayerState::kFailed;
  canary.Saw("witness", witness.signal, witness.signal.error == ESRCH ? LayerState::kHeld : seen);
  canary.Saw("/proc", witness.proc, witness.proc.error == ENOENT ? LayerState::kHeld : seen);
  if (witness.other_process) canary.Note(" (another process of that number, pid 1 is ours)");
  return std::move(canary).Done();
}

LayerFact Signal(const Witness& witness, const plan::CanaryTargets& targets, Level level) {
  Canary canary("signal");
  if (targets.host_pid == 0) return std::move(canary).Unknown("no target");
  int refusal = level == Level::kRestricted ? EPERM : ESRCH;
  LayerState state = witness.other_process ? LayerState::kHeld : Judge(witness.signal, {refusal});
  canary.Saw("witness", witness.signal, state);
  // kill(-1) reaches whom kill(pid) reaches: 0 here means others of this sandbox, or (kill(2)) that
  // every one of the processes it tried was refused.
  Attempt everyone = sys::TrySignalZero(-1);
  bool known = everyone.error == 0 || everyone.error == ESRCH || everyone.error == EPERM;
  canary.Saw("everyone", everyone, known ? LayerState::kHeld : LayerState::kUnknown);
  return std::move(canary).Done();
}

// EPROTOTYPE and EAGAIN come from a socket that was found. EAFNOSUPPORT: the filter of
// `restricted`.
LayerFact UnixSocket(const char* name, const std::string& target, bool abstract, Level level) {
  Canary canary(name);
  if (target.empty()) return std::move(canary).Unknown("no target");
  Attempt attempt = sys::TryConnectUnix(target, abstract);
  LayerState state = LayerState::kUnknown;
  if (level == Level::kRestricted) {
    state = Judge(attempt, {EAFNOSUPPORT}, {EPROTOTYPE, EAGAIN});
  } else if (abstract) {
    state = Judge(attempt, {ECONNREFUSED, EPERM}, {EPROTOTYPE, EAGAIN});
  } else {
    state = Judge(attempt, {ENOENT, ENOTDIR, EACCES, ECONNREFUSED}, {EPROTOTYPE, EAGAIN});
  }
  canary.Saw("socket", attempt, state);
  return std::move(canary).Done();
}

// EPERM: the filter. ENOSPC: user.max_user_namespaces is 0, the lid below it.
LayerFact Namespace() {
  Canary canary("namespace");
  Attempt attempt = sys::TryUnshareUserAndMount();
  canary.Saw("user and mount", attempt, Judge(attempt, {EPERM, ENOSPC}));
  return std::move(canary).Done();
}

std::vector<LayerFact> AllOff() {
  std::vector<LayerFact> facts;
  for (const char* name : {"write_outside", "connect", "host_pid", "signal", "abstract_socket",
                           "pathname_socket", "namespace"}) {
    facts.push_back(Canary(name).Off("level none has no walls"));
  }
  return facts;
}

}  // namespace

std::vector<LayerFact> RunCanaries(const plan::CanaryTargets& targets, Level level) {
  if (level == Level::kNone) return AllOff();
  Witness witness;
  if (targets.host_pid != 0) witness = LookForWitness(targets.host_pid);
  std::vector<LayerFact> facts;
  facts.reserve(7);
  facts.push_back(WriteOutside(targets));
  facts.push_back(ConnectOutside(level));
  facts.push_back(HostPid(witness, targets, level));
  facts.push_back(Signal(witness, targets, level));
  facts.push_back(UnixSocket("abstract_socket", targets.abstract_socket, true, level));
  facts.push_back(UnixSocket("pathname_socket", targets.pathname_socket, false, level));
  facts.push_back(Namespace());
  return facts;
}

bool AllHeld(const std::vector<LayerFact>& facts) {
  return std::none_of(facts.begin(), facts.end(), [](const LayerFact& fact) {
    return fact.state == LayerState::kFailed || fact.state == LayerState::kUnknown;
  });
}

}  // namespace bawn::contain
