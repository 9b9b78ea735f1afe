// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A state goes on with a second cluster that has the records at other offsets.
#include "broker/transactions.hpp"
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

std::vector<std::string> versions(int from, int to) {
  std::vector<std::string> all;
  for (int n = from; n <= to; ++n) all.push_back(plain_event("a", n, std::to_string(n)));
  return all;
}

void send(const std::string& brokers, const topic_partition& where, const std::vector<std::string>& values) {
  transactional_producer by{brokers, fresh_name("sender")};
  by.begin();
  by.send(where, values);
  by.commit();
}

/// Three versions were handled. The mirror has them behind a record and a marker of its own, and two more.
struct mirrored {
  mirrored() {
    job.write_config(k_plain_order);
    send(job.target().brokers, job.partition(0), versions(1, 3));
    const auto done = job.run_until_end();
    if (done.code != 0) throw std::runtime_error{done.output};
    const auto made = create_topic(mirror.bootstrap(), job.target().topic, main_job::k_partitions);
    if (!made) throw std::system_error{made.error()};
    send(mirror.bootstrap(), job.partition(0), {plain_event("first", 1)});
    send(mirror.bootstrap(), job.partition(0), versions(1, 5));
  }
  [[nodiscard]] command_result run_there(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{"--set", "kafka.brokers=[" + mirror.bootstrap() + "]"};
    command.insert(command.end(), more.begin(), more.end());
    return job.run_until_end(command);
  }
  [[nodiscard]] std::string snapshot() { return job.run({"get", "payments", "a"}).output; }

  local_broker mirror;
  main_job job;
};

std::int64_t end_on_mirror(const mirrored& w) {
  const auto found = log_bounds_of(w.mirror.bootstrap(), w.job.partition(0));
  if (!found) throw std::system_error{found.error()};
  return found.value().end;
}

TEST(another_cluster, is_asked_about_before_anything_is_read) {
  mirrored w;
  for (const std::vector<std::string>& option : {std::vector<std::string>{}, {"--resume", "takeover"}}) {
    const auto refused = w.run_there(option);
    EXPECT_EQ(refused.code, 78) << refused.output;
    expect_in("was read from the cluster", refused.output);
    expect_in(" --resume cluster`", refused.output);
    EXPECT_EQ(stored_offset(w.job, 0), 4);
  }
}

TEST(another_cluster, has_its_logs_read_from_their_starts) {
  mirrored w;
  const auto done = w.run_there({"--resume", "cluster", "--why", "the first one is gone"});
  EXPECT_EQ(done.code, 0) << done.output;
  expect_in("the offsets of the cluster before are forgotten", done.output);
  EXPECT_EQ(stored_offset(w.job, 0), end_on_mirror(w));
  expect_in("5", w.snapshot());
  const auto counted = done.json();
  EXPECT_EQ(counted.get<int>("streams.payments.consumed"), 6);
  EXPECT_EQ(counted.get<int>("streams.payments.verdicts.stale") +
                counted.get<int>("streams.payments.verdicts.duplicate"),
            3)
      << "each event once: " << done.output;
  expect_in("the first one is gone", audit_of(w.job));
  const auto again = w.run_there();
  EXPECT_EQ(again.code, 0) << "from now on it is its own: " << again.output;
  const auto back = w.job.run_until_end();
  EXPECT_EQ(back.code, 78) << "and the other one is another: " << back.output;
}

TEST(another_cluster, has_no_offset_kept_that_it_does_not_prove) {
  mirrored w;
  const auto refused = w.run_there({"--resume", "store"});
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("is not the one that was handled there", refused.output);
  EXPECT_EQ(stored_offset(w.job, 0), 4);
  const auto still_its_own = w.job.run_until_end();
  EXPECT_EQ(still_its_own.code, 0) << still_its_own.output;
}

}  // namespace
}  // namespace ratchet::testing
