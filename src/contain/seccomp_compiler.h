// contain/seccomp_compiler.h
// Makes the classic BPF program of a profile from the table, at compile time: architecture, x32,
// then the call's number in ranges of one rule each, found by halving, then what the rule tests.
// Halving is for loading, not for calls: the kernel answers allowed calls from a bitmap, which it
// makes by running the program once per number when it is loaded. Measured: 56 us, and 92 us for a
// walk from range to range; each job pays it.
// Sources: seccomp(2), Documentation/networking/filter.rst, uapi/linux/{filter,seccomp,audit}.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "contain/seccomp.h"
#include "contain/seccomp_table.h"

namespace bawn::contain::seccomp {

enum Profile : unsigned { kBrowser = 1, kDebug = 2, kRestricted = 4, kProfiles = 8 };

inline constexpr uint32_t kArchX86_64 = 0xc000003e;  // AUDIT_ARCH_X86_64
inline constexpr uint32_t kX32Bit = 0x40000000;
inline constexpr uint32_t kReturnAllow = 0x7fff0000;
inline constexpr uint32_t kReturnKillProcess = 0x80000000;
constexpr uint32_t ReturnErrno(uint32_t value) { return 0x00050000 | value; }
inline constexpr uint32_t kReturnEperm = ReturnErrno(1);
inline constexpr uint32_t kReturnEnosys = ReturnErrno(38);
inline constexpr uint32_t kReturnEprotonosupport = ReturnErrno(93);
inline constexpr uint32_t kReturnEafnosupport = ReturnErrno(97);

// Instruction codes: class, size or operation, and mode of linux/bpf_common.h.
enum Code : uint16_t {
  kLoadWord = 0x20,     // BPF_LD | BPF_W | BPF_ABS
  kJumpEqual = 0x15,    // BPF_JMP | BPF_JEQ | BPF_K
  kJumpAtLeast = 0x35,  // BPF_JMP | BPF_JGE | BPF_K
  kJumpAnyBit = 0x45,   // BPF_JMP | BPF_JSET | BPF_K
  kAnd = 0x54,          // BPF_ALU | BPF_AND | BPF_K
  kReturn = 0x06,       // BPF_RET | BPF_K
};

// Offsets in struct seccomp_data; of an argument the low 32 bits (little-endian).
inline constexpr uint32_t kNumberOffset = 0, kArchOffset = 4;
constexpr uint32_t ArgumentOffset(uint32_t index) { return 16 + 8 * index; }

using RuleMap = std::array<Rule, sys::kNrLast + 1>;

// A number in two lists fails the assertion, which is no constant expression: the build stops.
consteval void Set(RuleMap& map, SyscallNumber number, Rule rule) {
  BAWN_ASSERT(map[number] == Rule::kNotImplemented);
  map[number] = rule;
}

consteval RuleMap RulesOf(unsigned profiles) {
  RuleMap map = {};
  for (SyscallNumber number : kAllowed) Set(map, number, Rule::kAllow);
  for (SyscallNumber number : kRefused) Set(map, number, Rule::kRefuse);
  for (Row row : kByArgument) Set(map, row.number, row.rule);
  for (SyscallNumber number : kFallBack) {
    BAWN_ASSERT(map[number] == Rule::kNotImplemented);
  }
  auto replace = [&map](std::span<const Row> rows) {
    for (Row row : rows) map[row.number] = row.rule;
  };
  if (profiles & kBrowser) replace(kBrowserRows);
  if (profiles & kDebug) replace(kDebugRows);
  if (profiles & kRestricted) replace(kRestrictedRows);
  return map;
}

struct Program {
  std::array<BpfInstruction, 1024> code = {};
  size_t size = 0;

  constexpr void Emit(uint16_t op, uint32_t k, uint8_t jump_true = 0, uint8_t jump_false = 0) {
    code[size++] = {op, jump_true, jump_false, k};
  }
  // Returns `match` when the loaded word is one of `values`, else `otherwise`: n + 2 instructions.
  constexpr void ReturnIfAny(std::span<const uint32_t> values, uint32_t match, uint32_t otherwise) {
    size_t left = values.size();
    for (uint32_t value : values) Emit(kJumpEqual, value, static_cast<uint8_t>(left--));
    Emit(kReturn, otherwise);
    Emit(kReturn, match);
  }
  // Goes on when the loaded word is one of `values`, else returns: n + 1 instructions.
  constexpr void GoOnIfAny(std::span<const uint32_t> values, uint32_t otherwise) {
    size_t left = values.size();
    for (uint32_t value : values) Emit(kJumpEqual, value, static_cast<uint8_t>(left--));
    Emit(kReturn, otherwise);
  }
  constexpr void ReturnIfOnlyBits(uint32_t bits, uint32_t match, uint32_t otherwise) {
    Emit(kJumpAnyBit, ~bits, 1, 0);
    Emit(kReturn, match);
    Emit(kReturn, otherwise);
  }
};

// socket(family, type, protocol): families in the table, then type and protocol of inet ones.
constexpr void EmitSocket(Program& program) {
  constexpr uint32_t kInet[] = {kFamilyInet, kFamilyInet6};
  program.Emit(kLoadWord, ArgumentOffset(0));
  program.Emit(kJumpEqual, kFamilyUnix, 0, 1);
  program.Emit(kReturn, kReturnAllow);
  program.Emit(kJumpEqual, kFamilyNetlink, 0, 4);
  program.Emit(kLoadWord, ArgumentOffset(2));
  program.Emit(kJumpEqual, kNetlinkRoute, 1, 0);
  program.Emit(kReturn, kReturnEprotonosupport);
  program.Emit(kReturn, kReturnAllow);
  program.GoOnIfAny(kInet, kReturnEafnosupport);
  program.Emit(kLoadWord, ArgumentOffset(1));
  program.Emit(kAnd, kSocketTypeMask);
  program.GoOnIfAny(kInetTypes, kReturnEprotonosupport);
  program.Emit(kLoadWord, ArgumentOffset(2));
  program.ReturnIfAny(kInetProtocols, kReturnAllow, kReturnEprotonosupport);
}

constexpr void EmitSocketpair(Program& program, bool restricted) {
  constexpr uint32_t kUnix[] = {kFamilyUnix};
  program.Emit(kLoadWord, ArgumentOffset(0));
  program.GoOnIfAny(kUnix, kReturnEafnosupport);
  if (!restricted) return program.Emit(kReturn, kReturnAllow);
  program.Emit(kLoadWord, ArgumentOffset(1));
  program.Emit(kAnd, kSocketTypeMask);
  program.ReturnIfAny(kConnectedTypes, kReturnAllow, kReturnEprotonosupport);
}

// Everything that `rule` tests, ending in a return on every path.
constexpr void EmitRule(Program& program, Rule rule) {
  auto test_argument = [&program](uint32_t index) {
    program.Emit(kLoadWord, ArgumentOffset(index));
  };
  switch (rule) {
    case Rule::kNotImplemented:
      return program.Emit(kReturn, kReturnEnosys);
    case Rule::kAllow:
      return program.Emit(kReturn, kReturnAllow);
    case Rule::kRefuse:
      return program.Emit(kReturn, kReturnEperm);
    case Rule::kSocketRestricted:
      return program.Emit(kReturn, kReturnEafnosupport);
    case Rule::kSocket:
      return EmitSocket(program);
    case Rule::kSocketpair:
      return EmitSocketpair(program, false);
    case Rule::kSocketpairRestricted:
      return EmitSocketpair(program, true);
    case Rule::kClone:
      test_argument(0);
      return program.ReturnIfOnlyBits(kCloneFlags, kReturnAllow, kReturnEperm);
    case Rule::kCloneBrowser:
      test_argument(0);
      return program.ReturnIfOnlyBits(kCloneFlags | kBrowserNamespaces, kReturnAllow, kReturnEperm);
    case Rule::kUnshare:
      test_argument(0);
      return program.ReturnIfOnlyBits(kUnshareFlags, kReturnAllow, kReturnEperm);
    case Rule::kUnshareBrowser:
      test_argument(0);
      return program.ReturnIfOnlyBits(kUnshareFlags | kBrowserNamespaces, kReturnAllow,
                                      kReturnEperm);
    case Rule::kIoctl:
      test_argument(1);
      return program.ReturnIfAny(kRefusedIoctls, kReturnEperm, kReturnAllow);
    case Rule::kPersonality:
      test_argument(0);
      return program.ReturnIfAny(kPersonalities, kReturnAllow, kReturnEperm);
    case Rule::kPrlimitOwn: {
      constexpr uint32_t kSelf[] = {0};
      test_argument(0);
      return program.ReturnIfAny(kSelf, kReturnAllow, kReturnEperm);
    }
  }
}

// Numbers of one rule, from `first` up to the next range's.
struct Range {
  uint32_t first;
  Rule rule;
};
struct Ranges {
  std::array<Range, sys::kNrLast + 2> range = {};
  size_t count = 0;
};

consteval Ranges RangesOf(const RuleMap& rules) {
  Ranges ranges;
  for (uint32_t number = 0; number < rules.size(); ++number) {
    if (number == 0 || rules[number] != rules[number - 1]) {
      ranges.range[ranges.count++] = {number, rules[number]};
    }
  }
  ranges.range[ranges.count++] = {static_cast<uint32_t>(rules.size()), Rule::kNotImplemented};
  return ranges;
}

// Halves the ranges until one is left: the lower half first, which the jump skips.
consteval void EmitRanges(Program& program, std::span<const Range> ranges) {
  if (ranges.size() == 1) return EmitRule(program, ranges.front().rule);
  std::span<const Range> upper = ranges.subspan(ranges.size() / 2);
  size_t jump = program.size;
  program.Emit(kJumpAtLeast, upper.front().first);
  EmitRanges(program, ranges.first(ranges.size() / 2));
  size_t skipped = program.size - jump - 1;
  BAWN_ASSERT(skipped <= 255);  // as far as a jump reaches
  program.code[jump].jump_true = static_cast<uint8_t>(skipped);
  EmitRanges(program, upper);
}

consteval Program Compile(unsigned profiles) {
  Ranges ranges = RangesOf(RulesOf(profiles));
  Program program;
  program.Emit(kLoadWord, kArchOffset);
  program.Emit(kJumpEqual, kArchX86_64, 1, 0);
  program.Emit(kReturn, kReturnKillProcess);
  program.Emit(kLoadWord, kNumberOffset);
  program.Emit(kJumpAtLeast, kX32Bit, 0, 1);
  program.Emit(kReturn, kReturnEnosys);
  EmitRanges(program, std::span(ranges.range).first(ranges.count));
  return program;
}

// The program of `profiles` in an array of exactly its size.
template <unsigned profiles>
inline constexpr auto kProgram = [] {
  constexpr Program kCompiled = Compile(profiles);
  std::array<BpfInstruction, kCompiled.size> exact = {};
  for (size_t i = 0; i < exact.size(); ++i) exact[i] = kCompiled.code[i];
  return exact;
}();

}  // namespace bawn::contain::seccomp
