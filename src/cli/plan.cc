#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands.h"

namespace bawn::cli {
namespace {

std::string_view OpName(plan::OpKind kind) {
  constexpr std::string_view kNames[] = {"dir",     "symlink", "file",   "tmpfs", "bind",
                                         "overlay", "proc",    "devpts", "mqueue"};
  return kNames[static_cast<uint8_t>(kind)];
}

std::string_view RightsName(plan::PathRights rights) {
  constexpr std::string_view kNames[] = {"read", "read_execute", "write", "write_no_execute",
                                         "device"};
  return kNames[static_cast<uint8_t>(rights)];
}

std::string_view VerdictName(plan::Verdict verdict) {
  constexpr std::string_view kNames[] = {"deny", "allow", "ask"};
  return kNames[static_cast<uint8_t>(verdict)];
}

// An overlay is writable when it has an upper, a tmpfs always, other things never but by name.
bool Writable(const plan::Op& op) {
  if (op.kind == plan::OpKind::kOverlay) {
    return !op.upper.path.empty() || op.upper.fd_slot >= 0 || op.size_bytes != 0;
  }
  return op.kind == plan::OpKind::kTmpfs || (op.kind == plan::OpKind::kBind && !op.read_only);
}

// Values of variables may be secrets: names only.
JsonArray EnvironmentNames(const plan::JobSpec& job) {
  JsonArray names;
  for (const std::string& entry : job.env)
    names.emplace_back(EscapeName(entry.substr(0, entry.find('='))));
  return names;
}

Json OpJson(const plan::Op& op) {
  JsonArray from;
  for (const plan::Source& lower : op.lowers) from.emplace_back(EscapeName(lower.path));
  JsonObject json;
  json["kind"] = OpName(op.kind);
  json["target"] = EscapeName(op.target);
  json["from"] = std::move(from);
  json["writable"] = Writable(op);
  return json;
}

Json DecisionJson(const plan::Decision& decision) {
  JsonObject json;
  json["verdict"] = VerdictName(decision.verdict);
  json["subject"] = EscapeName(decision.subject);
  json["rule"] = decision.rule_id;
  json["file"] = EscapeName(decision.file);
  json["line"] = decision.line;
  json["reason"] = TerminalSafe(decision.reason);
  json["remedy"] = decision.remedy.empty() ? Json() : Json(TerminalSafe(decision.remedy));
  return json;
}

// 0 means "not set" in the Plan and is left out.
Json LimitsJson(const plan::ProcessLimits& limits) {
  JsonObject json;
  auto add = [&](std::string_view name, uint64_t value) {
    if (value != 0) json[name] = value;
  };
  add("open_files", limits.open_files);
  add("processes", limits.processes);
  add("address_space_bytes", limits.address_space_bytes);
  add("file_bytes", limits.file_bytes);
  json["user_namespaces_max"] = limits.user_namespaces_max;
  return json;
}

// What a job could write on the host itself, past any review.
JsonArray DirectWrites(const plan::Plan& plan) {
  JsonArray paths;
  for (const plan::Op& op : plan.ops) {
    bool host = op.kind == plan::OpKind::kBind && !op.read_only && !op.devices;
    if (host) paths.emplace_back(EscapeName(op.target));
  }
  return paths;
}

Json PlanJson(const service::PlanResult& result) {
  JsonArray command, view, landlock, profiles, decisions, notes;
  for (const std::string& word : result.job.argv) command.emplace_back(EscapeName(word));
  for (const plan::Op& op : result.plan.ops) view.push_back(OpJson(op));
  for (const plan::LandlockRule& rule : result.plan.landlock) {
    JsonObject json;
    json["path"] = EscapeName(rule.path);
    json["rights"] = RightsName(rule.rights);
    landlock.emplace_back(std::move(json));
  }
  for (const std::string& name : result.plan.syscall_profiles) profiles.emplace_back(name);
  for (const plan::Decision& one : result.decisions) decisions.push_back(DecisionJson(one));
  for (const std::string& note : result.notes) notes.emplace_back(TerminalSafe(note));
  JsonObject json;
  json["level"] = plan::LevelName(result.plan.level);
  json["network"] = result.plan.level == plan::Level::kNone ? "host" : "off";
  json["command"] = std::move(command);
  json["cwd"] = EscapeName(result.job.cwd);
  json["environment"] = EnvironmentNames(result.job);
  json["uid"] = result.plan.uid;
  json["gid"] = result.plan.gid;
  json["view"] = std::move(view);
  json["landlock"] = std::move(landlock);
  json["syscall_profiles"] = std::move(profiles);
  json["limits"] = LimitsJson(result.plan.limits);
  json["direct_writes"] = DirectWrites(result.plan);
  json["decisions"] = std::move(decisions);
  json["notes"] = std::move(notes);
  return json;
}

std::string ViewText(const plan::Plan& plan) {
  Table table({"  PATH", "HOW", "WRITABLE", "FROM"});
  for (const plan::Op& op : plan.ops) {
    if (op.kind == plan::OpKind::kDir || op.kind == plan::OpKind::kSymlink) continue;
    std::string from = op.lowers.empty() ? "" : op.lowers.front().path;
    table.Add({"  " + op.target, std::string(OpName(op.kind)), Writable(op) ? "yes" : "no", from});
  }
  return table.Text();
}

std::string PlanText(const service::PlanResult& result) {
  JsonArray command;
  for (const std::string& word : result.job.argv) command.emplace_back(EscapeName(word));
  std::string names;
  for (const Json& name : EnvironmentNames(result.job)) names += " " + *name.AsString();
  std::string level(plan::LevelName(result.plan.level));
  std::string out = "command:     " + CommandText(command) + "\n";
  out += "directory:   " + OneLine(result.job.cwd) + "\nlevel:       " + level + "\n";
  out += result.plan.level == plan::Level::kNone ? "network:     the host's, open\n"
                                                 : "network:     off\n";
  out += "environment:" + names + "\n";
  for (const std::string& profile : result.plan.syscall_profiles) {
    out += "syscalls:    widened by " + OneLine(profile) + "\n";
  }
  for (const Json& path : DirectWrites(result.plan)) {
    out += "direct:      " + *path.AsString() + " is written without review\n";
  }
  out += "view:\n" + ViewText(result.plan) + "decisions:\n";
  for (const plan::Decision& one : result.decisions) {
    std::string line = one.line == 0 ? "" : ":" + std::to_string(one.line);
    out += "  " + std::string(VerdictName(one.verdict)) + "  " + OneLine(one.subject) + "  " +
           OneLine(one.reason) + "  [" + one.rule_id + ", " + OneLine(one.file) + line + "]\n";
    if (!one.remedy.empty()) out += "        to change it: " + OneLine(one.remedy) + "\n";
  }
  for (const std::string& note : result.notes) out += "note: " + OneLine(note) + "\n";
  return out + "nothing was run\n";
}

}  // namespace

Result<int> PlanCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  service::PlanResult result = BAWN_TRY(bawn.Plan(RunOptionsOf(invocation)));
  if (invocation.Has(OptionId::kJson)) return OutJson(console, PlanJson(result));
  BAWN_CHECK_OK(console.Out(PlanText(result)));
  return 0;
}

}  // namespace bawn::cli
