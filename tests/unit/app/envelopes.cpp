// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Streams of each format, from their records to the state on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "app/apply_files.hpp"
#include "app/engine.hpp"
#include "control/requests.hpp"
#include "decode/event_id_text.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet {
namespace {

using ::testing::HasSubstr;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// A record as `kcat -C -J` prints it.
std::string kcat(int offset, const std::string& key, const std::string& value,
                 const std::string& headers = "") {
  return R"({"topic":"t","partition":0,"offset":)" + std::to_string(offset) +
         R"(,"tstype":"create","ts":1767225600000,)" +
         (headers.empty() ? "" : "\"headers\":[" + headers + "],") + R"("key":)" +
         (key.empty() ? "null" : quoted(key)) + R"(,"payload":)" + (value.empty() ? "null" : quoted(value)) +
         "}\n";
}

/// A state directory that is fed with one stream.
class stream_of : public ::testing::Test {
 protected:
  stream_of() {
    settings_.state.path = root_ / "state";
    settings_.kafka.group = "g";
    stream_config s;
    s.name = "payments";
    s.topics = {"t"};
    s.start = start_position::earliest;
    settings_.streams = {s};
    settings_.memory_limit = std::uint64_t{64} << 20;
  }
  ~stream_of() override { engine_.reset(); }
  stream_config& stream() { return settings_.streams[0]; }
  void feed(const std::string& content, bool records) {
    if (!engine_) {
      auto made = engine::open(settings_, {}, {});
      ASSERT_TRUE(made) << to_text(made.error());
      engine_ = std::move(*made);
    }
    const std::filesystem::path path = root_ / "in";
    std::ofstream{path, std::ios::binary} << content;
    apply_request request;
    request.files = {path.string()};
    request.records = records;
    const auto failed = apply_files(*engine_, request, stop_);
    ASSERT_FALSE(failed) << to_text(*failed);
  }
  const counters& counted() { return engine_->tasks()[0]->state.counters; }
  std::uint64_t let_through() { return counted().applied + counted().superseded; }
  /// What `ratchet get --output json` or `explain` answers; the failure's text where it fails.
  std::string ask(read_request request) {
    request.stream = "payments";
    request.json = true;
    const auto view = engine_->state().view();
    const std::vector<std::string> streams{"payments"};
    std::string out;
    const auto done = answer_request({*view.value(), streams, nullptr}, request, [&](std::string_view piece) {
      out += piece;
      return true;
    });
    return done ? out : to_text(done.error());
  }
  std::string get(const std::string& aggregate) {
    read_request request;
    request.kind = read_request::kind_of::get;
    request.aggregate = aggregate;
    return ask(request);
  }
  std::string explain(const std::string& event) {
    read_request request;
    request.kind = read_request::kind_of::explain;
    request.event = event;
    return ask(request);
  }
  std::string read(const std::string& aggregate) {
    const auto found = engine_->read("payments", aggregate);
    return found ? found.value().value.value_or("deleted") : "nothing";
  }

 private:
  config settings_;
  support::temporary_directory files_;
  const std::filesystem::path& root_{files_.path()};
  std::atomic<bool> stop_{false};
  std::unique_ptr<engine> engine_;
};

std::string cloudevent(const char* source, const char* id, int sequence, const char* data) {
  return std::string{R"({"specversion":"1.0","type":"paid","source":")"} + source +
         R"(","subject":"p1","id":")" + id + R"(","sequence":")" + std::to_string(sequence) +
         R"(","time":"2026-01-01T00:00:00Z","data":)" + data + "}\n";
}
constexpr const char* k_first = "019b76da-a800-7000-8000-000000000001";
constexpr const char* k_second = "019b76da-a800-7000-8000-000000000002";

TEST_F(stream_of, cloudevents_is_told_by_source_and_id) {
  stream().envelope.format = envelope_format::cloudevents;
  stream().order = order::arrival;
  stream().reducer.kind = reducer_config::kind_of::merge_patch;
  feed(cloudevent("/a", k_first, 1, R"({"a":1})") + cloudevent("/b", k_first, 1, R"({"b":1})") +
           cloudevent("/a", k_second, 1, R"({"c":1})") + cloudevent("/a", k_first, 1, R"({"a":2})"),
       false);
  EXPECT_EQ(counted().applied, 3U);
  EXPECT_EQ(counted().duplicate, 1U) << "the same id of the same source";
  EXPECT_EQ(read("p1"), R"({"a":1,"b":1,"c":1})");
}

TEST_F(stream_of, cloudevents_in_both_modes_ends_with_the_newest) {
  stream().envelope.format = envelope_format::cloudevents;
  const std::string headers =
      std::string{R"("ce_specversion","1.0","ce_type","paid","ce_source","/a","ce_subject","p1",)"} +
      R"("ce_sequence","3","ce_id",")" + k_second + "\"";
  std::string one = cloudevent("/a", k_first, 2, R"({"state":"queued"})");
  one.pop_back();
  feed(kcat(0, "", one, R"("content-type","application/cloudevents+json")") +
           kcat(1, "", R"({"state":"paid"})", headers) + kcat(2, "", one),
       true);
  EXPECT_EQ(read("p1"), R"({"state":"paid"})");
  EXPECT_EQ(let_through(), 2U);
  EXPECT_EQ(counted().duplicate, 1U);
}

TEST_F(stream_of, the_outbox_applies_each_id_once) {
  stream().envelope.format = envelope_format::debezium_outbox;
  stream().order = order::arrival;
  stream().dedup.ids = id_kind::ulid;
  const char* first = R"("id","01KDVDNA00000000000000000A")";
  const char* second = R"("id","01KDVDNA00000000000000000B","eventType","paid")";
  feed(kcat(0, "p1", R"({"n":1})", first) + kcat(1, "p1", R"({"n":2})", second) +
           kcat(2, "p1", R"({"n":1})", first) + kcat(3, "p2", "{}", R"("id","no ulid")"),
       true);
  EXPECT_EQ(counted().applied + counted().superseded, 2U);
  EXPECT_EQ(counted().duplicate, 1U);
  EXPECT_EQ(counted().rejected_malformed, 1U);
  EXPECT_EQ(read("p1"), R"({"n":2})");
  feed(kcat(4, "p1", "", R"("id","01KDVDNA00000000000000000C")"), true);
  EXPECT_EQ(read("p1"), "deleted");
}

std::string change(const char* op, unsigned commit, unsigned lsn, const std::string& after) {
  return std::string{R"({"before":null,"after":)"} + after + R"(,"source":{"lsn":)" + std::to_string(lsn) +
         R"(,"sequence":"[\")" + std::to_string(commit) + R"(\",\")" + std::to_string(lsn) +
         R"(\"]"},"op":")" + op + "\"}";
}

struct rows_by_debezium : stream_of {
  rows_by_debezium() {
    stream().envelope.format = envelope_format::debezium_cdc;
    stream().dedup.ids = id_kind::none;
  }
  const std::string one{R"({"id":1})"};
};

TEST_F(rows_by_debezium, changes_of_postgresql_ends_with_the_rows_of_the_table) {
  const std::string two = R"({"id":2})";
  feed(kcat(0, one, change("r", 0, 90, R"({"v":"snapshot"})")) +
           kcat(1, two, change("r", 0, 90, R"({"v":"kept"})")) +
           kcat(2, one, change("u", 100, 110, R"({"v":"new"})")) +
           kcat(3, one, change("c", 95, 99, R"({"v":"old"})")),
       true);
  EXPECT_EQ(read(one), R"({"v":"new"})");
  EXPECT_EQ(read(two), R"({"v":"kept"})");
  EXPECT_EQ(counted().stale, 1U);
  feed(kcat(4, two, change("d", 120, 130, "null")) + kcat(5, two, "") +
           kcat(6, "", change("t", 140, 150, "null")),
       true);
  EXPECT_EQ(read(two), "deleted");
  EXPECT_EQ(counted().ignored, 2U) << "the tombstone behind the delete, and the truncation";
}

TEST_F(rows_by_debezium, changes_at_one_log_position_ends_with_the_higher_offset) {
  const std::string key = R"({"id":1})";
  const std::string first = change("u", 100, 110, R"({"v":1})");
  const std::string second = change("u", 100, 110, R"({"v":2})");
  feed(kcat(0, key, first) + kcat(1, key, second) + kcat(2, key, second), true);
  EXPECT_EQ(read(key), R"({"v":2})");
  EXPECT_EQ(counted().duplicate, 1U);
  feed(kcat(3, key, second) + kcat(4, key, change("u", 100, 110, R"({"v":3})")), true);
  EXPECT_EQ(read(key), R"({"v":3})") << "also in a step of its own";
  EXPECT_EQ(counted().duplicate, 2U);
}

/// A row of a snapshot that the connector took beside the stream.
std::string read_aside(const std::string& pair, const std::string& after) {
  return R"({"before":null,"after":)" + after +
         R"(,"source":{"connector":"postgresql","snapshot":"incremental","sequence":")" + pair +
         R"("},"op":"r"})";
}

TEST_F(rows_by_debezium, changes_and_incremental_snapshots_goes_by_the_place_in_the_stream) {
  const std::string two = R"({"id":2})";
  feed(kcat(0, one, change("u", 1100, 1200, R"({"v":"streamed"})")) +
           kcat(1, one, read_aside(R"([\"1200\",\"1250\"])", R"({"v":"read"})")) +
           kcat(2, two, read_aside(R"([\"1200\",\"1250\"])", R"({"v":"read"})")) +
           kcat(3, one, change("u", 1250, 1300, R"({"v":"later"})")) +
           kcat(4, one, read_aside(R"([\"1200\",\"1250\"])", R"({"v":"read again"})")),
       true);
  EXPECT_EQ(read(one), R"({"v":"later"})");
  EXPECT_EQ(read(two), R"({"v":"read"})");
  EXPECT_EQ(counted().stale, 1U);
  EXPECT_EQ(counted().rejected_malformed, 0U);
}

TEST_F(rows_by_debezium, changes_without_a_column_keeps_what_is_stored_of_it) {
  const auto row = [](const std::string& terms, int visits) {
    return R"({"terms":")" + terms + R"(","visits":)" + std::to_string(visits) + "}";
  };
  const std::string unknown = "__debezium_unavailable_value";
  feed(kcat(0, one, change("c", 100, 110, row("long", 1))) +
           kcat(1, one, change("u", 110, 120, row(unknown, 2))) +
           kcat(2, one, change("u", 120, 130, row(unknown, 3))),
       true);
  EXPECT_EQ(read(one), row("long", 3)) << "in one step";
  feed(kcat(3, one, change("u", 130, 140, row(unknown, 4))), true);
  EXPECT_EQ(read(one), row("long", 4)) << "in a step of its own";
  feed(kcat(4, one, change("u", 140, 150, row("longer", 5))) + kcat(5, one, change("d", 150, 160, "null")) +
           kcat(6, one, change("u", 160, 170, row(unknown, 6))),
       true);
  EXPECT_EQ(read(one), "deleted") << "nothing is stored of a row that was deleted";
  EXPECT_EQ(counted().applied + counted().superseded, 6U);
  EXPECT_EQ(counted().waiting_dead, 1U) << "and it is no row without a column";
  feed(kcat(7, one, change("u", 170, 180, row("whole", 7))), true);
  EXPECT_EQ(read(one), row("whole", 7));
}

TEST_F(rows_by_debezium, changes_without_a_column_spelt_in_another_way_goes_by_the_config) {
  stream().envelope.unavailable = "n/a";
  feed(kcat(0, one, change("c", 100, 110, R"({"v":1})")) +
           kcat(1, one, change("u", 110, 120, R"({"v":"n/a","__debezium_unavailable_value":0})")),
       true);
  EXPECT_EQ(read(one), R"({"v":1,"__debezium_unavailable_value":0})");
}

TEST_F(rows_by_debezium, changes_by_partition_ends_with_the_last_one) {
  stream().envelope.position = change_order::partition;
  const auto of_db2 = [](const char* op, const std::string& after) {
    return std::string{R"({"after":)"} + after + R"(,"source":{"connector":"db2"},"op":")" + op + "\"}";
  };
  feed(kcat(0, one, of_db2("c", R"({"v":1})")) + kcat(1, one, of_db2("u", R"({"v":2})")) +
           kcat(2, one, of_db2("u", R"({"v":2})")),
       true);
  EXPECT_EQ(read(one), R"({"v":2})");
  EXPECT_EQ(counted().duplicate, 1U);
  feed(kcat(3, one, of_db2("u", R"({"v":1})")), true);
  EXPECT_EQ(read(one), R"({"v":1})");
  feed(kcat(4, one, of_db2("d", "null")), true);
  EXPECT_EQ(read(one), "deleted");
}

TEST_F(stream_of, changes_of_ydb_goes_by_virtual_time) {
  stream().envelope.format = envelope_format::ydb_changefeed;
  stream().dedup.ids = id_kind::none;
  feed(std::string{R"({"key":[1],"update":{},"newImage":{"v":2},"ts":[20,1]})"} + "\n" +
           R"({"key":[1],"update":{},"newImage":{"v":1},"ts":[10,9]})" + "\n" + R"({"resolved":[30,0]})" +
           "\n" + R"({"key":[2],"erase":{},"ts":[20,2]})" + "\n",
       false);
  EXPECT_EQ(read("[1]"), R"({"v":2})");
  EXPECT_EQ(read("[2]"), "deleted");
  EXPECT_EQ(counted().stale, 1U);
  EXPECT_EQ(counted().ignored, 1U);
}

TEST_F(stream_of, cloudevents_is_explained_by_source_and_id) {
  stream().envelope.format = envelope_format::cloudevents;
  feed(cloudevent("/a", k_first, 1, "{}"), false);
  const std::string stored = to_text(id_of_source(id_kind::uuidv7, *parse_uuidv7(k_first), "/a"));
  EXPECT_THAT(get("p1"), HasSubstr(R"("event_id":")" + stored + "\""));
  EXPECT_THAT(explain(std::string{"/a "} + k_first), HasSubstr(R"("window":"inside")"));
  EXPECT_THAT(explain(stored), HasSubstr(R"("window":"inside")")) << "as the outputs show it";
  EXPECT_THAT(explain(std::string{"/b "} + k_first), HasSubstr("the state has nothing about event"));
  EXPECT_THAT(explain(k_first), HasSubstr("an id counts together with its source"));
  EXPECT_THAT(explain("/a x"), HasSubstr("its source with --source"));
}

TEST_F(stream_of, ulids_shows_them_as_ulids) {
  stream().envelope.format = envelope_format::debezium_outbox;
  stream().order = order::arrival;
  stream().dedup.ids = id_kind::ulid;
  feed(kcat(0, "p1", "{}", R"("id","01kdvdna00000000000000000a")"), true);
  EXPECT_THAT(get("p1"), HasSubstr(R"("event_id":"01KDVDNA00000000000000000A")"));
  EXPECT_THAT(explain("01KDVDNA00000000000000000A"), HasSubstr(R"("window":"inside")"));
  EXPECT_THAT(explain(k_first), HasSubstr("ULIDs are 26 characters"));
  EXPECT_THAT(explain("/a 01KDVDNA00000000000000000A"), HasSubstr("is not an event id"))
      << "it has no sources";
}

TEST_F(stream_of, cloudevents_with_opaque_ids_tells_sources_apart) {
  stream().envelope.format = envelope_format::cloudevents;
  stream().order = order::arrival;
  stream().dedup.ids = id_kind::opaque;
  feed(cloudevent("/a", "order 7", 1, "{}") + cloudevent("/b", "order 7", 1, "{}") +
           cloudevent("/a", "order 7", 2, "{}"),
       false);
  EXPECT_EQ(counted().applied, 2U);
  EXPECT_EQ(counted().duplicate, 1U);
  const event_id stored = id_of_source(id_kind::opaque, *hash_opaque_id("order 7"), "/a");
  EXPECT_THAT(explain("/a order 7"), HasSubstr(R"("event_id":"order 7")"));
  EXPECT_THAT(explain("/a order 7"), HasSubstr(R"("window":"inside")"));
  EXPECT_THAT(explain(to_text(id_kind::opaque, stored)), HasSubstr(R"("window":"inside")"));
  EXPECT_THAT(explain("/c order 7"), HasSubstr("the state has nothing about event order 7"));
}

TEST_F(stream_of, opaque_ids_forgets_them_by_the_time_of_their_records) {
  stream().envelope.event_id = "/id";
  stream().envelope.aggregate = "/p";
  stream().envelope.time = "/t";
  stream().order = order::arrival;
  stream().dedup = {id_kind::opaque, std::chrono::hours{1}, std::chrono::minutes{5}};
  stream().record_times = record_times::trusted;  // one record moves the floor
  const auto event = [](const char* id, const char* time) {
    return std::string{R"({"p":"p1","id":")"} + id + R"(","t":"2026-01-01T)" + time + "Z\"}\n";
  };
  feed(event("evt 1", "00:00:00") + event("evt 1", "00:59:59") + event("evt 2", "01:00:00"), false);
  EXPECT_EQ(counted().duplicate, 1U);
  EXPECT_THAT(explain("evt 1"), HasSubstr(R"("event_id":"evt 1","event_time":"2026-01-01T00:00:00.000Z")"));
  EXPECT_THAT(get("p1"), HasSubstr(R"("event_id":")" + to_text(id_kind::opaque, *hash_opaque_id("evt 2"))));
  EXPECT_THAT(explain("evt 1"), HasSubstr(R"("window":"inside")")) << "at the floor";
  feed(event("evt 3", "01:00:01"), false);
  EXPECT_THAT(explain("evt 1"), HasSubstr(R"("window":"before_floor")"));
  feed(event("evt 1", "01:00:02") + event("evt 2", "01:30:00") + event("evt 4", "00:00:00"), false);
  EXPECT_EQ(counted().applied, 4U) << "evt 1 came again later than the window";
  EXPECT_EQ(counted().duplicate, 2U);
  EXPECT_EQ(counted().rejected_too_old, 1U);
  EXPECT_THAT(explain("EVT 1"), HasSubstr("the state has nothing about event EVT 1"));
  EXPECT_THAT(explain(std::string(1025, 'x')), HasSubstr("opaque ids have 1 to 1024 bytes"));
}

}  // namespace
}  // namespace ratchet
