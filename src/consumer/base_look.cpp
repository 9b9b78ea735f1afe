// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/base_look.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/success.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_walk_slice{50};
/// In which brokers tell nothing.
constexpr int k_walk_patience = 100;

class base_walk {
 public:
  base_walk(slot_log& of, const base_wish& wish, const std::atomic<bool>& stop)
      : of_{of}, wish_{wish}, stop_{stop}, survey_{wish.which} {}

  [[nodiscard]] result<bases_found> go() {
    RATCHET_TRY(bounds());
    std::int64_t next = std::max(first_, wish_.known ? wish_.known->ended_at : wish_.from.value_or(first_));
    while (next < end_) {
      RATCHET_TRY(const auto got, of_.read({next, end_ - 1}));
      const std::int64_t before = next;
      std::uint64_t bytes = 0;
      for (const slot_record& each : got.entries) {
        take(each);
        bytes += each.bytes.size();
        next = each.offset + 1;
      }
      next = std::max(next, got.through + 1);
      // The topic is cut, or is another one.
      if (got.at == log_read::state::out_of_range) return make_error_code(errc::source_unavailable);
      if (next < end_ && next == before && got.at == log_read::state::at_end) break;  // it has lost records
      RATCHET_TRY(go_on(next > before, bytes));
    }
    return found();
  }

 private:
  [[nodiscard]] result<void> bounds() {
    for (;;) {
      of_.ask_bounds(-1);  // again and again: a question may get lost
      if (const auto told = of_.take_bounds()) {
        if (!*told) return told->error();
        first_ = told->value().first;
        end_ = told->value().end;
        return success();
      }
      RATCHET_TRY(go_on(false, 0));
    }
  }

  void take(const slot_record& each) {
    if (!wish_.known) return survey_.take(each.offset, each.bytes);
    replicate::base_record record;
    if (each.offset == wish_.known->ended_at) {
      is_there_ = decode_base_record(each.bytes, record) && record.head.kind == replicate::base_kind::end &&
                  record.end == wish_.known->end;
    } else {
      survey_.take(each.offset, each.bytes);
    }
  }

  [[nodiscard]] bases_found found() const {
    bases_found all{survey_.whole(), survey_.false_ends()};
    if (!wish_.known) return all;
    // While an owner leads, nobody else's base is newer than its own.
    all.whole.clear();
    if (is_there_ && first_ <= wish_.known->begun_at) all.whole.push_back(*wish_.known);
    return all;
  }

  [[nodiscard]] result<void> go_on(bool has_moved, std::uint64_t bytes) {
    bytes_ += bytes;
    if (has_moved) moved_ = std::chrono::steady_clock::now();
    idle_ = has_moved ? 0 : idle_ + 1;
    if (stop_.load(std::memory_order_relaxed)) return make_error_code(errc::aborted);
    if (idle_ > k_walk_patience && std::chrono::steady_clock::now() - moved_ >= wish_.patience)
      return make_error_code(errc::timed_out);
    if (!has_moved) of_.wait(k_walk_slice);
    if (wish_.rate == 0) return success();
    const std::chrono::duration<double> due{static_cast<double>(bytes_) / static_cast<double>(wish_.rate)};
    while (std::chrono::steady_clock::now() - begun_ < due && !stop_.load(std::memory_order_relaxed))
      std::this_thread::sleep_for(k_walk_slice);
    return success();
  }

  slot_log& of_;
  const base_wish& wish_;
  const std::atomic<bool>& stop_;
  replicate::base_survey survey_;
  bool is_there_{false};
  std::int64_t first_{0};
  std::int64_t end_{0};
  int idle_{0};
  std::uint64_t bytes_{0};
  std::chrono::steady_clock::time_point begun_{std::chrono::steady_clock::now()};
  std::chrono::steady_clock::time_point moved_{begun_};
};

}  // namespace

result<bases_found> look_at_bases(slot_log& of, const base_wish& wish, const std::atomic<bool>& stop) {
  auto found = base_walk{of, wish, stop}.go();
  of.stop_reading();
  return found;
}

}  // namespace ratchet
