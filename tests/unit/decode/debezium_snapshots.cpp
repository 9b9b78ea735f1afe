// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Rows of snapshots among rows of the log, as Debezium's connector for PostgreSQL writes them: initial,
// blocking and incremental ones, those of a connector that was made anew, and rows that were unwrapped on the
// way.
#include <gtest/gtest.h>

#include <string>

#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

decode_rules cdc_rules() {
  return row_rules(envelope_format::debezium_cdc);
}

/// Of version 3.0. Without `lsn` the connector leaves the field out with `txId` and `xmin`, or writes null.
std::string change(const std::string& op, const std::string& snapshot, const std::string& sequence,
                   const std::string& lsn) {
  return R"({"before":null,"after":{"id":7,"name":"seven"},"source":{"version":"3.0.8.Final","connector":"postgresql",)"
         R"("name":"shop","ts_ms":1767225600250,"snapshot":)" +
         snapshot + R"(,"db":"shop","sequence":)" + sequence +
         R"(,"ts_us":1767225600250000,"ts_ns":1767225600250000000,"schema":"public","table":"customers")" +
         lsn + R"(},"transaction":null,"op":")" + op + R"(","ts_ms":1767225600260})";
}
std::string streamed(const std::string& sequence, const std::string& lsn) {
  return change("u", "\"false\"", sequence, R"(,"txId":556,"lsn":)" + lsn + R"(,"xmin":null)");
}
sequence sequence_of(const std::string& value) {
  const decoded e{cdc_rules(), {R"({"id":7})", value, {}, std::nullopt}};
  EXPECT_EQ(e.verdict(), "event") << value;
  return e->sequence;
}

TEST(debezium_snapshots, stand_where_the_stream_was_when_they_are_incremental) {
  const sequence before = sequence_of(streamed(R"("[\"1100\",\"1250\"]")", "1250"));
  const sequence after = sequence_of(streamed(R"("[\"1250\",\"1300\"]")", "1300"));
  for (const char* lsn : {"", R"(,"txId":null,"lsn":null,"xmin":null)"}) {
    const sequence row = sequence_of(change("r", "\"incremental\"", R"("[\"1200\",\"1250\"]")", lsn));
    EXPECT_LT(before, row);
    EXPECT_LT(row, after);
    EXPECT_EQ(row, seq(1200, 1250));
  }
}

TEST(debezium_snapshots, come_behind_all_that_was_said_before_the_connector_was_made_anew) {
  const sequence before = sequence_of(streamed(R"("[\"24023119\",\"24023128\"]")", "24023128"));
  for (const char* how : {"\"true\"", "true", "\"first\"", "\"first_in_data_collection\"",
                          "\"last_in_data_collection\"", "\"last\""}) {
    const sequence row = sequence_of(
        change("r", how, R"("[null,\"24111000\"]")", R"(,"txId":560,"lsn":24111000,"xmin":null)"));
    EXPECT_LT(before, row) << how;
    // The first transaction behind it has seen no commit either; the second one has.
    const sequence first = sequence_of(streamed(R"("[null,\"24111000\"]")", "24111000"));
    const sequence second = sequence_of(streamed(R"("[\"24111400\",\"24111500\"]")", "24111500"));
    EXPECT_LT(row, first) << how;
    EXPECT_LT(first, second) << how;
  }
}

TEST(debezium_snapshots, are_in_order_while_no_commit_was_seen) {
  const sequence first = sequence_of(streamed(R"("[null,\"1100\"]")", "1100"));
  const sequence row = sequence_of(change("r", "\"incremental\"", R"("[null,\"1150\"]")", ""));
  const sequence later = sequence_of(streamed(R"("[null,\"1160\"]")", "1160"));
  EXPECT_LT(first, row);
  EXPECT_LT(row, later);
}

TEST(debezium_snapshots, that_say_nothing_of_their_place_come_before_the_log) {
  EXPECT_EQ(sequence_of(change("r", "\"incremental\"", R"("[null,null]")", "")), seq(0));
  EXPECT_EQ(sequence_of(change("r", "\"true\"", R"("[\"1200\",null]")", "")), seq(1200, 0));
  // What was streamed has its place, or is wrong.
  const decoded e{cdc_rules(),
                  {R"({"id":7})", change("u", "\"false\"", R"("[\"1\",\"2\"]")", ""), {}, std::nullopt}};
  EXPECT_EQ(e.verdict().substr(0, 25), "missing_field /source/lsn");
}

TEST(debezium_snapshots, are_read_the_same_behind_records_of_any_kind) {
  const std::string values[] = {streamed(R"("[\"1100\",\"1250\"]")", "1250"),
                                change("r", "\"incremental\"", R"("[\"1200\",\"1250\"]")", ""),
                                change("r", "\"incremental\"", R"("[\"1200\",\"1251\"]")", ""),
                                streamed(R"("[\"1250\",\"1300\"]")", "1300"),
                                R"({"op":"u"})",
                                R"({"id":7,"__op":"u","__lsn":1305})",
                                R"({"id":7,"__deleted":"true","__lsn":1306})",
                                streamed(R"("[\"1250\",\"1307\"]")", "1307"),
                                R"({"id":7,"__lsn":1308})",
                                "{}",
                                "[",
                                change("r", "\"incremental\"", R"("[\"1200\",\"1309\"]")", ""),
                                streamed(R"("[ \"1250\", \"1310\" ]")", "1310"),
                                streamed(R"("[\"1250\",\"1320\"]")", "1320")};
  const topic_partition where{"t", partition_id{0}};
  std::vector<record> records;
  for (const std::string& value : values) {
    record r;
    r.where = &where;
    r.key = "7";
    r.value = value;
    records.push_back(r);
  }
  decoder d{cdc_rules()};
  decoded_batch batch;
  d.decode(records, batch);
  ASSERT_EQ(batch.events.size(), std::size(values));
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const decoded alone{cdc_rules(), {"7", values[i], {}, std::nullopt}};
    EXPECT_EQ(batch.events[i].kind, alone->kind) << i;
    EXPECT_EQ(batch.events[i].sequence, alone->sequence) << i;
  }
}

/// Of a row that `io.debezium.transforms.ExtractNewRecordState` left, as `add.fields` says.
decoded unwrapped(const std::string& more, decode_rules rules = cdc_rules()) {
  return {std::move(rules), {R"({"id":7})", R"({"id":7,"name":"seven")" + more + "}", {}, std::nullopt}};
}

TEST(unwrapped_rows, are_read_where_their_place_in_the_log_was_added) {
  const decoded e = unwrapped(
      R"(,"__deleted":"false","__op":"u","__lsn":1300,"__source_sequence":"[\"1250\",\"1300\"]","__source_ts_ms":1767225600250)");
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->type, "u");
  EXPECT_EQ(e->payload, e.value());
  EXPECT_EQ(e->time, timestamp{std::chrono::milliseconds{1'767'225'600'250}});
  EXPECT_EQ(unwrapped(R"(,"__op":"u","__lsn":1300)")->sequence, seq(1300));
  EXPECT_EQ(unwrapped(R"(,"__source_lsn":1300,"__source_sequence":"[\"1250\",\"1300\"]")")->sequence,
            seq(1250, 1300));
  EXPECT_EQ(unwrapped(R"(,"__sequence":"[\"1250\",\"1300\"]","__lsn":1300)")->sequence, seq(1250, 1300));
  EXPECT_EQ(unwrapped(R"(,"__lsn":1300,"__source_sequence":"[\"1250\",\"1300\"]")")->sequence,
            seq(1250, 1300));
  EXPECT_EQ(unwrapped(R"(,"__sequence":"[\"1250\",\"1300\"]","__source_lsn":1300)")->sequence,
            seq(1250, 1300));
  EXPECT_EQ(unwrapped(R"(,"__source_connector":"mysql","__source_file":"binlog.000004","__source_pos":194)")
                ->sequence,
            seq(4, std::uint64_t{194} << 24U));
  EXPECT_EQ(unwrapped(R"(,"__file":"binlog.000004","__pos":194,"__row":2)")->sequence,
            seq(4, (std::uint64_t{194} << 24U) + 2));
}

TEST(unwrapped_rows, delete_where_they_say_so) {
  for (const char* how : {R"(,"__deleted":"true","__lsn":1300)", R"(,"__deleted":true,"__lsn":1300)",
                          R"(,"__op":"d","__lsn":1300)"}) {
    const decoded e = unwrapped(how);
    EXPECT_EQ(e.verdict(), "tombstone") << how;
    EXPECT_EQ(e->type, "d") << how;
    EXPECT_EQ(e->sequence, seq(1300)) << how;
  }
}

TEST(unwrapped_rows, are_refused_by_name_where_nothing_orders_them) {
  EXPECT_EQ(unwrapped("").verdict(), "unwrapped_row /__lsn@0");
  EXPECT_EQ(unwrapped(R"(,"__deleted":"false","__op":"u")").verdict(), "unwrapped_row /__lsn@0");
  decode_rules by_partition = cdc_rules();
  by_partition.envelope.position = change_order::partition;
  EXPECT_EQ(unwrapped(R"(,"__deleted":"false","__op":"u")", by_partition).verdict(), "event");
  EXPECT_EQ(unwrapped(R"(,"__deleted":"true")", by_partition).verdict(), "tombstone");
}

TEST(unavailable_values, are_seen_where_the_stream_looks_for_them) {
  decode_rules rules = cdc_rules();
  rules.keeps_columns = true;
  const auto keeps = [&](const std::string& op, const std::string& column) {
    std::string value = change(op, "\"false\"", R"("[\"1\",\"2\"]")", R"(,"lsn":2)");
    value.replace(value.find("\"seven\""), 7, column);
    const decoded e{rules, {R"({"id":7})", value, {}, std::nullopt}};
    EXPECT_EQ(e.verdict(), "event");
    return e->keeps_columns;
  };
  EXPECT_TRUE(keeps("u", "\"__debezium_unavailable_value\""));
  EXPECT_TRUE(keeps("u", R"(["__debezium_unavailable_value"])"));
  EXPECT_TRUE(keeps("u", "\"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\"")) << "bytea";
  EXPECT_FALSE(keeps("u", "\"zz __debezium_unavailable_valu\""));
  rules.envelope.unavailable = "n/a (TOAST)";
  EXPECT_TRUE(keeps("u", "\"n/a (TOAST)\""));
  EXPECT_FALSE(keeps("u", "\"__debezium_unavailable_value\""));
  rules.keeps_columns = false;
  EXPECT_FALSE(keeps("u", "\"n/a (TOAST)\""));
}

/// A key that changes makes a new row of an old one, without the columns that did not change.
TEST(unavailable_values, of_rows_that_are_new_or_read_are_refused_by_name) {
  decode_rules rules = cdc_rules();
  rules.keeps_columns = true;
  const auto verdict = [&](const std::string& op, const std::string& column,
                           const std::string& connector = "postgresql") {
    std::string value = change(op, "\"false\"", R"("[\"1\",\"2\"]")", R"(,"lsn":2)");
    value.replace(value.find("\"seven\""), 7, column);
    value.replace(value.find("postgresql"), 10, connector);
    const decoded e{rules, {R"({"id":7})", value, {}, std::nullopt}};
    const std::string text = e.verdict();
    return text.substr(0, text.find('@'));
  };
  for (const char* op : {"c", "r"}) {
    for (const char* column : {R"("__debezium_unavailable_value")", R"(["__debezium_unavailable_value"])",
                               R"("X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")"}) {
      EXPECT_EQ(verdict(op, column), "unavailable_column /after/name") << op << column;
      EXPECT_EQ(verdict(op, column, "mongodb"), "unavailable_column /after/name") << op << column;
    }
    EXPECT_EQ(verdict(op, R"("about __debezium_unavailable_value")"), "event") << "a text that speaks of it";
  }
  EXPECT_EQ(verdict("u", R"("__debezium_unavailable_value")"), "event");
  rules.payload_from = "/name";
  EXPECT_EQ(verdict("c", R"("__debezium_unavailable_value")"), "unavailable_column /after/name");
  rules.envelope.unavailable = "n/a";
  EXPECT_EQ(verdict("c", R"("n/a")"), "unavailable_column /after/name");
  EXPECT_EQ(verdict("c", R"("__debezium_unavailable_value")"), "event");
  rules.keeps_columns = false;
  EXPECT_EQ(verdict("c", R"("n/a")"), "event") << "a reducer of the program's own sees it";
}

TEST(unavailable_values, of_new_rows_without_their_envelope_are_refused_by_name) {
  decode_rules rules = cdc_rules();
  rules.keeps_columns = true;
  const std::string place = R"(,"__source_lsn":2,"__source_sequence":"[\"1\",\"2\"]")";
  const auto row = [&](const std::string& op) {
    return unwrapped(R"(,"terms":"__debezium_unavailable_value","__op":")" + op + "\"" + place, rules)
        .verdict();
  };
  EXPECT_EQ(row("u"), "event");
  EXPECT_EQ(row("c"), "unavailable_column /terms@0");
}

}  // namespace
}  // namespace ratchet
