// contain/engines/fake.h
// An engine without processes, for unit tests of what stands above engines: it answers with frames
// that the test scripts, and remembers the orders it was given. Never linked into a program.
// Threads: one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "contain/engine.h"
#include "plan/plan.h"

namespace bawn::contain {

struct FakeScript {
  std::vector<wire::FromInit> on_provision = {wire::Ready{}};
  // Frames of a job are given its number.
  std::vector<wire::FromInit> on_execute = {wire::JobStarted{}, wire::JobExited{}};
  plan::Level highest = plan::Level::kIsolated;
  bool destroy_hangs = false;  // Destroy is kDeadlineExceeded at once
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(FakeScript script) : script_(std::move(script)) {}

  Result<Capabilities> Query() override;
  Result<Sandbox> Provision(ProvisionRequest request) override;
  Result<> Execute(const Sandbox& sandbox, uint32_t job, int spec_memfd,
                   JobStreams streams) override;
  Result<> Destroy(Sandbox* sandbox, int deadline_ms) override;

  // Pid 1's half. `fd` >= 0 goes with the frame.
  Result<> Push(const wire::FromInit& frame, int fd = -1);
  Result<std::vector<wire::ToInit>> Orders();  // what came on the control socket since last asked
  void Die();                                  // the sandbox ends by itself

  const std::vector<plan::JobSpec>& jobs() const { return jobs_; }  // decoded, in order
  // The write ends of the last job's stdout and stderr, for a test to write output to.
  JobStreams& streams() { return streams_; }

 private:
  FakeScript script_;
  UniqueFd control_;  // pid 1's end
  UniqueFd alive_;    // held while "pid 1" lives: the other end becomes readable when it goes
  std::vector<plan::JobSpec> jobs_;
  JobStreams streams_;
};

}  // namespace bawn::contain
