// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "layout_bytes.hpp"
#include "store/layout/answer.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/meaning.hpp"

/// Every byte on disk, written out. A test that fails here says that existing directories can no longer be
/// read: a new format byte and a new schema version are needed, not a new expectation.
namespace ratchet::layout {
namespace {

TEST(values_on_disk, are_these_bytes) {
  EXPECT_EQ(hex(encode_step(258)),
            "01"
            "0000000000000102");
  EXPECT_EQ(hex(encode_identity({1, "u", "grp", ""})),
            "01"
            "00000001"
            "00000001"
            "75"
            "00000003"
            "677270"
            "00000000");
  EXPECT_EQ(hex(encode_stream({stream_id{2}, "h", {{"k", "v1"}}})),
            "01"
            "00000002"
            "00000001"
            "68"
            "00000001"
            "00000001"
            "6b"
            "00000002"
            "7631");
  EXPECT_EQ(hex(encode_presence()), "01");
  const timestamp filed{std::chrono::milliseconds{0x018bcfe56801}};
  EXPECT_EQ(hex(encode_filed_time(filed)),
            "01"
            "0000018bcfe56801");
  EXPECT_EQ(decode_filed_time(encode_filed_time(filed)).value(), filed);
  const kept_answer whole{{1, 2}, hash128{3, 4}, "ok"};
  EXPECT_EQ(hex(encode_answered_id(filed, whole)),
            "02"
            "0000018bcfe56801"
            "0000000000000001"
            "0000000000000002"
            "03"
            "0000000000000003"
            "0000000000000004"
            "00000002"
            "6f6b");
  const kept_answer bare{seq(7), std::nullopt, std::nullopt};
  EXPECT_EQ(hex(encode_answered_id(filed, bare)),
            "02"
            "0000018bcfe56801"
            "0000000000000000"
            "0000000000000007"
            "00");
  for (const kept_answer& answer : {whole, bare}) {
    const std::string value = encode_answered_id(filed, answer);
    EXPECT_EQ(filed_time_of(value).value(), filed);
    EXPECT_EQ(decode_answer(value).value(), answer);
    EXPECT_FALSE(decode_answer(value.substr(0, value.size() - 1)));
    EXPECT_FALSE(filed_time_of(value + "x"));
  }
  EXPECT_EQ(decode_answer(encode_filed_time(filed)).value(), std::nullopt) << "an event's id has none";
  EXPECT_EQ(filed_time_of(encode_filed_time(filed)).value(), filed);
  std::string run;
  encode_id_run(run, std::array{filed_id{k_id, "p1"}, filed_id{k_id, "p10"}});
  EXPECT_EQ(hex(run),
            "01"
            "0002" +
                k_id_hex + k_id_hex +
                "0002"
                "0003"
                "7031"
                "703130");
  partition_state partition;
  partition.next_offset = 17;
  partition.malformed_run = 3;
  EXPECT_EQ(hex(encode_partition(partition)),
            "01"
            "00"
            "0000000000000011"
            "00000003");
  partition.highest_time = k_time;
  partition.idle = true;
  partition.last_record = {16, k_hash};
  EXPECT_EQ(hex(encode_partition(partition)),
            "01"
            "07"
            "0000000000000011" +
                k_time_hex + "00000003" + k_hash_hex);
  partition.last_ids = {{"", {0, 5}}, {"/a", {1, 2}}};
  const std::string with_ids = encode_partition(partition);
  EXPECT_EQ(hex(with_ids),
            "01"
            "0f"
            "0000000000000011" +
                k_time_hex + "00000003" + k_hash_hex +
                "00000002"
                "00000000"
                "0000000000000000"
                "0000000000000005"
                "00000002"
                "2f61"
                "0000000000000001"
                "0000000000000002");
  EXPECT_EQ(decode_partition(with_ids).value(), partition);
  EXPECT_FALSE(decode_partition(with_ids + "x"));
  partition = {};
  partition.next_offset = 17;
  partition.last_record = {14, k_hash};  // two markers of transactions lie between
  const std::string behind_markers = encode_partition(partition);
  EXPECT_EQ(hex(behind_markers),
            "01"
            "14"
            "0000000000000011"
            "00000000" +
                k_hash_hex + "000000000000000e");
  EXPECT_EQ(decode_partition(behind_markers).value(), partition);
  partition = {};
  partition.next_offset = 17;
  partition.next_index = 0x0A0B0C0D;  // a step ended within the record there
  const std::string within = encode_partition(partition);
  EXPECT_EQ(hex(within),
            "01"
            "40"
            "0000000000000011"
            "00000000"
            "0a0b0c0d");
  EXPECT_EQ(decode_partition(within).value(), partition);
  EXPECT_FALSE(decode_partition(within.substr(0, within.size() - 4) + std::string(4, '\0')));
  partition.last_record = {partition.next_offset, k_hash};  // a part of it was handled
  EXPECT_EQ(decode_partition(encode_partition(partition)).value(), partition);
  partition.next_index = 0;
  EXPECT_FALSE(decode_partition(encode_partition(partition))) << "it was handled, and lies ahead";
  partition = {};
  partition.next_offset = 17;
  partition.highest_time = k_time;
  partition.leaps = {{k_time, 5}, {k_time, 16}};
  const std::string with_leaps = encode_partition(partition);
  EXPECT_EQ(hex(with_leaps),
            "01"
            "21"
            "0000000000000011" +
                k_time_hex +
                "00000000"
                "02" +
                k_time_hex + "0000000000000005" + k_time_hex + "0000000000000010");
  EXPECT_EQ(decode_partition(with_leaps).value(), partition);
  partition.leaps.assign(256, {k_time, 5});  // their number stands behind 255
  const std::string with_many = encode_partition(partition);
  EXPECT_EQ(hex(with_many).substr(0, 54),
            "01"
            "21"
            "0000000000000011" +
                k_time_hex +
                "00000000"
                "ff"
                "00000100");
  EXPECT_EQ(decode_partition(with_many).value(), partition);
  EXPECT_EQ(hex(encode_audit({9, k_time, "kd", "s", "tx"})), "01" + k_time_hex +
                                                                 "00000002"
                                                                 "6b64"
                                                                 "00000001"
                                                                 "73"
                                                                 "00000002"
                                                                 "7478");
}

TEST(values_on_disk, hold_the_mark_of_a_copy_and_an_outbox_epoch) {
  EXPECT_EQ(hex(encode_copy_mark({258, k_time, false})),
            "01"
            "00"
            "0000000000000102" +
                k_time_hex);
  const std::string opened = encode_copy_mark({258, k_time, true});
  EXPECT_EQ(hex(opened).substr(0, 4), "0101");
  EXPECT_EQ(decode_copy_mark(opened).value(), (copy_mark{258, k_time, true}));
  EXPECT_FALSE(decode_copy_mark(opened + "x"));
  std::string unknown_flag = opened;
  unknown_flag[1] = 2;
  EXPECT_EQ(decode_copy_mark(unknown_flag).error(), make_error_code(errc::state_damaged));
  EXPECT_EQ(hex(encode_outbox_epoch(3)),
            "01"
            "0000000000000003");
  EXPECT_EQ(decode_outbox_epoch(encode_outbox_epoch(3)).value(), 3U);
}

TEST(values_on_disk, hold_an_audit_row_that_names_a_partition_and_a_range) {
  audit_row row{9, k_time, "kd", "s", "tx", topic_partition{"tp", partition_id{5}}, offset_range{16, 258}};
  const std::string texts = k_time_hex +
                            "00000002"
                            "6b64"
                            "00000001"
                            "73"
                            "00000002"
                            "7478";
  const std::string value = encode_audit(row);
  EXPECT_EQ(hex(value),
            "02"
            "03" +
                texts +
                "00000002"
                "7470"
                "00000005"
                "0000000000000010"
                "0000000000000102");
  EXPECT_EQ(decode_audit({9, 0}, value).value(), row);
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_FALSE(decode_audit({9, 0}, value.substr(0, size)));
  row.not_handled.reset();
  EXPECT_EQ(hex(encode_audit(row)), "0201" + texts + "00000002" + "7470" + "00000005");
  EXPECT_EQ(decode_audit({9, 0}, encode_audit(row)).value(), row);
  row.where.reset();
  EXPECT_EQ(decode_audit({9, 0}, encode_audit(row)).value(), row);
}

TEST(values_on_disk, hold_the_counters_in_this_order) {
  counters c;
  std::uint64_t next = 0;
  for (std::uint64_t* member :
       {&c.applied, &c.superseded, &c.duplicate, &c.stale, &c.ignored, &c.skipped, &c.discarded,
        &c.rejected_malformed, &c.rejected_conflict, &c.rejected_too_old, &c.rejected_late,
        &c.rejected_id_reused, &c.waiting_parked, &c.waiting_retrying, &c.waiting_dead, &c.consumed,
        &c.ids_ahead, &c.waiting_bytes}) {
    *member = ++next;
  }
  std::string want =
      "01"
      "01" +
      k_time_hex;
  for (std::uint64_t i = 1; i <= 18; ++i) {
    char number[17];
    std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(i));
    want += number;
  }
  const std::string value = encode_stream_state(k_time, c);
  EXPECT_EQ(hex(value), want);
  EXPECT_EQ(decode_stream_state(value).value().counters, c);
  EXPECT_EQ(decode_stream_state(value).value().floor, k_time);

  c.times_passed_over = 0x13;
  want.replace(2, 2, "03");
  EXPECT_EQ(hex(encode_stream_state(k_time, c)), want + "0000000000000013")
      << "behind them, where there are any";
  EXPECT_EQ(decode_stream_state(encode_stream_state(k_time, c)).value().counters, c);
  c.rejected_below_first = 0x14;
  want.replace(2, 2, "07");
  EXPECT_EQ(hex(encode_stream_state(k_time, c)), want + "0000000000000013" + "0000000000000014");
  EXPECT_EQ(decode_stream_state(encode_stream_state(k_time, c)).value().counters, c);
  c.forgotten = 0x15;
  want.replace(2, 2, "3f");
  const retention_state retention{k_time, k_time + std::chrono::milliseconds{1}};
  const std::string forgetting = encode_stream_state(k_time, c, retention);
  std::string after_time_hex = k_time_hex;
  ++after_time_hex.back();
  EXPECT_EQ(hex(forgetting), want + "0000000000000013" + "0000000000000014" + "0000000000000015" +
                                 k_time_hex + after_time_hex);
  EXPECT_EQ(decode_stream_state(forgetting).value().counters, c);
  EXPECT_EQ(decode_stream_state(forgetting).value().retention, retention);
  c.times_behind = 0x16;
  want.replace(2, 2, "7f");
  const std::string behind = encode_stream_state(k_time, c, retention);
  EXPECT_EQ(hex(behind), want + "0000000000000013" + "0000000000000014" + "0000000000000015" + k_time_hex +
                             after_time_hex + "0000000000000016");
  EXPECT_EQ(decode_stream_state(behind).value().counters, c);
  c.rejected_sequence_mixed = 0x17;
  want.replace(2, 2, "ff");
  const std::string mixed = encode_stream_state(k_time, c, retention);
  EXPECT_EQ(hex(mixed), want + "0000000000000013" + "0000000000000014" + "0000000000000015" + k_time_hex +
                            after_time_hex + "0000000000000016" + "0000000000000017");
  EXPECT_EQ(decode_stream_state(mixed).value().counters, c);
}

TEST(values_on_disk, hold_an_aggregate_and_its_inline_snapshot) {
  aggregate_row row;
  row.last = seq(1, 2);
  row.payload_hash = k_hash;
  row.snapshot = "snap";
  const std::string numbers =
      "0000000000000001"
      "0000000000000002";
  EXPECT_EQ(hex(encode_aggregate_head(row).view()),
            "01"
            "00" +
                numbers + k_hash_hex);
  row.id = k_id;
  row.time = k_time;
  EXPECT_EQ(hex(encode_aggregate_head(row).view()),
            "01"
            "03" +
                numbers + k_hash_hex + k_id_hex + k_time_hex);
  std::string value{encode_aggregate_head(row).view()};
  value += "snap";
  const auto read = decode_aggregate(value).value();
  EXPECT_EQ(read.last, row.last);
  EXPECT_EQ(read.id, row.id);
  EXPECT_EQ(read.time, row.time);
  EXPECT_EQ(read.payload_hash, k_hash);
  EXPECT_EQ(read.snapshot, "snap");
  EXPECT_TRUE(read.has_last);
  EXPECT_FALSE(read.waits);
  row.waits = true;
  EXPECT_EQ(hex(encode_aggregate_head(row).view()).substr(0, 4),
            "01"
            "23");
  EXPECT_TRUE(decode_aggregate(encode_aggregate_head(row).view()).value().waits);
  row.waits = false;
  row.seen = k_time;
  EXPECT_EQ(hex(encode_aggregate_head(row).view()),
            "01"
            "43" +
                numbers + k_hash_hex + k_id_hex + k_time_hex + k_time_hex)
      << "of a stream with a retention alone";
  EXPECT_EQ(decode_aggregate(encode_aggregate_head(row).view()).value().seen, k_time);
  row.seen.reset();
  row.snapshot = std::string(1025, 'x');
  EXPECT_EQ(hex(encode_aggregate_head(row).view()).substr(0, 4),
            "01"
            "0b");
  row.deleted = true;
  EXPECT_EQ(hex(encode_aggregate_head(row).view()).substr(0, 4),
            "01"
            "07");
}

TEST(values_on_disk, hold_the_row_of_an_aggregate_of_which_nothing_was_applied) {
  aggregate_row row;
  row.has_last = false;
  row.waits = true;
  row.last = seq(1, 2);
  row.snapshot = std::string(1025, 'x');
  const std::string head{encode_aggregate_head(row).view()};
  const std::string nothing(64, '0');
  EXPECT_EQ(hex(head),
            "01"
            "30" +
                nothing)
      << "there is no last one, and no snapshot";
  EXPECT_FALSE(is_external(row));
  EXPECT_FALSE(decode_aggregate(head).value().has_last);
  EXPECT_TRUE(decode_aggregate(head).value().waits);
  EXPECT_FALSE(decode_aggregate(head + "x")) << "a snapshot";
  std::string with_number = head;
  with_number[17] = 1;
  EXPECT_FALSE(decode_aggregate(with_number));
  std::string with_flag = head;
  with_flag[1] = '\x38';
  EXPECT_FALSE(decode_aggregate(with_flag)) << "a snapshot elsewhere";
}

TEST(values_on_disk, hold_snapshots_of_up_to_1024_bytes_inline) {
  aggregate_row row;
  row.snapshot = std::string(1024, 'x');
  EXPECT_FALSE(is_external(row));
  row.snapshot = row.snapshot.str() + 'x';
  EXPECT_TRUE(is_external(row));
  row.deleted = true;
  EXPECT_FALSE(is_external(row)) << "there is none to be kept";
}

TEST(values_on_disk, hold_a_rejected_record) {
  rejected_row row;
  row.where = k_place;
  row.offset = -2;
  row.reason = reject_reason::malformed;
  row.detail = "d";
  row.pointer = "/p";
  row.byte_offset = 6;
  EXPECT_EQ(hex(encode_rejected(row, {4, 5})),
            "01"
            "00"
            "0000000000000004"
            "00000005"
            "0000000000000000"
            "01"
            "0000000000000006"
            "00000001"
            "64"
            "00000002"
            "2f70");
  row.at = k_time;
  row.record_time = k_time;
  row.sequence = seq(8, 9);
  row.id = k_id;
  row.time = k_time;
  row.key = "k";
  row.value = std::string(k_rejected_value_bytes + 1, 'v');
  const std::string value = encode_rejected(row, {4, 5});
  EXPECT_EQ(hex(value.substr(0, 99)),
            "01"
            "7f"
            "0000000000000004"
            "00000005" +
                k_time_hex +
                "01"
                "0000000000000006" +
                k_time_hex +
                "0000000000000008"
                "0000000000000009" +
                k_id_hex + k_time_hex +
                "00000001"
                "64"
                "00000002"
                "2f70"
                "00000001"
                "6b"
                "00010000");
  EXPECT_EQ(value.size(), 99 + k_rejected_value_bytes);
  const auto read =
      decode_rejected(parse_rejected_key(rejected_key(k_stream, {k_place, -2, 3})).value(), value).value();
  EXPECT_EQ(read.first, (rejected_place{4, 5}));
  EXPECT_TRUE(read.second.truncated);
  EXPECT_EQ(read.second.value->size(), k_rejected_value_bytes);
  EXPECT_EQ(read.second.where, k_place);
  EXPECT_EQ(read.second.index, 3U);
  EXPECT_EQ(read.second.key, "k");
  EXPECT_EQ(read.second.at, k_time);
  EXPECT_EQ(read.second.sequence, seq(8, 9));
  EXPECT_EQ(read.second.id, k_id);
  EXPECT_EQ(read.second.time, k_time);
}

TEST(values_on_disk, are_damaged_where_bytes_are_missing_left_over_or_unknown) {
  aggregate_row row;
  row.id = k_id;
  row.time = k_time;
  const std::string aggregate{encode_aggregate_head(row).view()};
  for (std::size_t size = 0; size < aggregate.size(); ++size) {
    EXPECT_FALSE(decode_aggregate(aggregate.substr(0, size))) << size;
  }
  std::string unknown_flag = aggregate;
  unknown_flag[1] = '\x43';
  EXPECT_EQ(decode_aggregate(unknown_flag).error(), make_error_code(errc::state_damaged));
  std::string other_format = aggregate;
  other_format[0] = 2;
  EXPECT_FALSE(decode_aggregate(other_format));
  const std::string stream = encode_stream({stream_id{2}, "h", {{"k", "v1"}}});
  for (std::size_t size = 0; size < stream.size(); ++size)
    EXPECT_FALSE(decode_stream(stream.substr(0, size))) << size;
  EXPECT_FALSE(decode_stream(stream + "x"));
  EXPECT_FALSE(decode_step(encode_step(1) + "x"));
  EXPECT_FALSE(decode_presence("\x02"));
  const std::string filed = encode_filed_time(timestamp{std::chrono::milliseconds{1}});
  EXPECT_FALSE(decode_filed_time(filed.substr(0, filed.size() - 1)));
  EXPECT_FALSE(decode_filed_time(filed + "x"));
  EXPECT_FALSE(decode_filed_time("\x02" + filed.substr(1)));
  const id_span span = id_span::of(k_id, 6);
  const filed_id lower{k_id, "p1"};
  const filed_id higher{k_id, "p2"};
  std::string run;
  encode_id_run(run, std::array{lower, higher});
  ASSERT_TRUE(decode_id_run(span, run));
  EXPECT_FALSE(decode_id_run({span.start + 64, 6}, run)) << "another span";
  EXPECT_FALSE(decode_id_run(span, run + "x"));
  EXPECT_FALSE(decode_id_run(span, run.substr(0, run.size() - 1)));
  for (const auto& wrong : {std::array{higher, lower}, std::array{lower, lower}}) {
    encode_id_run(run, wrong);
    EXPECT_FALSE(decode_id_run(span, run)) << "not in order";
  }
  encode_id_run(run, {});
  EXPECT_FALSE(decode_id_run(span, run)) << "empty";
  std::vector<filed_id> many;
  for (std::size_t i = 0; i <= k_run_ids; ++i) many.push_back({{k_id.high, i}, "p"});
  encode_id_run(run, std::span{many}.first(k_run_ids));
  EXPECT_TRUE(decode_id_run(span, run));
  encode_id_run(run, many);
  EXPECT_FALSE(decode_id_run(span, run)) << "too many";
}

TEST(the_hash_of_a_meaning, is_sha256_of_its_lines) {
  // printf '\0\0\0\005order\0\0\0\006latest' | sha256sum
  EXPECT_EQ(meaning_hash({{"order", "latest"}}),
            "sha256:e44f4759ddc7ea787651002ad14d7d01647e3a745672ba728f783d27031cdea4");
  EXPECT_EQ(meaning_hash({}), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace ratchet::layout
