// The program evaluated here, call by call: against the text of RT-19 and against libseccomp's own
// program from the same table.
#include "contain/seccomp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <seccomp.h>

#include <cerrno>
#include <cstdio>
#include <set>

#include "contain/bpf_evaluator.h"
#include "contain/seccomp_compiler.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::contain {
namespace {

using namespace seccomp;  // NOLINT(google-build-using-namespace): the table's names
using plan::Level;
using U64 = std::initializer_list<uint64_t>;
using U32 = std::initializer_list<uint32_t>;

struct Variant {
  std::vector<std::string> profiles;
  Level level;
  unsigned bits;
};
const Variant kVariants[] = {
    {{}, Level::kIsolated, 0},
    {{"browser"}, Level::kIsolated, kBrowser},
    {{"debug"}, Level::kBounded, kDebug},
    {{"debug", "browser"}, Level::kIsolated, kBrowser | kDebug},
    {{}, Level::kRestricted, kRestricted},
    {{"browser", "debug"}, Level::kRestricted, kBrowser | kDebug | kRestricted},
};

// Values that a 64-bit argument may hide: the same low half with bit 32 or bit 63 set.
const uint64_t kHighBits[] = {0, uint64_t{1} << 32, uint64_t{1} << 63, 0xffffffff00000000};

std::span<const BpfInstruction> ProgramOf(const Variant& variant) {
  return SeccompProgram(variant.profiles, variant.level).value();
}

uint32_t Answer(std::span<const BpfInstruction> program, uint32_t number,
                std::array<uint64_t, 6> arguments = {}) {
  return EvaluateBpf(program, {number, kArchX86_64, 0x7f0000001000, arguments});
}

uint32_t Default(uint32_t number, std::array<uint64_t, 6> arguments = {}) {
  return Answer(ProgramOf(kVariants[0]), number, arguments);
}

std::vector<uint64_t> InterestingValues(Rule rule) {
  switch (rule) {
    case Rule::kClone:
    case Rule::kCloneBrowser:
    case Rule::kUnshare:
    case Rule::kUnshareBrowser: {
      std::vector<uint64_t> values = {
          0,          0x1200011 /*fork*/, 0x3d0f00 /*thread*/, 0x4111 /*vfork*/,
          0x10000011, 0x30000011,         0x70000011,          0xffffffff};
      for (int bit = 0; bit < 32; ++bit) values.push_back(uint64_t{1} << bit);
      for (int bit = 0; bit < 32; ++bit) values.push_back(uint64_t{1} << bit | 0x10000000);
      return values;
    }
    case Rule::kIoctl:
      return {0x5401, 0x5411, 0x5412, 0x5413, 0x541b, 0x541c, 0x541d, 0x5422, 0x5423, 0x5424};
    case Rule::kPersonality:
      return {0, 1, 8, 0x40000, 0x40001, 0x20000, 0x440000, 0x80000, 0xfffffffe, 0xffffffff};
    default:
      return {0, 1, 2, 9, 10, 11, 15, 16, 17, 38, 40, 41, 44, 1000, 0xffffffff};
  }
}

// ---- The same table through libseccomp.

void AddAllow(scmp_filter_ctx filter, uint32_t number, std::vector<scmp_arg_cmp> tests) {
  ASSERT_EQ(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, static_cast<int>(number),
                                   static_cast<unsigned>(tests.size()), tests.data()),
            0)
      << number;
}

scmp_arg_cmp Low32(unsigned index, uint32_t value) {
  return {index, SCMP_CMP_MASKED_EQ, 0xffffffff, value};
}

scmp_arg_cmp OnlyBits(uint32_t bits) {
  return {0, SCMP_CMP_MASKED_EQ, static_cast<uint32_t>(~bits), 0};
}

scmp_arg_cmp SocketType(uint32_t type) { return {1, SCMP_CMP_MASKED_EQ, kSocketTypeMask, type}; }

void AddRule(scmp_filter_ctx filter, uint32_t number, Rule rule) {
  switch (rule) {
    case Rule::kNotImplemented:
    case Rule::kSocketRestricted:
      return;
    case Rule::kAllow:
    case Rule::kIoctl:  // its refusals are compared by themselves
      return AddAllow(filter, number, {});
    case Rule::kRefuse:
      ASSERT_EQ(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), static_cast<int>(number), 0), 0);
      return;
    case Rule::kClone:
      return AddAllow(filter, number, {OnlyBits(kCloneFlags)});
    case Rule::kCloneBrowser:
      return AddAllow(filter, number, {OnlyBits(kCloneFlags | kBrowserNamespaces)});
    case Rule::kUnshare:
      return AddAllow(filter, number, {OnlyBits(kUnshareFlags)});
    case Rule::kUnshareBrowser:
      return AddAllow(filter, number, {OnlyBits(kUnshareFlags | kBrowserNamespaces)});
    case Rule::kSocket:
      AddAllow(filter, number, {Low32(0, kFamilyUnix)});
      AddAllow(filter, number, {Low32(0, kFamilyNetlink), Low32(2, kNetlinkRoute)});
      for (uint32_t family : {kFamilyInet, kFamilyInet6}) {
        for (uint32_t type : kInetTypes) {
          for (uint32_t protocol : kInetProtocols) {
            AddAllow(filter, number, {Low32(0, family), SocketType(type), Low32(2, protocol)});
          }
        }
      }
      return;
    case Rule::kSocketpair:
      return AddAllow(filter, number, {Low32(0, kFamilyUnix)});
    case Rule::kSocketpairRestricted:
      for (uint32_t type : kConnectedTypes) {
        AddAllow(filter, number, {Low32(0, kFamilyUnix), SocketType(type)});
      }
      return;
    case Rule::kPersonality:
      for (uint32_t value : kPersonalities) AddAllow(filter, number, {Low32(0, value)});
      return;
    case Rule::kPrlimitOwn:
      return AddAllow(filter, number, {Low32(0, 0)});
  }
}

std::vector<BpfInstruction> Export(scmp_filter_ctx filter) {
  UniqueFd file = sys::Memfd("filter").value();
  EXPECT_EQ(seccomp_export_bpf(filter, file.get()), 0);
  seccomp_release(filter);
  EXPECT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  std::string bytes = sys::ReadAll(file.get(), 1 << 20).value();
  std::vector<BpfInstruction> program(bytes.size() / sizeof(BpfInstruction));
  std::memcpy(program.data(), bytes.data(), bytes.size());
  return program;
}

template <unsigned bits>
std::vector<BpfInstruction> LibseccompProgram() {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
  constexpr RuleMap kRules = RulesOf(bits);
  for (uint32_t number = 0; number < kRules.size(); ++number) {
    AddRule(filter, number, kRules[number]);
  }
  return Export(filter);
}

std::vector<BpfInstruction> LibseccompProgram(unsigned bits) {
  switch (bits) {
    case 0:
      return LibseccompProgram<0>();
    case kBrowser:
      return LibseccompProgram<kBrowser>();
    case kDebug:
      return LibseccompProgram<kDebug>();
    case kBrowser | kDebug:
      return LibseccompProgram<kBrowser | kDebug>();
    case kRestricted:
      return LibseccompProgram<kRestricted>();
    default:
      return LibseccompProgram<kBrowser | kDebug | kRestricted>();
  }
}

bool TestsArguments(Rule rule) { return rule >= Rule::kClone; }

RuleMap RulesAtRunTime(unsigned bits) {
  static constexpr RuleMap kMaps[] = {RulesOf(0), RulesOf(1), RulesOf(2), RulesOf(3),
                                      RulesOf(4), RulesOf(5), RulesOf(6), RulesOf(7)};
  return kMaps[bits];
}

// libseccomp answers its default (ENOSYS) where an argument test of ours has an errno of its own;
// the errno itself is compared with RT-19 further down.
void CompareCall(std::span<const BpfInstruction> ours, std::span<const BpfInstruction> theirs,
                 uint32_t number, Rule rule, const std::array<uint64_t, 6>& arguments) {
  uint32_t answer = Answer(ours, number, arguments);
  uint32_t expected = Answer(theirs, number, arguments);
  if (TestsArguments(rule) && answer != kReturnAllow) {
    EXPECT_EQ(expected, kReturnEnosys) << number << " " << arguments[0] << " " << arguments[1];
  } else {
    EXPECT_EQ(answer, expected) << number << " " << arguments[0] << " " << arguments[1];
  }
}

TEST(SeccompTest, AnswersAsLibseccompWouldForEveryNumber) {
  for (const Variant& variant : kVariants) {
    auto ours = ProgramOf(variant);
    auto theirs = LibseccompProgram(variant.bits);
    RuleMap rules = RulesAtRunTime(variant.bits);
    for (uint32_t number = 0; number <= 600; ++number) {
      Rule rule = number < rules.size() ? rules[number] : Rule::kNotImplemented;
      if (!TestsArguments(rule)) CompareCall(ours, theirs, number, rule, {1, 2, 3, 4, 5, 6});
    }
  }
}

TEST(SeccompTest, AnswersAsLibseccompWouldForEveryFilteredArgument) {
  for (const Variant& variant : kVariants) {
    auto ours = ProgramOf(variant);
    auto theirs = LibseccompProgram(variant.bits);
    RuleMap rules = RulesAtRunTime(variant.bits);
    for (uint32_t number = 0; number < rules.size(); ++number) {
      Rule rule = rules[number];
      if (!TestsArguments(rule) || rule == Rule::kIoctl) continue;
      for (uint64_t value : InterestingValues(rule)) {
        for (uint64_t high : kHighBits) {
          for (uint64_t type : U64{0, 1, 2, 3, 5, 6, 10, 0x80801, 0x80805}) {
            for (uint64_t protocol : U64{0, 1, 6, 12, 17, 58, 132, 136, 262}) {
              CompareCall(ours, theirs, number, rule, {value | high, type | high, protocol | high});
            }
          }
        }
      }
    }
  }
}

TEST(SeccompTest, RefusesTheIoctlsThatLibseccompRefusesByMaskedCompare) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  for (uint32_t command : kRefusedIoctls) {
    ASSERT_EQ(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), static_cast<int>(kNrIoctl), 1,
                               Low32(1, command)),
              0);
  }
  std::vector<BpfInstruction> theirs = Export(filter);
  for (const Variant& variant : kVariants) {
    for (uint64_t value : InterestingValues(Rule::kIoctl)) {
      for (uint64_t high : kHighBits) {
        std::array<uint64_t, 6> arguments = {0, value | high, 0x1000};
        EXPECT_EQ(Answer(ProgramOf(variant), kNrIoctl, arguments),
                  Answer(theirs, kNrIoctl, arguments))
            << value;
      }
    }
  }
}

// ---- The text of RT-19, written down a second time.

TEST(SeccompTest, EveryHighBitVariantHasTheAnswerOfItsLowHalf) {
  for (const Variant& variant : kVariants) {
    auto program = ProgramOf(variant);
    for (uint32_t number = 0; number <= 600; ++number) {
      for (uint64_t value : InterestingValues(Rule::kClone)) {
        uint32_t plain = Answer(program, number, {value, value, value, 0, 0, 0});
        for (uint64_t high : kHighBits) {
          uint64_t v = value | high;
          EXPECT_EQ(Answer(program, number, {v, v, v, high, high, high}), plain) << number;
        }
      }
    }
  }
}

TEST(SeccompTest, UnknownNumbersAndX32AreNotImplemented) {
  for (const Variant& variant : kVariants) {
    auto program = ProgramOf(variant);
    for (uint32_t number = sys::kNrLast + 1; number < 5000; ++number) {
      EXPECT_EQ(Answer(program, number), kReturnEnosys) << number;
    }
    for (uint32_t number = 0; number <= 600; ++number) {
      EXPECT_EQ(Answer(program, number | 0x40000000), kReturnEnosys) << number;
    }
    EXPECT_EQ(Answer(program, 0xffffffff), kReturnEnosys);
    EXPECT_EQ(Answer(program, 0x80000000), kReturnEnosys);
  }
}

TEST(SeccompTest, OtherArchitecturesAreKilledWhateverTheNumber) {
  for (uint32_t arch : {0x40000003u /*i386*/, 0xc00000b7u /*aarch64*/, 0u, 0x8000003eu}) {
    for (const Variant& variant : kVariants) {
      for (uint32_t number = 0; number <= 600; ++number) {
        EXPECT_EQ(EvaluateBpf(ProgramOf(variant), {number, arch, 0, {}}), kReturnKillProcess);
      }
    }
  }
}

TEST(SeccompTest, CallsWithFallbacksAreNotImplemented) {
  for (const Variant& variant : kVariants) {
    for (uint32_t number : U32{435 /*clone3*/, 425, 426, 427 /*io_uring*/, 447 /*memfd_secret*/,
                               248 /*add_key*/, 249 /*request_key*/, 250 /*keyctl*/}) {
      EXPECT_EQ(Answer(ProgramOf(variant), number), kReturnEnosys) << number;
    }
  }
}

TEST(SeccompTest, DangerousCallsAreRefusedWithEperm) {
  const uint32_t kNumbers[] = {165 /*mount*/,
                               166 /*umount2*/,
                               155 /*pivot_root*/,
                               161 /*chroot*/,
                               308 /*setns*/,
                               428 /*open_tree*/,
                               429 /*move_mount*/,
                               430 /*fsopen*/,
                               431 /*fsconfig*/,
                               432 /*fsmount*/,
                               433 /*fspick*/,
                               442 /*mount_setattr*/,
                               467 /*open_tree_attr*/,
                               304 /*open_by_handle_at*/,
                               321 /*bpf*/,
                               298 /*perf_event_open*/,
                               323 /*userfaultfd*/,
                               300 /*fanotify_init*/,
                               438 /*pidfd_getfd*/,
                               103 /*syslog*/,
                               167 /*swapon*/,
                               168 /*swapoff*/,
                               175 /*init_module*/,
                               313 /*finit_module*/,
                               176 /*delete_module*/,
                               246 /*kexec_load*/,
                               320 /*kexec_file_load*/,
                               172 /*iopl*/,
                               154 /*modify_ldt*/};
  for (uint32_t number : kNumbers) EXPECT_EQ(Default(number), kReturnEperm) << number;
}

TEST(SeccompTest, CallsThatToolsNeedAreAllowed) {
  const uint32_t kNumbers[] = {101 /*ptrace*/,
                               310,
                               311 /*process_vm_*/,
                               312 /*kcmp*/,
                               434 /*pidfd_open*/,
                               424 /*pidfd_send_signal*/,
                               440 /*process_madvise*/,
                               303 /*name_to_handle_at*/,
                               444,
                               445,
                               446 /*landlock*/,
                               317 /*seccomp*/,
                               334 /*rseq*/,
                               324 /*membarrier*/,
                               437 /*openat2*/,
                               439 /*faccessat2*/,
                               332 /*statx*/,
                               436 /*close_range*/,
                               319 /*memfd_create*/,
                               202,
                               449,
                               454,
                               455,
                               456 /*futex*/,
                               238 /*set_mempolicy*/,
                               237 /*mbind*/,
                               203 /*sched_setaffinity*/,
                               462 /*mseal*/,
                               451 /*cachestat*/,
                               452 /*fchmodat2*/,
                               59 /*execve*/,
                               157 /*prctl*/};
  for (const Variant& variant : kVariants) {
    for (uint32_t number : kNumbers) {
      EXPECT_EQ(Answer(ProgramOf(variant), number), kReturnAllow) << number;
    }
  }
}

TEST(SeccompTest, NamespacesAreRefusedInCloneAndUnshare) {
  const uint64_t kNew[] = {0x20000,    0x2000000,  0x4000000, 0x8000000,
                           0x10000000, 0x20000000, 0x40000000};
  for (uint64_t flag : kNew) {
    for (uint64_t high : kHighBits) {
      EXPECT_EQ(Default(56, {flag | 17 | high}), kReturnEperm) << flag;
      EXPECT_EQ(Default(272, {flag | high}), kReturnEperm) << flag;
    }
  }
  EXPECT_EQ(Default(272, {0x80}), kReturnEperm) << "CLONE_NEWTIME";
  EXPECT_EQ(Default(56, {0x1200011}), kReturnAllow) << "fork";
  EXPECT_EQ(Default(56, {0x3d0f00}), kReturnAllow) << "pthread_create";
  EXPECT_EQ(Default(272, {0x600}), kReturnAllow) << "FS and FILES";
}

TEST(SeccompTest, SocketFamiliesTypesAndProtocolsAreAnAllowlist) {
  auto answer = [](uint64_t family, uint64_t type, uint64_t protocol) {
    uint32_t plain = Default(41, {family, type, protocol});
    for (uint64_t high : kHighBits) {
      EXPECT_EQ(Default(41, {family | high, type | high, protocol | high}), plain);
    }
    return plain;
  };
  for (uint64_t family : U64{2, 10}) {
    for (uint64_t protocol : U64{0, 6, 17, 1, 58}) {
      EXPECT_EQ(answer(family, 1, protocol), kReturnAllow);
      EXPECT_EQ(answer(family, 2 | 0x80800, protocol), kReturnAllow);
    }
    for (uint64_t protocol : U64{33 /*DCCP*/, 132 /*SCTP*/, 136 /*UDPLITE*/, 255 /*RAW*/, 262}) {
      EXPECT_EQ(answer(family, 1, protocol), kReturnEprotonosupport);
    }
    EXPECT_EQ(answer(family, 5, 0), kReturnEprotonosupport) << "SEQPACKET is SCTP";
    EXPECT_EQ(answer(family, 10, 0), kReturnEprotonosupport) << "SOCK_PACKET is AF_PACKET";
  }
  for (uint64_t type : U64{1, 2, 3, 5}) EXPECT_EQ(answer(1, type, 0), kReturnAllow);
  EXPECT_EQ(answer(16, 3, 0), kReturnAllow) << "NETLINK_ROUTE";
  for (uint64_t protocol = 1; protocol < 32; ++protocol) {
    EXPECT_EQ(answer(16, 3, protocol), kReturnEprotonosupport) << protocol;
  }
  const std::set<uint64_t> kFamilies = {1, 2, 10, 16};
  for (uint64_t family = 0; family < 64; ++family) {
    if (!kFamilies.contains(family)) EXPECT_EQ(answer(family, 2, 0), kReturnEafnosupport) << family;
  }
}

TEST(SeccompTest, PersonalityAllowsOnlyPlainAndAslrOffAndTheQuery) {
  for (uint64_t value : {0ull, 0x40000ull, 0xffffffffull}) {
    EXPECT_EQ(Default(135, {value}), kReturnAllow);
  }
  for (uint64_t value : U64{8ull, 0x400000ull /*READ_IMPLIES_EXEC*/, 0x20000ull, 0x440000ull}) {
    EXPECT_EQ(Default(135, {value}), kReturnEperm);
  }
}

TEST(SeccompTest, ProfilesWidenByTheirNamedRowsOnly) {
  const std::set<uint32_t> kBrowserNumbers = {56, 272, 161}, kDebugNumbers = {298, 438, 323};
  auto plain = ProgramOf(kVariants[0]), browser = ProgramOf(kVariants[1]),
       debug = ProgramOf(kVariants[2]);
  for (uint32_t number = 0; number <= 600; ++number) {
    std::array<uint64_t, 6> arguments = {0x70000000, 0, 0};
    bool widened = Answer(browser, number, arguments) != Answer(plain, number, arguments);
    EXPECT_EQ(widened, kBrowserNumbers.contains(number)) << number;
    widened = Answer(debug, number, arguments) != Answer(plain, number, arguments);
    EXPECT_EQ(widened, kDebugNumbers.contains(number)) << number;
  }
  for (uint64_t flag : U64{0x20000, 0x2000000, 0x4000000, 0x8000000}) {
    EXPECT_EQ(Answer(browser, 56, {flag | 0x10000011}), kReturnEperm) << flag;
    EXPECT_EQ(Answer(browser, 272, {flag | 0x10000000}), kReturnEperm) << flag;
  }
}

TEST(SeccompTest, RestrictedOnlyNarrows) {
  auto plain = ProgramOf(kVariants[0]), narrow = ProgramOf(kVariants[4]);
  for (uint32_t number = 0; number <= 600; ++number) {
    for (uint64_t value : U64{0, 1, 2, 5, 10, 16}) {
      if (Answer(narrow, number, {value, value, 0}) == kReturnAllow) {
        EXPECT_EQ(Answer(plain, number, {value, value, 0}), kReturnAllow) << number;
      }
    }
  }
  for (uint64_t family : U64{1, 2, 10, 16}) {
    EXPECT_EQ(Answer(narrow, 41, {family, 1, 0}), kReturnEafnosupport);
  }
  EXPECT_EQ(Answer(narrow, 53, {1, 1 | 0x80000, 0}), kReturnAllow);
  EXPECT_EQ(Answer(narrow, 53, {1, 5, 0}), kReturnAllow);
  for (uint64_t type : U64{2 /*DGRAM*/, 3 /*RAW is DGRAM here*/}) {
    EXPECT_EQ(Answer(narrow, 53, {1, type, 0}), kReturnEprotonosupport);
  }
  EXPECT_EQ(Answer(narrow, 302, {0}), kReturnAllow);
  EXPECT_EQ(Answer(narrow, 302, {4711}), kReturnEperm);
  EXPECT_EQ(Answer(narrow, 29), kReturnEnosys) << "shmget";
}

TEST(SeccompTest, UnknownProfileIsAnError) {
  Result<std::span<const BpfInstruction>> program = SeccompProgram({"browser", "brwser"});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(program.error().message.find("brwser"), std::string::npos);
}

TEST(SeccompTest, ProgramsStaySmall) {
  for (const Variant& variant : kVariants) EXPECT_LE(ProgramOf(variant).size(), 256u);
}

}  // namespace
}  // namespace bawn::contain
