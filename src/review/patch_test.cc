// The rendered patch against the real `git apply`, and what is shown to people.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "git/diff.h"
#include "review/quote.h"
#include "review/renames.h"
#include "review/test_scene.h"

namespace bawn::review {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kNames = {"plain.txt",
                                         "with space.txt",
                                         "tab\there",
                                         "quo\"te",
                                         "back\\slash",
                                         "new\nline",
                                         "ümlaut.txt",
                                         "bad\xff\xfe",
                                         "-dash",
                                         "dir/a.txt",
                                         "dir/b b/c.txt",
                                         "dir/deep/d",
                                         "trailing ",
                                         "a",
                                         "a.b",
                                         "x/y/z/w.sh",
                                         "crlf/one.bat",
                                         "crlf/two.bat",
                                         "mixed.auto",
                                         "\xe2\x80\xae"
                                         "bidi",
                                         "ctl\x01\x1b[31m",
                                         "empty"};

std::string RandomText(std::mt19937& engine) {
  std::string text;
  for (size_t lines = engine() % 40; lines > 0; --lines) {
    text += "line " + std::to_string(engine() % 50);
    text += engine() % 12 == 0 ? "\r\n" : "\n";
  }
  if (!text.empty() && engine() % 4 == 0) text.pop_back();
  return text;
}

std::string Edited(std::string text, std::mt19937& engine) {
  for (size_t edits = 1 + engine() % 3; edits > 0; --edits) {
    const size_t at = text.empty() ? 0 : engine() % text.size();
    switch (engine() % 3) {
      case 0:
        text.insert(at, "inserted\nlines\n");
        break;
      case 1:
        text.erase(at, 5);
        break;
      case 2:
        text += "appended";
        break;
    }
  }
  return text;
}

void RandomEdits(const Scene& scene, std::mt19937& engine) {
  const auto top = std::filesystem::path(scene.truth());
  for (const std::string& name : kNames) {
    const auto path = top / name;
    const bool exists = std::filesystem::exists(std::filesystem::symlink_status(path));
    const std::string old =
        sys::ReadFileAt(AT_FDCWD, path.string(), 1 << 20).value_or(std::string());
    switch (engine() % 9) {
      case 0:
        std::filesystem::remove(path);
        break;
      case 1:
        if (exists) scene.Write(name, Edited(old, engine));
        break;
      case 2:
        if (exists) std::filesystem::permissions(path, std::filesystem::perms(0755));
        break;
      case 3:
        if (exists)
          std::filesystem::rename(path, top / ("renamed " + std::to_string(engine() % 1000)));
        break;
      case 4:
        if (exists) {
          scene.Write("moved/" + name, Edited(old, engine));
          std::filesystem::remove(path);
        }
        break;
      case 5:
        std::filesystem::remove(path);
        if (std::filesystem::exists(path.parent_path())) {
          std::filesystem::create_symlink("target of " + std::to_string(engine() % 9), path);
        }
        break;
      case 6:
        if (!exists) scene.Write(name, RandomText(engine));
        break;
      default:
        break;
    }
  }
}

TEST(PatchTest, AppliesWithGitAndGivesWhatGitAddGives) {
  size_t renames = 0, files = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 engine(seed);
    Scene scene;
    scene.repo.Write(".gitattributes", "*.bat text eol=crlf\n*.auto text=auto\n");
    for (const std::string& name : kNames) {
      if (engine() % 4 != 0) scene.repo.Write(name, name == "empty" ? "" : RandomText(engine));
    }
    scene.repo.CommitAll();
    scene.repo.Shell(
        "rm -rf tree/* && git -C tree checkout -q -f HEAD -- . && git -C tree status -s");
    scene.Open();
    RandomEdits(scene, engine);
    const Review review = scene.Make();
    const auto added = scene.Added();
    ASSERT_EQ(scene.Published(review), added) << "seed " << seed;
    const std::string patch = scene.Patch(review);
    if (added == scene.TreeAt(scene.base)) continue;
    // Onto a fresh checkout with neither attributes nor conversions: the patch speaks git's bytes.
    scene.repo.Write("../patch", patch);
    scene.repo.Shell(
        "git clone -q --no-checkout tree plain && cd plain && git read-tree HEAD && "
        "git apply --whitespace=nowarn --cached ../patch");
    ASSERT_EQ(scene.repo.Shell("git -C plain write-tree"), scene.Do("git write-tree"))
        << "seed " << seed << "\n"
        << patch;
    for (const Reviewed& path : review.paths) {
      renames += path.old_path.empty() ? 0 : 1;
      ++files;
    }
  }
  EXPECT_GT(renames, 20u);
  EXPECT_GT(files, 200u);
}

TEST(PatchTest, SaysWhatGitSays) {
  Scene scene;
  scene.repo.Write("mod.txt", "1\n2\n3\n");
  scene.repo.Write("gone.txt", "x\n");
  scene.repo.Write("old name.txt", "a\nb\nc\nd\ne\nf\ng\nh\n");
  scene.repo.Write("tool", "#!\n");
  scene.repo.Write("pic", std::string("\0\1", 2));
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("mod.txt", "1\nzwei\n3");
  scene.Do(
      "rm gone.txt && mv 'old name.txt' 'näw' && chmod +x tool && ln -s mod.txt link && : > leer");
  scene.Write("pic", std::string("\0\2", 2));
  scene.Write("näw", "a\nb\nc\nd\nE\nf\ng\nh\n");
  const Review review = scene.Make();
  const std::string ours = scene.Patch(review);
  scene.Do("git add -A");
  const std::string git = scene.Do("git -c diff.renames=true diff --cached --abbrev=10");
  EXPECT_EQ(ours, git);
}

TEST(PatchTest, ATypeChangeIsADeletionAndAnAddition) {
  Scene scene;
  scene.repo.Write("f", "content\n");
  scene.repo.CommitAll();
  scene.Open();
  scene.Do("rm f && ln -s target f");
  const std::string ours = scene.Patch(scene.Make());
  scene.Do("git add -A");
  EXPECT_EQ(ours, scene.Do("git diff --cached --abbrev=10"));
}

TEST(PatchTest, NamesAndContentAreSafeOnATerminal) {
  Scene scene;
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("evil\x1b]52;c;x\x07", "\x1b[2Jboo\xe2\x80\xae\x9b\ttab\n");
  const Review review = scene.Make();
  const std::string raw = scene.Patch(review);
  EXPECT_THAT(raw, HasSubstr("\x1b[2J"));  // a pipe gets the bytes
  const std::string safe = scene.Patch(review, {.terminal = true});
  for (const char c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(byte >= 0x20 || c == '\n' || c == '\t') << int{byte};
    EXPECT_NE(byte, 0x7f);
  }
  EXPECT_THAT(safe, AllOf(HasSubstr("boo"), Not(HasSubstr("\xe2\x80\xae"))));
}

TEST(PatchTest, ColoursOnlyWhenAsked) {
  Scene scene;
  scene.repo.Write("f", "1\n");
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("f", "2\n");
  const Review review = scene.Make({.stat = true});
  EXPECT_THAT(scene.Patch(review), Not(HasSubstr("\033")));
  const std::string colour = scene.Patch(review, {.colour = true, .terminal = true});
  EXPECT_THAT(colour, AllOf(HasSubstr("\033[31m-1\033[m\n"), HasSubstr("\033[32m+2\033[m\n"),
                            HasSubstr("\033[36m@@ -1 +1 @@\033[m\n")));
  const auto stat = [&](bool on) {
    return Scene::Rendered([&](int fd) { return RenderStat(review, {.colour = on}, fd); });
  };
  EXPECT_EQ(stat(false), " f | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n");
  EXPECT_THAT(stat(true), HasSubstr("\033[32m+\033[31m-\033[m"));
}

TEST(PatchTest, AFileOverTheCeilingIsNamedNotShown) {
  Scene scene;
  scene.repo.Write("big", std::string(git::kDiffBytesMax + 1, 'x'));
  scene.repo.Write("small", "1\n");
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("big", "short\n");
  scene.Write("small", "2\n");
  const std::string patch = scene.Patch(scene.Make());
  EXPECT_THAT(patch, AllOf(HasSubstr("over 8.0 MiB"), HasSubstr("+2\n"), Not(HasSubstr("+short"))));
}

TEST(PatchTest, ContentThatIsNotWhatWasListedIsAConflict) {
  Scene scene;
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("f", "listed\n");
  const workspace::ChangeSet set = scene.Changes();
  git::Repo repo = scene.repo.Open();
  const auto review = MakeReview(set, scene.Meta(), &repo, {});
  ASSERT_TRUE(review);
  scene.Write("f", "other!\n");
  const UniqueFd null = *sys::Openat2(AT_FDCWD, "/dev/null", O_WRONLY);
  const auto rendered = RenderPatch(*review, set, &repo, scene.Meta(), {}, null.get());
  ASSERT_FALSE(rendered);
  EXPECT_EQ(rendered.error().kind, "changed_while_reading");
  EXPECT_EQ(MakeReview(set, scene.Meta(), &repo, {}).error().kind, "changed_while_reading");
}

TEST(QuoteTest, QuotesAsGitDoes) {
  EXPECT_EQ(QuoteName("a/", "plain name"), "a/plain name");
  EXPECT_EQ(QuoteName("a/", "tab\t\"\\\n"), "\"a/tab\\t\\\"\\\\\\n\"");
  EXPECT_EQ(QuoteName("", "\xc3\xa9\x7f\x01"), "\"\\303\\251\\177\\001\"");
}

TEST(RenameTest, SimilarityIsGits) {
  std::string before, after;
  for (int i = 0; i < 20; ++i) before += "line number " + std::to_string(i) + "\n";
  EXPECT_EQ(Similarity(before, before), 100u);
  after = before + "x\n";
  EXPECT_EQ(Similarity(before, after), 99u);
  EXPECT_EQ(Similarity(before, "nothing of it\n"), 0u);
  EXPECT_EQ(Similarity("", "x\n"), 0u);
}

}  // namespace
}  // namespace bawn::review
