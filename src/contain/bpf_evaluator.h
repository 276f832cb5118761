// contain/bpf_evaluator.h
// For unit tests only: what a seccomp program answers for one call, computed here. Knows the
// instructions that our compiler and libseccomp use; anything else is an assertion.
// Source: Documentation/networking/filter.rst, seccomp(2) (struct seccomp_data).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "contain/seccomp.h"

namespace bawn::contain {

struct SeccompData {
  uint32_t number = 0;
  uint32_t arch = 0;
  uint64_t instruction_pointer = 0;
  std::array<uint64_t, 6> arguments = {};
};
static_assert(sizeof(SeccompData) == 64);

inline uint32_t EvaluateBpf(std::span<const BpfInstruction> program, const SeccompData& data) {
  uint32_t word = 0;
  for (size_t at = 0; at < program.size(); ++at) {
    const BpfInstruction& op = program[at];
    auto jump_if = [&](bool condition) { at += condition ? op.jump_true : op.jump_false; };
    switch (op.code) {
      case 0x20:  // ld [k]
        BAWN_ASSERT(op.k + sizeof word <= sizeof data && op.k % 4 == 0);
        std::memcpy(&word, reinterpret_cast<const char*>(&data) + op.k, sizeof word);
        break;
      case 0x05:  // ja
        at += op.k;
        break;
      case 0x15:  // jeq
        jump_if(word == op.k);
        break;
      case 0x25:  // jgt
        jump_if(word > op.k);
        break;
      case 0x35:  // jge
        jump_if(word >= op.k);
        break;
      case 0x45:  // jset
        jump_if((word & op.k) != 0);
        break;
      case 0x54:  // and
        word &= op.k;
        break;
      case 0x06:  // ret
        return op.k;
      default:
        AssertFailed("known BPF instruction", __FILE__, __LINE__);
    }
  }
  AssertFailed("BPF program returns", __FILE__, __LINE__);
}

}  // namespace bawn::contain
