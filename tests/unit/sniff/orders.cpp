// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What orders events and names them, in records as producers write them: what `ratchet sniff` makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "unit/sniff/sniffed.hpp"

namespace ratchet::sniff {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct shown {
  std::string text;
  stream_config stream;
};

/// The report on 63 records of a topic, nine of each of seven aggregates, and the config that it proposes.
shown look_at_records(const std::function<std::string(int)>& value, bool keyed = true) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 63; ++i) {
    sniffed_record r;
    r.where = {"t", partition_id{0}};
    r.offset = i;
    r.time = timestamp{std::chrono::milliseconds{1'767'225'600'000 + i * 1'000}};
    if (keyed) r.key = "k" + std::to_string(i % 7);
    r.value = value(i);
    records.push_back(std::move(r));
  }
  const std::string text = report(records, "t");
  return {text, stream_in(text)};
}

std::string second_of(int i) {
  return "2026-01-01T00:" + digits(i / 60, 2) + ":" + digits(i % 60, 2);
}

TEST(sniffed_order, is_of_every_kind_that_a_config_can_name) {
  struct kind {
    sequence_kind as;
    std::string field;
    std::function<std::string(int)> text;
  };
  const std::vector<kind> kinds = {
      {sequence_kind::time, "updatedAt", [](int i) { return second_of(i) + "Z"; }},
      {sequence_kind::text, "modified", [](int i) { return second_of(i) + ".000000"; }},
      {sequence_kind::lsn, "lsn", [](int i) { return "0/16B374" + digits(i + 10, 2); }},
      {sequence_kind::lsn, "start", [](int i) { return "00000027:00000758:00" + digits(i + 10, 2); }},
      {sequence_kind::hlc, "updated",
       [](int i) { return "17672256000000000" + digits(i, 2) + ".0000000001"; }},
      {sequence_kind::ulid, "rev", [](int i) { return "01HZY3E8T0ABCDEFGHJKMNPQ" + digits(i, 2); }},
      {sequence_kind::uuidv7, "version", [](int i) { return "018f2b7c-1234-7abc-89ab-" + digits(i, 12); }},
      {sequence_kind::integer, "seq",
       [](int i) { return "495903382714902566085596925383610957" + digits(i, 2); }},
      {sequence_kind::decimal, "version", [](int i) { return std::to_string(i + 1) + ".0"; }},
  };
  for (const kind& k : kinds) {
    const shown s =
        look_at_records([&](int i) { return R"({")" + k.field + R"(":")" + k.text(i) + R"("})"; });
    EXPECT_EQ(s.stream.envelope.sequence, "/" + k.field) << s.text;
    EXPECT_EQ(s.stream.envelope.sequence_as, k.as) << s.text;
    EXPECT_EQ(s.stream.order, order::latest) << s.text;
  }
}

TEST(sniffed_order, is_no_number_that_grows_by_chance) {
  const shown s = look_at_records(
      [](int i) { return R"({"amount":)" + std::to_string(i * 3) + R"(,"currency":"EUR"})"; });
  EXPECT_EQ(s.stream.envelope.sequence, "offset");
  EXPECT_THAT(s.text, HasSubstr("/amount grows with each event of an aggregate, but its name does not say"));
}

TEST(sniffed_order, is_no_version_of_something_else) {
  const shown s =
      look_at_records([](int i) { return R"({"apiVersion":3,"revision":)" + std::to_string(i) + "}"; });
  EXPECT_EQ(s.stream.envelope.sequence, "/revision");
}

TEST(sniffed_order, of_transactions_lets_the_later_change_win) {
  const shown s = look_at_records([](int i) {
    return R"({"type":")" + std::string{i % 9 == 8 ? "delete" : "update"} + R"(","xid":)" +
           std::to_string(8000 + i / 2) + R"(,"data":{"id":)" + std::to_string(i % 7) + "}}";
  });
  EXPECT_EQ(s.stream.envelope.sequence, "/xid") << s.text;
  EXPECT_EQ(s.stream.ties, ties::later);
  EXPECT_THAT(s.stream.envelope.deletes.types, ElementsAre("delete"))
      << "the words of a database for changes of a row";
}

TEST(sniffed_order, of_several_tenants_counts_within_each) {
  const shown s = look_at_records(
      [](int i) {
        return R"({"tenantId":"t)" + std::to_string(i % 3) + R"(","orderNo":)" + std::to_string(i / 3 % 7) +
               R"(,"version":)" + std::to_string(i / 21 + 1) + "}";
      },
      false);
  EXPECT_THAT(s.text, HasSubstr("aggregate: [/tenantId, /orderNo]"));
  EXPECT_EQ(s.stream.envelope.sequence, "/version");
}

TEST(sniffed_ids, are_the_events_own_and_of_nothing_that_events_share) {
  const auto uuid = [](int i) { return "9a9a80fd-ea7b-4bf5-9eb5-" + digits(i, 12); };
  const shown webhook = look_at_records([&](int i) {
    return R"({"id":"evt_)" + digits(i, 6) + R"(","type":"customer.updated","request":{"idempotency_key":")" +
           uuid(i) + R"("}})";
  });
  EXPECT_EQ(webhook.stream.envelope.event_id, "/id") << webhook.text;
  const shown tracked = look_at_records([&](int i) {
    return R"({"anonymousId":")" + uuid(i) + R"(","messageId":"ajs-)" + digits(i, 6) + R"(","userId":"u"})";
  });
  EXPECT_EQ(tracked.stream.envelope.event_id, "/messageId") << tracked.text;
  const shown change = look_at_records(
      [](int i) { return R"({"transaction-id":)" + std::to_string(9000 + i) + R"(,"data":{"n":1}})"; });
  EXPECT_EQ(change.stream.envelope.event_id, "") << "rows of one transaction share it" << change.text;
}

TEST(sniffed_ids, may_be_a_place_in_a_transaction) {
  const shown s = look_at_records([](int i) {
    return R"({"transactionKey":"k)" + digits(i / 3, 6) + R"(","sequenceNumber":)" +
           std::to_string(i % 3 + 1) + "}";
  });
  EXPECT_THAT(s.text, HasSubstr("event_id: [/transactionKey, /sequenceNumber]"));
}

TEST(sniffed_aggregates, are_no_ids_of_events) {
  const shown s = look_at_records(
      [](int i) {
        return R"({"eventID":"9a9a80fd-ea7b-4bf5-9eb5-)" + digits(i, 12) +
               R"(","dynamodb":{"Keys":{"id":{"S":"k)" + std::to_string(i % 7) + R"("}}}})";
      },
      false);
  EXPECT_EQ(s.stream.envelope.aggregate, "/dynamodb/Keys/id/S") << s.text;
}

TEST(sniffed_aggregates, may_stand_alone_in_a_list) {
  const shown s = look_at_records(
      [](int i) {
        return R"({"payload":{"header":{"recordIds":["001)" + std::to_string(i % 7) + R"("],"changeType":")" +
               (i % 9 == 8 ? "DELETE" : "UPDATE") + R"(","transactionKey":"k)" + digits(i, 4) +
               R"(","sequenceNumber":1}}})";
      },
      false);
  EXPECT_EQ(s.stream.envelope.aggregate, "/payload/header/recordIds/0") << s.text;
  EXPECT_THAT(s.stream.envelope.deletes.types, ElementsAre("DELETE"));
}

TEST(sniffed_changes, with_a_schema_keep_the_payload) {
  const shown s = look_at_records([](int i) {
    return R"({"schema":{"type":"struct","version":1},"payload":{"id":)" + std::to_string(i % 7) +
           R"(,"modified":)" + std::to_string(1'767'225'600'000 + i * 1'000) + "}}";
  });
  EXPECT_THAT(s.text, HasSubstr("reducer: {kind: replace, from: /payload}"));
  EXPECT_EQ(s.stream.envelope.sequence, "/payload/modified");
  EXPECT_EQ(s.stream.envelope.time, "/payload/modified");
  EXPECT_EQ(s.stream.envelope.type, "") << "that of the schema is none";
}

TEST(sniffed_times, are_of_the_event_and_in_any_spelling) {
  const shown s = look_at_records([](int i) {
    return R"({"created_at":"2026-01-01T00:00:00Z","updated_at":")" + second_of(i) + R"(Z"})";
  });
  EXPECT_EQ(s.stream.envelope.time, "/updated_at") << s.text;
  const shown naive = look_at_records([](int i) { return R"({"op_ts":")" + second_of(i) + R"("})"; });
  EXPECT_EQ(naive.stream.envelope.time, "/op_ts");
  EXPECT_THAT(naive.text, HasSubstr("where it names no zone, it is taken for UTC"));
}

TEST(sniffed_changes, of_canal_are_the_rows_of_each_record) {
  const shown s = look_at_records(
      [](int i) {
        return R"({"data":[{"id":")" + std::to_string(i % 7) +
               R"(","n":"x"}],"database":"d","es":1767225600000,"id":1,"isDdl":false,"pkNames":["id"],)" +
               R"("sqlType":{"id":4},"table":"c","type":"UPDATE"})";
      },
      false);
  EXPECT_EQ(s.stream.envelope.each.pointer, "/data") << s.text;
  EXPECT_EQ(s.stream.envelope.aggregate, "/id");
  EXPECT_EQ(s.stream.envelope.sequence, "offset");
}

}  // namespace
}  // namespace ratchet::sniff
