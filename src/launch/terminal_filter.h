// launch/terminal_filter.h
// What a job writes to the caller's terminal, without the sequences that reach beyond the screen:
// OSC 52 (sets or reads the clipboard) and CSI … t window reports (their answers are typed into the
// shell that follows). All else passes untouched, also when it is cut anywhere between two chunks
// (RT-28). The kept output is not filtered; `bawn logs` escapes it.
// NOT filtered: status and attribute queries (CSI n, CSI c) that full-screen programs need; answers
// still in flight are swallowed when the job ends.
// Source: ECMA-48 5.4, xterm control sequences "OSC Ps ; Pt" and "CSI Ps ; Ps ; Ps t".
#pragma once

#include <string>
#include <string_view>

namespace bawn::launch {

class TerminalFilter {
 public:
  std::string Pass(std::string_view bytes);

 private:
  enum class State { kText, kEscape, kCsi, kOsc, kOscEscape };
  static constexpr size_t kHeldBytesMax = 256;  // longer sequences are none of the two

  void Take(char c, std::string* out);
  void InOsc(char c, std::string* out);
  bool IsClipboard() const;
  bool IsWindowReport() const;
  void Flush(std::string* out);

  State state_ = State::kText;
  std::string held_;       // the sequence so far, not yet passed
  bool dropping_ = false;  // an OSC 52 under way: nothing of it is held or passed
  bool passing_ = false;   // a long OSC that is no clipboard: passed as it comes
};

}  // namespace bawn::launch
