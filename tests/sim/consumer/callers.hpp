// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "pipeline/mailbox.hpp"
#include "sim/consumer/history.hpp"
#include "sim/consumer/simulated_store.hpp"
#include "sim/consumer/step_book.hpp"
#include "sim/consumer/world_port.hpp"

namespace ratchet::sim {

/// How often callers were told what.
struct call_census {
  std::uint64_t done{0};
  std::uint64_t repeated{0};
  std::uint64_t timed_out{0};
  std::uint64_t cut_off{0};  ///< the process ended first
  std::map<std::string, std::uint64_t> refused;
  void add(const call_census&);
};

/// The threads of the program that embeds Ratchet. Each has one request, and asks until it knows what came of
/// it: through time-outs, stops and kills. What one was told is checked against the book, and must stay.
class callers {
 public:
  /// All outlive it.
  callers(const history&, world_port&, step_book&, const std::optional<simulated_disk>&);

  /// A process begins; returns the mailbox of its owner, with room for one task.
  mailbox* start();
  /// It takes no more transactions, as a program does that was told to stop.
  void stop();
  /// It is gone without a word.
  void killed();
  /// What was written and is not durable is to be done again.
  void store_lost() { inbox_->transactions.store_lost(); }

  /// One turn: they ask, give up, and read what they are told. `healed`: no refusal passes any more.
  void pass_turn(std::uint32_t turn, bool healed);
  /// The requests that a step of that plan is made of, in its order.
  [[nodiscard]] std::vector<const request*> asked_in(std::uint32_t stream, const step_plan&) const;
  /// What the oracle says of them if that step is made now.
  void expect(const std::vector<const request*>&, const std::vector<transacted>&);

  /// Each knows what came of its request.
  [[nodiscard]] bool know_all() const;

  /// A power cut took steps back. Errors: throws broken where somebody was told of one.
  void check_promises(std::uint64_t last_step) const;
  /// The directory is another one, as an operator wanted it.
  void forget_promises() { promises_.clear(); }

  [[nodiscard]] const call_census& met() const noexcept { return met_; }

 private:
  struct caller {
    explicit caller(const request& r) : of{&r}, asks_at{r.at} {}
    const request* of;
    std::uint32_t asks_at;
    std::uint32_t gives_up_at{0};
    posted_transactions::ticket_ptr ticket{};    ///< while it asks
    std::vector<std::error_code> may_be_told{};  ///< by the steps that it may be in
    bool knows{false};
  };

  void ask(caller&, std::uint32_t turn, bool healed);
  void read(caller&, std::uint32_t turn, bool healed);
  void take_answer(caller&, const transaction_answer&, std::uint32_t turn, bool healed);
  void let_go(caller&, std::uint32_t turn);
  [[nodiscard]] bool is_asked_otherwise(const request&) const;
  [[nodiscard]] transaction_function function_of(const request&);

  const history& history_;
  world_port& world_;
  step_book& book_;
  const std::optional<simulated_disk>& disk_;
  std::unique_ptr<mailbox> inbox_;
  std::deque<caller> all_;
  std::deque<transaction_function> functions_;        ///< of this process
  std::map<const request*, std::uint64_t> promises_;  ///< with the step that each rests on
  std::uint32_t turn_{0};
  call_census met_;
};

}  // namespace ratchet::sim
