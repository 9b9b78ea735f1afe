// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "broker/kafka_fixture.hpp"
#include "kafka/admin.hpp"
#include "store/open/read_only.hpp"
#include "support/kafka_testing.hpp"
#include "test_paths.hpp"
#include "workload/workload_kafka.hpp"
#include "workload/workload_process.hpp"
#include "workload/workload_stored.hpp"

/// The whole main job with the real binary on a real broker: a topic, a group and a state directory of the
/// test's own, and what an operator does with them.
namespace ratchet::testing {

using json_tree = boost::property_tree::ptree;

/// Throws the problem's text, so that a helper that fails fails its test.
template <class T>
T must(reported<T> done) {
  if (!done) throw std::runtime_error{to_text(done.error())};
  if constexpr (!std::is_void_v<T>) return std::move(done).value();
}

/// Waits until `done` or until patience ends; true if done. The waiting is never what a test asserts.
inline bool eventually(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

/// A command that has ended. Logs and data are in one text, in the order in which they were written.
struct command_result {
  int code{-1};
  std::string output;
  /// The line that is a JSON object, parsed. Logs are text, so there is only one.
  [[nodiscard]] json_tree json() const {
    std::istringstream lines{output};
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('{')) continue;
      std::istringstream text{line};
      json_tree tree;
      boost::property_tree::read_json(text, tree);
      return tree;
    }
    throw std::runtime_error{"no JSON in: " + output};
  }
};

inline std::string read_whole(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

inline std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// A stream of payment statuses that is sent bit by bit; the oracle has seen what was sent.
class payment_feed {
 public:
  payment_feed(const kafka_target& target, const workload_dials& dials)
      : stream_{must(workload_stream::make(with_start(dials)))},
        oracle_{stream_},
        sink_{must(make_kafka_sink(target))} {}
  /// The thread sends into the sink: it goes first.
  ~payment_feed() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  payment_feed(const payment_feed&) = delete;
  payment_feed& operator=(const payment_feed&) = delete;

  /// Sends the next `count` records, or all that are left, and waits for their delivery.
  void send(std::uint64_t count = ~std::uint64_t{0}) {
    workload_record record;
    for (std::uint64_t i = 0; i < count && stream_.next(record); ++i) put(record);
    if (const auto done = sink_->finish(); !done) throw std::system_error{done.error()};
  }
  /// Sends the next `count` records from a thread, slowly enough that others can act in the meantime.
  void send_in_background(std::uint64_t count) {
    thread_ = std::thread{[this, count] {
      try {
        workload_record record;
        for (std::uint64_t i = 0; i < count && !stop_ && stream_.next(record); ++i) {
          put(record);
          if (i % k_burst == 0) std::this_thread::sleep_for(10ms);
        }
      } catch (...) {
        failed_ = std::current_exception();
      }
    }};
  }
  /// Waits for the thread's end and for the delivery of all it has sent.
  void wait() {
    if (thread_.joinable()) thread_.join();
    if (failed_) std::rethrow_exception(failed_);
    send(0);
  }
  /// The background stops where it is.
  void stop() {
    stop_ = true;
    wait();
    stop_ = false;
  }

  /// Not while it sends in the background.
  [[nodiscard]] const workload_oracle& oracle() const { return oracle_; }

 private:
  static constexpr std::uint64_t k_burst = 100;

  static workload_dials with_start(workload_dials dials) {
    dials.start = start_for_end_now(dials);  // a broker deletes what is too old
    return dials;
  }
  void put(const workload_record& record) {
    value_.clear();
    stream_.render(record.event, value_);
    oracle_.observe(record);
    const auto sent = sink_->put(record, workload_stream::key(record.event), value_);
    if (!sent) throw std::system_error{sent.error()};
  }

  workload_stream stream_;
  workload_oracle oracle_;
  std::unique_ptr<workload_sink> sink_;
  std::string value_;
  std::atomic<bool> stop_{false};
  std::exception_ptr failed_;  // of the thread, once it has been joined
  std::thread thread_;
};

/// The shared broker, or one of the test's own, with a topic, a group and a config.
class main_job {
 public:
  static constexpr std::uint32_t k_partitions = 4;
  static constexpr const char* k_payments_order =
      "    envelope: {format: json, event_id: /id, aggregate: /payment/id, sequence: /sequence, type: "
      "/type,\n"
      "               time: /occurred_at}\n"
      "    order: latest\n"
      "    dedup: {ids: uuidv7, window: 24h, max_skew: 5m}\n"
      "    reducer: {kind: replace, from: /payment}\n";

  explicit main_job(std::string brokers = shared_brokers(),
                    const std::map<std::string, std::string>& topic_config = {}) {
    std::string name = (std::filesystem::temp_directory_path() / "ratchet-main-job-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"mkdtemp failed"};
    directory_ = name;
    target_.brokers = std::move(brokers);
    target_.topic = fresh_name("main-job");
    target_.partitions = k_partitions;
    const auto made = create_topic(target_.brokers, target_.topic, k_partitions, topic_config);
    if (!made) throw std::system_error{made.error()};
    write_config(k_payments_order);
  }
  /// A failed test leaves its state and its logs to be looked at.
  ~main_job() {
    (void)delete_topic(target_.brokers, target_.topic);  // a broker may be gone by now
    std::error_code ignored;
    if (!::testing::Test::HasFailure()) std::filesystem::remove_all(directory_, ignored);
  }
  main_job(const main_job&) = delete;
  main_job& operator=(const main_job&) = delete;

  [[nodiscard]] const kafka_target& target() const { return target_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::filesystem::path state() const { return directory_ / "state"; }
  [[nodiscard]] std::filesystem::path log() const { return directory_ / "daemon.log"; }
  [[nodiscard]] std::string group() const { return target_.topic; }
  [[nodiscard]] topic_partition partition(int number) const { return at(target_.topic, number); }

  static workload_dials dials(std::uint64_t events, std::uint64_t seed) {
    workload_dials d;
    d.events = events;
    d.aggregates = 500;
    d.delay = 500;
    d.malformed = 0.01;
    d.conflicts = 0.005;
    d.seed = seed;
    return d;
  }

  /// Writes the config anew, with the lines that say how events are ordered and reduced, and where it starts.
  void write_config(const std::string& order_lines = k_payments_order,
                    const std::string& start = "earliest") const {
    std::ofstream file{directory_ / "ratchet.yaml"};
    // Less than 6 s only our own brokers accept; a member that was killed stays that long.
    const char* session = std::getenv("RATCHET_TEST_BROKERS") != nullptr ? "6000" : "2000";
    file << "version: 1\nkafka:\n  brokers: [\"" << target_.brokers << "\"]\n  group: " << group()
         << "\n  properties: {session.timeout.ms: " << session
         << ", heartbeat.interval.ms: 300, reconnect.backoff.max.ms: 500}\n"
         << "state: {path: \"" << state().string() << "\"}\nstep: {records: 500}\nstreams:\n"
         << "  - name: payments\n    topics: [" << target_.topic << "]\n    start: " << start << "\n"
         << order_lines;
  }

  /// Starts `ratchet COMMAND … -c CONFIG` with its output in a file.
  [[nodiscard]] workload_process start(const std::vector<std::string>& command,
                                       const std::filesystem::path& output) const {
    std::vector<std::string> words{RATCHET_BINARY};
    words.insert(words.end(), command.begin(), command.end());
    words.insert(words.end(), {"-c", (directory_ / "ratchet.yaml").string()});
    return must(workload_process::start(words, {"NO_COLOR=1"}, output));
  }
  /// Starts the daemon; what it says is in log().
  [[nodiscard]] workload_process start_daemon() const { return start({"run"}, log()); }
  /// Runs a command to its end.
  [[nodiscard]] command_result run(const std::vector<std::string>& command,
                                   std::chrono::milliseconds patience = k_patience) {
    const auto output = directory_ / ("command-" + std::to_string(++commands_) + ".out");
    auto process = start(command, output);
    const auto code = process.wait(patience);
    if (!code) throw std::runtime_error{command.front() + " does not end: " + read_whole(output)};
    return {*code, read_whole(output)};
  }
  [[nodiscard]] command_result run_until_end(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{"run", "--until-end", "--output", "json"};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  }
  /// Asks the daemon; an empty tree where it does not answer (yet).
  [[nodiscard]] json_tree status() {
    const auto asked = run({"status", "--output", "json", "--audit"});
    return asked.code == 0 ? asked.json() : json_tree{};
  }
  [[nodiscard]] std::uint64_t consumed() {
    return status().get<std::uint64_t>("streams.payments.consumed", 0);
  }
  /// True once the daemon has handled and committed as many records.
  [[nodiscard]] bool comes_to(std::uint64_t records) {
    return eventually([&] {
      const auto found = status();
      if (found.get<std::uint64_t>("streams.payments.consumed", 0) != records) return false;
      for (const auto& [unused, p] : found.get_child("streams.payments.partitions")) {
        if (p.get<std::string>("committed") != p.get<std::string>("next_offset")) return false;
      }
      return true;
    });
  }

  /// What the group has committed, asked without being a member.
  [[nodiscard]] std::vector<committed_offset> committed() const {
    std::vector<topic_partition> all;
    for (std::uint32_t p = 0; p < target_.partitions; ++p) all.push_back(partition(static_cast<int>(p)));
    const auto source = open_source(config_of(target_.brokers, group()));
    auto found = source->committed(all, k_patience);
    if (!found) throw std::system_error{found.error()};
    return std::move(found).value();
  }
  /// Sets the group's offsets as an operator's tool does: without metadata, while nobody is a member.
  void set_committed(const std::vector<position>& wanted) const {
    std::vector<commit_request> requests;
    for (const position& p : wanted) requests.push_back({p.where, p.offset, ""});
    const auto source = open_source(config_of(target_.brokers, group()));
    const bool done = eventually([&] { return bool{source->commit_and_wait(requests, 5s)}; });
    if (!done) throw std::runtime_error{"the group's offsets could not be set"};
  }

  /// Empty where the stopped state is the oracle's and its ledger adds up; else what is wrong.
  [[nodiscard]] std::string fault(const workload_oracle& oracle) const { return fault_of(state(), oracle); }
  [[nodiscard]] static std::string fault_of(const std::filesystem::path& path,
                                            const workload_oracle& oracle) {
    workload_comparison comparison{oracle};
    must(compare_stored(path, "payments", comparison));
    if (!comparison.right()) return comparison.text();
    return ledger_fault(oracle, must(read_stored(path, "payments")).ledger);
  }
  /// Empty where what is committed is what is stored, under the mark of this store.
  [[nodiscard]] std::string commit_fault() const {
    const auto stored = must(read_stored(state(), "payments")).next_offsets;
    const auto directory = must(open_store_read_only(state()));
    const auto known = directory->incarnations();
    for (const auto& c : committed()) {
      const auto number = static_cast<std::int32_t>(c.where.partition);
      const auto mine = stored.find(number);
      if (mine == stored.end() || c.offset != mine->second) {
        return "partition " + std::to_string(number) + ": committed is " +
               std::to_string(c.offset.value_or(-1));
      }
      const auto mark = parse_metadata(c.metadata);
      if (!mark || mark->store_uuid != directory->uuid() ||
          std::find(known.begin(), known.end(), mark->incarnation) == known.end()) {
        return "partition " + std::to_string(number) + ": metadata is \"" + c.metadata + "\"";
      }
    }
    return "";
  }

 private:
  std::filesystem::path directory_;
  kafka_target target_;
  int commands_{0};
};

}  // namespace ratchet::testing
