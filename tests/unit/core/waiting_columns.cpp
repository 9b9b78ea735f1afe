// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Changes of a row that lack columns, behind changes that brought them and wait.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/unavailable_columns.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet {
namespace {

using testing::spec;
using testing::verdicts_of;
using testing::world;
using verdicts = std::vector<verdict>;

constexpr const char* k_text = "__none__";

/// Takes the row as row_reducer does, and fails where a column says so; then as often as it says.
struct failing_rows {
  static constexpr reducer_traits traits = row_reducer::traits;
  [[nodiscard]] outcome apply(const event& e, state& s, effects& fx) const {
    const auto code = std::make_error_code(std::errc::invalid_argument);
    if (e.payload.find("\"dead\"") != std::string_view::npos) return give_up(code);
    if (e.payload.find("\"again\"") != std::string_view::npos && e.attempt < 2) return retry(code);
    return row_reducer{k_text}.apply(e, s, fx);
  }
};

world of_rows(bool has_ties = false) {
  world w{failing_rows{}};
  w.rules.dedup = false;
  w.rules.keeps_columns = true;
  w.rules.unavailable = k_text;
  w.rules.gate.ties_by_offset = has_ties;
  w.rules.retry.attempts = 9;
  return w;
}

/// A change of the columns k and doc; without one of doc it lacks it.
spec change(std::uint64_t number, const std::string& k, const std::string& doc = k_text,
            const char* type = "u") {
  spec s{.sequence = seq(number), .type = type, .offset = static_cast<std::int64_t>(number)};
  s.payload = R"({"k":")" + k + R"(","doc":")" + doc + R"("})";
  s.keeps_columns = doc == k_text;
  return s;
}

std::string row(const std::string& k, const std::string& doc) {
  return R"({"k":")" + k + R"(","doc":")" + doc + R"("})";
}

TEST(waiting_columns, are_those_of_the_newest_change_though_it_waits) {
  for (const char* how : {"dead", "again"}) {
    for (const bool in_one : {true, false}) {
      for (const bool has_ties : {true, false}) {
        world w = of_rows(has_ties);
        std::vector<spec> all{change(1, "1", "old"), change(2, how, "new"), change(3, "3"), change(4, "4")};
        for (spec& s : all) {
          if (has_ties) s.sequence = seq(0);
        }
        if (in_one) {
          w.step(all);
        } else {
          for (const spec& s : all) w.step({s});
        }
        EXPECT_EQ(w.snapshot(), row("4", "new")) << how << in_one << has_ties;
        EXPECT_EQ(w.state.counters.superseded, 1U);
        EXPECT_FALSE(w.backlogs.contains("a"));
      }
    }
  }
}

/// One that lacks the column itself says nothing of it: the one before it does.
TEST(waiting_columns, are_looked_for_in_one_change_behind_the_other) {
  for (const bool has_ties : {true, false}) {
    world w = of_rows(has_ties);
    std::vector<spec> all{change(1, "1", "old"), change(2, "dead", "new"), change(3, "dead"), change(4, "4")};
    for (spec& s : all) {
      if (has_ties) s.sequence = seq(0);
      w.step({s});
    }
    EXPECT_EQ(w.snapshot(), row("4", "new")) << has_ties;
  }
}

TEST(waiting_columns, are_those_stored_where_nothing_that_waits_has_them) {
  for (const bool has_ties : {true, false}) {
    world w = of_rows(has_ties);
    std::vector<spec> all{change(1, "1", "old"), change(2, "dead"), change(3, "3")};
    for (spec& s : all) {
      if (has_ties) s.sequence = seq(0);
      w.step({s});
    }
    EXPECT_EQ(w.snapshot(), row("3", "old")) << has_ties;
  }
}

TEST(waiting_columns, are_found_when_the_change_that_lacks_them_is_tried_again) {
  for (const bool has_ties : {true, false}) {
    world w = of_rows(has_ties);
    std::vector<spec> all{change(1, "1", "old"), change(2, "dead", "new"), change(3, "again")};
    for (spec& s : all) {
      if (has_ties) s.sequence = seq(0);
      w.step({s});
    }
    w.now += w.rules.retry.most;
    w.resume();
    EXPECT_EQ(w.snapshot(), row("again", "new")) << has_ties;
    EXPECT_FALSE(w.backlogs.contains("a"));
  }
}

TEST(waiting_columns, of_a_change_that_was_skipped_are_not_taken) {
  world w = of_rows();
  for (const spec& s : {change(1, "1", "old"), change(2, "dead", "new"), change(3, "again")}) w.step({s});
  EXPECT_EQ(w.run_command(waiting_verb::discard, seq(2)), waiting_answer::done);
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.snapshot(), row("again", "old"));
}

/// A row that was made anew has all its columns, whatever they hold.
TEST(waiting_columns, are_not_given_to_a_new_row) {
  world w = of_rows();
  for (const spec& s : {change(2, "dead", "new"), change(3, "3", k_text, "c")}) w.step({s});
  EXPECT_EQ(w.snapshot(), row("3", k_text));
  world behind = of_rows();
  for (const spec& s : {change(1, "dead", "new"), change(2, "dead", k_text, "r")}) behind.step({s});
  EXPECT_EQ(verdicts_of(behind.step({change(3, "3")})), verdicts{verdict::dead})
      << "the row as it was made has none";
}

TEST(waiting_columns, leave_a_repeat_a_repeat) {
  world w = of_rows();
  for (const spec& s : {change(1, "1", "old"), change(2, "dead", "new"), change(3, "3")}) w.step({s});
  spec again = change(3, "3");
  again.offset = 9;
  EXPECT_EQ(verdicts_of(w.step({again})), verdicts{verdict::duplicate});
}

}  // namespace
}  // namespace ratchet
