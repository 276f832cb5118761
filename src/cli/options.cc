// The rows of the options, in the order in which help shows them.
#include "cli/table.h"

namespace bawn::cli {
namespace {

constexpr uint32_t kRunning = Bit(Verb::kRun) | Bit(Verb::kShell) | Bit(Verb::kPlan);
constexpr uint32_t kStarting = Bit(Verb::kRun) | Bit(Verb::kShell);
constexpr uint32_t kReleasing = Bit(Verb::kPublish) | Bit(Verb::kApply);
constexpr uint32_t kReviewing = kReleasing | Bit(Verb::kDiff);
constexpr uint32_t kActing = kReleasing | Bit(Verb::kDiscard);
constexpr uint32_t kAsking =
    Bit(Verb::kDiff) | Bit(Verb::kShow) | Bit(Verb::kLogs) | Bit(Verb::kWhy);
constexpr uint32_t kAnswering = kReviewing | kActing | Bit(Verb::kList) | Bit(Verb::kShow) |
                                Bit(Verb::kWhy) | Bit(Verb::kPlan) | Bit(Verb::kDoctor) |
                                Bit(Verb::kHelp);
constexpr uint32_t kAnywhere = ~0U;

constexpr OptionRow kOptions[] = {
    {OptionId::kWorkspace, kRunning | kAsking | kActing | Bit(Verb::kList), "workspace", 'w', "DIR",
     Kind::kDirectory, false,
     "the work tree; default: the enclosing git work tree, else the current directory"},

    // What happens to the sandbox.
    {OptionId::kEphemeral, kRunning, "ephemeral", 0, "", Kind::kFlag, false,
     "keep no changes: everything goes with the job (held in memory, or on disk with --disk)"},
    {OptionId::kKeep, kRunning, "keep", 0, "", Kind::kFlag, false,
     "leave the sandbox live after the job, for more jobs with --in"},
    {OptionId::kKeepFor, kRunning, "keep-for", 0, "TIME", Kind::kDuration, false,
     "like --keep, for this long without a job (default of --keep: 10m)"},
    {OptionId::kIn, kRunning, "in", 0, "SANDBOX", Kind::kSandbox, false,
     "continue a kept sandbox: its id, its name, or @last"},
    {OptionId::kName, kRunning, "name", 0, "NAME", Kind::kName, false,
     "the new sandbox's readable name (default: a random one)"},

    // What contains it.
    {OptionId::kLevel, kRunning, "level", 0, "LEVEL", Kind::kLevel, false,
     "run at exactly this level, or fail (default: the highest proven of isolated and bounded)"},
    {OptionId::kProfile, kRunning, "profile", 0, "NAME", Kind::kProfile, false,
     "the profile: default, browser, debug, or one of yours"},
    {OptionId::kRo, kRunning, "ro", 0, "PATH", Kind::kPath, true, "show this path, read-only"},
    {OptionId::kRw, kRunning, "rw", 0, "PATH", Kind::kPath, true,
     "let the job write to this path directly; no review, no undo"},
    {OptionId::kHide, kRunning, "hide", 0, "PATH", Kind::kPath, true, "cover this path"},
    {OptionId::kShow, kRunning, "show", 0, "PATH", Kind::kPath, true,
     "show this protected path of the work tree"},
    {OptionId::kEnv, kRunning, "env", 0, "NAME=VALUE", Kind::kEnvSet, true,
     "set this environment variable"},
    {OptionId::kPassEnv, kRunning, "pass-env", 0, "NAME", Kind::kEnvName, true,
     "pass this environment variable as it is"},
    {OptionId::kSecret, kRunning, "secret", 0, "NAME", Kind::kEnvName, true,
     "give the value of this environment variable by a file in a private tmpfs"},

    // Limits.
    {OptionId::kMemory, kRunning, "memory", 0, "SIZE", Kind::kSize, false,
     "memory of the whole sandbox"},
    {OptionId::kCpu, kRunning, "cpu", 0, "N", Kind::kCpus, false, "processors, for example 1.5"},
    {OptionId::kPids, kRunning, "pids", 0, "N", Kind::kCount, false, "processes and threads"},
    {OptionId::kDisk, kRunning, "disk", 0, "SIZE", Kind::kSize, false, "bytes of changes"},
    {OptionId::kInodes, kRunning, "inodes", 0, "N", Kind::kCount, false, "files of changes"},
    {OptionId::kOutput, kRunning, "output", 0, "SIZE", Kind::kSize, false,
     "output to keep, head and tail (default: 64M)"},
    {OptionId::kTimeout, kRunning, "timeout", 0, "TIME", Kind::kDuration, false,
     "end the job after this time"},
    {OptionId::kIdleTimeout, kRunning, "idle-timeout", 0, "TIME", Kind::kDuration, false,
     "end the job after this time without output"},
    {OptionId::kBestEffort, kRunning, "best-effort", 0, "LIMITS", Kind::kLimits, true,
     "run although these limits cannot be held for the whole tree"},

    // What run says and keeps.
    {OptionId::kReceipt, kStarting, "receipt", 0, "FILE", Kind::kPath, false,
     "also write the receipt to this file"},
    {OptionId::kStatusFd, kStarting, "status-fd", 0, "N", Kind::kFd, false,
     "write what happens to this descriptor, one JSON object a line"},
    {OptionId::kQuiet, kStarting, "quiet", 'q', "", Kind::kFlag, false,
     "no notices; errors are still said"},
    {OptionId::kNoLog, kStarting, "no-log", 0, "", Kind::kFlag, false, "keep no output"},
    {OptionId::kTty, kStarting, "tty", 't', "", Kind::kFlag, false,
     "give the job a terminal (default: when stdin, stdout and stderr are one)"},
    {OptionId::kNoTty, kStarting, "no-tty", 'T', "", Kind::kFlag, false,
     "give the job pipes, whatever they are here"},

    // Review.
    {OptionId::kStat, Bit(Verb::kDiff), "stat", 0, "", Kind::kFlag, false,
     "one line per path, with counts"},
    {OptionId::kNames, Bit(Verb::kDiff), "names", 0, "", Kind::kFlag, false,
     "only the names of changed paths"},
    {OptionId::kNul, Bit(Verb::kDiff), "null", 'z', "", Kind::kFlag, false,
     "with --names: end each with a zero byte, unescaped"},
    {OptionId::kDigestOnly, Bit(Verb::kDiff), "digest", 0, "", Kind::kFlag, false,
     "only the digest of the changes"},
    {OptionId::kIgnored, Bit(Verb::kDiff), "ignored", 0, "", Kind::kFlag, false,
     "show changed files that git ignores, too"},
    {OptionId::kExitCode, Bit(Verb::kDiff), "exit-code", 0, "", Kind::kFlag, false,
     "exit 1 when there are changes"},
    {OptionId::kBranch, Bit(Verb::kPublish), "branch", 'b', "BRANCH", Kind::kText, false,
     "the branch to publish to (default: bawn/NAME)"},
    {OptionId::kMessage, Bit(Verb::kPublish), "message", 'm', "TEXT", Kind::kText, false,
     "the commit message"},
    {OptionId::kPath, kReviewing, "path", 0, "PATH", Kind::kPath, true,
     "only what changed at or below this path of the work tree"},
    {OptionId::kReviewed, kReleasing, "reviewed", 0, "DIGEST", Kind::kDigest, false,
     "act only if the changes still have this digest (of `bawn diff --digest`)"},
    {OptionId::kUnreviewed, kReleasing, "unreviewed", 0, "", Kind::kFlag, false,
     "act although nobody has reviewed the changes; the result says so"},
    {OptionId::kYesPath, kReleasing, "yes-path", 0, "PATH", Kind::kPath, true,
     "yes to this path, which runs by itself on your machine or needs a yes for another reason"},
    {OptionId::kMerge, kReleasing, "merge", 0, "", Kind::kFlag, false,
     "merge with what you changed in the same files since; conflicts are left alone by name"},
    {OptionId::kSquash, Bit(Verb::kPublish), "squash", 0, "", Kind::kFlag, false,
     "one commit of what the tree holds now; commits made inside stay there"},
    {OptionId::kIncludeDirty, Bit(Verb::kPublish), "include-dirty", 0, "", Kind::kFlag, false,
     "also commit your own uncommitted changes that the job built on"},
    {OptionId::kLfs, Bit(Verb::kPublish), "lfs", 0, "", Kind::kFlag, false,
     "store files of Git LFS as it would: a pointer, and the content in the repository's LFS "
     "store"},
    {OptionId::kUpdateTree, Bit(Verb::kPublish), "update-tree", 0, "", Kind::kFlag, false,
     "publish to the branch checked out here and move the work tree with it"},
    {OptionId::kUndo, Bit(Verb::kApply), "undo", 0, "", Kind::kFlag, false,
     "put back what the last apply replaced"},

    // Many sandboxes.
    {OptionId::kAll, Bit(Verb::kDiscard) | Bit(Verb::kList), "all", 'a', "", Kind::kFlag, false,
     "discard: every sandbox that is not live; list: every sandbox; of all work trees"},
    {OptionId::kOlder, Bit(Verb::kDiscard), "older", 0, "TIME", Kind::kDuration, false,
     "every sandbox older than this that is not live, of all work trees"},
    {OptionId::kYes, Bit(Verb::kDiscard), "yes", 'y', "", Kind::kFlag, false, "do not ask"},

    {OptionId::kStdout, Bit(Verb::kLogs), "stdout", 0, "", Kind::kFlag, false,
     "only standard output"},
    {OptionId::kStderr, Bit(Verb::kLogs), "stderr", 0, "", Kind::kFlag, false,
     "only standard error"},
    {OptionId::kMan, Bit(Verb::kHelp), "man", 0, "", Kind::kFlag, false,
     "the manual page, as roff"},
    {OptionId::kJson, kAnswering, "json", 0, "", Kind::kFlag, false, "print JSON"},
    {OptionId::kHelp, kAnywhere, "help", 'h', "", Kind::kFlag, false, "explain this command"},
};

constexpr std::string_view kLevels[] = {"none", "restricted", "isolated", "bounded", "guest"};
constexpr std::string_view kLimits[] = {"memory", "cpu", "pids", "disk", "inodes"};
constexpr std::string_view kProfiles[] = {"default", "browser", "debug"};
constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

}  // namespace

std::span<const OptionRow> Options() { return kOptions; }

const OptionRow* FindOption(Verb verb, std::string_view name) {
  for (const OptionRow& row : kOptions) {
    if ((row.verbs & Bit(verb)) != 0 && row.name == name) return &row;
  }
  return nullptr;
}

const OptionRow* FindLetter(Verb verb, char letter) {
  for (const OptionRow& row : kOptions) {
    if ((row.verbs & Bit(verb)) != 0 && row.letter == letter) return &row;
  }
  return nullptr;
}

std::span<const std::string_view> Words(Kind kind) {
  switch (kind) {
    case Kind::kLevel:
      return kLevels;
    case Kind::kLimits:
      return kLimits;
    case Kind::kProfile:
      return kProfiles;
    default:
      return {};
  }
}

std::span<const std::string_view> ShellNames() { return kShells; }

}  // namespace bawn::cli
