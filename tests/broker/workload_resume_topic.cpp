// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The topic is deleted and made anew, or gets more partitions.
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

void take_away(const main_job& job) {
  const auto gone = delete_topic(job.target().brokers, job.target().topic);
  if (!gone) throw std::system_error{gone.error()};
}

void make_again(const main_job& job) {
  const auto& target = job.target();
  if (!eventually([&] { return bool{create_topic(target.brokers, target.topic, main_job::k_partitions)}; })) {
    throw std::runtime_error{"the topic is not made anew"};
  }
}

TEST(resume_topic, stops_where_a_topic_made_anew_is_shorter_than_the_state) {
  half_done half{81};
  take_away(half.job);
  make_again(half.job);
  payment_feed other{half.job.target(), main_job::dials(k_records / 4, 82)};
  other.send();
  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  for (int p = 0; p < static_cast<int>(main_job::k_partitions); ++p) {
    expect_in("/" + std::to_string(p) + ": the state ends at offset " +
                  std::to_string(stored_offset(half.job, p)) + ", but the log ends at " +
                  std::to_string(bounds_of(half.job, p).end) + ": the topic was truncated or created again",
              stopped.output);
  }
  EXPECT_EQ(half.job.fault(half.feed.oracle()), "") << "the state is as it was";
  for (const char* option : {"store", "kafka"}) {
    const auto no_answer = half.job.run_until_end({"--resume", option});
    EXPECT_EQ(no_answer.code, 1) << no_answer.output;
    expect_in("does not apply to what was found", no_answer.output);
  }
  const auto rebuilt = half.job.run_until_end({"--resume", "rebuild"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  EXPECT_EQ(states_put_aside(half.job), 1U);
  EXPECT_EQ(half.job.fault(other.oracle()), "");
  EXPECT_EQ(half.job.commit_fault(), "");
}

/// The topic is made anew under the running job, with so many other records; `why` is what must be said. It
/// stays away until the job has met that: one that comes back between two looks of the client, and longer, is
/// beyond what is promised. The job stands still while it is filled, and never sees it half filled.
void expect_not_read_on(std::uint64_t seed, std::uint64_t others, const std::string& why) {
  half_done half{seed};
  main_job& job = half.job;
  auto daemon = job.start_daemon();
  ASSERT_TRUE(job.comes_to(k_records)) << read_whole(job.log());
  take_away(job);
  ASSERT_TRUE(eventually([&] { return daemon.ended() || says(read_whole(job.log()), "revoked"); }))
      << read_whole(job.log());
  daemon.signal(SIGSTOP);
  make_again(job);
  payment_feed other{job.target(), main_job::dials(others, seed + 1)};
  other.send();
  daemon.signal(SIGCONT);
  ASSERT_TRUE(eventually([&] { return daemon.ended() || says(read_whole(job.log()), why); }))
      << read_whole(job.log());
  if (!daemon.ended()) {
    EXPECT_FALSE(job.status().get<bool>("ready"));
    ASSERT_TRUE(daemon.signal(SIGTERM));
    EXPECT_EQ(daemon.wait(k_patience), 1) << read_whole(job.log());
  } else {
    EXPECT_EQ(daemon.ended(), 78) << read_whole(job.log());  // it met the moment without a topic
  }
  EXPECT_EQ(job.fault(half.feed.oracle()), "") << "what was made anew left no trace";
  const auto stopped = job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  expect_in(why, stopped.output);
}

TEST(resume_topic, is_not_read_on_where_it_is_made_anew_under_the_running_job) {
  expect_not_read_on(83, k_records / 4, "the topic was truncated or created again");
}

TEST(resume_topic, is_not_read_on_where_it_is_made_anew_and_longer_under_the_running_job) {
  expect_not_read_on(87, 3 * k_records, "is not the one that was handled there: the topic was created again");
}

/// A job that starts at the end of what is there, and the events behind that, over more partitions.
struct growing {
  explicit growing(std::uint64_t seed) : before{job.target(), main_job::dials(k_records, seed)} {
    job.write_config(main_job::k_payments_order, "latest");
    before.send();
  }
  void grow() {
    const auto grown = add_partitions(job.target().brokers, job.target().topic, 6);
    if (!grown) throw std::system_error{grown.error()};
    kafka_target target = job.target();
    target.partitions = 6;
    after = std::make_unique<payment_feed>(target, main_job::dials(k_records, 99));
    after->send();
  }
  main_job job;
  payment_feed before;
  std::unique_ptr<payment_feed> after;
};

TEST(resume_topic, is_read_from_the_beginning_of_a_partition_that_was_added_while_the_job_stood) {
  growing g{85};
  const auto nothing = g.job.run_until_end();
  EXPECT_EQ(nothing.code, 0) << nothing.output;
  EXPECT_EQ(nothing.json().get<int>("streams.payments.consumed"), 0) << "start: latest";
  EXPECT_EQ(stored_offset(g.job, 0), bounds_of(g.job, 0).end);
  g.grow();
  const auto done = g.job.run_until_end();
  EXPECT_EQ(done.code, 0) << done.output;
  expect_in("/5 at offset 0", done.output);
  EXPECT_EQ(g.job.fault(g.after->oracle()), "");
  EXPECT_EQ(stored_offset(g.job, 5), bounds_of(g.job, 5).end);
}

TEST(resume_topic, is_read_from_the_beginning_of_a_partition_that_is_added_under_the_running_job) {
  growing g{86};
  auto daemon = g.job.start_daemon();
  ASSERT_TRUE(eventually([&] { return g.job.status().get<bool>("ready", false); }))
      << read_whole(g.job.log());
  g.grow();
  ASSERT_TRUE(g.job.comes_to(k_records)) << read_whole(g.job.log());
  EXPECT_TRUE(g.job.status().get<bool>("ready"));
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << read_whole(g.job.log());
  expect_in("/5 at offset 0", read_whole(g.job.log()));
  EXPECT_EQ(g.job.fault(g.after->oracle()), "");
}

}  // namespace
}  // namespace ratchet::testing
