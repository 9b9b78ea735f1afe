// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/lane_progress.hpp"
#include "app/log.hpp"
#include "app/refused_messages.hpp"
#include "ports/publisher.hpp"
#include "ports/store.hpp"

namespace ratchet {

/// A sink's name, where its messages are handed over, and its pauses.
struct sink_outlet {
  std::string name;
  publisher* to{nullptr};  ///< borrowed
  std::chrono::milliseconds first_pause{500};
  std::chrono::milliseconds most_pause{30'000};
};

/// Sends what one sink's lane of the outbox holds, once the step that put it there is durable, and says how
/// far it was delivered, so that rows can be trimmed. What was sent and not trimmed is sent again by the next
/// one: each message goes out at least once, with the same bytes.
///
/// Of each aggregate one message is under way at a time, so that they come in its order whatever becomes of
/// one. A failure that may pass (`again`) makes its aggregate wait: first_pause, doubling up to most_pause. A
/// refusal does the same with longer pauses, k_stuck_pause to k_longest_stuck_pause, as somebody has to mend
/// something; nothing is given up. Other aggregates go on: what waits behind a failed message is not kept in
/// memory. Where several failures come in a row, or the
/// receiver asks for a pause, the whole sink pauses, and then one message at a time tries whether it is back.
/// Thread-safety: one owner thread.
class sink_sender final : public refused_messages {
 public:
  /// Held in memory at most: undelivered rows, and positions from the lowest undelivered one on.
  static constexpr std::uint64_t k_most_bytes = std::uint64_t{8} << 20U;
  static constexpr std::size_t k_most_positions = 100'000;
  static constexpr std::size_t k_failures_in_a_row = 4;  ///< make the sink pause
  static constexpr std::chrono::milliseconds k_stuck_pause{10'000};
  static constexpr std::chrono::milliseconds k_longest_stuck_pause{300'000};
  /// However long a receiver asks for.
  static constexpr std::chrono::milliseconds k_longest_asked_pause{600'000};

  /// Everything in the sink's lane is to be sent. Borrows the store.
  sink_sender(sink_outlet, const store&, log_ptr);

  /// The step was written, and the lane reaches up to `next` with it.
  void wrote(std::uint64_t step, std::uint64_t next) { lane_.wrote(step, next); }
  /// Takes in what ended, and sends what may be sent. Does not wait. Errors: of store::outputs().
  [[nodiscard]] result<void> turn(time_point now);
  /// The lowest rows, all delivered, that are still in the lane; empty where there is none. The caller writes
  /// it in a step, and calls trimmed().
  [[nodiscard]] outbox_change trim() const { return lane_.trim(); }
  void trimmed() { lane_.trimmed(); }

  [[nodiscard]] const std::string& name() const noexcept { return outlet_.name; }
  [[nodiscard]] publisher& to() const noexcept { return *outlet_.to; }
  /// There are rows whose step is not durable yet.
  [[nodiscard]] bool waits_for_sync() const noexcept { return lane_.waits_for_sync(); }
  /// Everything that was written was delivered.
  [[nodiscard]] bool idle() const noexcept;
  /// Since it was made.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_total_; }
  [[nodiscard]] std::vector<refused_message> refused(time_point now, std::size_t limit) const override;
  [[nodiscard]] std::size_t refused_count() const noexcept { return refused_; }
  bool retry(std::uint64_t position) override;
  [[nodiscard]] std::optional<skipped_output> skip(std::uint64_t position) const override;
  void skipped(const skipped_output&) override;
  /// Why messages do not get through at the moment; none while they do.
  [[nodiscard]] const std::optional<std::string>& trouble() const noexcept { return trouble_; }

 private:
  struct entry {
    std::unique_ptr<output_row> row;  ///< none: delivered, or to be read again before it is sent
    std::uint64_t bytes;              ///< as it is stored
    bool under_way{false};
    bool delivered{false};
  };
  using aggregate = std::pair<stream_id, std::string>;
  /// What of one aggregate is in memory and not delivered.
  struct chain {
    std::deque<std::uint64_t> positions;
    std::uint32_t failures{0};        ///< of the first one, in a row
    bool refused{false};              ///< the last of them was a refusal
    std::string why;                  ///< of that
    std::optional<time_point> until;  ///< it waits so long
  };
  using chains = std::map<aggregate, chain>;

  [[nodiscard]] entry& at(std::uint64_t position) {
    return entries_[static_cast<std::size_t>(position - lane_.first())];
  }
  [[nodiscard]] const entry& at(std::uint64_t position) const {
    return entries_[static_cast<std::size_t>(position - lane_.first())];
  }
  [[nodiscard]] chains::iterator chain_of(const output_row&);
  void ended(const delivery&, time_point now);
  [[nodiscard]] const chain* refused_at(std::uint64_t position) const;
  void next_of(chains::iterator);
  void failed(chain&, const output_row&, const delivery&, time_point now);
  void pause_sink(time_point until);
  void sink_answers();
  void clear_failures(chain&);
  void pop_delivered();
  void wake_waiting(time_point now);
  [[nodiscard]] result<void> send_ready(time_point now);
  [[nodiscard]] result<void> read_more();
  void hold(entry&, output_row&&);
  void let_go(entry&);

  sink_outlet outlet_;
  const store& store_;
  log_ptr log_;
  lane_progress lane_;
  std::uint64_t read_;  ///< behind the last entry, which are from lane_.first() on
  std::deque<entry> entries_;
  std::uint64_t held_bytes_{0};  ///< of the rows in entries_
  std::size_t under_way_{0};
  chains chains_;
  std::set<std::uint64_t> ready_;                           ///< first ones of their aggregates, to be sent
  std::set<std::pair<time_point, std::uint64_t>> waiting_;  ///< first ones whose aggregate has to wait
  std::size_t failing_{0};                                  ///< aggregates whose first message failed
  std::size_t refused_{0};                                  ///< of these, were refused
  std::size_t failures_in_a_row_{0};
  std::uint32_t pauses_in_a_row_{0};
  std::optional<time_point> paused_until_;
  std::optional<std::string> trouble_;
  log_pace troubles_;
  std::uint64_t sent_total_{0};
};

}  // namespace ratchet
