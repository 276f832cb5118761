// base/result.h
// Result<T>: the one way a first-party function reports an operating error. Three kinds are never
// mixed: our own bug is BAWN_ASSERT (stays on in release), an operating error is a Result, what a
// job did is an Outcome (plan/outcome.h).
// Threads: values; no shared state.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace bawn {

// Small and closed. `kSystem` carries an errno; the others are decisions of our own.
enum class ErrorCode : uint8_t {
  kInvalidArgument,     // the input is wrong, whatever the state of the machine
  kNotFound,            // a named thing does not exist
  kPermissionDenied,    // a rule of ours or of the kernel refuses
  kFailedPrecondition,  // right request, wrong state (the hint says how to get to the right one)
  kConflict,            // somebody else changed it in between
  kResourceExhausted,   // a limit
  kDeadlineExceeded,
  kUnavailable,  // this machine or level cannot do it
  kSystem,       // a system call failed; sys_errno says how
  kInternal,     // a peer of ours broke its protocol
};

// `message` names the call and its object ("openat2(/work/x): ELOOP"). `rule` is a stable id of the
// rule that refused, `hint` the sanctioned way out. `kind` is a machine-readable word of the RPC
// (DESIGN 8), always a string literal.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  int sys_errno = 0;
  std::string message;
  std::string hint;
  std::string rule;
  std::string_view kind;
};

template <class T = void>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

// Shorthand for `return Fail(...)`: converts to any Result<T>.
inline std::unexpected<Error> Fail(ErrorCode code, std::string message, std::string hint = {},
                                   std::string rule = {}) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  error.hint = std::move(hint);
  error.rule = std::move(rule);
  return std::unexpected<Error>(std::move(error));
}

// A failed system call: `what` names call and object; the text of errno is appended.
std::unexpected<Error> FailErrno(int sys_errno, std::string_view what);

// "EPERM" for EPERM; "errno 4711" for what has no name. Static storage or thread-local buffer.
std::string ErrnoName(int sys_errno);

// The machine was short of something at that moment, which says nothing about what was read.
bool IsMomentary(const Error& error);

// Adds context in front of an error on its way up: "while …: <old message>".
Error WithContext(Error error, std::string_view context);

[[noreturn]] inline void AssertFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "bawn: internal error: %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace bawn

// Our own bug. Stays on in release: a process that does not know its state must not go on.
#define BAWN_ASSERT(expression) \
  ((expression) ? void(0) : ::bawn::AssertFailed(#expression, __FILE__, __LINE__))

// The value of a Result, or returns its error from the enclosing function.
#define BAWN_TRY(expression)                                                          \
  __extension__({                                                                     \
    auto bawn_try_result = (expression);                                              \
    if (!bawn_try_result) return std::unexpected(std::move(bawn_try_result).error()); \
    std::move(*bawn_try_result);                                                      \
  })

// The same for a Result<void>, or where the value is not wanted.
#define BAWN_CHECK_OK(expression)                                                     \
  do {                                                                                \
    auto bawn_try_result = (expression);                                              \
    if (!bawn_try_result) return std::unexpected(std::move(bawn_try_result).error()); \
  } while (false)
