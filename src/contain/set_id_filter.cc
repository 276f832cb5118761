#include "contain/set_id_filter.h"

#include <array>

#include "contain/seccomp_compiler.h"
#include "sys/syscall_numbers.h"

namespace bawn::contain {
namespace {

using namespace seccomp;  // NOLINT(google-build-using-namespace): the compiler's names

constexpr uint32_t kSetIdBits = 06000;
constexpr uint32_t kCreates = 0100 | 020000000;  // O_CREAT, the own bit of O_TMPFILE: open(2)
constexpr uint32_t kNoFlags = UINT32_MAX;

struct ModeRow {
  uint32_t number;
  uint32_t mode;              // index of the argument
  uint32_t flags = kNoFlags;  // index of the flags that say whether there is a mode
};
constexpr ModeRow kModes[] = {
    {sys::kNrChmod, 1},     {sys::kNrFchmod, 1},  {sys::kNrFchmodat, 2},
    {sys::kNrFchmodat2, 2}, {sys::kNrCreat, 1},   {sys::kNrMknod, 1},
    {sys::kNrMknodat, 2},   {sys::kNrOpen, 2, 1}, {sys::kNrOpenat, 3, 2},
};

struct Built {
  std::array<BpfInstruction, 96> code = {};
  size_t size = 0;

  constexpr void Emit(uint16_t op, uint32_t k, size_t jump_true = 0, size_t jump_false = 0) {
    code[size++] = {op, static_cast<uint8_t>(jump_true), static_cast<uint8_t>(jump_false), k};
  }
};

// One block per call: not this one -> the next block; else its own answer.
constexpr Built Build() {
  Built built;
  built.Emit(kLoadWord, kNumberOffset);
  built.Emit(kJumpEqual, sys::kNrOpenat2, 0, 1);
  built.Emit(kReturn, kReturnEnosys);
  for (const ModeRow& row : kModes) {
    bool flagged = row.flags != kNoFlags;
    built.Emit(kJumpEqual, row.number, 0, flagged ? 6 : 4);
    if (flagged) {
      built.Emit(kLoadWord, ArgumentOffset(row.flags));
      built.Emit(kJumpAnyBit, kCreates, 0, 2);
    }
    built.Emit(kLoadWord, ArgumentOffset(row.mode));
    built.Emit(kJumpAnyBit, kSetIdBits, 1, 0);
    built.Emit(kReturn, kReturnAllow);
    built.Emit(kReturn, kReturnEperm);
  }
  built.Emit(kReturn, kReturnAllow);
  return built;
}

constexpr Built kBuilt = Build();

}  // namespace

std::span<const BpfInstruction> SetIdProgram() { return {kBuilt.code.data(), kBuilt.size}; }

}  // namespace bawn::contain
