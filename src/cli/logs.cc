#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "cli/commands.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::cli {
namespace {

constexpr size_t kChunkBytes = 256 << 10;

// How many bytes at the end of `text` may be the start of a UTF-8 sequence or of CR LF that the
// next chunk completes.
size_t Unfinished(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // a continuation: look further back for its lead
    size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

// A pty ends its lines with CR LF; the CR is the terminal's, not the text's.
std::string WithoutCarriageReturns(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i];
  }
  return out;
}

// Content on a terminal is escaped as names are (RT-28).
Result<> ShowSafely(const Console& console, int fd) {
  std::string rest, chunk(kChunkBytes, '\0');
  if (lseek(fd, 0, SEEK_SET) < 0) return FailErrno(errno, "lseek(kept output)");
  while (true) {
    size_t got = BAWN_TRY(sys::Read(fd, chunk.data(), chunk.size()));
    rest.append(chunk, 0, got);
    size_t keep = got == 0 ? 0 : Unfinished(rest);
    std::string_view whole(rest.data(), rest.size() - keep);
    BAWN_CHECK_OK(console.Out(TerminalSafe(WithoutCarriageReturns(whole))));
    rest.erase(0, rest.size() - keep);
    if (got == 0) return {};
  }
}

}  // namespace

Result<int> LogsCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  std::string stream = invocation.Has(OptionId::kStdout)   ? "out"
                       : invocation.Has(OptionId::kStderr) ? "err"
                                                           : "both";
  if (!console.out_terminal) {
    BAWN_CHECK_OK(bawn.Logs(SelectorOf(invocation), stream, console.out_fd));
    return 0;
  }
  // One thread and no child: the whole of what is kept (64 MiB unless --output said more) is held
  // before it is shown.
  UniqueFd kept = BAWN_TRY(sys::Memfd("bawn-logs"));
  BAWN_CHECK_OK(bawn.Logs(SelectorOf(invocation), stream, kept.get()));
  BAWN_CHECK_OK(ShowSafely(console, kept.get()));
  return 0;
}

}  // namespace bawn::cli
