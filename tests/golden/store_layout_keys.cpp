// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "layout_bytes.hpp"
#include "store/layout/layout.hpp"

/// As in store_layout.cpp: the keys.
namespace ratchet::layout {
namespace {

TEST(keys_on_disk, are_these_bytes) {
  EXPECT_EQ(hex(step_key(true)), "00");
  EXPECT_EQ(hex(step_key(false)), "00000000");
  EXPECT_EQ(hex(identity_key()), "01");
  EXPECT_EQ(hex(copy_mark_key()), "02");
  EXPECT_EQ(hex(outbox_epoch_key()), "03");
  EXPECT_EQ(hex(stream_key("pay")),
            "10"
            "706179");
  EXPECT_EQ(hex(stream_state_key(k_stream)),
            "20"
            "01020304");
  EXPECT_EQ(hex(partition_key(k_stream, k_place)),
            "21"
            "01020304" +
                k_place_hex);
  EXPECT_EQ(hex(incarnation_key({2, 0xABCD})),
            "30"
            "0000000000000002"
            "000000000000abcd");
  EXPECT_EQ(hex(rejected_key(k_stream, {k_place, -2})),
            "40"
            "01020304" +
                k_place_hex + "fffffffffffffffe");
  EXPECT_EQ(hex(rejected_key(k_stream, {k_place, -2, 0x0A0B0C0D})),
            "40"
            "01020304" +
                k_place_hex +
                "fffffffffffffffe"
                "0a0b0c0d");
  EXPECT_EQ(hex(audit_key(7, 1)),
            "50"
            "0000000000000007"
            "00000001");
  std::string aggregate;
  append_aggregate_key(aggregate, k_stream, slot{9}, "p1");
  EXPECT_EQ(hex(aggregate),
            "01020304"
            "00000009"
            "7031");
  std::string run;
  append_id_run_key(run, k_stream, slot{9}, {0x018bcfe56800, 10}, 7, 0x0102);
  EXPECT_EQ(hex(run),
            "01020304"
            "00000009"
            "018bcfe56800"
            "0a"
            "0000000000000007"
            "0102");
  EXPECT_EQ(span_prefix(k_stream, slot{9}, {0x018bcfe56800, 10}), run.substr(0, k_span_prefix_bytes));
  EXPECT_FALSE(is_opaque_id_key(run));
  EXPECT_FALSE(is_opaque_id_key(step_key(false)));
  std::string opaque;
  append_opaque_id_key(opaque, k_stream, slot{9}, k_id, "p1");
  EXPECT_EQ(hex(opaque),
            "81020304"
            "00000009" +
                k_id_hex + "7031");
  EXPECT_EQ(opaque_ids_prefix(k_stream, slot{9}), opaque.substr(0, 8));
  EXPECT_TRUE(is_opaque_id_key(opaque));
  EXPECT_EQ(opaque.size(), opaque_id_key_size(2));
}

TEST(keys_on_disk, are_read_back) {
  EXPECT_EQ(parse_partition_key(partition_key(k_stream, k_place)).value().where, k_place);
  const auto rejected = parse_rejected_key(rejected_key(k_stream, {k_place, -2})).value();
  EXPECT_EQ(rejected.where, k_place);
  EXPECT_EQ(rejected.offset, -2);
  EXPECT_EQ(rejected.index, 0U);
  EXPECT_EQ(parse_rejected_key(rejected_key(k_stream, {k_place, -2, 7})).value().index, 7U);
  EXPECT_FALSE(parse_rejected_key(rejected_key(k_stream, {k_place, -2}) + std::string(4, '\0')))
      << "the first of a record has no index";
  EXPECT_EQ(parse_incarnation_key(incarnation_key({2, 3})).value(), (incarnation{2, 3}));
  EXPECT_EQ(parse_stream_key(stream_key("pay")).value(), "pay");
  EXPECT_EQ(parse_audit_key(audit_key(7, 1)).value(), (rejected_place{7, 1}));
  std::string key;
  append_id_run_key(key, k_stream, slot{9}, {0x018bcfe56800, 10}, 7, 0x0102);
  const auto run = parse_id_run_key(key).value();
  EXPECT_EQ(run.stream, k_stream);
  EXPECT_EQ(run.slot, slot{9});
  EXPECT_EQ(run.span, (id_span{0x018bcfe56800, 10}));
  EXPECT_EQ(run.step, 7U);
  EXPECT_EQ(run.part, 0x0102);
  std::string opaque;
  append_opaque_id_key(opaque, k_stream, slot{9}, k_id, "p1");
  const auto id = parse_opaque_id_key(opaque).value();
  EXPECT_EQ(id.stream, k_stream);
  EXPECT_EQ(id.slot, slot{9});
  EXPECT_EQ(id.id, k_id);
  EXPECT_EQ(id.aggregate, "p1");
  EXPECT_FALSE(parse_opaque_id_key(key)) << "a run's";
  EXPECT_FALSE(parse_opaque_id_key(opaque.substr(0, opaque.size() - 2))) << "of no aggregate";
}

TEST(keys_on_disk, keep_the_order_of_topics_whose_names_begin_alike) {
  const auto key = [](const char* bytes, std::size_t size) {
    return partition_key(k_stream, {std::string(bytes, size), partition_id{0x7FFFFFFF}});
  };
  EXPECT_LT(key("a", 1), key("a\0", 2));
  EXPECT_LT(key("a\0", 2), key("a\0\0", 3));
  EXPECT_LT(key("a\0\xff", 3), key("a\x01", 2));
  EXPECT_LT(key("a\x01", 2), key("ab", 2));
}

TEST(keys_on_disk, with_a_prefix_lie_below_its_end_whatever_byte_it_ends_with) {
  for (const std::uint32_t number : {1U, 0xFEU, 0xFFU, 0x100U, 0xFFFFU, 0xFFFFFFU}) {
    const std::string prefix = prefix_of(kind::partition, stream_id{number});
    const std::string next = prefix_of(kind::partition, stream_id{number + 1});
    const std::string end = end_of_prefix(prefix);
    EXPECT_LT(prefix + std::string(40, '\xFF'), end) << number;
    EXPECT_LE(end, next) << number;
  }
  EXPECT_EQ(end_of_prefix("\xFF\xFF"), "") << "nothing lies behind it";
}

}  // namespace
}  // namespace ratchet::layout
