// init/jobs.h
// A job as pid 1 sees it: its direct child is the job's main process, or, with job domains, the
// job's guard, whose frames are checked and passed on.
// Decided in: the keeper's orders. Enforced by: the job's domain.
// Recorded as: JobExited, JobKilled.
#pragma once

#include <memory>

#include "init/watch.h"

namespace bawn::init {

class Job {
 public:
  enum class Rest { kNothing, kUnknown };  // what a job whose child was reaped may have left
  virtual ~Job() = default;
  virtual int pid() const = 0;
  virtual int channel() const = 0;
  virtual bool has_deadline() const { return false; }
  virtual void OnChannel(const Post& post) = 0;
  virtual Rest OnExit(const sys::Reaped& exit, const Post& post) = 0;
  virtual void OnTimer(const Post& /*post*/) {}
  virtual void Signal(uint32_t signal) = 0;
  virtual void Kill(const Post& post) = 0;  // answered by JobKilled, at once or later
};

Result<std::unique_ptr<Job>> StartPlainJob(const Walls& walls, const JobStart& start);
Result<std::unique_ptr<Job>> StartGuardedJob(const Walls& walls, const JobStart& start);

}  // namespace bawn::init
