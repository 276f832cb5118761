#include "cli/console.h"

#include "base/text.h"
#include "sys/files.h"

namespace bawn::cli {
namespace {

// Later lines of `text` stand under its first.
std::string Indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (char c : TerminalSafe(text)) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

}  // namespace

std::string Console::Env(std::string_view name) const {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

bool Console::Colour() const {
  return out_terminal && Env("NO_COLOR").empty() && Env("TERM") != "dumb";
}

Result<> Console::Out(std::string_view text) const { return sys::WriteAll(out_fd, text); }

void Console::Say(std::string_view line) const {
  (void)sys::WriteAll(err_fd, "bawn: " + Indented(line, "  ") + "\n");
}

void Console::SayError(const Error& error) const {
  std::string text = "bawn: " + Indented(error.message, "  ") + "\n";
  if (!error.rule.empty()) text += "  rule: " + Indented(error.rule, "        ") + "\n";
  if (!error.hint.empty()) text += "  hint: " + Indented(error.hint, "        ") + "\n";
  (void)sys::WriteAll(err_fd, text);
}

}  // namespace bawn::cli
