// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ports/clock.hpp"
#include "ports/source.hpp"

namespace ratchet {

/// What one session of an owner reads through: the group gave this instance the slot, and with it all
/// partitions of the streams' topics. The group's own client stays as it is behind it, before the session and
/// after it. Where the group asks for the slot, as when a standby joins, and gives it back, the session goes
/// on and keeps its lead: the log says who has that. The group does not know the streams' topics, so it does
/// not tell of partitions that are added to them: this looks for them, and gives the session all partitions
/// anew. Where another member gets it, poll() fails with source_fatal, as it does at once where the lead or
/// the membership is lost. Thread-safety: as source.
class slot_source final : public source {
 public:
  /// `turn` is called at each poll(); false ends the session.
  slot_source(source& of, topic_partition slot, const clock_port& clock, std::function<bool()> turn)
      : of_{of}, slot_{std::move(slot)}, clock_{clock}, turn_{std::move(turn)} {}

  [[nodiscard]] result<std::string> cluster_id(std::chrono::milliseconds timeout) override {
    return of_.cluster_id(timeout);
  }
  [[nodiscard]] result<std::vector<topic_partition>> partitions(std::span<const std::string> topics,
                                                                std::chrono::milliseconds timeout) override {
    return of_.partitions(topics, timeout);
  }
  [[nodiscard]] result<std::vector<committed_offset>> committed(std::span<const topic_partition> of,
                                                                std::chrono::milliseconds timeout) override {
    return of_.committed(of, timeout);
  }
  /// None: the others follow the log, and read nothing.
  [[nodiscard]] result<std::vector<group_member>> members(std::chrono::milliseconds) override {
    return std::vector<group_member>{};
  }
  [[nodiscard]] std::vector<result<log_bounds>> bounds(std::span<const topic_partition> of,
                                                       std::chrono::milliseconds timeout) override {
    return of_.bounds(of, timeout);
  }
  [[nodiscard]] std::vector<result<std::optional<owned_record>>> read_at(
      std::span<const position> of, std::chrono::milliseconds timeout) override {
    return of_.read_at(of, timeout);
  }

  /// The group is joined already: the assignment follows.
  [[nodiscard]] result<void> join(std::span<const std::string> topics) override;
  [[nodiscard]] result<void> assign(std::span<const position> positions) override {
    return of_.assign(positions);
  }
  [[nodiscard]] result<void> unassign() override;
  [[nodiscard]] result<void> pause(std::span<const topic_partition> of) override { return of_.pause(of); }
  [[nodiscard]] result<void> resume(std::span<const topic_partition> of) override { return of_.resume(of); }
  [[nodiscard]] result<polled> poll(std::size_t max_records, std::chrono::milliseconds timeout) override;
  void wake() noexcept override { of_.wake(); }
  [[nodiscard]] result<void> commit(std::span<const commit_request> all) override { return of_.commit(all); }
  [[nodiscard]] result<void> commit_and_wait(std::span<const commit_request> all,
                                             std::chrono::milliseconds timeout) override {
    return of_.commit_and_wait(all, timeout);
  }
  [[nodiscard]] std::optional<std::int64_t> known_end(const topic_partition& of) const override {
    return of_.known_end(of);
  }
  void ask_bounds(std::span<const topic_partition> all) override { of_.ask_bounds(all); }
  [[nodiscard]] std::optional<complaint> take_complaint() override { return of_.take_complaint(); }
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return of_.queued_bytes(); }
  /// The group's client is not this session's to close.
  void close(std::chrono::milliseconds) noexcept override {}

  /// The group took the slot back, and was answered: another member has it, or nobody was told yet.
  [[nodiscard]] bool was_given_back() const noexcept { return given_back_; }
  /// The group took the slot back, and was not answered: the session ended before.
  [[nodiscard]] bool owes_answer() const noexcept { return is_revoked_ && !given_back_; }
  /// The group went on without this member, which was not answered: another one may have the slot.
  [[nodiscard]] bool was_lost() const noexcept { return is_lost_; }

 private:
  [[nodiscard]] result<void> take_back(notice::assigned&);
  [[nodiscard]] std::optional<polled> look_for_added();

  source& of_;
  topic_partition slot_;
  const clock_port& clock_;
  std::function<bool()> turn_;
  std::vector<std::string> topics_;
  std::vector<topic_partition> inputs_;
  std::chrono::steady_clock::time_point look_at_;  ///< when partitions may have been added
  bool is_giving_anew_{false};                     ///< the group has not asked for anything
  bool is_told_{false};                            ///< of the assignment
  bool is_revoked_{false};
  bool given_back_{false};
  bool has_moved_{false};  ///< to another member
  bool is_lost_{false};
};

}  // namespace ratchet
