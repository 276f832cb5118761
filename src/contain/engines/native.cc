#include "contain/engines/native.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "contain/engines/start_init.h"
#include "contain/plan_codec.h"
#include "contain/probe.h"
#include "sys/cgroups.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/processes.h"
#include "sys/sealed.h"
#include "sys/sockets.h"

namespace bawn::contain {
namespace {

constexpr size_t kSlotsMax = 64;

// The inner ids. Rootless they are the caller's own; in root mode the Plan names them, and the map
// leads to the leased range, never to the host's 0.
Result<> ChooseIds(const ProvisionRequest& request, InitStart* start) {
  start->uid = getuid();
  start->gid = getgid();
  if (!request.ids) {
    if (start->uid != 0 && start->gid != 0) return {};
    return Fail(ErrorCode::kPermissionDenied, "no payload runs with host id 0",
                "run Bawn as an ordinary user, or with an id range of its own",
                "engine.no_host_root");
  }
  const ProvisionRequest::IdRange& range = *request.ids;
  uint32_t last = UINT32_MAX - 1;
  if (range.outer_uid == 0 || range.outer_gid == 0 || range.count == 0 ||
      range.count > last - range.outer_uid || range.count > last - range.outer_gid) {
    return Fail(ErrorCode::kInvalidArgument, "an id range that is empty, holds 0 or overflows");
  }
  std::string bytes = BAWN_TRY(sys::ReadWhole(request.plan.get(), wire::kPlanBytesMax));
  plan::Plan plan = BAWN_TRY(DecodePlan(bytes));
  start->uid = plan.uid;
  start->gid = plan.gid;
  start->maps_by_parent = true;
  return {};
}

// Root mode: the maps, and the word to go on.
Result<> LetProceed(int pid, const InitStart& start, const ProvisionRequest::IdRange& range,
                    int control) {
  BAWN_CHECK_OK(sys::WriteIdMaps(pid, {start.uid, range.outer_uid, range.count},
                                 {start.gid, range.outer_gid, range.count}));
  return sys::SendPacket(control, wire::Encode(wire::ToInit(wire::Proceed{})));
}

// From the Plan's head. What is no plan gets every namespace, and pid 1's refusal.
Result<plan::Level> LevelOf(int plan) {
  [[clang::uninitialized]] std::array<char, 8192> head;
  size_t got = BAWN_TRY(sys::Pread(plan, head.data(), head.size(), 0));
  return DecodeLevel({head.data(), got}).value_or(plan::Level::kIsolated);
}

// What a process that could not become pid 1 said before it ended; empty when it said nothing.
std::string Refusal(int control) {
  Result<sys::Packet> packet = sys::ReceivePacket(control, wire::kControlFrameBytesMax, false);
  if (!packet) return {};
  Result<wire::FromInit> frame = wire::DecodeFromInit(packet->bytes);
  if (!frame || !std::holds_alternative<wire::SetupFailed>(*frame)) return {};
  const auto& failed = std::get<wire::SetupFailed>(*frame);
  return failed.stage + ": " + failed.text;
}

void KillAndReap(const UniqueFd& pidfd) {
  (void)sys::PidfdSendSignal(pidfd.get(), SIGKILL);  // ESRCH: it has ended by itself
  bool ended = false;
  (void)sys::WaitPidfd(pidfd.get(), true, &ended);
}

// "4711 (wchan), …" for pid 1 and its children, as /proc outside shows them.
std::string Remaining(int pid) {
  std::string number = std::to_string(pid);
  Result<std::string> children =
      sys::ReadFileAt(AT_FDCWD, "/proc/" + number + "/task/" + number + "/children", 1 << 16);
  std::string text;
  for (std::string left = number + " " + children.value_or(""); !left.empty();) {
    size_t end = std::min(left.find(' '), left.size());
    number = left.substr(0, end);
    left.erase(0, end + 1);
    if (number.empty() || text.size() > 1000) continue;
    Result<std::string> where = sys::ReadFileAt(AT_FDCWD, "/proc/" + number + "/wchan", 256);
    text += (text.empty() ? "" : ", ") + number + " (" + where.value_or("?") + ")";
  }
  return text;
}

// The v1 part pid 1 enters by itself, and reads back before it goes on (start_init.cc).
wire::LayerFact BornInGroup(int pid, const Cgroup& group) {
  Result<std::string> seen =
      sys::ReadFileAt(AT_FDCWD, "/proc/" + std::to_string(pid) + "/cgroup", 1 << 16);
  if (!seen) return {"cgroup", wire::LayerState::kUnknown, seen.error().message};
  if (!group.Holds(*seen, true)) {
    return {"cgroup", wire::LayerState::kFailed, "pid 1 is not in the v2 group"};
  }
  return {"cgroup", wire::LayerState::kHeld, group.verified_by() + "; pid 1 is in it"};
}

// Pid 1 took everything with it; what is not of its namespace but of its group ends here.
Result<> EndGroup(Sandbox* sandbox, int64_t deadline) {
  if (!sandbox->group) return {};
  sandbox->usage = sandbox->group->Usage();
  auto left_ms = static_cast<int>(std::max<int64_t>((deadline - MonotonicNs()) / 1'000'000, 0));
  return sandbox->group->End(left_ms);
}

}  // namespace

Result<Capabilities> NativeEngine::Query() {
  ProbeReport report = BAWN_TRY(ProbeMachine());
  return Capabilities{report.highest, "native"};
}

NativeEngine::~NativeEngine() { EndWaiting(); }

void NativeEngine::EndWaiting() {
  if (waiting_) KillAndReap(waiting_->child.pidfd);
  waiting_.reset();
}

Result<NativeEngine::Waiting> NativeEngine::Start(InitStart start, int cgroup_fd) {
  sys::AssertSingleThreaded();
  auto [ours, theirs] = BAWN_TRY(sys::SeqpacketPair());
  start.program = program_.get();
  start.program_path =
      BAWN_TRY(sys::Readlinkat(AT_FDCWD, "/proc/self/fd/" + std::to_string(program_.get())));
  start.control = theirs.get();
  start.other_end = ours.get();
  sys::Child child =
      BAWN_TRY(sys::Clone3Into(start.namespaces ? sys::kAllNamespaces : 0, cgroup_fd));
  if (child.pid == 0) StartInit(start);
  return Waiting{std::move(child), std::move(ours)};
}

void NativeEngine::Prestart(int plan) {
  InitStart start;
  start.plan = plan;
  start.uid = getuid();
  start.gid = getgid();
  if (waiting_ || start.uid == 0 || start.gid == 0) return;
  Result<Waiting> started = Start(std::move(start), -1);
  if (started) waiting_ = std::move(*started);
}

Result<Sandbox> NativeEngine::Provision(ProvisionRequest request) {
  if (request.fds.size() > kSlotsMax) {
    return Fail(ErrorCode::kResourceExhausted, "more than 64 descriptors for one sandbox");
  }
  InitStart start;
  BAWN_CHECK_OK(ChooseIds(request, &start));
  plan::Level level = BAWN_TRY(LevelOf(request.plan.get()));
  start.namespaces = level >= plan::Level::kIsolated;
  if (level == plan::Level::kBounded && !request.group) {
    return Fail(ErrorCode::kInternal, "level bounded without a control group");
  }
  if (!start.namespaces && request.ids) {
    return Fail(ErrorCode::kInvalidArgument, "ids of a range need a user namespace");
  }
  start.plan = request.plan.get();
  for (const UniqueFd& fd : request.fds) start.slots.push_back(fd.get());
  if (request.group) start.group = &*request.group;
  bool taken = waiting_ && level == plan::Level::kIsolated && !request.ids && !request.group &&
               request.fds.empty();
  if (!taken) {
    EndWaiting();
    int cgroup_fd = request.group ? request.group->unified() : -1;
    waiting_ = BAWN_TRY(Start(start, cgroup_fd));
  }
  auto [child, ours] = *std::exchange(waiting_, std::nullopt);
  if (request.ids) {
    Result<> proceeding = LetProceed(child.pid, start, *request.ids, ours.get());
    if (!proceeding) {
      std::string why = Refusal(ours.get());
      KillAndReap(child.pidfd);
      if (!why.empty()) proceeding.error().message = why;
      return std::unexpected(WithContext(proceeding.error(), "id maps"));
    }
  }
  // One that ended meanwhile has said why; the keeper reads that.
  (void)sys::SendPacket(ours.get(), wire::Encode(wire::ToInit(wire::Proceed{})));
  Sandbox sandbox;
  sandbox.id = std::move(request.sandbox_id);
  sandbox.control = std::move(ours);
  sandbox.pid1 = std::move(child.pidfd);
  sandbox.pid1_number = child.pid;
  sandbox.has_pid_namespace = start.namespaces;
  if (request.group) {
    sandbox.group = std::move(request.group);
    sandbox.layers.push_back(BornInGroup(child.pid, *sandbox.group));
  }
  return sandbox;
}

Result<> NativeEngine::Execute(const Sandbox& sandbox, uint32_t job, int spec_memfd,
                               JobStreams streams) {
  std::vector<int> fds = {spec_memfd};
  bool all = streams.in.valid() && streams.out.valid() && streams.err.valid();
  bool none = !streams.in.valid() && !streams.out.valid() && !streams.err.valid();
  if (!all && !none) return Fail(ErrorCode::kInvalidArgument, "a job has three streams or none");
  if (all) fds.insert(fds.end(), {streams.in.get(), streams.out.get(), streams.err.get()});
  return sys::SendPacket(sandbox.control.get(), wire::Encode(wire::ToInit(wire::StartJob{job})),
                         fds);
}

Result<> NativeEngine::Destroy(Sandbox* sandbox, int deadline_ms) {
  if (sandbox->has_pid_namespace) {
    Result<> killed = sys::PidfdSendSignal(sandbox->pid1.get(), SIGKILL);
    if (!killed && killed.error().sys_errno != ESRCH) return killed;
  } else {
    sandbox->control.Reset();
  }
  int64_t deadline = MonotonicNs() + int64_t{deadline_ms} * 1'000'000;
  pollfd gone = {sandbox->pid1.get(), POLLIN, 0};
  while (true) {
    int64_t left_ms = std::max<int64_t>((deadline - MonotonicNs() + 999'999) / 1'000'000, 0);
    int ready = poll(&gone, 1, static_cast<int>(left_ms));
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return FailErrno(errno, "poll(pidfd)");
    if (ready == 0) {
      return Fail(ErrorCode::kDeadlineExceeded,
                  "not ended " + std::to_string(deadline_ms) +
                      " ms after SIGKILL: " + Remaining(sandbox->pid1_number));
    }
  }
  bool ended = false;
  BAWN_CHECK_OK(sys::WaitPidfd(sandbox->pid1.get(), true, &ended));
  sandbox->pid1.Reset();
  sandbox->control.Reset();
  return EndGroup(sandbox, deadline);
}

}  // namespace bawn::contain
