#include "launch/terminal_filter.h"

namespace bawn::launch {
namespace {
constexpr char kEsc = '\x1b';
constexpr char kBel = '\x07';
constexpr std::string_view kOscStart = "\x1b]";
constexpr std::string_view kClipboard = "\x1b]52;";
}  // namespace

std::string TerminalFilter::Pass(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + held_.size());
  for (char c : bytes) Take(c, &out);
  return out;
}

void TerminalFilter::Flush(std::string* out) {
  *out += held_;
  held_.clear();
}

bool TerminalFilter::IsClipboard() const { return held_.starts_with(kClipboard); }

// CSI … t, but for pushing and popping the title (22, 23), which nothing answers.
bool TerminalFilter::IsWindowReport() const {
  std::string_view parameters = std::string_view(held_).substr(2);
  return !parameters.starts_with("22") && !parameters.starts_with("23");
}

void TerminalFilter::Take(char c, std::string* out) {
  switch (state_) {
    case State::kText:
      if (c == kEsc) {
        held_ = c;
        state_ = State::kEscape;
      } else {
        *out += c;
      }
      return;
    case State::kEscape:
      held_ += c;
      state_ = c == '[' ? State::kCsi : c == ']' ? State::kOsc : State::kText;
      if (state_ == State::kText) Flush(out);
      return;
    case State::kCsi:
      held_ += c;
      if ((c < '@' || c > '~') && held_.size() < kHeldBytesMax) return;
      state_ = State::kText;
      if (c == 't' && IsWindowReport()) held_.clear();
      return Flush(out);
    case State::kOsc:
    case State::kOscEscape:
      return InOsc(c, out);
  }
}

// An OSC ends with BEL or ESC backslash (ST).
void TerminalFilter::InOsc(char c, std::string* out) {
  bool ends = c == kBel || (state_ == State::kOscEscape && c == '\\');
  state_ = c == kEsc ? State::kOscEscape : State::kOsc;
  if (!dropping_) held_ += c;
  if (IsClipboard()) {
    dropping_ = true;
    held_.clear();
  }
  // Not yet told apart, or told to be something else.
  bool known = held_.size() > kClipboard.size() || !kClipboard.starts_with(held_);
  passing_ = !dropping_ && (passing_ || (known && held_.starts_with(kOscStart)));
  if (passing_) Flush(out);
  if (!ends) return;
  if (!dropping_) Flush(out);
  held_.clear();
  dropping_ = passing_ = false;
  state_ = State::kText;
}

}  // namespace bawn::launch
