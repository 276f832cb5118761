// Both sides changed the same file since the sandbox opened: merged on request, or named.
#include "publish/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "publish/test_publish.h"

namespace bawn::publish {
namespace {

class MergeTest : public PublishFixture {
 protected:
  static constexpr char kBase[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  void Prepare(const std::string& attributes = "") {
    if (!attributes.empty()) PutTree(".gitattributes", attributes);
    PutTree("a.txt", kBase);
    PutTree("same.txt", kBase);
    CommitAndOpen();
    PutUpper("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    PutUpper("same.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    PutTree("a.txt", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n");
    PutTree("same.txt", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n");
  }
  Result<Applied> ApplyMerged(bool merge) {
    set_ = Read();
    git::Repo repo = *git::Repo::Open(meta_.git_dir);
    review_ = *review::MakeReview(set_, meta_, &repo, {});
    SelectOptions options;
    options.purpose = Purpose::kApply;
    if (merge) {
      merges_ = *MergeDiverged({set_, meta_, &repo}, review_);
      options.merges = &merges_;
    }
    last_ = *Select(review_, options);
    std::vector<Chosen> chosen;
    chosen.reserve(last_.taken.size());
    for (const Selection::Taken& taken : last_.taken) {
      chosen.push_back({&taken.reviewed->change, taken.consented, taken.merged});
    }
    refused_.clear();
    for (const Named& one : last_.refused) refused_.push_back(one.path + " " + one.rule);
    return Apply(Context(), set_, chosen, last_.CoversAll());
  }
  std::string InTree(const std::string& path) {
    return *sys::ReadFileAt(AT_FDCWD, Tree(path), 1000);
  }

  workspace::ChangeSet set_;
  review::Review review_;
  Merges merges_;
};

TEST_F(MergeTest, ApplyTakesBothAndNamesConflicts) {
  Prepare();
  ASSERT_TRUE(ApplyMerged(false));
  EXPECT_THAT(refused_,
              testing::ElementsAre("a.txt publish.diverged", "same.txt publish.diverged"));
  EXPECT_THAT(last_.refused[0].hint, testing::HasSubstr("--merge"));
  Result<Applied> applied = ApplyMerged(true);
  ASSERT_TRUE(applied) << Why(applied);
  EXPECT_THAT(refused_, testing::ElementsAre("same.txt publish.merge_conflict"));
  EXPECT_EQ(InTree("a.txt"), "uno\n2\n3\n4\n5\n6\n7\n8\nnine\n");
  EXPECT_EQ(InTree("same.txt"), "uno\n2\n3\n4\n5\n6\n7\n8\n9\n");  // no marker, no overwriting
  EXPECT_FALSE(applied->ended);
  Result<Applied> undone = Undo(Context());
  ASSERT_TRUE(undone) << Why(undone);
  EXPECT_EQ(InTree("a.txt"), "uno\n2\n3\n4\n5\n6\n7\n8\n9\n");
}

TEST_F(MergeTest, LineEndsOfTheTreeStay) {
  PutTree(".gitattributes", "*.txt text eol=crlf\n");
  PutTree("a.txt", "1\r\n2\r\n3\r\n4\r\n5\r\n");
  CommitAndOpen();
  PutUpper("a.txt", "1\r\n2\r\n3\r\n4\r\nfive\r\n");
  PutTree("a.txt", "uno\r\n2\r\n3\r\n4\r\n5\r\n");
  ASSERT_TRUE(ApplyMerged(true));
  EXPECT_EQ(InTree("a.txt"), "uno\r\n2\r\n3\r\n4\r\nfive\r\n");
}

TEST_F(MergeTest, PublishNeedsAWordForTheUsersPart) {
  Prepare();
  PublishRequest request = Request();
  request.merge = true;
  EXPECT_EQ(Publish(request).error().rule, "publish.dirty_base");
  EXPECT_THAT(refused_, testing::Contains("same.txt publish.merge_conflict"));
  request.include_dirty = true;
  Result<Published> published = Publish(request);
  ASSERT_TRUE(published) << Why(published);
  EXPECT_EQ(Git("show bawn/test:a.txt"), "uno\n2\n3\n4\n5\n6\n7\n8\nnine");
  EXPECT_EQ(Git("show --format= --name-only bawn/test"), "a.txt");
  EXPECT_EQ(InTree("a.txt"), "uno\n2\n3\n4\n5\n6\n7\n8\n9\n");  // publish touches no tree
}

TEST_F(MergeTest, WhatCannotBeMergedIsNamed) {
  PutTree("binary", std::string("a\0b\n", 4));
  PutTree("kind", "file");
  CommitAndOpen();
  PutTree("untracked", "mine\n");
  PutTree("binary", std::string("a\0c\n", 4));
  PutTree("kind", "user");
  PutUpper("untracked", "theirs\n");
  PutUpper("binary", std::string("a\0d\n", 4));
  fs::create_symlink("a.txt", Upper("kind"));
  ASSERT_TRUE(ApplyMerged(true));
  EXPECT_THAT(refused_,
              testing::ElementsAre("binary publish.merge_conflict", "kind publish.diverged",
                                   "untracked publish.diverged"));
  EXPECT_EQ(InTree("untracked"), "mine\n");
}

}  // namespace
}  // namespace bawn::publish
