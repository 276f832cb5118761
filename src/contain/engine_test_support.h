// contain/engine_test_support.h
// For tests only: a sandbox over real directories, built from a Plan written by hand, and jobs in
// it. As root it runs with ids from a range (outer 200000), else rootless with the caller's.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "contain/engine.h"
#include "contain/engines/native.h"
#include "plan/plan.h"
#include "wire/control.h"

namespace bawn::contain {

inline constexpr uint32_t kOuterId = 200000;
inline constexpr uint32_t kInnerId = 1000;

plan::Op MakeOp(plan::OpKind kind, std::string target);
plan::Op BindOp(const std::string& source, std::string target);

// A directory of the host with lower/, upper/ and work/, removed at the end with all its content.
class HostDir {
 public:
  HostDir();
  ~HostDir();
  HostDir(const HostDir&) = delete;
  HostDir& operator=(const HostDir&) = delete;
  std::string At(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  void Write(const std::string& name, const std::string& content) const;
  std::string Read(const std::string& name) const;

 private:
  std::string path_;
};

// What the canaries try to reach; alive for as long as this is.
class Witness {
 public:
  explicit Witness(const HostDir& dir);
  plan::CanaryTargets targets() const { return targets_; }

 private:
  plan::CanaryTargets targets_;
  UniqueFd pathname_socket_;
  UniqueFd abstract_socket_;
};

// How one job ended, as the frames told it.
struct JobResult {
  std::optional<wire::JobStarted> started;
  std::optional<wire::JobFailed> failed;
  std::optional<wire::JobExited> exited;
  std::string out;
  std::string err;
  int exit_code() const;  // -1: not exited, or by a signal
  int signal() const;     // 0: none
};

// A job under way: its output ends are held here.
struct LiveJob {
  uint32_t id = 0;
  UniqueFd out, err, pty;
};

class Enclosure {
 public:
  // `own_init`: pid 1 is a copy in `dir` that the sandbox's own user may write, as in an install
  // below a home.
  explicit Enclosure(bool own_init = false);
  ~Enclosure();

  HostDir dir;
  plan::Plan plan;  // changed by a test before Start()
  std::vector<UniqueFd> fds;

  void Prestart();  // its pid 1 waits for the Plan of the next Provision
  Result<> Provision();
  Result<> Start();  // provisions and waits for Ready
  wire::Ready ready;
  std::optional<wire::SetupFailed> setup_failed;

  plan::JobSpec Spec(std::vector<std::string> argv) const;
  LiveJob Launch(const plan::JobSpec& spec);
  JobResult Run(const plan::JobSpec& spec);
  JobResult Sh(const std::string& script) { return Run(Spec({"/bin/sh", "-c", script})); }
  JobResult Payload(std::vector<std::string> arguments);
  JobResult Finish(LiveJob* job, int deadline_ms = 60000);

  void Send(const wire::ToInit& frame);
  // The next frame within the deadline; nothing at the end of the socket or of time.
  std::optional<wire::FromInit> Next(int deadline_ms, UniqueFd* fd = nullptr);
  Sandbox& sandbox() { return *sandbox_; }
  NativeEngine& engine() { return engine_; }
  bool Gone(int deadline_ms);  // pid 1's pidfd becomes readable

  static std::string ProgramPath(const std::string& name);  // a program of this build

 private:
  Witness witness_;
  NativeEngine engine_;
  std::optional<Sandbox> sandbox_;
  uint32_t last_job_ = 0;
  UniqueFd plan_file_;
};

bool IsRoot();
int ParseInt(std::string_view text);           // -1 when it does not start with a number
void RemoveHostTree(const std::string& path);  // also what overlayfs leaves with mode 000
std::string ReadToEnd(int fd, int deadline_ms);

}  // namespace bawn::contain
