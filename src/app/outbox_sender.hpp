// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
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

/// Sends what the outbox holds, in the order of positions, once the step that put it there is durable, and
/// says how far it was delivered, so that rows can be trimmed. What was sent and not trimmed is sent again by
/// the next one: each message goes out at least once, with the same bytes.
///
/// Where something goes wrong, nothing new is sent until all that is under way has come to its end; then what
/// failed is sent again, in order. What brokers refuse may have been refused for what went with it: it is
/// sent once more alone, a dead letter that is refused again without its value, and one that is refused even
/// then is given up: see take_given_up(). What was published is never given up: it is tried again and again,
/// and what is behind it of its aggregate waits, until an operator skips it; the rest goes on while there is
/// room for it in memory.
/// Thread-safety: one owner thread.
class outbox_sender final : public refused_messages {
 public:
  /// Everything in the store's outbox is to be sent. Borrows all of them.
  outbox_sender(const store&, publisher&, log_ptr);

  /// The step was written, and the outbox reaches up to `next` with it.
  void wrote(std::uint64_t step, std::uint64_t next) { lane_.wrote(step, next); }

  /// Rows that are being written, so that they need not be read again. It keeps what it has room for, and
  /// reads the rest from the store. In the order of positions, all of a step before its wrote().
  void offer(std::vector<output_row>&&);

  /// So much of what was offered is left that some of the next step's rows may find no room.
  [[nodiscard]] bool is_behind() const noexcept;

  /// Takes in what ended, and sends what may be sent. Does not wait. Errors: of store::outputs().
  [[nodiscard]] result<void> turn(time_point now);

  /// The lowest rows, all delivered, that are still in the outbox; empty where there is none. The caller
  /// writes it in a step, and calls trimmed().
  [[nodiscard]] outbox_change trim() const { return lane_.trim(); }
  void trimmed() { lane_.trimmed(); }

  /// A message that nobody takes.
  struct given_up {
    output_row row;
    std::string why;
  };
  /// Those since the last call. They count as delivered.
  [[nodiscard]] std::vector<given_up> take_given_up() { return std::exchange(given_up_, {}); }

  [[nodiscard]] std::vector<refused_message> refused(time_point now, std::size_t limit) const override;
  bool retry(std::uint64_t position) override;
  [[nodiscard]] std::optional<skipped_output> skip(std::uint64_t position) const override;
  void skipped(const skipped_output&) override;

  /// There are rows whose step is not durable yet.
  [[nodiscard]] bool waits_for_sync() const noexcept { return lane_.waits_for_sync(); }
  /// Everything that was written was delivered.
  [[nodiscard]] bool idle() const noexcept;
  /// But for what is refused, and what waits behind it.
  [[nodiscard]] bool settled() const;
  /// Since it was made.
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_total_; }
  /// Why messages do not get through at the moment; none while they do.
  [[nodiscard]] const std::optional<std::string>& trouble() const noexcept { return trouble_; }

 private:
  enum class step_of : std::uint8_t { queued, under_way, refused, refused_alone, stuck, delivered };
  struct entry {
    output_row row;
    std::uint64_t bytes;  ///< as it is stored
    step_of at{step_of::queued};
    /// The publisher has it, and will say what became of it.
    [[nodiscard]] bool is_on_its_way() const noexcept {
      return at == step_of::under_way || at == step_of::refused_alone;
    }
  };

  using aggregate = std::pair<stream_id, std::string>;
  /// Of a published message that was refused alone.
  struct refusal {
    std::uint32_t attempts{0};
    std::string why;
  };

  [[nodiscard]] entry& at(std::uint64_t position) {
    return entries_[static_cast<std::size_t>(position - lane_.first())];
  }
  [[nodiscard]] const entry& at(std::uint64_t position) const {
    return entries_[static_cast<std::size_t>(position - lane_.first())];
  }
  void hold_back(entry&, const std::string& why, time_point now);
  void let_aggregate_go(const output_row&);
  [[nodiscard]] bool is_behind_stuck(const entry&) const;
  void try_stuck_again(time_point now);
  void note_trouble(const entry&, const std::string& why, const char* what_now, time_point now);
  void take_deliveries(time_point now);
  void ended(const delivery&, time_point now);
  void pop_delivered();
  void mend(entry&);
  [[nodiscard]] bool hand_over(output_row&);
  [[nodiscard]] bool send(entry&);
  [[nodiscard]] result<void> send_all(time_point now);
  [[nodiscard]] result<bool> read_more();
  [[nodiscard]] bool take_offered();
  void hold(output_row&&);

  const store& store_;
  publisher& to_;
  log_ptr log_;
  lane_progress lane_;
  std::uint64_t read_;  ///< behind the last entry, which are from lane_.first() on
  std::deque<entry> entries_;
  std::deque<output_row> offered_;  ///< positions one behind the other, up to what is written
  std::uint64_t offered_bytes_{0};
  output_headers headers_;  ///< of the last published message
  std::size_t under_way_{0};
  std::uint64_t held_bytes_{0};  ///< of the entries
  std::set<aggregate> stuck_;
  std::map<std::uint64_t, refusal> refused_;  ///< by position; until they are delivered or skipped
  time_point stuck_until_{};
  bool mending_{false};  ///< something failed, and nothing new is sent until that is settled
  std::optional<time_point> again_at_;
  std::chrono::milliseconds pause_{0};
  std::optional<std::string> trouble_;
  std::uint64_t trouble_to_{0};  ///< behind the last position that had trouble
  log_pace troubles_;
  std::vector<given_up> given_up_;
  std::uint64_t sent_total_{0};
};

}  // namespace ratchet
