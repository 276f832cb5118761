// launch/kept.h
// A sandbox that outlives the command that made it (`--keep`): bawn-keeper is the parent of its pid
// 1 and serves clients at `keeper.sock` in the sandbox's private directory. A client speaks the
// frames of wire/control.h: the keeper's first packet is Ready with a pidfd of pid 1, then the
// client may start one job; frames about that job come back. When a client's connection ends, its
// job is killed and the sandbox stays (DESIGN 4). KillJob{0} ends the sandbox. The lock of the
// sandbox's directory is held by the keeper for its whole life.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "contain/engine.h"

namespace bawn::launch {

inline constexpr uint64_t kKeepForMsDefault = 600'000;             // without a job: 10 min
inline constexpr uint64_t kKeptHardLimitMs = 24ULL * 3600 * 1000;  // of the sandbox as a whole
inline constexpr size_t kClientsMax = 64;
inline constexpr const char* kKeeperSocket = "keeper.sock";

struct KeptSandbox {
  contain::Engine* engine = nullptr;
  contain::ProvisionRequest provision;
  UniqueFd listener;  // SOCK_SEQPACKET, already bound
  uint64_t keep_for_ms = kKeepForMsDefault;
};

// Serves until the sandbox ends: by KillJob{0}, by `keep_for_ms` without a job, by the hard limit
// or because pid 1 died. Everything of the sandbox is gone when this returns.
Result<> ServeKept(KeptSandbox kept);

// The client's side as an Engine: Provision connects, Execute starts the one job, Destroy kills
// what is left of the job (never the sandbox).
class AttachedEngine final : public contain::Engine {
 public:
  explicit AttachedEngine(UniqueFd connection) : connection_(std::move(connection)) {}
  Result<contain::Capabilities> Query() override;
  Result<contain::Sandbox> Provision(contain::ProvisionRequest request) override;
  Result<> Execute(const contain::Sandbox& sandbox, uint32_t job, int spec_memfd,
                   contain::JobStreams streams) override;
  Result<> Destroy(contain::Sandbox* sandbox, int deadline_ms) override;

 private:
  UniqueFd connection_;
  uint32_t job_ = 0;
};

// Connects to the keeper of a live sandbox; kUnavailable when there is none.
Result<UniqueFd> ConnectKeeper(int sandbox_fd);
// Ends a live sandbox and waits until its keeper is gone, at most `deadline_ms`.
Result<> EndKept(int sandbox_fd, int deadline_ms);

}  // namespace bawn::launch
