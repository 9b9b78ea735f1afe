// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How rows of forgotten aggregates are taken away: through the pipeline, over a store in memory.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "decode/event_id_text.hpp"
#include "pipeline/pipeline.hpp"
#include "support/fake_source.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::hours;

/// A stream of transactions alone: the clock is its time.
struct forgetting_pipeline : ::testing::Test {
  forgetting_pipeline() {
    config c;
    c.kafka.group = "g";
    stream_config s;
    s.name = "orders";
    s.order = order::arrival;
    s.dedup.ids = id_kind::opaque;
    s.dedup.window = hours{24};
    s.retention = hours{160};
    s.reducer.kind = reducer_config::kind_of::replace;
    c.streams = {s};
    auto made = make_streams(c, reducers{});
    streams = std::move(*made);
    tasks = make_tasks(streams);
    begin();
  }
  /// As a start does.
  void begin() {
    EXPECT_TRUE(load_tasks(streams, tasks, store));
    way.emplace(tasks, store, clock);
  }
  void touch(const std::string& aggregate) {
    const transaction_function put = [](state& s, effects&) {
      s.assign("x");
      return done();
    };
    const std::string key = "key " + std::to_string(++keys);
    const transaction_request request{aggregate, *hash_opaque_id(key), std::nullopt, &put};
    ASSERT_TRUE(way->transact(*tasks[0], {&request, 1}));
  }
  void wait(hours by) { clock.advance(by); }
  [[nodiscard]] std::uint64_t forgotten() const { return tasks[0]->state.counters.forgotten; }
  [[nodiscard]] bool shows(const std::string& aggregate) const {
    return store.view().value()->get(store.id_of("orders"), aggregate).has_value();
  }

  fake_clock clock;
  memory_store store{{"orders"}};
  stream_list streams;
  task_list tasks;
  std::optional<pipeline> way;
  int keys{0};
};

TEST_F(forgetting_pipeline, looks_at_a_few_thousand_rows_a_turn_and_goes_on_at_once) {
  for (int i = 0; i < 5'000; ++i) touch("p" + std::to_string(i));
  wait(hours{161});
  touch("new");
  EXPECT_FALSE(shows("p0"));
  EXPECT_EQ(forgotten(), 0U);
  ASSERT_TRUE(way->resume_waiting());
  EXPECT_GT(forgotten(), 1'000U);
  EXPECT_LT(forgotten(), 3'000U);
  EXPECT_EQ(way->next_wake(), timestamp{}) << "there are more rows to be looked at";
  int turns = 1;
  for (; way->next_wake() && turns < 10; ++turns) ASSERT_TRUE(way->resume_waiting());
  EXPECT_EQ(forgotten(), 5'000U);
  EXPECT_TRUE(shows("new"));
}

TEST_F(forgetting_pipeline, looks_again_when_a_sixteenth_of_the_retention_has_passed_and_after_a_start) {
  touch("a");
  wait(hours{5});
  touch("b");
  wait(hours{156});
  touch("clock");
  ASSERT_TRUE(way->resume_waiting());
  EXPECT_EQ(forgotten(), 1U);
  wait(hours{5});
  touch("clock");
  EXPECT_FALSE(shows("b"));
  const std::uint64_t step = store.last_step();
  ASSERT_TRUE(way->resume_waiting());
  EXPECT_EQ(forgotten(), 1U) << "that can wait";
  EXPECT_EQ(store.last_step(), step);
  wait(hours{5});
  touch("clock");
  ASSERT_TRUE(way->resume_waiting());
  EXPECT_EQ(forgotten(), 2U);
  touch("c");
  wait(hours{161});
  touch("clock");
  ASSERT_TRUE(way->resume_waiting());
  EXPECT_EQ(forgotten(), 3U);
  touch("d");
  wait(hours{1});
  store.request_sync();
  begin();
  ASSERT_TRUE(way->resume_waiting());
  EXPECT_FALSE(way->next_wake()) << "all rows were looked at";
}

TEST_F(forgetting_pipeline, writes_nothing_where_nothing_is_forgotten) {
  touch("a");
  wait(hours{24});
  touch("a");
  const std::uint64_t step = store.last_step();
  ASSERT_TRUE(way->resume_waiting());
  EXPECT_EQ(store.last_step(), step);
  EXPECT_FALSE(way->next_wake());
}

}  // namespace
}  // namespace ratchet::testing
