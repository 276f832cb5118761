#include "init/watch.h"

#include <cerrno>
#include <charconv>

#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::init {
namespace {

// Field 8 of /proc/PID/stat: the foreground process group of its terminal; 0 when there is none.
// The name (field 2) is the payload's: fields are counted from the last ')'.
int ForegroundGroup(int pid) {
  Result<std::string> stat =
      sys::ReadFileAt(AT_FDCWD, "/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!stat) return 0;
  size_t at = stat->rfind(')');
  for (int field = 2; field < 8 && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return 0;
  int group = 0;
  std::from_chars(stat->data() + at + 1, stat->data() + stat->size(), group);
  return group > 1 ? group : 0;
}

uint32_t JobOf(const wire::FromInit& frame) {
  if (const auto* started = std::get_if<wire::JobStarted>(&frame)) return started->job;
  if (const auto* failed = std::get_if<wire::JobFailed>(&frame)) return failed->job;
  return 0;
}

}  // namespace

Result<Watch> Watch::Fork(const Walls& walls, const JobStart& start) {
  auto [ours, theirs] = BAWN_TRY(sys::SeqpacketPair());
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) {
    JobStart own;
    own.job = start.job;
    for (const UniqueFd& fd : start.fds) own.fds.emplace_back(fd.get());
    RunJob(walls, std::move(own), std::move(theirs));
  }
  Watch watch;
  watch.job_ = start.job;
  watch.pid_ = child.pid;
  watch.channel_ = std::move(ours);
  return watch;
}

bool Watch::ReadOne(const Post& post) {
  Result<sys::Packet> packet =
      sys::ReceivePacket(channel_.get(), wire::kControlFrameBytesMax, false);
  if (!packet && packet.error().sys_errno == EAGAIN) return false;
  if (!packet || packet->eof) {
    channel_.Reset();
    OnEndOfChannel(post);
    return false;
  }
  Result<wire::FromInit> frame = wire::DecodeFromInit(packet->bytes);
  if (frame && JobOf(*frame) == job_) {
    report_ = std::move(*frame);
    reported_ = true;
    if (!packet->fds.empty()) master_ = std::move(packet->fds[0]);
  }
  return true;
}

void Watch::OnEndOfChannel(const Post& post) {
  if (!reported_) return;  // ended before it could say anything: OnExit tells
  failed_ = std::holds_alternative<wire::JobFailed>(report_);
  running_ = !failed_;
  post(report_, failed_ ? -1 : master_.get());
  master_.Reset();
}

void Watch::OnChannel(const Post& post) {
  while (channel_.valid() && ReadOne(post)) {
  }
}

void Watch::OnExit(const sys::Reaped& exit, uint32_t left, const Post& post) {
  OnChannel(post);
  if (channel_.valid()) {
    // Only a process that this child left behind before exec could hold it: there is none of ours.
    channel_.Reset();
    OnEndOfChannel(post);
  }
  if (running_) {
    running_ = false;
    post(wire::JobExited{job_, static_cast<uint32_t>(exit.status), exit.cpu_us,
                         exit.memory_peak_bytes, left},
         -1);
  } else if (!failed_) {
    post(wire::JobFailed{job_, "start", 0,
                         "ended before exec with status " + std::to_string(exit.status)},
         -1);
  }
  pid_ = 0;  // the number may be another process's from now on
}

void Watch::Signal(int signal) const {
  int group = ForegroundGroup(pid_);
  // ESRCH: it ended meanwhile, which its exit says.
  (void)sys::Kill(-(group != 0 ? group : pid_), signal);
}

}  // namespace bawn::init
