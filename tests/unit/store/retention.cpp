// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a store shows of aggregates that are forgotten, and how their rows go.
#include "core/retention.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "store/open/verify.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;
using store_support::plan_of;

timestamp at_ms(std::int64_t ms) {
  return timestamp{std::chrono::milliseconds{ms}};
}

class retention_of_a_store : public fixture {
 protected:
  /// Three aggregates, of which the first two were seen at 10 and 20, and the last one without a time.
  static void fill(store& s, stream_id stream, retention_state of) {
    write(s, stream,
          {{"old", seq(1), std::string(3000, 'x')}, {"young", seq(2), "y"}, {"untimed", seq(3), "z"}},
          [&](step_batch&, stream_change& change) {
            change.rows.at(0).row.seen = at_ms(10);
            change.rows.at(1).row.seen = at_ms(20);
            change.after.retention = of;
          });
  }
  static std::vector<std::string> shown(const store& s, stream_id stream) {
    std::vector<std::string> names;
    const auto view = must(s.view());
    must(view->scan(stream, [&](const scanned_row& row) {
      names.emplace_back(row.aggregate);
      EXPECT_TRUE(view->get(stream, row.aggregate));
      return true;
    }));
    return names;
  }
};
using names = std::vector<std::string>;

TEST_F(retention_of_a_store, shows_nothing_of_what_is_forgotten_though_its_row_is_there) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  fill(*s, stream, {at_ms(11), at_ms(11)});
  EXPECT_EQ(shown(*s, stream), (names{"untimed", "young"}));
  EXPECT_EQ(must(s->view())->get(stream, "old").error(), make_error_code(errc::not_found));
  s = {};
  s = open();
  EXPECT_EQ(shown(*s, stream), (names{"untimed", "young"}));
  EXPECT_EQ(must(s->load(stream)).retention, (retention_state{at_ms(11), at_ms(11)}));
}

TEST_F(retention_of_a_store, finds_no_row_that_is_still_within_the_retention) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  fill(*s, stream, {at_ms(11), at_ms(11)});
  const auto found = [&](retention_state of) {
    return must(s->find_forgotten(stream, of, std::nullopt, 100)).names;
  };
  EXPECT_EQ(found({}), names{});
  EXPECT_EQ(found({at_ms(10), at_ms(10)}), names{}) << "seen at the bound itself";
  EXPECT_EQ(found({at_ms(11), at_ms(11)}), names{"old"});
  EXPECT_EQ(found({at_ms(20), at_ms(20)}), names{"old"});
}

TEST_F(retention_of_a_store, finds_rows_some_at_a_time_and_takes_them_away_with_their_snapshots) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  const retention_state of{at_ms(21), at_ms(12)};
  fill(*s, stream, of);
  names found;
  std::optional<std::string> after;
  int looks = 0;
  do {
    const auto some = must(s->find_forgotten(stream, of, after, 1));
    found.insert(found.end(), some.names.begin(), some.names.end());
    after = some.last;
    ++looks;
  } while (after);
  EXPECT_EQ(found, (names{"old", "untimed", "young"}));
  EXPECT_EQ(looks, 3);
  const step_plan plan = plan_of({"old", "untimed", "young"});
  step_rows rows;
  ASSERT_TRUE(s->lookup(stream, plan, rows));
  stream_rules rules;
  rules.window = rules.max_skew = std::chrono::milliseconds{0};
  const stream_change change = remove_forgotten(rules, must(s->load(stream)), plan, rows);
  // Without a retention those without a time do not count from any.
  ASSERT_EQ(change.rows.size(), 2U);
  step_batch batch;
  batch.step = s->last_step() + 1;
  batch.parts.push_back({stream, &plan, &change, {}});
  must(s->write(batch));
  EXPECT_EQ(shown(*s, stream), names{"untimed"});
  EXPECT_EQ(must(s->load(stream)).counters.forgotten, 2U);
  must(s->sync());
  s = {};
  EXPECT_EQ(must(verify_store(path())), std::vector<std::string>{}) << "no snapshot is left without a row";
}

}  // namespace
}  // namespace ratchet
