#include "contain/seccomp.h"

#include <array>
#include <utility>

#include "contain/seccomp_compiler.h"
#include "sys/raw.h"

namespace bawn::contain {
namespace {

template <unsigned... profiles>
constexpr auto Programs(std::integer_sequence<unsigned, profiles...>) {
  return std::array{std::span<const BpfInstruction>(seccomp::kProgram<profiles>)...};
}

constexpr auto kPrograms = Programs(std::make_integer_sequence<unsigned, seccomp::kProfiles>());

}  // namespace

Result<std::span<const BpfInstruction>> SeccompProgram(const std::vector<std::string>& profiles,
                                                       plan::Level level) {
  unsigned chosen = level == plan::Level::kRestricted ? seccomp::kRestricted : 0;
  for (const std::string& name : profiles) {
    if (name == "browser") {
      chosen |= seccomp::kBrowser;
    } else if (name == "debug") {
      chosen |= seccomp::kDebug;
    } else {
      return Fail(ErrorCode::kInvalidArgument, "unknown system call profile \"" + name + "\"",
                  "use browser or debug");
    }
  }
  return kPrograms[chosen];
}

int LoadSeccomp(std::span<const BpfInstruction> program) {
  return sys::raw::LoadFilter(program.data(), program.size());
}

}  // namespace bawn::contain
