// policy/compile.h
// Decision + job spec -> Plan: the one place where what the payload will see and may do is decided.
// Pure: everything it knows of the machine comes in as facts.
// Enforced in: contain/, init/. Recorded as: the receipt's layers, limits and policy.
//
// The order of the Plan's ops: system software, /etc, /dev, /proc, /sys, scratch and home, what was
// asked for and toolchains (parents before children), the workspace's own ops, covers, secrets.
// No op makes a mount point: the enforcer makes the target of every mount (a directory or, for the
// bind of a file, an empty file) where the view has none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/decision.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "policy/policy.h"

namespace bawn::policy {

// What the command line adds to the profile (each is also a Decision with file "command line").
struct JobRequest {
  std::vector<std::string> argv;
  std::string cwd;                                           // in the view; empty: the workspace
  std::vector<std::string> ro, rw, hide, show;               // absolute paths
  std::vector<std::string> env;                              // "N=V"
  std::vector<std::string> pass_env;                         // names
  std::vector<std::pair<std::string, std::string>> secrets;  // name, value (read by service)
  std::optional<plan::Level> level;                          // exactly this
  Limits limits;
  bool pty = false;
  bool keep = false;
  std::string term;
  // A directory of the sandbox's own on the host (below its state): where `restricted` puts HOME
  // and TMPDIR, and where caches named by the profile get their uppers. Empty: neither is
  // available.
  std::string private_dir;
};

struct Compiled {
  plan::Plan plan;
  plan::JobSpec job;
  std::vector<plan::Decision> decisions;  // allows and denials, for `bawn plan` and `why`
  std::vector<std::string> direct_writes;
  std::vector<std::string> covered;  // protected paths hidden in the view
  Limits limits;                     // in force
  // Host directories below JobRequest::private_dir that the caller makes (0700) before the Plan is
  // applied. Parents first.
  std::vector<std::string> make_dirs;
};

// Every host path whose existence or content Compile wants to know: view tables, toolchain rows,
// profile and request paths. Sorted, without duplicates.
struct ProbePath {
  std::string path;
  bool content =
      false;  // a regular file of at most kEtcCopyBytesMax: read it; larger: content empty
  bool children = false;  // a directory: a fact (with content) for each entry too, at most 64
  bool follow =
      false;  // a symlink: a fact (with content) for every further path of its chain, at most 8
};
std::vector<ProbePath> PathsToProbe(const Policy& policy, const JobRequest& request,
                                    const std::string& home);

// Refusals carry rule and remedy. kUnavailable when the level asked for cannot be compiled.
Result<Compiled> Compile(const Policy& policy, const JobRequest& request,
                         const plan::HostFacts& host, const plan::WorkspaceFacts& workspace,
                         const std::string& sandbox_id, plan::Level level);

}  // namespace bawn::policy
