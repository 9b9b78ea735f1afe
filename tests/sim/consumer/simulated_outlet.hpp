// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/publisher.hpp"
#include "sim/consumer/history.hpp"
#include "sim/consumer/simulated_store.hpp"
#include "sim/consumer/world_port.hpp"

namespace ratchet::sim {

/// Whether the sink takes this message never: one in so many, by its id, so that it is the same ones whatever
/// happens. 0: none.
[[nodiscard]] bool is_refused_for_good(const output_row&, std::uint32_t one_in);

/// What one state directory has to tell others, and what of it came to them. Errors: throws broken.
class mail_book {
 public:
  /// Of what goes to a sink, that refuses one in so many for good.
  explicit mail_book(std::uint32_t sink_refuses) : sink_refuses_{sink_refuses} {}
  /// Looks whether the step tells of all that it rejects, and of all that it leaves dead, and of nothing
  /// else. `letters` and `answers`: of each rejected record.
  void write(const step_batch&, const simulated_disk::contents& before, const history&, bool letters,
             bool answers);
  /// The directory lost what came behind this step. None of that may have been sent.
  void take_back_to(std::uint64_t step);
  /// Another log has the places again that tell messages of untimed records apart (decision 0125).
  void forget_places();
  /// Only what is durable is sent, and as it was written.
  void send(const output_row&, std::uint64_t durable);
  void came(const output_row&);
  void refused(const output_row& row) { refused_.insert(place_of(row)); }
  void given_up(const output_row& row) { given_up_.insert(place_of(row)); }
  /// Everything came, and nothing is left to send; but what a sink refuses for good, and what stands behind
  /// that in its aggregate.
  void compare(const outbox_lanes&) const;
  /// What will never come is all that is left.
  [[nodiscard]] bool is_all_that_is_left(const outbox_lanes&) const;
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_.size(); }

 private:
  struct written {
    std::uint64_t step;
    output_row row;
  };
  /// A lane of the outbox, and a position in it.
  using place = std::pair<std::string, std::uint64_t>;
  [[nodiscard]] static place place_of(const output_row& row) {
    return {std::string{row.lane()}, row.position};
  }
  /// By lane: rows that never come.
  [[nodiscard]] std::map<std::string, std::set<std::uint64_t>> never_to_come() const;

  std::uint32_t sink_refuses_;
  std::map<place, written> rows_;
  std::set<place> sent_;
  std::set<place> came_;
  std::set<place> given_up_;
  std::set<place> refused_;        ///< at least once
  std::map<event_id, place> ids_;  ///< of what was published
};

/// Brokers that take some time, are away, lose their answers, and find some messages too large; or a sink
/// that does. After `heals()` all is well.
class simulated_outlet final : public publisher {
 public:
  simulated_outlet(const simulated_disk& disk, mail_book& book, world_port& world, bool well,
                   std::uint32_t refuses = 0)
      : disk_{disk}, book_{book}, world_{world}, well_{well}, refuses_{refuses} {}
  [[nodiscard]] sending send(const output_row&) override;
  [[nodiscard]] std::vector<delivery> delivered() override;
  void wait(std::chrono::milliseconds most) override { world_.pass_turn(most); }
  void on_progress(std::function<void()>) override {}
  void heals() noexcept { well_ = true; }

 private:
  [[nodiscard]] delivery end(const output_row&, bool had_company, bool is_doomed);
  void doom_those_behind(const output_row&);

  const simulated_disk& disk_;
  mail_book& book_;
  world_port& world_;
  bool well_;
  std::uint32_t refuses_;          ///< one in so many, for good
  std::set<std::uint64_t> taken_;  ///< and said so, to this sender
  struct sent {
    output_row row;
    bool had_company;
    bool is_doomed;
  };
  std::deque<sent> under_way_;
};

}  // namespace ratchet::sim
