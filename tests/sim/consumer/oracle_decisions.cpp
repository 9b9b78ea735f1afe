// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an operator decides, by the words of the contract.
#include <algorithm>

#include "sim/consumer/plain_oracle.hpp"

namespace ratchet::sim {

waiting_answer plain_oracle::run_commands(std::uint32_t which, const ruling& r, std::int64_t now) {
  const auto known = aggregates_.find(which);
  if (known == aggregates_.end()) return waiting_answer::none_waits;
  now_ = now;
  aggregate& a = known->second;
  a.was_decided = true;
  const waiting_answer answer = run_commands(which, a, r);
  if (setup_->deferred) catch_up(a);
  end_touches();
  return answer;
}

waiting_answer plain_oracle::run_commands(std::uint32_t which, aggregate& a, const ruling& r) {
  const auto accepted = a.accepted.find(r.number);
  const bool is_accepted = accepted != a.accepted.end();
  const auto at = is_accepted ? accepted : a.waiting.find(r.number);
  if (!is_accepted && at == a.waiting.end()) {
    return r.verb == waiting_verb::skip ? skip_gap_to(which, a, r.number) : waiting_answer::none_waits;
  }
  if (at->second.undecided && !setup_->arrival) ++old_decided_;
  switch (r.verb) {
    case waiting_verb::replay:
      return replay(a, at, r, is_accepted);
    case waiting_verb::skip:
      return is_accepted ? skip_accepted(a, at) : skip(a, at);
    case waiting_verb::discard:
      sayings_.push_back({"waiting_discarded", which, {r.number.second}});
      ++counts_[static_cast<std::size_t>(fate::discarded)];
      if (is_accepted) {
        discard_accepted(a, at);
      } else {
        reopen(a, *at->second.of);
        erase(a, at);
      }
      if (setup_->strict && time()) a.opened = time();
      if (a.waiting.empty() && !a.exists)
        a.adopted.reset();  // nothing is left of it: what comes next begins anew
      if (setup_->strict || setup_->arrival) release(a);
      return waiting_answer::done;
  }
  return waiting_answer::none_waits;
}

waiting_answer plain_oracle::replay(aggregate& a, std::map<place, waiter>::iterator at, const ruling& r,
                                    bool is_accepted) {
  waiter& w = at->second;
  const bool lets_in = !is_accepted && !a.held && begins_an_epoch(a, at);
  if (w.state == fate::parked && !a.held && !r.payload && !lets_in) return waiting_answer::not_in_trouble;
  sayings_.push_back({"waiting_replayed", w.of->aggregate, {at->first.second}});
  a.held = false;
  if (r.payload) {
    auto mended = std::make_shared<message>(*w.of);
    mended->kind = message_kind::event;
    mended->payload = *r.payload;
    mended->how = failing::never;
    w.mended = std::move(mended);
    if (is_accepted && at->first == a.last) a.payload = *r.payload;
  }
  if (w.undecided) {
    decide_about(a, at);
  } else if (w.state != fate::parked) {
    w.state = fate::retrying;
    w.attempts = 0;
    w.due = now_;
  }
  if (lets_in) {
    skip_gap(a);
    (void)run_lowest(a);
  }
  setup_->strict || setup_->arrival ? release(a) : retry_latest(a);
  const auto next = a.accepted.find(r.number);
  const bool is_next = next != a.accepted.end() && next == a.accepted.begin();
  if (is_next && next->second.state == fate::retrying) (void)run_accepted(a);
  return waiting_answer::done;
}

/// It waits for nothing but somebody who lets its epoch in.
bool plain_oracle::begins_an_epoch(const aggregate& a, std::map<place, waiter>::iterator at) const {
  const std::uint64_t first = setup_->first == first_number::one ? 1 : 0;
  return at->first == a.waiting.begin()->first && at->second.state == fate::parked &&
         is_left_to_people(a, at->first) && (setup_->first == first_number::any || at->first.second == first);
}

/// It goes, and the last-handled number moves past it.
waiting_answer plain_oracle::skip(aggregate& a, std::map<place, waiter>::iterator at) {
  const bool in_turn = setup_->strict || setup_->arrival;
  const bool is_first = at == a.waiting.begin() && a.accepted.empty() && !waits_for_people(a, at->second);
  const bool was_undecided = setup_->strict && at->second.undecided;
  const bool is_ahead = was_undecided && at != a.waiting.begin();
  if (in_turn && !is_first && !was_undecided) return waiting_answer::not_first;
  const place number = at->first;
  const std::uint32_t which = at->second.of->aggregate;
  sayings_.push_back({"waiting_skipped", which, {number.second}});
  ++counts_[static_cast<std::size_t>(fate::skipped)];
  if (setup_->arrival)
    file(*at->second.of, time_of_id(at->second));  // or it would be new when it comes again
  if (!setup_->arrival) reopen(a, *at->second.of);
  erase(a, at);
  if (is_ahead) {
    a.skipped.emplace_back(number, number);  // the last-handled one comes to it later
    touch(a, time());
  } else if (!a.exists || a.last < number) {
    place from = number;
    if (setup_->strict && a.exists) from = successor(a.last);
    if (setup_->strict && !a.exists && setup_->first != first_number::any)
      from = std::min(number, place{number.first, setup_->first == first_number::one ? 1 : 0});
    if (from < number) skip_range(a, which, from, predecessor(number));
    a.skipped.emplace_back(from, number);
    touch(a, time());
    move_to(a, number);
  }
  in_turn ? release(a) : supersede(a);
  return waiting_answer::done;
}

/// Nothing waits under the number: it lies in the gap below the lowest, or nowhere.
waiting_answer plain_oracle::skip_gap_to(std::uint32_t which, aggregate& a, place to) {
  const bool has_gap = setup_->strict && !a.waiting.empty() && to < a.waiting.begin()->first;
  const bool nobody_knows_where = !a.exists && setup_->first == first_number::any;
  if (setup_->strict && !a.waiting.empty() && is_unknown(a)) return waiting_answer::not_first;
  if (!has_gap || nobody_knows_where || (a.exists && to <= a.last)) return waiting_answer::none_waits;
  place from{to.first, setup_->first == first_number::one ? 1 : 0};
  if (a.exists) from = successor(a.last);
  if (to < from) return waiting_answer::none_waits;
  skip_range(a, which, from, to);
  touch(a, time());
  move_to(a, to);
  release(a);
  return waiting_answer::done;
}

void plain_oracle::move_to(aggregate& a, place number) {
  a.exists = true;
  a.last = number;
  a.id.reset();
  a.payload.clear();
  a.adopted.reset();
}

}  // namespace ratchet::sim
