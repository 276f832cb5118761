// workspace/test_sandbox.h
// A user's tree and a sandbox's directory in a temporary place, for tests: what a payload leaves in
// its layer is put there by hand, as the kernel's overlay writes it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "sys/files.h"
#include "workspace/changes.h"
#include "workspace/remove.h"

namespace bawn::workspace {

namespace fs = std::filesystem;

inline int64_t BoottimeOffset() {
  timespec boot = {};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  return RealtimeNs() - (int64_t{boot.tv_sec} * 1'000'000'000 + boot.tv_nsec);
}

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    fs::create_directories(path_ + "/sb/layers/0/upper");
    fs::create_directories(path_ + "/sb/layers/0/work");
    fs::create_directories(path_ + "/sb/initial/.git");
    fs::create_directories(path_ + "/tree/src");
    dir_ = {"sb_test", *sys::OpenDir(AT_FDCWD, path_ + "/sb"), {}, path_ + "/sb"};
    Put("initial/.git/HEAD", "ref: refs/heads/main\n");
    PutTree("a.txt", "one\n");
    PutTree("src/b.txt", "two\n");
    PutTree("src/c.txt", "three\n");
  }
  void TearDown() override {
    UniqueFd parent = *sys::OpenDir(AT_FDCWD, testing::TempDir());
    EXPECT_TRUE(RemoveTree(parent.get(), fs::path(path_).filename()));
  }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  void Put(const std::string& name, const std::string& text) { Write(path_ + "/sb/" + name, text); }
  void PutTree(const std::string& name, const std::string& text) { Write(Tree(name), text); }
  void PutUpper(const std::string& name, const std::string& text) { Write(Upper(name), text); }
  std::string Upper(const std::string& name) { return path_ + "/sb/layers/0/upper/" + name; }
  std::string Tree(const std::string& name) { return path_ + "/tree/" + name; }
  void Whiteout(const std::string& name) {
    fs::create_directories(fs::path(Upper(name)).parent_path());
    ASSERT_TRUE(sys::Mknodat(AT_FDCWD, Upper(name), S_IFCHR, 0));
  }
  void Opaque(const std::string& name) {
    fs::create_directories(Upper(name));
    ASSERT_TRUE(
        sys::Lsetxattrat(dir_.fd.get(), "layers/0/upper/" + name, "user.overlay.opaque", "y"));
  }
  // Everything in the tree is older than T after this.
  void Open() {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    sys::FileStat st = *sys::Fstatat(AT_FDCWD, path_ + "/tree");
    meta_.id = "sb_test";
    meta_.name = "test";
    meta_.workspace_path = fs::canonical(path_ + "/tree");
    meta_.workspace_dev = st.dev;
    meta_.workspace_ino = st.ino;
    meta_.rung = "overlay";
    meta_.opened_at_ns = RealtimeCoarseNs();
    meta_.boottime_offset_ns = BoottimeOffset();
  }
  ChangeSet Read(const ReadOptions& options = {}) {
    Result<ChangeSet> set = ReadChanges(dir_, meta_, options);
    EXPECT_TRUE(set) << (set ? "" : set.error().message);
    return set ? std::move(*set) : ChangeSet{};
  }
  // "A src/x", "M a.txt*" (diverged), "D b!problem", "M a.txt(file>symlink)"
  static std::vector<std::string> Lines(const ChangeSet& set) {
    std::vector<std::string> lines;
    for (const Change& change : set.changes) {
      std::string line = {"AMD"[static_cast<int>(change.kind)], ' '};
      line += change.path;
      bool types = change.kind == ChangeKind::kModified && change.old_type != change.new_type;
      if (types) {
        line += "(" + std::string(EntryTypeName(change.old_type)) + ">" +
                std::string(EntryTypeName(change.new_type)) + ")";
      }
      if (change.diverged) line += "*";
      if (!change.problem.empty()) line += "!" + change.problem;
      lines.push_back(line);
    }
    return lines;
  }

  std::string path_ = testing::TempDir() + "/sandbox_XXXXXX";
  SandboxDir dir_;
  SandboxMeta meta_;
};

}  // namespace bawn::workspace
