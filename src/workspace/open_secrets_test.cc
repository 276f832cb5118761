// What must not be readable inside: tokens of git's config, hooks, logs, protected files; and what
// must keep its content all the same.
#include "workspace/git_syntax.h"
#include "workspace/index_lookup.h"
#include "workspace/private_config.h"
#include "workspace/scan.h"
#include "workspace/test_open.h"

namespace bawn::workspace {
namespace {

using OpenSecretsTest = OpenTest;

// A token in 15 places of a git directory, one word so that grep finds it wherever it went.
constexpr char kPlantTokens[] = R"sh(
  git remote remove origin 2>/dev/null || true
  git remote add origin https://user:TOKEN1@host/x.git
  git config --add remote.origin.pushurl https://TOKEN2@host/x.git
  git config http.https://host/.extraheader 'AUTHORIZATION: basic TOKEN3'
  git config credential.helper '!echo password=TOKEN4'
  git config core.sshCommand 'ssh -o X=TOKEN5'
  git config include.path /tmp/TOKEN6
  git config url.https://TOKEN7@host/.insteadOf gh:
  git config branch.main.remote https://TOKEN8:x@host/y.git
  git config branch.main.description TOKEN9
  git config remote.q.url 'https://host/x.git?private_token=TOKEN10#TOKEN10'
  git config core.hooksPath /TOKEN11; git config alias.x '!echo TOKEN12'
  git config remote.ext.url 'ext::sh -c TOKEN13'; git config user.signingkey TOKEN14
  git config sendemail.smtppass TOKEN15; git config filter.f.clean 'f TOKEN16'
  git config --add remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
  printf '#!/bin/sh\n# TOKEN17\n' > "$(git rev-parse --git-common-dir)/hooks/pre-commit"
  echo TOKEN18 > "$(git rev-parse --git-dir)/FETCH_HEAD"
  echo TOKEN19 > "$(git rev-parse --git-common-dir)/description"
  git config remote.https://TOKEN20@host/z.url https://host/z)sh";

TEST_F(OpenSecretsTest, NoTokenOfAnyGitDirectoryIsInside) {
  tree_.Shell(
      "git init -q sub; git -C sub commit -q --allow-empty -m s; cd a; "
      "git submodule -q add ../sub sub; git commit -qm sub; git worktree add -q ../w; "
      "git init -q nested; git -C nested commit -q --allow-empty -m n");
  for (const char* place : {"a", "a/sub", "a/nested"}) {
    tree_.Shell(std::string("cd ") + place + kPlantTokens);
  }
  ASSERT_NE(tree_.Line("grep -rl TOKEN a/.git a/nested/.git | wc -l"), "0");  // control
  for (const char* name : {"a", "w"}) {
    SCOPED_TRACE(name);
    Opened opened = Open(Request(name));
    std::string git = opened.meta.git_target.empty() ? "" : opened.meta.git_target;
    EXPECT_EQ(Inside(opened, "grep -rl TOKEN . " + git + " || true"), "");
    EXPECT_EQ(tree_.Line("grep -rls TOKEN state/sb/" + dir_.id + " || true"), "");
    EXPECT_EQ(Inside(opened,
                     "git config remote.origin.url; git config remote.origin.fetch; "
                     "git config branch.main.remote"),
              "https://host/x.git\n+refs/heads/*:refs/remotes/origin/*\nhttps://host/y.git");
    EXPECT_EQ(Inside(opened,
                     "cd $(git rev-parse --git-common-dir); "
                     "find hooks logs ! -type d 2>/dev/null || true"),
              "");
  }
}

TEST_F(OpenSecretsTest, NestedRepositoriesWorkAndBrokenOnesAreEmpty) {
  tree_.Shell(R"(cd a; git clone -q . vendor; mkdir broken; git clone -q . broken/x
    echo '[oops' > broken/x/.git/config; echo SECRET >> broken/x/.git/config
    mkdir -p bare/.store; git clone -q --bare . bare/.store/r
    git -C bare/.store/r config x.y SECRET; echo 'gitdir: .store/r' > bare/.git)");
  Opened opened = Open(Request("a"));
  EXPECT_EQ(Inside(opened,
                   "git -C vendor status --porcelain; git -C vendor fsck; cd vendor; "
                   "echo x > x; git add x; git commit -qm v; git log -1 --format=%s"),
            "v");
  EXPECT_EQ(Inside(opened, "ls -A broken/x/.git bare/.store/r; grep -r SECRET . || true"),
            "bare/.store/r:\n\nbroken/x/.git:");
  EXPECT_EQ(Joined(opened.meta.covered), "bare/.store/r\n");
  EXPECT_EQ(tree_.Line("git -C a/vendor status --porcelain; cat a/bare/.store/r/config | grep -c "
                       "SECRET"),
            "1");
}

TEST_F(OpenSecretsTest, UntrackedProtectedFilesAreEmptyTrackedOnesAndTemplatesAreNot) {
  tree_.Shell(R"(cd a; mkdir -p certs venvish/certifi sub; echo tracked > certs/test.pem
    echo tracked > .env.test; git add .; git commit -qm t
    echo SECRET > .env; chmod 0600 .env; touch -d '2020-01-02 03:04:05.678' .env sub
    echo SECRET > sub/server.pem; echo SECRET > sub/.env.local; chmod 0750 sub
    echo keep > .env.example; echo keep > venvish/certifi/cacert.pem; ln -s .env link.pem
    mkdir dir.pem; echo keep > dir.pem/x; printf '.env*\n*.pem\nvenvish\nsub\nlink.pem\n' \
      >> .git/info/exclude)");
  Opened opened = Open(Request("a"));
  EXPECT_EQ(Joined(opened.meta.covered), ".env\nsub/.env.local\nsub/server.pem\n");
  EXPECT_NE(Joined(opened.notes).find("covered: .env, sub/.env.local, sub/server.pem"),
            std::string::npos);
  EXPECT_EQ(Inside(opened, R"(grep -r SECRET . || true; cat .env sub/.env.local sub/server.pem
    cat certs/test.pem .env.test .env.example venvish/certifi/cacert.pem dir.pem/x
    git status --porcelain; stat -c '%a %y' .env sub)"),
            tree_.Line("echo tracked; echo tracked; echo keep; echo keep; echo keep; cd a; stat -c "
                       "'%a %y' .env; stat -c '%a %y' sub"));
  OpenRequest request = Request("a");
  request.show = {Path("a/.env")};
  opened = Open(request);
  EXPECT_EQ(Inside(opened, "cat .env sub/server.pem"), "SECRET");
  EXPECT_EQ(Joined(opened.meta.covered), "sub/.env.local\nsub/server.pem\n");
}

TEST_F(OpenSecretsTest, TrackedIsJudgedByTheRepositoryThatHoldsTheFile) {
  tree_.Shell(R"(git init -q sub; echo tracked > sub/.env; git -C sub add .; git -C sub commit -qm s
    cd a; git submodule -q add ../sub sub; git commit -qm sub; echo x > sub/other.pem
    git update-index --split-index; echo t > z.pem; git add -f z.pem; git commit -qm split)");
  Opened opened = Open(Request("a"));
  EXPECT_EQ(Joined(opened.meta.covered), "sub/other.pem\n");
}

TEST_F(OpenSecretsTest, AnEmptyJobLeavesNothingInTheLayer) {
  tree_.Shell("cd a; echo x > .env; echo .env > .git/info/exclude; git clone -q . nested");
  Opened opened = Open(Request("a"));
  Inside(opened, "git status >/dev/null; cat .env; ls -lR >/dev/null");
  EXPECT_EQ(tree_.Line("cd state/sb/" + dir_.id +
                       "/layers/0/upper; find . -mindepth 1 ! -path './.git*' ! -path "
                       "'./nested/.git*' ! -name nested"),
            "");
}

TEST(PrivateConfigTest, UserinfoLeavesUrls) {
  const std::pair<const char*, const char*> rows[] = {
      {"https://u:p@h/x", "https://h/x"},
      {"https://tok@h:8443/x@y", "https://h:8443/x@y"},
      {"https://u:p@q@h/x", "https://h/x"},
      {"ssh://git@h/x", "ssh://git@h/x"},
      {"ssh://git:secret@h/x", "ssh://git@h/x"},
      {"git+ssh://git:s@h/x", "git+ssh://git@h/x"},
      {"git@h:x/y.git", "git@h:x/y.git"},
      {"/a/b@c", "/a/b@c"},
      {"../x", "../x"},
      {"hg::https://u:p@h/x", "hg::https://h/x"},
      {"https://u:p@h", "https://h"},
      {"https://u:p@h?t=1", "https://h"},
      {"file:///x", "file:///x"},
  };
  for (const auto& [url, safe] : rows) EXPECT_EQ(WithoutUserinfo(url), safe) << url;
  EXPECT_FALSE(WithoutUserinfo("ext::sh -c x"));
  EXPECT_FALSE(WithoutUserinfo("ext::sh -c 'curl https://u:p@h'"));
}

TEST(PrivateConfigTest, NoValueLeavesItsLine) {
  GitConfig config;
  config.entries = {{"core.eol", "lf\n[core]\n\tfsmonitor = /evil\n\\\"#;\t\b"},
                    {"remote.a\"]\\b.url", "x\ny"},
                    {"branch.b\nc.merge", "refs/heads/x"}};
  PrivateConfig facts;
  facts.identity = {"N\n[core]", "e"};
  std::string text = PrivateConfigText(facts, config);
  Result<std::vector<ConfigEntry>> parsed = ParseConfigText(text, "written");
  ASSERT_TRUE(parsed) << text;
  auto value = [&](std::string_view key) {
    std::string found = "absent";
    for (const ConfigEntry& entry : *parsed) {
      if (entry.key == key) found = entry.value.value_or("");
    }
    return found;
  };
  EXPECT_EQ(value("core.eol"), config.entries[0].second);
  EXPECT_EQ(value("core.fsmonitor"), "absent");
  EXPECT_EQ(value("remote.a\"]\\b.url"), "x\ny");
  EXPECT_EQ(value("user.name"), "N\n[core]");
  EXPECT_EQ(text.find("heads/x"), std::string::npos);
}

class IndexLookupTest : public testing::Test {
 protected:
  std::vector<std::string> Find(const std::vector<std::string>& paths, bool sha256 = false) {
    Result<UniqueFd> fd = sys::Openat2(AT_FDCWD, tree_.path() + "/r/.git/index", O_RDONLY);
    Result<std::vector<std::string>> found = FindInIndex(fd->get(), sha256, paths);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::vector<std::string>();
  }
  TempTree tree_;
};

TEST_F(IndexLookupTest, EveryVersionAndHash) {
  const std::vector<std::string> asked = {".env", "a", "d/0500", "d/0999", "d/1000", "new", "zz"};
  const std::vector<std::string> expected = {".env", "d/0500", "d/0999", "new", "zz"};
  for (const char* format : {"sha1", "sha256"}) {
    tree_.Shell(std::string("rm -rf r; git init -q --object-format=") + format +
                R"( r; cd r; mkdir d
      touch .env zz $(seq -f d/%04g 0 999); git add .; echo x > new; git add -N new)");
    for (const char* version : {"2", "3", "4"}) {
      tree_.Shell(std::string("git -C r update-index --index-version ") + version);
      EXPECT_EQ(Find(asked, format == std::string("sha256")), expected) << format << version;
    }
  }
}

TEST_F(IndexLookupTest, DamagedFilesAreErrors) {
  tree_.Shell("git init -q r; cd r; touch a b c; git add .");
  tree_.Shell("cd r/.git; cp index full; head -c 100 full > index");
  UniqueFd fd = *sys::Openat2(AT_FDCWD, tree_.path() + "/r/.git/index", O_RDONLY);
  EXPECT_FALSE(FindInIndex(fd.get(), false, {"b"}));
  tree_.Shell("cd r/.git; printf XXXX > index; tail -c +5 full >> index");
  fd = *sys::Openat2(AT_FDCWD, tree_.path() + "/r/.git/index", O_RDONLY);
  EXPECT_FALSE(FindInIndex(fd.get(), false, {"b"}));
}

TEST(ScanTest, TheBudgetHoldsAtItsLimitAndOver) {
  TempTree tree;
  tree.Shell("mkdir $(seq -f d%03g 1 63); touch d063/.env");
  UniqueFd root = *sys::OpenDir(AT_FDCWD, tree.path());
  NameRules rules({".env"});
  Result<ScanResult> scan = ScanTree(root.get(), rules, getuid(), getgid());
  EXPECT_TRUE(scan->complete);
  EXPECT_EQ(scan->directories, kScanDirectoriesMax);
  EXPECT_EQ(scan->candidates.size(), 1U);
  tree.Shell("mkdir d064");
  EXPECT_FALSE(ScanTree(root.get(), rules, getuid(), getgid())->complete);
  tree.Shell("rm -r d0*; touch $(seq -f f%05g 1 2047) .env");
  scan = ScanTree(root.get(), rules, getuid(), getgid());
  EXPECT_TRUE(scan->complete);
  EXPECT_EQ(scan->entries, kScanEntriesMax);
  EXPECT_EQ(scan->candidates.size(), 1U);
  tree.Shell("touch one-more");
  EXPECT_FALSE(ScanTree(root.get(), rules, getuid(), getgid())->complete);
}

TEST(ScanTest, LargeMadeDirectoriesAndLinksAreNotEntered) {
  TempTree tree;
  tree.Shell(R"(mkdir -p node_modules/x .venv target build/x .git sub; touch node_modules/x/.env
    touch .venv/.env target/.env build/x/.env sub/.env; ln -s node_modules link
    mkfifo sub/x.pem)");
  UniqueFd root = *sys::OpenDir(AT_FDCWD, tree.path());
  Result<ScanResult> scan = ScanTree(root.get(), NameRules({".env", "*.pem"}), getuid(), getgid());
  EXPECT_EQ(scan->candidates, std::vector<std::string>{"sub/.env"});
  EXPECT_EQ(scan->nested, std::vector<std::string>{""});
}

TEST(ScanTest, LaterRulesWin) {
  NameRules rules({"*.pem", "!ca*.pem", "id_rsa", ".env.*", "!*.example", "x[0-9]"});
  for (const char* name : {"a.pem", "id_rsa", ".env.local", "x7"}) {
    EXPECT_TRUE(rules.Protects(name)) << name;
  }
  for (const char* name : {"ca-1.pem", "id_rsa.pub", ".env.example", ".env", "xy", "pem"}) {
    EXPECT_FALSE(rules.Protects(name)) << name;
  }
}

}  // namespace
}  // namespace bawn::workspace
