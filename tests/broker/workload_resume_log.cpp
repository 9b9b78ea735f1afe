// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The log's start moves past the stored offset, by DeleteRecords and by retention, while the job is stopped
// and while it runs.
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

void delete_before(const main_job& job, int partition, std::int64_t offset) {
  const auto done = delete_records(job.target().brokers, job.partition(partition), offset);
  if (!done) throw std::system_error{done.error()};
}

/// Lets the broker's retention take everything that is in the topic, and keeps what comes after.
void retire_all(const main_job& job) {
  const auto set = [&](const char* retention) {
    const auto done =
        set_topic_config(job.target().brokers, job.target().topic, {{"retention.ms", retention}});
    if (!done) throw std::system_error{done.error()};
  };
  set("1");
  for (int p = 0; p < static_cast<int>(main_job::k_partitions); ++p) {
    if (!eventually([&] { return bounds_of(job, p).start == bounds_of(job, p).end; })) {
      throw std::runtime_error{"retention takes nothing"};
    }
  }
  set("-1");
}

bool brokers_are_ours() {
  return std::getenv("RATCHET_TEST_BROKERS") == nullptr;
}

TEST(resume_log, names_the_range_that_was_deleted_and_goes_on_behind_it_where_told_to) {
  half_done half{31};
  const auto stored = stored_offset(half.job, 1);
  half.feed.send();
  const auto end = bounds_of(half.job, 1).end;
  const auto cut = stored + (end - stored) / 2;
  delete_before(half.job, 1, cut);

  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  const auto lost = range_text(stored, cut);
  expect_in("/1: the state ends at offset " + std::to_string(stored) + ", but the log begins at " +
                std::to_string(cut) + ": offsets " + lost + " were deleted before they were handled",
            stopped.output);
  expect_in(" --resume kafka` to accept this gap", stopped.output);
  EXPECT_EQ(stored_offset(half.job, 1), stored);
  EXPECT_EQ(stored_offset(half.job, 2), bounds_of(half.job, 2).end) << "the rest went on";
  EXPECT_FALSE(says(audit_of(half.job), "were not handled"));

  const auto accepted = half.job.run_until_end({"--resume", "kafka"});
  EXPECT_EQ(accepted.code, 0) << accepted.output;
  EXPECT_EQ(stored_offset(half.job, 1), end);
  EXPECT_EQ(stored_records(half.job), 2 * k_records - static_cast<std::uint64_t>(cut - stored));
  const auto audit = audit_of(half.job);
  expect_in("resume_below_log_start", audit);
  expect_in("offsets " + lost + " were not handled", audit);
  EXPECT_EQ(half.job.commit_fault(), "");
  EXPECT_EQ(half.job.run_until_end().code, 0) << "it is asked once";
}

TEST(resume_log, builds_anew_what_retention_left_and_says_what_is_missing) {
  if (!brokers_are_ours()) GTEST_SKIP() << "other brokers look at retention every few minutes";
  half_done half{32};
  half.feed.send(k_records / 2);
  retire_all(half.job);
  half.feed.send();

  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  for (int p = 0; p < static_cast<int>(main_job::k_partitions); ++p) {
    expect_in("offsets " + range_text(stored_offset(half.job, p), bounds_of(half.job, p).start) +
                  " were deleted before they were handled",
              stopped.output);
  }
  EXPECT_EQ(stored_records(half.job), k_records);

  const auto rebuilt = half.job.run_until_end({"--resume", "rebuild"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  EXPECT_EQ(states_put_aside(half.job), 1U);
  EXPECT_EQ(stored_records(half.job), k_records / 2);
  const auto missing = "offsets " + range_text(0, bounds_of(half.job, 0).start);
  expect_in("/0: " + missing + " are not handled", rebuilt.output);
  expect_in(missing + " were not handled", audit_of(half.job));
  EXPECT_EQ(half.job.commit_fault(), "");
}

/// While the daemon stands still, what it has not read is taken from partition 2 at least.
void expect_a_stop_in_the_middle(std::uint64_t seed, const std::function<void(const main_job&)>& take,
                                 bool all_partitions) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(2 * k_records, seed)};
  feed.send(k_records);
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  ASSERT_TRUE(daemon.signal(SIGSTOP));
  feed.send(k_records / 4);  // answers the fetch that is under way, and may be handled
  const auto handled_at_most = bounds_of(job, 2).end;
  feed.send();
  take(job);
  ASSERT_TRUE(daemon.signal(SIGCONT));
  ASSERT_TRUE(eventually([&] { return says(read_whole(job.log()), "/2: the state ends at"); }))
      << read_whole(job.log());
  EXPECT_TRUE(eventually([&] { return !job.status().get<bool>("ready", true); }));
  expect_in("/2: the state ends at", job.status().get<std::string>("ready_reason"));
  if (!all_partitions) {
    ASSERT_TRUE(eventually([&] {
      std::string rest;
      const auto now = job.status();
      for (const auto& [unused, p] : now.get_child("streams.payments.partitions")) {
        rest += p.get<std::string>("partition") == "2" ? "" : p.get<std::string>("lag") + " ";
      }
      return rest == "0 0 0 ";
    })) << "the others go on";
  }
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 1) << read_whole(job.log());
  const auto stored = stored_offset(job, 2);
  EXPECT_LE(stored, handled_at_most);
  const auto gap = range_text(stored, bounds_of(job, 2).start);
  expect_in("/2: the state ends at offset " + std::to_string(stored), read_whole(job.log()));
  expect_in("offsets " + gap + " were deleted before they were handled", read_whole(job.log()));

  const auto accepted = job.run_until_end({"--resume", "kafka"});
  EXPECT_EQ(accepted.code, 0) << accepted.output;
  expect_in("offsets " + gap + " were not handled", audit_of(job));
  EXPECT_EQ(job.commit_fault(), "");
}

TEST(resume_log, stops_a_partition_whose_records_are_deleted_under_the_running_job) {
  const auto take = [](const main_job& job) { delete_before(job, 2, bounds_of(job, 2).end - 10); };
  expect_a_stop_in_the_middle(33, take, false);
}

TEST(resume_log, stops_where_retention_overtakes_the_running_job) {
  if (!brokers_are_ours()) GTEST_SKIP() << "other brokers look at retention every few minutes";
  expect_a_stop_in_the_middle(34, retire_all, true);
}

}  // namespace
}  // namespace ratchet::testing
