// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Row changes of the other databases that Debezium has connectors for, in the structure of their messages, by
// version; and the order that their positions come to.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "decode/log_position.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

decode_rules cdc_rules(change_order position = change_order::log) {
  return row_rules(envelope_format::debezium_cdc, position);
}

std::string change(const std::string& op, const std::string& source,
                   const std::string& after = R"({"id":1})") {
  return R"({"before":null,"after":)" + after + R"(,"source":{"version":"3.0.8.Final",)" + source +
         R"(,"name":"shop","ts_ms":1767225600000,"db":"shop"},"transaction":null,"op":")" + op +
         R"(","ts_ms":1767225600260,"ts_us":1767225600260000,"ts_ns":1767225600260000000})";
}
decoded read(const std::string& op, const std::string& source, const std::string& after = R"({"id":1})") {
  return {cdc_rules(), {R"({"id":1})", change(op, source, after), {}, std::nullopt}};
}
sequence at(const std::string& op, const std::string& source) {
  const decoded e = read(op, source);
  EXPECT_EQ(e.verdict(), op == "d" ? "tombstone" : "event") << source;
  return e->sequence;
}

std::string mysql(const std::string& file, const std::string& pos, const std::string& row,
                  const std::string& more = "") {
  return R"("connector":"mysql","snapshot":"false","sequence":null,"table":"t","server_id":223344,"gtid":null,)"
         R"("file":")" +
         file + R"(","pos":)" + pos + R"(,"row":)" + row + R"(,"thread":7,"query":null)" + more;
}

TEST(mysql_changes, are_in_the_order_of_the_binlog) {
  const sequence snapshot =
      at("r", R"("connector":"mysql","snapshot":"first","sequence":null,"table":"t","server_id":0,)"
              R"("gtid":null,"file":"mysql-bin.000003","pos":154,"row":0,"thread":null,"query":null)");
  const sequence first = at("c", mysql("mysql-bin.000003", "484", "0"));
  const sequence next_row = at("u", mysql("mysql-bin.000003", "484", "1"));
  const sequence next_event = at("u", mysql("mysql-bin.000003", "1048576", "0"));
  const sequence rotated = at("u", mysql("mysql-bin.000004", "194", "0"));
  const sequence seven_digits = at("d", mysql("mysql-bin.1000000", "4", "0"));
  EXPECT_LT(snapshot, first);
  EXPECT_LT(first, next_row);
  EXPECT_LT(next_row, next_event);
  EXPECT_LT(next_event, rotated);
  EXPECT_LT(rotated, seven_digits);
}

TEST(mysql_changes, say_what_is_wrong_with_a_position) {
  EXPECT_EQ(read("c", mysql("binlog", "4", "0")).verdict().substr(0, 29), "sequence_invalid /source/file");
  EXPECT_EQ(read("c", mysql("binlog.1", "-4", "0")).verdict().substr(0, 28), "sequence_invalid /source/pos");
  EXPECT_EQ(read("c", mysql("binlog.1", "1099511627776", "0")).verdict().substr(0, 28),
            "sequence_invalid /source/pos");
  EXPECT_EQ(read("c", R"("connector":"mysql","pos":4)").verdict().substr(0, 26),
            "missing_field /source/file");
}

TEST(mariadb_changes, are_in_the_order_of_the_binlog) {
  const auto mariadb = [](const std::string& gtid, const std::string& file, const std::string& pos) {
    return R"("connector":"mariadb","snapshot":"false","sequence":null,"table":"t","server_id":1,"gtid":")" +
           gtid + R"(","file":")" + file + R"(","pos":)" + pos + R"(,"row":0,"thread":null,"query":null)";
  };
  EXPECT_LT(at("c", mariadb("0-1-99", "mariadb-bin.000002", "900")),
            at("u", mariadb("0-1-100", "mariadb-bin.000003", "4")));
}

std::string sqlserver(const std::string& commit, const std::string& change) {
  return R"("connector":"sqlserver","snapshot":"false","sequence":null,"schema":"dbo","table":"t","change_lsn":)" +
         change + R"(,"commit_lsn":)" + commit + R"(,"event_serial_no":1)";
}

TEST(sqlserver_changes, are_in_the_order_of_commits_and_within_one_of_changes) {
  const sequence snapshot =
      at("r", R"("connector":"sqlserver","snapshot":"true","sequence":null,"schema":"dbo","table":"t",)"
              R"("change_lsn":null,"commit_lsn":"00000027:00000758:0005","event_serial_no":null)");
  const sequence first = at("c", sqlserver(R"("00000027:00000758:0005")", R"("00000027:00000758:0003")"));
  const sequence second = at("u", sqlserver(R"("00000027:00000758:0005")", R"("00000027:00000758:0004")"));
  const sequence next_commit =
      at("u", sqlserver(R"("00000027:00000758:0006")", R"("00000026:00000001:0001")"));
  const sequence next_file = at("d", sqlserver(R"("00000028:00000010:0001")", R"("00000028:00000010:0001")"));
  EXPECT_LT(snapshot, first);
  EXPECT_LT(first, second);
  EXPECT_LT(second, next_commit);
  EXPECT_LT(next_commit, next_file);
}

TEST(sqlserver_changes, keep_the_order_of_a_transaction_over_log_files) {
  constexpr sqlserver_lsn k_commit{0x30, 0x10, 1};
  const auto at_change = [&](std::uint32_t file, std::uint32_t block, std::uint16_t slot) {
    return sqlserver_sequence(k_commit, sqlserver_lsn{file, block, slot}).value();
  };
  EXPECT_LT(at_change(0x2F, 0xFFFFFF, 9), at_change(0x30, 0, 1));
  EXPECT_LT(at_change(0x22, 1, 1), at_change(0x23, 0, 0));
  EXPECT_LT(at_change(0x20, 5, 5), at_change(0x22, 0, 0));
  EXPECT_EQ(at_change(0x20, 5, 5), at_change(0x21, 6, 6)) << "too far back: the last one counts";
  EXPECT_LT(sqlserver_sequence(k_commit, std::nullopt).value(), at_change(0x01, 0, 0));
  EXPECT_FALSE(sqlserver_sequence(k_commit, sqlserver_lsn{0x30, 0x10000000, 0}));
}

TEST(sqlserver_changes, say_what_is_wrong_with_a_position) {
  for (const char* lsn :
       {R"("27:758:5")", R"("00000027:00000758:0005:1")", R"("0000002700000758:0005x")", R"("")"}) {
    EXPECT_EQ(read("c", sqlserver(lsn, "null")).verdict().substr(0, 35),
              "sequence_invalid /source/commit_lsn")
        << lsn;
  }
  EXPECT_EQ(read("c", sqlserver("null", "null")).verdict().substr(0, 32), "missing_field /source/commit_lsn");
}

std::string oracle(const std::string& snapshot, const std::string& scn, const std::string& commit) {
  return R"("connector":"oracle","snapshot":")" + snapshot +
         R"(","sequence":null,"schema":"SHOP","table":"T","txId":"02000a0038070000","scn":)" + scn +
         R"(,"commit_scn":)" + commit +
         R"(,"lcr_position":null,"rs_id":"0x000009.00026d2c.0010","ssn":1,"redo_thread":1)";
}

TEST(oracle_changes, are_in_the_order_of_commits) {
  const sequence before = at("c", oracle("false", "\"2122100\"", "\"2122185\""));
  const sequence snapshot = at("r", oracle("true", "\"2122185\"", "null"));
  // It began before the snapshot, and is not in it.
  const sequence after = at("u", oracle("false", "\"2122000\"", "\"2122190\""));
  const sequence same_transaction = at("u", oracle("false", "\"2122001\"", "\"2122190\""));
  EXPECT_LT(before, snapshot);
  EXPECT_LT(snapshot, after);
  EXPECT_LT(after, same_transaction);
  EXPECT_EQ(read("u", oracle("false", "\"2122000\"", "null")).verdict().substr(0, 32),
            "missing_field /source/commit_scn");
}

TEST(mongodb_changes, are_in_the_order_of_their_partition) {
  const std::string source =
      R"("connector":"mongodb","snapshot":"false","sequence":null,"collection":"t","ord":31,)"
      R"("lsid":null,"txnNumber":null,"wallTime":1767225600001)";
  const decoded e = read("c", source, R"("{\"_id\": {\"$oid\": \"5f\"},\"n\": \"q\\\"\"}")");
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->payload, R"({"_id": {"$oid": "5f"},"n": "q\""})");
  EXPECT_EQ(e->sequence, seq(0));
  EXPECT_TRUE(e->has_sequence);
  EXPECT_EQ(read("d", source, "null").verdict(), "tombstone");
  // An update that brings what changed alone, as capture.mode: change_streams does.
  EXPECT_EQ(read("u", source, "null").verdict().substr(0, 20), "missing_field /after");
  EXPECT_EQ(read("c", source, R"("[]")").verdict().substr(0, 17), "wrong_type /after");
  EXPECT_EQ(read("c", source, R"("{")").verdict().substr(0, 19), "invalid_json /after");
  decode_rules part = cdc_rules();
  part.payload_from = "/n";
  const std::string document = R"("{\"_id\": 2,\"n\": 5}")";
  EXPECT_EQ((decoded {
              part, {
                R"({"id":"2"})", change("c", source, document), {}, std::nullopt
              }
            } -> payload),
            "5");
}

TEST(other_connectors, are_refused_by_name_and_taken_by_their_partition) {
  for (const std::string name : {"db2", "vitess", "informix", "spanner", "cassandra", "cockroachdb"}) {
    const std::string source =
        R"("connector":")" + name + R"(","snapshot":"false","change_lsn":"1","commit_lsn":"2")";
    EXPECT_EQ(read("c", source).verdict().substr(0, 19 + name.size()), "connector_unknown " + name + "@");
    const decoded e{cdc_rules(change_order::partition),
                    {R"({"id":1})", change("c", source), {}, std::nullopt}};
    EXPECT_EQ(e.verdict(), "event");
    EXPECT_EQ(e->sequence, seq(0));
  }
}

TEST(other_connectors, are_refused_by_name_whatever_positions_they_have) {
  EXPECT_EQ(
      read("c", R"("connector":"yugabytedb","lsn":1,"sequence":"[\"1\",\"2\"]")").verdict().substr(0, 28),
      "connector_unknown yugabytedb");
  EXPECT_EQ(read("c", R"("connector":"yugabytedb","lsn":"1:4::0:0","sequence":"[null,\"1:4::0:0\"]")")
                .verdict()
                .substr(0, 28),
            "connector_unknown yugabytedb");
  EXPECT_EQ(at("c", R"("connector":"postgresql","lsn":1,"sequence":"[\"1\",\"2\"]")"), (sequence{1, 1}));
  EXPECT_EQ(at("c", R"("connector":null,"lsn":1,"sequence":"[\"1\",\"2\"]")"), (sequence{1, 1}));
}

TEST(changes_without_a_connector, are_refused_by_what_they_name) {
  const std::string cockroach =
      R"("changefeed_sink":"kafka","cluster_id":"585e6512","database_name":"shop","job_id":"1","node_id":"1",)"
      R"("origin":"cockroachdb","primary_keys":["id"],"table_name":"t",)"
      R"("ts_hlc":"1745527444910044000.0000000000","ts_ns":1745527444910044000)";
  EXPECT_EQ(read("c", cockroach).verdict().substr(0, 29), "connector_unknown cockroachdb");
  EXPECT_EQ(read("c", R"("table":"t")").verdict().substr(0, 36), "connector_unknown /source/connector@");
  const auto bare = [](const std::string& value) {
    return decoded{cdc_rules(), {R"({"id":1})", value, {}, std::nullopt}}.verdict();
  };
  EXPECT_EQ(bare(R"({"before":null,"after":{"id":1},"op":"c"})").substr(0, 36),
            "connector_unknown /source/connector@")
      << "as Flink's debezium-json";
  EXPECT_EQ(bare(R"({"schema":{},"payload":{"before":null,"after":{"id":1},"op":"c"}})").substr(0, 44),
            "connector_unknown /payload/source/connector@");
  const decoded last{cdc_rules(change_order::partition),
                     {R"({"id":1})", R"({"after":{"id":1},"op":"c"})", {}, std::nullopt}};
  EXPECT_EQ(last.verdict(), "event");
}

TEST(ticdc_changes, are_in_the_order_of_commits) {
  const auto ticdc = [](const std::string& commit) {
    return R"("connector":"TiCDC","snapshot":"false","table":"t","server_id":0,"gtid":null,"file":"","pos":0,"row":0,)"
           R"("thread":0,"query":null,"commit_ts":)" +
           commit + R"(,"cluster_id":"default")";
  };
  EXPECT_EQ(at("c", ticdc("446032416497041412")), seq(446032416497041412));
  EXPECT_LT(at("c", ticdc("446032416497041412")), at("d", ticdc("446032416497041413")));
  EXPECT_EQ(read("u", ticdc("null")).verdict().substr(0, 31), "missing_field /source/commit_ts");
  EXPECT_EQ(read("m", ticdc("1"))->kind, decoded_kind::ignored) << "how far the changefeed is";
}

TEST(debezium_changes, pass_over_heartbeats_and_changes_of_the_schema) {
  const auto kind_of = [](const std::string& key, const std::string& value) {
    return decoded {
      cdc_rules(), {
        key, value, {}, std::nullopt
      }
      } -> kind;
  };
  const std::string beat = R"({"ts_ms":1767225600260})";
  EXPECT_EQ(kind_of(R"({"serverName":"shop"})", beat), decoded_kind::ignored);
  EXPECT_EQ(
      kind_of(R"({"schema":{},"payload":{"serverName":"shop"}})", R"({"schema":{},"payload":)" + beat + "}"),
      decoded_kind::ignored);
  EXPECT_EQ(kind_of(R"({"id":1})", beat), decoded_kind::malformed);
  EXPECT_EQ(
      kind_of(R"({"databaseName":"shop"})",
              R"({"source":{"connector":"mysql"},"databaseName":"shop","ddl":"ALTER TABLE t ADD c INT"})"),
      decoded_kind::ignored);
}

TEST(other_connectors, fill_no_memory_with_their_names) {
  const topic_partition where{"t", partition_id{0}};
  decoder d{cdc_rules()};
  decoded_batch batch;
  for (int i = 0; i < 100; ++i) {
    const std::string value = change("c", R"("connector":"made-up-)" + std::to_string(i) + "\"");
    record r;
    r.where = &where;
    r.key = "7";
    r.value = value;
    d.decode({&r, 1}, batch);
    ASSERT_EQ(batch.events.size(), 1U);
    EXPECT_EQ(batch.events[0].malformed.pointer,
              i < 32 ? "made-up-" + std::to_string(i) : "/source/connector");
  }
}

TEST(ydb_debezium_json, is_read_beside_the_other_format) {
  decode_rules rules;
  rules.envelope.format = envelope_format::ydb_changefeed;
  rules.ids = id_kind::none;
  const auto from = [&](const std::string& payload) {
    return decoded{rules, {R"({"payload":{"id":3}})", R"({"payload":)" + payload + "}", {}, std::nullopt}};
  };
  const std::string source =
      R"("source":{"connector":"ydb","version":"1.0.0","ts_ms":1670792500001,"step":1670792500001,"txId":562949953607170,"snapshot":false})";
  const decoded e = from(R"({"op":"u","before":{"a":0},"after":{"a":3},)" + source + "}");
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->aggregate, R"({"id":3})");
  EXPECT_EQ(e->payload, R"({"a":3})");
  EXPECT_EQ(e->sequence, seq(1670792500001, 562949953607170));
  EXPECT_EQ(e->type, "u");
  EXPECT_EQ(from(R"({"op":"d","before":{"a":3},)" + source + "}").verdict(), "tombstone");
  EXPECT_EQ(from(R"({"op":"u",)" + source + "}").verdict().substr(0, 28), "missing_field /payload/after");
}

}  // namespace
}  // namespace ratchet
