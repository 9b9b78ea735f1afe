// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ratchet/config.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {

/// Does what replace_reducer does, but fails where its rules say so: for trying out what becomes of events
/// whose reducer fails, and for tests of that. Whether it fails depends on the event and on which attempt at
/// it this is, on nothing else; so a repeated run fails at the same places.
///
/// The rules are no part of the stored meaning: a change of them is what a mended reducer looks like. Never
/// superseded, so that every event that is let through meets the rules.
///
/// Thread-safety: immutable. Errors: errc::reducer_failed by the ending that the rule names; throws
/// std::runtime_error where the rule says so.
class flaky_reducer {
 public:
  static constexpr reducer_traits traits{
      .name = "flaky", .version = 1, .full_state = false, .has_effects = false};

  /// The first of the rules that fits an event decides; one that none fits succeeds.
  explicit flaky_reducer(std::vector<failure_rule> rules) : rules_{std::move(rules)} {}

  [[nodiscard]] outcome apply(const event&, state&, effects&) const;

 private:
  std::vector<failure_rule> rules_;
};

}  // namespace ratchet
