// init/exec.h
// execve of a payload with the search that a shell or execvp makes, in the job's own PATH, from
// behind every wall. Source: execve(2), execvp(3).
#pragma once

#include <string>
#include <vector>

namespace bawn::init {

struct ExecFailure {
  int sys_errno = 0;
  std::string text;  // says when it is the interpreter that is missing
};

// Returns only on failure.
ExecFailure ExecPayload(const std::vector<std::string>& argv, const std::vector<std::string>& env);

}  // namespace bawn::init
