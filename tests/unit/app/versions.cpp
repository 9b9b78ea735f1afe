// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Streams whose versions are as producers write them, from a config's text to the state on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "app/apply_files.hpp"
#include "app/engine.hpp"
#include "control/requests.hpp"
#include "control/waiting_request.hpp"
#include "pipeline/pipeline.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A record as `kcat -C -J` prints it; a value of "null" is none.
std::string kcat(int offset, const std::string& key, const std::string& value,
                 const std::string& headers = "", const std::string& time = "1764040000000") {
  std::string quoted;
  for (const char c : value) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return R"({"topic":"t","partition":0,"offset":)" + std::to_string(offset) + R"(,"tstype":"create","ts":)" +
         time + ",\"headers\":[" + headers + "],\"key\":\"" + key + R"(","payload":)" +
         (value == "null" ? "null" : "\"" + quoted + "\"") + "}\n";
}

class versions : public ::testing::Test {
 protected:
  ~versions() override { engine_.reset(); }

  void open(const std::string& stream) {
    const std::string text = "version: 1\nkafka: {brokers: [\"localhost:1\"], group: g}\nstate: {path: " +
                             (files_.path() / "state").string() +
                             "}\nmemory_limit: 64MiB\nstreams:\n  - name: s\n" +
                             "    topics: [t]\n    start: earliest\n    reducer: {kind: replace}\n" + stream;
    auto read = parse_config(text, "f.yaml");
    ASSERT_TRUE(read) << to_text(read.error());
    auto made = engine::open(*read, {}, {});
    ASSERT_TRUE(made) << to_text(made.error());
    engine_ = std::move(*made);
  }
  void feed(const std::string& content, bool records = false) {
    const auto failed = tried(content, records);
    ASSERT_FALSE(failed) << to_text(*failed);
  }
  std::optional<problem> tried(const std::string& content, bool records) {
    const std::filesystem::path path = files_.path() / "in";
    std::ofstream{path, std::ios::binary} << content;
    apply_request request;
    request.files = {path.string()};
    request.records = records;
    return apply_files(*engine_, request, stop_);
  }
  const counters& counted() { return engine_->tasks()[0]->state.counters; }
  std::string read(const std::string& aggregate) {
    const auto found = engine_->read("s", aggregate);
    return found ? found.value().value.value_or("deleted") : "nothing";
  }
  /// An operator's decision about one event of the stream, or a number of a gap.
  waiting_answer decide(waiting_verb verb, const std::string& aggregate, sequence s) {
    pipeline way{engine_->tasks(), engine_->state(), engine_->clock()};
    const pipeline::decided one{aggregate, verb, s, {}};
    const auto answers = actor_of(way, engine_->state())("s", {&one, 1}, {"somebody", ""}, {});
    return answers ? answers.value().at(0) : throw std::runtime_error{to_text(answers.error())};
  }
  void close() { engine_.reset(); }
  /// What `scan` prints, and then the text of `explain`.
  std::string told(const std::string& aggregate) {
    const auto view = engine_->state().view();
    const std::vector<std::string> streams{"s"};
    std::string out;
    for (const auto kind : {read_request::kind_of::scan, read_request::kind_of::explain}) {
      read_request request;
      request.kind = kind;
      request.stream = "s";
      if (kind == read_request::kind_of::explain) request.aggregate = aggregate;
      const auto done =
          answer_request({*view.value(), streams, nullptr}, request, [&](std::string_view piece) {
            out += piece;
            return true;
          });
      if (!done) out += to_text(done.error());
    }
    return out;
  }

 private:
  support::temporary_directory files_;
  std::atomic<bool> stop_{false};
  std::unique_ptr<engine> engine_;
};

TEST_F(versions, are_shown_as_they_came) {
  open("    envelope: {aggregate: /id, sequence: {from: /n, as: integer}}\n    dedup: off\n");
  feed(R"({"id":"a","n":"4421584500000000017450439091","v":1})"
       "\n"
       R"({"id":"a","n":"4421584500000000017450439092","v":2})"
       "\n");
  EXPECT_THAT(told("a"), HasSubstr(R"("sequence":4421584500000000017450439092,)"));
  EXPECT_THAT(told("a"), HasSubstr("sequence 4421584500000000017450439092\n"));
}

TEST_F(versions, of_log_positions_are_shown_as_text) {
  open("    envelope: {aggregate: /id, sequence: {from: /lsn, as: lsn}}\n    dedup: off\n");
  feed(R"({"id":"a","lsn":"16/B374D848"})"
       "\n"
       R"({"id":"a","lsn":"9/FFFFFFFF"})"
       "\n");
  EXPECT_EQ(counted().stale, 1U) << "text would compare otherwise";
  EXPECT_THAT(told("a"), HasSubstr(R"("sequence":"16/B374D848",)"));
  EXPECT_THAT(told("a"), HasSubstr("sequence 16/B374D848\n"));
}

TEST_F(versions, make_a_table_of_a_compacted_topic) {
  open("    envelope: {aggregate: key}\n    dedup: off\n");
  feed(kcat(3, "sku-1", R"({"price":10})") + kcat(7, "sku-1", R"({"price":11})") +
           kcat(8, "sku-2", R"({"price":5})") + kcat(9, "sku-2", "null"),
       true);
  EXPECT_EQ(read("sku-1"), R"({"price":11})");
  EXPECT_EQ(read("sku-2"), "deleted");
  const auto refused = tried("{}\n", false);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, make_error_code(errc::usage)) << "lines of a file have no offsets";
}

TEST_F(versions, may_be_the_times_of_records) {
  open("    envelope: {aggregate: key, sequence: timestamp}\n    dedup: off\n");
  feed(kcat(0, "k", "1", "", "1764040000005") + kcat(1, "k", "2", "", "1764040000004") +
           kcat(2, "k", "3", "", "1764040000005"),
       true);
  EXPECT_EQ(read("k"), "3") << "of one time the later record";
  EXPECT_EQ(counted().stale, 1U);
}

TEST_F(versions, that_are_coarse_let_the_later_event_win) {
  open("    envelope: {aggregate: /id, sequence: /xid}\n    dedup: off\n    ties: later\n");
  feed(R"({"id":1,"xid":4001,"state":"new"})"
       "\n"
       R"({"id":1,"xid":4002,"state":"reserved"})"
       "\n"
       R"({"id":1,"xid":4002,"state":"paid"})"
       "\n");
  EXPECT_THAT(read("1"), HasSubstr("paid"));
  EXPECT_EQ(counted().duplicate, 0U);
}

TEST_F(versions, begin_again_behind_a_delete) {
  open(
      "    envelope: {aggregate: key, sequence: header:version}\n    dedup: off\n    after_delete: "
      "restart\n");
  const auto version = [](const char* n) { return std::string{R"("version",")"} + n + "\""; };
  feed(kcat(0, "cart-7", R"({"items":3})", version("4")) + kcat(1, "cart-7", "null", version("5")), true);
  EXPECT_EQ(read("cart-7"), "deleted");
  feed(kcat(2, "cart-7", R"({"items":1})", version("0")), true);
  feed(kcat(3, "cart-7", R"({"items":2})", version("1")), true);
  EXPECT_EQ(read("cart-7"), R"({"items":2})");
  EXPECT_THAT(told("cart-7"), HasSubstr(R"("sequence":[1,1],)"));
}

TEST_F(versions, below_the_first_are_told) {
  open("    envelope: {aggregate: /id, sequence: /v}\n    order: strict\n    dedup: off\n");
  feed(
      "{\"id\":\"o1\",\"v\":0}\n{\"id\":\"o1\",\"v\":1}\n{\"id\":\"o1\",\"v\":2}\n{\"id\":\"o1\",\"v\":0}\n");
  EXPECT_EQ(counted().stale, 0U);
  EXPECT_EQ(counted().rejected_below_first, 2U);
  EXPECT_EQ(counted().applied, 2U);
}

TEST_F(versions, may_be_ranges) {
  open(
      "    envelope: {aggregate: /s, sequence: {from: /u, first: /U}, time: /E}\n    order: strict\n"
      "    first: any\n    gap: {policy: skip, timeout: 10s}\n    dedup: off\n");
  feed(R"({"E":1714557600000,"s":"X","U":157,"u":160})"
       "\n"
       R"({"E":1714557601000,"s":"X","U":161,"u":163})"
       "\n"
       R"({"E":1714557602000,"s":"X","U":164,"u":164})"
       "\n");
  EXPECT_EQ(counted().waiting(), 0U);
  EXPECT_EQ(counted().applied, 3U);
}

TEST_F(versions, of_cloudevents_sort_as_text) {
  open("    envelope: {format: cloudevents}\n    dedup: {ids: opaque}\n");
  const auto event = [](const char* id, const char* sequence, int n) {
    return std::string{R"({"specversion":"1.0","id":")"} + id +
           R"(","source":"/a","type":"t","subject":"o","sequence":")" + sequence + R"(","data":{"n":)" +
           std::to_string(n) + "}}\n";
  };
  feed(event("1", "01HX0ZK6Q0AAAAAAAAAAAAAAAA", 1) + event("2", "01HX0ZK6Q1AAAAAAAAAAAAAAAA", 2));
  EXPECT_EQ(read("o"), R"({"n":2})");
  EXPECT_THAT(told("o"), HasSubstr(R"("sequence":"01HX0ZK6Q1AAAAAAAAAAAAAAAA")"));
}

TEST_F(versions, that_are_too_old_may_wait) {
  open(
      "    envelope: {aggregate: key, event_id: header:id}\n    order: arrival\n"
      "    dedup: {ids: uuidv7, window: 7d}\n    record_times: trusted\n    too_old: park\n");
  // 1764040000000 and eight days before it.
  feed(kcat(0, "other", "1", R"("id","019ab8fa-4200-7000-8000-000000000001")") +
           kcat(1, "p2", "2", R"("id","019a8fc7-6200-7000-8000-000000000002")") +
           kcat(2, "p2", "3", R"("id","019ab8fa-4200-7000-8000-000000000003")"),
       true);
  EXPECT_EQ(read("p2"), "nothing");
  EXPECT_EQ(counted().waiting_dead, 1U);
  EXPECT_EQ(counted().waiting_parked, 1U);
  EXPECT_THAT(told("p2"), HasSubstr("dead  too_old: its id is older than the window"));
}

TEST_F(versions, of_unknown_aggregates_may_wait_for_somebody_who_knows) {
  const std::string stream =
      "    envelope: {aggregate: /id, sequence: /n, time: /at}\n    order: strict\n    dedup: off\n"
      "    retention: 30d\n    record_times: trusted\n    too_old: park\n";
  open(stream);
  const auto event = [](int offset, const char* id, int number, const char* at) {
    return kcat(
        offset, id,
        std::string{R"({"id":")"} + id + R"(","n":)" + std::to_string(number) + R"(,"at":")" + at + R"("})");
  };
  feed(event(0, "o", 1, "2025-11-25T00:00:00Z") + event(1, "p", 7, "2025-01-01T00:00:00Z") +
           event(2, "p", 8, "2025-11-25T00:00:00Z") + event(3, "p", 1, "2025-11-25T00:00:00Z") +
           event(4, "p", 7, "2025-01-01T00:00:00Z"),
       true);
  EXPECT_EQ(read("p"), "nothing");
  EXPECT_EQ(counted().waiting_dead, 1U);
  EXPECT_EQ(counted().waiting_parked, 2U);
  EXPECT_EQ(counted().duplicate, 1U);
  EXPECT_THAT(told("p"),
              HasSubstr("dead  too_old: it is older than `retention` and its aggregate is unknown"));
  EXPECT_THAT(told("p"), HasSubstr("p/1  parked  behind"));
  EXPECT_THAT(told("p"), Not(HasSubstr("missing")));
  close();
  open(stream);
  EXPECT_EQ(decide(waiting_verb::skip, "p", seq(1)), waiting_answer::not_first);
  EXPECT_EQ(decide(waiting_verb::replay, "p", seq(7)), waiting_answer::done);
  EXPECT_THAT(read("p"), HasSubstr("\"n\":1,"));
  EXPECT_THAT(told("p"), HasSubstr("p/7  parked  gap: 2 to 6 are missing"));
  EXPECT_EQ(decide(waiting_verb::skip, "p", seq(6)), waiting_answer::done);
  EXPECT_THAT(read("p"), HasSubstr("\"n\":8,"));
  EXPECT_EQ(counted().waiting(), 0U);
}

}  // namespace
}  // namespace ratchet
