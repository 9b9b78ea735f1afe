// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "outbox/lane_progress.hpp"
#include "outbox/lane_sender.hpp"
#include "outbox/position_queue.hpp"
#include "ports/outbox_store.hpp"
#include "ports/publisher.hpp"
#include "process/log.hpp"

namespace ratchet {

/// A sink's name, where its messages are handed over, and its pauses.
struct sink_outlet {
  std::string name;
  publisher* to{nullptr};  ///< borrowed
  std::chrono::milliseconds first_pause{500};
  std::chrono::milliseconds most_pause{30'000};
  std::size_t concurrency{8};  ///< so many messages are under way at a time, as far as the publisher tells
};

/// Sends what one sink's lane of the outbox holds, once the step that put it there is durable, and says how
/// far it was delivered, so that rows can be trimmed. What was sent and not trimmed is sent again by the next
/// one: each message goes out at least once, with the same bytes.
///
/// Of each aggregate one message is under way at a time, so that they come in its order whatever becomes of
/// one. A failure that may pass (`again`) makes its aggregate wait: first_pause, doubling up to most_pause. A
/// refusal does the same with longer pauses, k_stuck_pause to k_longest_stuck_pause, as somebody has to mend
/// something; nothing is given up. Other aggregates go on, however many wait: of what failed, and of what
/// waits behind it, only the positions stay in memory, and what was delivered behind it is trimmed. What
/// failed is sent again when its pause is over, whatever others do, the one that waited longest first. While
/// messages wait that never failed, it has a quarter of the connections. An aggregate that failed twice, with
/// a message of another one delivered in between, is `stubborn`: it fails by itself, says nothing about the
/// sink, and all of these together never have more than that quarter.
///
/// Where several failures of others come in a row, or the receiver asks for a pause, the whole sink pauses,
/// and then one message at a time tries whether it is back: by turns one that never failed, from either end,
/// and the next one of those that did, as they may fail for ever in a sink that takes others. Thread-safety:
/// one owner thread.
class sink_sender final : public lane_sender {
 public:
  /// Rows in memory: nothing more is read while those that may be sent are more than this, or so many; and
  /// those behind them of their aggregates are kept up to this.
  static constexpr std::uint64_t k_most_bytes = std::uint64_t{8} << 20U;
  static constexpr std::size_t k_most_ready = 2'000;
  static constexpr std::size_t k_failures_in_a_row = 4;  ///< make the sink pause
  /// A sink that is away reads nothing more while the first messages of so many aggregates fail otherwise
  /// than by refusals.
  static constexpr std::size_t k_most_failing_away = 20'000;
  /// Over one connection, so many messages that never failed go out before one that did.
  static constexpr std::size_t k_fresh_between = 16;
  static constexpr std::chrono::milliseconds k_stuck_pause{10'000};
  static constexpr std::chrono::milliseconds k_longest_stuck_pause{300'000};
  /// However long a receiver asks for.
  static constexpr std::chrono::milliseconds k_longest_asked_pause{600'000};

  /// Everything in the sink's lane is to be sent. Borrows the store.
  sink_sender(sink_outlet, const outbox_store&, log_ptr);

  void wrote(std::uint64_t step, std::uint64_t next) override { lane_.wrote(step, next); }
  [[nodiscard]] result<void> turn(time_point now) override;
  [[nodiscard]] outbox_change trim() const override { return lane_.trim(); }
  void trimmed() override { lane_.trimmed(); }

  [[nodiscard]] const std::string& name() const noexcept { return outlet_.name; }
  [[nodiscard]] publisher& to() const noexcept { return *outlet_.to; }
  [[nodiscard]] bool waits_for_sync() const noexcept override { return lane_.waits_for_sync(); }
  [[nodiscard]] bool idle() const noexcept override;
  [[nodiscard]] bool is_drained() const noexcept override;
  [[nodiscard]] bool reads_on() const noexcept override {
    return read_ != lane_.durable_next() && has_room();
  }
  [[nodiscard]] std::uint64_t sent() const noexcept override { return sent_total_; }
  [[nodiscard]] std::vector<refused_message> refused(time_point now, std::size_t limit) const override;
  [[nodiscard]] std::size_t refused_count() const noexcept { return refused_; }
  bool retry(std::uint64_t position) override;
  [[nodiscard]] std::optional<skipped_output> skip(std::uint64_t position) const override;
  void skipped(const skipped_output&) override;
  [[nodiscard]] const std::optional<std::string>& trouble() const noexcept override { return trouble_; }

 private:
  struct held {
    output_row row;
    std::uint64_t bytes;  ///< as it is stored
  };
  /// What is told of a message that was refused.
  struct refusal {
    output_row row;  ///< without its payload
    std::uint64_t bytes;
    std::string why;
  };
  using aggregate = std::pair<stream_id, std::string>;
  /// What of one aggregate was read and not delivered, behind the first one, which is in heads_.
  struct chain {
    position_queue behind;
    std::map<std::uint64_t, held> rows;  ///< of these, as far as there was room for them
    std::uint32_t failures{0};           ///< of the first one, in a row
    std::unique_ptr<refusal> refused;    ///< the last of them was one
    std::optional<time_point> until;     ///< it waits so long
    std::uint64_t answered{0};           ///< answered_ when it failed
    bool stubborn{false};
  };
  using chains = std::map<aggregate, chain>;
  /// The first message of an aggregate.
  struct head {
    chains::iterator of;
    std::unique_ptr<held> row;  ///< none: to be read again before it is sent
    bool under_way{false};
    bool again{false};  ///< it is under way, and failed before
  };
  /// First messages that failed, to be sent again: the one whose pause ended first comes first.
  using repeats = std::set<std::pair<time_point, std::uint64_t>>;
  using heads = std::map<std::uint64_t, head>;

  void ended(const delivery&, time_point now);
  [[nodiscard]] bool is_refused(heads::const_iterator) const;
  void put_out_of_the_way(heads::iterator, std::uint64_t bytes);
  void failed(heads::iterator, const delivery&, time_point now);
  void note_failure(chain&, const held&, const delivery&);
  void pause_sink(time_point until);
  void sink_answers();
  void clear_failures(chain&);
  void show_what_is_refused();
  void wake_waiting(time_point now);
  [[nodiscard]] bool is_away() const noexcept { return failures_in_a_row_ >= k_failures_in_a_row; }
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] result<void> send_ready(time_point now);
  [[nodiscard]] std::optional<std::uint64_t> next_to_send() const;
  [[nodiscard]] std::uint64_t next_to_try() const;
  [[nodiscard]] bool may_repeat() const noexcept;
  [[nodiscard]] std::size_t quarter() const noexcept;
  void note_sent(heads::iterator);
  void send_again_from(time_point, heads::const_iterator);
  void forget_repeat(std::uint64_t position);
  [[nodiscard]] result<void> read_again(heads::iterator);
  [[nodiscard]] result<void> read_more();
  void take(output_row&&);
  void hold(head&, held&&);
  void let_go(head&);
  void let_go_behind(chain&);
  /// The lowest one that was not delivered is known.
  void advance() { lane_.advance(heads_.empty() ? read_ : heads_.begin()->first); }

  sink_outlet outlet_;
  const outbox_store& store_;
  log_ptr log_;
  lane_progress lane_;
  std::uint64_t read_;  ///< behind the last position that was read
  chains chains_;
  heads heads_;                    ///< of all chains
  std::uint64_t held_bytes_{0};    ///< of the rows in heads_
  std::uint64_t behind_bytes_{0};  ///< of those in chains_
  std::size_t under_way_{0};
  std::size_t repeats_under_way_{0};   ///< of these, failed before
  std::size_t stubborn_under_way_{0};  ///< of these, are stubborn
  std::set<std::uint64_t> unsent_;     ///< first ones of their aggregates, to be sent
  repeats ready_;                      ///< such that failed, and are not stubborn
  repeats stubborn_;                   ///< such that are
  repeats waiting_;                    ///< first ones whose aggregate has to wait, and until when
  std::size_t failing_{0};             ///< aggregates whose first message failed
  std::size_t refused_{0};             ///< of these, were refused
  std::size_t failures_in_a_row_{0};
  std::uint32_t pauses_in_a_row_{0};
  std::uint64_t answered_{0};   ///< how often the sink took a message, or said that it does not
  bool unsent_has_turn_{true};  ///< to try whether the sink is back: it tells more than what failed
  bool last_has_turn_{true};    ///< and of these the last one
  std::size_t fresh_in_a_row_{0};
  std::optional<time_point> paused_until_;
  /// The sink asked for it: no answer to another request ends it.
  std::optional<time_point> asked_until_;
  std::optional<std::string> trouble_;
  bool trouble_is_a_refusal_{false};
  log_pace troubles_;
  std::uint64_t sent_total_{0};
};

}  // namespace ratchet
