#include "init/jobs.h"

#include <cerrno>

#include "base/clock.h"
#include "init/guard.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::init {
namespace {

// The guard answers within a second (guard.cc); after this pid 1 answers for it.
constexpr int64_t kGuardDeadlineNs = 1'500'000'000;

class PlainJob : public Job {
 public:
  PlainJob(uint32_t id, Watch watch) : id_(id), watch_(std::move(watch)) {}
  int pid() const override { return watch_.pid(); }
  int channel() const override { return watch_.channel(); }
  void OnChannel(const Post& post) override { watch_.OnChannel(post); }
  Rest OnExit(const sys::Reaped& exit, const Post& post) override {
    watch_.OnExit(exit, 0, post);
    return Rest::kNothing;
  }
  void Signal(uint32_t signal) override { watch_.Signal(static_cast<int>(signal)); }
  // Nothing here can name all processes of one job: the whole sandbox is the unit.
  void Kill(const Post& post) override { post(wire::JobKilled{id_, false}, -1); }

 private:
  uint32_t id_;
  Watch watch_;
};

class GuardedJob : public Job {
 public:
  GuardedJob(uint32_t id, int pid, UniqueFd channel)
      : id_(id), pid_(pid), channel_(std::move(channel)) {}
  int pid() const override { return pid_; }
  int channel() const override { return channel_.get(); }
  bool has_deadline() const override { return kill_deadline_ns_ != 0; }
  void OnChannel(const Post& post) override {
    while (channel_.valid() && ReadOne(post)) {
    }
  }
  Rest OnExit(const sys::Reaped& exit, const Post& post) override;
  void OnTimer(const Post& post) override {
    if (has_deadline() && MonotonicNs() > kill_deadline_ns_) AnswerKill(false, post);
  }
  void Signal(uint32_t signal) override { Order(wire::SignalJob{id_, signal}); }
  void Kill(const Post& post) override {
    if (!Order(wire::KillJob{id_})) return post(wire::JobKilled{id_, false}, -1);
    kill_deadline_ns_ = MonotonicNs() + kGuardDeadlineNs;
  }

 private:
  bool Order(const wire::ToInit& order) {
    return channel_.valid() && sys::SendPacket(channel_.get(), wire::Encode(order)).has_value();
  }
  bool ReadOne(const Post& post);
  void Pass(const wire::FromInit& frame, int fd, const Post& post);
  void AnswerKill(bool gone, const Post& post) {
    kill_deadline_ns_ = 0;
    post(wire::JobKilled{id_, gone}, -1);
  }

  uint32_t id_;
  int pid_;
  UniqueFd channel_;
  bool started_ = false;
  bool ended_ = false;  // JobFailed or JobExited was passed on
  int64_t kill_deadline_ns_ = 0;
};

bool GuardedJob::ReadOne(const Post& post) {
  Result<sys::Packet> packet =
      sys::ReceivePacket(channel_.get(), wire::kControlFrameBytesMax, false);
  if (!packet && packet.error().sys_errno == EAGAIN) return false;
  if (!packet || packet->eof) {
    channel_.Reset();
    return false;
  }
  Result<wire::FromInit> frame = wire::DecodeFromInit(packet->bytes);
  if (frame) Pass(*frame, packet->fds.empty() ? -1 : packet->fds[0].get(), post);
  return true;
}

// Only frames of this job, each at most once in its place.
void GuardedJob::Pass(const wire::FromInit& frame, int fd, const Post& post) {
  if (const auto* started = std::get_if<wire::JobStarted>(&frame)) {
    if (started->job != id_ || started_ || ended_) return;
    started_ = true;
    post(frame, fd);
  } else if (const auto* failed = std::get_if<wire::JobFailed>(&frame)) {
    if (failed->job != id_ || ended_) return;
    ended_ = true;
    post(frame, -1);
  } else if (const auto* exited = std::get_if<wire::JobExited>(&frame)) {
    if (exited->job != id_ || !started_ || ended_) return;
    ended_ = true;
    post(frame, -1);
  } else if (const auto* killed = std::get_if<wire::JobKilled>(&frame)) {
    if (killed->job == id_ && has_deadline()) AnswerKill(killed->gone, post);
  }
}

Job::Rest GuardedJob::OnExit(const sys::Reaped& exit, const Post& post) {
  OnChannel(post);
  channel_.Reset();
  bool orderly = exit.status == 0 && ended_;
  if (!ended_ && started_) {
    post(wire::JobExited{id_, static_cast<uint32_t>(exit.status), 0, 0, 1}, -1);
  } else if (!ended_) {
    post(wire::JobFailed{id_, "guard", 0,
                         "the job's guard ended with status " + std::to_string(exit.status)},
         -1);
  }
  if (has_deadline()) AnswerKill(orderly, post);
  return orderly ? Rest::kNothing : Rest::kUnknown;
}

}  // namespace

Result<std::unique_ptr<Job>> StartPlainJob(const Walls& walls, const JobStart& start) {
  Watch watch = BAWN_TRY(Watch::Fork(walls, start));
  return std::make_unique<PlainJob>(start.job, std::move(watch));
}

Result<std::unique_ptr<Job>> StartGuardedJob(const Walls& walls, const JobStart& start) {
  auto [ours, theirs] = BAWN_TRY(sys::SeqpacketPair());
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) {
    JobStart own;
    own.job = start.job;
    for (const UniqueFd& fd : start.fds) own.fds.emplace_back(fd.get());
    RunGuard(walls, std::move(own), std::move(theirs));
  }
  return std::make_unique<GuardedJob>(start.job, child.pid, std::move(ours));
}

}  // namespace bawn::init
