#include "contain/idmap.h"

#include <unistd.h>

#include <cerrno>

#include "contain/engine_test_support.h"
#include "sys/files.h"

namespace bawn::contain {
namespace {

using plan::Op;
using plan::OpKind;

// A tree of another owner that nobody else may read: id-mapped it is the sandbox's own.
TEST(IdmapTest, ATreeOfAnotherOwnerIsTheSandboxsOwn) {
  Enclosure enclosure;
  enclosure.dir.Write("lower/secret", "of root\n");
  ASSERT_EQ(chmod(enclosure.dir.At("lower/secret").c_str(), 0600), 0);
  if (!IsRoot()) {  // the kernel refuses an ordinary user, and that is what this says
    Result<UniqueFd> tree =
        IdmappedTree(enclosure.dir.At("lower"), getuid(), getgid(), kOuterId, kOuterId);
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().sys_errno, EPERM);
    return;
  }
  ASSERT_EQ(chown(enclosure.dir.At("lower").c_str(), 0, 0), 0);
  ASSERT_EQ(chown(enclosure.dir.At("lower/secret").c_str(), 0, 0), 0);
  for (int i = 0; i < 2; ++i) {
    Result<UniqueFd> tree = IdmappedTree(enclosure.dir.At("lower"), 0, 0, kOuterId, kOuterId);
    ASSERT_TRUE(tree) << tree.error().message;
    enclosure.fds.push_back(std::move(*tree));
  }
  for (Op& op : enclosure.plan.ops) {
    if (op.kind == OpKind::kOverlay) op.lowers = {{"", 0, 0, 0}};
  }
  Op plain = BindOp(enclosure.dir.At("lower"), "/plain");
  Op bound = BindOp("", "/bound");
  bound.lowers[0].fd_slot = 1;
  enclosure.plan.ops.insert(enclosure.plan.ops.end(), {plain, bound});
  Result<> started = enclosure.Start();
  ASSERT_TRUE(started) << started.error().message;
  std::string own = std::to_string(kInnerId);
  EXPECT_EQ(enclosure.Sh("cat secret; stat -c %u:%g secret; echo more >> secret; cat secret").out,
            "of root\n" + own + ":" + own + "\nof root\nmore\n");
  EXPECT_EQ(enclosure.Sh("cat /bound/secret").out, "of root\n");
  EXPECT_NE(enclosure.Sh("echo x > /bound/secret").exit_code(), 0);  // read-only all the same
  EXPECT_NE(enclosure.Sh("cat /plain/secret").exit_code(), 0);       // the control
  EXPECT_EQ(enclosure.dir.Read("lower/secret"), "of root\n");
  EXPECT_EQ(sys::Fstatat(AT_FDCWD, enclosure.dir.At("upper/secret"))->uid, kOuterId);
}

TEST(IdmapTest, ADescriptorThatWasNotHandedOverIsRefused) {
  Enclosure enclosure;
  Op bound = BindOp("", "/bound");
  bound.lowers[0].fd_slot = 0;
  enclosure.plan.ops.push_back(bound);
  EXPECT_FALSE(enclosure.Start());
  EXPECT_EQ(enclosure.setup_failed->stage, "op /bound");
}

TEST(IdmapTest, SymlinksAreNotFollowed) {
  HostDir dir;
  ASSERT_TRUE(sys::Symlinkat("lower", AT_FDCWD, dir.At("link")));
  EXPECT_EQ(IdmappedTree(dir.At("link"), 0, 0, kOuterId, kOuterId).error().sys_errno, ELOOP);
}

}  // namespace
}  // namespace bawn::contain
