#include "base/text.h"

#include <gtest/gtest.h>

namespace bawn {
namespace {

TEST(TextTest, EscapeNameIsReversibleForEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  bytes += "ä\u202E\u200B\\x41";
  std::string escaped = EscapeName(bytes);
  EXPECT_TRUE(IsValidUtf8(escaped));
  EXPECT_EQ(escaped.find('\x1b'), std::string::npos);
  EXPECT_EQ(escaped.find("\u202E"), std::string::npos);
  EXPECT_EQ(UnescapeName(escaped), bytes);
}

TEST(TextTest, EscapeKeepsOrdinaryText) {
  EXPECT_EQ(EscapeName("src/größe.cc"), "src/größe.cc");
  EXPECT_EQ(EscapeName("a\nb\\"), "a\\x0ab\\\\");
}

TEST(TextTest, Utf8RefusesOverlongSurrogatesAndTruncation) {
  EXPECT_TRUE(IsValidUtf8("\xF4\x8F\xBF\xBF"));
  for (const char* bad : {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    EXPECT_FALSE(IsValidUtf8(bad));
  }
}

TEST(TextTest, TerminalSafeKeepsLinesAndDropsControls) {
  EXPECT_EQ(TerminalSafe("a\tb\n\x1b]52;c;x\x07"), "a\tb\n\\x1b]52;c;x\\x07");
  EXPECT_EQ(TerminalSafe("a\\b"), "a\\b");
}

TEST(TextTest, UnescapeRefusesWhatEscapeNeverMakes) {
  EXPECT_EQ(UnescapeName("\\"), std::nullopt);
  EXPECT_EQ(UnescapeName("\\xG0"), std::nullopt);
  EXPECT_EQ(UnescapeName("\\n"), std::nullopt);
}

TEST(TextTest, NearestSuggestsOnlyWhatIsNear) {
  EXPECT_EQ(Nearest("ephemerl", {"ephemeral", "keep"}), "ephemeral");
  EXPECT_EQ(Nearest("zz", {"ephemeral", "keep"}), "");
}

TEST(TextTest, Base64AndHexMatchTheRfcVectors) {
  EXPECT_EQ(ToBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(ToBase64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(ToBase64("f"), "Zg==");
  EXPECT_EQ(ToHex("\x00\xff"), "");  // a literal with NUL ends early on purpose
  EXPECT_EQ(ToHex(std::string_view("\x00\xff", 2)), "00ff");
}

}  // namespace
}  // namespace bawn
