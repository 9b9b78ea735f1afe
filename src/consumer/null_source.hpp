// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "ports/source.hpp"

namespace ratchet {

/// The source of an instance whose streams have no topics: it never has a record, joins nothing, and waits.
class null_source final : public source {
 public:
  /// `ask` makes a client for the one question such an instance has: which topics are there? Empty: none is.
  explicit null_source(std::function<std::unique_ptr<source>()> ask) : ask_{std::move(ask)} {}

  /// By a client of its own, which is gone afterwards.
  [[nodiscard]] result<std::vector<topic_partition>> partitions(std::span<const std::string> topics,
                                                                std::chrono::milliseconds timeout) override;
  [[nodiscard]] std::optional<complaint> take_complaint() override { return std::move(complaint_); }
  [[nodiscard]] result<polled> poll(std::size_t max_records, std::chrono::milliseconds timeout) override;
  void wake() noexcept override;

  // What nobody asks of it. Errors: source_unavailable.
  [[nodiscard]] result<std::string> cluster_id(std::chrono::milliseconds) override;
  [[nodiscard]] result<std::vector<committed_offset>> committed(std::span<const topic_partition>,
                                                                std::chrono::milliseconds) override;
  [[nodiscard]] result<std::vector<group_member>> members(std::chrono::milliseconds) override;
  [[nodiscard]] std::vector<result<log_bounds>> bounds(std::span<const topic_partition>,
                                                       std::chrono::milliseconds) override;
  [[nodiscard]] std::vector<result<std::optional<owned_record>>> read_at(std::span<const position>,
                                                                         std::chrono::milliseconds) override;
  [[nodiscard]] result<void> join(std::span<const std::string>) override;
  [[nodiscard]] result<void> assign(std::span<const position>) override;
  [[nodiscard]] result<void> unassign() override;
  [[nodiscard]] result<void> pause(std::span<const topic_partition>) override;
  [[nodiscard]] result<void> resume(std::span<const topic_partition>) override;
  [[nodiscard]] result<void> commit(std::span<const commit_request>) override;
  [[nodiscard]] result<void> commit_and_wait(std::span<const commit_request>,
                                             std::chrono::milliseconds) override;
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return 0; }
  void close(std::chrono::milliseconds) noexcept override {}

 private:
  std::function<std::unique_ptr<source>()> ask_;
  std::optional<complaint> complaint_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_{false};
};

}  // namespace ratchet
