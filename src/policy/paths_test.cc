#include "policy/paths.h"

#include <gtest/gtest.h>

namespace bawn::policy {
namespace {

TEST(CleanPathTest, GivesOneSpellingToOnePath) {
  for (std::string_view spelling : {"/a/b", "/a//b", "//a/b/", "/./a/./b/.", "~/b", "~//b/"}) {
    Result<std::string> clean = CleanPath(spelling, "/a");
    ASSERT_TRUE(clean) << spelling;
    EXPECT_EQ(*clean, "/a/b") << spelling;
  }
  EXPECT_EQ(*CleanPath("/", "/a"), "/");
  EXPECT_EQ(*CleanPath("~", "/a"), "/a");
  EXPECT_EQ(*CleanPath("/~/x", "/a"), "/~/x");
}

TEST(CleanPathTest, RefusesWhatCouldMeanAnotherPlace) {
  using namespace std::string_view_literals;
  for (std::string_view bad :
       {""sv, "a"sv, "./a"sv, "/a/../b"sv, "/.."sv, "~/.."sv, "~ada/x"sv, "/a\0b"sv}) {
    EXPECT_FALSE(CleanPath(bad, "/a")) << bad;
  }
  EXPECT_FALSE(CleanPath("~/x", ""));
}

TEST(CleanPathTest, HoldsTheKernelsLengthLimit) {
  std::string longest = "/" + std::string(kPathBytesMax - 1, 'x');
  EXPECT_TRUE(CleanPath(longest, ""));
  EXPECT_FALSE(CleanPath(longest + "x", ""));
}

TEST(PathsTest, ComparesWholeComponents) {
  EXPECT_TRUE(IsBelow("/a/b", "/a"));
  EXPECT_FALSE(IsBelow("/ab", "/a"));
  EXPECT_FALSE(IsBelow("/a", "/a"));
  EXPECT_TRUE(IsBelow("/a", "/"));
  EXPECT_TRUE(Overlaps("/a", "/a/b"));
  EXPECT_TRUE(Overlaps("/a/b", "/a"));
  EXPECT_FALSE(Overlaps("/a/b", "/a/c"));
  EXPECT_EQ(ParentOf("/a/b"), "/a");
  EXPECT_EQ(ParentOf("/a"), "/");
}

TEST(PathsTest, ResolvesLinksAsText) {
  EXPECT_EQ(ResolveLink("/etc/localtime", "/usr/share/zoneinfo/UTC"), "/usr/share/zoneinfo/UTC");
  EXPECT_EQ(ResolveLink("/etc/os-release", "../usr/lib/os-release"), "/usr/lib/os-release");
  EXPECT_EQ(ResolveLink("/bin", "usr/bin"), "/usr/bin");
  EXPECT_EQ(ResolveLink("/a", "../../x"), "");
  EXPECT_EQ(ResolveLink("/a", ""), "");
}

TEST(MatchGlobTest, MatchesWholeNames) {
  EXPECT_TRUE(MatchGlob("*.pem", "a.pem"));
  EXPECT_TRUE(MatchGlob("*.pem", ".pem"));
  EXPECT_FALSE(MatchGlob("*.pem", "a.pem.txt"));
  EXPECT_TRUE(MatchGlob("*TOKEN*", "MY_TOKEN"));
  EXPECT_TRUE(MatchGlob("service-account*.json", "service-account-a.json"));
  EXPECT_TRUE(MatchGlob("a?c", "abc"));
  EXPECT_FALSE(MatchGlob("a?c", "ac"));
  EXPECT_TRUE(MatchGlob("", ""));
  EXPECT_TRUE(MatchGlob("***", ""));
  EXPECT_FALSE(MatchGlob("", "a"));
}

TEST(MatchGlobTest, DoesNotBacktrackWithoutEnd) {
  std::string text(4000, 'a');
  EXPECT_FALSE(MatchGlob("*a*a*a*a*a*a*b", text));
}

}  // namespace
}  // namespace bawn::policy
