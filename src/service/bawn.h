// service/bawn.h
// What Bawn can be asked to do: one abstract class, one method per verb (DESIGN 3). cli/ (and later
// mcp/, http/) take a reference and do not know whether it is local or remote. The local
// implementation is one file per verb beside this one.
// Threads: one caller at a time. Text for people is the caller's work: methods return values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/decision.h"
#include "plan/level.h"
#include "plan/plan.h"
#include "plan/receipt.h"

namespace bawn::service {

struct LimitOptions {
  std::optional<uint64_t> memory_bytes, cpus_milli, pids, disk_bytes, inodes, time_ms, idle_ms;
  std::optional<uint64_t> output_bytes;
  std::vector<std::string> best_effort;
};

struct RunOptions {
  std::vector<std::string> argv;  // empty: the user's shell
  std::string workspace;          // -w; empty: found
  bool ephemeral = false;
  bool keep = false;
  std::optional<uint64_t> keep_for_ms;
  std::string in_sandbox;  // --in: id, name, "@last" or empty
  std::string name;
  std::optional<plan::Level> level;
  std::vector<std::string> ro, rw, hide, show, env, pass_env, secrets;
  LimitOptions limits;
  std::string profile;
  std::string receipt_file;
  std::optional<int> status_fd;
  bool quiet = false;
  bool no_log = false;
  std::optional<bool> tty;  // -t / -T
};

// What `run` says while it goes: the caller prints (or not).
using Notice = std::function<void(const std::string& line)>;

struct RunResult {
  plan::Receipt receipt;
  int exit_code = 125;
  std::string message;  // the one `bawn: …` line when the code is Bawn's own; empty otherwise
  uint64_t pending_changes = 0;
};

struct PlanResult {
  plan::Plan plan;
  plan::JobSpec job;
  std::vector<plan::Decision> decisions;
  std::vector<std::string> notes;
};

struct SandboxSelector {
  std::string name;       // id, readable name, "@last", or empty
  std::string workspace;  // -w; empty: found from the current directory
};

struct DiffOptions {
  SandboxSelector sandbox;
  bool stat = false, names_only = false, digest_only = false, json = false;
  bool nul_terminated = false;  // --names -z
  bool colour = false, terminal = false, include_ignored = false;
  std::vector<std::string> paths;
  int text_fd = 1;
};

struct PublishOptions {
  SandboxSelector sandbox;
  std::string branch, message, reviewed;
  bool unreviewed = false, squash = false, include_dirty = false, update_tree = false;
  bool merge = false, lfs = false;
  std::vector<std::string> paths, yes_paths;
};

struct ApplyOptions {
  SandboxSelector sandbox;
  std::string reviewed;
  bool unreviewed = false, undo = false, merge = false;
  std::vector<std::string> paths, yes_paths;
};

struct DiscardOptions {
  SandboxSelector sandbox;
  bool all = false;
  std::optional<uint64_t> older_ms;
};

// Asked between prepare and commit with the worker's Prepared answer; false: nothing happens.
using Confirm = std::function<bool(const Json& prepared)>;

class Bawn {
 public:
  virtual ~Bawn() = default;
  virtual Result<RunResult> Run(const RunOptions& options, const Notice& notice) = 0;
  virtual Result<PlanResult> Plan(const RunOptions& options) = 0;
  virtual Result<Json> Diff(const DiffOptions& options) = 0;
  virtual Result<Json> Publish(const PublishOptions& options, const Confirm& confirm) = 0;
  virtual Result<Json> Apply(const ApplyOptions& options, const Confirm& confirm) = 0;
  virtual Result<Json> Discard(const DiscardOptions& options, const Confirm& confirm) = 0;
  virtual Result<Json> List(const std::string& workspace, bool everywhere) = 0;
  virtual Result<Json> Show(const SandboxSelector& sandbox) = 0;  // meta + newest receipt
  virtual Result<Json> Why(const SandboxSelector& sandbox) = 0;   // decisions, denials, layers
  // Copies kept output to `fd`; `stream` is "out", "err" or "both".
  virtual Result<> Logs(const SandboxSelector& sandbox, const std::string& stream, int fd) = 0;
  virtual Result<Json> Doctor() = 0;  // the status object of DESIGN 8
};

// `environment`: the caller's, as "NAME=value".
std::unique_ptr<Bawn> MakeLocalBawn(std::vector<std::string> environment);

}  // namespace bawn::service
