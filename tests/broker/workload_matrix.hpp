// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "broker/workload_main_job.hpp"

/// What the rows of the resume table share: a job that has done half of its work, and what is asked about it.
namespace ratchet::testing {

constexpr std::uint64_t k_records = 2'000;

inline std::int64_t stored_offset(const main_job& job, int partition) {
  return must(read_stored(job.state(), "payments")).next_offsets.at(partition);
}

inline std::uint64_t stored_records(const main_job& job) {
  return must(read_stored(job.state(), "payments")).ledger.sum();
}

inline log_bounds bounds_of(const main_job& job, int partition) {
  const auto found = log_bounds_of(job.target().brokers, job.partition(partition));
  if (!found) throw std::system_error{found.error()};
  return found.value();
}

inline std::string range_text(std::int64_t from, std::int64_t to) {
  return "[" + std::to_string(from) + ", " + std::to_string(to) + ")";
}

inline bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

inline void expect_in(const std::string& what, const std::string& text) {
  EXPECT_TRUE(says(text, what)) << "not said: " << what << "\nin: " << text;
}

/// A job that has handled and committed the first half of what its feed has.
struct half_done {
  explicit half_done(std::uint64_t seed, const std::map<std::string, std::string>& topic_config = {})
      : job{shared_brokers(), topic_config}, feed{job.target(), main_job::dials(2 * k_records, seed)} {
    feed.send(k_records);
    const auto done = job.run_until_end();
    if (done.code != 0) throw std::runtime_error{done.output};
  }
  main_job job;
  payment_feed feed;
};

inline std::string audit_of(main_job& job) {
  return job.run({"status", "--output", "json", "--audit"}).output;
}

/// How many old states lie beside the one of now.
inline std::size_t states_put_aside(const main_job& job) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator{job.directory()}) {
    found += entry.path().filename().string().starts_with("state.old-") ? 1U : 0U;
  }
  return found;
}

/// The ids of the group's members, as the brokers list them.
inline std::vector<std::string> members_of(const main_job& job) {
  const auto source = open_source(config_of(job.target().brokers, job.group()));
  const auto found = source->members(k_patience);
  if (!found) throw std::system_error{found.error()};
  std::vector<std::string> ids;
  for (const group_member& m : found.value()) ids.push_back(m.id);
  return ids;
}

/// How often the group, which has a member, was rebalanced, by the broker's own log; 0 where the brokers are
/// not ours.
inline std::size_t rebalances_of(const main_job& job) {
  const char* dir = std::getenv("RATCHET_TEST_BROKER_DIR");
  if (dir == nullptr) return 0;
  const auto found = occurrences(read_whole(std::filesystem::path{dir} / "log"),
                                 "Preparing to rebalance group " + job.group() + " ");
  if (found == 0) throw std::runtime_error{"the broker's log does not tell of rebalances"};
  return found;
}

/// Settings that put a second state directory under the same config.
inline std::vector<std::string> with_state(std::vector<std::string> command,
                                           const std::filesystem::path& path) {
  command.insert(command.end(), {"--set", "state.path=" + path.string()});
  return command;
}

/// Runs Kafka's own tool for consumer groups.
inline void run_group_tool(const main_job& job, const std::string& arguments) {
  run_kafka_tool((job.directory() / "tool").string(),
                 "run org.apache.kafka.tools.consumer.group.ConsumerGroupCommand --bootstrap-server " +
                     job.target().brokers + " --group " + job.group() + " --topic " + job.target().topic +
                     " " + arguments);
}

/// Events of one key each on a partition of the test's choice; no ids, so that they can be told by hand.
constexpr const char* k_plain_order =
    "    envelope: {format: json, aggregate: /p, sequence: /n}\n    order: latest\n    dedup: off\n"
    "    reducer: {kind: replace, from: /v}\n";
inline std::string plain_event(const std::string& aggregate, int number, const std::string& value = "0") {
  return R"({"p":")" + aggregate + R"(","n":)" + std::to_string(number) + R"(,"v":)" + value + "}";
}

}  // namespace ratchet::testing
