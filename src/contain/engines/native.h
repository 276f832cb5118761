// contain/engines/native.h
// The engine over clone3: seven new namespaces, one exec of bawn-init, and that is all that happens
// outside. bawn-init is executed from a read-only detached mount, so that no /proc/PID/exe inside
// can ever be opened for writing (RT-01, CVE-2019-5736). Threads: one. Privilege: rootless, or root
// with ProvisionRequest::ids.
// Decided in: policy/ (the Plan). Enforced by: the kernel's namespaces, and pid 1 within them.
// Recorded as: engine "native", and the layers of Ready.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "contain/engine.h"
#include "contain/engines/start_init.h"
#include "sys/processes.h"

namespace bawn::contain {

class NativeEngine : public Engine {
 public:
  // `init_program`: bawn-init, opened for reading (sys::OpenSibling).
  explicit NativeEngine(UniqueFd init_program) : program_(std::move(init_program)) {}

  ~NativeEngine() override;
  NativeEngine(const NativeEngine&) = delete;
  NativeEngine& operator=(const NativeEngine&) = delete;

  Result<Capabilities> Query() override;
  void Prestart(int plan) override;
  Result<Sandbox> Provision(ProvisionRequest request) override;
  Result<> Execute(const Sandbox& sandbox, uint32_t job, int spec_memfd,
                   JobStreams streams) override;
  Result<> Destroy(Sandbox* sandbox, int deadline_ms) override;

 private:
  // A pid 1 that was started and waits for the word to build.
  struct Waiting {
    sys::Child child;
    UniqueFd control;
  };
  Result<Waiting> Start(InitStart start, int cgroup_fd);
  void EndWaiting();

  UniqueFd program_;
  std::optional<Waiting> waiting_;
};

}  // namespace bawn::contain
