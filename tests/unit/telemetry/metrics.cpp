// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What /metrics says, judged by Prometheus's own promtool.
#include "telemetry/metrics.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/metrics_reader.hpp"
#include "support/slot_statuses.hpp"

namespace ratchet {
namespace {

using testing::promtool_findings;
using testing::read_metrics;

/// Everything that can be said is said; names hold what text formats have to escape.
metrics_input full_input() {
  metrics_input in;
  in.live.ready = true;
  const topic_partition p3{"topic\"\\\n\xC3\xA4", partition_id{3}};
  in.live.streams["payments"][p3] = {true, 90, 120, "it \"stopped\"\n"};
  in.state.step = 17;
  stream_sample& s = in.state.streams.emplace_back();
  s.name = "payments";
  s.counters.applied = 7;
  s.counters.superseded = 1;
  s.counters.duplicate = 2;
  s.counters.stale = 3;
  s.counters.rejected_malformed = 4;
  s.counters.rejected_conflict = 5;
  s.counters.consumed = 22;
  s.counters.ids_ahead = 6;
  s.counters.times_passed_over = 7;
  s.counters.times_behind = 6;
  s.counters.forgotten = 13;
  s.counters.waiting_parked = 8;
  s.counters.waiting_retrying = 9;
  s.counters.waiting_dead = 10;
  s.counters.waiting_bytes = 1234;
  s.largest = {.snapshot = 5000, .table_row = 60};
  s.floor = timestamp{std::chrono::milliseconds{1'700'000'000'500}};
  s.window = std::chrono::hours{24};
  s.gap_since = *s.floor + s.window - std::chrono::milliseconds{61'500};
  s.next_offsets = {{p3, 100}, {{"other", partition_id{0}}, 5}};
  in.state.streams.emplace_back().name = "empty";
  in.counts.step_seconds = {{0.5, 1.0}, {2, 1, 4}, 9.25};
  in.counts.step_records = {{10}, {1, 6}, 4000};
  in.counts.commits = 11;
  in.counts.commit_failures = 12;
  in.counts.rebalances = 13;
  in.counts.new_clients = 14;
  in.counts.store_reopens = 15;
  in.counts.undurable_steps = 2;
  in.counts.durability_lag = std::chrono::milliseconds{250};
  in.resources.store = {1, 2, 3, 4, {{0.1}, {1, 0}, 0.05}};
  in.resources.queued_bytes = 5;
  in.resources.free_bytes = 6;
  in.resources.reserve_bytes = 7;
  in.process = read_process_stats();
  in.live.slot = testing::status_of_owner();
  return in;
}

TEST(metrics, are_taken_by_promtool_without_a_complaint) {
  if (!testing::has_promtool()) GTEST_SKIP() << "promtool is not installed (tools/deps installs it)";
  EXPECT_EQ(promtool_findings(metrics_text(full_input())), "");
  EXPECT_EQ(promtool_findings(metrics_text({})), "") << "nothing is known yet";
}

TEST(metrics, are_found_faulty_where_they_are) {
  if (!testing::has_promtool()) GTEST_SKIP() << "promtool is not installed (tools/deps installs it)";
  EXPECT_NE(promtool_findings("# HELP a_total x\n# TYPE a_total gauge\na_total 1\n"), "");
  EXPECT_NE(promtool_findings("this is no metric\n"), "");
}

TEST(metrics, count_records_by_stream_verdict_and_reason) {
  const auto all = read_metrics(metrics_text(full_input()));
  const auto records = [&all](const char* verdict) {
    return all.at(std::string{R"(ratchet_records_total{stream="payments",verdict=")"} + verdict + "\"}");
  };
  EXPECT_EQ(records("applied"), 7);
  EXPECT_EQ(records("superseded"), 1);
  EXPECT_EQ(records("duplicate"), 2);
  EXPECT_EQ(records("stale"), 3);
  EXPECT_EQ(records("rejected"), 9);
  EXPECT_EQ(records("ignored"), 0);
  EXPECT_EQ(all.at(R"(ratchet_rejected_records_total{stream="payments",reason="malformed"})"), 4);
  EXPECT_EQ(all.at(R"(ratchet_rejected_records_total{stream="payments",reason="conflict"})"), 5);
  EXPECT_EQ(all.at(R"(ratchet_consumed_records_total{stream="payments"})"), 22);
  EXPECT_EQ(all.at(R"(ratchet_consumed_records_total{stream="empty"})"), 0);
  EXPECT_EQ(all.at(R"(ratchet_ids_ahead_total{stream="payments"})"), 6);
  EXPECT_EQ(all.at(R"(ratchet_times_passed_over_total{stream="payments"})"), 7);
  EXPECT_EQ(all.at(R"(ratchet_times_behind_total{stream="payments"})"), 6);
  EXPECT_EQ(all.at(R"(ratchet_forgotten_aggregates_total{stream="payments"})"), 13);
  EXPECT_EQ(all.at(R"(ratchet_largest_snapshot_bytes{stream="payments"})"), 5000);
  EXPECT_EQ(all.at(R"(ratchet_largest_table_row_bytes{stream="payments"})"), 60);
  EXPECT_EQ(all.at("ratchet_steps_total"), 17);
}

TEST(metrics, tell_what_waits_and_for_how_long_in_stream_time) {
  const auto all = read_metrics(metrics_text(full_input()));
  EXPECT_EQ(all.at(R"(ratchet_waiting_events{stream="payments",state="parked"})"), 8);
  EXPECT_EQ(all.at(R"(ratchet_waiting_events{stream="payments",state="retrying"})"), 9);
  EXPECT_EQ(all.at(R"(ratchet_waiting_events{stream="payments",state="dead"})"), 10);
  EXPECT_EQ(all.at(R"(ratchet_waiting_bytes{stream="payments"})"), 1234);
  EXPECT_EQ(all.at(R"(ratchet_waiting_bytes{stream="empty"})"), 0);
  EXPECT_DOUBLE_EQ(all.at(R"(ratchet_oldest_gap_seconds{stream="payments"})"), 61.5);
  EXPECT_EQ(all.at(R"(ratchet_oldest_gap_seconds{stream="empty"})"), 0) << "so that an alert can end";
  stream_sample young;
  young.floor = timestamp{std::chrono::seconds{5}};
  young.gap_since = *young.floor + std::chrono::seconds{1};
  EXPECT_EQ(young.oldest_gap().count(), 0) << "never below 0";
}

TEST(metrics, leave_out_the_age_of_a_gap_that_is_not_known) {
  metrics_input input = full_input();
  for (stream_sample& s : input.state.streams) s.floor.reset();
  const auto all = read_metrics(metrics_text(input));
  EXPECT_FALSE(all.contains(R"(ratchet_oldest_gap_seconds{stream="payments"})")) << "events are parked";
  EXPECT_EQ(all.at(R"(ratchet_oldest_gap_seconds{stream="empty"})"), 0);
}

TEST(metrics, tell_what_an_owner_does_with_its_log) {
  const auto all = read_metrics(metrics_text(full_input()));
  const std::string of = R"({log="payments.ratchet"})";
  EXPECT_EQ(all.at(R"(ratchet_slot_role{log="payments.ratchet",role="owner"})"), 1);
  EXPECT_EQ(all.at(R"(ratchet_slot_role{log="payments.ratchet",role="standby"})"), 0);
  EXPECT_EQ(all.at("ratchet_slot_step" + of), 1234);
  EXPECT_EQ(all.at("ratchet_slot_records_behind" + of), 0);
  EXPECT_FALSE(all.contains("ratchet_slot_behind_seconds" + of)) << "an owner has everything";
  EXPECT_EQ(all.at("ratchet_slot_log_first_offset" + of), 120);
  EXPECT_EQ(all.at("ratchet_slot_log_end_offset" + of), 4512);
  EXPECT_EQ(all.at("ratchet_slot_leads_total" + of), 2);
  EXPECT_EQ(all.at("ratchet_slot_fences_total" + of), 4);
  EXPECT_EQ(all.at("ratchet_slot_ignored_records_total" + of), 6);
  EXPECT_EQ(all.at("ratchet_slot_gaps_total" + of), 7);
  EXPECT_EQ(all.at("ratchet_slot_pending_steps" + of), 2);
  EXPECT_EQ(all.at("ratchet_slot_pending_bytes" + of), 4096);
  EXPECT_EQ(all.at("ratchet_slot_log_bytes" + of), 5000);
  EXPECT_EQ(all.at("ratchet_base_timestamp_seconds" + of), 1'767'268'800);
  EXPECT_EQ(all.at("ratchet_base_bytes" + of), 70'000);
  EXPECT_EQ(all.at("ratchet_base_writing_bytes" + of), 300);
  EXPECT_EQ(all.at("ratchet_bases_total" + of), 3);
  EXPECT_EQ(all.at("ratchet_base_failures_total" + of), 1);
}

TEST(metrics, tell_how_far_a_standby_is_behind) {
  metrics_input in;
  in.live.slot = testing::status_of_standby();
  const auto all = read_metrics(metrics_text(in));
  const std::string of = R"({log="payments.ratchet"})";
  EXPECT_EQ(all.at(R"(ratchet_slot_role{log="payments.ratchet",role="owner"})"), 0);
  EXPECT_EQ(all.at(R"(ratchet_slot_role{log="payments.ratchet",role="standby"})"), 1);
  EXPECT_EQ(all.at("ratchet_slot_records_behind" + of), 4);
  EXPECT_EQ(all.at("ratchet_slot_behind_seconds" + of), 1.5);
  EXPECT_EQ(all.at(R"(ratchet_digests_total{log="payments.ratchet",result="same"})"), 11);
  EXPECT_EQ(all.at(R"(ratchet_digests_total{log="payments.ratchet",result="different"})"), 0);
  EXPECT_FALSE(all.contains("ratchet_slot_log_bytes" + of)) << "the owner knows the bases";
  EXPECT_FALSE(all.contains("ratchet_base_timestamp_seconds" + of));
  EXPECT_FALSE(all.contains("ratchet_slot_pending_steps" + of));
  EXPECT_FALSE(read_metrics(metrics_text({})).contains("ratchet_slot_step" + of)) << "it has no log";
}

TEST(metrics, tell_what_is_free_on_the_disk_and_what_is_to_be_kept_free) {
  metrics_input in = full_input();
  auto all = read_metrics(metrics_text(in));
  EXPECT_EQ(all.at("ratchet_state_free_bytes"), 6);
  EXPECT_EQ(all.at("ratchet_state_reserve_bytes"), 7);
  in.resources.free_bytes.reset();
  all = read_metrics(metrics_text(in));
  EXPECT_FALSE(all.contains("ratchet_state_reserve_bytes")) << "nothing to compare it with";
}

TEST(metrics, tell_times_as_seconds_and_leave_out_what_is_not_known) {
  const auto all = read_metrics(metrics_text(full_input()));
  EXPECT_DOUBLE_EQ(all.at(R"(ratchet_floor_timestamp_seconds{stream="payments"})"), 1'700'000'000.5);
  EXPECT_DOUBLE_EQ(all.at(R"(ratchet_stream_timestamp_seconds{stream="payments"})"), 1'700'086'400.5);
  EXPECT_FALSE(all.contains(R"(ratchet_floor_timestamp_seconds{stream="empty"})"));
  EXPECT_DOUBLE_EQ(all.at("ratchet_durability_lag_seconds"), 0.25);
}

TEST(metrics, tell_of_each_partition_what_is_known_of_it) {
  const auto all = read_metrics(metrics_text(full_input()));
  const std::string p3 = R"({stream="payments",topic="topic\"\\\n)"
                         "\xC3\xA4"
                         R"(",partition="3"})";
  EXPECT_EQ(all.at("ratchet_partition_next_offset" + p3), 100);
  EXPECT_EQ(all.at("ratchet_partition_committed_offset" + p3), 90);
  EXPECT_EQ(all.at("ratchet_partition_lag" + p3), 20);
  EXPECT_EQ(all.at("ratchet_partition_assigned" + p3), 1);
  EXPECT_EQ(all.at("ratchet_partition_stopped" + p3), 1);
  const std::string other = R"({stream="payments",topic="other",partition="0"})";
  EXPECT_EQ(all.at("ratchet_partition_next_offset" + other), 5);
  EXPECT_EQ(all.at("ratchet_partition_assigned" + other), 0);
  EXPECT_FALSE(all.contains("ratchet_partition_lag" + other)) << "unknown is not 0";
  EXPECT_FALSE(all.contains("ratchet_partition_committed_offset" + other));
}

TEST(metrics, tell_where_an_open_transaction_holds_a_partition_back) {
  metrics_input in = full_input();
  const std::string name = "ratchet_partition_transaction_offset{";
  EXPECT_EQ(metrics_text(in).find(name), std::string::npos);
  live_partition& live = in.live.streams["payments"].begin()->second;
  live.assigned = true;
  live.held_back = 100;
  const std::string text = metrics_text(in);
  const std::size_t at = text.find(name);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.substr(text.find("} ", at) + 2, 4), "100\n");
}

TEST(metrics, leave_the_lag_of_a_partition_to_the_instance_that_holds_it) {
  metrics_input in = full_input();
  in.live.streams["payments"].begin()->second.assigned = false;
  const std::string text = metrics_text(in);
  EXPECT_EQ(text.find("ratchet_partition_lag{"), std::string::npos) << "what it last saw is old";
  EXPECT_NE(text.find("ratchet_partition_next_offset{"), std::string::npos);
}

TEST(metrics, give_histograms_cumulative_buckets_that_end_in_the_count) {
  const auto all = read_metrics(metrics_text(full_input()));
  EXPECT_EQ(all.at(R"(ratchet_step_duration_seconds_bucket{le="0.5"})"), 2);
  EXPECT_EQ(all.at(R"(ratchet_step_duration_seconds_bucket{le="1"})"), 3);
  EXPECT_EQ(all.at(R"(ratchet_step_duration_seconds_bucket{le="+Inf"})"), 7);
  EXPECT_EQ(all.at("ratchet_step_duration_seconds_count"), 7);
  EXPECT_EQ(all.at("ratchet_step_duration_seconds_sum"), 9.25);
  EXPECT_EQ(all.at("ratchet_sync_duration_seconds_count"), 1);
}

TEST(metrics, tell_of_the_process_what_the_system_says) {
  const auto all = read_metrics(metrics_text(full_input()));
  const double now =
      std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
  EXPECT_GT(all.at("process_start_time_seconds"), now - 3600);
  EXPECT_LT(all.at("process_start_time_seconds"), now + 60);
  EXPECT_GT(all.at("process_resident_memory_bytes"), 1U << 20U);
  EXPECT_GT(all.at("process_virtual_memory_bytes"), all.at("process_resident_memory_bytes"));
  EXPECT_GE(all.at("process_open_fds"), 3);
  EXPECT_GE(all.at("process_max_fds"), all.at("process_open_fds"));
}

TEST(histogram, counts_a_value_in_the_first_bucket_that_holds_it) {
  histogram<3> h{{1.0, 2.0, 5.0}};
  for (const double value : {0.5, 1.0, 1.5, 5.0, 6.0, 100.0}) h.observe(value);
  const histogram_counts got = h.snapshot();
  EXPECT_EQ(got.counts, (std::vector<std::uint64_t>{2, 1, 1, 2}));
  EXPECT_DOUBLE_EQ(got.sum, 114.0);
}

}  // namespace
}  // namespace ratchet
