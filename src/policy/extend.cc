#include "policy/extend.h"

#include <algorithm>

#include "base/text.h"
#include "policy/canonical.h"
#include "policy/limits.h"

namespace bawn::policy {
namespace {

template <class T>
void Append(std::vector<T>* list, const std::vector<T>& more) {
  list->insert(list->end(), more.begin(), more.end());
}

void AppendNew(std::vector<std::string>* list, const std::vector<std::string>& more) {
  for (const std::string& one : more) {
    if (std::ranges::find(*list, one) == list->end()) list->push_back(one);
  }
}

}  // namespace

Policy Extend(const Policy& base, const Policy& over) {
  Policy result = base;
  result.name = over.name;
  result.extends.clear();
  if (over.level_floor && (!base.level_floor || *over.level_floor > *base.level_floor)) {
    result.level_floor = over.level_floor;
  }
  Append(&result.ro, over.ro);
  Append(&result.rw, over.rw);
  Append(&result.hide, over.hide);
  Append(&result.show, over.show);
  Append(&result.env, over.env);
  AppendNew(&result.secrets, over.secrets);
  AppendNew(&result.caches, over.caches);
  AppendNew(&result.syscall_profiles, over.syscall_profiles);
  result.limits = MergeLimits(base.limits, over.limits);
  Append(&result.sources, over.sources);
  result.digest = PolicyDigest(result);
  return result;
}

Result<Policy> ResolveExtends(Policy policy,
                              const std::function<Result<Policy>(std::string_view)>& find) {
  std::vector<Policy> chain;
  chain.push_back(std::move(policy));
  while (!chain.back().extends.empty()) {
    const std::string& name = chain.back().extends;
    bool circle = std::ranges::any_of(chain, [&](const Policy& one) { return one.name == name; });
    if (circle || chain.size() > kExtendsMax) {
      return Fail(ErrorCode::kInvalidArgument,
                  "profile '" + EscapeName(chain.front().name) + "' extends '" + EscapeName(name) +
                      (circle ? "' in a circle" : "' through too many others"),
                  "let each profile extend one that does not lead back", "profile.extends");
    }
    Result<Policy> base = find(name);
    if (!base) {
      return std::unexpected(WithContext(
          base.error(), "profile '" + chain.back().name + "' extends '" + EscapeName(name) + "'"));
    }
    chain.push_back(std::move(*base));
  }
  Policy result = std::move(chain.back());
  for (size_t i = chain.size() - 1; i-- > 0;) result = Extend(result, chain[i]);
  return result;
}

}  // namespace bawn::policy
