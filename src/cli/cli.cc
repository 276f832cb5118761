#include "cli/cli.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/commands.h"
#include "cli/help.h"
#include "sys/files.h"

namespace bawn::cli {
namespace {

constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;
constexpr int kBawnFailed = 125;
constexpr int kBrokenPipe = 128 + SIGPIPE;

using Command = Result<int> (*)(const Console&, const Invocation&, service::Bawn&);

// In the order of Verb.
constexpr std::array<Command, kVerbCount> kCommands = {
    RunCommand,     ShellCommand,  DiffCommand,        PublishCommand, ApplyCommand,
    DiscardCommand, ListCommand,   ShowCommand,        LogsCommand,    WhyCommand,
    PlanCommand,    DoctorCommand, CompletionsCommand, HelpCommand,    VersionCommand,
};

bool RunsJobs(Verb verb) { return verb == Verb::kRun || verb == Verb::kShell; }

// run and shell give the job's own code, so everything of ours is 125 there.
int ExitCodeOf(const Error& error, std::optional<Verb> verb) {
  if (verb && RunsJobs(*verb)) return kBawnFailed;
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return kWrongUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kConflict:
    case ErrorCode::kUnavailable:
      return kRefused;
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kSystem:
    case ErrorCode::kInternal:
      return kBawnFailed;
  }
  return kBawnFailed;
}

int Failed(const Console& console, const Error& error, std::optional<Verb> verb) {
  // Whoever read our output has gone: nobody wants to hear about it.
  if (error.sys_errno == EPIPE) return kBrokenPipe;
  console.SayError(error);
  return ExitCodeOf(error, verb);
}

// Only words that need no service and change nothing work inside.
Result<> RefuseInside(const Console& console, Verb verb) {
  std::string sandbox = console.Env("BAWN_SANDBOX");
  if (sandbox.empty() || verb == Verb::kHelp || verb == Verb::kVersion) return {};
  Error error = Fail(ErrorCode::kFailedPrecondition,
                     "already inside sandbox " + sandbox + " (BAWN_SANDBOX is set)",
                     "run the command itself here; bawn " + std::string(Row(verb).name) +
                         " belongs outside. Inside, bawn only knows --version and --help")
                    .error();
  error.rule = "cli.inside";
  return std::unexpected(std::move(error));
}

}  // namespace

int Main(const std::vector<std::string>& arguments, const Console& console, service::Bawn& bawn) {
  if (arguments.empty()) {
    (void)sys::WriteAll(console.err_fd, GeneralHelp());  // a stderr that is gone stops nothing
    return kWrongUsage;
  }
  std::optional<Verb> verb = VerbOf(arguments);
  Result<Invocation> invocation = Parse(arguments);
  if (!invocation) return Failed(console, invocation.error(), verb);
  if (invocation->Has(OptionId::kHelp)) {
    Result<> shown = console.Out(VerbHelp(*verb));
    return shown ? 0 : Failed(console, shown.error(), Verb::kHelp);
  }
  if (Result<> outside = RefuseInside(console, *verb); !outside) {
    return Failed(console, outside.error(), verb);
  }
  Result<int> code = kCommands[static_cast<size_t>(*verb)](console, *invocation, bawn);
  return code ? *code : Failed(console, code.error(), verb);
}

Console ProcessConsole(std::vector<std::string> environment) {
  Console console;
  console.in_terminal = isatty(STDIN_FILENO) == 1;
  console.out_terminal = isatty(STDOUT_FILENO) == 1;
  console.err_terminal = isatty(STDERR_FILENO) == 1;
  console.environment = std::move(environment);
  return console;
}

}  // namespace bawn::cli
