// policy/compile.h
// Decision + job spec -> Plan: the one place where what the payload will see and may do is decided.
// Pure: everything it knows of the machine comes in as facts.
// Enforced in: contain/, init/. Recorded as: the receipt's layers, limits and policy.
#pragma once

#include <string>
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
  std::string cwd;  // in the view
  std::vector<std::string> ro, rw, hide, show;       // absolute paths
  std::vector<std::string> env;                      // "N=V"
  std::vector<std::string> pass_env;                 // names
  std::vector<std::pair<std::string, std::string>> secrets;  // name, value (read by service)
  std::optional<plan::Level> level;                  // exactly this
  Limits limits;
  bool pty = false;
  bool keep = false;
  std::string term;
};

struct Compiled {
  plan::Plan plan;
  plan::JobSpec job;
  std::vector<plan::Decision> decisions;  // allows and denials, for `bawn plan` and `why`
  std::vector<std::string> direct_writes;
  std::vector<std::string> covered;       // protected paths hidden in the view
  Limits limits;                          // in force
};

// Every host path whose existence or content Compile wants to know: view tables, toolchain rows,
// profile and request paths. Sorted, without duplicates. `content` marks files to read.
struct ProbePath {
  std::string path;
  bool content = false;
};
std::vector<ProbePath> PathsToProbe(const Policy& policy, const JobRequest& request,
                                    const std::string& home);

// Refusals carry rule and remedy. kUnavailable when the level asked for cannot be compiled.
Result<Compiled> Compile(const Policy& policy, const JobRequest& request,
                         const plan::HostFacts& host, const plan::WorkspaceFacts& workspace,
                         const std::string& sandbox_id, plan::Level level);

}  // namespace bawn::policy
