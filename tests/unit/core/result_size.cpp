// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How large snapshots and rows of tables may become.
#include <gtest/gtest.h>

#include "core/reducers.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {
namespace {

using enum verdict;

spec event_of(std::uint64_t number, std::string payload, std::int64_t offset) {
  return {.sequence = seq(number), .payload = std::move(payload), .offset = offset};
}

/// Appends the payload to the snapshot, and puts a row under the size that this comes to.
struct growing {
  static constexpr reducer_traits traits{.name = "growing", .version = 1};
  outcome apply(const event& e, ratchet::state& s, effects& fx) const {
    s.assign(std::string{s.value()} + std::string{e.payload});
    fx.put("t", std::to_string(s.value().size()), "v");
    fx.publish({.topic = "out", .payload = e.payload});
    return done();
  }
};

/// Puts a row of the payload behind others.
struct putting {
  static constexpr reducer_traits traits{.name = "putting", .version = 1};
  outcome apply(const event& e, ratchet::state& s, effects& fx) const {
    s.assign("x");
    fx.put("t", "small", "v");
    fx.erase("t", "gone");
    fx.put("t", "k", e.payload);
    return done();
  }
};

TEST(result_size, above_the_limit_leaves_the_event_dead_and_all_as_it_was) {
  world w{reducer{growing{}}, order::strict};
  w.rules.outputs.snapshot_bytes = 10;
  const auto change =
      w.step({event_of(1, "12345", 0), event_of(2, "67890", 1), event_of(3, "x", 2), event_of(4, "y", 3)});
  EXPECT_EQ(verdicts_of(change), (std::vector{applied, applied, dead, parked}));
  EXPECT_EQ(w.snapshot(), "1234567890");
  EXPECT_EQ(w.tables.size(), 2U) << "none of the dead one";
  EXPECT_EQ(w.published["a"], "12345;67890;");
  EXPECT_EQ(w.waiting.at("a").at(seq(3)).error, "its snapshot has 11 bytes, and state.snapshot_bytes is 10");
  w.rules.outputs.snapshot_bytes = 12;
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(3)), waiting_answer::done);
  EXPECT_EQ(w.snapshot(), "1234567890xy") << "and what came behind";
}

TEST(result_size, counts_in_every_order) {
  for (const order o : {order::latest, order::arrival}) {
    world w{reducer{growing{}}, o};
    w.rules.outputs.snapshot_bytes = 3;
    spec first = event_of(1, "abc", 0);
    spec second = event_of(2, "d", 1);
    first.id = id_at(1000, 1);
    second.id = id_at(1000, 2);
    EXPECT_EQ(verdicts_of(w.step({first, second})), (std::vector{applied, dead}));
    EXPECT_EQ(w.snapshot(), "abc");
  }
}

TEST(result_size, bounds_what_is_merged_and_what_is_replaced) {
  world merged{merge_patch_reducer{}, order::strict};
  merged.rules.outputs.snapshot_bytes = 14;
  EXPECT_EQ(verdicts_of(merged.step({event_of(1, R"({"a":1})", 0), event_of(2, R"({"b":22})", 1),
                                     event_of(3, R"({"c":333})", 2)})),
            (std::vector{applied, applied, dead}));
  EXPECT_EQ(merged.snapshot(), R"({"a":1,"b":22})");
  world replaced{replace_reducer{}};
  replaced.rules.outputs.snapshot_bytes = 3;
  EXPECT_EQ(verdicts_of(replaced.step({event_of(1, "abc", 0)})), std::vector{applied});
  EXPECT_EQ(verdicts_of(replaced.step({event_of(2, "abcd", 1)})), std::vector{dead});
  EXPECT_EQ(replaced.snapshot(), "abc");
  EXPECT_EQ(verdicts_of(replaced.step({event_of(3, "x", 2)})), std::vector{applied}) << "it shrinks again";
}

TEST(result_size, bounds_a_row_of_a_table) {
  world w{reducer{putting{}}, order::strict};
  w.rules.outputs.snapshot_bytes = 4;
  EXPECT_EQ(verdicts_of(w.step({event_of(1, "1234", 0), event_of(2, "12345", 1)})),
            (std::vector{applied, dead}));
  EXPECT_EQ((w.tables.at({"t", "k"})), "1234");
  EXPECT_EQ(w.waiting.at("a").at(seq(2)).error,
            "its row of the table `t` has 5 bytes, and state.snapshot_bytes is 4");
}

struct failing {
  static constexpr reducer_traits traits{.name = "failing", .version = 1};
  outcome apply(const event&, ratchet::state& s, effects&) const {
    s.assign("large");
    return retry(make_error_code(errc::io));
  }
};

TEST(result_size, leaves_alone_what_failed_otherwise) {
  output_rules rules;
  rules.topics.reset();
  rules.tables.reset();
  rules.snapshot_bytes = 2;
  event e;
  ratchet::state s;
  const reducer_call call = call_reducer(reducer{failing{}}, rules, e, s);
  EXPECT_EQ(call.how, ending::retry);
  EXPECT_EQ(call.cause, make_error_code(errc::io));
}

}  // namespace
}  // namespace ratchet::testing
