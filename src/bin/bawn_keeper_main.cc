// bawn-keeper SANDBOX_ID KEEP_FOR_MS: the parent of a kept sandbox's pid 1 (launch/kept.h).
// Descriptors: 3 the listener, 4 the sealed Plan, 5 the program of pid 1, 6 the sandbox's lock,
// 7 and 8 the witnesses. Started by service/continue.cc, in a session of its own.
#include <charconv>
#include <string_view>
#include <utility>

#include "contain/engines/native.h"
#include "launch/kept.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::string_view number = argv[2];
  bawn::launch::KeptSandbox kept;
  auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), kept.keep_for_ms);
  if (error != std::errc() || end != number.data() + number.size()) return 2;
  bawn::contain::NativeEngine engine(bawn::UniqueFd(5));
  kept.engine = &engine;
  kept.listener.Reset(3);
  kept.provision.sandbox_id = argv[1];
  kept.provision.plan.Reset(4);
  return bawn::launch::ServeKept(std::move(kept)) ? 0 : 125;
}
