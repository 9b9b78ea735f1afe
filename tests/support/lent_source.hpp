// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ports/source.hpp"

namespace ratchet::testing {

/// A source that goes with its session, over one that stays: what an engine is given for a client.
class lent_source final : public source {
 public:
  explicit lent_source(source& under) : under_{under} {}

  result<std::string> cluster_id(std::chrono::milliseconds t) override { return under_.cluster_id(t); }
  result<std::vector<topic_partition>> partitions(std::span<const std::string> topics,
                                                  std::chrono::milliseconds t) override {
    return under_.partitions(topics, t);
  }
  result<std::vector<committed_offset>> committed(std::span<const topic_partition> of,
                                                  std::chrono::milliseconds t) override {
    return under_.committed(of, t);
  }
  result<std::vector<group_member>> members(std::chrono::milliseconds t) override {
    return under_.members(t);
  }
  std::vector<result<log_bounds>> bounds(std::span<const topic_partition> of,
                                         std::chrono::milliseconds t) override {
    return under_.bounds(of, t);
  }
  std::vector<result<std::optional<owned_record>>> read_at(std::span<const position> of,
                                                           std::chrono::milliseconds t) override {
    return under_.read_at(of, t);
  }
  result<void> join(std::span<const std::string> topics) override { return under_.join(topics); }
  result<void> assign(std::span<const position> at) override { return under_.assign(at); }
  result<void> unassign() override { return under_.unassign(); }
  result<void> pause(std::span<const topic_partition> of) override { return under_.pause(of); }
  result<void> resume(std::span<const topic_partition> of) override { return under_.resume(of); }
  result<polled> poll(std::size_t most, std::chrono::milliseconds t) override { return under_.poll(most, t); }
  void wake() noexcept override { under_.wake(); }
  result<void> commit(std::span<const commit_request> r) override { return under_.commit(r); }
  result<void> commit_and_wait(std::span<const commit_request> r, std::chrono::milliseconds t) override {
    return under_.commit_and_wait(r, t);
  }
  [[nodiscard]] std::optional<std::int64_t> known_end(const topic_partition& of) const override {
    return under_.known_end(of);
  }
  void ask_bounds(std::span<const topic_partition> of) override { under_.ask_bounds(of); }
  [[nodiscard]] std::optional<complaint> take_complaint() override { return under_.take_complaint(); }
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return under_.queued_bytes(); }
  void close(std::chrono::milliseconds deadline) noexcept override { under_.close(deadline); }

 private:
  source& under_;
};

}  // namespace ratchet::testing
