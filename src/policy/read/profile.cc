#include "policy/read/profile.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/text.h"
#include "policy/canonical.h"
#include "policy/environment.h"
#include "policy/limits.h"
#include "policy/paths.h"
#include "policy/secrets.h"
#include "policy/units.h"
#include "policy/view/toolchain_table.h"

namespace bawn::policy::read {
namespace {

constexpr size_t kWordBytesMax = 64;

class ProfileReader {
 public:
  ProfileReader(Policy* policy, std::string file) : policy_(policy), file_(std::move(file)) {}

  void Read(const Node& root);
  Diagnostics Take() { return std::move(diagnostics_); }

 private:
  struct Key {
    std::string_view name;
    std::function<void(const Node&)> handler;
  };

  void Say(uint32_t line, std::string message) {
    diagnostics_.push_back({line, std::move(message)});
  }
  Origin At(uint32_t line) const { return {file_, line}; }

  // Calls the handler of each member; names unknown ones with a suggestion.
  void Members(const Node& node, std::string_view where, const std::vector<Key>& keys);
  // The scalars of a list; a null is an empty list.
  std::vector<const Node*> Scalars(const Node& node, std::string_view where);
  void Words(const Node& node, std::string_view where, const std::vector<std::string_view>& known,
             std::vector<std::string>* into);
  void Paths(const Node& node, std::string_view where, std::vector<PathRule>* into);
  void Amount(const Node& node, std::string_view where, Result<uint64_t> (*parse)(std::string_view),
              std::optional<uint64_t>* into);
  void RefuseRules(const Node& node, std::string_view where, std::string_view what);
  bool Variable(const std::string& name, uint32_t line, std::string_view where);

  void Extends(const Node& node);
  void Level(const Node& node);
  void View(const Node& node);
  void Env(const Node& node);
  void Secrets(const Node& node);
  void Limit(const Node& node);
  void Network(const Node& node);
  void Syscalls(const Node& node);
  void EnvSet(const Node& node);
  void EnvPass(const Node& node);

  Policy* policy_;
  std::string file_;
  Diagnostics diagnostics_;
};

std::string Suggest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string nearest = word.size() <= kWordBytesMax ? Nearest(word, known) : std::string();
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  std::string all;
  for (std::string_view one : known) all += (all.empty() ? "" : ", ") + std::string(one);
  return "; there are: " + all;
}

void ProfileReader::Members(const Node& node, std::string_view where,
                            const std::vector<Key>& keys) {
  std::string place = where.empty() ? "a profile" : "'" + std::string(where) + "'";
  if (node.kind == NodeKind::kNull) return;
  if (node.kind != NodeKind::kMap) return Say(node.line, place + " is a map of keys");
  std::vector<std::string_view> known;
  for (const Key& key : keys) known.push_back(key.name);
  for (const Node& member : node.items) {
    auto found = std::ranges::find(keys, member.key, &Key::name);
    if (found != keys.end()) {
      found->handler(member);
    } else {
      Say(member.key_line,
          place + " has no key '" + EscapeName(member.key) + "'" + Suggest(member.key, known));
    }
  }
}

std::vector<const Node*> ProfileReader::Scalars(const Node& node, std::string_view where) {
  std::vector<const Node*> scalars;
  if (node.kind == NodeKind::kNull) return scalars;
  if (node.kind != NodeKind::kSequence) {
    Say(node.line, "'" + std::string(where) + "' is a list, as [a, b]");
    return scalars;
  }
  for (const Node& item : node.items) {
    if (item.kind == NodeKind::kScalar && !item.scalar.empty()) {
      scalars.push_back(&item);
    } else {
      Say(item.line, "'" + std::string(where) + "' is a list of plain values");
    }
  }
  return scalars;
}

void ProfileReader::Words(const Node& node, std::string_view where,
                          const std::vector<std::string_view>& known,
                          std::vector<std::string>* into) {
  for (const Node* item : Scalars(node, where)) {
    if (std::ranges::find(known, item->scalar) != known.end()) {
      into->push_back(item->scalar);
    } else {
      Say(item->line, "'" + std::string(where) + "' knows no '" + EscapeName(item->scalar) + "'" +
                          Suggest(item->scalar, known));
    }
  }
}

void ProfileReader::Paths(const Node& node, std::string_view where, std::vector<PathRule>* into) {
  for (const Node* item : Scalars(node, where)) {
    // Which home it is shows when the profile is used; whether the path is one shows now.
    Result<std::string> clean = CleanPath(item->scalar, "/home");
    if (clean) {
      into->push_back({item->scalar, At(item->line)});
    } else {
      Say(item->line, std::string(where) + ": " + clean.error().message +
                          (clean.error().hint.empty() ? "" : "; " + clean.error().hint));
    }
  }
}

void ProfileReader::Amount(const Node& node, std::string_view where,
                           Result<uint64_t> (*parse)(std::string_view),
                           std::optional<uint64_t>* into) {
  if (node.kind != NodeKind::kScalar) {
    return Say(node.line, "'" + std::string(where) + "' is one value");
  }
  Result<uint64_t> value = parse(node.scalar);
  if (!value) {
    return Say(node.line,
               std::string(where) + ": " + value.error().message + "; " + value.error().hint);
  }
  if (*value == 0) return Say(node.line, std::string(where) + ": 0 leaves nothing to run with");
  *into = *value;
}

// A key that a later version will know: empty is what there is now, anything else is refused, never
// ignored.
void ProfileReader::RefuseRules(const Node& node, std::string_view where, std::string_view what) {
  bool empty =
      node.kind == NodeKind::kNull || (node.kind != NodeKind::kScalar && node.items.empty());
  if (!empty) {
    Say(node.line, "'" + std::string(where) + "': this version has no " + std::string(what) +
                       "; leave it out");
  }
}

void ProfileReader::Extends(const Node& node) {
  bool name = node.kind == NodeKind::kScalar && !node.scalar.empty() &&
              node.scalar.size() <= kWordBytesMax && node.scalar.find('/') == std::string::npos &&
              node.scalar[0] != '.';
  if (!name) return Say(node.line, "'extends' is the name of one profile");
  policy_->extends = node.scalar;
}

void ProfileReader::Level(const Node& node) {
  std::optional<plan::Level> level = plan::ParseLevel(node.scalar);
  if (node.kind == NodeKind::kScalar && level) {
    policy_->level_floor = level;
    return;
  }
  std::vector<std::string_view> known;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(plan::Level::kGuest); ++i) {
    known.push_back(plan::LevelName(static_cast<plan::Level>(i)));
  }
  Say(node.line, "'level' is no level" + Suggest(node.scalar, known));
}

void ProfileReader::View(const Node& node) {
  std::vector<std::string_view> caches;
  for (const ToolchainRow& row : kToolchainTable) {
    if (row.kind != ToolKind::kTool) caches.push_back(row.id);
  }
  Members(node, "view",
          {{"ro", [&](const Node& list) { Paths(list, "view.ro", &policy_->ro); }},
           {"rw", [&](const Node& list) { Paths(list, "view.rw", &policy_->rw); }},
           {"hide", [&](const Node& list) { Paths(list, "view.hide", &policy_->hide); }},
           {"show", [&](const Node& list) { Paths(list, "view.show", &policy_->show); }},
           {"caches",
            [&](const Node& list) { Words(list, "view.caches", caches, &policy_->caches); }}});
}

bool ProfileReader::Variable(const std::string& name, uint32_t line, std::string_view where) {
  std::string place = std::string(where) + ": '" + EscapeName(name) + "'";
  if (!IsVariableName(name)) return Say(line, place + " is no name of a variable"), false;
  EnvVerdict verdict = JudgeVariable(name);
  if (!IsRefusedTier(verdict.tier)) return true;
  std::string remedy = verdict.tier == EnvTier::kCredential ? "; use 'secrets'" : "";
  Say(line, place + ": " + std::string(TierReason(verdict.tier)) + remedy);
  return false;
}

void ProfileReader::EnvSet(const Node& node) {
  if (node.kind == NodeKind::kNull) return;
  if (node.kind != NodeKind::kMap) return Say(node.line, "'env.set' is a map, as {NAME: value}");
  for (const Node& member : node.items) {
    if (member.kind == NodeKind::kSequence || member.kind == NodeKind::kMap) {
      Say(member.key_line, "env.set: '" + EscapeName(member.key) + "' has one value");
    } else if (Variable(member.key, member.key_line, "env.set")) {
      policy_->env.push_back({member.key, member.scalar, At(member.key_line)});
    }
  }
}

void ProfileReader::EnvPass(const Node& node) {
  for (const Node* item : Scalars(node, "env.pass")) {
    if (!Variable(item->scalar, item->line, "env.pass")) continue;
    policy_->env.push_back({item->scalar, std::nullopt, At(item->line)});
  }
}

void ProfileReader::Env(const Node& node) {
  Members(node, "env",
          {{"set", [&](const Node& map) { EnvSet(map); }},
           {"pass", [&](const Node& list) { EnvPass(list); }}});
}

void ProfileReader::Secrets(const Node& node) {
  for (const Node* item : Scalars(node, "secrets")) {
    if (IsSecretName(item->scalar)) {
      policy_->secrets.push_back(item->scalar);
    } else {
      Say(item->line, "secrets: '" + EscapeName(item->scalar) +
                          "' is no name of a secret; use letters, digits, '_', '-' and '.'");
    }
  }
}

void ProfileReader::Limit(const Node& node) {
  Limits& limits = policy_->limits;
  auto amount = [&](std::string_view where, Result<uint64_t> (*parse)(std::string_view),
                    std::optional<uint64_t>* into) {
    return [this, where, parse, into](const Node& value) { Amount(value, where, parse, into); };
  };
  std::vector<std::string_view> names(std::begin(kLimitNames), std::end(kLimitNames));
  Members(node, "limits",
          {{"cpu", amount("limits.cpu", ParseCpus, &limits.cpus_milli)},
           {"memory", amount("limits.memory", ParseSize, &limits.memory_bytes)},
           {"pids", amount("limits.pids", ParseCount, &limits.pids)},
           {"disk", amount("limits.disk", ParseSize, &limits.disk_bytes)},
           {"inodes", amount("limits.inodes", ParseCount, &limits.inodes)},
           {"time", amount("limits.time", ParseDuration, &limits.time_ms)},
           {"idle", amount("limits.idle", ParseDuration, &limits.idle_ms)},
           {"output", amount("limits.output", ParseSize, &limits.output_bytes)},
           {"best_effort", [&](const Node& list) {
              Words(list, "limits.best_effort", names, &limits.best_effort);
            }}});
}

void ProfileReader::Network(const Node& node) {
  if (node.kind == NodeKind::kScalar && node.scalar == "off") return;
  auto none = [&](std::string_view where) {
    return [this, where](const Node& value) { RefuseRules(value, where, "network rules"); };
  };
  Members(node, "network",
          {{"allow", none("network.allow")},
           {"deny", none("network.deny")},
           {"ask", none("network.ask")},
           {"table", none("network.table")}});
}

void ProfileReader::Syscalls(const Node& node) {
  Members(node, "syscalls", {{"allow", [&](const Node& list) {
                                Words(list, "syscalls.allow", {"browser", "debug"},
                                      &policy_->syscall_profiles);
                              }}});
}

void ProfileReader::Read(const Node& root) {
  Members(root, "",
          {{"extends", [&](const Node& node) { Extends(node); }},
           {"level", [&](const Node& node) { Level(node); }},
           {"view", [&](const Node& node) { View(node); }},
           {"env", [&](const Node& node) { Env(node); }},
           {"secrets", [&](const Node& node) { Secrets(node); }},
           {"limits", [&](const Node& node) { Limit(node); }},
           {"network", [&](const Node& node) { Network(node); }},
           {"syscalls", [&](const Node& node) { Syscalls(node); }},
           {"gates", [&](const Node& node) { RefuseRules(node, "gates", "gates in profiles"); }}});
}

}  // namespace

std::expected<Policy, Diagnostics> ReadProfile(std::string_view text, const std::string& name,
                                               const std::string& file) {
  std::expected<Node, Diagnostic> root = ReadYaml(text);
  if (!root) return std::unexpected(Diagnostics{root.error()});
  Policy policy;
  policy.name = name;
  policy.sources.push_back({file, 0});
  ProfileReader reader(&policy, file);
  reader.Read(*root);
  Diagnostics diagnostics = reader.Take();
  if (!diagnostics.empty()) {
    std::ranges::sort(diagnostics, {},
                      [](const Diagnostic& one) { return std::tie(one.line, one.message); });
    return std::unexpected(std::move(diagnostics));
  }
  policy.digest = PolicyDigest(policy);
  return policy;
}

std::string FormatDiagnostics(const Diagnostics& diagnostics, std::string_view file) {
  std::string text;
  for (const Diagnostic& one : diagnostics) {
    text +=
        EscapeName(file) + ":" + std::to_string(one.line) + ": " + TerminalSafe(one.message) + "\n";
  }
  return text;
}

}  // namespace bawn::policy::read
