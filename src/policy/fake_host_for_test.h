// policy/fake_host_for_test.h
// A made-up machine for tests: a merged Debian, one user, a workspace in the home. Tests only.
#pragma once

#include <string>

#include "plan/facts.h"
#include "policy/compile.h"

namespace bawn::policy {

class FakeHost {
 public:
  FakeHost() {
    facts.user_name = "ada";
    facts.home = "/home/ada";
    facts.shell = "/bin/bash";
    facts.uid = 1000;
    facts.gid = 1000;
    facts.groups = {{1000, "ada"}, {27, "sudo"}, {100, "users"}};
    facts.memory_bytes = uint64_t{8} << 30;
    facts.cwd = "/home/ada/src/app";
    facts.environment = {"PATH=/home/ada/.cargo/bin:/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
    for (const char* path : {"/usr", "/opt", "/etc/alternatives", "/etc/ssl/certs"}) Dir(path, 0);
    for (const char* name : {"bin", "sbin", "lib", "lib64"}) {
      Link(std::string("/") + name, std::string("usr/") + name);
    }
    File("/etc/services", "ssh 22/tcp\n", 0);
    File("/etc/ld.so.cache", "", 0);
    Link("/etc/localtime", "/usr/share/zoneinfo/Europe/Dublin");
    Link("/etc/os-release", "../usr/lib/os-release");
    Dir("/sys/devices/system/cpu", 0);
    workspace.path = "/home/ada/src/app";
    workspace.rung = "overlay";
    plan::Op tree;
    tree.kind = plan::OpKind::kOverlay;
    tree.target = workspace.path;
    tree.lowers.push_back({.path = workspace.path, .dev = 1, .ino = 7});
    tree.upper.path = "/state/sb/upper";
    tree.work.path = "/state/sb/work";
    workspace.ops.push_back(tree);
    workspace.writable = {workspace.path};
    request.argv = {"make", "test"};
    request.cwd = facts.cwd;
    policy.name = "default";
  }

  void Dir(const std::string& path, uint32_t uid = 1000) {
    Put(path, plan::PathKind::kDirectory).uid = uid;
  }
  void File(const std::string& path, const std::string& content = "", uint32_t uid = 1000) {
    plan::PathFact& fact = Put(path, plan::PathKind::kFile);
    fact.content = content;
    fact.uid = uid;
  }
  void Link(const std::string& path, const std::string& target) {
    Put(path, plan::PathKind::kSymlink).link_target = target;
  }
  void Socket(const std::string& path) { Put(path, plan::PathKind::kOther); }

  Result<Compiled> Compile(plan::Level level = plan::Level::kIsolated) const {
    return policy::Compile(policy, request, facts, workspace, "sb_test", level);
  }

  plan::HostFacts facts;
  plan::WorkspaceFacts workspace;
  Policy policy;
  JobRequest request;

 private:
  plan::PathFact& Put(const std::string& path, plan::PathKind kind) {
    plan::PathFact& fact = facts.paths[path];
    fact.kind = kind;
    fact.dev = 1;
    fact.ino = 100 + facts.paths.size();
    return fact;
  }
};

// The op whose target is `path`, the last one when there are several; null when there is none.
inline const plan::Op* FindOp(const Compiled& compiled, std::string_view path) {
  const plan::Op* found = nullptr;
  for (const plan::Op& op : compiled.plan.ops) {
    if (op.target == path) found = &op;
  }
  return found;
}

inline size_t IndexOfOp(const Compiled& compiled, std::string_view path) {
  size_t index = compiled.plan.ops.size();
  for (size_t i = 0; i < compiled.plan.ops.size(); ++i) {
    if (compiled.plan.ops[i].target == path) index = i;
  }
  return index;
}

inline const plan::Decision* FindDecision(const Compiled& compiled, std::string_view subject) {
  for (const plan::Decision& decision : compiled.decisions) {
    if (decision.subject == subject) return &decision;
  }
  return nullptr;
}

inline std::string EnvOf(const Compiled& compiled, const std::string& name) {
  for (const std::string& entry : compiled.job.env) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "(unset)";
}

}  // namespace bawn::policy
