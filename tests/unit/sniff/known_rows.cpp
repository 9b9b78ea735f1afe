// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Row changes in forms of their producers' own: the suggested config keeps every row as its table has it, or
// there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode/envelope_preset.hpp"
#include "sniff/config_share.hpp"
#include "unit/sniff/sniffed.hpp"

namespace ratchet::sniff {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct suggested {
  std::string text;
  stream_config stream;
  config_share share;  ///< what the config makes of the records themselves
};

suggested suggested_of(const std::vector<sniffed_record>& records, const std::string& topic = "orders.v1") {
  suggested out{report(records, topic), {}, {}};
  out.stream = stream_in(out.text);
  decode_rules rules;
  rules.envelope = out.stream.envelope;
  rules.order = out.stream.order;
  rules.ids = out.stream.dedup.ids;
  rules.payload_from = out.stream.reducer.from;
  rules.types = out.stream.types;
  out.share = share_of("s", rules, records);
  return out;
}

/// A change of a table by Canal, of as many rows as `data` has.
std::string canal(const std::string& type, const std::string& data, const std::string& more = "",
                  const std::string& keys = R"(["id"])") {
  return R"({"data":)" + data + R"(,"database":"shop","es":1767225600000,"id":5,"isDdl":)" +
         (data == "null" ? "true" : "false") + R"(,"old":null,"pkNames":)" + keys +
         R"(,"table":"customers","ts":1767225600100,"type":")" + type + "\"" + more + "}";
}
const std::string k_rows = R"([{"id":"1","name":"a"},{"id":"2","name":"b"}])";

TEST(sniffed_canal, takes_every_row_of_a_change_by_its_primary_key) {
  const suggested s = suggested_of(numbered({record_of(std::nullopt, canal("INSERT", k_rows)),
                                             record_of(std::nullopt, canal("UPDATE", R"([{"id":"1"}])")),
                                             record_of(std::nullopt, canal("ALTER", "null")),
                                             record_of(std::nullopt, canal("DELETE", R"([{"id":"2"}])"))}));
  EXPECT_THAT(s.text, HasSubstr("look like row changes of Canal"));
  EXPECT_EQ(s.stream.envelope.each.pointer, "/data") << s.text;
  EXPECT_EQ(s.stream.envelope.aggregate, "/id") << "and not the number of the batch, beside the rows";
  EXPECT_THAT(s.stream.envelope.aggregate_more, IsEmpty());
  EXPECT_EQ(s.stream.envelope.sequence, "offset");
  EXPECT_EQ(s.stream.envelope.type, "record:/type");
  EXPECT_THAT(s.stream.envelope.deletes.types, ElementsAre("DELETE"));
  EXPECT_EQ(s.stream.order, order::latest);
  EXPECT_EQ(s.stream.dedup.ids, id_kind::none);
  EXPECT_EQ(s.share.events, 3U);
  EXPECT_EQ(s.share.deletions, 1U);
  EXPECT_EQ(s.share.ignored, 1U) << "a change of the schema";
  EXPECT_EQ(s.share.rejected, 0U);
}

TEST(sniffed_canal, names_rows_by_all_columns_of_their_key_and_their_table) {
  const std::string other = canal("INSERT", R"([{"a/b":"1","c":"2"}])", "", R"(["a/b","c"])");
  std::string table = other;
  table.replace(table.find("customers"), 9, "orders");
  const suggested s =
      suggested_of(numbered({record_of(std::nullopt, other), record_of(std::nullopt, table)}));
  EXPECT_EQ(s.stream.envelope.aggregate, "record:/database") << s.text;
  EXPECT_THAT(s.stream.envelope.aggregate_more, ElementsAre("record:/table", "/a~1b", "/c"));
  EXPECT_EQ(s.share.rejected, 0U);
  EXPECT_EQ(s.share.events, 2U);
}

TEST(sniffed_canal, of_tables_with_different_keys_has_no_config) {
  const std::string text =
      report(numbered({record_of(std::nullopt, canal("INSERT", k_rows)),
                       record_of(std::nullopt, canal("INSERT", R"([{"no":"1"}])", "", R"(["no"])"))}));
  EXPECT_THAT(text, HasSubstr("no config is known that is right for these row changes"));
  EXPECT_THAT(text, HasSubstr("canal.mq.dynamicTopic"));
  EXPECT_THAT(text, Not(HasSubstr("streams:")));
}

TEST(sniffed_canal, of_tidb_goes_by_its_commits) {
  const auto change = [](int commit) {
    return record_of(std::nullopt, canal("UPDATE", R"([{"id":"1"}])",
                                         R"(,"_tidb":{"commitTs":)" + std::to_string(commit) + "}"));
  };
  for (const char* topic : {"orders.v1", ""}) {
    std::vector<sniffed_record> records = numbered({change(446), change(447)});
    for (sniffed_record& r : records) r.where.topic = topic;
    const suggested s = suggested_of(records, topic);
    EXPECT_EQ(s.stream.envelope.sequence, "record:/_tidb/commitTs") << s.text;
    EXPECT_EQ(s.stream.ties, ties::later);
    EXPECT_EQ(s.share.rejected, 0U);
  }
}

TEST(sniffed_canal, in_the_form_of_flink_is_known_too) {
  const suggested s = suggested_of(
      numbered({record_of(std::nullopt, R"({"data":[{"id":1,"n":"a"}],"type":"INSERT"})"),
                record_of(std::nullopt, R"({"data":[{"id":1,"n":"a"},{"id":2}],"type":"DELETE"})")}));
  EXPECT_EQ(s.stream.envelope.each.pointer, "/data") << s.text;
  EXPECT_EQ(s.stream.envelope.aggregate, "/id");
  EXPECT_THAT(s.text, HasSubstr("was taken for it by its name"));
  EXPECT_EQ(s.share.deletions, 2U);
}

TEST(sniffed_canal, without_a_topic_says_what_orders_it_or_has_no_config) {
  const auto of_file = [](std::vector<sniffed_record> records) {
    for (sniffed_record& r : records) r.where.topic.clear();
    return report(numbered(std::move(records)), "");
  };
  const std::string timed = of_file({record_of(std::nullopt, canal("INSERT", k_rows))});
  EXPECT_EQ(stream_in(timed).envelope.sequence, "record:/es") << timed;
  EXPECT_EQ(stream_in(timed).ties, ties::later);
  EXPECT_THAT(timed, HasSubstr("ordered by the time of the database (es)"));
  EXPECT_THAT(of_file({record_of(std::nullopt, R"({"data":[{"id":1}],"type":"INSERT"})")}),
              HasSubstr("nothing in these lines orders the changes of a row"));
}

std::string maxwell(const std::string& type, int xid, const std::string& data) {
  return R"({"database":"shop","table":"t","type":")" + type + R"(","ts":1767225600,"xid":)" +
         std::to_string(xid) + R"(,"commit":true,"data":)" + data + "}";
}
const std::string k_key = R"({"database":"shop","table":"t","pk.id":1})";

/// A server that is started again counts its transactions anew: the number would make later changes stale.
TEST(sniffed_maxwell, keeps_the_row_of_the_last_change_by_the_key_of_its_records) {
  const suggested s = suggested_of(numbered(
      {record_of(k_key, maxwell("insert", 900, R"({"id":1,"n":"a"})")),
       record_of(k_key, maxwell("update", 901, R"({"id":1,"n":"b"})")),
       record_of(k_key, maxwell("delete", 3, R"({"id":1,"n":"b"})")),
       record_of(std::nullopt,
                 R"({"type":"table-alter","database":"shop","table":"t","ts":1767225600,"sql":"x"})")}));
  EXPECT_THAT(s.text, HasSubstr("look like row changes of Maxwell"));
  EXPECT_EQ(s.stream.envelope.aggregate, "key") << s.text;
  EXPECT_EQ(s.stream.envelope.sequence, "offset");
  EXPECT_EQ(s.stream.envelope.time_unit, time_unit::seconds);
  EXPECT_EQ(s.stream.reducer.from, "/data");
  EXPECT_EQ(s.stream.reducer.kind, reducer_config::kind_of::replace);
  EXPECT_EQ(s.share.events, 2U);
  EXPECT_EQ(s.share.deletions, 1U);
  EXPECT_EQ(s.share.ignored, 1U);
  EXPECT_EQ(s.share.rejected, 0U);
}

TEST(sniffed_maxwell, in_a_file_without_keys_names_the_row_by_its_data) {
  std::vector<sniffed_record> records =
      numbered({record_of(std::nullopt, maxwell("insert", 1, R"({"id":1})")),
                record_of(std::nullopt, maxwell("update", 2, R"({"id":1})"))});
  for (sniffed_record& r : records) r.where.topic.clear();
  const suggested s = suggested_of(records, "");
  EXPECT_EQ(s.stream.envelope.aggregate, "/data/id") << s.text;
  EXPECT_EQ(s.stream.envelope.sequence, "/xid");
  EXPECT_THAT(s.text, HasSubstr("begins at 1 when the database server is started again"));
}

/// Of MongoDB's own connector; the key is a resume token.
sniffed_record mongodb(const std::string& operation, int number, const std::string& document,
                       const std::string& id = R"({"$oid":"65a0000000000000000000aa"})",
                       const std::string& time = R"({"$timestamp":{"t":1767225600,"i":)") {
  return record_of(R"({"_id":{"_data":"8265A)" + std::to_string(number) + R"("}})",
                   R"({"_id":{"_data":"8265A)" + std::to_string(number) + R"("},"operationType":")" +
                       operation + R"(","clusterTime":)" + time +
                       (time.back() == ':' ? std::to_string(number) + "}}" : "") +
                       R"(,"wallTime":{"$date":1767225600000})" +
                       (document.empty() ? "" : R"(,"fullDocument":)" + document) +
                       R"(,"ns":{"db":"d","coll":"t"},"documentKey":{"_id":)" + id + "}}");
}

TEST(sniffed_mongodb, orders_documents_by_cluster_time) {
  const suggested s = suggested_of(numbered(
      {mongodb("insert", 1, R"({"n":1})"), mongodb("update", 2, R"({"n":2})"), mongodb("delete", 3, "")}));
  EXPECT_THAT(s.text, HasSubstr("look like change events of MongoDB"));
  EXPECT_EQ(s.stream.envelope.aggregate, "/documentKey/_id/$oid") << s.text;
  EXPECT_EQ(s.stream.envelope.epoch, "/clusterTime/$timestamp/t");
  EXPECT_EQ(s.stream.envelope.sequence, "/clusterTime/$timestamp/i");
  EXPECT_EQ(s.stream.ties, ties::later) << "a transaction has one time";
  EXPECT_EQ(s.stream.reducer.from, "/fullDocument");
  EXPECT_EQ(s.stream.envelope.time, "/wallTime/$date");
  EXPECT_EQ(s.share.events, 2U);
  EXPECT_EQ(s.share.deletions, 1U);
  EXPECT_EQ(s.share.rejected, 0U);
}

TEST(sniffed_mongodb, tells_of_changes_that_are_not_whole) {
  const std::string text = report(
      numbered({mongodb("insert", 1, R"({"n":1})"), mongodb("update", 2, ""), mongodb("update", 3, "null")}));
  EXPECT_THAT(text, HasSubstr("1 change did not bring the whole document"));
  EXPECT_THAT(text, HasSubstr("change.stream.full.document=updateLookup"));
  EXPECT_EQ(stream_in(text).reducer.kind, reducer_config::kind_of::replace);
}

TEST(sniffed_mongodb, tells_collections_apart_and_takes_null_for_a_deletion) {
  sniffed_record other = mongodb("update", 2, "null");
  other.value->replace(other.value->find(R"("coll":"t")"), 10, R"("coll":"u")");
  const suggested s = suggested_of(numbered({mongodb("insert", 1, R"({"n":1})"), other}));
  EXPECT_EQ(s.stream.envelope.aggregate, "/ns/db") << s.text;
  EXPECT_THAT(s.stream.envelope.aggregate_more, ElementsAre("/ns/coll", "/documentKey/_id/$oid"));
  EXPECT_EQ(s.share.deletions, 1U);
  EXPECT_EQ(s.share.rejected, 0U);
}

/// One odd line among others, which has the members at another place.
TEST(sniffed_mongodb, is_not_taken_for_granted_by_a_part_of_its_members) {
  const std::string text = report(numbered({record_of(
      std::nullopt,
      R"({"payload":{"operationType":"insert","documentKey":"x"},"documentKey":{"_id":"a"},"clusterTime":{"$timestamp":{"t":1,"i":1}}})")}));
  EXPECT_THAT(text, Not(HasSubstr("streams:")));
}

TEST(sniffed_mongodb, has_no_config_where_nothing_names_or_orders_documents) {
  const std::string no_time = report(numbered(
      {mongodb("insert", 1, "{}", "7", "1767225600"), mongodb("insert", 2, "{}", "8", "1767225600")}));
  EXPECT_THAT(no_time, HasSubstr("nothing here orders the changes of a document"));
  EXPECT_THAT(no_time, Not(HasSubstr("streams:")));
  const std::string schema = report(numbered({record_of(
      std::nullopt,
      R"({"schema":{},"payload":{"_id":"{}","operationType":"insert","clusterTime":"{}","documentKey":"{}"}})")}));
  EXPECT_THAT(schema, HasSubstr("output.format.value=json"));
  EXPECT_THAT(schema, Not(HasSubstr("streams:")));
  const std::string mixed = report(numbered({mongodb("insert", 1, "{}", "7"), mongodb("insert", 2, "{}")}));
  EXPECT_THAT(mixed, HasSubstr("no place names the document of a change"));
  EXPECT_THAT(mixed, Not(HasSubstr("streams:")));
}

}  // namespace
}  // namespace ratchet::sniff
