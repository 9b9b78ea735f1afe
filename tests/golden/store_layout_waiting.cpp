// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "layout_bytes.hpp"
#include "store/layout/waiting.hpp"

/// Every byte of what waits, as store_layout.cpp has the rest.
namespace ratchet::layout {
namespace {

TEST(keys_on_disk, of_what_waits_are_these_bytes) {
  const std::string stream_and_slot =
      "01020304"
      "00000009";
  const std::string aggregate{"p\0", 2};
  const std::string aggregate_hex =
      "7000ff"
      "0001";
  const std::string number_hex =
      "0000000000000001"
      "0000000000000102";
  std::string key;
  append_waiting_events_prefix(key, k_stream, slot{9}, aggregate);
  EXPECT_EQ(hex(key), "01" + stream_and_slot + aggregate_hex);
  key.clear();
  append_waiting_event_key(key, k_stream, slot{9}, aggregate, seq(1, 258));
  EXPECT_EQ(hex(key), "01" + stream_and_slot + aggregate_hex + number_hex);
  const auto event = parse_waiting_event_key(key).value();
  EXPECT_EQ(event.stream, k_stream);
  EXPECT_EQ(event.slot, slot{9});
  EXPECT_EQ(event.aggregate, aggregate);
  EXPECT_EQ(event.sequence, seq(1, 258));
  EXPECT_EQ(parse_sequence(key.substr(key.size() - 16)).value(), seq(1, 258));
  key.clear();
  append_backlog_key(key, k_stream, slot{9}, aggregate);
  EXPECT_EQ(hex(key), "02" + stream_and_slot + "7000");
  EXPECT_EQ(parse_backlog_key(key).value().aggregate, aggregate);
  key.clear();
  append_waiting_id_key(key, k_stream, slot{9}, aggregate, k_id);
  EXPECT_EQ(hex(key), "05" + stream_and_slot + aggregate_hex + k_id_hex);
  EXPECT_EQ(parse_waiting_id_key(key).value().id, k_id);
  EXPECT_EQ(parse_waiting_id_key(key).value().aggregate, aggregate);
}

TEST(keys_on_disk, of_what_is_due_are_in_the_order_of_time) {
  const auto due = [](waiting_kind kind, std::int64_t milliseconds) {
    std::string key;
    append_due_key(key, kind, k_stream, timestamp{std::chrono::milliseconds{milliseconds}}, slot{9}, "p1");
    return key;
  };
  const std::string behind =
      "00000009"
      "7031";
  EXPECT_EQ(hex(due(waiting_kind::wake, 0x018bcfe56800)),
            "03"
            "01020304"
            "8000018bcfe56800" +
                behind);
  EXPECT_EQ(hex(due(waiting_kind::gap, -1)),
            "04"
            "01020304"
            "7fffffffffffffff" +
                behind);
  EXPECT_LT(due(waiting_kind::gap, INT64_MIN), due(waiting_kind::gap, -1));
  EXPECT_LT(due(waiting_kind::gap, -1), due(waiting_kind::gap, 0));
  EXPECT_LT(due(waiting_kind::gap, 0), due(waiting_kind::gap, INT64_MAX));
  const std::string key = due(waiting_kind::gap, -1);
  EXPECT_EQ(due_start(waiting_kind::gap, k_stream, timestamp{std::chrono::milliseconds{-1}}),
            key.substr(0, 13));
  const auto read = parse_due_key(waiting_kind::gap, key).value();
  EXPECT_EQ(read.time, timestamp{std::chrono::milliseconds{-1}});
  EXPECT_EQ(read.slot, slot{9});
  EXPECT_EQ(read.aggregate, "p1");
  EXPECT_FALSE(parse_due_key(waiting_kind::wake, key)) << "of the other index";
}

TEST(values_on_disk, hold_a_waiting_event) {
  waiting_event e;
  e.head = {seq(7), waiting_state::parked, {}, k_hash, {}};
  e.first_seen = k_time;
  e.record.offset = 17;
  EXPECT_EQ(hex(encode_waiting_event(e)),
            "01"
            "00"
            "0000" +
                k_hash_hex + "00000000" + k_time_hex +
                "00000000"
                "00000000"  // attempts, error
                "00000000"
                "00000000"  // topic, partition
                "0000000000000011"
                "00000000"  // headers
                "0000000000000000"
                "0000000000000000");
  EXPECT_EQ(decode_waiting_event(seq(7), encode_waiting_event(e)).value(), e);
  const std::string of_a_record = encode_waiting_event(e);
  e.record.index = 0x0A0B0C0D;  // of one that holds several
  const std::string of_several = encode_waiting_event(e);
  EXPECT_EQ(hex(of_several),
            hex(of_a_record.substr(0, 2)) + "1000" + hex(of_a_record.substr(4)) + "0a0b0c0d");
  EXPECT_EQ(decode_waiting_event(seq(7), of_several).value(), e);
  EXPECT_FALSE(
      decode_waiting_event(seq(7), of_several.substr(0, of_several.size() - 4) + std::string(4, '\0')));
  e.record.index = 0;
  e.head = {seq(7), waiting_state::dead, k_id, k_hash, k_time};
  e.tombstone = true;
  e.type = "ty";
  e.time = e.last_attempt = e.due = k_time;
  e.attempts = 258;
  e.error = "er";
  e.record = {{"tp", partition_id{5}}, 17, k_time, "k", "val", {{"h", "x"}, {"n", std::nullopt}}};
  e.payload_begin = 1;
  e.payload_size = 2;
  e.own_payload = "own";
  const std::string value = encode_waiting_event(e);
  EXPECT_EQ(hex(value),
            "01"
            "02"
            "03ff" +
                k_hash_hex + k_id_hex + k_time_hex +
                "00000002"
                "7479" +
                k_time_hex + k_time_hex + "00000102" + k_time_hex + k_time_hex +
                "00000002"
                "6572"
                "00000002"
                "7470"
                "00000005"
                "0000000000000011" +
                k_time_hex +
                "00000001"
                "6b"
                "00000003"
                "76616c"
                "00000002"
                "01"
                "00000001"
                "68"
                "00000001"
                "78"
                "00"
                "00000001"
                "6e"
                "0000000000000001"
                "0000000000000002"
                "00000003"
                "6f776e");
  EXPECT_EQ(decode_waiting_event(seq(7), value).value(), e);
  EXPECT_EQ(decode_waiting_head(seq(7), value).value(), e.head);
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_FALSE(decode_waiting_event(seq(7), value.substr(0, size))) << size;
  EXPECT_FALSE(decode_waiting_event(seq(7), value + "x"));
  std::string unknown = value;
  unknown[1] = 3;
  EXPECT_EQ(decode_waiting_event(seq(7), unknown).error(), make_error_code(errc::state_damaged)) << "state";
  unknown = value;
  unknown[2] = 63;
  EXPECT_FALSE(decode_waiting_event(seq(7), unknown)) << "flag";
  EXPECT_FALSE(decode_waiting_head(seq(7), unknown));
}

TEST(values_on_disk, hold_the_first_number_of_a_range_behind_the_head) {
  waiting_event e;
  e.head = {seq(7), waiting_state::parked, k_id, k_hash, k_time};
  const std::string without = encode_waiting_event(e);
  e.head.begins_at = 5;
  const std::string value = encode_waiting_event(e);
  EXPECT_EQ(value.size(), without.size() + 8);
  EXPECT_EQ(decode_waiting_event(seq(7), value).value(), e);
  EXPECT_EQ(decode_waiting_head(seq(7), value).value(), e.head);
  EXPECT_NE(hex(value).find("0000000000000005"), std::string::npos);
}

TEST(values_on_disk, hold_the_time_of_an_opaque_id_behind_all_others) {
  waiting_event e;
  e.head = {seq(7), waiting_state::parked, k_id, k_hash, k_time};
  e.own_payload = "own";
  const std::string without = encode_waiting_event(e);
  e.id_time = k_time;
  std::string with = without;
  with[2] = static_cast<char>(with[2] | 4);  // the flags' high byte
  EXPECT_EQ(hex(encode_waiting_event(e)), hex(with) + k_time_hex);
  EXPECT_EQ(decode_waiting_event(seq(7), encode_waiting_event(e)).value(), e);
  EXPECT_FALSE(decode_waiting_event(seq(7), with)) << "it says that there is one";
}

TEST(values_on_disk, hold_no_waiting_event_whose_payload_lies_outside_of_its_value) {
  waiting_event e;
  e.record.value = "val";
  const auto reads = [&](std::uint64_t begin, std::uint64_t size) {
    e.payload_begin = begin;
    e.payload_size = size;
    return decode_waiting_event(seq(7), encode_waiting_event(e)).has_value();
  };
  EXPECT_TRUE(reads(0, 3));
  EXPECT_TRUE(reads(3, 0));
  EXPECT_FALSE(reads(1, 3));
  EXPECT_FALSE(reads(4, 0));
  EXPECT_FALSE(reads(1, ~std::uint64_t{0}));
  e.record.value.reset();
  EXPECT_TRUE(reads(0, 0));
  EXPECT_FALSE(reads(0, 1));
}

TEST(values_on_disk, hold_what_is_accepted_of_a_backlog) {
  backlog b;
  b.parked = 3;
  b.highest = seq(7);
  b.accepted = {seq(1, 6), {}, k_hash, 2};
  const std::string counts =
      "0000000000000003"
      "0000000000000000"
      "0000000000000000"
      "0000000000000000"
      "0000000000000007"
      "00000000";
  const std::string position =
      "0000000000000001"
      "0000000000000006";
  EXPECT_EQ(hex(encode_backlog(b)),
            "01"
            "20" +
                counts + position + k_hash_hex + "0000000000000002");
  EXPECT_EQ(decode_backlog(encode_backlog(b)).value(), b);
  b.accepted->id = k_id;
  b.reopened = {{k_id, k_time}};
  const std::string value = encode_backlog(b);
  EXPECT_EQ(hex(value),
            "01"
            "e0" +
                counts + position + k_id_hex + k_hash_hex +
                "0000000000000002"
                "00000001" +
                k_id_hex + k_time_hex);
  EXPECT_EQ(decode_backlog(value).value(), b);
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_FALSE(decode_backlog(value.substr(0, size))) << size;
  EXPECT_FALSE(decode_backlog(value + "x"));
  b.accepted->events = 4;
  EXPECT_FALSE(decode_backlog(encode_backlog(b))) << "more than there are";
  b.accepted->events = 0;
  EXPECT_FALSE(decode_backlog(encode_backlog(b)));
}

TEST(values_on_disk, hold_how_many_of_a_backlog_are_too_old) {
  backlog b;
  b.parked = 1;
  b.dead = 3;
  b.highest = seq(4, 5);
  b.opened = k_time;
  b.too_old = 2;
  const std::string value = encode_backlog(b);
  EXPECT_EQ(hex(value),
            "02"
            "00"
            "0000000000000002"
            "0000000000000001"
            "0000000000000000"
            "0000000000000003"
            "0000000000000004"
            "0000000000000005"
            "00000000" +
                k_time_hex);
  EXPECT_EQ(decode_backlog(value).value(), b);
  EXPECT_FALSE(decode_backlog(value + "x"));
  b.too_old = 4;
  EXPECT_FALSE(decode_backlog(encode_backlog(b))) << "more than are dead";
  std::string none = value;
  none[9] = '\0';
  EXPECT_FALSE(decode_backlog(none)) << "a format that says nothing";
  none[0] = '\3';
  EXPECT_FALSE(decode_backlog(none));
}

TEST(values_on_disk, hold_a_backlog) {
  backlog b;
  b.parked = 1;
  b.retrying = 2;
  b.dead = 3;
  b.highest = seq(4, 5);
  const std::string counts =
      "0000000000000001"
      "0000000000000002"
      "0000000000000003"
      "0000000000000004"
      "0000000000000005";
  EXPECT_EQ(hex(encode_backlog(b)),
            "01"
            "00" +
                counts + "00000000");
  EXPECT_EQ(decode_backlog(encode_backlog(b)).value(), b);
  b.held = b.ready = true;
  b.wake = k_time;
  b.gap_since = k_time + std::chrono::milliseconds{1};
  b.adopted = seq(6, 7);
  b.skipped = {{seq(1), seq(2)}, {seq(8), seq(9)}};
  const std::string value = encode_backlog(b);
  EXPECT_EQ(hex(value),
            "01"
            "1f" +
                counts + k_time_hex +
                "0000018bcfe56801"
                "0000000000000006"
                "0000000000000007"
                "00000002"
                "0000000000000000"
                "0000000000000001"
                "0000000000000000"
                "0000000000000002"
                "0000000000000000"
                "0000000000000008"
                "0000000000000000"
                "0000000000000009");
  EXPECT_EQ(decode_backlog(value).value(), b);
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_FALSE(decode_backlog(value.substr(0, size))) << size;
  EXPECT_FALSE(decode_backlog(value + "x"));
  std::string unknown = value;
  unknown[1] = '\x3f';
  EXPECT_EQ(decode_backlog(unknown).error(), make_error_code(errc::state_damaged));
  unknown[1] = '\x5f';
  EXPECT_FALSE(decode_backlog(unknown)) << "an id of what is not there";
  EXPECT_EQ(hex(encode_sequence(seq(1, 258))),
            "01"
            "0000000000000001"
            "0000000000000102");
  EXPECT_EQ(decode_sequence(encode_sequence(seq(1, 258))).value(), seq(1, 258));
  EXPECT_FALSE(decode_sequence(encode_sequence(seq(1)) + "x"));
}

}  // namespace
}  // namespace ratchet::layout
