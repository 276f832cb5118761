// Where the time of one run goes, from Provision to the end of /bin/true and on to "gone". Prints
// medians; fails only when a run fails or the whole is absurdly slow (a loaded machine is no bug).
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/clock.h"
#include "contain/engine_test_support.h"
#include "contain/plan_codec.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::contain {
namespace {

double Median(std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  return static_cast<double>(ns[ns.size() / 2]) / 1e6;
}

TEST(EngineTimingTest, ProvisionToTheExitOfTrue) {
  constexpr int kRuns = 100;
  std::map<std::string, std::vector<int64_t>> laps;
  for (int run = 0; run < kRuns; ++run) {
    Enclosure enclosure;
    std::vector<std::string> names = {"1 clone3 returned", "2 ready", "3 exec done",
                                      "4 true exited", "5 gone"};
    int64_t begin = MonotonicNs();
    ASSERT_TRUE(enclosure.Provision());
    laps[names[0]].push_back(MonotonicNs() - begin);
    LiveJob job = enclosure.Launch(enclosure.Spec({"/bin/true"}));
    for (size_t at = 1; at < 4; ++at) {
      std::optional<wire::FromInit> frame = enclosure.Next(10000);
      ASSERT_TRUE(frame);
      ASSERT_FALSE(std::holds_alternative<wire::JobFailed>(*frame));
      ASSERT_FALSE(std::holds_alternative<wire::SetupFailed>(*frame));
      laps[names[at]].push_back(MonotonicNs() - begin);
    }
    ASSERT_TRUE(enclosure.engine().Destroy(&enclosure.sandbox(), 5000));
    laps[names[4]].push_back(MonotonicNs() - begin);
  }
  for (const auto& [name, ns] : laps) std::printf("  %-18s %.2f ms\n", name.c_str(), Median(ns));
  EXPECT_LT(Median(laps["5 gone"]), 500);
}

}  // namespace
}  // namespace bawn::contain
