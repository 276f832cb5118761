#include "policy/explain.h"

#include <cstdio>

#include "base/sha256.h"
#include "base/text.h"
#include "policy/paths.h"
#include "policy/secrets.h"

namespace bawn::policy {
namespace {

using plan::OpKind;

constexpr size_t kDigestShown = 12;

std::string Octal(uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode);
  return text;
}

std::string SourceText(const plan::Source& source) {
  if (source.fd_slot >= 0) return "fd " + std::to_string(source.fd_slot);
  return EscapeName(source.path);
}

std::string MountWord(const plan::Op& op) {
  if (op.kind == OpKind::kOverlay) {
    bool writable = !op.upper.path.empty() || op.size_bytes != 0;
    return writable ? "overlay rw" : "overlay ro";
  }
  if (op.devices) return "device";
  return op.read_only ? "bind ro" : "bind rw";
}

std::string MountText(const plan::Op& op) {
  std::string text = MountWord(op) + " " + EscapeName(op.target);
  bool plain = op.kind == OpKind::kBind || op.upper.path.empty();
  if (!plain || op.lowers.size() != 1 || op.lowers[0].path != op.target) {
    text += " from";
    for (const plan::Source& lower : op.lowers) text += " " + SourceText(lower);
  }
  if (!op.upper.path.empty()) text += " upper " + SourceText(op.upper);
  if (op.kind == OpKind::kOverlay && op.size_bytes != 0) {
    text += " upper in memory " + FormatBytes(op.size_bytes);
  }
  return text;
}

std::string OpText(const plan::Op& op) {
  std::string target = EscapeName(op.target);
  switch (op.kind) {
    case OpKind::kDir:
      return "dir " + target + " " + Octal(op.mode);
    case OpKind::kSymlink:
      return "link " + target + " -> " + EscapeName(op.content);
    case OpKind::kFile:
      if (IsBelow(op.target, kSecretsDir))
        return "file " + target + " " + Octal(op.mode) + " secret";
      return "file " + target + " " + Octal(op.mode) + " " + std::to_string(op.content.size()) +
             " bytes sha256:" + Sha256Hex(op.content).substr(0, kDigestShown);
    case OpKind::kTmpfs:
      return "tmpfs " + target + " " + Octal(op.mode) + " " + FormatBytes(op.size_bytes) + " " +
             std::to_string(op.inodes) + " inodes";
    case OpKind::kBind:
    case OpKind::kOverlay:
      return MountText(op);
    case OpKind::kProc:
      return "proc " + target;
    case OpKind::kDevpts:
      return "devpts " + target;
    case OpKind::kMqueue:
      return "mqueue " + target;
  }
  return "?";
}

std::string_view RightsWord(plan::PathRights rights) {
  switch (rights) {
    case plan::PathRights::kRead:
      return "read";
    case plan::PathRights::kReadExecute:
      return "read+execute";
    case plan::PathRights::kWrite:
      return "write+execute";
    case plan::PathRights::kWriteNoExecute:
      return "write";
    case plan::PathRights::kDevice:
      return "device";
  }
  return "?";
}

void Line(std::string* text, std::string_view word, std::string_view rest) {
  text->append(word).append(" ").append(rest).append("\n");
}

void Number(std::string* text, std::string_view name, uint64_t value) {
  if (value != 0) Line(text, "limit", std::string(name) + " " + std::to_string(value));
}

}  // namespace

std::string ExplainPlan(const plan::Plan& plan) {
  std::string text;
  Line(&text, "level", LevelName(plan.level));
  Line(&text, "ids",
       std::to_string(plan.uid) + ":" + std::to_string(plan.gid) +
           (plan.ids_from_range ? " of a range" : ""));
  Line(&text, "hostname", EscapeName(plan.hostname));
  for (const plan::Op& op : plan.ops) text += OpText(op) + (op.optional ? " (optional)\n" : "\n");
  for (const plan::LandlockRule& rule : plan.landlock) {
    Line(&text, "landlock", EscapeName(rule.path) + " " + std::string(RightsWord(rule.rights)));
  }
  for (const std::string& profile : plan.syscall_profiles) Line(&text, "syscalls", profile);
  const plan::ProcessLimits& limits = plan.limits;
  Number(&text, "core", limits.core_bytes);
  Number(&text, "open-files", limits.open_files);
  Number(&text, "processes", limits.processes);
  Number(&text, "address-space", limits.address_space_bytes);
  Number(&text, "file-size", limits.file_bytes);
  Line(&text, "limit", "user-namespaces " + std::to_string(limits.user_namespaces_max));
  Number(&text, "tree-memory", plan.tree.memory_bytes);
  Number(&text, "tree-pids", plan.tree.pids);
  Number(&text, "tree-cpu-milli", plan.tree.cpus_milli);
  Number(&text, "inotify-watches", limits.inotify_watches_max);
  Number(&text, "inotify-instances", limits.inotify_instances_max);
  return text;
}

std::string ExplainJob(const plan::JobSpec& job) {
  std::string text;
  for (const std::string& argument : job.argv) Line(&text, "argument", EscapeName(argument));
  Line(&text, "directory", EscapeName(job.cwd));
  for (const std::string& entry : job.env) Line(&text, "env", EscapeName(entry));
  if (job.pty) Line(&text, "terminal", "inner pty");
  return text;
}

std::string ExplainDecisions(const std::vector<plan::Decision>& decisions) {
  std::string text;
  for (const plan::Decision& one : decisions) {
    text += one.verdict == plan::Verdict::kAllow ? "allow " : "deny ";
    text += EscapeName(one.subject) + " [" + one.rule_id + ", " + EscapeName(one.file);
    if (one.line != 0) text += ":" + std::to_string(one.line);
    text += "] " + TerminalSafe(one.reason);
    if (!one.remedy.empty()) text += "; " + TerminalSafe(one.remedy);
    text += "\n";
  }
  return text;
}

}  // namespace bawn::policy
