// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ports/publisher.hpp"
#include "ports/replica.hpp"
#include "ports/slot_log.hpp"
#include "sim/pair/judge.hpp"
#include "sim/pair/setting.hpp"
#include "support/memory_slot_log.hpp"

/// What lies between a process and the world: each call may be its last, and others may have their turn in
/// it.
namespace ratchet::pair_sim {

/// A way to a log in memory. What it appends lands when the world says so.
class process_log final : public slot_log {
 public:
  process_log(testing::memory_log& of, judge& j, process_calls& calls)
      : under_{of, false}, judge_{j}, calls_{calls} {}

  void append(replicate::append_request request) override {
    calls_.call();
    under_.append(std::move(request));
    calls_.call();
  }
  [[nodiscard]] bool has_room() const override { return under_.has_room(); }
  void give_up() override { under_.give_up(); }
  [[nodiscard]] std::vector<append_report> reports() override {
    calls_.call();
    return under_.reports();
  }
  [[nodiscard]] result<log_read> read(const replicate::read_range& range) override {
    calls_.call();
    return under_.read(range);
  }
  void stop_reading() override { under_.stop_reading(); }
  void ask_bounds(std::int64_t known) override {
    calls_.call();
    under_.ask_bounds(known);
  }
  [[nodiscard]] std::optional<result<told_bounds>> take_bounds() override { return under_.take_bounds(); }
  [[nodiscard]] result<void> delete_before(std::int64_t offset) override {
    calls_.call();
    auto done = under_.delete_before(offset);
    judge_.on_cut();
    return done;
  }
  [[nodiscard]] std::optional<complaint> take_complaint() override { return std::nullopt; }
  void wait(milliseconds) override { calls_.wait(); }
  void on_progress(std::function<void()> told) override { under_.on_progress(std::move(told)); }

  [[nodiscard]] const testing::memory_producer& producer() { return under_.producer(); }
  testing::memory_slot_log& under() { return under_; }

 private:
  testing::memory_slot_log under_;
  judge& judge_;
  process_calls& calls_;
};

/// A replica that shows the judge what it applies.
class judged_replica final : public replica {
 public:
  judged_replica(replica& under, std::string who, judge& j, process_calls& calls,
                 std::function<void()> applied)
      : under_{under}, who_{std::move(who)}, judge_{j}, calls_{calls}, applied_{std::move(applied)} {}

  [[nodiscard]] std::optional<replicate::log_position> position() const override { return under_.position(); }
  [[nodiscard]] std::shared_ptr<const std::string> rows_of(std::uint64_t step) const override {
    return under_.rows_of(step);
  }
  [[nodiscard]] pending_use pending() const override { return under_.pending(); }
  [[nodiscard]] std::optional<slot_owner> owner() const override { return under_.owner(); }
  void note_owner(const slot_owner& o) override { under_.note_owner(o); }
  [[nodiscard]] result<std::optional<apply_refusal>> apply(std::span<const confirmed_rows> all) override {
    judge_.on_apply(who_, all);
    calls_.call();
    auto done = under_.apply(all);
    applied_();
    calls_.call();
    return done;
  }
  [[nodiscard]] result<void> drop_pending() override { return under_.drop_pending(); }
  [[nodiscard]] result<void> reload() override { return under_.reload(); }
  [[nodiscard]] result<std::unique_ptr<replica_copy>> copy(const row_place& from) override {
    return under_.copy(from);
  }
  [[nodiscard]] bool is_restoring() const override { return under_.is_restoring(); }
  [[nodiscard]] result<void> begin_restore() override {
    calls_.call();
    return under_.begin_restore();
  }
  [[nodiscard]] result<std::optional<apply_fault>> restore(std::string_view rows) override {
    calls_.call();
    return under_.restore(rows);
  }
  [[nodiscard]] result<void> end_restore(const replicate::log_position& at) override {
    calls_.call();
    return under_.end_restore(at);
  }

 private:
  replica& under_;
  std::string who_;
  judge& judge_;
  process_calls& calls_;
  std::function<void()> applied_;
};

/// A receiver of messages, which may have one and not say so.
class process_outlet final : public publisher {
 public:
  process_outlet(std::string who, setting& in, judge& j, process_calls& calls)
      : who_{std::move(who)}, in_{in}, judge_{j}, calls_{calls} {}

  [[nodiscard]] sending send(const output_row& row) override {
    calls_.call();
    constexpr std::size_t k_room = 8;
    if (under_way_.size() >= k_room) return sending::full;
    judge_.on_send(who_, row);
    under_way_.push_back(row);
    return sending::taken;
  }
  [[nodiscard]] std::vector<delivery> delivered() override {
    calls_.call();
    std::vector<delivery> out;
    while (!under_way_.empty() && in_.draw(4) != 0) {
      const output_row row = std::move(under_way_.front());
      under_way_.pop_front();
      const bool has_it = !in_.one_in(20) || in_.heals;
      if (has_it) judge_.on_received(row);
      const bool says_so = has_it && (!in_.one_in(20) || in_.heals);
      out.push_back({row.position,
                     says_so ? delivery::how::done : delivery::how::again,
                     says_so ? "" : "no broker answers",
                     {}});
    }
    return out;
  }
  void wait(milliseconds) override { calls_.wait(); }
  void on_progress(std::function<void()>) override {}

 private:
  std::string who_;
  setting& in_;
  judge& judge_;
  process_calls& calls_;
  std::deque<output_row> under_way_;
};

}  // namespace ratchet::pair_sim
