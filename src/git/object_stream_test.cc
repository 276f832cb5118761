#include "git/object_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git/strict_objects.h"
#include "git/test_repo.h"

namespace bawn::git {
namespace {

using testing::HasSubstr;

ObjectStream::ReadAt FromText(std::string text) {
  return [text = std::move(text)](char* into, size_t size, uint64_t offset) -> Result<size_t> {
    if (offset >= text.size()) return size_t{0};
    return text.copy(into, size, offset);
  };
}

std::string Row(ObjectKind kind, const std::string& bytes) {
  const char* name = kind == ObjectKind::kBlob   ? "blob"
                     : kind == ObjectKind::kTree ? "tree"
                                                 : "commit";
  return Repo::HashObject(kind, bytes) + " " + name + " " + std::to_string(bytes.size()) + "\n" +
         bytes + "\n";
}

std::string Why(const std::string& text, const StreamLimits& limits = {}) {
  const auto stream = ObjectStream::Open(FromText(text), limits);
  return stream ? "" : stream.error().message;
}

TEST(ObjectStreamTest, ReadsWhatGitPrints) {
  const TestRepo repo;
  repo.Write("a", "one\n");
  repo.Write("dir/b", std::string("x\0y\n", 4));
  repo.Write("empty", "");
  const Oid tip = repo.CommitAll();
  const std::string text = repo.Git(
      "rev-list --objects --topo-order --no-object-names HEAD | "
      "git -C tree cat-file --batch --buffer");
  const auto stream = ObjectStream::Open(FromText(text), {});
  ASSERT_TRUE(stream) << stream.error().message;
  EXPECT_EQ(stream->size(), 6U);
  EXPECT_EQ(stream->First(), tip);
  const auto commit = ParseCommit(*stream->Read(tip, ObjectKind::kCommit));
  ASSERT_TRUE(commit) << commit.error().message;
  EXPECT_EQ(commit->tree, repo.Line("rev-parse HEAD^{tree}"));
  EXPECT_EQ(CommitBytes(*commit), repo.Git("cat-file commit HEAD"));
  const auto tree = ParseTree(*stream->Read(commit->tree, ObjectKind::kTree));
  ASSERT_TRUE(tree) << tree.error().message;
  ASSERT_EQ(tree->size(), 3U);
  EXPECT_EQ((*tree)[1].mode, FileMode::kTree);
  EXPECT_EQ((*tree)[1].oid, repo.Line("rev-parse HEAD:dir"));
  EXPECT_EQ(*stream->Read((*tree)[0].oid, ObjectKind::kBlob), "one\n");
  EXPECT_FALSE(stream->Read(tip, ObjectKind::kTree));
  EXPECT_TRUE(ObjectStream::Open(FromText(""), {})->IsEmpty());
}

TEST(ObjectStreamTest, EveryLieIsNamed) {
  const std::string good = Row(ObjectKind::kBlob, "hello");
  ASSERT_EQ(Why(good), "");
  const std::string oid = good.substr(0, 40);
  EXPECT_THAT(Why(oid + " blob 5\nhullo\n"), HasSubstr("not what its name says"));
  EXPECT_THAT(Why(oid + " tree 5\nhello\n"), HasSubstr("not what its name says"));
  EXPECT_THAT(Why(oid + " blob 4\nhello\n"), HasSubstr("longer than was said"));
  EXPECT_THAT(Why(oid + " blob 7\nhello\n"), HasSubstr("ends in the middle"));
  EXPECT_THAT(Why(oid + " blob 5\nhello"), HasSubstr("longer than was said"));
  EXPECT_THAT(Why(oid + " blob 9999999999\nhello\n"), HasSubstr("has "));
  EXPECT_THAT(Why(oid + " blob 99999999999\nhello\n"), HasSubstr("no number"));
  EXPECT_THAT(Why(oid + " blob 268435456\nhello\n"), HasSubstr("ends in the middle"));
  EXPECT_THAT(Why(oid + " blob 05\nhello\n"), HasSubstr("no number"));
  EXPECT_THAT(Why(oid + " blob -5\nhello\n"), HasSubstr("no number"));
  EXPECT_THAT(Why(oid + " blob\nhello\n"), HasSubstr("without a size"));
  EXPECT_THAT(Why(oid + " tag 5\nhello\n"), HasSubstr("no commit is made of"));
  EXPECT_THAT(Why(oid + " missing\n"), HasSubstr("could not read"));
  EXPECT_THAT(Why("HEAD missing\n"), HasSubstr("could not read"));
  EXPECT_THAT(Why(std::string(200, 'a')), HasSubstr("does not end"));
  EXPECT_THAT(Why(good + good), HasSubstr("twice"));
  EXPECT_THAT(Why(good + "x"), HasSubstr("does not end"));
  EXPECT_THAT(Why(good + "\n"), HasSubstr("names no object"));
  StreamLimits limits;
  limits.objects_max = 1;
  EXPECT_THAT(Why(good + Row(ObjectKind::kBlob, "b"), limits), HasSubstr("larger than"));
  limits = {};
  limits.bytes_max = 20;
  EXPECT_THAT(Why(good, limits), HasSubstr("larger than"));
  limits = {};
  limits.blob_bytes_max = 4;
  EXPECT_THAT(Why(good, limits), HasSubstr("has 5"));
}

std::string Entry(const std::string& mode, const std::string& name, char oid = 'x') {
  return mode + " " + name + '\0' + std::string(20, oid);
}

TEST(StrictObjectsTest, TreesThatGitWouldNotTake) {
  EXPECT_TRUE(ParseTree(""));
  EXPECT_TRUE(ParseTree(Entry("100644", "a") + Entry("100755", "a.b") + Entry("40000", "b")));
  // git's order: the directory "a" counts as "a/".
  EXPECT_TRUE(ParseTree(Entry("100644", "a-b") + Entry("40000", "a") + Entry("100644", "a0")));
  const std::string bad[] = {
      Entry("100644", ""),
      Entry("100644", "."),
      Entry("40000", ".."),
      Entry("40000", ".git"),
      Entry("40000", ".GiT"),
      Entry("100644", "a/b"),
      Entry("100644", std::string(256, 'n')),
      Entry("100664", "a"),
      Entry("0100644", "a"),
      Entry("040000", "a"),
      Entry("100644 ", "a").substr(0, 10),
      Entry("", "a"),
      Entry("100644", "a", '\0'),
      Entry("100644", "b") + Entry("100644", "a"),
      Entry("100644", "a") + Entry("100644", "a"),
      Entry("100644", "a") + Entry("100644", "a.b") + Entry("40000", "a"),
      Entry("40000", "a") + Entry("100644", "a-b"),
      Entry("100644", "a").substr(0, 20),
      "100644 a",
      std::string("\0", 1),
  };
  for (const std::string& bytes : bad) EXPECT_FALSE(ParseTree(bytes)) << bytes;
}

TEST(StrictObjectsTest, CommitsThatGitWouldNotTake) {
  const std::string tree = "tree " + std::string(40, 'a') + "\n";
  const std::string parent = "parent " + std::string(40, 'b') + "\n";
  const std::string who = "A U Thor <a@b> 1700000000 +0100\n";
  const std::string both = "author " + who + "committer " + who;
  const auto good = ParseCommit(tree + parent + parent + both + "\nmessage\n");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->parents.size(), 2U);
  EXPECT_EQ(good->author.who, "A U Thor <a@b>");
  EXPECT_EQ(good->author.when, "1700000000 +0100");
  // Signatures are read over; the encoding stays.
  const auto more =
      ParseCommit(tree + both + "gpgsig -----BEGIN\n parent x\n \n -----END\nencoding latin1\n\nm");
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(CommitBytes(*more), tree + both + "encoding latin1\n\nm");
  EXPECT_TRUE(ParseCommit(tree + "author A <> 0 +0000\ncommitter A <> 0 +0000\n\n"));
  const std::string bad[] = {
      "",
      tree,
      parent + tree + both + "\nm",
      tree + both,
      tree + both + "\nm" + std::string("\0", 1),
      tree + "author " + who + "\nm",
      tree + "committer " + who + "author " + who + "\nm",
      tree + both + parent + "\nm",
      tree + both + " folded\n\nm",
      tree + both + "encoding a b\n\nm",
      tree + both + "gpgsig",
      "tree " + std::string(40, 'A') + "\n" + both + "\nm",
      "tree " + std::string(39, 'a') + "\n" + both + "\nm",
  };
  for (const std::string& bytes : bad) EXPECT_FALSE(ParseCommit(bytes)) << bytes;
  for (const std::string line :
       {"<a@b> 1 +0000", "A<a@b> 1 +0000", "A <a@b> 01 +0000", "A <a@b> 1 +000", "A <a@b> 1 0000",
        "A <a@b>1 +0000", "A <a@b> -1 +0000", "A <a@b> 1 +9900", "A <a@b> 9999999999999 +0000",
        "A <a <b> 1 +0000", "A > <a> 1 +0000", " A <a> 1 +0000", "A  <a> 1 +0000", "A <a> 1", ""}) {
    EXPECT_FALSE(ParseCommit(tree + "author " + line + "\ncommitter " + who + "\nm")) << line;
  }
}

}  // namespace
}  // namespace bawn::git
