// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/plain_oracle.hpp"

#include <algorithm>
#include <utility>

#include "core/backoff.hpp"  // documented, and without a state: what `due` means

namespace ratchet::sim {

bool succeeds(const message& m, std::uint32_t attempt) {
  if (m.kind == message_kind::tombstone || m.how == failing::never || m.how == failing::stop) return true;
  return m.how != failing::give_up && attempt > m.times;
}

plain_oracle::plain_oracle(const stream_setup& setup) : setup_{&setup}, partitions_(setup.partitions) {}

bool plain_oracle::aggregate::was_skipped(place p) const {
  return std::any_of(skipped.begin(), skipped.end(),
                     [&](const auto& range) { return range.first <= p && p <= range.second; });
}

void plain_oracle::begin_step() {
  tickets_.clear();
  first_fates_.clear();
  sayings_.clear();
  published_.clear();
  stopped_.clear();
  anew_.clear();
  for (auto& [number, a] : aggregates_) {
    for (auto& [where, w] : a.waiting) w.ticket.reset();
    for (auto& [where, w] : a.accepted) w.ticket.reset();
  }
}

fate plain_oracle::fate_of(std::size_t ticket) const {
  for (const auto& [number, a] : aggregates_) {
    for (const auto& [where, w] : a.waiting) {
      if (w.ticket == ticket) return a.held ? fate::dead : w.state;
    }
    for (const auto& [where, w] : a.accepted) {
      if (w.ticket == ticket) return w.state;
    }
  }
  return tickets_.at(ticket);
}

std::size_t plain_oracle::take(const message& m, const spot& here, std::int64_t now, bool unseen) {
  partition& p = partitions_[m.partition];
  ++taken_;
  now_ = now;
  const std::size_t ticket = tickets_.size();
  tickets_.push_back(fate::repeated);
  first_fates_.push_back(fate::repeated);
  if (p.known && std::pair{here.offset, here.index} < std::pair{p.next, p.next_index}) {
    ++counts_[static_cast<std::size_t>(fate::repeated)];
    return ticket;
  }
  kept_.reset();
  older_.reset();
  refused_ = refusal::none;
  const bool number_came = note_ordinal(m, p);
  const bool gone = is_gone(m);
  const fate f = number_came ? fate::repeated : judge(m, gone);
  if (f == fate::applied || f == fate::parked || f == fate::dead) {
    if (gone) begin_anew(m.aggregate);
    let_in(m, here, f, unseen, ticket);
  } else {
    tickets_[ticket] = f;
    ++counts_[static_cast<std::size_t>(f)];
    if (f != fate::repeated && f != fate::stale && f != fate::ignored)
      rejected_[{m.partition, here.offset, here.index}] = f;
  }
  first_fates_.back() = fate_of(ticket);
  move_on(m, here, p);
  end_touches();
  std::optional<std::int64_t> capped;
  if (m.time) capped = std::min(*m.time, now + setup_->skew);
  const bool is_accepted = kept_ && aggregates_.at(kept_->first).accepted.contains(kept_->second);
  if (is_accepted) {
    waiter& w = aggregates_.at(kept_->first).accepted.at(kept_->second);
    w.began = floor_ ? std::optional{*floor_ + setup_->window} : capped;
    w.since = w.began;
    if (older_) w.since = std::min(w.since.value_or(*older_), *older_);
  } else if (kept_) {
    // A gap that shrinks keeps its age.
    const aggregate& of = aggregates_.at(kept_->first);
    auto& waiting = aggregates_.at(kept_->first).waiting;
    const auto at = waiting.find(kept_->second);
    at->second.began = floor_ ? std::optional{*floor_ + setup_->window} : capped;
    at->second.since = at->second.began;
    const auto above = std::next(at);
    const bool waited_for_it = above != waiting.end() && waited_for(of, above->first, kept_->second);
    if (waited_for_it && above->second.since) {
      at->second.since = std::min(at->second.since.value_or(*above->second.since), *above->second.since);
    }
  }
  const auto own = aggregates_.find(m.aggregate);
  const bool is_event = m.kind == message_kind::event || m.kind == message_kind::tombstone;
  if (is_event && own != aggregates_.end()) skip_old_gaps(own->second);
  end_touches();
  forget_more();
  return ticket;
}

/// The position moves with each event; the record has come, and its time with it, when its last event has.
void plain_oracle::move_on(const message& m, const spot& at, partition& p) {
  if (!std::exchange(p.known, true)) p.counts = true;
  p.next = at.more ? at.offset : at.offset + 1;
  p.next_index = at.more ? at.index + 1 : 0;
  p.within = at.more ? at.whole : nullptr;
  if (!at.more) {
    p.last = {at.offset, at.whole};
    if (m.time && setup_->checks_times) {
      p.times.take(*m.time, now_, setup_->skew);
      p.highest = p.times.highest;
    } else if (m.time) {
      const std::int64_t capped = std::min(*m.time, now_ + setup_->skew);
      p.highest = std::max(p.highest.value_or(capped), capped);
    }
    if (p.highest) p.counts = true;
  }
  raise_floor();
}

/// Whether an event that waits above another waited for its number, too: not where people are to let it in.
bool plain_oracle::waited_for(const aggregate& a, place above, place below) const {
  return setup_->gap != gap_policy::skip || !is_left_to_people(a, above) || is_left_to_people(a, below);
}

/// Of an id that grows: whether it, or a higher one, came from its source in its partition before.
bool plain_oracle::note_ordinal(const message& m, partition& p) const {
  const bool is_event = m.kind == message_kind::event || m.kind == message_kind::tombstone;
  if (setup_->ids != id_kind::monotonic || !is_event) return false;
  const auto [last, is_first] = p.highest_ordinals.try_emplace(m.source, m.ordinal);
  const bool came = !is_first && m.ordinal <= last->second;
  if (!came) last->second = m.ordinal;
  return came;
}

/// An event that is applied or has to wait.
void plain_oracle::let_in(const message& m, const spot& at, fate as, bool unseen, std::size_t ticket) {
  aggregate& a = aggregates_[m.aggregate];
  const bool may_run = as == fate::applied;
  const place number = setup_->arrival ? next_number(a) : place{m.epoch, m.number};
  waiter w{.of = &m, .offset = at.offset, .index = at.index, .since = {}, .began = {}, .due = {}};
  w.ticket = ticket;
  if (as == fate::dead) {
    w.state = as;
    w.undecided = true;
    w.error_bytes = bytes_of_too_old();
  }
  if (may_run && setup_->deferred) return let_in_later(number, std::move(w));
  if (may_run && !unseen && says_stop(m)) {
    refused_ = refusal::reducer;
    return;
  }
  if (may_run && (unseen || succeeds(m, 1))) {
    touch(a, std::max(time_reached(m), m.time));
    tickets_[ticket] = fate::applied;
    ++counts_[static_cast<std::size_t>(fate::applied)];
    apply(a, number, m, time_of_id(m));
    if (setup_->strict || setup_->arrival) {
      release(a);
    } else {
      supersede(a);
    }
    return;
  }
  if (may_run) fail(number, w);
  a.waiting.emplace(number, w);
  a.highest = std::max(a.highest, number.second);
  kept_ = std::pair{m.aggregate, number};
  if (waiting_events() > setup_->most_events.value_or(~0ULL) ||
      waiting_bytes() > setup_->most_bytes.value_or(~0ULL))
    refused_ = refusal::full;
  if (a.held || a.waiting.size() <= setup_->most_of_aggregate) return;
  a.held = true;
  sayings_.push_back({"aggregate_held", m.aggregate, {}});
}

/// An attempt failed.
void plain_oracle::fail(place number, waiter& w) {
  const message& m = w.what();
  const std::string error =
      m.how == failing::throws ? "as its payload asks for" : make_error_code(errc::reducer_failed).message();
  w.error_bytes = error.size();
  ++w.attempts;
  w.due.reset();
  if (says_stop(m)) {  // it has as many attempts as it takes to mend the reducer
    stopped_.push_back({w.of->partition, w.offset, w.index, refusal::reducer});
  } else if (m.how == failing::give_up || w.attempts >= setup_->retry.attempts) {
    w.state = fate::dead;
    return;
  }
  w.state = fate::retrying;
  w.due = now_ +
          backoff(setup_->retry, "a" + std::to_string(m.aggregate), {number.first, number.second}, w.attempts)
              .count();
}

/// True where it was applied, and waits no more.
bool plain_oracle::run(aggregate& a, std::map<place, waiter>::iterator at) {
  if (!succeeds(at->second.what(), at->second.attempts + 1)) {
    fail(at->first, at->second);
    return false;
  }
  const waiter w = at->second;
  const place number = at->first;
  leave(a, at);
  touch_released(a, w);
  apply(a, number, w.what(), time_of_id(w));
  return true;
}

/// By which an id is remembered: an opaque one has only its record's, or what the stream knew instead.
std::int64_t plain_oracle::time_of_id(const message& m) const {
  if (setup_->ids != id_kind::opaque) return m.id ? static_cast<std::int64_t>(m.id->high / 65'536) : 0;
  if (m.time) return *m.time;
  if (const auto& highest = partitions_[m.partition].highest) return *highest;
  return floor_ ? *floor_ + setup_->window : 0;
}

std::int64_t plain_oracle::time_of_id(const waiter& w) const {
  if (setup_->ids != id_kind::opaque) return time_of_id(*w.of);
  if (w.filed) return *w.filed;
  return w.of->time ? *w.of->time : w.began.value_or(0);
}

std::string plain_oracle::describe_old_gap() const {
  for (const auto& [number, a] : aggregates_) {
    if (!is_old_gap(a)) continue;
    return "below " + std::to_string(a.waiting.begin()->first.second) + " of a" + std::to_string(number) +
           ", since " + std::to_string(*a.waiting.begin()->second.since) + "; stream time is " +
           std::to_string(*floor_ + setup_->window);
  }
  return {};
}

bool plain_oracle::is_settled() const {
  for (const auto& [number, a] : aggregates_) {
    if (!a.accepted.empty() && a.accepted.begin()->second.state != fate::dead) return false;
    if ((a.bound || a.accept_bound) && !a.waiting.empty() && a.accepted.empty()) return false;
    if (a.held || a.waiting.empty()) continue;
    const auto& [first, lowest] = *a.waiting.begin();
    if (setup_->gap == gap_policy::skip && is_old_gap(a)) return false;
    const bool has_its_turn = comes_next(a, first) && !waits_for_people(a, lowest);
    if (lowest.state == fate::parked && has_its_turn) return false;
    for (const auto& [at, w] : a.waiting) {
      if (w.state == fate::retrying) return false;
      // One of a higher epoch may be behind what came later: it has its turn when that is gone.
      if (setup_->strict || setup_->arrival) break;
    }
  }
  return true;
}

std::uint64_t plain_oracle::count(fate f) const {
  std::uint64_t sum = counts_[static_cast<std::size_t>(f)];
  for (const auto& [number, a] : aggregates_) {
    for (const auto& [at, w] : a.waiting) sum += (a.held ? fate::dead : w.state) == f ? 1 : 0;
    for (const auto& [at, w] : a.accepted) sum += w.state == f ? 1 : 0;
  }
  return sum;
}

std::uint64_t plain_oracle::waiting_events() const {
  std::uint64_t sum = 0;
  for (const auto& [number, a] : aggregates_) sum += a.waiting.size() + a.accepted.size();
  return sum;
}

/// The record's own bytes, its type, the name of its topic, the error, and 256 for the rest.
std::uint64_t plain_oracle::waiting_bytes() const {
  std::uint64_t sum = 0;
  const auto add = [&](const std::map<place, waiter>& those) {
    for (const auto& [at, w] : those) {
      sum += 256 + std::string_view{"t0"}.size() + w.of->key.size() + w.error_bytes;
      if (setup_->is_cloudevents) sum += k_event_type.size();
      if (w.of->value) sum += w.of->value->size();
      for (const header& h : w.of->headers) sum += h.name.size() + h.value.value_or("").size();
      if (w.mended) sum += w.mended->payload.size();
    }
  };
  for (const auto& [number, a] : aggregates_) {
    add(a.waiting);
    add(a.accepted);
  }
  return sum;
}

void plain_oracle::go_on_at(std::uint32_t which, std::int64_t offset, bool elsewhere) {
  if (!std::exchange(partitions_[which].known, true)) count_in(which);
  partitions_[which].next = offset;
  partitions_[which].next_index = 0;
  partitions_[which].within = nullptr;
  if (elsewhere) partitions_[which].last.reset();
}

void plain_oracle::forget_positions() {
  for (partition& p : partitions_) {
    p.last.reset();
    p.next_index = 0;
    p.within = nullptr;
    p.times.pending.clear();
  }
}

void plain_oracle::leave_out(std::span<const std::uint32_t> those) {
  // The furthest behind the others: what is read to the end has come to the time of its newest record.
  std::vector<std::uint32_t> in_order{those.begin(), those.end()};
  std::sort(in_order.begin(), in_order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return partitions_[a].highest < partitions_[b].highest;
  });
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    if (i + 1 == in_order.size() && i > 0) raise_floor();
    if (i + 1 == in_order.size()) forget_more();
    partitions_[in_order[i]].counts = false;
  }
  raise_floor();  // also where others count again
  forget_more();
}

plain_oracle::place plain_oracle::next_number(const aggregate& a) const {
  return {0, std::max(a.last.second, a.highest) + 1};
}

bool plain_oracle::comes_next(const aggregate& a, place p) const {
  if (setup_->arrival) return true;
  const bool is_any = setup_->first == first_number::any;
  const std::uint64_t first = setup_->first == first_number::one ? 1 : 0;
  if (!a.exists) return is_any ? a.adopted == p : p.second == first;
  if (p.first == a.last.first) return p.second == a.last.second + 1;
  return setup_->accepts_epochs && p.first > a.last.first && !is_any && p.second == first;
}

/// applied: it is let through to the reducer; parked: others come first.
fate plain_oracle::judge(const message& m, bool gone) const {
  if (m.kind == message_kind::malformed) return fate::malformed;
  if (m.kind == message_kind::ignored) return fate::ignored;
  const bool is_timed = m.id && setup_->ids != id_kind::monotonic;
  const bool before_window = is_timed && floor_ && time_of_id(m) < *floor_;
  const auto filed = m.id ? ids_.find({*m.id, m.aggregate}) : ids_.end();
  const auto known = aggregates_.find(m.aggregate);
  const aggregate nothing;
  const aggregate& a = known == aggregates_.end() || gone ? nothing : known->second;
  const bool is_reopened = m.id && known != aggregates_.end() && known->second.reopened.contains(*m.id);
  const bool seen = filed != ids_.end() && (!floor_ || filed->second >= *floor_) && !is_reopened;
  if (setup_->arrival) {
    for (const auto& [number, w] : a.waiting) {
      if (w.of->id == m.id) return fate::repeated;
    }
    if (seen) return fate::repeated;
    if (before_window) return setup_->parks_too_old ? fate::dead : fate::too_old;
    return a.waiting.empty() ? fate::applied : fate::parked;
  }
  const place mine{m.epoch, m.number};
  if (const auto claimed = a.waiting.find(mine); claimed != a.waiting.end()) {
    const message& other = *claimed->second.of;
    const std::string& payload = (claimed->second.mended ? *claimed->second.mended : other).payload;
    const bool is_it = other.id && m.id ? other.id == m.id : payload == m.payload;
    return is_it ? fate::repeated : fate::conflict;
  }
  const bool nothing_known = (a.waiting.empty() && a.accepted.empty()) || a.undecided() > 0;
  if (!a.exists && nothing_known && !a.was_skipped(mine) && is_too_old(m, seen))
    return setup_->parks_too_old && !seen ? fate::dead : fate::too_old;
  if (a.exists && mine < a.last) {
    const bool is_below = setup_->strict && setup_->first == first_number::one && mine.second == 0;
    return seen                  ? fate::repeated
           : a.was_skipped(mine) ? fate::late
           : is_below            ? fate::below_first
                                 : fate::stale;
  }
  if (a.exists && mine == a.last) {
    if (a.was_skipped(a.last)) return fate::late;
    return (m.id && a.id == m.id) || a.payload == m.payload ? fate::repeated : fate::conflict;
  }
  if (setup_->strict) return judge_strict(a, mine, seen);
  return seen && a.exists ? fate::id_reused : fate::applied;
}

/// What lies above the last one, if there is one.
fate plain_oracle::judge_strict(const aggregate& a, place mine, bool seen) const {
  if (a.exists && seen) return fate::id_reused;
  if (a.was_skipped(mine)) return fate::late;
  if (!a.exists) {
    if (setup_->first == first_number::any)
      return a.adopted && mine < *a.adopted ? fate::stale : fate::parked;
    if (mine.second < (setup_->first == first_number::one ? 1U : 0U)) return fate::below_first;
  } else if (setup_->accepts_epochs && setup_->first == first_number::one && mine.second < 1) {
    return fate::below_first;
  }
  const bool is_behind_others =
      !a.waiting.empty() && (a.held || is_unknown(a) || a.waiting.begin()->first < mine);
  return comes_next(a, mine) && !is_behind_others ? fate::applied : fate::parked;
}

void plain_oracle::apply(aggregate& a, place number, const message& m, std::int64_t id_time) {
  take_in(a, number, m, id_time);
  show(a, m);
}

/// It is the last one from now on, and its id is known.
void plain_oracle::take_in(aggregate& a, place number, const message& m, std::int64_t id_time) {
  a.exists = true;
  a.adopted.reset();
  a.last = number;
  a.id = m.id;
  file(m, id_time);
  a.payload = m.payload;
  if (m.id) a.reopened.erase(*m.id);
}

/// What the reducer makes of it.
void plain_oracle::show(aggregate& a, const message& m) {
  a.deleted = m.kind == message_kind::tombstone;
  if (a.deleted) {
    a.snapshot.clear();
    return;
  }
  a.snapshot = setup_->folds ? fold(a.snapshot, m.payload) : m.payload;
  if (setup_->folds) publish(m.aggregate, m.payload);
}

void plain_oracle::file(const message& m, std::int64_t time) {
  if (!m.id || setup_->ids == id_kind::monotonic) return;
  ids_[{*m.id, m.aggregate}] = time;
  answers_.erase({*m.id, m.aggregate});
}

void plain_oracle::raise_floor() {
  std::optional<std::int64_t> lowest;
  for (const partition& p : partitions_) {
    if (!p.counts) continue;
    if (!p.highest) return;
    lowest = std::min(lowest.value_or(*p.highest), *p.highest);
  }
  if (lowest) floor_ = std::max(floor_.value_or(*lowest - setup_->window), *lowest - setup_->window);
}

}  // namespace ratchet::sim
