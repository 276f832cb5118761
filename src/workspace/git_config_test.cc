// Every answer is compared with the real git's in the same directory and environment.
#include <algorithm>

#include "workspace/environment.h"
#include "workspace/git_syntax.h"
#include "workspace/repository.h"
#include "workspace/test_tree.h"
#include "workspace/wildmatch.h"

namespace bawn::workspace {
namespace {

class GitConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    tree_.Shell(R"(mkdir -p home/.config/git; git init -q -b main a
      git config --file home/.config/git/config user.name Xdg
      git config --file home/.gitconfig user.email global@x)");
    Set("GIT_CONFIG_NOSYSTEM", "1");
  }
  void Set(const std::string& name, const std::string& value) {
    environment_.push_back(name + "=" + value);
  }
  std::string Exports() const {
    std::string text;
    for (const std::string& entry : environment_) {
      size_t equals = entry.find('=');
      std::string quoted;
      for (char c : entry.substr(equals + 1)) quoted += c == '\'' ? "'\\''" : std::string(1, c);
      text += "export " + entry.substr(0, equals) + "='" + quoted + "'\n";
    }
    return text;
  }
  Result<GitConfig> Read(const std::string& directory) const {
    Result<std::optional<Repository>> repository = FindRepository(tree_.path() + "/" + directory);
    EXPECT_TRUE(repository) << repository.error().message;
    return ReadGitConfig(*repository, tree_.path() + "/home", environment_);
  }
  // All entries and the author are git's.
  void ExpectAsGit(const std::string& directory) const {
    Result<GitConfig> config = Read(directory);
    ASSERT_TRUE(config) << config.error().message;
    std::string mine;
    for (const auto& [key, value] : config->entries) mine += key + "=" + value + "\n";
    std::string in = Exports() + "cd '" + directory + "'\n";
    std::string git = tree_.Shell(in + R"(git config --list -z | perl -0 -ne 'chomp;
        ($k, $v) = split /\n/, $_, 2; $v = "true" unless defined $v;
        print "$k=$v\n" unless $k =~ /^include(if\..*)?\.path$/s')");
    EXPECT_EQ(mine, git);
    Identity author = AuthorIdentity(*config, environment_);
    std::string ident = author.name.empty() || author.email.empty()
                            ? "none"
                            : author.name + " <" + author.email + ">";
    EXPECT_EQ(ident, tree_.Line(in + "(git var GIT_AUTHOR_IDENT 2>/dev/null || echo none) |"
                                     "sed 's/>.*/>/'"))
        << directory;
  }
  TempTree tree_;
  std::vector<std::string> environment_;
};

TEST_F(GitConfigTest, FilesAreReadInGitsOrder) {
  ExpectAsGit("a");
  ExpectAsGit("home");
  tree_.Shell("git -C a config user.name Local; git -C a config author.email author@x");
  ExpectAsGit("a");
  tree_.Shell(R"(git -C a config extensions.worktreeConfig true
    git -C a config --worktree user.name Worktree
    git -C a commit -q --allow-empty -m x; git -C a worktree add -q ../w
    git -C w config --worktree user.email linked@x)");
  ExpectAsGit("a");
  ExpectAsGit("w");
}

TEST_F(GitConfigTest, SyntaxIsGits) {
  tree_.Shell(R"END(cat > a/.git/config <<'EOF'
# comment
; another
[core]
	bare = false ; trailing
	lone
	LOUD
	quoted = "  spaces  # kept " tail
	inner = a  b   c
	escapes = tab\tnl\\n\"q\" \
  continued
	empty =
	odd-key1 = x#y
[remote "Origin \"q\" \\ x"] url = same-line
	Url = second
[Old.SubSection] key = v
[branch "a.b.c"]
	merge = refs/heads/"a"b
EOF
    printf '\357\273\277[crlf]\r\n\tkey = value\r\n\tnext = "a\\\r\nb"\r\n' > home/.gitconfig
    printf '[user]\r\n\temail=c@r\r\n' >> home/.gitconfig)END");
  ExpectAsGit("a");
}

TEST_F(GitConfigTest, MalformedFilesAreRefusedWithGitsLine) {
  for (const char* bad :
       {"[core", "key = v", "[core]\\n1key = v", "[core]\\na = \"open", "[core]\\na = \\\\q",
        "[core]\\na b = c", "[a \"x\\n\"]", "[core]x\\na_b=1"}) {
    tree_.Shell("printf '\\n" + std::string(bad) + "\\n' > home/.gitconfig");
    Result<GitConfig> config = Read("a");
    ASSERT_FALSE(config) << bad;
    std::string git = tree_.Line("cd a; git config --list 2>&1 | grep -o 'line [0-9]*' | head -1");
    EXPECT_NE(config.error().message.find(git + " in"), std::string::npos)
        << bad << ": " << config.error().message << " / " << git;
  }
}

TEST_F(GitConfigTest, ConditionalIncludesByDirectory) {
  tree_.Shell(R"(mkdir -p home/work 'home/odd [x]'; git init -q home/work/p; git init -q home/Other
    git init -q 'home/odd [x]/q'; ln -s work home/link
    git -C home/work/p commit -q --allow-empty -m x; git -C home/work/p worktree add -q ../../lw
    cat > home/.gitconfig <<'EOF'
[user]
	email = global@x
[includeIf "gitdir:~/work/"]
	path = work.inc
[includeIf "gitdir/i:~/oTHER/.git"]
	path = ~/other.inc
[includeIf "gitdir:/odd*/"]
	path = never.inc
[includeIf "gitdir:./odd ?x?/"]
	path = odd.inc
[includeIf "gitdir:~/link/"]
	path = link.inc
[includeIf "nonsense:x"]
	path = never.inc
[include]
	path = missing.inc
EOF
    for n in work other never odd link; do git config --file home/$n.inc user.email $n@x; done)");
  for (const char* name : {"a", "home", "home/work/p", "home/Other", "home/odd [x]/q", "home/lw"}) {
    ExpectAsGit(name);
  }
  EXPECT_EQ(Read("home/work/p")->Get("user.email"), "work@x");
  EXPECT_EQ(Read("home/odd [x]/q")->Get("user.email"), "odd@x");
  Set("PWD", tree_.path() + "/home/link/p");
  EXPECT_EQ(Read("home/work/p")->Get("user.email"), "link@x");
  EXPECT_EQ(tree_.Line("cd home/link/p; git config user.email"), "link@x");
}

TEST_F(GitConfigTest, ConditionalIncludesByBranchAndRemote) {
  tree_.Shell(R"(cat > home/.gitconfig <<'EOF'
[user]
	email = global@x
[includeIf "onbranch:feature/"]
	path = branch.inc
[includeIf "hasconfig:remote.*.url:https://**/corp/**"]
	path = corp.inc
EOF
    for n in branch corp; do git config --file home/$n.inc user.email $n@x; done)");
  ExpectAsGit("a");
  tree_.Shell("git -C a symbolic-ref HEAD refs/heads/feature/x/y");
  ExpectAsGit("a");
  EXPECT_EQ(Read("a")->Get("user.email"), "branch@x");
  tree_.Shell("git -C a remote add o https://host/corp/repo.git");
  ExpectAsGit("a");
  EXPECT_EQ(Read("a")->Get("user.email"), "corp@x");
}

TEST_F(GitConfigTest, IncludeDepthAtItsLimitAndOver) {
  tree_.Shell(R"(cd home; git config --file .gitconfig include.path 1.inc
    for i in 1 2 3 4 5 6 7 8 9; do git config --file $i.inc include.path $((i+1)).inc; done
    git config --file 10.inc user.email deep@x)");
  ExpectAsGit("a");
  EXPECT_EQ(Read("a")->Get("user.email"), "deep@x");
  tree_.Shell("cd home; git config --file 10.inc include.path 11.inc; touch 11.inc");
  EXPECT_FALSE(Read("a"));
  tree_.Shell("cd home; printf '[include]\\n path = .gitconfig\\n' > 10.inc");
  EXPECT_FALSE(Read("a"));  // a circle
}

TEST_F(GitConfigTest, TheEnvironmentIsPartOfIt) {
  tree_.Shell("git config --file extra user.name FromGlobalVariable");
  Set("GIT_CONFIG_COUNT", "2");
  Set("GIT_CONFIG_KEY_0", "User.Email");
  Set("GIT_CONFIG_VALUE_0", "counted@x");
  Set("GIT_CONFIG_KEY_1", "x.Sub Sec.key");
  Set("GIT_CONFIG_VALUE_1", "a\nb");
  ExpectAsGit("a");
  Set("GIT_CONFIG_PARAMETERS", "'user.name'='O'\\''Brien' 'old.style=v' 'lone.key' 'l2.key'=");
  ExpectAsGit("a");
  Set("GIT_CONFIG_GLOBAL", tree_.path() + "/extra");
  ExpectAsGit("a");
  Set("GIT_AUTHOR_NAME", "  Env. <Name>, ");
  ExpectAsGit("a");
  Set("GIT_AUTHOR_EMAIL", "env@x");
  ExpectAsGit("a");
}

TEST_F(GitConfigTest, BrokenEnvironmentIsAnError) {
  Set("GIT_CONFIG_COUNT", "1");
  EXPECT_FALSE(Read("a"));
  environment_.pop_back();
  EXPECT_TRUE(Read("a"));  // control
  Set("GIT_CONFIG_PARAMETERS", "'open");
  EXPECT_FALSE(Read("a"));
}

TEST_F(GitConfigTest, NoIdentityIsAbsentOrWhatGitMakesUp) {
  tree_.Shell("rm -r home/.gitconfig home/.config");
  ExpectAsGit("a");
  tree_.Shell("git -C a config user.useConfigOnly true");
  ExpectAsGit("a");
  EXPECT_EQ(AuthorIdentity(*Read("a"), environment_).email, "");
  tree_.Shell("git -C a config user.useConfigOnly false; git -C a config user.name Only");
  Set("EMAIL", "mail@variable");
  ExpectAsGit("a");
  EXPECT_EQ(AuthorIdentity(*Read("a"), environment_).email, "mail@variable");
}

TEST(WildMatchTest, AsGitsOwnTests) {
  // From git's t3070-wildmatch.sh: text, pattern, result with WM_PATHNAME.
  struct Row {
    const char* text;
    const char* pattern;
    bool matches;
  };
  const Row rows[] = {
      {"foo", "foo", true},
      {"foo", "bar", false},
      {"", "", true},
      {"foo", "???", true},
      {"foo", "*f", false},
      {"foo", "*foo*", true},
      {"aaaaaaabababab", "*ab", true},
      {"foo*", "foo\\*", true},
      {"ball", "*[al]?", true},
      {"ten", "[ten]", false},
      {"ten", "**[!te]", true},
      {"ten", "t[a-g]n", true},
      {"ton", "t[!a-g]n", true},
      {"a]b", "a[]]b", true},
      {"a-b", "a[]-]b", true},
      {"]", "]", true},
      {"foo/baz/bar", "foo*bar", false},
      {"foo/baz/bar", "foo**bar", false},
      {"foobazbar", "foo**bar", true},
      {"foo/baz/bar", "foo/**/bar", true},
      {"foo/b/a/z/bar", "foo/**/bar", true},
      {"foo/bar", "foo/**/bar", true},
      {"foo/bar", "foo/**/**/bar", true},
      {"foo/bar", "foo?bar", false},
      {"foo/bar", "foo[/]bar", false},
      {"foo", "**/foo", true},
      {"YYY/foo", "**/foo", true},
      {"bar/baz/foo", "**/foo", true},
      {"bar/baz/foo", "*/foo", false},
      {"foo/bar/baz", "**/bar*", false},
      {"deep/foo/bar/baz", "**/bar/*", true},
      {"deep/foo/bar/baz/", "**/bar/*", false},
      {"deep/foo/bar/baz/", "**/bar/**", true},
      {"deep/foo/bar", "**/bar/*", false},
      {"foo/bar/baz", "**/bar/**", true},
      {"foo/bba/arr", "f*a*r", false},
      {"foo", "foo/**", false},
      {"a1B", "[a-y][1-3][[:upper:]]", true},
      {"5", "[[:digit:][:upper:]]", true},
      {"a", "[[:digit:]", false},
      {"-", "[--A]", true},
      {"/", "[--A]", false},
      {"abc", "a[^x]c", true},
      {"ab/cd/ef", "ab/**", true},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*a*a*a*a*c", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(WildMatch(row.pattern, row.text), row.matches) << row.pattern << " " << row.text;
  }
  EXPECT_TRUE(WildMatch("A[b-c]d", "aBD", true));
  EXPECT_FALSE(WildMatch("A[b-c]d", "aBD"));
}

}  // namespace
}  // namespace bawn::workspace
