// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What databases write of their changed rows: Debezium's connector for PostgreSQL, and YDB's changefeeds. The
// structure is that of the producers' documentation.
#include <gtest/gtest.h>

#include <string>

#include "decode/record_hash.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

const decode_rules k_cdc = row_rules(envelope_format::debezium_cdc);
const decode_rules k_ydb = row_rules(envelope_format::ydb_changefeed);

constexpr const char* k_row = R"({"id":1004,"first_name":"Anne","email":"annek@noanswer.org"})";

/// What the connector for PostgreSQL writes of a row.
std::string change(const std::string& op, const std::string& after = k_row,
                   const std::string& sequence = R"("[\"24023119\",\"24023128\"]")") {
  return R"({"before":null,"after":)" + after +
         R"(,"source":{"version":"2.7.0.Final","connector":"postgresql","name":"fulfillment","ts_ms":1767225600250,)"
         R"("snapshot":"false","db":"inventory","sequence":)" +
         sequence +
         R"(,"schema":"public","table":"customers","txId":556,"lsn":24023128,"xmin":null},"transaction":null,"op":")" +
         op + R"(","ts_ms":1767225600260})";
}
std::string wrapped(const std::string& payload) {
  return R"({"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"op"}],"optional":false,)"
         R"("name":"fulfillment.inventory.customers.Envelope"},"payload":)" +
         payload + "}";
}
test_record row(std::string value, std::string key = R"({"id":1004})") {
  return {std::move(key), std::move(value), {}, std::nullopt};
}

TEST(debezium_cdc, takes_the_new_row_in_the_order_of_the_log) {
  for (const char* op : {"c", "u", "r"}) {
    const decoded e{k_cdc, row(change(op))};
    ASSERT_EQ(e.verdict(), "event");
    EXPECT_EQ(e->aggregate, R"({"id":1004})");
    EXPECT_EQ(e->sequence, seq(24023119, 24023128));
    EXPECT_TRUE(e->has_sequence);
    EXPECT_FALSE(e->has_id);
    EXPECT_EQ(e->type, op);
    EXPECT_EQ(e->time, timestamp{std::chrono::milliseconds{1'767'225'600'250}});
    EXPECT_EQ(e->payload, k_row);
    EXPECT_EQ(e->payload_hash, payload_hash(k_row));
  }
}

TEST(debezium_cdc, means_the_same_with_the_schema_around_it) {
  const std::string key = R"({"schema":{"type":"struct","optional":false},"payload":{"id":1004}})";
  const decoded e{k_cdc, row(wrapped(change("u")), key)};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->aggregate, R"({"id":1004})");
  EXPECT_EQ(e->sequence, seq(24023119, 24023128));
  EXPECT_EQ(e->payload, k_row);
  EXPECT_EQ((decoded{k_cdc, row(wrapped(change("x")))}.verdict().substr(0, 29)),
            "operation_unknown /payload/op");
}

TEST(debezium_cdc, deletes_by_an_event_and_passes_over_the_tombstone_behind_it) {
  const decoded e{k_cdc, row(change("d", "null"))};
  ASSERT_EQ(e.verdict(), "tombstone");
  EXPECT_EQ(e->aggregate, R"({"id":1004})");
  EXPECT_EQ(e->sequence, seq(24023119, 24023128));
  EXPECT_EQ(e->payload_hash, hash128{});
  const decoded behind{k_cdc, test_record{R"({"id":1004})", std::nullopt, {}, std::nullopt}};
  EXPECT_EQ(behind->kind, decoded_kind::ignored);
  EXPECT_EQ((decoded { k_cdc, row(wrapped("null")) } -> kind), decoded_kind::ignored);
}

TEST(debezium_cdc, passes_over_truncations_and_messages) {
  for (const char* op : {"t", "m"}) {
    const decoded e{k_cdc, test_record{std::nullopt, change(op, "null"), {}, std::nullopt}};
    EXPECT_EQ(e->kind, decoded_kind::ignored) << op;
  }
  EXPECT_EQ((decoded{k_cdc, row(change(""))}.verdict().substr(0, 21)), "operation_unknown /op");
  EXPECT_EQ((decoded{k_cdc, row(change("cu"))}.verdict().substr(0, 21)), "operation_unknown /op");
}

TEST(debezium_cdc, passes_over_the_begin_and_the_end_of_transactions) {
  for (const change_order by : {change_order::log, change_order::partition}) {
    for (const char* status : {"BEGIN", "END"}) {
      const decoded e{row_rules(envelope_format::debezium_cdc, by),
                      test_record{R"({"id":"556:24023128"})",
                                  R"({"status":")" + std::string{status} +
                                      R"(","id":"556:24023128","event_count":null,"ts_ms":1767225600000})",
                                  {},
                                  std::nullopt}};
      EXPECT_EQ(e->kind, decoded_kind::ignored) << status;
    }
  }
  const decoded row{row_rules(envelope_format::debezium_cdc, change_order::partition),
                    test_record{R"({"id":1})", R"({"status":"BEGIN","id":1})", {}, std::nullopt}};
  EXPECT_EQ(row.verdict(), "event") << "a table may have such a column";
}

TEST(debezium_cdc, reads_the_last_commit_out_of_its_pair) {
  const auto sequence = [](const char* text) {
    const decoded e{k_cdc, row(change("r", k_row, text))};
    return e->kind == decoded_kind::event ? std::to_string(e->sequence.epoch) : e.verdict();
  };
  EXPECT_EQ(sequence(R"("[null,\"24023128\"]")"), "24023128") << "a null is not 0";
  EXPECT_EQ(sequence("null"), "0");
  EXPECT_EQ(sequence(R"("[\"18446744073709551615\",\"1\"]")"), "18446744073709551615");
  EXPECT_EQ(sequence(R"("[ \"12\" , \"24023128\" ]")"), "12");
  EXPECT_EQ(sequence(R"("\u005b\"12\",\"24023128\"]")"), "12");
  EXPECT_EQ(sequence(R"("[\"12\",\"x\"]")"), "12");  // only the first counts
  EXPECT_EQ(sequence(R"("[\"12\",\"13\"]","sequence":null)").substr(0, 32),
            "duplicate_field /source/sequence");
  EXPECT_EQ(sequence(R"("[24023119,24023128]")"), "24023119");
  EXPECT_EQ(sequence("7").substr(0, 27), "wrong_type /source/sequence");
  for (const char* text : {R"("[]")", R"("{}")", R"("")", R"("[\"x\"]")", R"("[1.5]")", R"("[-1]")",
                           R"("[[]]")", R"("[\"99999999999999999999\",\"1\"]")", R"("[\"\",\"1\"]")"}) {
    EXPECT_EQ(sequence(text).substr(0, 33), "sequence_invalid /source/sequence") << text;
  }
  std::string older = change("c");
  const std::size_t at = older.find("\"sequence\"");
  older.erase(at, older.find("\"schema\"") - at);
  EXPECT_EQ((decoded { k_cdc, row(older) } -> sequence), seq(24023128));
}

TEST(debezium_cdc, needs_a_key_in_json) {
  EXPECT_EQ((decoded{k_cdc, test_record{std::nullopt, change("c"), {}, std::nullopt}}.verdict()),
            "null_key key@0");
  EXPECT_EQ((decoded{k_cdc, row(change("c"), "Struct{id=1}")}.verdict()), "invalid_json key@0");
  EXPECT_EQ((decoded{k_cdc, row(change("c"), "")}.verdict()), "invalid_json key@0");
  EXPECT_EQ((decoded{k_cdc, row(change("c"), "null")}.verdict()), "null_key key@0");
  EXPECT_EQ((decoded{k_cdc, row(change("c"), R"({"schema":1,"payload":null})")}.verdict()),
            "null_key key@22");
  EXPECT_EQ((decoded{k_cdc, row(change("c"), R"({"schema":1,"payload":1,"payload":2})")}.verdict()),
            "duplicate_field key@22");
  EXPECT_EQ((decoded{k_cdc, row(change("c"), "\"" + std::string(1023, 'x') + "\"")}.verdict()),
            "aggregate_size key@0");
  EXPECT_EQ((decoded { k_cdc, row(change("c"), "17") } -> aggregate), "17");
  EXPECT_EQ((decoded { k_cdc, row(change("c"), R"({"payload":5})") } -> aggregate), R"({"payload":5})");
}

TEST(debezium_cdc, says_what_a_change_lacks) {
  EXPECT_EQ((decoded{k_cdc, row("{}")}.verdict()), "missing_field /op@0");
  EXPECT_EQ((decoded{k_cdc, row("null")}.verdict()), "null_value @0");
  EXPECT_EQ((decoded{k_cdc, row("")}.verdict()), "empty_value @0");
  EXPECT_EQ((decoded{k_cdc, row(R"({"op":1})")}.verdict()), "wrong_type /op@6");
  EXPECT_EQ((decoded{k_cdc, row(R"({"op":"c","source":{}})")}.verdict()),
            "connector_unknown /source/connector@19");
  EXPECT_EQ((decoded{k_cdc, row(R"({"op":"c","source":{"connector":"postgresql"}})")}.verdict()),
            "missing_field /source/lsn@19");
  EXPECT_EQ((decoded{k_cdc, row(change("u", "null"))}.verdict()), "missing_field /after@23");
  EXPECT_EQ((decoded{k_cdc, row(change("u", "[]"))}.verdict()), "wrong_type /after@23");
  decode_rules part = k_cdc;
  part.payload_from = "/email";
  EXPECT_EQ((decoded { part, row(change("u")) } -> payload), "\"annek@noanswer.org\"");
  EXPECT_EQ((decoded{part, row(change("u", "{}"))}.verdict()), "missing_field /after/email@23");
}

constexpr const char* k_image = R"({"value":"some new value"})";
std::string ydb(const std::string& members) {
  return R"({"key":[1,"one"],)" + members + R"(,"ts":[1670792400890,562949953607163]})";
}

TEST(ydb_changefeed, takes_the_new_image_in_the_order_of_virtual_time) {
  const decoded e{k_ydb, ydb(std::string{R"("update":{},"newImage":)"} + k_image)};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->aggregate, R"([1,"one"])");
  EXPECT_EQ(e->sequence, seq(1670792400890, 562949953607163));
  EXPECT_FALSE(e->has_id);
  EXPECT_EQ(e->type, "update");
  EXPECT_EQ(e->payload, k_image);
  EXPECT_EQ(e->payload_hash, payload_hash(k_image));
  decode_rules part = k_ydb;
  part.payload_from = "/value";
  EXPECT_EQ((decoded { part, ydb(std::string{R"("update":{},"newImage":)"} + k_image) } -> payload),
            "\"some new value\"");
}

TEST(ydb_changefeed, deletes_what_is_erased) {
  const decoded e{k_ydb, ydb(std::string{R"("erase":{},"oldImage":)"} + k_image)};
  ASSERT_EQ(e.verdict(), "tombstone");
  EXPECT_EQ(e->aggregate, R"([1,"one"])");
  EXPECT_EQ(e->sequence, seq(1670792400890, 562949953607163));
  EXPECT_EQ(e->type, "erase");
}

TEST(ydb_changefeed, passes_over_barriers) {
  const decoded e{k_ydb, R"({"resolved":[1670792500000,0]})"};
  EXPECT_EQ(e->kind, decoded_kind::ignored);
}

TEST(ydb_changefeed, refuses_a_feed_of_updates_without_images_or_times) {
  EXPECT_EQ((decoded{k_ydb, ydb(R"("update":{"value":"v"})")}.verdict()), "missing_field /newImage@0");
  EXPECT_EQ((decoded{k_ydb, ydb(R"("newImage":7)")}.verdict()), "wrong_type /newImage@28");
  EXPECT_EQ((decoded{k_ydb, R"({"key":[1],"newImage":{}})"}.verdict()), "missing_field /ts@0");
  EXPECT_EQ((decoded{k_ydb, R"({"key":[1],"newImage":{},"ts":7})"}.verdict()), "wrong_type /ts@30");
  EXPECT_EQ((decoded{k_ydb, R"({"key":[1],"newImage":{},"ts":[7]})"}.verdict()), "missing_field /ts/1@30");
  EXPECT_EQ((decoded{k_ydb, R"({"key":[1],"newImage":{},"ts":[7,-1]})"}.verdict()),
            "sequence_invalid /ts/1@33");
  EXPECT_EQ((decoded{k_ydb, R"({"key":{},"newImage":{},"ts":[7,1]})"}.verdict()), "wrong_type /key@7");
  EXPECT_EQ((decoded{k_ydb, R"({"update":{}})"}.verdict()), "missing_field /key@0");
  EXPECT_EQ((decoded{k_ydb, test_record{"k", std::nullopt, {}, std::nullopt}}.verdict()), "null_value @0");
  EXPECT_EQ((decoded{k_ydb, R"({"key":[1],"key":[2],"newImage":{},"ts":[7,1]})"}.verdict()),
            "duplicate_field /key@11");
}

}  // namespace
}  // namespace ratchet
