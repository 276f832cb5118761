#include <signal.h>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/pager.h"

namespace bawn::cli {
namespace {

constexpr int kBrokenPipe = 128 + SIGPIPE;

service::DiffOptions OptionsOf(const Console& console, const Invocation& invocation) {
  service::DiffOptions options;
  options.sandbox = SelectorOf(invocation);
  options.stat = invocation.Has(OptionId::kStat);
  options.names_only = invocation.Has(OptionId::kNames);
  options.nul_terminated = invocation.Has(OptionId::kNul);
  options.digest_only = invocation.Has(OptionId::kDigestOnly);
  options.json = invocation.Has(OptionId::kJson);
  options.include_ignored = invocation.Has(OptionId::kIgnored);
  options.paths = invocation.Texts(OptionId::kPath);
  options.colour = console.Colour();
  options.terminal = console.out_terminal;
  options.text_fd = console.out_fd;
  return options;
}

// Diff through a pager where there is one for it; a reader that left early is no failure.
Result<Json> Shown(const Console& console, service::DiffOptions options, service::Bawn& bawn,
                   bool* reader_gone) {
  bool text = !options.json && !options.digest_only && !options.nul_terminated;
  std::string command = text ? PagerCommand(console) : std::string();
  if (command.empty()) {
    Result<Json> answer = bawn.Diff(options);
    *reader_gone = !answer && ReaderGone(console.out_fd);
    return answer;
  }
  Pager pager = BAWN_TRY(Pager::Start(console, command));
  options.text_fd = pager.text_fd();
  Result<Json> answer = bawn.Diff(options);
  *reader_gone = !answer && ReaderGone(pager.text_fd());
  BAWN_CHECK_OK(pager.Finish());
  return answer;
}

// The last line on stderr: which sandbox this was, and what binds a publish to it.
void SayWhich(const Console& console, const Json& answer) {
  std::string line = TextAt(answer, "sandbox_name");
  uint64_t paths = CountAt(answer, "paths");
  line += paths == 0 ? ": no changes" : ": " + Plural(paths, "path") + " changed";
  if (uint64_t ignored = CountAt(answer, "ignored"); ignored > 0) {
    line += ", and " + std::to_string(ignored) + " that git ignores (bawn diff --ignored)";
  }
  console.Say(line);
  for (const Json& path : ArrayAt(answer, "direct_writes")) {
    if (const std::string* text = path.AsString()) {
      console.Say("written without review (--rw), not shown here: " + *text);
    }
  }
  std::string digest = TextAt(answer, "digest");
  if (!digest.empty()) console.Say("digest " + digest);
}

}  // namespace

Result<int> DiffCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  service::DiffOptions options = OptionsOf(console, invocation);
  bool reader_gone = false;
  Result<Json> answer = Shown(console, options, bawn, &reader_gone);
  if (reader_gone) return console.out_terminal ? 0 : kBrokenPipe;
  if (!answer) return std::unexpected(std::move(answer).error());
  SayRecovered(console, *answer);
  bool quiet = options.json || options.digest_only || options.names_only;
  if (!quiet) SayWhich(console, *answer);
  return invocation.Has(OptionId::kExitCode) && CountAt(*answer, "paths") > 0 ? 1 : 0;
}

}  // namespace bawn::cli
