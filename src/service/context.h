// service/context.h
// What one invocation knows of its caller and of the machine: gathered once, passed by reference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "policy/compile.h"
#include "sys/users.h"
#include "workspace/repository.h"
#include "workspace/state.h"

namespace bawn::service {

struct Caller {
  std::vector<std::string> environment;  // "NAME=value"
  sys::Credentials ids;
  sys::PasswdEntry user;  // synthesised from the environment when /etc/passwd has no line
  std::string home;       // real path, empty when there is none
  std::string cwd;        // real path

  // The value of a variable; empty when unset.
  std::string Env(std::string_view name) const;
};

Result<Caller> IdentifyCaller(std::vector<std::string> environment);
Result<workspace::StateDir> OpenState(const Caller& caller);

// Looks once at every path policy asks for.
plan::HostFacts GatherHostFacts(const Caller& caller, const std::vector<policy::ProbePath>& paths);

// The profile in force: `name` (empty: BAWN_PROFILE, else "default"), built-in first, then the
// operator's and the user's directory, compiled by bawn-policy and cached by digest.
Result<policy::Policy> LoadProfile(const Caller& caller, const workspace::StateDir& state,
                                   const std::string& name);

// A path option made absolute against the caller's directory, "~/" expanded.
std::string AbsolutePath(const Caller& caller, const std::string& path);

}  // namespace bawn::service
