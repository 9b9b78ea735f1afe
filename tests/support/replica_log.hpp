// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replicate/chain.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/slot_row.hpp"
#include "store/replica.hpp"
#include "store/rocks_open.hpp"

/// A replicated log in memory, in which every step that is appended is confirmed.
namespace ratchet::store_support {

class replica_log {
 public:
  static constexpr std::size_t k_all = std::numeric_limits<std::size_t>::max();

  /// Another owner goes on, in a higher epoch.
  void fence() {
    ++next_.epoch.generation;
    ++next_.writer;
    next_.fenced_step = next_.step;
    ++next_.offset;
  }
  void append(std::string rows) {
    next_.chain = replicate::next_chain(next_.chain, rows);
    ++next_.step;
    ++next_.offset;
    entries_.push_back({next_, std::move(rows)});
  }
  [[nodiscard]] std::uint64_t last_step() const { return entries_.size(); }

  /// What the store has not applied yet, `most` steps of it.
  [[nodiscard]] std::vector<confirmed_rows> behind(store& s, std::size_t most = k_all) const {
    const auto at = replica_of(s)->position();
    std::vector<confirmed_rows> steps;
    for (std::size_t i = at ? at->step : 0; i < entries_.size() && steps.size() < most; ++i)
      steps.push_back({entries_[i].position, entries_[i].rows, layout::k_schema_version});
    return steps;
  }
  /// Has the store apply them, in one write.
  void apply_to(store& s, std::size_t most = k_all) const {
    const auto steps = behind(s, most);
    if (steps.empty()) return;
    const auto refused = replica_of(s)->apply(steps);
    ASSERT_TRUE(refused) << refused.error().message();
    const std::optional<apply_refusal>& why = refused.assume_value();
    ASSERT_FALSE(why) << name_of(why->fault) << " at step " << why->step;
  }
  /// Takes the oldest pending steps of the store, `most` of them, into the log, and has it apply them.
  void confirm(store& s, std::size_t most = k_all) {
    for (std::size_t i = 0; i < most; ++i) {
      const auto rows = replica_of(s)->rows_of(last_step() + 1);
      if (!rows) break;
      append(*rows);
    }
    apply_to(s);
  }

 private:
  struct entry {
    replicate::log_position position;
    std::string rows;
  };

  static replicate::log_position first() {
    replicate::log_position at;
    at.lineage = hash128{7, 9};
    at.epoch = {1, 0};
    at.writer = 1;
    at.chain = replicate::founding_chain(*at.lineage, 0);
    at.offset = 0;
    return at;
  }
  replicate::log_position next_{first()};
  std::deque<entry> entries_;
};

/// All rows that a log has, by family and key; `with_local`: the others, too.
inline std::map<std::pair<std::string, std::string>, std::string> rows_of(store& s, bool with_local = false) {
  std::map<std::pair<std::string, std::string>, std::string> out;
  const database& db = database_of(s);
  for (std::size_t f = 0; f < k_family_names.size(); ++f) {
    const auto in = static_cast<family>(f);
    const auto visited = db.for_each({}, in, "", [&](auto key, auto value) -> result<bool> {
      const bool is_local = layout::is_local_key(in == family::standard, key);
      if (with_local || !is_local) out[{k_family_names[f], std::string{key}}] = std::string{value};
      return true;
    });
    EXPECT_TRUE(visited);
  }
  return out;
}

}  // namespace ratchet::store_support
