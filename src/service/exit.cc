// The exit codes of `run` (DESIGN 8) and the one line that goes with a code of Bawn's own.
#include <cerrno>

#include "base/text.h"
#include "service/session.h"

namespace bawn::service {
namespace {

constexpr int kTimedOut = 124;
constexpr int kFailed = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
constexpr int kKilledByLimit = 137;
constexpr int kSignalBase = 128;
constexpr int kSigInt = 2;
constexpr int kSigPipe = 13;
constexpr int kSigSys = 31;

// "bad system call": another architecture's calls are killed, everything else gets an errno.
constexpr std::string_view kSigSysHint =
    "a 32-bit program: its system calls are not let through (docs/guide/troubleshooting.md)";

void SetRefused(const launch::JobReport& report, const std::vector<std::string>& command,
                RunResult* result) {
  std::string program = EscapeName(command.empty() ? "" : command.front());
  if (report.failure_stage == "exec" && report.failure_errno == ENOENT) {
    result->exit_code = kNotFound;
    result->message = report.failure.empty() ? program + ": not found in the sandbox"
                                             : TerminalSafe(report.failure);
    return;
  }
  if (report.failure_stage == "exec") {
    result->exit_code = kNotExecutable;
    result->message = TerminalSafe(report.failure);
    return;
  }
  result->exit_code = kFailed;
  result->message = "the sandbox could not be made (" + TerminalSafe(report.failure_stage) +
                    "): " + TerminalSafe(report.failure) + "; nothing ran";
}

}  // namespace

void SetExit(const launch::JobReport& report, const std::vector<std::string>& command,
             RunResult* result) {
  plan::Outcome& outcome = result->receipt.outcome;
  if (report.output_broken && report.output_errno != EPIPE) {
    result->exit_code = kFailed;
    result->message = "the job's output could not be written (" + ErrnoName(report.output_errno) +
                      "), so it was ended";
    return;
  }
  if (report.output_broken) {
    result->exit_code = kSignalBase + kSigPipe;
    return;
  }
  switch (outcome.kind) {
    case plan::OutcomeKind::kExited:
      result->exit_code = outcome.exit_code;
      return;
    case plan::OutcomeKind::kSignaled:
      result->exit_code = kSignalBase + outcome.signal;
      if (outcome.signal == kSigSys) outcome.hint = kSigSysHint;
      if (!outcome.hint.empty()) result->message = outcome.hint;
      return;
    case plan::OutcomeKind::kKilled: {
      bool time = outcome.killed_by == plan::KilledBy::kTimeout ||
                  outcome.killed_by == plan::KilledBy::kIdleTimeout;
      result->exit_code = time ? kTimedOut : kKilledByLimit;
      result->message =
          "the job was ended by its limit: " + std::string(plan::KilledByName(outcome.killed_by));
      return;
    }
    case plan::OutcomeKind::kCancelled:
      // By the signal that asked for it; without one, as an interrupt key would.
      result->exit_code = kSignalBase + (outcome.signal != 0 ? outcome.signal : kSigInt);
      result->message = outcome.hint;
      return;
    case plan::OutcomeKind::kInterrupted:
      result->exit_code = kFailed;
      result->message = "the sandbox was lost before its job ended (" +
                        TerminalSafe(report.failure_stage) + "): " + TerminalSafe(report.failure);
      return;
    case plan::OutcomeKind::kSetupFailed:
      SetRefused(report, command, result);
      return;
  }
}

}  // namespace bawn::service
