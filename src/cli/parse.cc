#include "cli/parse.h"

#include <utility>

#include "base/text.h"
#include "cli/values.h"

namespace bawn::cli {
namespace {

std::unexpected<Error> Usage(std::string message, std::string hint) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message), std::move(hint));
}

std::string HelpHint(const VerbRow& verb) {
  return "`bawn help " + std::string(verb.name) + "` lists the options";
}

// The first verb that has an option of this name, other than `except`.
const VerbRow* OwnerOf(std::string_view option, std::optional<Verb> except) {
  for (const VerbRow& row : Verbs()) {
    if (row.verb != except && FindOption(row.verb, option) != nullptr) return &row;
  }
  return nullptr;
}

std::unexpected<Error> UnknownOption(const VerbRow& verb, const std::string& shown,
                                     std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionRow& row : Options()) {
    if ((row.verbs & Bit(verb.verb)) != 0) names.push_back(row.name);
  }
  std::string hint;
  if (std::string near = Nearest(name, names); !near.empty()) {
    hint = "did you mean --" + near + "?";
    return Usage("unknown option " + EscapeName(shown) + " of bawn " + std::string(verb.name),
                 hint);
  }
  if (const VerbRow* owner = OwnerOf(name, verb.verb); owner != nullptr) {
    hint = "--" + std::string(name) + " is an option of `bawn " + std::string(owner->name) + "`; ";
  }
  if (verb.operand == Operand::kCommand) {
    hint += "an option of the command itself stands after it: bawn run -- COMMAND " + shown;
  } else {
    hint += HelpHint(verb);
  }
  return Usage("unknown option " + EscapeName(shown) + " of bawn " + std::string(verb.name), hint);
}

std::unexpected<Error> UnknownVerb(const std::string& word) {
  std::vector<std::string_view> names;
  for (const VerbRow& row : Verbs()) names.push_back(row.name);
  std::string near = Nearest(word, names);
  std::string shown = EscapeName(word);
  if (!near.empty())
    return Usage("unknown command '" + shown + "'", "did you mean bawn " + near + "?");
  return Usage("unknown command '" + shown + "'", "to run a program inside: bawn run -- " + shown +
                                                      "; `bawn help` lists the commands");
}

std::unexpected<Error> OptionBeforeVerb(const std::string& word) {
  std::string_view name = std::string_view(word).substr(word.starts_with("--") ? 2 : 1);
  name = name.substr(0, name.find('='));
  std::string hint = "`bawn help` lists the commands";
  if (const VerbRow* owner = OwnerOf(name, std::nullopt);
      owner != nullptr && word.starts_with("--")) {
    hint = "it belongs after the command: bawn " + std::string(owner->name) + " --" +
           std::string(name);
  }
  return Usage("unknown option " + EscapeName(word) + " before the command", hint);
}

class Parser {
 public:
  Parser(const VerbRow& verb, const std::vector<std::string>& arguments)
      : verb_(verb), arguments_(arguments) {
    invocation_.verb = verb.verb;
  }

  Result<Invocation> Run() {
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_++];
      if (word == "--") break;
      if (word.starts_with("--")) {
        BAWN_CHECK_OK(Long(word));
      } else if (word.size() > 1 && word[0] == '-') {
        BAWN_CHECK_OK(Letters(word));
      } else {
        invocation_.operands.push_back(word);
        if (TakesCommand()) break;
      }
    }
    for (; at_ < arguments_.size(); ++at_) invocation_.operands.push_back(arguments_[at_]);
    if (!invocation_.Has(OptionId::kHelp)) BAWN_CHECK_OK(CheckOperands());
    return std::move(invocation_);
  }

 private:
  bool TakesCommand() const {
    return verb_.operand == Operand::kCommand || verb_.operand == Operand::kOptionalCommand;
  }

  Result<> Long(const std::string& word) {
    size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const OptionRow* row = FindOption(verb_.verb, name);
    if (row == nullptr) return UnknownOption(verb_, "--" + name, name);
    if (row->kind == Kind::kFlag) {
      if (equals == std::string::npos) return Add(*row, "");
      return Usage("--" + name + " takes no value", "write --" + name);
    }
    if (equals != std::string::npos) return Add(*row, word.substr(equals + 1));
    return AddNext(*row);
  }

  // "-q", "-tq", "-w DIR", "-wDIR".
  Result<> Letters(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const OptionRow* row = FindLetter(verb_.verb, word[i]);
      if (row == nullptr) return UnknownOption(verb_, std::string("-") + word[i], word.substr(1));
      if (row->kind == Kind::kFlag) {
        BAWN_CHECK_OK(Add(*row, ""));
        continue;
      }
      return i + 1 < word.size() ? Add(*row, word.substr(i + 1)) : AddNext(*row);
    }
    return {};
  }

  Result<> AddNext(const OptionRow& row) {
    if (at_ < arguments_.size() && arguments_[at_] != "--") return Add(row, arguments_[at_++]);
    return Usage("--" + std::string(row.name) + " needs a value",
                 "write --" + std::string(row.name) + " " + std::string(row.argument));
  }

  Result<> Add(const OptionRow& row, std::string text) {
    if (!row.repeatable && invocation_.Has(row.id)) {
      if (row.kind == Kind::kFlag) return {};  // saying yes twice is yes
      return Usage("--" + std::string(row.name) + " is given twice", "give it once");
    }
    Result<uint64_t> number = row.kind == Kind::kFlag ? 0 : CheckValue(row.kind, text);
    if (!number) return std::unexpected(WithContext(number.error(), "--" + std::string(row.name)));
    invocation_.options.push_back({&row, std::move(text), *number});
    return {};
  }

  Result<> CheckOperands() {
    size_t count = invocation_.operands.size();
    std::string verb(verb_.name);
    switch (verb_.operand) {
      case Operand::kNothing:
        if (count == 0) return {};
        return Usage(
            "bawn " + verb + " takes no argument, but got '" + EscapeName(invocation_.operands[0]) +
                "'",
            verb_.verb == Verb::kShell ? "to run a command: bawn run -- COMMAND" : HelpHint(verb_));
      case Operand::kCommand:
        if (count > 0) return {};
        return Usage("bawn run needs a command", "bawn run -- make test; for a shell: bawn shell");
      case Operand::kOptionalCommand:
        return {};
      case Operand::kSandbox:
        return AtMostOne("names one sandbox");
      case Operand::kTopic:
        return AtMostOne("explains one command");
      case Operand::kShellName:
        return OneShell();
    }
    return {};
  }

  Result<> AtMostOne(std::string_view rule) {
    if (invocation_.operands.size() <= 1) return {};
    std::string hint = HelpHint(verb_);
    if (FindOption(verb_.verb, "path") != nullptr) hint = "to limit it to paths: --path PATH";
    return Usage("bawn " + std::string(verb_.name) + " " + std::string(rule) + ", but got also '" +
                     EscapeName(invocation_.operands[1]) + "'",
                 hint);
  }

  Result<> OneShell() {
    for (std::string_view name : ShellNames()) {
      if (invocation_.operands.size() == 1 && invocation_.operands[0] == name) return {};
    }
    return Usage("bawn completions needs the name of a shell", "one of: bash, zsh, fish");
  }

  const VerbRow& verb_;
  const std::vector<std::string>& arguments_;
  size_t at_ = 1;  // behind the verb
  Invocation invocation_;
};

struct Exclusion {
  OptionId one, other;
  std::string_view why;
};
constexpr Exclusion kExclusions[] = {
    {OptionId::kTty, OptionId::kNoTty, "a job has a terminal or has none"},
    {OptionId::kEphemeral, OptionId::kKeep, "an ephemeral sandbox ends with its job"},
    {OptionId::kEphemeral, OptionId::kKeepFor, "an ephemeral sandbox ends with its job"},
    {OptionId::kEphemeral, OptionId::kIn, "a kept sandbox is not ephemeral"},
    {OptionId::kIn, OptionId::kName, "a kept sandbox has its name already"},
    {OptionId::kReviewed, OptionId::kUnreviewed, "the changes were reviewed or were not"},
    {OptionId::kAll, OptionId::kOlder, "--all leaves nothing to choose"},
    {OptionId::kStdout, OptionId::kStderr, "without either, both are printed"},
    {OptionId::kStat, OptionId::kNames, "one form at a time"},
    {OptionId::kStat, OptionId::kDigestOnly, "one form at a time"},
    {OptionId::kStat, OptionId::kJson, "one form at a time"},
    {OptionId::kNames, OptionId::kDigestOnly, "one form at a time"},
    {OptionId::kNul, OptionId::kJson, "JSON is text"},
    {OptionId::kDigestOnly, OptionId::kJson, "one form at a time; --json has the digest too"},
    {OptionId::kMan, OptionId::kJson, "one form at a time"},
};

Result<> CheckTogether(const Invocation& invocation) {
  for (const Exclusion& pair : kExclusions) {
    const Given* one = invocation.Find(pair.one);
    const Given* other = invocation.Find(pair.other);
    if (one == nullptr || other == nullptr) continue;
    return Usage("--" + std::string(one->row->name) + " and --" + std::string(other->row->name) +
                     " exclude each other",
                 std::string(pair.why));
  }
  if (invocation.Has(OptionId::kNul) && !invocation.Has(OptionId::kNames)) {
    return Usage("--null belongs to --names", "bawn diff --names -z");
  }
  bool many = invocation.Has(OptionId::kOlder) ||
              (invocation.verb == Verb::kDiscard && invocation.Has(OptionId::kAll));
  if (many && !invocation.operands.empty()) {
    return Usage("bawn discard takes a sandbox or --all or --older, not both", "leave one out");
  }
  return {};
}

}  // namespace

const Given* Invocation::Find(OptionId id) const {
  for (const Given& given : options) {
    if (given.row->id == id) return &given;
  }
  return nullptr;
}

std::string Invocation::Text(OptionId id) const {
  const Given* given = Find(id);
  return given == nullptr ? std::string() : given->text;
}

std::optional<uint64_t> Invocation::Number(OptionId id) const {
  const Given* given = Find(id);
  if (given == nullptr) return std::nullopt;
  return given->number;
}

std::vector<std::string> Invocation::Texts(OptionId id) const {
  std::vector<std::string> texts;
  for (const Given& given : options) {
    if (given.row->id == id) texts.push_back(given.text);
  }
  return texts;
}

std::optional<Verb> VerbOf(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  if (arguments[0] == "--help" || arguments[0] == "-h") return Verb::kHelp;
  if (arguments[0] == "--version" || arguments[0] == "-V") return Verb::kVersion;
  const VerbRow* row = FindVerb(arguments[0]);
  if (row == nullptr) return std::nullopt;
  return row->verb;
}

Result<Invocation> Parse(const std::vector<std::string>& arguments) {
  std::optional<Verb> verb = VerbOf(arguments);
  if (!verb) {
    if (arguments.empty())
      return Usage("no command", "bawn run -- COMMAND; `bawn help` lists more");
    return arguments[0].starts_with("-") ? OptionBeforeVerb(arguments[0])
                                         : UnknownVerb(arguments[0]);
  }
  Invocation invocation = BAWN_TRY(Parser(Row(*verb), arguments).Run());
  if (!invocation.Has(OptionId::kHelp)) BAWN_CHECK_OK(CheckTogether(invocation));
  return invocation;
}

}  // namespace bawn::cli
