#include <fcntl.h>

#include "cli/commands.h"

namespace bawn::cli {
namespace {

Result<> CheckStatusFd(const service::RunOptions& options) {
  if (!options.status_fd || fcntl(*options.status_fd, F_GETFD) >= 0) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "--status-fd: descriptor " + std::to_string(*options.status_fd) + " is not open",
              "open it in the shell: bawn run --status-fd 3 … 3>status.json");
}

// "3 files changed in brave-otter-k3f; review: bawn diff"; empty when nothing waits for review.
std::string ChangesLine(const service::RunOptions& options, const service::RunResult& result) {
  const plan::WorkspaceReport& workspace = result.receipt.workspace;
  uint64_t changed = result.pending_changes;
  if (workspace.added && workspace.modified && workspace.deleted) {
    changed = *workspace.added + *workspace.modified + *workspace.deleted;
  }
  if (changed == 0 || options.ephemeral) return {};
  const std::string& name =
      result.receipt.sandbox_name.empty() ? result.receipt.sandbox_id : result.receipt.sandbox_name;
  // Without a name `bawn diff` means the newest of the work tree it is called in: this one, unless
  // another was named.
  bool newest_here = options.in_sandbox.empty() && options.workspace.empty();
  return std::to_string(changed) + (changed == 1 ? " file" : " files") + " changed in " + name +
         "; review: bawn diff" + (newest_here ? "" : " " + name);
}

Result<int> Start(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  service::RunOptions options = RunOptionsOf(invocation);
  BAWN_CHECK_OK(CheckStatusFd(options));
  service::Notice notice = [&](const std::string& line) {
    if (!options.quiet) console.Say(line);
  };
  service::RunResult result = BAWN_TRY(bawn.Run(options, notice));
  // Said even when quiet: a code of ours always comes with its line (RT-33).
  if (!result.message.empty()) console.Say(result.message);
  std::string changes = ChangesLine(options, result);
  if (!changes.empty() && !options.quiet) console.Say(changes);
  return result.exit_code;
}

}  // namespace

Result<int> RunCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  BAWN_ASSERT(!invocation.operands.empty());  // empty would mean a shell to the service
  return Start(console, invocation, bawn);
}

Result<int> ShellCommand(const Console& console, const Invocation& invocation,
                         service::Bawn& bawn) {
  BAWN_ASSERT(invocation.operands.empty());
  return Start(console, invocation, bawn);
}

}  // namespace bawn::cli
