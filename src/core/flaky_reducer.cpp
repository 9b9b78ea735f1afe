// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/flaky_reducer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "core/reducers.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

bool is_built_in(std::string_view reducer_name) noexcept {
  return reducer_name == replace_reducer::traits.name || reducer_name == merge_patch_reducer::traits.name ||
         reducer_name == flaky_reducer::traits.name;
}

namespace {

[[nodiscard]] bool fits(const failure_rule& rule, const event& e) noexcept {
  return (rule.type.empty() || rule.type == e.type) &&
         (rule.contains.empty() || e.payload.find(rule.contains) != std::string_view::npos);
}

[[nodiscard]] outcome fail(failure_kind how) {
  const std::error_code code = make_error_code(errc::reducer_failed);
  switch (how) {
    case failure_kind::retry:
      return retry(code);
    case failure_kind::give_up:
      return give_up(code);
    case failure_kind::stop:
      return stop(code);
    case failure_kind::throws:
      break;
  }
  throw std::runtime_error{"the reducer threw: its config asks for that"};
}

}  // namespace

outcome flaky_reducer::apply(const event& e, state& s, effects& fx) const {
  const auto rule =
      std::find_if(rules_.begin(), rules_.end(), [&](const failure_rule& r) { return fits(r, e); });
  if (rule != rules_.end() && (rule->times == 0 || e.attempt <= rule->times)) return fail(rule->how);
  return replace_reducer{}.apply(e, s, fx);
}

}  // namespace ratchet
