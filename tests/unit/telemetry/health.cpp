// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a running instance says of its health, asked while a session goes through its life.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "support/metrics_reader.hpp"
#include "support/session_world.hpp"
#include "telemetry/health_pages.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;

/// A world with its pages.
struct watched_world : session_world {
  using session_world::session_world;
  health_pages pages{status, meter};

  void produce(const topic_partition& where, int from, int to) {
    for (int n = from; n <= to; ++n) source.produce(where, event("a" + place(where), n));
  }
  [[nodiscard]] http_answer ask(std::string_view path) const { return pages.answer(path); }
  [[nodiscard]] std::map<std::string, double> metrics() const {
    return read_metrics(pages.answer("/metrics").body);
  }
  [[nodiscard]] double metric(const std::string& name) const { return metrics().at(name); }
};

std::string of_partition(const char* name, int partition) {
  return std::string{name} + R"({stream="payments",topic="t",partition=")" + std::to_string(partition) +
         "\"}";
}

constexpr const char* k_applied = R"(ratchet_records_total{stream="payments",verdict="applied"})";
constexpr const char* k_consumed = R"(ratchet_consumed_records_total{stream="payments"})";

TEST(health, answers_its_three_pages_and_lists_them) {
  const watched_world w;
  EXPECT_EQ(w.ask("/livez").status, 200U);
  EXPECT_EQ(w.ask("/livez").body, "ok\n");
  EXPECT_EQ(w.ask("/metrics").content_type, "text/plain; version=0.0.4; charset=utf-8");
  for (const char* page : {"/livez", "/readyz", "/metrics"}) {
    EXPECT_NE(w.ask("/").body.find(page), std::string::npos);
  }
  for (const char* other : {"", "/livez/", "/LIVEZ", "/../livez", "*", "http://x/livez"}) {
    EXPECT_EQ(w.ask(other).status, 404U) << other;
  }
}

TEST(readiness, says_why_not_from_the_start_to_the_end) {
  watched_world w;
  w.produce(k_p0, 1, 3);
  EXPECT_EQ(w.ask("/readyz").body, "not ready: starting\n");
  EXPECT_EQ(w.ask("/readyz").status, 503U);
  w.source.assigns_at_join = false;
  int asked = 0;
  w.source.on_poll = [&](int poll) {
    if (poll != 1) return;
    EXPECT_EQ(w.ask("/readyz").body, "not ready: waiting for the group to assign partitions\n");
    ++asked;
    w.source.say(notice::assigned{w.source.all()});
  };
  w.source.script = {[&] {
                       EXPECT_EQ(w.ask("/readyz").status, 200U);
                       EXPECT_EQ(w.ask("/readyz").body, "ok\n");
                       EXPECT_EQ(w.metric("ratchet_ready"), 1);
                       EXPECT_EQ(w.metric(of_partition("ratchet_partition_assigned", 0)), 1);
                       ++asked;
                       w.source.say(notice::revoked{w.source.all(), false});
                     },
                     [&] {
                       EXPECT_EQ(w.ask("/readyz").status, 503U);
                       EXPECT_EQ(w.metric("ratchet_ready"), 0);
                       EXPECT_EQ(w.metric(of_partition("ratchet_partition_assigned", 0)), 0);
                       ++asked;
                     }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(w.ask("/readyz").body, "not ready: stopping\n");
}

TEST(readiness, names_every_stopped_partition_and_goes_on_living) {
  stream_config s = payments();
  s.poison = 2;
  watched_world w{{s}};
  w.produce(k_p1, 1, 5);
  for (int i = 0; i < 4; ++i) w.source.produce(k_p0, "not json");
  bool asked = false;
  w.source.script = {[&] {
    const auto answer = w.ask("/readyz");
    EXPECT_EQ(answer.status, 503U);
    EXPECT_NE(answer.body.find("t/0 at offset 1: stopped"), std::string::npos) << answer.body;
    EXPECT_EQ(w.ask("/livez").status, 200U);
    EXPECT_EQ(w.metric(of_partition("ratchet_partition_stopped", 0)), 1);
    EXPECT_EQ(w.metric(of_partition("ratchet_partition_stopped", 1)), 0);
    // Nothing that becomes well elsewhere hides it.
    w.status.set_ready(true);
    EXPECT_EQ(w.ask("/readyz").status, 503U);
    asked = true;
  }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_TRUE(asked);
}

TEST(readiness, lists_what_stands_against_it_until_each_is_cleared) {
  instance_status status{timestamp{}};
  status.set_ready(true);
  status.raise_condition("disk", "the disk is nearly full");
  status.raise_condition("memory", "memory is short");
  EXPECT_FALSE(status.snapshot().ready);
  EXPECT_EQ(status.snapshot().ready_reason, "the disk is nearly full; memory is short");
  status.raise_condition("disk", "the disk is full");
  status.clear_condition("memory");
  EXPECT_EQ(status.snapshot().ready_reason, "the disk is full");
  status.clear_condition("disk");
  status.clear_condition("disk");
  EXPECT_TRUE(status.snapshot().ready);
  EXPECT_EQ(status.snapshot().ready_reason, "");
}

TEST(readiness, names_the_partitions_of_each_answer_where_there_are_several) {
  instance_status status{timestamp{}};
  status.set_ready(true);
  status.set_assigned("payments", std::vector{at("t", 0), at("t", 1), at("t", 2)});
  status.set_stopped("payments", at("t", 0), "t/0: set back\nstart with `store`");
  EXPECT_EQ(status.snapshot().ready_reason, "t/0: set back; start with `store`");
  status.set_stopped("payments", at("t", 1), "t/1: shorter\nstart with `rebuild`");
  status.set_stopped("payments", at("t", 2), "t/2: set back\nstart with `store`");
  EXPECT_EQ(status.snapshot().ready_reason,
            "t/0: set back; t/1: shorter; t/2: set back; t/0, t/2: start with `store`; t/1: start with "
            "`rebuild`");
}

TEST(liveness, ends_when_the_owner_thread_makes_no_turn_and_comes_back_with_the_next) {
  watched_world w;
  w.produce(k_p0, 1, 3);
  int asked = 0;
  w.source.on_poll = [&](int poll) {
    if (poll == 4) {
      EXPECT_EQ(w.ask("/livez").status, 200U);
      w.clock.advance(59s);
      EXPECT_EQ(w.ask("/livez").status, 200U) << "a slow turn is no dead one";
      w.clock.advance(2s);
      EXPECT_EQ(w.ask("/livez").status, 503U);
      EXPECT_EQ(w.ask("/livez").body, "no progress for 61 s while handling records\n");
      EXPECT_EQ(w.ask("/readyz").status, 503U) << "whatever was said before";
      EXPECT_TRUE(
          w.ask("/readyz").body.starts_with("not ready: no progress for 61 s while handling records"));
      ++asked;
    }
    if (poll == 5) {
      EXPECT_EQ(w.ask("/livez").status, 200U);
      ++asked;
    }
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(asked, 2);
}

TEST(liveness, gives_what_is_no_turn_its_own_time) {
  fake_clock clock;
  run_meter meter{clock};
  {
    const run_meter::long_work opening{meter, "opening the state directory again"};
    clock.advance(599s);
    EXPECT_FALSE(meter.stalled());
    { const run_meter::long_work inner{meter, "something inside"}; }
    clock.advance(601s);
    EXPECT_EQ(meter.stalled(), "no progress for 601 s while opening the state directory again");
  }
  EXPECT_FALSE(meter.stalled()) << "it has ended";
  clock.advance(61s);
  EXPECT_EQ(meter.stalled(), "no progress for 61 s while handling records");
}

TEST(health, is_asked_by_others_while_the_owner_counts) {
  const system_clock_port clock;
  instance_status status{clock.now()};
  run_meter meter{clock};
  const health_pages pages{status, meter};
  std::atomic<bool> stop{false};
  std::thread owner{[&] {
    for (std::uint64_t n = 1; !stop; ++n) {
      meter.beat();
      meter.step(1ms, 10);
      meter.commit_ended(true);
      meter.durability(1, clock.steady());
      const run_meter::long_work work{meter, "answering the group"};
      state_sample sample;
      sample.step = n;
      sample.streams.resize(1);
      sample.streams[0].name = "payments";
      sample.streams[0].counters.consumed = n;
      sample.streams[0].next_offsets = {{k_p0, static_cast<std::int64_t>(n)}};
      meter.publish(std::move(sample));
      meter.publish(resource_sample{{}, n, n});
      status.set_ready(n % 2 == 0, "odd");
      status.set_stopped("payments", k_p0, "stopped");
      status.clear_stopped("payments", k_p0);
    }
  }};
  double seen = 0;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(pages.answer("/livez").status, 200U);
    const unsigned ready = pages.answer("/readyz").status;
    EXPECT_TRUE(ready == 200 || ready == 503);
    const auto all = read_metrics(pages.answer("/metrics").body);
    EXPECT_EQ(all.at("ratchet_step_records_bucket{le=\"+Inf\"}"), all.at("ratchet_step_records_count"));
    if (!all.contains(k_consumed)) continue;
    EXPECT_GE(all.at(k_consumed), seen);
    EXPECT_EQ(all.at(k_consumed), all.at("ratchet_steps_total")) << "one sample is one state";
    seen = all.at(k_consumed);
  }
  stop = true;
  owner.join();
  EXPECT_GT(seen, 0);
}

TEST(metrics_of_a_session, show_what_is_durable_and_nothing_else) {
  watched_world w;
  w.produce(k_p0, 1, 4);
  int asked = 0;
  w.source.script = {[&] {
                       EXPECT_EQ(w.metric(k_consumed), 4);
                       EXPECT_EQ(w.metric(of_partition("ratchet_partition_next_offset", 0)), 4);
                       ++asked;
                       w.store.holds_syncs = true;
                       w.produce(k_p0, 5, 9);
                     },
                     [&] {
                       EXPECT_EQ(w.counted().consumed, 9U) << "written";
                       EXPECT_EQ(w.metric(k_consumed), 4)
                           << "and not durable: a power cut could take it back";
                       EXPECT_GT(w.metric("ratchet_undurable_steps"), 0);
                       EXPECT_GT(w.metric("ratchet_durability_lag_seconds"), 0);
                       ++asked;
                       w.store.holds_syncs = false;
                     },
                     [&] { w.clock.advance(1s); }, [&] { w.clock.advance(1s); },
                     [&] {
                       EXPECT_EQ(w.metric(k_consumed), 9);
                       EXPECT_EQ(w.metric("ratchet_undurable_steps"), 0);
                       EXPECT_EQ(w.metric("ratchet_durability_lag_seconds"), 0);
                       ++asked;
                     }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(asked, 3);
  EXPECT_GT(w.metric("ratchet_step_duration_seconds_count"), 1);
  EXPECT_EQ(w.metric("ratchet_step_records_sum"), 9);
  EXPECT_EQ(w.metric("ratchet_rebalances_total"), 1);
  EXPECT_EQ(static_cast<std::uint64_t>(w.metric("ratchet_steps_total")), w.store.durable_step());
}

TEST(metrics_of_a_session, never_go_back_over_a_power_cut) {
  watched_world w;
  w.produce(k_p0, 1, 30);
  w.source.most_per_poll = 3;
  double highest = 0;
  const auto look = [&](int) {
    const auto all = w.metrics();
    if (!all.contains(k_applied)) return;
    const double now = all.at(k_consumed);
    EXPECT_GE(now, highest);
    highest = std::max(highest, now);
  };
  w.source.on_poll = [&](int poll) {
    look(poll);
    if (poll == 6) w.store.holds_syncs = true;  // from now on a power cut takes everything back
    if (poll == 10) w.store.writes_until_failure = 0;
  };
  ASSERT_EQ(w.run().end, session_end::store_lost);
  EXPECT_GT(highest, 0);
  EXPECT_LT(highest, w.counted().consumed) << "not all that is written was shown";
  w.power_cut();
  w.store.holds_syncs = false;
  w.source.on_poll = look;
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.metric(k_consumed), 30);
}

TEST(metrics_of_a_session, tell_the_lag_of_a_partition_that_is_behind) {
  watched_world w;
  w.produce(k_p0, 1, 3);
  w.source.tells_known_ends = true;
  int asked = 0;
  w.source.script = {[&] {
    EXPECT_EQ(w.metric(of_partition("ratchet_partition_lag", 0)), 0);
    ++asked;
    w.source.tells_ends = false;
    w.source.most_per_poll = 1;
    w.produce(k_p0, 4, 60);
    w.source.on_poll = [&](int) {
      if (w.source.delivered() != 40) return;  // two seconds behind the burst
      const double lag = w.metric(of_partition("ratchet_partition_lag", 0));
      EXPECT_GE(lag, 20);
      EXPECT_LE(lag, 57);
      EXPECT_EQ(w.metric(of_partition("ratchet_partition_log_end_offset", 0)), 60);
      ++asked;
    };
  }};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(asked, 2);
}

TEST(metrics_of_a_session, count_commits_and_their_failures) {
  watched_world w;
  w.produce(k_p0, 1, 3);
  w.source.failing_commits = 2;
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.metric("ratchet_commit_failures_total"), 2);
  EXPECT_GE(w.metric("ratchet_commits_total"), 1);
}

TEST(log_of_a_session, names_each_partition_of_an_assignment_unless_there_are_very_many) {
  watched_world few;
  few.source.logs[k_p0];
  few.source.logs[k_p1];
  ASSERT_EQ(few.run().end, session_end::drained);
  EXPECT_EQ(few.logged("resuming t/0 at offset 0"), 1U);
  EXPECT_EQ(few.logged("resuming t/1 at offset 0"), 1U);
  watched_world many;
  for (int p = 0; p < 65; ++p) many.source.logs[at("t", p)];
  ASSERT_EQ(many.run().end, session_end::drained);
  EXPECT_EQ(many.logged("resuming t/"), 0U);
  EXPECT_EQ(many.logged("resuming 65 partitions"), 1U);
}

}  // namespace
}  // namespace ratchet::testing
