// contain/engine.h
// An engine provisions, executes and destroys (DESIGN 3). Its values hold ids, descriptors and
// digests, never a host path: real paths live only in the native Plan, which crosses here as one
// sealed descriptor. Implementations: engines/native.h, engines/fake.h (unit tests only).
// Threads: one; the native engine clones, so the caller has one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "contain/cgroup.h"
#include "plan/level.h"
#include "wire/control.h"

namespace bawn::contain {

// A provisioned sandbox: its pid 1. Owned by the keeper. Dropping the control socket makes init end
// everything (RT-22); Engine::Destroy does it at once and proves it.
struct Sandbox {
  std::string id;
  UniqueFd control;  // SOCK_SEQPACKET, frames of wire/control.h
  UniqueFd pid1;     // pidfd; readable when pid 1 is gone and with it every process of the sandbox
  int pid1_number = 0;  // for display only
  // Below `isolated` "pid 1" is no such thing: it ends the others itself, at the end of `control`,
  // and must not be killed before it has.
  bool has_pid_namespace = true;
  bool stands = false;                  // it was joined: pid 1 has said before that jobs may run
  std::optional<Cgroup> group;          // at `bounded`; ended by Destroy
  std::vector<wire::LayerFact> layers;  // what the engine itself read back
  TreeUsage usage;                      // of `group`, read by Destroy before it went
};

struct ProvisionRequest {
  std::string sandbox_id;
  UniqueFd plan;              // sealed memfd: EncodePlan
  std::vector<UniqueFd> fds;  // what Source::fd_slot names
  // Root mode: the identity map's outer base; absent rootless (the map is the caller's own id).
  struct IdRange {
    uint32_t outer_uid = 0;
    uint32_t outer_gid = 0;
    uint32_t count = 0;
  };
  std::optional<IdRange> ids;
  std::optional<Cgroup> group;  // at `bounded`: limits set, nobody in it yet
};

// The three standard streams of a job, or none of them when its JobSpec asks for a pty.
struct JobStreams {
  UniqueFd in, out, err;
};

struct Capabilities {
  plan::Level highest = plan::Level::kNone;
  std::string name;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual Result<Capabilities> Query() = 0;
  // Starts pid 1 of the next sandbox at level `isolated`, rootless, while its Plan is still being
  // made: it waits. `plan` is the memfd that Provision's request will hold, filled by then;
  // borrowed. A hint: what fails here fails in Provision again, and a pid 1 that no Provision takes
  // is ended.
  virtual void Prestart(int plan) { (void)plan; }
  // Starts pid 1 and lets it build. Does not wait: Ready or SetupFailed comes on `control`.
  virtual Result<Sandbox> Provision(ProvisionRequest request) = 0;
  // Asks pid 1 to start a job. JobStarted or JobFailed, then JobExited come on `control`.
  virtual Result<> Execute(const Sandbox& sandbox, uint32_t job, int spec_memfd,
                           JobStreams streams) = 0;
  // Kills pid 1 by its pidfd and waits until it is reaped, at most `deadline_ms`. Everything in the
  // sandbox is gone then (pid_namespaces(7)). kDeadlineExceeded names what remains.
  virtual Result<> Destroy(Sandbox* sandbox, int deadline_ms) = 0;
};

}  // namespace bawn::contain
