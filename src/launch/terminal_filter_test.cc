#include "launch/terminal_filter.h"

#include <gtest/gtest.h>

namespace bawn::launch {
namespace {

// The verdict must not depend on where chunks end.
std::string PassInChunks(const std::string& bytes, size_t size) {
  TerminalFilter filter;
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += size) out += filter.Pass(bytes.substr(at, size));
  return out;
}

TEST(TerminalFilterTest, DropsClipboardAndWindowReportsWhereverTheyAreCut) {
  const std::string bytes =
      "a\x1b]52;c;aGk=\x07"
      "b\x1b[21tc\x1b]52;c;?\x1b\\d\x1b[18;2te\x1b]52;\x07";
  for (size_t size = 1; size <= bytes.size(); ++size) {
    EXPECT_EQ(PassInChunks(bytes, size), "abcde") << size;
  }
}

TEST(TerminalFilterTest, PassesEverythingElseUntouched) {
  const std::string bytes =
      "\x1b[1;31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b[22;0t"
      "\x1b[6n \x1b]5;x\x07 \x1b]520;y\x07 \x1bM \xff\xfe\x00 end" +
      std::string(1000, 'x');
  for (size_t size : {1U, 2U, 3U, 7U, 4096U}) EXPECT_EQ(PassInChunks(bytes, size), bytes);
  const std::string lengthy = "\x1b]0;" + std::string(5000, 't') + "\x07.";
  EXPECT_EQ(PassInChunks(lengthy, 100), lengthy);
}

TEST(TerminalFilterTest, ALongClipboardIsDroppedToItsEnd) {
  const std::string bytes = "\x1b]52;c;" + std::string(100000, 'A') + "\x07.";
  EXPECT_EQ(PassInChunks(bytes, 4096), ".");
}

}  // namespace
}  // namespace bawn::launch
