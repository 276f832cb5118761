// policy/explain.h
// A Plan, a job and decisions as text for people: what `bawn plan` prints and what tests/golden
// keep. Deterministic: equal values give equal text. Names are terminal-safe. The content of
// secrets is never shown, nor its size.
#pragma once

#include <string>
#include <vector>

#include "plan/decision.h"
#include "plan/plan.h"

namespace bawn::policy {

// One line per op, Landlock rule and limit that is set.
std::string ExplainPlan(const plan::Plan& plan);
std::string ExplainJob(const plan::JobSpec& job);
// One line each: verdict, subject, rule with file and line, reason, remedy.
std::string ExplainDecisions(const std::vector<plan::Decision>& decisions);

}  // namespace bawn::policy
