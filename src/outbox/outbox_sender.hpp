// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "outbox/held_aggregates.hpp"
#include "outbox/lane_progress.hpp"
#include "outbox/lane_sender.hpp"
#include "ports/outbox_store.hpp"
#include "ports/publisher.hpp"
#include "process/log.hpp"

namespace ratchet {

/// Sends what the outbox holds, in the order of positions, once the step that put it there is durable, and
/// says what was delivered, so that rows can be trimmed. What was sent and not trimmed is sent again by the
/// next one: each message goes out at least once, with the same bytes.
///
/// Where something fails that may pass, nothing new is sent until all that is under way has come to its end;
/// then what failed is sent again, in order. What brokers refuse may have been refused for what went with it:
/// it is sent once more with others like it, with half as many of them where these are refused and so on, and
/// alone in the end, where the publisher does not say that it was refused by itself. What was published and
/// is doubtful waits as if it were refused, and one that is tried again, or is a letter, is asked about. A
/// dead letter that is refused by itself is sent without its value, and one that is refused even then is
/// given up: see take_given_up(). What was published is never given up: it is tried again and again, after
/// k_stuck_pause to k_longest_stuck_pause, and what is behind it of its aggregate waits, until an operator
/// skips it. The rest goes on, however many are refused: of those, and of what waits behind them, only the
/// positions stay in memory, what was delivered behind them is trimmed, and trying them again takes about
/// half of the time at most. Whoever is waited for meanwhile, and does not come to an end, is so for
/// k_longest_quiet, and then all go on beside it. Thread-safety: one owner thread.
class outbox_sender final : public lane_sender {
 public:
  static constexpr std::chrono::milliseconds k_stuck_pause{10'000};
  static constexpr std::chrono::milliseconds k_longest_stuck_pause{300'000};
  static constexpr std::chrono::milliseconds k_longest_quiet{5'000};
  static constexpr std::size_t k_most_company = 200;

  /// Everything in the store's outbox is to be sent. Borrows all of them.
  outbox_sender(const outbox_store&, publisher&, log_ptr);

  void wrote(std::uint64_t step, std::uint64_t next) override { lane_.wrote(step, next); }

  /// Rows that are being written, so that they need not be read again. It keeps what it has room for, and
  /// reads the rest from the store. In the order of positions, all of a step before its wrote().
  void offer(std::vector<output_row>&&);

  /// So much of what was offered is left that some of the next step's rows may find no room.
  [[nodiscard]] bool is_behind() const noexcept;

  [[nodiscard]] result<void> turn(time_point now) override;

  [[nodiscard]] outbox_change trim() const override { return lane_.trim(); }
  void trimmed() override { lane_.trimmed(); }

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

  [[nodiscard]] bool waits_for_sync() const noexcept override { return lane_.waits_for_sync(); }
  [[nodiscard]] bool idle() const noexcept override;
  [[nodiscard]] bool is_drained() const noexcept override;
  [[nodiscard]] bool reads_on() const noexcept override { return reads_on_; }
  [[nodiscard]] std::uint64_t sent() const noexcept override { return sent_total_; }
  [[nodiscard]] const std::optional<std::string>& trouble() const noexcept override {
    return away_ ? away_ : refusal_;
  }
  /// None gets through.
  [[nodiscard]] bool is_away() const noexcept { return away_.has_value(); }

 private:
  enum class step_of : std::uint8_t { queued, under_way, alone };  ///< alone: under way, by itself
  struct entry {
    output_row row;
    std::uint64_t bytes;  ///< as it is stored
    step_of at{step_of::queued};
    bool was_held{false};  ///< it was taken from held_
  };
  using entries = std::map<std::uint64_t, entry>;
  /// A message that was refused. It is not among the entries but while it is sent alone, or still under way
  /// when the others go on beside it.
  struct apart {
    bool without_value{false};  ///< it goes so from now on
    std::uint32_t attempts{0};  ///< refused alone so often; published ones only, as below
    bool fails{false};          ///< it failed otherwise when it was sent last
    output_row told;            ///< without its payload
    std::uint64_t bytes{0};
    std::string why;
    std::optional<time_point> until;  ///< it waits so long
  };

  // What ended.
  void take_deliveries(time_point now);
  void ended(entries::iterator, const delivery&, time_point now);
  void delivered(entries::iterator);
  void failed(entries::iterator, const std::string& why, time_point now);
  void put_apart_again(entries::iterator);
  void note_failing(apart&, bool fails);
  void refused_in_company(entries::iterator);
  [[nodiscard]] bool set_apart(entries::iterator);
  void refused_alone(entries::iterator, const std::string& why, time_point now);
  void hold_back(const entry&, apart&, const std::string& why, time_point now);
  void forget(std::uint64_t position);
  entries::iterator drop(entries::iterator);
  void advance();
  void tell_if_over();

  // What is sent.
  [[nodiscard]] result<void> send_all(time_point now);
  void wake_waiting(time_point now);
  [[nodiscard]] bool has_other_work() const noexcept;
  [[nodiscard]] bool may_try_alone(time_point now) const noexcept;
  [[nodiscard]] bool is_row_over(time_point now) const noexcept;
  [[nodiscard]] std::uint64_t next_alone() const;
  [[nodiscard]] result<void> try_alone(time_point now);
  [[nodiscard]] result<bool> send_apart(std::uint64_t position, step_of as);
  void fit_company();
  void go_on_beside();
  void end_row(time_point now);
  [[nodiscard]] bool send_queued(std::uint64_t until, time_point now);
  void pass_over(const entry&);
  void take_up(const std::string& topic);
  entries::iterator doubted(entries::iterator, time_point now);
  [[nodiscard]] result<void> take_held();
  [[nodiscard]] result<void> send_new(time_point now);
  [[nodiscard]] sending hand_over(output_row& row);

  // What is read.
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] result<bool> read_more();
  [[nodiscard]] bool take_offered();
  [[nodiscard]] result<output_row> read_again(std::uint64_t position) const;
  void take(output_row&&);

  const outbox_store& store_;
  publisher& to_;
  log_ptr log_;
  lane_progress lane_;
  std::uint64_t read_;              ///< behind the last position that was read
  entries entries_;                 ///< what may be sent, or is under way
  std::uint64_t next_;              ///< none before it is queued, but for topics that wait
  std::deque<output_row> offered_;  ///< positions one behind the other, up to what is written
  std::uint64_t offered_bytes_{0};
  output_headers headers_;                                    ///< of the last published message
  std::map<std::string, std::uint64_t, std::less<>> passed_;  ///< topics that wait, from which position on
  std::size_t under_way_{0};
  std::uint64_t held_bytes_{0};  ///< of the entries
  held_aggregates held_;
  std::map<std::uint64_t, apart> apart_;
  std::set<std::uint64_t> alone_;                           ///< of these, to be sent alone now
  std::set<std::pair<time_point, std::uint64_t>> waiting_;  ///< of these, to be sent alone later
  std::size_t refused_{0};                                  ///< of these, were so alone
  std::optional<time_point> next_wake_;
  bool got_through_{false};              ///< what was refused before does; others may, too
  std::optional<time_point> row_began_;  ///< of those that are sent alone, with nothing new between them
  std::size_t in_row_{0};
  std::size_t company_{k_most_company};    ///< so many of them go together
  std::size_t in_company_{0};              ///< so many did last
  bool company_refused_{false};            ///< and were, for one of them or for their size
  std::uint32_t apart_anew_{0};            ///< so many were refused since that were not before
  std::uint64_t alone_from_{0};            ///< the next one of alone_ is from here on
  std::optional<time_point> quiet_since_;  ///< nothing is sent until all that is under way has ended
  std::size_t failing_{0};                 ///< of apart_, failed otherwise when they were sent last
  time_point row_again_{};
  bool reads_on_{false};
  bool mending_{false};  ///< nothing is sent until all that is under way has ended, for the sake of order
  std::optional<time_point> again_at_;
  std::chrono::milliseconds pause_{0};
  std::optional<std::string> away_;
  std::uint64_t away_to_{0};  ///< behind the last position that failed
  std::optional<std::string> refusal_;
  log_pace troubles_;
  std::vector<given_up> given_up_;
  std::uint64_t sent_total_{0};
};

}  // namespace ratchet
