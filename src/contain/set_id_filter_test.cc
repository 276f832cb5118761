#include "contain/set_id_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "contain/bpf_evaluator.h"
#include "contain/seccomp_compiler.h"
#include "sys/syscall_numbers.h"

namespace bawn::contain {
namespace {

using namespace seccomp;  // NOLINT(google-build-using-namespace): the compiler's names

uint32_t Answer(uint32_t number, std::array<uint64_t, 6> arguments) {
  return EvaluateBpf(SetIdProgram(), {number, kArchX86_64, 0, arguments});
}

struct Call {
  uint32_t number;
  size_t mode;
};
const Call kCalls[] = {{sys::kNrChmod, 1},     {sys::kNrFchmod, 1}, {sys::kNrFchmodat, 2},
                       {sys::kNrFchmodat2, 2}, {sys::kNrCreat, 1},  {sys::kNrMknod, 1},
                       {sys::kNrMknodat, 2}};

TEST(SetIdFilterTest, NoCallGivesAFileAnotherUsersRights) {
  for (const Call& call : kCalls) {
    for (uint64_t high : {uint64_t{0}, uint64_t{1} << 32, uint64_t{1} << 63}) {  // RT-06
      for (uint64_t mode : {04755U, 02755U, 06777U, 0104755U, 04000U}) {
        std::array<uint64_t, 6> arguments = {};
        arguments[call.mode] = mode | high;
        EXPECT_EQ(Answer(call.number, arguments), kReturnEperm) << call.number << " " << mode;
      }
      for (uint64_t mode : {0755U, 01777U, 0100644U, 0U}) {
        std::array<uint64_t, 6> arguments = {};
        arguments[call.mode] = mode | high;
        EXPECT_EQ(Answer(call.number, arguments), kReturnAllow) << call.number << " " << mode;
      }
    }
  }
}

TEST(SetIdFilterTest, OpenHasAModeOnlyWhereItMakesAFile) {
  for (int opened : {O_CREAT | O_WRONLY, O_TMPFILE | O_RDWR}) {
    auto flags = static_cast<uint64_t>(opened);
    EXPECT_EQ(Answer(sys::kNrOpen, {0, flags, 04755}), kReturnEperm);
    EXPECT_EQ(Answer(sys::kNrOpenat, {0, 0, flags, 04755}), kReturnEperm);
    EXPECT_EQ(Answer(sys::kNrOpen, {0, flags, 0644}), kReturnAllow);
    EXPECT_EQ(Answer(sys::kNrOpenat, {0, 0, flags, 0644}), kReturnAllow);
  }
  // Whatever stands in the register.
  for (int opened : {O_RDONLY, O_DIRECTORY | O_RDONLY}) {
    auto flags = static_cast<uint64_t>(opened);
    EXPECT_EQ(Answer(sys::kNrOpen, {0, flags, 04755}), kReturnAllow);
    EXPECT_EQ(Answer(sys::kNrOpenat, {0, 0, flags, 04755}), kReturnAllow);
  }
  EXPECT_EQ(Answer(sys::kNrOpenat2, {}), ReturnErrno(ENOSYS));
  EXPECT_EQ(Answer(sys::kNrExecve, {0, 04755, 04755}), kReturnAllow);
}

}  // namespace
}  // namespace bawn::contain
