// Invocation -> the service's options, for the verbs that start a job or would.
#include "base/result.h"
#include "cli/commands.h"

namespace bawn::cli {
namespace {

// "memory,cpu" as given, maybe several times.
std::vector<std::string> Split(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (size_t at = 0; at <= list.size();) {
      size_t comma = std::min(list.find(',', at), list.size());
      names.push_back(list.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return names;
}

service::LimitOptions LimitsOf(const Invocation& invocation) {
  service::LimitOptions limits;
  limits.memory_bytes = invocation.Number(OptionId::kMemory);
  limits.cpus_milli = invocation.Number(OptionId::kCpu);
  limits.pids = invocation.Number(OptionId::kPids);
  limits.disk_bytes = invocation.Number(OptionId::kDisk);
  limits.inodes = invocation.Number(OptionId::kInodes);
  limits.time_ms = invocation.Number(OptionId::kTimeout);
  limits.idle_ms = invocation.Number(OptionId::kIdleTimeout);
  limits.output_bytes = invocation.Number(OptionId::kOutput);
  limits.best_effort = Split(invocation.Texts(OptionId::kBestEffort));
  return limits;
}

}  // namespace

service::RunOptions RunOptionsOf(const Invocation& invocation) {
  service::RunOptions options;
  options.argv = invocation.operands;
  options.workspace = invocation.Text(OptionId::kWorkspace);
  options.ephemeral = invocation.Has(OptionId::kEphemeral);
  options.keep_for_ms = invocation.Number(OptionId::kKeepFor);
  options.keep = invocation.Has(OptionId::kKeep) || options.keep_for_ms.has_value();
  options.in_sandbox = invocation.Text(OptionId::kIn);
  options.name = invocation.Text(OptionId::kName);
  if (invocation.Has(OptionId::kLevel)) {
    options.level = plan::ParseLevel(invocation.Text(OptionId::kLevel));
    BAWN_ASSERT(options.level.has_value());  // the parser checked it
  }
  options.ro = invocation.Texts(OptionId::kRo);
  options.rw = invocation.Texts(OptionId::kRw);
  options.hide = invocation.Texts(OptionId::kHide);
  options.show = invocation.Texts(OptionId::kShow);
  options.env = invocation.Texts(OptionId::kEnv);
  options.pass_env = invocation.Texts(OptionId::kPassEnv);
  options.secrets = invocation.Texts(OptionId::kSecret);
  options.limits = LimitsOf(invocation);
  options.profile = invocation.Text(OptionId::kProfile);
  options.receipt_file = invocation.Text(OptionId::kReceipt);
  if (std::optional<uint64_t> fd = invocation.Number(OptionId::kStatusFd)) {
    options.status_fd = static_cast<int>(*fd);
  }
  options.quiet = invocation.Has(OptionId::kQuiet);
  options.no_log = invocation.Has(OptionId::kNoLog);
  if (invocation.Has(OptionId::kTty)) options.tty = true;
  if (invocation.Has(OptionId::kNoTty)) options.tty = false;
  return options;
}

service::SandboxSelector SelectorOf(const Invocation& invocation) {
  return {invocation.Operand(), invocation.Text(OptionId::kWorkspace)};
}

}  // namespace bawn::cli
