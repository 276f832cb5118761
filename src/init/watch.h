// init/watch.h
// One job's main process seen by its parent (pid 1, or the job's guard): forked, watched through
// its channel until exec, reported when it ends. No status is lost: what the child said is always
// read before its end is reported.
// Decided in: the keeper's orders. Enforced by: the job's walls.
// Recorded as: JobStarted, JobFailed, JobExited.
#pragma once

#include <functional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "init/job.h"
#include "sys/signals.h"
#include "wire/control.h"

namespace bawn::init {

// Passes a frame on towards the keeper, with at most one descriptor (-1: none).
using Post = std::function<void(const wire::FromInit& frame, int fd)>;

class Watch {
 public:
  // Forks the main process. The descriptors in `start` stay the caller's to close.
  static Result<Watch> Fork(const Walls& walls, const JobStart& start);

  int pid() const { return pid_; }                // 0 once its end was seen
  int channel() const { return channel_.get(); }  // -1 when there is nothing more to read
  bool running() const { return running_; }       // exec succeeded and the end was not seen

  void OnChannel(const Post& post);
  // `left`: how many others of the job are known to live.
  void OnExit(const sys::Reaped& exit, uint32_t left, const Post& post);
  void Signal(int signal) const;  // to the foreground group of its terminal, else to its own group

 private:
  bool ReadOne(const Post& post);  // false: nothing more for now
  void OnEndOfChannel(const Post& post);

  uint32_t job_ = 0;
  int pid_ = 0;
  UniqueFd channel_;
  bool running_ = false;
  bool failed_ = false;
  wire::FromInit report_;  // the last frame that the child sent
  bool reported_ = false;
  UniqueFd master_;
};

}  // namespace bawn::init
