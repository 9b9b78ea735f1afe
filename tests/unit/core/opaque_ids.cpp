// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/window.hpp"
#include "support/core_print.hpp"
#include "support/core_world.hpp"

namespace ratchet::testing {
namespace {

/// Hashes: nothing in them is a time.
constexpr event_id k_one{0xFFFFFFFFFFFFFFFF, 1};
constexpr event_id k_two{0, 2};

/// A stream in order arrival with opaque ids and a window of 1000 ms.
world opaque(order o = order::arrival) {
  world w{reducer{folding{}}, o};
  w.rules.opaque_ids = true;
  return w;
}

spec sent(event_id id, std::int64_t offset, std::optional<std::int64_t> time, std::string payload = "x") {
  return {.id = id, .payload = std::move(payload), .time = time, .offset = offset};
}

std::vector<verdict> in_one_step(world& w, const std::vector<spec>& events) {
  return verdicts_of(w.step(events));
}

using enum verdict;

TEST(opaque_ids, are_filed_under_the_time_of_their_record) {
  world w = opaque();
  in_one_step(w, {sent(k_one, 0, 5000), sent(k_two, 1, 4000)});
  EXPECT_EQ(w.ids.at({"a", k_one}), at_ms(5000));
  EXPECT_EQ(w.ids.at({"a", k_two}), at_ms(4000)) << "though the stream was further";
  EXPECT_EQ(w.state.counters.ids_ahead, 0U);
}

TEST(opaque_ids, are_seen_as_long_as_their_time_is_not_below_the_floor) {
  for (const bool one_by_one : {false, true}) {
    world w = opaque();
    const std::vector<spec> events = {sent(k_one, 0, 5000), sent(k_two, 1, 6000),  // the floor is 5000 now
                                      sent(k_one, 2, 6001),  // seen; behind it the floor is 5001
                                      sent(k_one, 3, 6002)};
    std::vector<verdict> got;
    if (one_by_one) {
      for (const spec& e : events) got.push_back(in_one_step(w, {e}).at(0));
    } else {
      got = in_one_step(w, events);
    }
    EXPECT_EQ(got, (std::vector{applied, applied, duplicate, applied})) << one_by_one;
    EXPECT_EQ(w.ids.at({"a", k_one}), at_ms(6002)) << "filed again under the later time";
    EXPECT_EQ(w.snapshot(), "x;x;x;");
  }
}

TEST(opaque_ids, of_old_records_are_too_old_unless_they_are_seen) {
  world w = opaque();
  in_one_step(w, {sent(k_one, 0, 5000), sent(k_two, 1, 5500)});  // the floor is 4500
  const stream_change got = w.step({sent(k_one, 2, 4000), sent({7, 7}, 3, 4499), sent({8, 8}, 4, 4500)});
  EXPECT_EQ(verdicts_of(got), (std::vector{duplicate, rejected, applied}));
  EXPECT_EQ(got.decisions[1].reason, reject_reason::too_old);
}

TEST(opaque_ids, of_records_without_a_time_are_filed_by_what_their_partition_showed_last) {
  world w = opaque();
  in_one_step(w, {sent(k_one, 0, {})});
  EXPECT_EQ(w.ids.at({"a", k_one}), timestamp{}) << "nothing has shown a time yet";
  in_one_step(w, {sent(k_two, 1, 5000), sent({3, 3}, 2, 4000), sent({4, 4}, 3, {})});
  EXPECT_EQ(w.ids.at({"a", {4, 4}}), at_ms(5000));
  spec elsewhere = sent({5, 5}, 0, {});
  elsewhere.partition = 1;
  in_one_step(w, {elsewhere});
  EXPECT_EQ(w.ids.at({"a", {5, 5}}), at_ms(5000)) << "a new partition: where the stream is";
  elsewhere = sent({6, 6}, 1, 4500);  // holds the stream back
  elsewhere.partition = 1;
  in_one_step(w, {elsewhere, sent({7, 7}, 4, 6000), sent({8, 8}, 5, {})});
  EXPECT_EQ(w.ids.at({"a", {8, 8}}), at_ms(6000)) << "where its partition is, and not the stream";
}

TEST(opaque_ids, tell_a_reused_one_only_while_it_is_in_the_window) {
  world w = opaque(order::latest);
  const auto numbered = [](std::uint64_t number, std::int64_t offset, std::int64_t time) {
    spec e = sent(k_one, offset, time);
    e.sequence = seq(number);
    return e;
  };
  const stream_change got =
      w.step({numbered(1, 0, 5000), numbered(2, 1, 6000), numbered(3, 2, 6001), numbered(4, 3, 6001)});
  EXPECT_EQ(verdicts_of(got), (std::vector{applied, rejected, rejected, applied}));
  EXPECT_EQ(got.decisions[2].reason, reject_reason::id_reused);
}

TEST(opaque_ids, of_events_that_waited_are_filed_by_their_own_records) {
  world w = opaque(order::strict);
  const auto numbered = [](event_id id, std::uint64_t number, std::int64_t offset,
                           std::optional<std::int64_t> time) {
    spec e = sent(id, offset, time);
    e.sequence = seq(number);
    return e;
  };
  in_one_step(w, {numbered(k_two, 2, 0, 5000), numbered({3, 3}, 3, 1, {}), numbered(k_one, 1, 2, 5600)});
  EXPECT_EQ(w.snapshot(), "x;x;x;");
  EXPECT_EQ(w.ids.at({"a", k_two}), at_ms(5000));
  EXPECT_EQ(w.ids.at({"a", {3, 3}}), at_ms(5000)) << "when it began to wait";
  EXPECT_EQ(w.ids.at({"a", k_one}), at_ms(5600));
}

/// The gap below an event is as old as the oldest one above it, but its id is of its own time.
TEST(opaque_ids, of_events_that_waited_below_an_older_one_are_filed_by_when_they_came) {
  for (const bool in_one : {false, true}) {
    SCOPED_TRACE(in_one);
    world w = opaque(order::strict);
    w.rules.window = std::chrono::minutes{90};
    auto of = [n = 0](const char* aggregate, std::uint64_t number, event_id id,
                      std::optional<std::int64_t> minutes) mutable {
      spec e{.aggregate = aggregate, .sequence = seq(number), .id = id, .offset = n++};
      if (minutes) e.time = *minutes * 60'000;
      return e;
    };
    std::vector<spec> all{of("a", 4, {4, 4}, 60), of("z", 1, {10, 1}, 110), of("a", 2, k_two, {}),
                          of("a", 1, k_one, 110), of("z", 2, {10, 2}, 160), of("a", 3, k_two, 160)};
    std::vector<decision> got;
    if (in_one) {
      got = w.step(all).decisions;
    } else {
      for (const spec& e : all) got.push_back(w.step({e}).decisions.at(0));
    }
    EXPECT_EQ(w.ids.at({"a", k_two}), at_ms(110 * 60'000)) << "and not that of number 4";
    EXPECT_EQ(got.back(), (decision{rejected, reject_reason::id_reused}));
    EXPECT_EQ(w.rows.at("a").last, seq(2));
    EXPECT_EQ(w.waiting.at("a").begin()->second.head.since, at_ms(60 * 60'000));
  }
}

}  // namespace
}  // namespace ratchet::testing
