// Workspaces that must not be opened, or not as an overlay: RT-02, RT-16, RT-17, RT-35.
#include "sys/files.h"
#include "workspace/ladder.h"
#include "workspace/test_open.h"

namespace bawn::workspace {
namespace {

using OpenWallsTest = OpenTest;

TEST_F(OpenWallsTest, SystemDirectoriesHomesAndTheirAncestorsAreRefusedByName) {
  OpenRequest request = Request("a");
  EXPECT_TRUE(CheckRoot(request));  // control
  for (const char* root : {"/", "/usr", "/etc", "/home", "/tmp", "/var", "/root", "/proc/self",
                           "/dev/shm", "/run", "/sys/kernel", "/usr/lib"}) {
    Result<sys::FileStat> st = sys::Fstatat(AT_FDCWD, root);
    if (!st || !st->IsDir()) root = "/proc/sys";  // a name that this machine has
    request.root = root;
    Result<> checked = CheckRoot(request);
    ASSERT_FALSE(checked) << root;
    EXPECT_EQ(checked.error().rule, "workspace.root");
    EXPECT_NE(checked.error().message.find(root), std::string::npos);
  }
  request.home = Path("a/src");
  for (const char* name : {"", "a", "a/src"}) {
    request.root = name[0] == '\0' ? tree_.path() : Path(name);
    EXPECT_FALSE(CheckRoot(request)) << request.root;
  }
  request.root = Path("a/src/deep");  // a project in a home is what most projects are
  EXPECT_TRUE(CheckRoot(request));
}

TEST_F(OpenWallsTest, OverlapsWithProtectedPathsAndBawnsOwnAreRefused) {
  OpenRequest request = Request("a");
  request.protected_paths = {Path("a/src")};
  for (const char* name : {"a", "a/src", "a/src/deep"}) {
    request.root = Path(name);
    EXPECT_NE(CheckRoot(request).error().message.find("protected path"), std::string::npos) << name;
  }
  request.protected_paths = {Path("a/srcx"), Path("b")};
  request.root = Path("a/src");
  EXPECT_TRUE(CheckRoot(request));  // control: a prefix is not a parent
  tree_.Shell("mkdir state/sb");
  request.root = Path("state/sb");
  EXPECT_NE(CheckRoot(request).error().message.find("Bawn's own"), std::string::npos);
  request.root = tree_.path();
  EXPECT_FALSE(CheckRoot(request));
}

TEST_F(OpenWallsTest, ABindMountOfAHomeIsAHome) {
  tree_.Shell("mkdir -p home/in/project alias");
  OpenRequest request = Request("a");
  std::string said = TestView::InNamespaces([&]() -> std::string {
    Result<UniqueFd> home = sys::CloneTree(AT_FDCWD, Path("home"), false);
    if (!home || !sys::MoveMount(home->get(), AT_FDCWD, Path("alias"))) return "no mount";
    request.root = Path("alias/in/project");
    std::string control = CheckRoot(request) ? "ok" : CheckRoot(request).error().message;
    request.root = Path("alias");
    Result<> checked = CheckRoot(request);
    request.protected_paths = {Path("home/in/secret")};
    request.root = Path("alias/in");
    Result<> holds = CheckRoot(request);
    return control + "|" + (checked ? "open" : checked.error().message) + "|" +
           (holds ? "open" : holds.error().message);
  });
  EXPECT_EQ(said, "ok|workspace " + Path("alias") + " is or holds the home directory " +
                      Path("home") + "|workspace " + Path("alias/in") +
                      " is or holds the protected path " + Path("home/in/secret"));
}

TEST_F(OpenWallsTest, RootIsFoundAsDesigned) {
  std::optional<Repository> repository = *FindRepository(Path("a/src/deep"));
  EXPECT_EQ(*ResolveRoot("", Path("a/src/deep"), repository), Path("a"));
  EXPECT_EQ(*ResolveRoot("", Path("home"), std::nullopt), Path("home"));
  EXPECT_EQ(*ResolveRoot("src", Path("a"), repository), Path("a/src"));
  tree_.Shell("ln -s a/src link; touch file; mkdir gone");
  EXPECT_EQ(*ResolveRoot(Path("link/deep"), "/", repository), Path("a/src/deep"));
  EXPECT_EQ(*ResolveRoot("", Path("link"), std::nullopt), Path("a/src"));
  EXPECT_EQ(ResolveRoot("none", Path("a"), repository).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ResolveRoot(Path("file"), "/", repository).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(OpenWallsTest, OverlayAttributesOnTheRootAreRefused) {
  for (const char* name : {"opaque", "whiteout", "redirect", "metacopy"}) {
    std::string attribute = std::string("user.overlay.") + name;
    ASSERT_TRUE(
        sys::Lsetxattrat(AT_FDCWD, Path("a").substr(1), attribute, "y") ||
        sys::Lsetxattrat(sys::OpenDir(AT_FDCWD, "/")->get(), Path("a").substr(1), attribute, "y"));
    Error refused = OpenError(Request("a"));
    EXPECT_EQ(refused.rule, "workspace.xattr");
    EXPECT_NE(refused.message.find(attribute), std::string::npos);
    EXPECT_NE(refused.hint.find("setfattr -x"), std::string::npos);
    tree_.Shell("python3 -c 'import os; os.removexattr(\"a\", \"" + attribute + "\")'");
  }
  Open(Request("a"));  // control
}

TEST_F(OpenWallsTest, MountsBelowTheRootSelectTheCopyOrAreRefusedByName) {
  tree_.Shell("mkdir a/sub 'a/odd name'");
  std::string said = TestView::InNamespaces([&]() -> std::string {
    for (const char* name : {"a/sub", "a/odd name"}) {
      Result<> mounted = TestView::MountTmpfs(Path(name));
      if (!mounted) return mounted.error().message;
      UniqueFd fd = *sys::OpenDir(AT_FDCWD, Path(name));
      if (!sys::WriteFileAtomic(fd.get(), "in-mount", "x", 0644, false)) return "no write";
    }
    OpenRequest request = Request("a");
    Opened opened = Open(request);
    std::string rung = opened.facts.rung;
    bool there = bool(sys::Fstatat(dir_.fd.get(), "layers/0/upper/odd name/in-mount"));
    request.copy_entries_max = 3;
    Error refused = OpenError(request);
    return rung + (there ? "|there|" : "|dropped|") + refused.message + "|" + refused.hint;
  });
  EXPECT_NE(said.find("copy|there|workspace " + Path("a") +
                      " cannot be shown as it is, because a "
                      "file system is mounted on " +
                      Path("a/sub")),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("too large to copy: more than 3 files|unmount it"), std::string::npos)
      << said;

  std::string special = TestView::InNamespaces([&]() -> std::string {
    Result<UniqueFd> proc = sys::CloneTree(AT_FDCWD, "/proc", true);
    if (!proc || !sys::MoveMount(proc->get(), AT_FDCWD, Path("a/sub"))) return "no mount";
    return OpenError(Request("a")).message;
  });
  EXPECT_NE(special.find("a proc file system is mounted on " + Path("a/sub")), std::string::npos)
      << special;
}

TEST(LadderTest, MountinfoIsReadAsTheKernelWritesIt) {
  const char* text =
      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "30 22 0:5 / /w/a rw - tmpfs t rw\n"
      "31 30 0:6 /x /w/a/b\\040c\\134d rw,nosuid shared:3 master:1 - fuse.sshfs host: rw\n"
      "32 22 0:7 / /w/ab rw - proc proc rw\n"
      "broken line\n";
  std::vector<Submount> found = SubmountsBelow(text, "/w/a");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "/w/a/b c\\d");
  EXPECT_EQ(found[0].type, "fuse.sshfs");
  EXPECT_EQ(SubmountsBelow(text, "/w").size(), 3U);
  EXPECT_EQ(SubmountsBelow(text, "/").size(), 3U);
}

TEST_F(OpenWallsTest, ForeignOwnersSelectTheCopyOrAreRefusedWithTheCommand) {
  // Seen from a map with another group (or user), every file of ours is foreign.
  OpenRequest request = Request("a");
  request.gid = getgid() + 1;
  Opened opened = Open(request);
  EXPECT_EQ(opened.facts.rung, "copy");
  EXPECT_NE(Joined(opened.notes).find("belongs to group " + std::to_string(getgid())),
            std::string::npos);
  request.copy_entries_max = 2;
  Error refused = OpenError(request);
  EXPECT_EQ(refused.rule, "workspace.ladder");
  EXPECT_EQ(refused.hint, "chgrp -R " + std::to_string(getgid() + 1) + " " + Path("a"));
  request.gid = getgid();
  request.uid = getuid() + 1;
  EXPECT_NE(OpenError(request).hint.find("sudo chown -R"), std::string::npos);
  request.uid = getuid();
  EXPECT_EQ(Open(request).facts.rung, "overlay");  // control
}

TEST_F(OpenWallsTest, ForeignGroupsAreFoundOnRootGitAndTopDirectories) {
  if (getuid() != 0) {
    // Giving a file to a group one is not in needs root; the test above covers the decision.
    EXPECT_EQ(Open(Request("a")).facts.rung, "overlay");
    return;
  }
  for (const char* path : {".", ".git", "src", "src/deep", "node_modules"}) {
    tree_.Shell(std::string("cd a; mkdir -p node_modules; chgrp 4711 ") + path);
    Opened opened = Open(Request("a"));
    EXPECT_EQ(opened.facts.rung, "copy") << path;
    EXPECT_NE(Joined(opened.notes).find("4711"), std::string::npos);
    tree_.Shell(std::string("cd a; chgrp 0 ") + path);
  }
  EXPECT_EQ(Open(Request("a")).facts.rung, "overlay");  // control
}

TEST_F(OpenWallsTest, AFailedOpeningPinsNothing) {
  OpenRequest request = Request("a");
  request.force_copy = true;
  request.copy_bytes_max = 1;
  OpenError(request);
  EXPECT_EQ(tree_.Line("ls -A a/.git/refs"), "heads\ntags");
}

TEST_F(OpenWallsTest, AReadOnlyRepositoryIsOpenedWithoutAPin) {
  std::string said = TestView::InNamespaces([&]() -> std::string {
    Result<UniqueFd> copy = sys::CloneTree(AT_FDCWD, Path("a"), false);
    if (!copy || !sys::SetMountAttributes(copy->get(), sys::kReadOnly, false) ||
        !sys::MoveMount(copy->get(), AT_FDCWD, Path("a"))) {
      return "no mount";
    }
    return Joined(Open(Request("a")).notes);
  });
  EXPECT_NE(said.find("cannot be pinned (EROFS)"), std::string::npos) << said;
}

}  // namespace
}  // namespace bawn::workspace
