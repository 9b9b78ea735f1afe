// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What reducers put into tables: of which events, in which order, and what is refused.
#include <gtest/gtest.h>

#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {
namespace {

spec event_of(std::uint64_t number, std::string payload, std::int64_t offset) {
  return {.sequence = seq(number), .payload = std::move(payload), .offset = offset};
}

/// One row that all aggregates write, and one for each; the payload "-" erases them. Fails by the first
/// letter: ? is tried again (the first attempt fails), # gives up, ! stops; each only after it has written.
struct tabling {
  static constexpr reducer_traits traits{.name = "tabling", .version = 1, .full_state = true};
  outcome apply(const event& e, ratchet::state& s, effects& fx) const {
    s.assign(e.payload);
    const std::string value = std::string{e.aggregate} + std::to_string(e.sequence.number);
    if (e.payload == "-") {
      fx.erase("last", "one");
      fx.erase("of", e.aggregate);
    } else {
      fx.put("last", "one", "not yet");
      fx.put("last", "one", value);
      fx.put("of", e.aggregate, e.payload);
    }
    const auto code = std::make_error_code(std::errc::io_error);
    switch (e.payload[0]) {
      case '?':
        return e.attempt == 1 ? retry(code) : done();
      case '#':
        return give_up(code);
      case '!':
        return stop(code);
      default:
        return done();
    }
  }
};

using rows = std::map<std::pair<std::string, std::string>, std::string>;

TEST(tables, hold_what_applied_events_put_and_nothing_of_others) {
  world w{tabling{}};
  w.step({event_of(1, "x", 0), event_of(3, "z", 1), event_of(2, "late", 2), event_of(3, "z", 3)});
  EXPECT_EQ(w.tables, (rows{{{"last", "one"}, "a3"}, {{"of", "a"}, "z"}}));
  w.step({event_of(4, "-", 4)});
  EXPECT_EQ(w.tables, rows{});
}

TEST(tables, get_nothing_of_a_reducer_that_does_not_end_with_done) {
  for (const char* payload : {"?1", "#", "!"}) {
    SCOPED_TRACE(payload);
    world w{tabling{}, order::strict};
    w.step({event_of(1, payload, 0)});
    EXPECT_EQ(w.tables, rows{});
  }
}

TEST(tables, get_what_a_retry_puts_that_succeeds) {
  world w{tabling{}, order::strict};
  w.step({event_of(1, "?1", 0)});
  w.now += w.rules.retry.most;
  w.resume();
  EXPECT_EQ(w.tables, (rows{{{"last", "one"}, "a1"}, {{"of", "a"}, "?1"}}));
}

TEST(tables, get_what_an_operator_has_replayed_and_what_that_releases) {
  world w{tabling{}, order::strict};
  w.step({event_of(1, "x", 0), event_of(2, "#", 1), event_of(3, "z", 2)});
  EXPECT_EQ(w.tables, (rows{{{"last", "one"}, "a1"}, {{"of", "a"}, "x"}}));
  EXPECT_EQ(w.run_command(waiting_verb::replay, seq(2), "mended"), waiting_answer::done);
  EXPECT_EQ(w.tables, (rows{{{"last", "one"}, "a3"}, {{"of", "a"}, "z"}}));
}

TEST(tables, get_nothing_of_a_pass_that_a_stop_ends) {
  world w{tabling{}};
  w.step({{.aggregate = "b", .sequence = seq(1), .payload = "x", .partition = 1, .offset = 0},
          {.aggregate = "a", .sequence = seq(1), .payload = "!", .offset = 0},
          {.aggregate = "c", .sequence = seq(1), .payload = "y", .offset = 1}});
  EXPECT_EQ(w.tables, (rows{{{"last", "one"}, "b1"}, {{"of", "b"}, "x"}}));
}

TEST(tables, are_changed_once_where_the_aggregate_turns_out_to_wait) {
  world w{tabling{}, order::strict};
  const std::vector<spec> specs{event_of(1, "x", 0), event_of(2, "#", 1)};
  const batch b{specs};
  const step_plan plan = plan_step(w.rules, w.reduce.traits(), b.events);
  const auto change = run_step(w.rules, w.reduce, w.state, b.events, plan, w.look_up(plan), w.now);
  EXPECT_EQ(change.tables.size(), 3U) << "not again when its events are taken off the fast way";
}

/// The row that all write shows in which order they did, however the records were cut into steps.
TEST(tables, take_changes_in_the_order_of_the_events_that_had_them_done) {
  // "a" is parked until its second record releases it; "b" and "c" go the fast way around that.
  const std::vector<spec> specs{
      {.aggregate = "a", .sequence = seq(2), .payload = "x", .offset = 0},
      {.aggregate = "b", .sequence = seq(1), .payload = "x", .offset = 1},
      {.aggregate = "a", .sequence = seq(1), .payload = "x", .offset = 2},
      {.aggregate = "c", .sequence = seq(1), .payload = "x", .offset = 3},
  };
  for (std::size_t size : {1U, 2U, 3U, 4U}) {
    for (std::size_t cut = 0; cut < size; ++cut) {
      SCOPED_TRACE(std::to_string(size) + " records, cut behind " + std::to_string(cut));
      world w{tabling{}, order::strict};
      const auto at = [&](std::size_t i) { return specs.begin() + static_cast<std::ptrdiff_t>(i); };
      if (cut > 0) w.step({at(0), at(cut)});
      w.step({at(cut), at(size)});
      const char* const last[] = {"", "", "b1", "a2", "c1"};
      const auto one = w.tables.find({"last", "one"});
      EXPECT_EQ(one == w.tables.end() ? "" : one->second, last[size]);
    }
  }
}

TEST(tables, are_written_by_every_event_of_a_reducer_that_would_else_be_superseded) {
  world w{tabling{}};
  const auto change = w.step({event_of(1, "x", 0), event_of(2, "y", 1)});
  EXPECT_EQ(verdicts_of(change), (std::vector{verdict::applied, verdict::applied}));
}

/// Puts the payload as a key into the table that the type names.
struct keyed {
  static constexpr reducer_traits traits{.name = "keyed", .version = 1, .full_state = true};
  outcome apply(const event& e, ratchet::state& s, effects& fx) const {
    s.assign(e.payload);
    fx.put(e.type, e.payload, "v");
    return done();
  }
};

struct refused_row {
  const char* table;
  std::string key;
  errc cause;
  std::string what;
};

TEST(tables, that_are_not_declared_and_keys_that_do_not_fit_stop_the_partition) {
  const refused_row refusals[] = {
      {"others", "k", errc::table_undeclared,
       "it wrote to the table `others`, which is not among the `tables` of its stream"},
      {"names", "", errc::table_key_invalid,
       "its key `` does not fit the table `names`, whose keys are text: UTF-8 of 1 to 1024 bytes"},
      {"names", "\xFF", errc::table_key_invalid,
       "its key `?` does not fit the table `names`, whose keys are text: UTF-8 of 1 to 1024 bytes"},
      {"numbers", "x7", errc::table_key_invalid,
       "its key `x7` does not fit the table `numbers`, whose keys are u64: a whole number below 2^64, in "
       "decimal digits without leading zeros"},
      {"raw", std::string(1025, 'x'), errc::table_key_invalid,
       "its key `" + std::string(64, 'x') +
           "...` does not fit the table `raw`, whose keys are bytes: 1 to 1024 bytes"},
  };
  for (const refused_row& row : refusals) {
    SCOPED_TRACE(row.what);
    world w{keyed{}};
    w.rules.outputs.tables = {
        {"names", key_encoding::text}, {"numbers", key_encoding::u64}, {"raw", key_encoding::bytes}};
    spec good = event_of(1, "k", 0);
    good.type = "names";
    spec bad = event_of(2, row.key, 1);
    bad.type = row.table;
    const auto change = w.step({good, bad});
    ASSERT_EQ(change.stops.size(), 1U);
    EXPECT_EQ(change.stops[0].offset, 1);
    EXPECT_EQ(change.stops[0].code, make_error_code(errc::reducer_failed));
    EXPECT_EQ(change.stops[0].cause, make_error_code(row.cause));
    EXPECT_EQ(change.stops[0].what, row.what);
    EXPECT_EQ(w.tables, (rows{{{"names", "k"}, "v"}})) << "the event before it counts";
    EXPECT_EQ(w.snapshot(), "k");
  }
}

/// Puts a row, and publishes.
struct both {
  static constexpr reducer_traits traits{.name = "both", .version = 1};
  outcome apply(const event&, ratchet::state& s, effects& fx) const {
    s.assign("x");
    fx.put("t", "k", "v");
    fx.publish({.topic = "out", .payload = std::string_view{"too long"}});
    return done();
  }
};

TEST(tables, take_no_change_of_an_event_whose_message_is_too_large) {
  world w{both{}};
  w.rules.outputs.message_bytes = 1;
  const auto change = w.step({event_of(1, "x", 0)});
  EXPECT_EQ(verdicts_of(change), std::vector{verdict::dead});
  EXPECT_EQ(w.tables, rows{});
}

TEST(tables, are_no_part_of_a_call_that_does_not_end_with_done) {
  output_rules rules;
  rules.topics.reset();
  rules.tables.reset();
  rules.message_bytes = 1;
  event e;
  e.aggregate = "a";
  const auto changes_of = [&](const reducer& reduce, std::string_view payload) {
    ratchet::state s;
    e.payload = payload;
    return call_reducer(reduce, rules, e, s).tables.size();
  };
  EXPECT_EQ(changes_of(tabling{}, "x"), 3U);
  for (const char* payload : {"?1", "#", "!"}) EXPECT_EQ(changes_of(tabling{}, payload), 0U) << payload;
  EXPECT_EQ(changes_of(both{}, "x"), 0U) << "its message is too large";
}

struct key_row {
  key_encoding encoding;
  std::string key;
  std::optional<std::string> stored;
};

TEST(table_keys, are_stored_as_their_encoding_wants_it_and_come_back) {
  const key_row keys[] = {
      {key_encoding::text, "c-7/ä", "c-7/ä"},
      {key_encoding::text, std::string("a\0b", 3), std::string("a\0b", 3)},
      {key_encoding::text, "", std::nullopt},
      {key_encoding::text, std::string(1024, 'x'), std::string(1024, 'x')},
      {key_encoding::text, std::string(1025, 'x'), std::nullopt},
      {key_encoding::text, "\xC0\x80", std::nullopt},
      {key_encoding::text, "\xED\xA0\x80", std::nullopt},
      {key_encoding::bytes, "\xC0\x80", "\xC0\x80"},
      {key_encoding::bytes, "", std::nullopt},
      {key_encoding::u64, "0", std::string(8, '\0')},
      {key_encoding::u64, "256", std::string("\0\0\0\0\0\0\x01\0", 8)},
      {key_encoding::u64, "18446744073709551615", std::string(8, '\xFF')},
      {key_encoding::u64, "18446744073709551616", std::nullopt},
      {key_encoding::u64, "", std::nullopt},
      {key_encoding::u64, "07", std::nullopt},
      {key_encoding::u64, "-1", std::nullopt},
      {key_encoding::u64, "1 ", std::nullopt},
  };
  for (const key_row& row : keys) {
    SCOPED_TRACE(std::string{name_of(row.encoding)} + " " + row.key);
    const auto stored = encode_table_key(row.encoding, row.key);
    EXPECT_EQ(stored, row.stored);
    if (stored) {
      EXPECT_EQ(decode_table_key(row.encoding, *stored), row.key);
    }
  }
  EXPECT_EQ(decode_table_key(key_encoding::u64, "seven b"), std::nullopt);
  EXPECT_EQ(decode_table_key(key_encoding::text, "\xFF"), std::nullopt);
}

TEST(table_keys, that_are_numbers_lie_in_the_order_of_numbers) {
  const auto at = [](const char* key) { return encode_table_key(key_encoding::u64, key).value(); };
  EXPECT_LT(at("9"), at("10"));
  EXPECT_LT(at("255"), at("256"));
  EXPECT_LT(at("9223372036854775807"), at("9223372036854775808"));
}

TEST(table_keys, may_be_given_as_numbers) {
  effects fx;
  fx.put("t", std::uint64_t{18446744073709551615U}, "v");
  fx.erase("t", 7);
  ASSERT_EQ(fx.table_changes().size(), 2U);
  EXPECT_EQ(fx.table_changes()[0].key, "18446744073709551615");
  EXPECT_EQ(fx.table_changes()[1].key, "7");
  EXPECT_EQ(fx.table_changes()[1].value, std::nullopt);
}

}  // namespace
}  // namespace ratchet::testing
