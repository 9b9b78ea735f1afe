// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kafka/batch.hpp"
#include "kafka/bounds_asker.hpp"
#include "kafka/client.hpp"
#include "kafka/kafka_source.hpp"
#include "kafka/record_probe.hpp"
#include "kafka/source_events.hpp"

namespace ratchet {

/// The source behind make_kafka_source(). Its methods are spread over group_source.cpp (membership, life),
/// group_source_poll.cpp and group_source_queries.cpp (questions and commits).
class group_source final : public source {
 public:
  group_source(kafka_config config, kafka_source_options options, std::shared_ptr<source_events> events,
               std::shared_ptr<kafka_client> client);
  ~group_source() override;

  result<std::string> cluster_id(std::chrono::milliseconds timeout) override;
  result<std::vector<topic_partition>> partitions(std::span<const std::string> topics,
                                                  std::chrono::milliseconds timeout) override;
  result<std::vector<committed_offset>> committed(std::span<const topic_partition>,
                                                  std::chrono::milliseconds timeout) override;
  result<std::vector<group_member>> members(std::chrono::milliseconds timeout) override;
  std::vector<result<log_bounds>> bounds(std::span<const topic_partition>,
                                         std::chrono::milliseconds timeout) override;
  std::vector<result<std::optional<owned_record>>> read_at(std::span<const position>,
                                                           std::chrono::milliseconds timeout) override;

  result<void> join(std::span<const std::string> topics) override;
  result<void> assign(std::span<const position>) override;
  result<void> unassign() override;
  result<void> pause(std::span<const topic_partition>) override;
  result<void> resume(std::span<const topic_partition>) override;

  result<polled> poll(std::size_t max_records, std::chrono::milliseconds timeout) override;
  void wake() noexcept override;

  result<void> commit(std::span<const commit_request>) override;
  result<void> commit_and_wait(std::span<const commit_request>, std::chrono::milliseconds timeout) override;

  [[nodiscard]] std::optional<std::int64_t> known_end(const topic_partition&) const override;
  [[nodiscard]] std::optional<std::uint32_t> generation() const override;
  void ask_bounds(std::span<const topic_partition>) override;
  std::optional<complaint> take_complaint() override;
  [[nodiscard]] std::size_t queued_bytes() const noexcept override;
  void close(std::chrono::milliseconds deadline) noexcept override;

 private:
  using positions = std::map<const topic_partition*, std::int64_t>;
  /// A position that no record has: nothing more of its partition is given out.
  static constexpr std::int64_t k_nothing = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] result<void> usable() const;
  /// Notes the code for take_complaint(), and returns it as the port's.
  [[nodiscard]] std::error_code failed(int code) const;
  /// The same of a question about the group, whose offsets are there whether or not a topic is.
  [[nodiscard]] std::error_code group_failed(int code) const;
  [[nodiscard]] std::string member_id() const;
  [[nodiscard]] result<record_probe*> own_reader();
  [[nodiscard]] result<partition_list> commit_list(std::span<const commit_request>) const;
  [[nodiscard]] result<int> partition_count(const std::string& topic,
                                            std::chrono::milliseconds timeout) const;
  result<void> resume_all();
  [[nodiscard]] bool take_at_hand(std::unique_ptr<kafka_batch>&, std::size_t max_records,
                                  std::size_t max_bytes);
  void take_message(kafka_handle<rd_kafka_message_t>, std::unique_ptr<kafka_batch>&, std::size_t max_records);
  void take_error(const rd_kafka_message_t&);
  void note_size(const kafka_batch&) noexcept;

  kafka_config config_;
  kafka_source_options options_;
  std::shared_ptr<source_events> events_;
  std::shared_ptr<kafka_client> client_;  ///< null once closed
  std::shared_ptr<partition_table> table_{std::make_shared<partition_table>()};
  std::unique_ptr<record_probe> reader_;  ///< made for the first bounds() or read_at(), dropped at assign()
  std::shared_ptr<kafka_client>
      uncommitted_;  ///< for questions about what is not fetched; made for the first
  bounds_asker asker_;
  bool joined_{false};

  /// What is read at the moment: the lowest offset that may still be given out, per partition. Guards against
  /// records of an assignment that is no more.
  positions next_;
  positions::iterator last_{next_.end()};
  std::set<topic_partition> paused_;

  double mean_record_bytes_{0};

  std::atomic<bool> woken_{false};
  std::mutex wake_mutex_;  ///< wake() may meet close()
};

}  // namespace ratchet
