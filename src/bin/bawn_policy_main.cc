// bawn-policy: compiles the text of a profile to the binary form that every other program reads, so
// that none of them links YAML (DESIGN 4).
//
//   bawn-policy [--name NAME] [--as FILE] [FILE | -]
//
// Reads FILE, or standard input; writes policy/binary.h's form to standard output. NAME is what
// other profiles call it (else FILE without directory and ".yaml"); --as is the name for
// diagnostics and decisions. Faults go to standard error as "file:line: message", all of them, and
// nothing is written. Exit: 0 done, 1 refused, 2 usage, 125 failure.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "policy/binary.h"
#include "policy/read/profile.h"
#include "sys/files.h"

namespace bawn {
namespace {

struct Options {
  std::string input = "-";
  std::string name;
  std::string shown;
};

int Say(int code, const std::string& text) {
  std::fprintf(stderr, "bawn-policy: %s\n", TerminalSafe(text).c_str());
  return code;
}

// "/etc/bawn/profiles/ci.yaml" -> "ci".
std::string NameOf(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::string_view ending : {".yaml", ".yml"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return std::string(name);
}

bool ParseArguments(const std::vector<std::string_view>& arguments, Options* options) {
  bool have_input = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool takes_value = arguments[i] == "--name" || arguments[i] == "--as";
    if (takes_value && i + 1 < arguments.size()) {
      (arguments[i] == "--name" ? options->name : options->shown) = arguments[i + 1];
      ++i;
    } else if (!have_input && (arguments[i] == "-" || !arguments[i].starts_with('-'))) {
      options->input = arguments[i];
      have_input = true;
    } else {
      return false;
    }
  }
  if (options->shown.empty()) options->shown = options->input == "-" ? "stdin" : options->input;
  if (options->name.empty()) options->name = NameOf(options->shown);
  return true;
}

Result<std::string> ReadText(const std::string& input) {
  // One byte more than a profile may have: the reader says that it is too long.
  constexpr size_t kBytesMax = policy::read::kTextBytesMax + 1;
  if (input == "-") return sys::ReadAll(STDIN_FILENO, kBytesMax);
  // A FIFO or device must not hold the caller up.
  UniqueFd file = BAWN_TRY(sys::Openat2(AT_FDCWD, input, O_RDONLY | O_NONBLOCK));
  sys::FileStat stat = BAWN_TRY(sys::Fstat(file.get()));
  if (!stat.IsRegular()) {
    return Fail(ErrorCode::kInvalidArgument, EscapeName(input) + " is no regular file");
  }
  return sys::ReadAll(file.get(), kBytesMax);
}

int Main(const std::vector<std::string_view>& arguments) {
  Options options;
  if (!ParseArguments(arguments, &options)) {
    return Say(2, "usage: bawn-policy [--name NAME] [--as FILE] [FILE | -]");
  }
  if (isatty(STDOUT_FILENO) == 1) return Say(2, "the compiled form is not for a terminal");
  Result<std::string> text = ReadText(options.input);
  if (!text && text.error().code == ErrorCode::kResourceExhausted) {
    return Say(1, EscapeName(options.shown) + ":1: over 64 KiB: a profile is short");
  }
  if (!text) return Say(125, text.error().message);
  auto policy = policy::read::ReadProfile(*text, options.name, options.shown);
  if (!policy) {
    std::fputs(policy::read::FormatDiagnostics(policy.error(), options.shown).c_str(), stderr);
    return 1;
  }
  Result<> written = sys::WriteAll(STDOUT_FILENO, policy::EncodePolicy(*policy));
  if (!written) return Say(125, written.error().message);
  return 0;
}

}  // namespace
}  // namespace bawn

int main(int argc, char** argv) {
  return bawn::Main(std::vector<std::string_view>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
