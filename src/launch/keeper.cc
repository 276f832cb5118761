#include "launch/keeper.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "launch/input.h"
#include "launch/output.h"
#include "launch/relay_terminal.h"
#include "launch/timers.h"
#include "sys/events.h"
#include "sys/files.h"
#include "sys/sockets.h"
#include "sys/wait_status.h"
#include "wire/control.h"

namespace bawn::launch {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint32_t kJob = 1;  // the only job of a one-shot sandbox

std::string_view StateName(wire::LayerState state) {
  constexpr std::string_view kNames[] = {"held", "failed", "unknown", "off"};
  return kNames[static_cast<uint8_t>(state)];
}

// One sandbox with one job. The loop only records facts; `Decide` is where they turn into acts.
class Keeper {
 public:
  Keeper(JobRun run, sys::SignalSet signals) : run_(std::move(run)), signals_(std::move(signals)) {}
  Result<JobReport> Run();

 private:
  Result<> Start();
  Result<JobReport> Abandon(Error why);
  Result<> MakeStreams(contain::JobStreams* inner);
  Result<> Turn();
  Result<> OnControl();
  void OnFrame(const wire::FromInit& frame, std::vector<UniqueFd> fds);
  void OnStarted(const wire::JobStarted& started, std::vector<UniqueFd> fds);
  void OnExited(const wire::JobExited& exited);
  void OnSignals();
  Result<> PumpOutput();
  Result<> PumpInput(const std::vector<pollfd>& items);
  void OnTimers(int64_t now);
  void AskToEnd(int signal, plan::KilledBy why);
  void Signal(int signal);
  void Settle();
  void Fail(std::string stage, int sys_errno, std::string text);
  void Refused(std::string stage, int sys_errno, std::string text);
  bool OutputsEnded() const;
  void OnTree();
  void AddUsage();
  void AddLayers(const std::vector<wire::LayerFact>& facts);

  JobRun run_;
  sys::SignalSet signals_;
  contain::Sandbox sandbox_;
  std::optional<OutputStream> out_, err_;
  std::optional<InputStream> in_;
  std::optional<TerminalRelay> terminal_;
  std::optional<QuotaMonitor> quota_;
  Timers timers_;
  JobReport report_;
  plan::KilledBy killing_ = plan::KilledBy::kNothing;
  int interrupts_ = 0;   // SIGINT and friends that the caller sent us
  int interrupt_ = 0;    // the last of them
  bool asked_ = false;   // Execute is next, or done
  bool ready_ = false;   // the sandbox stands: jobs may run
  bool exited_ = false;  // the main process's status is known
  bool done_ = false;    // nothing more to wait for
};

Result<> Keeper::MakeStreams(contain::JobStreams* inner) {
  if (run_.io.pty) return {};  // the streams come with JobStarted
  auto in = BAWN_TRY(sys::Pipe());
  auto out = BAWN_TRY(sys::Pipe());
  if (run_.io.in >= 0) {
    BAWN_CHECK_OK(sys::SetNonBlocking(in.second.get(), true));
    in_.emplace(run_.io.in, std::move(in.second));
    inner->in = std::move(in.first);
  } else {
    inner->in = BAWN_TRY(sys::Openat2(AT_FDCWD, "/dev/null", O_RDONLY));
  }
  auto stream = [&](UniqueFd source, int destination, const char* name) {
    OutputStream::Options options;
    options.source = std::move(source);
    options.destination = destination;
    options.log_dir = run_.log_dir;
    options.log_name = name;
    options.kept_bytes_max = run_.limits.kept_bytes_max;
    return OutputStream::Open(std::move(options));
  };
  if (run_.io.one_output) {
    inner->err = BAWN_TRY(sys::Dup(out.second.get()));
  } else {
    auto err = BAWN_TRY(sys::Pipe());
    inner->err = std::move(err.second);
    err_ = BAWN_TRY(stream(std::move(err.first), run_.io.err, "err.log"));
  }
  inner->out = std::move(out.second);
  out_ = BAWN_TRY(stream(std::move(out.first), run_.io.out, "out.log"));
  return {};
}

// The job is asked for before the sandbox stands: the request waits in the socket, no round trip.
Result<> Keeper::Start() {
  report_.started_at_ns = RealtimeNs();
  sandbox_ = BAWN_TRY(run_.engine->Provision(std::move(run_.provision)));
  if (run_.while_building) BAWN_CHECK_OK(run_.while_building(&run_));
  contain::JobStreams inner;
  BAWN_CHECK_OK(MakeStreams(&inner));
  asked_ = true;
  AddLayers(sandbox_.layers);
  ready_ = sandbox_.stands;
  if (sandbox_.group) timers_.tree = MonotonicNs() + contain::Cgroup::kLookMs * kMs;
  for (const wire::LayerFact& fact : sandbox_.layers) {
    if (fact.state == wire::LayerState::kHeld) continue;
    return bawn::Fail(ErrorCode::kUnavailable, fact.name + ": " + fact.verified_by);
  }
  timers_.setup = MonotonicNs() + kSetupDeadlineMs * kMs;
  return run_.engine->Execute(sandbox_, kJob, run_.job_spec.get(), std::move(inner));
}

// Nothing was asked of pid 1, so nothing ran.
Result<JobReport> Keeper::Abandon(Error why) {
  if (!sandbox_.pid1.valid()) return std::unexpected(std::move(why));
  Result<> gone = run_.engine->Destroy(&sandbox_, kGoneDeadlineMs);
  if (!gone) why.message += " (and " + gone.error().message + ")";
  return std::unexpected(std::move(why));
}

Result<JobReport> Keeper::Run() {
  Result<> started = Start();
  if (!started && !asked_) return Abandon(started.error());
  if (!started) {  // what the sandbox said before it ended is the better reason
    while (!done_ && OnControl()) {
    }
    // Never asked for, so nothing ran.
    if (!done_) Refused("execute", started.error().sys_errno, started.error().message);
  }
  while (!done_) {
    Result<> turn = Turn();
    if (!turn) Fail("keeper", turn.error().sys_errno, turn.error().message);
  }
  if (terminal_) terminal_->Stop();
  if (sandbox_.group) OnTree();  // what happened since the last look counts too
  Result<> gone = run_.engine->Destroy(&sandbox_, kGoneDeadlineMs);
  AddUsage();
  if (!gone) report_.remaining.push_back(gone.error().message);
  Settle();
  for (auto* stream : {&out_, &err_}) {
    if (!*stream) continue;
    Result<plan::StreamReport> kept = (*stream)->Finish();
    plan::StreamReport& into = stream == &out_ ? report_.out : report_.err;
    if (kept) into = *kept;
    if (!kept) report_.outcome.hint = "the kept output is incomplete: " + kept.error().message;
  }
  report_.ended_at_ns = RealtimeNs();
  return std::move(report_);
}

Result<> Keeper::Turn() {
  std::vector<pollfd> items;
  auto watch = [&](int fd, int events) { items.push_back({fd, static_cast<short>(events), 0}); };
  watch(sandbox_.control.get(), POLLIN);
  watch(sandbox_.pid1.get(), POLLIN);
  watch(signals_.fd(), POLLIN);
  for (auto* stream : {&out_, &err_}) {
    if (!*stream || (*stream)->ended()) continue;
    bool blocked = (*stream)->blocked() && (*stream)->destination() >= 0;
    watch(blocked ? (*stream)->destination() : (*stream)->source(), blocked ? POLLOUT : POLLIN);
  }
  if (in_ && in_->wants_source()) watch(in_->source(), POLLIN);
  if (in_ && in_->wants_sink()) watch(in_->sink(), POLLOUT);
  size_t tree = items.size();
  if (sandbox_.group) {
    const std::vector<pollfd>& watches = sandbox_.group->watches();
    items.insert(items.end(), watches.begin(), watches.end());
  }
  BAWN_CHECK_OK(sys::Poll(&items, timers_.WaitMs(MonotonicNs())));
  if (items[2].revents != 0) OnSignals();
  BAWN_CHECK_OK(PumpOutput());
  BAWN_CHECK_OK(PumpInput(items));
  for (size_t i = tree; i < items.size(); ++i) {
    if (items[i].revents != 0) OnTree();
  }
  if (items[0].revents != 0) BAWN_CHECK_OK(OnControl());
  if (items[1].revents != 0 && !exited_) {
    // pid 1 died on its own. Its last frames may still be in the socket.
    while (!exited_ && !done_ && OnControl().has_value()) {
    }
    if (!exited_ && !done_) Fail("pid1", 0, "pid 1 of the sandbox ended unexpectedly");
  }
  OnTimers(MonotonicNs());
  if (exited_ && OutputsEnded()) done_ = true;
  return {};
}

// The tree ran into a limit of its control group: the whole sandbox is the unit, as with every
// other limit, and it ends now.
void Keeper::OnTree() {
  plan::KilledBy violated = sandbox_.group->Violated();
  if (violated == plan::KilledBy::kNothing || killing_ != plan::KilledBy::kNothing) return;
  killing_ = violated;
  done_ = true;
}

void Keeper::AddUsage() {
  const contain::TreeUsage& usage = sandbox_.usage;
  report_.whole_tree = usage.memory_peak_bytes.has_value();
  if (usage.cpu_ms) report_.cpu_ms = usage.cpu_ms;
  if (usage.memory_peak_bytes) report_.memory_peak_bytes = usage.memory_peak_bytes;
  report_.pids_peak = usage.pids_peak;
}

bool Keeper::OutputsEnded() const { return (!out_ || out_->ended()) && (!err_ || err_->ended()); }

Result<> Keeper::PumpOutput() {
  for (auto* stream : {&out_, &err_}) {
    if (!*stream) continue;
    BAWN_CHECK_OK((*stream)->Pump());
    bool too_much = run_.limits.out_bytes_max && stream == &out_ &&
                    (*stream)->total() > *run_.limits.out_bytes_max;
    if (too_much && killing_ == plan::KilledBy::kNothing) {
      killing_ = plan::KilledBy::kOutput;
      done_ = true;
    }
    if ((*stream)->moved()) timers_.idle_since = MonotonicNs();
    if ((*stream)->destination_broken() && !report_.output_broken) {
      report_.output_errno = (*stream)->destination_errno();
      report_.output_broken = true;  // as a shell's pipeline would: the run ends (E-27)
      done_ = true;
    }
  }
  return {};
}

Result<> Keeper::PumpInput(const std::vector<pollfd>& items) {
  if (!in_) return {};
  for (const pollfd& item : items) {
    if (item.revents == 0) continue;
    if (item.fd == in_->source() && in_->wants_source()) BAWN_CHECK_OK(in_->OnSource());
    if (in_->wants_sink() && item.fd == in_->sink()) BAWN_CHECK_OK(in_->OnSink());
  }
  return {};
}

Result<> Keeper::OnControl() {
  Result<sys::Packet> packet =
      sys::ReceivePacket(sandbox_.control.get(), wire::kControlFrameBytesMax, false);
  if (!packet) return std::unexpected(packet.error());
  if (packet->eof) return bawn::Fail(ErrorCode::kUnavailable, "pid 1 closed its control socket");
  wire::FromInit frame = BAWN_TRY(wire::DecodeFromInit(packet->bytes));
  OnFrame(frame, std::move(packet->fds));
  return {};
}

void Keeper::OnFrame(const wire::FromInit& frame, std::vector<UniqueFd> fds) {
  if (const auto* ready = std::get_if<wire::Ready>(&frame)) {
    ready_ = true;
    AddLayers(ready->layers);
  } else if (const auto* failed = std::get_if<wire::SetupFailed>(&frame)) {
    Fail(failed->stage, static_cast<int>(failed->sys_errno), failed->text);
  } else if (const auto* started = std::get_if<wire::JobStarted>(&frame)) {
    OnStarted(*started, std::move(fds));
  } else if (const auto* refused = std::get_if<wire::JobFailed>(&frame)) {
    Refused(refused->stage, static_cast<int>(refused->sys_errno), refused->text);
  } else if (const auto* exited = std::get_if<wire::JobExited>(&frame)) {
    OnExited(*exited);
  } else if (const auto* killed = std::get_if<wire::TreeKilled>(&frame)) {
    if (killed->by <= static_cast<uint32_t>(plan::KilledBy::kOutput)) {
      killing_ = static_cast<plan::KilledBy>(killed->by);
    }
    done_ = true;
  }
}

void Keeper::AddLayers(const std::vector<wire::LayerFact>& facts) {
  for (const wire::LayerFact& fact : facts) {
    report_.layers.push_back({fact.name, std::string(StateName(fact.state)), fact.verified_by});
  }
}

void Keeper::OnStarted(const wire::JobStarted& started, std::vector<UniqueFd> fds) {
  int64_t now = MonotonicNs();
  AddLayers(started.canaries);
  report_.started = true;
  timers_.setup = 0;
  timers_.idle_since = now;
  if (run_.limits.time_ms) timers_.time = now + static_cast<int64_t>(*run_.limits.time_ms) * kMs;
  if (run_.limits.idle_ms) timers_.idle_ns = static_cast<int64_t>(*run_.limits.idle_ms) * kMs;
  if (run_.limits.changes.any() && run_.upper >= 0) {
    quota_.emplace(run_.upper, run_.limits.changes);
    quota_->Start(now);
    timers_.quota = quota_->due();
  }
  if (run_.on_event) run_.on_event("started");
  if (!run_.io.pty) return;
  if (fds.size() != 1) return Fail("pty", 0, "pid 1 sent no pty master");
  Result<UniqueFd> for_output = sys::Dup(fds[0].get());
  Result<UniqueFd> for_input = sys::Dup(fds[0].get());
  OutputStream::Options options;
  if (for_output) options.source = std::move(*for_output);
  options.destination = run_.io.out;
  options.log_dir = run_.log_dir;
  options.log_name = "out.log";
  options.kept_bytes_max = run_.limits.kept_bytes_max;
  options.to_terminal = sys::IsTerminal(run_.io.out);
  Result<OutputStream> stream = OutputStream::Open(std::move(options));
  if (!for_input || !stream) return Fail("pty", 0, "the inner pty could not be relayed");
  if (sys::IsTerminal(run_.io.in)) {  // `-t` may ask for an inner pty without a terminal outside
    Result<TerminalRelay> relay = TerminalRelay::Start(run_.io.in, std::move(fds[0]));
    if (!relay) return Fail("pty", relay.error().sys_errno, relay.error().message);
    terminal_.emplace(std::move(*relay));
  }
  out_.emplace(std::move(*stream));
  if (run_.io.in >= 0) in_.emplace(run_.io.in, std::move(*for_input));
}

void Keeper::OnExited(const wire::JobExited& exited) {
  if (exited_) return;
  exited_ = true;
  int status = static_cast<int>(exited.status);
  if (int signal = sys::EndSignal(status); signal != 0) {
    report_.outcome.kind = plan::OutcomeKind::kSignaled;
    report_.outcome.signal = signal;
  } else {
    report_.outcome.kind = plan::OutcomeKind::kExited;
    report_.outcome.exit_code = sys::ExitCode(status);
  }
  report_.cpu_ms = exited.cpu_us / 1000;
  report_.memory_peak_bytes = exited.memory_peak_bytes;
  timers_.drain = MonotonicNs() + kDrainMs * kMs;
  timers_.time = timers_.grace = timers_.idle_ns = timers_.quota = 0;
}

void Keeper::OnSignals() {
  while (int signal = signals_.Next()) {
    if (signal == SIGWINCH) {
      if (terminal_) terminal_->CarrySize();
      continue;
    }
    interrupts_ += 1;
    interrupt_ = signal;
    if (interrupts_ > 1 || !report_.started) {
      done_ = true;  // asked twice, or nothing runs yet: end it now
    } else {
      Signal(signal);
      timers_.grace = MonotonicNs() + kGraceMs * kMs;
    }
  }
}

void Keeper::Signal(int signal) {
  wire::SignalJob frame{kJob, static_cast<uint32_t>(signal)};
  // Init may be gone already; the deadline that follows ends the sandbox in any case.
  (void)sys::SendPacket(sandbox_.control.get(), wire::Encode(wire::ToInit(frame)));
}

void Keeper::AskToEnd(int signal, plan::KilledBy why) {
  killing_ = why;
  Signal(signal);
  timers_.time = timers_.idle_ns = 0;
  timers_.grace = MonotonicNs() + kGraceMs * kMs;
}

void Keeper::OnTimers(int64_t now) {
  if (Timers::Due(timers_.setup, now)) {
    return Fail("setup", 0, "the sandbox did not stand within 20 s");
  }
  if (Timers::Due(timers_.tree, now)) {
    OnTree();
    timers_.tree = now + contain::Cgroup::kLookMs * kMs;
  }
  if (Timers::Due(timers_.quota, now)) {
    plan::KilledBy violated = quota_->Step(now);
    timers_.quota = quota_->due();
    if (violated != plan::KilledBy::kNothing) {
      killing_ = violated;  // no grace: every moment makes it worse
      done_ = true;
    }
  }
  if (Timers::Due(timers_.time, now)) return AskToEnd(SIGTERM, plan::KilledBy::kTimeout);
  if (Timers::Due(timers_.idle(), now)) return AskToEnd(SIGTERM, plan::KilledBy::kIdleTimeout);
  if (Timers::Due(timers_.grace, now) || Timers::Due(timers_.drain, now)) done_ = true;
}

void Keeper::Fail(std::string stage, int sys_errno, std::string text) {
  done_ = true;
  if (exited_ || !report_.failure.empty()) return;
  report_.nothing_ran = !ready_;
  report_.lost = true;
  report_.failure = std::move(text);
  report_.failure_stage = std::move(stage);
  report_.failure_errno = sys_errno;
}

// By the word of pid 1 the command was not executed. Without it, who knows what a job has written.
void Keeper::Refused(std::string stage, int sys_errno, std::string text) {
  bool first = !exited_ && report_.failure.empty();
  Fail(std::move(stage), sys_errno, std::move(text));
  if (!first) return;
  report_.nothing_ran = !report_.started;
  report_.lost = false;
}

// The outcome, once nothing can change it any more.
void Keeper::Settle() {
  plan::Outcome& outcome = report_.outcome;
  // What was written between the last sample and the end counts too.
  if (quota_ && killing_ == plan::KilledBy::kNothing) killing_ = quota_->MeasureNow();
  if (killing_ != plan::KilledBy::kNothing) {
    outcome.kind = plan::OutcomeKind::kKilled;
    outcome.killed_by = killing_;
  } else if (report_.failure.empty() && !exited_) {
    outcome.kind = plan::OutcomeKind::kCancelled;
    outcome.signal = interrupt_;
    outcome.hint = report_.output_broken ? "the reader of Bawn's output went away"
                                         : "ended on request before the job ended by itself";
  } else if (!report_.failure.empty()) {
    outcome.kind =
        report_.nothing_ran ? plan::OutcomeKind::kSetupFailed : plan::OutcomeKind::kInterrupted;
    outcome.hint = report_.failure;
  }
}

}  // namespace

Result<JobReport> RunOneShot(JobRun run) {
  sys::IgnoreSigpipe();
  std::vector<int> handled = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
  sys::SignalSet signals = BAWN_TRY(sys::SignalSet::Block(handled));
  return Keeper(std::move(run), std::move(signals)).Run();
}

}  // namespace bawn::launch
