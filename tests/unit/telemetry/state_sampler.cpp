// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "telemetry/state_sampler.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "core/reducers.hpp"
#include "ports/clock.hpp"
#include "support/control_fake_store.hpp"
#include "support/noon.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;

using testing::k_noon;

class a_state_sampler : public ::testing::Test {
 protected:
  a_state_sampler() {
    stream_config config;
    config.name = "payments";
    config.order = order::strict;
    config.dedup.window = 1h;
    streams_.push_back(std::make_unique<stream_definition>(config, replace_reducer{}));
    tasks_ = make_tasks(streams_);
    tasks_[0]->state.floor = k_noon;
    tasks_[0]->state.counters.waiting_parked = 2;
    auto& stored = store_.content.streams.emplace_back();
    stored.name = "payments";
    stored.backlogs["p1"].gap_since = k_noon + 50min;
    stored.backlogs["p2"].gap_since = k_noon + 40min;
  }
  std::chrono::milliseconds shown() const { return meter_.state().streams.at(0).oldest_gap(); }

  stream_list streams_;
  task_list tasks_;
  testing::fake_store store_;
  system_clock_port clock_;
  run_meter meter_{clock_};
};

TEST_F(a_state_sampler, shows_the_age_of_the_oldest_gap_in_stream_time) {
  const state_sampler sampler{tasks_, store_, meter_};
  EXPECT_EQ(shown(), 20min) << "the floor and the window, less when it began";
  EXPECT_EQ(store_.views, 0) << "a view finds it behind all that are closed";
}

TEST_F(a_state_sampler, shows_a_gap_once_the_step_that_it_was_seen_at_is_durable) {
  state_sampler sampler{tasks_, store_, meter_};
  store_.content.streams[0].backlogs.erase("p2");
  ++store_.written;
  const auto now = std::chrono::steady_clock::now();
  sampler.turn(now, 1ms);
  EXPECT_EQ(shown(), 20min);
  ++store_.durable;
  sampler.turn(now, 1ms);
  EXPECT_EQ(shown(), 10min);
}

TEST_F(a_state_sampler, shows_none_where_nothing_is_parked_or_no_gap_has_an_age) {
  store_.content.streams[0].backlogs.clear();
  const state_sampler without{tasks_, store_, meter_};
  EXPECT_EQ(shown(), 0ms);
  store_.content.streams[0].backlogs["p1"].gap_since = k_noon;
  tasks_[0]->state.counters.waiting_parked = 0;
  const state_sampler unasked{tasks_, store_, meter_};
  EXPECT_EQ(shown(), 0ms) << "the store is not even asked";
}

TEST_F(a_state_sampler, shows_the_largest_values_that_were_written) {
  state_sampler sampler{tasks_, store_, meter_};
  const step_plan plan;
  for (const auto& [snapshot, row] : {std::pair{900U, 20U}, {100U, 70U}}) {
    stream_change change;
    aggregate_change& changed = change.rows.emplace_back();
    changed.row.snapshot = std::string(snapshot, 's');
    change.tables.push_back({.table = "t", .key = "k", .value = std::string(row, 'r')});
    change.tables.push_back({.table = "t", .key = "erased", .value = std::nullopt});
    step_batch step;
    step.parts.push_back({.stream = streams_[0]->id, .plan = &plan, .change = &change, .rejected = {}});
    sampler.note(step);
    ++store_.written;
    ++store_.durable;
    sampler.turn(std::chrono::steady_clock::now(), 0ms);
    sampler.turn(std::chrono::steady_clock::now(), 0ms);
  }
  EXPECT_EQ(meter_.state().streams.at(0).largest.snapshot, 900U);
  EXPECT_EQ(meter_.state().streams.at(0).largest.table_row, 70U);
}

}  // namespace
}  // namespace ratchet
