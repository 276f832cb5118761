// publish/test_act.h
// A sandbox in a state directory over a user's tree, ended and with changes, for tests of acts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "publish/apply.h"
#include "workspace/test_sandbox.h"

namespace bawn::publish {

namespace fs = std::filesystem;

class ActTest : public workspace::SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    fs::create_directories(path_ + "/state/sb");
    fs::rename(path_ + "/sb", path_ + "/state/sb/" + kId);
    fs::create_symlink("state/sb/" + std::string(kId), path_ + "/sb");
    std::ofstream lock(path_ + "/state/sb/" + kId + "/lock");
    state_ = {*sys::OpenDir(AT_FDCWD, path_ + "/state"), path_ + "/state"};
    dir_ = {kId, *sys::OpenDir(AT_FDCWD, path_ + "/state/sb/" + kId), {}, ""};
  }
  void OpenAndRecord() {
    Open();
    meta_.id = kId;
    meta_.state = "ended";
    meta_.kept = true;
    ASSERT_TRUE(workspace::WriteMeta(dir_, meta_, true));
  }
  ApplyContext Context() { return {state_, dir_, meta_, step_}; }
  Result<Applied> ApplyAll() {
    workspace::ChangeSet set = Read();
    std::vector<Chosen> chosen;
    for (const workspace::Change& change : set.changes) chosen.push_back({&change, false});
    return Apply(Context(), set, chosen, true);
  }
  // "path mode content" of everything in the tree, sorted; links as "path -> target".
  std::vector<std::string> Snapshot() {
    std::vector<std::string> rows;
    for (const auto& entry : fs::recursive_directory_iterator(path_ + "/tree")) {
      std::string row = entry.path().lexically_relative(path_ + "/tree").string();
      if (entry.is_symlink()) {
        row += " -> " + fs::read_symlink(entry.path()).string();
      } else if (entry.is_directory()) {
        row += "/";
      } else {
        std::ifstream in(entry.path());
        row += " " + std::to_string(static_cast<int>(entry.status().permissions())) + " " +
               std::string(std::istreambuf_iterator<char>(in), {});
      }
      rows.push_back(row);
    }
    std::ranges::sort(rows);
    return rows;
  }

  static constexpr char kId[] = "sb_aaaaaaaaaaaaaaaaaaaaaaaaaa";
  workspace::StateDir state_;
  StepHook step_ = [] {};
};

}  // namespace bawn::publish
