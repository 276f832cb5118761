// Opens workspaces over real repositories and makes them appear for real (test_view.h): what git
// inside says, and that the user's tree and git directory stay as they were.
#include "workspace/open.h"

#include "workspace/test_open.h"

namespace bawn::workspace {
namespace {

TEST_F(OpenTest, MainTree) {
  std::string before = Picture("a");
  Opened opened = Open(Request("a"));
  EXPECT_EQ(opened.facts.rung, "overlay");
  EXPECT_EQ(opened.facts.path, Path("a"));
  EXPECT_EQ(opened.meta.base_ref, "refs/heads/main");
  EXPECT_EQ(opened.meta.base_commit, tree_.Line("git -C a rev-parse HEAD"));
  EXPECT_EQ(Joined(opened.notes), "");
  EXPECT_EQ(Inside(opened, "ls -A; cat f src/deep/g"), ".git\n.gitignore\nf\nsrc\nx.o\none\ntwo");
  EXPECT_EQ(Inside(opened, "git describe --dirty"), "v1");
  ExpectGitWorks(opened);
  EXPECT_EQ(Picture("a"), before);
  EXPECT_EQ(
      tree_.Line("git -C a fsck 2>&1; git -C a for-each-ref refs/bawn --format='%(objectname)'"),
      opened.meta.base_commit);
}

TEST_F(OpenTest, ReopenShowsTheChangesAgain) {
  OpenRequest request = Request("a");
  Opened opened = Open(request);
  Inside(opened, "echo changed > f; rm src/deep/g; git add -A; git commit -qm inside");
  ASSERT_TRUE(WriteMeta(dir_, opened.meta, false));
  Result<Opened> again = Reopen(dir_, *ReadMeta(dir_), request);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(Inside(*again, "cat f; ls src/deep; git log -1 --format=%s; git status --porcelain"),
            "changed\ninside");
  tree_.Shell("mv a b; mkdir a");
  EXPECT_EQ(Reopen(dir_, *ReadMeta(dir_), request).error().rule, "workspace.replaced");
}

TEST_F(OpenTest, LinkedWorktreesAbsoluteRelativeAndBare) {
  tree_.Shell(R"(cd a; git worktree add -q ../w; git worktree add -q ../r; cd ..
    echo 'gitdir: ../a/.git/worktrees/r' > r/.git
    mkdir p; git clone -q --bare a p/.bare; echo 'gitdir: ./.bare' > p/.git
    git -C p/.bare worktree add -q ../tree main)");
  for (const char* name : {"w", "r", "p/tree"}) {
    SCOPED_TRACE(name);
    std::string before = Picture(name), all = tree_.Shell("git -C a for-each-ref | grep -v bawn");
    Opened opened = Open(Request(name));
    EXPECT_EQ(Inside(opened, "cat .git"), tree_.Line(std::string("cat ") + name + "/.git"));
    EXPECT_EQ(Inside(opened, "git rev-parse --absolute-git-dir"),
              tree_.Line(std::string("cd ") + name + "; git rev-parse --absolute-git-dir"));
    ExpectGitWorks(opened);
    EXPECT_EQ(Picture(name), before);
    EXPECT_EQ(tree_.Shell("git -C a for-each-ref | grep -v bawn"), all);
  }
  EXPECT_EQ(tree_.Line("git -C a worktree list | wc -l"), "3");
}

TEST_F(OpenTest, SubmodulesTwoDeepAndASubmodulesRoot) {
  tree_.Shell(R"(git init -q leaf; git -C leaf commit -q --allow-empty -m l
    git init -q mid; cd mid; git submodule -q add ../leaf libs/leaf; git commit -qm m; cd ..
    cd a; git submodule -q add ../mid ext/mid; git commit -qm s
    git submodule -q update --init --recursive; git config --global --unset protocol.file.allow)");
  std::string before = Picture("a");
  Opened opened = Open(Request("a"));
  EXPECT_EQ(Inside(opened, "git submodule status --recursive"),
            tree_.Line("cd a; git submodule status --recursive"));
  ExpectGitWorks(opened);
  EXPECT_EQ(Inside(opened, R"(cd ext/mid/libs/leaf; echo x > x; git add x; git commit -qm deep
    cd ../..; git commit -qam mid; cd ../..; git commit -qam top; git status --porcelain
    git -C ext/mid/libs/leaf log -1 --format=%s; git fsck; git -C ext/mid fsck)"),
            "deep");
  EXPECT_EQ(Picture("a"), before);

  Opened sub = Open(Request("a/ext/mid"));
  EXPECT_EQ(sub.meta.git_target, Path("a/.git/modules/ext/mid"));
  ExpectGitWorks(sub);
  EXPECT_EQ(Inside(sub, "git -C libs/leaf status --porcelain"), "");
  EXPECT_EQ(Picture("a"), before);
}

TEST_F(OpenTest, SparseShallowSplitUnbornDetachedSymlinkedAndSharedObjects) {
  tree_.Shell(R"(git clone -q --depth 1 file://$PWD/a shallow
    git clone -q a sparse; git -C sparse sparse-checkout set --cone src
    git clone -q a split; git -C split update-index --split-index; echo y > split/h
    git -C split add h; git -C split commit -qm h
    git clone -q a detached; git -C detached checkout -q --detach
    git clone -q a packed; git -C packed pack-refs --all
    git clone -q a linked; mv linked/.git dotgit; ln -s ../dotgit linked/.git
    git clone -q --shared a s1; git clone -q --shared s1 s2; git clone -q --reference s1 a ref)");
  for (const char* name :
       {"shallow", "sparse", "split", "detached", "packed", "linked", "s2", "ref"}) {
    SCOPED_TRACE(name);
    std::string before = Picture(name);
    Opened opened = Open(Request(name));
    EXPECT_EQ(
        Inside(opened, "git log --format=%H; git for-each-ref --format='%(refname) %(objectname)'"),
        tree_.Line(std::string("cd ") + name +
                   "; git log --format=%H; git for-each-ref --format='%(refname) "
                   "%(objectname)' | grep -v bawn"));
    ExpectGitWorks(opened);
    EXPECT_EQ(Picture(name), before);
  }
  tree_.Shell("git init -q unborn; touch unborn/file");
  Opened unborn = Open(Request("unborn"));
  EXPECT_EQ(unborn.meta.base_commit, "");
  EXPECT_EQ(Inside(unborn,
                   "git status --porcelain; git add .; git commit -qm first; git log --format=%s"),
            "?? file\nfirst");
}

TEST_F(OpenTest, ObjectsOfAlternatesAreReadOnlyAndNothingElseOfTheirRepository) {
  tree_.Shell("git clone -q --shared a s1; git clone -q --shared s1 s2");
  Opened opened = Open(Request("s2"));
  EXPECT_EQ(opened.meta.object_dirs.size(), 3U);
  EXPECT_EQ(Inside(opened, "ls /.bawn/objects; wc -c < /.bawn/objects/0/info/alternates"),
            "0\n1\n2\n0");
  int status = 0;
  TestView::Run(opened.facts, "touch /.bawn/objects/0/x", &status);
  EXPECT_NE(status, 0);
  TestView::Run(opened.facts, "ls " + Path("a"), &status);
  EXPECT_NE(status, 0);
  tree_.Shell(
      "rm s2/.git/objects/info/alternates; echo /does/not/exist > s2/.git/objects/info/alternates");
  EXPECT_NE(Joined(Open(Request("s2")).notes).find("/does/not/exist"), std::string::npos);
}

TEST_F(OpenTest, NotARepositoryPartOfOneAndUnsupportedFormats) {
  tree_.Shell(R"(mkdir plain; echo x > plain/x; git init -q --object-format=sha256 h
    echo x > h/x; git -C h add .; git -C h commit -qm x
    git init -q reft; git -C reft config x.token SECRET
    git -C reft config core.repositoryformatversion 1
    git -C reft config extensions.refStorage reftable)");
  Opened plain = Open(Request("plain"));
  EXPECT_EQ(Inside(plain, "cat x; echo y > x; cat x"), "x\ny");
  EXPECT_EQ(plain.meta.common_dir, "");
  EXPECT_EQ(tree_.Line("cat plain/x"), "x");

  OpenRequest part = Request("a");
  part.root = Path("a/src");
  Opened below = Open(part);
  EXPECT_NE(Joined(below.notes).find("part of the work tree"), std::string::npos);
  EXPECT_EQ(Inside(below, "cat deep/g; git status 2>/dev/null || echo none"), "two\nnone");

  Opened sha256 = Open(Request("h"));
  EXPECT_NE(Joined(sha256.notes).find("sha256"), std::string::npos);
  EXPECT_EQ(Inside(sha256, "git status --porcelain; git log --format=%s; git fsck"), "x");

  Opened reftable = Open(Request("reft"));
  EXPECT_NE(Joined(reftable.notes).find("reftable"), std::string::npos);
  EXPECT_EQ(Inside(reftable, "ls -A .git; git status 2>/dev/null || echo none"), "none");
}

TEST_F(OpenTest, StatesInProgressAndAMissingIdentityAreSaid) {
  tree_.Shell(R"(cd a; git checkout -q -b o; echo o > f; git commit -qam o; git checkout -q main
    echo m > f; git commit -qam m; git merge o >/dev/null || true
    git config --global --unset user.email; git config user.useConfigOnly true)");
  Opened opened = Open(Request("a"));
  EXPECT_NE(Joined(opened.notes).find("merge in progress"), std::string::npos);
  EXPECT_NE(Joined(opened.notes).find("no author name and address"), std::string::npos);
}

TEST_F(OpenTest, TheUsersSettingsCountInside) {
  tree_.Shell(R"(git config --global core.excludesFile '~/ignored'; echo '*.swp' > home/ignored
    git config --global core.attributesFile '~/attributes'
    echo '*.txt text eol=crlf' > home/attributes; git config --global core.autocrlf input
    cd a; git config core.fileMode false; touch x.swp; printf 'l\r\n' > t.txt; git add t.txt
    git commit -qm t; chmod 0755 f)");
  Opened opened = Open(Request("a"));
  EXPECT_EQ(Inside(opened,
                   "git status --porcelain; git check-attr eol t.txt; git config "
                   "core.autocrlf; git config core.fileMode"),
            "t.txt: eol: crlf\ninput\nfalse");
  tree_.Shell(R"(git config --global --unset core.excludesFile; mkdir -p home/.config/git
    echo '*.swp' > home/.config/git/ignore)");
  opened = Open(Request("a"));
  EXPECT_EQ(Inside(opened, "git status --porcelain"), "");
}

TEST_F(OpenTest, RepositoryExtensionsThatChangeNothingInsideAreCarriedOrLeftOut) {
  tree_.Shell(R"(cd a; git worktree add -q ../w; git config core.repositoryformatversion 1
    git config extensions.partialClone origin; git config extensions.preciousObjects true
    git config extensions.worktreeConfig true
    git config extensions.relativeWorktrees true)");  // which this git is too old for
  for (const char* name : {"a", "w"}) {
    Opened opened = Open(Request(name));
    EXPECT_EQ(Inside(opened, "git status --porcelain; git config --get-regexp ^extensions"),
              "extensions.partialclone origin\nextensions.preciousobjects true");
    EXPECT_EQ(opened.meta.base_commit.size(), 40U);
  }
}

TEST_F(OpenTest, AVolatileLayerCanBeMountedAgainOnlyAfterItWasSettled) {
  tree_.Shell("git -C a worktree add -q ../w");
  Opened opened = Open(Request("w"));
  EXPECT_FALSE(IsVolatile(dir_));
  int status = 0;
  TestView::Run(opened.facts, "echo x > f", &status);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(IsVolatile(dir_));
  TestView::Run(opened.facts, "true", &status);
  EXPECT_NE(status, 0);  // the kernel's own refusal
  ASSERT_TRUE(ForgetVolatile(dir_));
  EXPECT_FALSE(IsVolatile(dir_));
  EXPECT_EQ(TestView::Run(opened.facts, "cat f; git status --porcelain", &status), "x\n M f\n");
  EXPECT_EQ(status, 0);
}

TEST_F(OpenTest, ATreeSwappedAfterOpeningIsNotMounted) {
  Opened opened = Open(Request("a"));
  tree_.Shell("mv a b; cp -a b a");
  int status = 0;
  EXPECT_EQ(TestView::Run(opened.facts, "true", &status), "view: swapped\n");
  EXPECT_NE(status, 0);
}

}  // namespace
}  // namespace bawn::workspace
