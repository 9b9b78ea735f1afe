// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kafka/client.hpp"
#include "ports/source.hpp"

namespace ratchet {

/// Turns librdkafka's callbacks into notices and does nothing else: the owner acts on them between steps, on
/// the polling thread, where it calls assign() or unassign(); librdkafka waits for that call, and keeps
/// heartbeating meanwhile. Only while the client closes are partitions given back at once, as nobody answers.
class source_events final : public client_callbacks {
 public:
  enum class answer : std::uint8_t { none, assign, unassign };

  void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t, rd_kafka_topic_partition_list_t*) override;
  void on_error(rd_kafka_t*, rd_kafka_resp_err_t, const char* reason) override;
  /// The end of an asynchronous commit.
  void on_commit(rd_kafka_resp_err_t, const rd_kafka_topic_partition_list_t*);
  /// An error that came in a message's stead. `assigned` says whether its partition is read at the moment.
  void on_message_error(rd_kafka_t*, const rd_kafka_message_t&, bool assigned);

  [[nodiscard]] std::vector<source_notice> take() { return std::exchange(notices_, {}); }
  [[nodiscard]] bool empty() const noexcept { return notices_.empty(); }
  /// An assigned, revoked or fatal notice is among them: what comes next belongs to another assignment.
  [[nodiscard]] bool barrier() const noexcept { return barrier_; }
  void clear_barrier() noexcept { barrier_ = false; }

  /// For a call that takes many records: a rebalance in its midst does not end it, as the library would lose
  /// an error that it has taken from its queue by then. Records behind it are of no assignment any more.
  void stay_in_call(bool stay) noexcept { stays_in_call_ = stay; }

  /// See source::take_complaint().
  [[nodiscard]] std::optional<complaint> take_complaint();
  /// For errors that come as the answer of a question.
  void complain(const std::error_code&, std::string text, std::string topic = {});

  [[nodiscard]] answer wanted() const noexcept { return wanted_; }
  void answered() noexcept { wanted_ = answer::none; }
  void start_closing() noexcept { closing_ = true; }

  bool commit_under_way{false};

 private:
  void fatal(rd_kafka_t*, const char* reason);

  std::vector<source_notice> notices_;
  std::optional<complaint> complaint_;
  bool barrier_{false};
  bool stays_in_call_{false};
  answer wanted_{answer::none};
  std::atomic<bool> closing_{false};
};

/// The offsets that a commit made, and the first error where there was one.
struct commit_result {
  std::vector<committed_offset> offsets;
  std::error_code code;
  std::string topic;  ///< that the code is about; empty: all of them
};
[[nodiscard]] commit_result read_commit(rd_kafka_resp_err_t, const rd_kafka_topic_partition_list_t*);

[[nodiscard]] topic_partition to_topic_partition(const rd_kafka_topic_partition_t&);

}  // namespace ratchet
