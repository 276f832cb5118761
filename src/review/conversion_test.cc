// RT-08: what a publish would commit equals what `git add` makes, or the path is refused by name;
// and no program of the repository or of the user's configuration runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "review/lfs.h"
#include "review/test_scene.h"

namespace bawn::review {
namespace {

using testing::HasSubstr;

std::string Pointer(std::string_view content) {
  return "version https://git-lfs.github.com/spec/v1\noid sha256:" + Sha256Hex(content) +
         "\nsize " + std::to_string(content.size()) + "\n";
}

// A repository whose drivers are programs that leave a mark.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string mark = "touch '" + scene_.repo.root() + "/ran'\n";
    scene_.repo.Write("../lfs", "#!/bin/sh\n" + mark +
                                    "cat > \"$0.in.$$\"\nset -- $(sha256sum \"$0.in.$$\") "
                                    "$(wc -c < \"$0.in.$$\")\nrm \"$0.in.$$\"\nprintf 'version "
                                    "https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize "
                                    "%s\\n' \"$1\" \"$3\"\n");
    scene_.repo.Write("../crypt", "#!/bin/sh\n" + mark + "tr a-z n-za-m\n");
    scene_.repo.Shell("chmod +x lfs crypt");
    scene_.repo.Config("filter.lfs.clean", scene_.repo.root() + "/lfs");
    scene_.repo.Config("filter.lfs.required", "true");
    scene_.repo.Config("filter.git-crypt.clean", scene_.repo.root() + "/crypt");
    scene_.repo.Config("filter.git-crypt.smudge", scene_.repo.root() + "/crypt");
    scene_.repo.Config("filter.git-crypt.required", "true");
    for (const char* key : {"diff.git-crypt.textconv", "diff.external", "core.fsmonitor"}) {
      scene_.repo.Config(key, scene_.repo.root() + "/crypt");
    }
    scene_.repo.Write(".gitattributes",
                      "*.bin filter=lfs diff=lfs merge=lfs -text\n"
                      "secret* filter=git-crypt diff=git-crypt\n"
                      "*.u16 text working-tree-encoding=UTF-16LE\n"
                      "*.bat text eol=crlf\n*.id ident\n*.auto text=auto\n");
    scene_.repo.Write("a.bin", "large content\n");
    scene_.repo.Write("b.bin", "other content\n");
    scene_.repo.Write("c.bin", "third content\n");
    scene_.repo.Write("secret.txt", "hello\n");
    scene_.repo.Write("secret.key", "key\n");
    scene_.repo.Write("t.u16", std::string("h\0i\0\n\0", 6));
    scene_.repo.Write("s.u16", std::string("s\0\n\0", 4));
    scene_.repo.Write("run.bat", "one\r\ntwo\r\n");
    scene_.repo.Write("x.id", "$Id$\n");
    scene_.repo.Write("y.auto", "a\nb\n");
    scene_.repo.CommitAll();
    ASSERT_EQ(scene_.repo.Git("cat-file blob HEAD:a.bin"), Pointer("large content\n"));
    ASSERT_EQ(scene_.repo.Git("cat-file blob HEAD:secret.txt"), "uryyb\n");
    ASSERT_EQ(scene_.repo.Git("cat-file blob HEAD:t.u16"), "hi\n");
    ASSERT_EQ(scene_.repo.Git("cat-file blob HEAD:run.bat"), "one\ntwo\n");
    scene_.Open();
    scene_.repo.Shell("rm -f ran");
  }
  bool Ran() const { return std::filesystem::exists(scene_.repo.root() + "/ran"); }
  // The review, after which no driver has run, and the rendering of it.
  Review Reviewed_() {
    Review review = scene_.Make({.stat = true});
    patch_ = scene_.Patch(review);
    EXPECT_FALSE(Ran());
    return review;
  }
  std::string Refusal(const Review& review, const char* path) {
    const Reviewed* found = Find(review, path);
    if (found == nullptr) return "not listed";
    EXPECT_EQ(found->refused.empty(), found->refused_rule.empty());
    EXPECT_FALSE(found->in_commit && !found->refused.empty());
    return found->refused_rule.empty() ? "" : found->refused_rule + ": " + found->refused;
  }
  Scene scene_;
  std::string patch_;
};

TEST_F(DriverTest, BuiltInConversionsGiveWhatGitAddGives) {
  scene_.Write("run.bat", "one\r\ntwo\r\nthree\r\n");
  scene_.Write("new.bat", "new\r\n");
  scene_.Write("x.id", "$Id: 0123456789 $ changed\n");
  scene_.Write("y.auto", "a\r\nb\r\nc\r\n");
  const Review review = Reviewed_();
  EXPECT_EQ(review.paths.size(), 4u);
  EXPECT_EQ(scene_.Published(review), scene_.Added());
  EXPECT_TRUE(Ran());  // the control: git add on the same tree runs the drivers
  EXPECT_EQ(Find(review, "run.bat")->lines_added, 1u);  // 1 line, not 101 (RT-08)
  EXPECT_EQ(Find(review, "run.bat")->lines_removed, 0u);
}

TEST_F(DriverTest, ModeChangesAndDeletionsOfDriverFilesNeedNoDriver) {
  scene_.Do("chmod +x a.bin secret.txt t.u16 && rm b.bin secret.key s.u16");
  const Review review = Reviewed_();
  for (const char* path : {"a.bin", "secret.txt", "t.u16", "b.bin", "secret.key", "s.u16"}) {
    EXPECT_EQ(Refusal(review, path), "") << path;
    EXPECT_TRUE(Find(review, path)->in_commit) << path;
    EXPECT_FALSE(Find(review, path)->dirty_base) << path;
  }
  EXPECT_EQ(scene_.Published(review), scene_.Added());
}

TEST_F(DriverTest, ChangedContentIsRefusedByName) {
  scene_.Write("a.bin", "changed\n");
  scene_.Write("new.bin", "new\n");
  scene_.Write("secret.txt", "changed\n");
  scene_.Write("secret.new", "new\n");
  scene_.Write("t.u16", std::string("j\0a\0\n\0", 6));
  const Review review = Reviewed_();
  EXPECT_THAT(Refusal(review, "a.bin"), HasSubstr("publish.lfs: Git LFS"));
  EXPECT_THAT(Refusal(review, "new.bin"), HasSubstr("publish.lfs"));
  EXPECT_THAT(Refusal(review, "secret.txt"),
              HasSubstr("publish.filter: the filter driver 'git-crypt'"));
  EXPECT_THAT(Refusal(review, "secret.new"), HasSubstr("git-crypt"));
  EXPECT_THAT(Refusal(review, "t.u16"),
              HasSubstr("publish.encoding: working-tree-encoding UTF-16LE"));
  EXPECT_EQ(scene_.Published(review), scene_.TreeAt(scene_.base));
  EXPECT_THAT(patch_,
              HasSubstr("# secret.txt: cannot be published: the filter driver 'git-crypt'"));
}

TEST_F(DriverTest, APointerInPlaceOfItsContentIsNoChange) {
  scene_.Write("a.bin", Pointer("large content\n"));
  const Review review = Reviewed_();
  EXPECT_THAT(review.paths, testing::IsEmpty());
  EXPECT_THAT(review.equal, testing::ElementsAre("a.bin"));
}

TEST_F(DriverTest, TheContentOfThePointerIsNoChangeWhereTheTreeHeldThePointer) {
  scene_.repo.Write("c.bin", Pointer("third content\n"));  // the user's checkout skipped LFS
  scene_.Open();
  scene_.Write("c.bin", "third content\n");
  const Review review = Reviewed_();
  EXPECT_THAT(review.paths, testing::IsEmpty());
  EXPECT_THAT(review.equal, testing::ElementsAre("c.bin"));
}

TEST_F(DriverTest, AttributesThatThePayloadWroteChangeNothing) {
  scene_.Write(".gitattributes", "* -filter -text\n");
  scene_.Write("secret.txt", "plain text\n");
  scene_.Write("run.bat", "one\r\ntwo\r\nthree\r\n");
  const Review review = Reviewed_();
  EXPECT_THAT(Refusal(review, "secret.txt"), HasSubstr("git-crypt"));
  EXPECT_EQ(Find(review, "run.bat")->new_oid, git::Repo::HashBlob("one\ntwo\nthree\n"));
  EXPECT_EQ(Find(review, ".gitattributes")->gate.rule_id, "gate.attributes");
}

TEST_F(DriverTest, LfsFilesBecomePointersOnRequest) {
  scene_.Write("a.bin", "changed\n");
  scene_.Write("new.bin", "new\n");
  scene_.Write("empty.bin", "");
  scene_.Write("forged.bin", Pointer("nobody has this\n"));
  scene_.Write("secret.txt", "changed\n");
  const Review review = scene_.Make({.lfs = true});
  EXPECT_EQ(Find(review, "a.bin")->new_oid, git::Repo::HashBlob(Pointer("changed\n")));
  EXPECT_EQ(Find(review, "new.bin")->new_oid, git::Repo::HashBlob(Pointer("new\n")));
  EXPECT_EQ(Find(review, "empty.bin")->new_oid, git::Repo::HashBlob(""));
  EXPECT_TRUE(Find(review, "a.bin")->in_commit && Find(review, "a.bin")->lfs);
  EXPECT_THAT(Refusal(review, "forged.bin"), HasSubstr("publish.lfs"));
  EXPECT_THAT(Refusal(review, "secret.txt"), HasSubstr("publish.filter"));
  EXPECT_FALSE(Ran());
}

TEST_F(DriverTest, TheUsersOwnEditOfAnLfsFileIsUncommitted) {
  scene_.repo.Write("a.bin", "the user's edit\n");
  scene_.Do("chmod +x a.bin");
  scene_.Write("a.bin", "the user's edit\n");
  const Review review = Reviewed_();
  EXPECT_TRUE(Find(review, "a.bin")->dirty_base);
  EXPECT_THAT(Refusal(review, "a.bin"), HasSubstr("publish.lfs"));
}

TEST(AutocrlfTest, InputAndTrueGiveWhatGitAddGives) {
  for (const char* setting : {"input", "true"}) {
    Scene scene;
    scene.repo.Write("lf", "a\nb\n");
    scene.repo.Write("crlf", "a\r\nb\r\n");
    scene.repo.CommitAll();
    scene.repo.Config("core.autocrlf", setting);
    scene.Open();
    scene.Write("lf", "a\r\nb\r\nc\r\n");
    scene.Write("crlf", "a\r\nb\r\nc\r\n");  // committed with CRLF: stays
    scene.Write("new", "n\r\n");
    scene.Write("bin", std::string("a\0\r\n", 4));
    const Review review = scene.Make();
    EXPECT_EQ(scene.Published(review), scene.Added()) << setting;
    const std::string note = Find(review, "lf")->note;
    EXPECT_EQ(note.empty(), std::string_view(setting) == "true") << note;
  }
}

TEST(AutocrlfTest, SafecrlfRefusesWhatWouldNotComeBack) {
  Scene scene;
  scene.repo.Write(".gitattributes", "*.txt text\n");
  scene.repo.CommitAll();
  scene.repo.Config("core.safecrlf", "true");
  scene.Open();
  scene.Write("a.txt", "1\r\n2\r\n");
  scene.Write("b.txt", "1\n2\n");
  const Review review = scene.Make();
  EXPECT_EQ(Find(review, "a.txt")->refused_rule, "publish.safecrlf");
  EXPECT_TRUE(Find(review, "b.txt")->in_commit);
  scene.Do("git add a.txt 2>/dev/null && exit 1 || true");  // git refuses it too
}

TEST(AutocrlfTest, OnlyLineEndsDifferingIsEqualForGit) {
  Scene scene;
  scene.repo.Write(".gitattributes", "*.txt text\n");
  scene.repo.Write("a.txt", "1\n2\n");
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("a.txt", "1\r\n2\r\n");
  const Review review = scene.Make();
  EXPECT_THAT(review.paths, testing::IsEmpty());
  EXPECT_THAT(review.equal, testing::ElementsAre("a.txt"));
  EXPECT_EQ(scene.Published(review), scene.Added());
  EXPECT_EQ(scene.Patch(review), "# a.txt: differs on disk, not for git\n");
}

TEST(LfsPointerTest, OnlyWholePointersCount) {
  EXPECT_EQ(ParseLfsPointer(Pointer("x"))->size, 1u);
  EXPECT_EQ(ParseLfsPointer(Pointer("x"))->sha256, Sha256Hex("x"));
  EXPECT_FALSE(ParseLfsPointer(""));
  EXPECT_FALSE(ParseLfsPointer("version https://git-lfs.github.com/spec/v1\nsize 3\n"));
  EXPECT_FALSE(ParseLfsPointer("version https://git-lfs.github.com/spec/v1\noid sha256:" +
                               std::string(64, 'a') + "\nsize 3x\n"));
  EXPECT_FALSE(ParseLfsPointer(Pointer("x") + std::string(1024, ' ')));
}

}  // namespace
}  // namespace bawn::review
