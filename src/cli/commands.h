// cli/commands.h
// One function per verb, one file each. They return the exit code, or an error that Main prints and
// turns into one (DESIGN 8, "CLI").
#pragma once

#include "base/result.h"
#include "cli/console.h"
#include "cli/parse.h"
#include "service/bawn.h"

namespace bawn::cli {

Result<int> RunCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> ShellCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> DiffCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> PublishCommand(const Console& console, const Invocation& invocation,
                           service::Bawn& bawn);
Result<int> ApplyCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> DiscardCommand(const Console& console, const Invocation& invocation,
                           service::Bawn& bawn);
Result<int> ListCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> ShowCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> LogsCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> WhyCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> PlanCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> DoctorCommand(const Console& console, const Invocation& invocation,
                          service::Bawn& bawn);
Result<int> CompletionsCommand(const Console& console, const Invocation& invocation,
                               service::Bawn& bawn);
Result<int> HelpCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn);
Result<int> VersionCommand(const Console& console, const Invocation& invocation,
                           service::Bawn& bawn);

// The options that run, shell and plan share.
service::RunOptions RunOptionsOf(const Invocation& invocation);
service::SandboxSelector SelectorOf(const Invocation& invocation);

}  // namespace bawn::cli
