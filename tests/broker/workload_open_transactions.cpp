// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A transaction of one producer is open, and holds back the records of all others.
#include "broker/transactions.hpp"
#include "broker/workload_matrix.hpp"
#include "support/each_answer.hpp"

namespace ratchet::testing {
namespace {

/// One record is read; behind it lie two of an open transaction, and three of another producer.
struct held_back {
  held_back() {
    job.write_config(k_plain_order);
    send(first, 1);
    open.begin();
    open.send(job.partition(0), {plain_event("tx", 1), plain_event("tx", 2)});
    send(others, 3);
  }
  void send(transactional_producer& by, int count) {
    by.begin();
    for (int n = 0; n < count; ++n) by.send(job.partition(0), {plain_event("a" + std::to_string(sent++), 1)});
    by.commit();
  }
  [[nodiscard]] std::string of_p0(const std::string& name) {
    const auto now = job.status();
    if (now.empty()) return "no answer";
    for (const auto& [unused, p] : now.get_child("streams.payments.partitions")) {
      if (p.get<int>("partition") == 0) return p.get<std::string>(name, "none");
    }
    return "no partition";
  }

  main_job job;
  transactional_producer open{job.target().brokers, fresh_name("open")};
  transactional_producer first{job.target().brokers, fresh_name("first")};
  transactional_producer others{job.target().brokers, fresh_name("others")};
  int sent{0};
};

TEST(open_transactions, are_told_with_their_offset_and_count_for_the_lag) {
  held_back w;
  auto daemon = w.job.start_daemon();
  // A record and its marker, two of the open transaction, three with a marker.
  ASSERT_TRUE(eventually([&] { return w.of_p0("transaction_open_at") == "2"; })) << read_whole(w.job.log());
  EXPECT_EQ(w.of_p0("next_offset"), "2");
  EXPECT_TRUE(eventually([&] { return w.of_p0("lag") == "6"; })) << w.of_p0("lag");
  EXPECT_TRUE(eventually([&] {
    return says(read_whole(w.job.log()),
                "the transaction that began at offset 2 is open, and holds back [2, 8)");
  })) << read_whole(w.job.log());
  EXPECT_TRUE(w.job.status().get<bool>("ready"));
  w.open.abort();
  EXPECT_TRUE(eventually([&] { return w.of_p0("lag") == "0" && w.of_p0("transaction_open_at") == "none"; }))
      << read_whole(w.job.log());
  EXPECT_EQ(w.job.consumed(), 4U);
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(w.job.log());
}

TEST(open_transactions, are_waited_for_by_a_run_to_the_end) {
  held_back w;
  auto run = w.job.start({"run", "--until-end"}, w.job.log());
  ASSERT_TRUE(eventually([&] { return says(read_whole(w.job.log()), "holds back [2, 8)"); }))
      << read_whole(w.job.log());
  EXPECT_FALSE(run.ended());
  w.open.commit();
  EXPECT_EQ(run.wait(k_patience), 0) << read_whole(w.job.log());
  EXPECT_EQ(stored_records(w.job), 6U);
  EXPECT_EQ(stored_offset(w.job, 0), 9);
}

TEST(open_transactions, are_seen_by_bounds_before_anything_is_read) {
  held_back w;
  const auto source = open_source(config_of(w.job.target().brokers, w.job.group()));
  // A broker answers a commit before it has written the markers of the transaction.
  const auto become = [&](std::int64_t end, std::int64_t high) {
    log_bounds last_seen;
    const bool reached = eventually([&] {
      const auto now = testing::bounds_of(*source, w.job.partition(0), k_patience);
      if (now) last_seen = now.value();
      return now && last_seen.end == end && last_seen.last() == high;
    });
    if (reached) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "end " << last_seen.end << ", high " << last_seen.high;
  };
  EXPECT_TRUE(become(2, 8));
  w.open.commit();
  EXPECT_TRUE(become(9, 9));
}

}  // namespace
}  // namespace ratchet::testing
