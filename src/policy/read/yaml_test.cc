#include "policy/read/yaml.h"

#include <gtest/gtest.h>

namespace bawn::policy::read {
namespace {

TEST(YamlTest, ReadsMapsListsAndScalarsAsText) {
  auto root = ReadYaml("a: 1\nb:\n  - x\n  - 'y z'\nc: {d: true, e: }\nf: ~/g\n");
  ASSERT_TRUE(root) << root.error().message;
  ASSERT_EQ(root->kind, NodeKind::kMap);
  EXPECT_EQ(root->Find("a")->scalar, "1");
  ASSERT_EQ(root->Find("b")->items.size(), 2U);
  EXPECT_EQ(root->Find("b")->items[1].scalar, "y z");
  EXPECT_EQ(root->Find("b")->items[1].line, 4U);
  EXPECT_EQ(root->Find("c")->Find("d")->scalar, "true");
  EXPECT_EQ(root->Find("c")->Find("e")->kind, NodeKind::kNull);
  EXPECT_EQ(root->Find("f")->scalar, "~/g");
  EXPECT_EQ(root->Find("nothing"), nullptr);
  EXPECT_EQ(root->items[2].key_line, 5U);
}

TEST(YamlTest, AnEmptyTextIsNull) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n"}) {
    auto root = ReadYaml(text);
    ASSERT_TRUE(root) << text;
    EXPECT_EQ(root->kind, NodeKind::kNull) << text;
  }
}

struct BadCase {
  const char* text;
  uint32_t line;
  const char* says;
};
const BadCase kBadCases[] = {
    {"a: &x 1\n", 1, "anchor"},
    {"a: &x [1]\n", 1, "anchor"},
    {"a: 1\nb: *x\n", 2, "not YAML"},
    {"a: &x 1\nb: *x\n", 1, "anchor"},
    {"a: !!str 1\n", 1, "tag"},
    {"a: !include x\n", 1, "tag"},
    {"a: !<tag:x> {}\n", 1, "tag"},
    {"a: {b: 1}\nc:\n  <<: {d: 1}\n", 3, "merge key"},
    {"a: 1\n---\nb: 2\n", 2, "second document"},
    {"%YAML 1.2\n---\na: 1\n", 1, "directive"},
    {"a: 1\nb: 2\na: 3\n", 3, "'a' stands here twice, first in line 1"},
    {"? [x]\n: 1\n", 1, "key is a plain name"},
    {"? {x: 1}\n: 1\n", 1, "key is a plain name"},
    {": 1\n", 1, "key is a"},
    {"'': 1\n", 1, "key is a"},
    {"a: [1\n", 2, "not YAML"},
    {"a:\n\t- 1\n", 2, "not YAML"},
    {"a: 'x\n", 2, "not YAML"},
    {"a: 'x", 1, "not YAML"},
    {"a: \"x\n", 2, "not YAML"},
    {"level: none\nb: 'x\nlevel: bounded\n", 4, "not YAML"},
    {"a: {b: 1\n", 2, "not YAML"},
    {"a: b: c\n", 1, "not YAML"},
    {"a: \x01\n", 1, "control byte"},
    {"ok: 1\nb: \x1b[31m\n", 2, "control byte"},
    {"a: \xff\xfe\n", 1, "not UTF-8"},
};

TEST(YamlTest, RefusesWhatTheSubsetLeavesOut) {
  for (const BadCase& bad : kBadCases) {
    auto root = ReadYaml(bad.text);
    ASSERT_FALSE(root) << bad.text;
    EXPECT_EQ(root.error().line, bad.line) << bad.text << ": " << root.error().message;
    EXPECT_NE(root.error().message.find(bad.says), std::string::npos)
        << bad.text << ": " << root.error().message;
  }
}

TEST(YamlTest, HoldsDepthAndSize) {
  auto nested = [](size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_TRUE(ReadYaml(nested(kDepthMax)));
  ASSERT_FALSE(ReadYaml(nested(kDepthMax + 1)));
  EXPECT_EQ(ReadYaml(nested(kDepthMax + 1)).error().message, "nested deeper than 8");
  EXPECT_FALSE(ReadYaml(nested(30'000))) << "neither recursion nor memory ends the process";
  std::string text = "a: " + std::string(kTextBytesMax - 3, 'x');
  EXPECT_TRUE(ReadYaml(text));
  EXPECT_FALSE(ReadYaml(text + "x"));
}

TEST(YamlTest, BlockScalarsKeepTheirText) {
  auto root = ReadYaml("a: |\n  x\n  y\nb: >\n  z\n");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->Find("a")->scalar, "x\ny\n");
  EXPECT_EQ(root->Find("b")->scalar, "z\n");
}

TEST(YamlTest, HoldsTheNumberOfKeys) {
  auto map = [](size_t keys) {
    std::string text;
    for (size_t i = 0; i < keys; ++i) text += "k" + std::to_string(i) + ": 1\n";
    return text;
  };
  EXPECT_TRUE(ReadYaml(map(1024)));
  EXPECT_FALSE(ReadYaml(map(1025)));
}

TEST(YamlTest, HoldsTheNumberOfValues) {
  auto list = [](size_t items) {
    std::string text = "[";
    for (size_t i = 0; i < items; ++i) text += "1,";
    return text + "]";
  };
  EXPECT_TRUE(ReadYaml(list(kNodesMax - 1)));  // the list itself is one
  EXPECT_FALSE(ReadYaml(list(kNodesMax)));
}

}  // namespace
}  // namespace bawn::policy::read
