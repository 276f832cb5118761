// The copy rungs: the same tree, the same git, nothing shared with the user's files.
#include "workspace/copy_tree.h"
#include "workspace/test_open.h"

namespace bawn::workspace {
namespace {

class OpenCopyTest : public OpenTest {
 protected:
  void SetUp() override {
    OpenTest::SetUp();
    // Old enough that git need not read a file to know it unchanged.
    tree_.Shell(R"(cd a; echo '*.pem' >> .git/info/exclude; echo SECRET > x.pem; ln -s f link
      chmod 0755 f; git add .; find . -path ./.git -prune -o -type f -exec touch -d \
      '2020-01-02 03:04:05.123456789' {} +; touch -h -d 2020-01-02 link
      git add .; git commit -qm two
      touch -d 2020-01-03 src; mkfifo fifo; echo fifo >> .git/info/exclude)");
  }
  OpenRequest Forced(const std::string& name) const {
    OpenRequest request = Request(name);
    request.force_copy = true;
    return request;
  }
};

TEST_F(OpenCopyTest, LooksLikeTheTreeAndGitFindsNothingToRead) {
  const char* look =
      "find . -path ./.git -prune -o ! -name . ! -name fifo ! -name x.pem -printf "
      "'%p %y %m %s %T@ %l\\n' | sort; cat f src/deep/g; git describe --dirty --always";
  std::string expected = tree_.Line(std::string("cd a; ") + look), before = Picture("a");
  Opened opened = Open(Forced("a"));
  EXPECT_TRUE(opened.facts.rung == "copy" || opened.facts.rung == "reflink");
  EXPECT_GT(opened.meta.extra.GetInt("copied_at_ns"), opened.meta.opened_at_ns - 1);
  EXPECT_NE(Joined(opened.notes).find("not in the copy (sockets, FIFOs, devices): fifo"),
            std::string::npos);
  EXPECT_EQ(Inside(opened, look), expected);
  // Plumbing that does not refresh the index: any stat difference would show (E-13).
  EXPECT_EQ(
      Inside(opened, "git diff-files; git diff-index HEAD; cat x.pem; git status --porcelain"), "");
  ExpectGitWorks(opened);
  EXPECT_EQ(Picture("a"), before);
}

TEST_F(OpenCopyTest, WritingInPlaceNeverReachesTheUsersFiles) {
  std::string before = Picture("a");
  Opened opened = Open(Forced("a"));
  Inside(opened, R"(for f in $(find . -type f); do chmod u+w $f; echo evil >> $f; done)");
  EXPECT_EQ(Picture("a"), before);
}

TEST_F(OpenCopyTest, LinkedWorktreesAndSubmodules) {
  tree_.Shell(R"(git init -q sub; git -C sub commit -q --allow-empty -m s; cd a
    git submodule -q add ../sub ext/sub; git commit -qm s; git worktree add -q ../w)");
  for (const char* name : {"a", "w", "a/ext/sub"}) {
    SCOPED_TRACE(name);
    Opened opened = Open(Forced(name));
    ExpectGitWorks(opened);
  }
  EXPECT_EQ(tree_.Line("git -C a status --porcelain; git -C w status --porcelain"), "");
}

TEST_F(OpenCopyTest, APrivatePlaceNeedsNoMount) {
  tree_.Shell(R"(git init -q sub; git -C sub commit -q --allow-empty -m s; cd a
    git submodule -q add ../sub ext/sub; git commit -qm s; git worktree add -q ../w
    git config remote.o.url https://TOKEN@h/x)");
  for (const char* name : {"a", "w", "a/ext/sub"}) {
    SCOPED_TRACE(name);
    OpenRequest request = Request(name);
    request.private_place = true;
    std::string before = Picture("a");
    Opened opened = Open(request);
    EXPECT_TRUE(opened.facts.ops.empty());
    EXPECT_EQ(opened.facts.path, dir_.path + "/layers/0/upper");
    EXPECT_EQ(opened.meta.workspace_path, Path(name));
    EXPECT_EQ(opened.facts.readable, opened.meta.object_dirs);
    EXPECT_EQ(opened.meta.object_dirs[0],
              Path(name == std::string("a/ext/sub") ? "a/.git/modules/ext/sub/objects"
                                                    : "a/.git/objects"));
    tree_.Shell("cd '" + opened.facts.path + R"sh('; test -z "$(git status --porcelain)"
      test "$(git rev-parse --show-toplevel)" = "$PWD"; ! grep -r TOKEN .; git fsck
      echo x > n; git add n; git commit -qm inside; git log -1 --format=%s | grep -q inside)sh");
    EXPECT_EQ(Picture("a"), before);
  }
}

TEST_F(OpenCopyTest, CeilingsHoldAtTheirLimitAndOver) {
  tree_.Shell(
      "mkdir -p t/d; head -c 1000 /dev/zero > t/a; head -c 500 /dev/zero > t/d/b; ln -s a t/l");
  UniqueFd from = *sys::OpenDir(AT_FDCWD, Path("t"));
  auto copy = [&](uint64_t bytes, uint64_t entries) {
    tree_.Shell("rm -rf to; mkdir to");
    UniqueFd to = *sys::OpenDir(AT_FDCWD, Path("to"));
    return CopyTree(from.get(), to.get(), {bytes, entries, {}});
  };
  Result<CopyReport> copied = copy(1500, 4);
  ASSERT_TRUE(copied);
  EXPECT_EQ(copied->entries, 4U);
  EXPECT_EQ(copy(1500, 3).error().code, ErrorCode::kResourceExhausted);
  if (copied->any_plain) {  // a reflink takes no bytes
    EXPECT_EQ(copied->bytes, 1500U);
    EXPECT_EQ(copy(1499, 4).error().code, ErrorCode::kResourceExhausted);
  }
}

TEST_F(OpenCopyTest, DepthAtItsLimitAndOver) {
  auto nested = [&](int depth) {
    tree_.Shell("rm -rf deep to; mkdir deep to; cd deep; mkdir -p $(printf 'd/%.0s' $(seq " +
                std::to_string(depth) + "))");
    UniqueFd from = *sys::OpenDir(AT_FDCWD, Path("deep")), to = *sys::OpenDir(AT_FDCWD, Path("to"));
    return bool(CopyTree(from.get(), to.get(), {0, 10'000, {}}));
  };
  EXPECT_TRUE(nested(kCopyDepthMax));
  EXPECT_FALSE(nested(kCopyDepthMax + 1));
}

TEST_F(OpenCopyTest, SpecialBitsAreDroppedAndUnreadableFilesAreEmptyNotDeleted) {
  tree_.Shell(
      "cd a; touch suid none; chmod 6755 suid; chmod 0000 none; echo x > closed; "
      "mkdir -m 1777 sticky; mkdir -m 0000 shut; git add suid; git commit -qm s");
  Opened opened = Open(Forced("a"));
  EXPECT_EQ(Inside(opened, "stat -c %a suid sticky"), "755\n777");
  if (getuid() == 0) {
    EXPECT_EQ(Joined(opened.meta.covered), "x.pem\n");  // root reads everything
    return;
  }
  EXPECT_EQ(Joined(opened.meta.covered), "none\nshut\nx.pem\n");
  EXPECT_NE(Joined(opened.notes).find("not readable, so empty inside: none, shut"),
            std::string::npos);
}

}  // namespace
}  // namespace bawn::workspace
