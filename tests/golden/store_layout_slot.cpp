// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "layout_bytes.hpp"
#include "store/engine/column_families.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/slot_row.hpp"

/// Every byte of a replica's row, and the numbers of the families in a log.
namespace ratchet::layout {
namespace {

replicate::log_position position() {
  replicate::log_position at;
  at.step = 258;
  at.chain = k_hash;
  at.epoch = {0x01020304, 0x05060708};
  at.writer = 0x090a0b0c0d0e0f10;
  at.fenced_step = 257;
  at.offset = 4096;
  at.lineage = hash128{0x2122232425262728, 0x292a2b2c2d2e2f30};
  at.bytes = 65793;
  return at;
}

TEST(keys_on_disk, of_slots_are_these_bytes) {
  EXPECT_EQ(hex(slot_key(slot{258})), "2200000102");
  EXPECT_EQ(parse_slot_key(slot_key(slot{258})).value(), slot{258});
  EXPECT_FALSE(parse_slot_key(slot_key(slot{258}) + "x"));
  EXPECT_FALSE(parse_slot_key("\x22"));
}

TEST(keys_on_disk, mark_a_copy_that_is_being_read) {
  EXPECT_EQ(hex(restore_key()), "23");
}

TEST(values_on_disk, say_how_far_a_slot_is_in_its_log) {
  const std::string bytes = encode_slot(position());
  EXPECT_EQ(hex(bytes),
            "01"
            "0000000000000102" +
                k_hash_hex +
                "01020304"
                "05060708"
                "090a0b0c0d0e0f10"
                "0000000000000101"
                "0000000000001000"
                "0000000000010101"
                "2122232425262728"
                "292a2b2c2d2e2f30");
  EXPECT_EQ(decode_slot(bytes).value(), position());
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_slot(bytes.substr(0, size)));
  EXPECT_FALSE(decode_slot(bytes + "x"));
  std::string other = bytes;
  other.front() = 2;
  EXPECT_FALSE(decode_slot(other)) << "another format";
}

TEST(values_on_disk, say_whose_the_log_is) {
  EXPECT_EQ(hex(owner_key()), "24");
  const slot_owner owner{{0x01020304, 0x05060708}, "ab", "c:1"};
  const std::string bytes = encode_owner(owner);
  EXPECT_EQ(hex(bytes),
            "01"
            "01020304"
            "05060708"
            "00000002"
            "6162"
            "00000003"
            "633a31");
  EXPECT_EQ(decode_owner(bytes).value(), owner);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_owner(bytes.substr(0, size)));
  EXPECT_FALSE(decode_owner(bytes + "x"));
  EXPECT_FALSE(decode_owner(encode_owner({{}, "ab", ""}))) << "of nobody";
}

TEST(values_on_disk, hold_no_position_that_cannot_be) {
  replicate::log_position at = position();
  at.fenced_step = at.step;
  EXPECT_FALSE(decode_slot(encode_slot(at))) << "before the first step of its writer";
  at = position();
  at.epoch = {};
  EXPECT_FALSE(decode_slot(encode_slot(at))) << "of nobody";
  at = replicate::position_before_log({1, 2}, 0, 7, {3, 4});
  EXPECT_EQ(decode_slot(encode_slot(at)).value(), at) << "before a log";
  at.offset = 0;
  EXPECT_FALSE(decode_slot(encode_slot(at))) << "in a log, and before it";
  at = position();
  at.offset = -1;
  EXPECT_FALSE(decode_slot(encode_slot(at))) << "nowhere";
}

TEST(families_in_a_log, have_these_numbers) {
  EXPECT_EQ(static_cast<int>(family::standard), 0);
  EXPECT_EQ(static_cast<int>(family::sequences), 1);
  EXPECT_EQ(static_cast<int>(family::snapshots), 2);
  EXPECT_EQ(static_cast<int>(family::dedup), 3);
  EXPECT_EQ(static_cast<int>(family::waiting), 4);
  EXPECT_EQ(static_cast<int>(family::outbox), 5);
  EXPECT_EQ(static_cast<int>(family::tables), 6);
  EXPECT_EQ(k_family_names.size(), 7U);
}

TEST(rows_of_a_log, are_all_but_those_of_a_replica_itself) {
  constexpr bool k_default = true;
  for (const kind local : {kind::step, kind::identity, kind::copy_mark, kind::slot, kind::restore,
                           kind::owner, kind::incarnation}) {
    EXPECT_TRUE(is_local_key(k_default, prefix_of(local) + "x")) << static_cast<int>(local);
    EXPECT_TRUE(may_cover_local_key(k_default, prefix_of(local), prefix_of(local) + "x"));
  }
  for (const kind common : {kind::outbox_epoch, kind::outbox, kind::stream, kind::stream_state,
                            kind::partition, kind::rejected, kind::audit}) {
    EXPECT_FALSE(is_local_key(k_default, prefix_of(common) + "x")) << static_cast<int>(common);
    const std::string all = prefix_of(common);
    EXPECT_FALSE(may_cover_local_key(k_default, all, end_of_prefix(all)));
    EXPECT_TRUE(may_cover_local_key(k_default, all, end_of_prefix(all) + "x"));
  }
  EXPECT_TRUE(is_local_key(k_default, "")) << "no kind at all";
  EXPECT_TRUE(is_local_key(k_default, "\x7F")) << "a kind that is not known";
  EXPECT_TRUE(is_local_key(!k_default, step_key(false)));
  EXPECT_FALSE(is_local_key(!k_default, step_key(true))) << "that of `default`";
  EXPECT_FALSE(is_local_key(!k_default, step_key(false) + "x"));
  EXPECT_TRUE(may_cover_local_key(!k_default, "", "x"));
  EXPECT_TRUE(may_cover_local_key(!k_default, step_key(false), step_key(false) + "x"));
  EXPECT_FALSE(may_cover_local_key(!k_default, "", step_key(false)));
  EXPECT_FALSE(may_cover_local_key(!k_default, step_key(false) + "x", "x"));
}

}  // namespace
}  // namespace ratchet::layout
