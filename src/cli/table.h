// cli/table.h
// The one table of verbs and options. Parser, help, manual page and completions are made from these
// rows and from nothing else, so none of them can know an option that the others do not.
// Everything is constexpr with static storage: no constructor runs before main.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace bawn::cli {

enum class Verb : uint8_t {
  kRun,
  kShell,
  kDiff,
  kPublish,
  kApply,
  kDiscard,
  kList,
  kShow,
  kLogs,
  kWhy,
  kPlan,
  kDoctor,
  kCompletions,
  kHelp,
  kVersion,
  kLast = kVersion,
};
inline constexpr size_t kVerbCount = static_cast<size_t>(Verb::kLast) + 1;

// What may follow the options.
enum class Operand : uint8_t {
  kNothing,
  kCommand,          // COMMAND [ARGUMENT...], required; the first operand ends the options
  kOptionalCommand,  // the same, may be absent
  kSandbox,          // at most one id, readable name or @last
  kShellName,        // bash, zsh or fish
  kTopic,            // at most one verb
};

struct Example {
  std::string_view line;
  std::string_view says;
};

struct VerbRow {
  Verb verb;
  std::string_view name;
  std::string_view purpose;  // one line, lower case, no full stop
  Operand operand;
  std::string_view details;  // a paragraph or more, separated by "\n\n"
  std::array<Example, 3> examples;
};

// How an option's value is read (values.h) and completed.
enum class Kind : uint8_t {
  kFlag,  // no value
  kText,  // any bytes, not empty
  kPath,  // a path, completed as a file
  kDirectory,
  kSize,      // 512M, 2GiB -> bytes
  kDuration,  // 90s, 10m -> milliseconds
  kCount,     // 1 and more
  kCpus,      // 1.5 -> thousandths
  kLevel,
  kLimits,   // names, separated by commas
  kEnvSet,   // NAME=VALUE
  kEnvName,  // NAME
  kName,     // a new sandbox's readable name
  kSandbox,  // an existing one
  kProfile,
  kDigest,  // 64 hexadecimal digits
  kFd,
};

enum class OptionId : uint8_t {
  kAll,
  kBestEffort,
  kBranch,
  kCpu,
  kDigestOnly,
  kDisk,
  kEnv,
  kEphemeral,
  kExitCode,
  kHelp,
  kHide,
  kIdleTimeout,
  kIgnored,
  kIn,
  kIncludeDirty,
  kInodes,
  kJson,
  kKeep,
  kKeepFor,
  kLevel,
  kLfs,
  kMan,
  kMemory,
  kMerge,
  kMessage,
  kName,
  kNames,
  kNoLog,
  kNoTty,
  kNul,
  kOlder,
  kOutput,
  kPassEnv,
  kPath,
  kPids,
  kProfile,
  kQuiet,
  kReceipt,
  kReviewed,
  kRo,
  kRw,
  kSecret,
  kShow,
  kSquash,
  kStat,
  kStatusFd,
  kStderr,
  kStdout,
  kTimeout,
  kTty,
  kUndo,
  kUnreviewed,
  kUpdateTree,
  kWorkspace,
  kYes,
  kYesPath,
};

struct OptionRow {
  OptionId id;
  uint32_t verbs;             // bits of Verb
  std::string_view name;      // without the dashes
  char letter;                // 0: none
  std::string_view argument;  // shown in help; empty for a flag
  Kind kind;
  bool repeatable;
  std::string_view help;  // one sentence, no full stop
};

constexpr uint32_t Bit(Verb verb) { return 1U << static_cast<uint32_t>(verb); }

std::span<const VerbRow> Verbs();
std::span<const OptionRow> Options();

const VerbRow& Row(Verb verb);
const VerbRow* FindVerb(std::string_view name);  // null when there is none
const OptionRow* FindOption(Verb verb, std::string_view name);
const OptionRow* FindLetter(Verb verb, char letter);

// "run [OPTION]... [--] COMMAND [ARGUMENT]..."
std::string_view OperandSynopsis(Operand operand);

// The words that a value of this kind may be, for completion and messages; empty when it is open.
std::span<const std::string_view> Words(Kind kind);
std::span<const std::string_view> ShellNames();

}  // namespace bawn::cli
