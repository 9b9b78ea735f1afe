// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/published_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "decode/sequence_text.hpp"

namespace ratchet::testing {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

published_outputs of_event(std::uint64_t number, std::vector<owned_output> outputs) {
  published_outputs by;
  by.sequence = seq(number);
  by.type = "paid";
  by.where = {"in", partition_id{1}};
  by.offset = 7;
  by.record_time = timestamp{std::chrono::milliseconds{1'000'000}};
  by.outputs = std::move(outputs);
  return by;
}

std::vector<output_row> rows_of(std::vector<published_outputs> published, const gate_rules& gate = {}) {
  step_plan plan;
  plan.add("p1");
  std::vector<output_row> rows;
  add_published({"g", "s", stream_id{3}, gate}, plan, std::move(published), rows);
  return rows;
}

TEST(published_rows, are_whole_messages) {
  const auto rows = rows_of({of_event(1, {{"t", "k", "v", "", ""}, {"u", {}, {}, "moved", "text/plain"}})});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kind, output_kind::published);
  EXPECT_EQ(rows[0].stream, stream_id{3});
  EXPECT_EQ(rows[0].aggregate, "p1");
  EXPECT_EQ(rows[0].topic, "t");
  EXPECT_EQ(rows[0].key, "k");
  EXPECT_EQ(rows[0].value, "v");
  EXPECT_EQ(rows[0].type, "paid");
  EXPECT_EQ(rows[0].source, "/ratchet/g/s");
  EXPECT_EQ(rows[0].content_type, "");
  EXPECT_EQ(rows[0].time, timestamp{std::chrono::milliseconds{1'000'000}});
  EXPECT_EQ(rows[0].id.high >> 16U, 1'000'000U) << "the time of its cause";
  EXPECT_EQ(rows[1].key, std::nullopt);
  EXPECT_EQ(rows[1].value, std::nullopt);
  EXPECT_EQ(rows[1].type, "moved");
  EXPECT_EQ(rows[1].content_type, "text/plain");
}

TEST(published_rows, have_ids_that_their_causes_make) {
  const auto id_of = [](published_outputs by, const gate_rules& gate = {}) {
    return rows_of({std::move(by)}, gate).back().id;
  };
  const gate_rules ties{.ties_by_offset = true};
  const gate_rules arrival{.order = order::arrival};
  const std::vector<owned_output> one(1);
  const std::vector<owned_output> two(2);
  std::set<event_id> all{id_of(of_event(1, one)), id_of(of_event(2, one)), id_of(of_event(1, two))};
  EXPECT_EQ(all.size(), 3U) << "another event, and another message of one event";
  published_outputs again = of_event(1, one);
  again.offset = 99;
  EXPECT_EQ(id_of(again), id_of(of_event(1, one))) << "read again at another place";
  EXPECT_NE(id_of(again, ties), id_of(of_event(1, one), ties)) << "unless two events may have one sequence";
  again.id = event_id{1, 2};
  published_outputs renumbered = of_event(5, one);
  renumbered.id = event_id{1, 2};
  EXPECT_EQ(id_of(again, arrival), id_of(renumbered, arrival))
      << "numbers of arrival are ours, and may differ";
  EXPECT_NE(id_of(again), id_of(renumbered))
      << "two events of one id, both of which are applied where they wait";
}

TEST(published_rows, have_the_time_of_the_record_where_the_id_of_the_cause_has_none) {
  step_plan plan;
  plan.add("p1");
  published_outputs by = of_event(1, std::vector<owned_output>(1));
  by.id = event_id{~std::uint64_t{0}, 1};
  std::vector<output_row> rows;
  add_published({"g", "s", stream_id{3}, {}, false}, plan, {by}, rows);
  EXPECT_EQ(rows.at(0).id.high >> 16U, 1'000'000U);
}

/// An aggregate that is forgotten begins again with its first number.
TEST(published_rows, have_ids_of_their_own_in_each_life_of_a_forgotten_aggregate) {
  const auto id_of = [](const published_outputs& by, bool forgets) {
    step_plan plan;
    plan.add("p1");
    std::vector<output_row> rows;
    add_published({"g", "s", stream_id{3}, {}, true, forgets}, plan, {by}, rows);
    return rows.at(0).id;
  };
  const published_outputs timed = of_event(1, std::vector<owned_output>(1));
  published_outputs untimed = timed;
  untimed.record_time.reset();
  const auto at = [](published_outputs by, std::int64_t offset, std::uint32_t index = 0) {
    by.offset = offset;
    by.index = index;
    return by;
  };
  std::set<event_id> lives{id_of(untimed, true), id_of(at(untimed, 99), true),
                           id_of(at(untimed, 99, 1), true)};
  EXPECT_EQ(lives.size(), 3U) << "nothing but the place of its record tells a life";
  EXPECT_EQ(id_of(at(timed, 99), true), id_of(timed, true)) << "the time does";
  EXPECT_EQ(id_of(at(untimed, 99), false), id_of(untimed, false)) << "the number is of one event alone";
  published_outputs named = untimed;
  named.id = event_id{1, 2};
  EXPECT_EQ(id_of(at(named, 99), true), id_of(named, true)) << "the id is of one event alone";
}

TEST(published_rows, get_their_headers_when_they_are_sent) {
  const output_row row = rows_of({of_event(1, {{"t", "k", "v", "", ""}})}).front();
  output_headers headers;
  write_event_headers(row, headers);
  EXPECT_THAT(headers, Contains(Pair("ce_subject", "k")));
  EXPECT_THAT(headers, Contains(Pair("ce_time", "1970-01-01T00:16:40.000Z")));
  EXPECT_THAT(headers, Contains(Pair("ce_sequence", "0")));
  output_row keyless = rows_of({of_event(1, {{"t", "\xff", "v", "", "text/plain"}})}).front();
  keyless.time.reset();
  write_event_headers(keyless, headers);
  EXPECT_THAT(headers, Contains(Pair("ce_subject", "p1"))) << "a key that is no text names nothing";
  EXPECT_THAT(headers, Contains(Pair("content-type", "text/plain")));
  EXPECT_THAT(headers, Not(Contains(Key("ce_time")))) << "nothing is left of the message before";
}

TEST(to_decimal, is_what_parse_u128_reads) {
  constexpr std::uint64_t k_most = ~std::uint64_t{0};
  EXPECT_EQ(to_decimal({0, 0}), "0");
  EXPECT_EQ(to_decimal({0, k_most}), "18446744073709551615");
  EXPECT_EQ(to_decimal({1, 0}), "18446744073709551616");
  EXPECT_EQ(to_decimal({k_most, k_most}), "340282366920938463463374607431768211455");
  for (const sequence s : {sequence{0, 17}, sequence{3, 0}, sequence{k_most, 1}, sequence{1, k_most}}) {
    EXPECT_EQ(parse_u128(to_decimal(s)), s);
  }
}

}  // namespace
}  // namespace ratchet::testing
