// Every repository here is made by the real git.
#include "workspace/repository.h"

#include <algorithm>

#include "base/text.h"
#include "workspace/git_syntax.h"
#include "workspace/test_tree.h"

namespace bawn::workspace {
namespace {

class RepositoryTest : public testing::Test {
 protected:
  void SetUp() override {
    tree_.Shell(R"(mkdir home; git config --global user.name N; git config --global user.email e@x
      git config --global init.defaultBranch main; git config --global protocol.file.allow always
      git init -q a; cd a; mkdir -p src/deep; echo one > f; echo two > src/deep/g
      git add .; git commit -qm one)");
  }
  std::string Path(const std::string& name) const { return tree_.path() + "/" + name; }
  Repository Find(const std::string& name) const {
    Result<std::optional<Repository>> found = FindRepository(Path(name));
    EXPECT_TRUE(found) << found.error().message;
    EXPECT_TRUE(found && *found) << name;
    return found && *found ? **found : Repository();
  }
  Error FindError(const std::string& name) const {
    Result<std::optional<Repository>> found = FindRepository(Path(name));
    EXPECT_FALSE(found) << name;
    return found ? Error() : found.error();
  }
  // Directories, HEAD and every ref are what git itself says in that directory.
  void ExpectAsGit(const std::string& name) const {
    Repository repository = Find(name);
    auto git = [&](const std::string& arguments) {
      return tree_.Line("cd '" + name + "'; git " + arguments + " || true");
    };
    EXPECT_EQ(repository.work_tree, git("rev-parse --show-toplevel"));
    EXPECT_EQ(repository.git_dir, git("rev-parse --absolute-git-dir"));
    EXPECT_EQ(repository.common_dir,
              tree_.Line("cd '" + name + "'; realpath $(git rev-parse --git-common-dir)"));
    EXPECT_EQ(repository.head_ref, git("symbolic-ref -q HEAD"));
    EXPECT_EQ(repository.head_commit, git("rev-parse -q --verify HEAD"));
    std::string refs;
    for (const auto& [ref, hex] : repository.refs) refs += hex + " " + ref + "\n";
    std::string expected = tree_.Shell(
        "cd '" + name +
        "'; git for-each-ref --format='%(if)%(symref)%(then)%(else)%(objectname) %(refname)%(end)'"
        " | grep . | grep -v refs/bawn/ || true");
    EXPECT_EQ(refs, expected);
  }
  TempTree tree_;
};

TEST_F(RepositoryTest, MainTreeFromASubdirectory) {
  ExpectAsGit("a/src/deep");
  Repository repository = Find("a/src/deep");
  EXPECT_EQ(repository.work_tree, Path("a"));
  EXPECT_FALSE(repository.dot_git_is_file);
  EXPECT_EQ(repository.object_dirs, std::vector{Path("a/.git/objects")});
  EXPECT_EQ(repository.unsupported, "");
}

TEST_F(RepositoryTest, NoRepositoryNoHeadAndBareAreAbsent) {
  tree_.Shell("mkdir -p none/.git; git init -q --bare bare");
  for (const char* name : {"none", "home", "bare", "bare/refs"}) {
    Result<std::optional<Repository>> found = FindRepository(Path(name));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(*found) << name;
  }
}

TEST_F(RepositoryTest, UnbornAndDetachedHead) {
  tree_.Shell("git init -q b; cd a; git checkout -q --detach");
  ExpectAsGit("b");
  EXPECT_EQ(Find("b").head_commit, "");
  EXPECT_EQ(Find("b").head_ref, "refs/heads/main");
  ExpectAsGit("a");
  EXPECT_EQ(Find("a").head_ref, "");
}

TEST_F(RepositoryTest, LooseRefsHidePackedOnes) {
  tree_.Shell(R"(cd a; git branch x/y; git branch z; git tag -a -m t v1; git pack-refs --all
    echo 2 > f; git commit -qam two; git branch -f z; git update-ref refs/stash HEAD
    git update-ref refs/bawn/base/sb_x HEAD; git update-ref refs/bisect/bad HEAD)");
  Repository repository = Find("a");
  ASSERT_EQ(repository.refs.size(), 5U);
  std::string names;
  for (const auto& [name, hex] : repository.refs) names += name + " ";
  EXPECT_EQ(names, "refs/heads/main refs/heads/x/y refs/heads/z refs/stash refs/tags/v1 ");
  tree_.Shell("cd a; git update-ref -d refs/bisect/bad");
  ExpectAsGit("a");
}

TEST_F(RepositoryTest, CloneHasSymbolicRefs) {
  tree_.Shell("git clone -q a c");
  ExpectAsGit("c");
  Repository repository = Find("c");
  ASSERT_EQ(repository.symbolic_refs.size(), 1U);
  EXPECT_EQ(repository.symbolic_refs[0].first, "refs/remotes/origin/HEAD");
  EXPECT_EQ(repository.symbolic_refs[0].second, "refs/remotes/origin/main");
}

TEST_F(RepositoryTest, SymbolicRefsEndAtTheirDepth) {
  tree_.Shell(R"(cd a; git symbolic-ref refs/heads/l1 refs/heads/main
    for i in 2 3 4 5; do git symbolic-ref refs/heads/l$i refs/heads/l$((i-1)); done
    git symbolic-ref HEAD refs/heads/l4)");
  EXPECT_EQ(Find("a").head_commit, tree_.Line("cd a; git rev-parse refs/heads/main"));
  tree_.Shell("cd a; git symbolic-ref HEAD refs/heads/l5");
  EXPECT_EQ(Find("a").head_commit, "");
  tree_.Shell("cd a; git symbolic-ref refs/heads/l1 refs/heads/l5");
  EXPECT_EQ(Find("a").head_commit, "");
}

TEST_F(RepositoryTest, LinkedWorktreesAbsoluteRelativeAndOfABareRepository) {
  tree_.Shell(R"(cd a; git worktree add -q ../w; git worktree add -q ../r; cd ..
    echo 'gitdir: ../a/.git/worktrees/r' > r/.git
    git clone -q --bare a p.git; git -C p.git worktree add -q ../pw main)");
  for (const char* name : {"w", "r", "pw"}) {
    ExpectAsGit(name);
    EXPECT_TRUE(Find(name).dot_git_is_file);
  }
  EXPECT_EQ(Find("w").common_dir, Path("a/.git"));
  EXPECT_EQ(Find("pw").common_dir, Path("p.git"));
  // With per-worktree config, as `git sparse-checkout` leaves it: core.bare moves.
  tree_.Shell(R"(cd p.git; git config extensions.worktreeConfig true; git config --unset core.bare
    git config --file config.worktree core.bare true)");
  ExpectAsGit("pw");
  EXPECT_FALSE(*FindRepository(Path("p.git")));
}

TEST_F(RepositoryTest, SubmodulesTwoDeep) {
  tree_.Shell(R"(git init -q leaf; git -C leaf commit -q --allow-empty -m l
    git init -q mid; cd mid; git submodule -q add ../leaf libs/leaf; git commit -qm m; cd ..
    cd a; git submodule -q add ../mid ext/mid; git submodule -q add ../leaf unused
    git commit -qm s; git submodule -q deinit unused
    git submodule -q update --init --recursive ext/mid)");
  Repository repository = Find("a");
  ASSERT_EQ(repository.submodules.size(), 2U);
  EXPECT_EQ(repository.submodules[0].path, "ext/mid");
  EXPECT_EQ(repository.submodules[0].git_dir, Path("a/.git/modules/ext/mid"));
  EXPECT_EQ(repository.submodules[1].path, "ext/mid/libs/leaf");
  EXPECT_EQ(repository.submodules[1].git_dir, Path("a/.git/modules/ext/mid/modules/libs/leaf"));
  ExpectAsGit("a/ext/mid");
  ExpectAsGit("a/ext/mid/libs/leaf");
}

TEST_F(RepositoryTest, SubmodulePathsThatLeaveTheTreeAreIgnored) {
  tree_.Shell(R"(cd a; ln -s ../a link
    printf '[submodule "x"]\npath=../a\n[submodule "y"]\npath=link\n[submodule "z"]\npath=/\n' \
      > .gitmodules)");
  EXPECT_TRUE(Find("a").submodules.empty());
}

TEST_F(RepositoryTest, AlternatesChainWithCommentsQuotesAndRelativeEntries) {
  tree_.Shell(R"(git clone -q --shared a s1; git clone -q --shared s1 s2; mkdir 'odd
name'; git clone -q a 'odd
name/o'; printf '# comment\n"%s/odd\\nname/o/.git/objects"\n../../../a/.git/objects\n' "$PWD" \
      > s2/.git/objects/info/more
    echo missing >> s2/.git/objects/info/more
    cat s2/.git/objects/info/more >> s2/.git/objects/info/alternates)");
  Repository repository = Find("s2");
  std::vector<std::string> expected = {Path("s2/.git/objects"), Path("s1/.git/objects"),
                                       Path("a/.git/objects"), Path("odd\nname/o/.git/objects")};
  EXPECT_EQ(repository.object_dirs, expected);
  EXPECT_EQ(repository.missing_alternates, std::vector<std::string>{"missing"});
  ExpectAsGit("s2");
}

TEST_F(RepositoryTest, AlternatesHoldTheirDepth) {
  tree_.Shell(R"(prev=a; for i in 1 2 3 4 5 6 7; do git init -q d$i
    echo "../../../$prev/.git/objects" > d$i/.git/objects/info/alternates; prev=d$i; done)");
  EXPECT_EQ(Find("d5").object_dirs.size(), 6U);
  EXPECT_TRUE(Find("d5").missing_alternates.empty());
  EXPECT_EQ(Find("d6").object_dirs.size(), 6U);
  EXPECT_EQ(Find("d6").missing_alternates.size(), 1U);
}

TEST_F(RepositoryTest, ShapesGitAcceptsAreAccepted) {
  tree_.Shell(R"(git clone -q --depth 1 file://$PWD/a shallow; git clone -q a sparse
    git -C sparse sparse-checkout set --cone src; git clone -q a split
    git -C split update-index --split-index; git clone -q a part
    git -C part config core.repositoryformatversion 1
    git -C part config extensions.partialClone origin
    git -C part config extensions.preciousObjects true
    git -C part config extensions.relativeWorktrees true; git init -q new)");
  for (const char* name : {"shallow", "sparse", "split", "part", "new"}) {
    EXPECT_EQ(Find(name).unsupported, "") << name;
  }
  for (const char* name : {"shallow", "sparse", "split", "new"}) ExpectAsGit(name);
  EXPECT_TRUE(Find("sparse").worktree_config);
}

TEST_F(RepositoryTest, UnsupportedFormatsAreNamed) {
  tree_.Shell(R"(git init -q --object-format=sha256 h; git -C h commit -q --allow-empty -m x
    for n in reftable foo; do git init -q $n; git -C $n config core.repositoryformatversion 1; done
    git -C reftable config extensions.refStorage reftable; git -C foo config extensions.foo true
    git init -q v9; git -C v9 config core.repositoryformatversion 9
    git init -q away; git -C away config core.worktree ../../home)");
  EXPECT_EQ(Find("h").unsupported, "sha256");
  ExpectAsGit("h");
  EXPECT_EQ(Find("reftable").unsupported, "reftable");
  EXPECT_EQ(Find("foo").unsupported, "extension foo");
  EXPECT_EQ(Find("v9").unsupported, "repository format 9");
  EXPECT_EQ(Find("away").unsupported, "core.worktree elsewhere");
}

TEST_F(RepositoryTest, MalformedFilesAreNamed) {
  tree_.Shell(R"(mkdir m1 m2; echo nonsense > m1/.git; echo 'gitdir: /does/not/exist' > m2/.git
    git init -q m3; echo zzz > m3/.git/HEAD; git init -q m4; echo zzz > m4/.git/packed-refs
    git init -q m5; echo '[x' > m5/.git/config; git init -q m6; echo x > m6/.git/refs/heads/bad
    mkdir m7; mkfifo m7/.git)");
  EXPECT_NE(FindError("m1").message.find("m1/.git"), std::string::npos);
  EXPECT_NE(FindError("m2").message.find("/does/not/exist"), std::string::npos);
  EXPECT_NE(FindError("m3").message.find("m3/.git/HEAD"), std::string::npos);
  EXPECT_NE(FindError("m4").message.find("packed-refs"), std::string::npos);
  EXPECT_NE(FindError("m5").message.find("bad config line 1 in"), std::string::npos);
  EXPECT_NE(FindError("m6").message.find("refs/heads/bad"), std::string::npos);
  EXPECT_NE(FindError("m7").message.find("m7/.git"), std::string::npos);
}

TEST_F(RepositoryTest, StatesInProgressAreListed) {
  tree_.Shell(R"(cd a; git checkout -q -b o; echo o > f; git commit -qam o; git checkout -q main
    echo m > f; git commit -qam m; git merge o >/dev/null || true; git bisect start >/dev/null)");
  EXPECT_EQ(Find("a").in_progress, (std::vector<std::string>{"merge", "bisect"}));
}

TEST_F(RepositoryTest, ALinkToTheGitDirectoryIsFollowed) {
  tree_.Shell("mv a/.git real.git; ln -s ../real.git a/.git");
  EXPECT_EQ(Find("a").git_dir, Path("real.git"));
}

// As root: another user's reader is refused, by the effective uid of a child of ours.
TEST_F(RepositoryTest, AnotherUsersRepositoryIsRefusedByName) {
  if (getuid() != 0) {
    // An ordinary user cannot give a tree away; the refusal itself runs when the suite runs as
    // root. What can be shown here is the control.
    EXPECT_EQ(Find("a").work_tree, Path("a"));
    return;
  }
  tree_.Shell("chmod 0755 .; chown -R 4711:4711 a");
  ASSERT_EQ(seteuid(4712), 0);
  Error refused = FindError("a");
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(refused.code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(refused.rule, "repository.owner");
  EXPECT_NE(refused.message.find("4711"), std::string::npos);
  ASSERT_EQ(seteuid(4711), 0);
  Repository own = Find("a");
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(own.work_tree, Path("a"));  // control
  // Root itself has the most to lose in it (docs/adr/0010).
  EXPECT_EQ(FindError("a").rule, "root.foreign_tree");
  tree_.Shell("chown -R 0:0 a; chown 4711:4711 a/.git");
  EXPECT_EQ(FindError("a").rule, "root.foreign_tree");
  tree_.Shell("chown 0:0 a/.git");
  EXPECT_EQ(Find("a").work_tree, Path("a"));  // control
}

TEST(GitSyntaxTest, CQuotesComeBack) {
  size_t end = 0;
  EXPECT_EQ(UnquoteC(R"("a\n\"\\\303\244" rest)", &end), "a\n\"\\\xC3\xA4");
  EXPECT_EQ(end, 17U);
  for (const char* bad : {"plain", "\"open", R"("\q")", R"("\400")", R"("\12)"}) {
    EXPECT_FALSE(UnquoteC(bad, &end)) << bad;
  }
}

TEST(GitSyntaxTest, RefNamesThatWouldLeaveTheDirectoryAreUnsafe) {
  EXPECT_TRUE(IsSafeRefName("refs/heads/a.b/c-d@e"));
  for (const char* bad : {"HEAD", "refs/../x", "refs//x", "refs/.x", "refs/x.lock", "refs/x/",
                          "refs/a b", "refs/a\nb", "refs/a.lock/b", "refs/a:b", "refs/@{x"}) {
    EXPECT_FALSE(IsSafeRefName(bad)) << bad;
  }
}

}  // namespace
}  // namespace bawn::workspace
