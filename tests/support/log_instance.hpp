// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "ports/slot_log.hpp"
#include "replicate/log_owner.hpp"
#include "support/replicate_records.hpp"

namespace ratchet::testing {

/// One instance with a log: its owner, and the turns that it takes. Nothing lies between the owner and the
/// port. Thread-safety: one thread.
class log_instance {
 public:
  log_instance(std::unique_ptr<slot_log> log, std::uint64_t name, const replicate::log_position& from = {},
               std::size_t chunk_bytes = replicate::k_chunk_bytes)
      : name_{name}, log_{std::move(log)}, owner_{options(chunk_bytes), from} {
    log_->ask_bounds(owner_.reader().known_offset());
  }

  [[nodiscard]] replicate::log_owner& owner() { return owner_; }
  [[nodiscard]] slot_log& log() { return *log_; }
  [[nodiscard]] std::string phase() const { return name_of(owner_.phase()); }
  [[nodiscard]] std::string refused() const {
    return owner_.reader().refused() ? name_of(*owner_.reader().refused()) : "no";
  }
  [[nodiscard]] std::uint64_t step() const { return owner_.reader().position().step; }
  [[nodiscard]] hash128 chain() const { return owner_.reader().position().chain; }

  struct applied_step {
    hash128 chain;
    std::string rows;
    bool own{false};
    friend bool operator==(const applied_step&, const applied_step&) = default;
  };
  std::map<std::uint64_t, applied_step> applied;
  std::uint64_t dropped{0};
  std::vector<std::error_code> failures;  ///< of records, and of reads
  bool claim_is_taken{true};

  /// What is due, without waiting.
  void turn() {
    using replicate::owner_phase;
    for (const append_report& each : log_->reports()) {
      if (each.failed) {
        failures.push_back(each.failed);
        owner_.failed(each.ticket);
      } else {
        owner_.acknowledged(each.ticket, each.offset);
      }
    }
    if (const auto told = log_->take_bounds()) {
      if (*told) {
        owner_.look(told->value().known, told->value().first, told->value().end);
        has_bounds_ = true;
      } else {
        failures.push_back(told->error());
        look();
      }
    }
    if (owner_.phase() == owner_phase::claiming) owner_.claim_answered(claim_is_taken);
    if (owner_.phase() == owner_phase::must_fence) log_->append(owner_.make_fence(next_writer()));
    if (has_bounds_) read();
  }
  /// False: nothing was made, as it does not lead or there is no room.
  bool make(std::string rows) {
    if (owner_.phase() != replicate::owner_phase::leading || !log_->has_room()) return false;
    std::vector<replicate::append_request> records;
    if (!owner_.append_step(std::move(rows), records)) return false;
    for (replicate::append_request& each : records) log_->append(std::move(each));
    return true;
  }
  bool make(std::string_view key, std::string_view value) {
    return make(replicate::testing::put_row(key, value));
  }
  /// Asks how far the log goes; the answer comes with a later turn.
  void look() { log_->ask_bounds(owner_.reader().known_offset()); }

 private:
  [[nodiscard]] replicate::owner_options options(std::size_t chunk_bytes) {
    replicate::owner_options with;
    with.reading.slot = replicate::testing::k_slot;
    with.reading.newest_layout = replicate::testing::k_layout;
    with.layout = replicate::testing::k_layout;
    with.meaning = replicate::testing::k_meaning;
    with.new_lineage = {name_, name_};
    with.instance = "instance " + std::to_string(name_);
    with.chunk_bytes = chunk_bytes;
    with.apply = [this](const replicate::confirmed_step& step) {
      applied[step.position.step] = {step.position.chain, std::string{step.rows}, step.own};
    };
    with.dropped = [this](std::uint64_t first, std::uint64_t last) { dropped += last + 1 - first; };
    return with;
  }
  [[nodiscard]] std::uint64_t next_writer() { return name_ << 32U | ++fences_; }

  void read() {
    const auto wanted = owner_.wants();
    if (!wanted) {
      log_->stop_reading();
      return;
    }
    const auto got = log_->read(*wanted);
    if (!got) {
      failures.push_back(got.error());
      if (got.error() == errc::topic_missing) owner_.read_again();
      return;
    }
    std::int64_t next = wanted->first;
    for (const slot_record& each : got.value().entries) {
      owner_.read_through(next, each.offset - 1);
      if (!owner_.read(each.offset, each.bytes)) return;  // it goes on elsewhere, or nowhere
      next = each.offset + 1;
    }
    owner_.read_through(next, got.value().through);
    if (got.value().at == log_read::state::out_of_range) look();
  }

  std::uint64_t name_;
  std::uint64_t fences_{0};
  bool has_bounds_{false};  ///< they are told before the first read
  std::unique_ptr<slot_log> log_;
  replicate::log_owner owner_;
};

/// Lets the instances take turns until `done`, at most so long. True if done.
inline bool take_turns(const std::vector<log_instance*>& all, const std::function<bool()>& done,
                       std::chrono::milliseconds patience = std::chrono::seconds{60}) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    for (log_instance* each : all) each->turn();
    if (!all.empty()) all.front()->log().wait(std::chrono::milliseconds{5});
  }
  return true;
}

}  // namespace ratchet::testing
