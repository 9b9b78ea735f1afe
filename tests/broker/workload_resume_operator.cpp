// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// An operator moves the group's offsets with Kafka's own tool.
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_last = static_cast<int>(main_job::k_partitions) - 1;

TEST(resume_operator, is_told_that_a_rewind_alone_handles_nothing_again) {
  half_done half{41};
  half.feed.send();
  run_group_tool(half.job, "--reset-offsets --to-earliest --execute");

  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  for (int p = 0; p <= k_last; ++p) {
    expect_in("/" + std::to_string(p) +
                  ": an operator or another program set the group's offset back to 0; the state ends at " +
                  std::to_string(stored_offset(half.job, p)),
              stopped.output);
  }
  expect_in(" --resume rebuild` to handle all records again into a new state", stopped.output);

  const auto no_answer = half.job.run_until_end({"--resume", "kafka"});
  EXPECT_EQ(no_answer.code, 1) << no_answer.output;
  expect_in("`--resume kafka` does not apply to what was found", no_answer.output);
  EXPECT_EQ(stored_records(half.job), k_records);
  EXPECT_EQ(half.job.committed().at(0).offset, 0) << "nothing was claimed";

  const auto resumed = half.job.run_until_end({"--resume", "store"});
  EXPECT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(occurrences(audit_of(half.job), "resume_rewound"), main_job::k_partitions);
  EXPECT_EQ(half.job.fault(half.feed.oracle()), "");

  run_group_tool(half.job, "--reset-offsets --to-earliest --execute");
  const auto rebuilt = half.job.run_until_end({"--resume", "rebuild"});
  EXPECT_EQ(rebuilt.code, 0) << rebuilt.output;
  EXPECT_EQ(states_put_aside(half.job), 1U);
  EXPECT_EQ(rebuilt.json().get<std::uint64_t>("streams.payments.consumed"), 2 * k_records);
  EXPECT_EQ(half.job.fault(half.feed.oracle()), "");
  EXPECT_EQ(half.job.commit_fault(), "");
}

TEST(resume_operator, has_records_skipped_only_where_that_is_said) {
  half_done half{42};
  half.feed.send();
  run_group_tool(half.job, "--reset-offsets --to-latest --execute");

  const auto stopped = half.job.run_until_end();
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  std::vector<std::string> ranges;
  for (int p = 0; p <= k_last; ++p) {
    const auto stored = stored_offset(half.job, p);
    const auto end = bounds_of(half.job, p).end;
    ranges.push_back(range_text(stored, end));
    expect_in("an operator or another program set the group's offset ahead to " + std::to_string(end) +
                  "; the state ends at " + std::to_string(stored),
              stopped.output);
    expect_in(" --resume store` to handle " + ranges.back() + " after all", stopped.output);
  }
  const auto no_answer = half.job.run_until_end({"--resume", "rebuild"});
  EXPECT_EQ(no_answer.code, 1) << no_answer.output;
  expect_in("`--resume rebuild` does not apply to what was found", no_answer.output);
  EXPECT_EQ(stored_records(half.job), k_records);

  const auto skipped = half.job.run_until_end({"--resume", "kafka"});
  EXPECT_EQ(skipped.code, 0) << skipped.output;
  EXPECT_EQ(stored_records(half.job), k_records);
  for (const auto& range : ranges) expect_in("offsets " + range + " were not handled", audit_of(half.job));
  EXPECT_EQ(half.job.commit_fault(), "");

  // The offset that we have ourselves, without our mark: no harm, but it is kept in mind.
  half.job.set_committed({{half.job.partition(0), stored_offset(half.job, 0)}});
  const auto same = half.job.run_until_end();
  EXPECT_EQ(same.code, 0) << same.output;
  EXPECT_EQ(occurrences(audit_of(half.job), "resume_equal_foreign"), 1U);
  EXPECT_EQ(half.job.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
