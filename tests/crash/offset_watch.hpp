// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "broker/workload_main_job.hpp"
#include "control/client.hpp"
#include "store/files/synced_file.hpp"

namespace ratchet::testing {

/// What the running instance says of itself; none where it does not answer: it starts, stands still, or is
/// gone. The state it tells of is durable.
inline std::optional<json_tree> ask_status(const std::filesystem::path& state) {
  constexpr response_timeouts k_limits{1s, 2s};
  auto client = control_client::connect(state, k_limits);
  if (!client || !client.value()) return std::nullopt;
  std::string text;
  read_request request;
  request.json = true;
  const auto done = client.value()->ask(request, [&text](std::string_view piece) {
    text += piece;
    return true;
  });
  if (!done) return std::nullopt;
  std::istringstream in{text};
  json_tree tree;
  boost::property_tree::read_json(in, tree);
  return tree;
}

/// The next offsets in a status.
inline partition_offsets offsets_in(const json_tree& status) {
  partition_offsets found;
  const auto partitions = status.get_child_optional("streams.payments.partitions");
  if (!partitions) return found;
  for (const auto& [unused, p] : *partitions) {
    // One that was only just assigned has none yet.
    if (const auto next = p.get_optional<std::int64_t>("next_offset"))
      found[p.get<std::int32_t>("partition")] = *next;
  }
  return found;
}

/// What a group has committed, asked again and again without being a member. Thread-safety: one thread.
class committed_reader {
 public:
  committed_reader(std::string brokers, std::string group, std::string topic)
      : source_{open_source(config_of(brokers, group))}, topic_{std::move(topic)} {}

  /// None: the broker does not answer now.
  [[nodiscard]] std::optional<std::vector<committed_offset>> read(std::uint32_t partitions) {
    std::vector<topic_partition> all;
    for (std::uint32_t p = 0; p < partitions; ++p) all.push_back(at(topic_, static_cast<int>(p)));
    auto found = source_->committed(all, 2s);
    if (!found) return std::nullopt;
    return std::move(found).value();
  }

 private:
  std::unique_ptr<source> source_;
  std::string topic_;
};

/// Empty where every offset committed is at or below the stored one, and was synced when it was committed.
/// `synced` and `stored` must have been read after `committed`.
inline std::string beyond_the_durable(const std::vector<committed_offset>& committed,
                                      const partition_offsets& stored, std::uint64_t synced) {
  for (const auto& c : committed) {
    if (!c.offset) continue;
    const auto number = static_cast<std::int32_t>(c.where.partition);
    const std::string who =
        "partition " + std::to_string(number) + ": committed is " + std::to_string(*c.offset);
    const auto mark = parse_metadata(c.metadata);
    if (!mark) return who + " with the metadata \"" + c.metadata + "\"";
    if (mark->step > synced) {
      return who + " of step " + std::to_string(mark->step) + ", but synced is " + std::to_string(synced);
    }
    const auto mine = stored.find(number);
    if (mine == stored.end()) {
      if (*c.offset > 0) return who + ", and nothing is stored";
    } else if (*c.offset > mine->second) {
      return who + ", but stored is " + std::to_string(mine->second);
    }
  }
  return "";
}

/// Looks all the time whether Kafka's committed offsets stay behind what is durable, from a thread of its
/// own.
class offset_watch {
 public:
  offset_watch(const main_job& job, const std::atomic<std::uint32_t>& partitions)
      : reader_{job.target().brokers, job.group(), job.target().topic},
        state_{job.state()},
        partitions_{partitions},
        thread_{[this] { run(); }} {}
  ~offset_watch() {
    stop_ = true;
    thread_.join();
  }
  offset_watch(const offset_watch&) = delete;
  offset_watch& operator=(const offset_watch&) = delete;

  /// Empty while every look was right.
  [[nodiscard]] std::string fault() const {
    const std::lock_guard lock{mutex_};
    return fault_;
  }
  /// Looks that had all three: committed, synced and stored.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  static constexpr std::chrono::milliseconds k_pause{100};

  void run() {
    for (; !stop_; std::this_thread::sleep_for(k_pause)) {
      const auto committed = reader_.read(partitions_);
      if (!committed) continue;
      const auto synced = synced_file::read(state_);
      const auto status = ask_status(state_);
      if (!synced || !status) continue;
      const auto wrong = beyond_the_durable(*committed, offsets_in(*status), synced.value());
      ++looks_;
      if (wrong.empty()) continue;
      const std::lock_guard lock{mutex_};
      if (fault_.empty()) fault_ = wrong;
    }
  }

  committed_reader reader_;
  std::filesystem::path state_;
  const std::atomic<std::uint32_t>& partitions_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> looks_{0};
  mutable std::mutex mutex_;
  std::string fault_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace ratchet::testing
