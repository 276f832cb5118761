#include "init/serve.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>

#include "init/end.h"
#include "init/jobs.h"
#include "sys/files.h"
#include "sys/signals.h"
#include "sys/sockets.h"
#include "wire/control.h"

namespace bawn::init {
namespace {

constexpr int kJobOomBonus = 200;
constexpr int kOomMax = 1000;

// Pid 1's own oom_score_adj, raised while a child is forked: children inherit it, and a job could
// not write its own (the file belongs to root while a process is not dumpable).
class OomScore {
 public:
  explicit OomScore(UniqueFd file) : file_(std::move(file)) {
    std::array<char, 16> text = {};
    ssize_t size = pread(file_.get(), text.data(), text.size(), 0);
    if (size > 0) std::from_chars(text.data(), text.data() + size, own_);
  }
  void Raise() { Write(std::min(own_ + kJobOomBonus, kOomMax)); }
  void Restore() { Write(own_); }

 private:
  void Write(int value) { (void)sys::Pwrite(file_.get(), std::to_string(value), 0); }
  UniqueFd file_;
  int own_ = 0;
};

class Server {
 public:
  Server(const Walls& walls, UniqueFd signals, UniqueFd oom)
      : walls_(walls), signals_(std::move(signals)), oom_(std::move(oom)) {}
  [[noreturn]] void Run();

 private:
  [[noreturn]] void End() { EndTree(walls_.plan->level, 0); }
  void Send(const wire::FromInit& frame, int fd);
  void OnControl();
  void OnStart(uint32_t id, std::vector<UniqueFd> fds);
  void OnKill(uint32_t id);
  void Reap();
  void OnTimer();
  int WaitMs() const;
  Post post() {
    return [this](const wire::FromInit& frame, int fd) { Send(frame, fd); };
  }

  const Walls& walls_;
  UniqueFd signals_;
  OomScore oom_;
  std::map<uint32_t, std::unique_ptr<Job>> jobs_;
  std::set<uint32_t> lost_;  // their guard died: what is left of them cannot be told apart
};

void Server::Send(const wire::FromInit& frame, int fd) {
  std::vector<int> fds;
  if (fd >= 0) fds.push_back(fd);
  if (!sys::SendPacket(walls_.control, wire::Encode(frame), fds)) End();
}

void Server::OnStart(uint32_t id, std::vector<UniqueFd> fds) {
  auto refuse = [&](const char* why) { Send(wire::JobFailed{id, "job", 0, why}, -1); };
  // No silent downgrade (promise 4): what the level promises must hold before anything runs.
  if (!walls_.refusal.empty()) return Send(wire::JobFailed{id, "layer", 0, walls_.refusal}, -1);
  if (fds.size() != 1 && fds.size() != 4)
    return refuse("needs a spec and three streams, or a spec");
  if (jobs_.contains(id) || lost_.contains(id)) return refuse("a job of that number lives");
  if (jobs_.size() >= wire::kJobsPerSandboxMax) return refuse("256 jobs live already");
  JobStart start{id, std::move(fds)};
  oom_.Raise();
  Result<std::unique_ptr<Job>> job =
      walls_.plan->job_domains ? StartGuardedJob(walls_, start) : StartPlainJob(walls_, start);
  oom_.Restore();
  if (!job) {
    Send(wire::JobFailed{id, "fork", static_cast<uint32_t>(job.error().sys_errno),
                         job.error().message},
         -1);
    return;
  }
  jobs_[id] = std::move(*job);
}

void Server::OnKill(uint32_t id) {
  auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    // Without domains nothing can be said of what an ended job left behind.
    Send(wire::JobKilled{id, walls_.plan->job_domains && !lost_.contains(id)}, -1);
    return;
  }
  found->second->Kill(post());
}

void Server::OnControl() {
  Result<sys::Packet> packet =
      sys::ReceivePacket(walls_.control, wire::kControlFrameBytesMax, true);
  if (!packet || packet->eof) End();
  Result<wire::ToInit> order = wire::DecodeToInit(packet->bytes);
  if (!order) End();  // not our keeper's words
  if (const auto* start = std::get_if<wire::StartJob>(&*order)) {
    OnStart(start->job, std::move(packet->fds));
  } else if (const auto* signal = std::get_if<wire::SignalJob>(&*order)) {
    auto found = jobs_.find(signal->job);
    if (found != jobs_.end()) found->second->Signal(signal->signal);
  } else if (const auto* kill = std::get_if<wire::KillJob>(&*order)) {
    OnKill(kill->job);
  }
}

void Server::Reap() {
  sys::DrainSignalFd(signals_.get());
  while (true) {
    sys::Reaped reaped = sys::ReapAnyChild();
    if (reaped.pid <= 0) return;
    for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
      if (it->second->pid() != reaped.pid) continue;
      if (it->second->OnExit(reaped, post()) == Job::Rest::kUnknown) lost_.insert(it->first);
      jobs_.erase(it);
      break;
    }
  }
}

int Server::WaitMs() const {
  for (const auto& [id, job] : jobs_) {
    if (job->has_deadline()) return 50;
  }
  return -1;
}

void Server::OnTimer() {
  for (auto& [id, job] : jobs_) job->OnTimer(post());
}

void Server::Run() {
  std::vector<pollfd> wait;
  while (true) {
    wait = {{walls_.control, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const auto& [id, job] : jobs_) wait.push_back({job->channel(), POLLIN, 0});
    if (poll(wait.data(), wait.size(), WaitMs()) < 0 && errno != EINTR) End();
    size_t at = 2;
    for (auto& [id, job] : jobs_) {
      if (wait[at++].revents != 0) job->OnChannel(post());
    }
    OnTimer();
    if (wait[1].revents != 0) Reap();
    if (wait[0].revents != 0) OnControl();
  }
}

}  // namespace

void Serve(const Walls& walls, UniqueFd signals, UniqueFd oom_score_adj) {
  Server(walls, std::move(signals), std::move(oom_score_adj)).Run();
}

}  // namespace bawn::init
