// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "decode/event_id_text.hpp"
#include "outbox/output_id.hpp"

/// Receivers drop repeats by these ids: an output that is made anew, by any version, has the id it had.
namespace ratchet {
namespace {

const topic_partition k_place{"payments", partition_id{3}};

output_cause cause() {
  return {.group = "g",
          .stream = "s",
          .aggregate = "p1",
          .id = event_id{0x018bcfe568007000, 0x8000000000000001},
          .sequence = seq(1, 2),
          .where = &k_place,
          .offset = 7,
          .time = timestamp{std::chrono::milliseconds{0x018bcfe56801}},
          .purpose = "dead_letter"};
}

TEST(output_id_golden, is_a_uuid_v7_of_its_cause) {
  EXPECT_EQ(to_text(output_id(cause())), "018bcfe5-6800-7920-b19c-b262b4a6a63e");
  output_cause c = cause();
  c.id.reset();
  EXPECT_EQ(to_text(output_id(c)), "018bcfe5-6801-74cb-b451-e4dbf14c40dc");
  c.sequence.reset();
  EXPECT_EQ(to_text(output_id(c)), "018bcfe5-6801-7745-b55c-ee7a29c43a73");
  c = cause();
  c.id_has_time = false;
  EXPECT_EQ(to_text(output_id(c)), "018bcfe5-6801-7920-b19c-b262b4a6a63e")
      << "the id tells, and the record when";
  c.id.reset();
  c.sequence.reset();
  c.time.reset();
  EXPECT_EQ(to_text(output_id(c)), "00000000-0000-7745-b55c-ee7a29c43a73");
}

TEST(output_id, tells_the_events_of_one_record_apart) {
  output_cause c = cause();
  c.id.reset();
  c.sequence.reset();
  c.index = 1;
  const event_id second = output_id(c);
  c.index = 2;
  EXPECT_NE(output_id(c), second);
  c.index = 0;
  EXPECT_EQ(to_text(output_id(c)), "018bcfe5-6801-7745-b55c-ee7a29c43a73")
      << "the first, as that of a record that is one event";
}

TEST(output_id, differs_where_its_cause_does) {
  const event_id known = output_id(cause());
  EXPECT_EQ(output_id(cause()), known);
  const auto changed = [&](auto change) {
    output_cause c = cause();
    change(c);
    return output_id(c);
  };
  EXPECT_NE(changed([](auto& c) { c.group = "h"; }), known);
  EXPECT_NE(changed([](auto& c) { c.stream = "t"; }), known);
  EXPECT_NE(changed([](auto& c) { c.aggregate = "p2"; }), known);
  EXPECT_NE(changed([](auto& c) { c.purpose = "rejection"; }), known);
  EXPECT_NE(changed([](auto& c) { c.id->low += 1; }), known);
  EXPECT_EQ(changed([](auto& c) { c.offset = 8; }), known) << "the id tells, wherever it was read";
  EXPECT_EQ(changed([](auto& c) { c.sequence = seq(9); }), known);
  EXPECT_NE(changed([](auto& c) {
              c.stream = "sp";
              c.aggregate = "1";
            }),
            known)
      << "lengths are part of it";
}

TEST(output_id, is_parsed_as_a_uuid_v7) {
  EXPECT_EQ(parse_uuidv7(to_text(output_id(cause()))), output_id(cause()));
}

}  // namespace
}  // namespace ratchet
