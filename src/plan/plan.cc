// Values only: this file keeps the room a library and checks what the headers promise.
#include "plan/plan.h"

#include "plan/decision.h"
#include "plan/receipt.h"

namespace bawn::plan {
static_assert(ParseLevel("isolated") == Level::kIsolated);
static_assert(Level::kRestricted < Level::kIsolated && Level::kIsolated < Level::kBounded);
static_assert(kDefaultVerdict == Verdict::kDeny);
}  // namespace bawn::plan
