#include "cli/help.h"

#include <algorithm>

namespace bawn::cli {
namespace {

constexpr size_t kColumns = 80;

// `text` broken at blanks, each line after `indent` blanks. Paragraphs are separated by "\n\n".
std::string Wrapped(std::string_view text, size_t indent) {
  std::string out, line;
  auto flush = [&] {
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    if (text.starts_with("\n\n")) {
      flush();
      out += "\n";
      text.remove_prefix(2);
      continue;
    }
    size_t end = std::min(text.find_first_of(" \n"), text.size());
    std::string_view word = text.substr(0, end);
    if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) flush();
    line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(end);
    while (text.starts_with(" ")) text.remove_prefix(1);
  }
  flush();
  return out;
}

std::string Examples(const VerbRow& row) {
  std::string out;
  for (const Example& example : row.examples) {
    if (example.line.empty()) continue;
    out += "  " + std::string(example.line) + "\n";
    if (!example.says.empty()) out += "      " + std::string(example.says) + "\n";
  }
  return out;
}

std::string OptionHelp(const OptionRow& row) {
  std::string text = std::string(row.help) + (row.repeatable ? "; may be repeated" : "");
  return "  " + OptionHead(row) + "\n" + Wrapped(text, 6);
}

}  // namespace

std::string Synopsis(const VerbRow& row) {
  bool options = row.verb != Verb::kCompletions && row.verb != Verb::kVersion;
  return "bawn " + std::string(row.name) + (options ? " [OPTION]..." : "") +
         std::string(OperandSynopsis(row.operand));
}

std::string OptionHead(const OptionRow& row) {
  std::string head;
  if (row.letter != 0) head = std::string("-") + row.letter + ", ";
  head += "--" + std::string(row.name);
  if (!row.argument.empty()) head += " " + std::string(row.argument);
  return head;
}

std::string GeneralHelp() {
  std::string out =
      "bawn runs a command in a disposable sandbox over your work tree, and lets out\n"
      "only what you publish or apply.\n\n"
      "usage: bawn COMMAND [OPTION]...\n\n"
      "  bawn run -- make test      run it; your tree is not touched\n"
      "  bawn diff                  review what it changed\n"
      "  bawn publish -m \"fix\"      commit that to a branch (or: bawn apply, bawn discard)\n\n"
      "commands:\n";
  for (const VerbRow& row : Verbs()) {
    std::string name(row.name);
    name.resize(13, ' ');
    out += "  " + name + std::string(row.purpose) + "\n";
  }
  return out + "\n`bawn help COMMAND` explains one. `bawn doctor` says what this machine can do.\n";
}

std::string VerbHelp(Verb verb) {
  const VerbRow& row = Row(verb);
  std::string out = "bawn " + std::string(row.name) + ": " + std::string(row.purpose) + "\n\n";
  out += "usage: " + Synopsis(row) + "\n\n";
  if (!row.details.empty()) out += Wrapped(row.details, 0) + "\n";
  out += "examples:\n" + Examples(row) + "\noptions:\n";
  for (const OptionRow& option : Options()) {
    if ((option.verbs & Bit(verb)) != 0) out += OptionHelp(option);
  }
  return out;
}

namespace {

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kFlag:
      return "flag";
    case Kind::kText:
      return "text";
    case Kind::kPath:
      return "path";
    case Kind::kDirectory:
      return "directory";
    case Kind::kSize:
      return "size";
    case Kind::kDuration:
      return "duration";
    case Kind::kCount:
      return "count";
    case Kind::kCpus:
      return "cpus";
    case Kind::kLevel:
      return "level";
    case Kind::kLimits:
      return "limits";
    case Kind::kEnvSet:
      return "env_set";
    case Kind::kEnvName:
      return "env_name";
    case Kind::kName:
      return "name";
    case Kind::kSandbox:
      return "sandbox";
    case Kind::kProfile:
      return "profile";
    case Kind::kDigest:
      return "digest";
    case Kind::kFd:
      return "fd";
  }
  return "";
}

Json OptionJson(const OptionRow& row) {
  JsonObject json;
  json["name"] = row.name;
  json["letter"] = row.letter == 0 ? Json() : Json(std::string(1, row.letter));
  json["argument"] = row.argument.empty() ? Json() : Json(row.argument);
  json["kind"] = KindName(row.kind);
  json["repeatable"] = row.repeatable;
  json["help"] = row.help;
  return json;
}

}  // namespace

Json TableJson() {
  JsonArray commands;
  for (const VerbRow& row : Verbs()) {
    JsonArray options;
    for (const OptionRow& option : Options()) {
      if ((option.verbs & Bit(row.verb)) != 0) options.push_back(OptionJson(option));
    }
    JsonObject json;
    json["name"] = row.name;
    json["purpose"] = row.purpose;
    json["usage"] = Synopsis(row);
    json["options"] = std::move(options);
    commands.emplace_back(std::move(json));
  }
  JsonObject json;
  json["version"] = BAWN_VERSION;
  json["commands"] = std::move(commands);
  return json;
}

}  // namespace bawn::cli
