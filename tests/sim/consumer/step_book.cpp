// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/step_book.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "core/sequence_range.hpp"
#include "sim/consumer/book_messages.hpp"

namespace ratchet::sim {

namespace {

/// The lowest event at or above `from` that waits behind the step.
[[nodiscard]] std::optional<plain_oracle::place> lowest_after(const backlog_change& change,
                                                              const std::string& name,
                                                              const stream_rows& before, sequence from = {}) {
  std::set<sequence> waiting;
  for (auto at = before.waiting.lower_bound({name, {}});
       at != before.waiting.end() && at->first.first == name; ++at)
    waiting.insert(at->first.second);
  for (const waiting_head& gone : change.removals) waiting.erase(gone.sequence);
  for (const waiting_event& e : change.puts) waiting.insert(e.head.sequence);
  const auto lowest = waiting.lower_bound(from);
  if (lowest == waiting.end()) return std::nullopt;
  return plain_oracle::place{lowest->epoch, lowest->number};
}

/// In order latest each event is tried by itself: a step that ended early came to those below this.
[[nodiscard]] sequence end_of_tried(const backlog_change& change) {
  sequence end;
  for (const waiting_head& gone : change.removals) end = std::max(end, behind(gone.sequence));
  for (const waiting_event& e : change.puts) end = std::max(end, behind(e.head.sequence));
  return end;
}

}  // namespace

step_book::step_book(const history& h, const running& now) : history_{&h}, running_{&now} {
  std::size_t logs = 0;
  for (const stream_setup& s : h.streams) {
    oracles_.emplace_back(s);
    logs += s.partitions;
  }
  unread_below_.resize(logs);
}

void step_book::delivered(const cluster& c, const std::vector<std::pair<std::size_t, log_entry>>& records) {
  for (const auto& [log, entry] : records) {
    for (const auto& [event, at] : events_of(*entry.what, entry.offset))
      delivered_[c.logs[log].stream].push_back({log, event, at, c.logs[log].made});
  }
}

void step_book::forget_deliveries() {
  delivered_.clear();
  stopped_.clear();
  expected_.reset();
}

std::size_t step_book::perform(operation& o) {
  plain_oracle& oracle = oracles_[o.stream];
  oracle.set_mended(o.mended);
  oracle.set_retention(o.retention);
  switch (o.what) {
    case operation::kind::take:
      return oracle.take(*o.of, o.at, o.now, o.unseen);
    case operation::kind::go_on:
      oracle.go_on_at(o.partition, o.offset, o.elsewhere);
      break;
    case operation::kind::leave_out:
      oracle.leave_out(o.left_out);
      break;
    case operation::kind::count_in:
      oracle.count_in(o.partition);
      break;
    case operation::kind::bind:
      oracle.bind(o.aggregate, o.first, o.first_to_accept);
      break;
    case operation::kind::run_bound:
      oracle.run_bound(o.aggregate, o.now);
      break;
    case operation::kind::resume:
      oracle.resume(o.aggregate, o.now, o.runs_accepted);
      break;
    case operation::kind::transact:
      (void)oracle.transact(*o.asked, o.now);
      break;
    case operation::kind::forget:
      oracle.forget_positions();
      break;
    case operation::kind::take_away:
      oracle.take_away(o.aggregate);
      break;
    case operation::kind::nothing:
      break;
    case operation::kind::run_commands:
      return static_cast<std::size_t>(oracle.run_commands(o.aggregate, o.decided, o.now));
  }
  return 0;
}

std::size_t step_book::add(step& to, operation o) {
  o.retention = running_->retention.at(o.stream);
  to.operations.push_back(std::move(o));
  return perform(to.operations.back());
}

void step_book::take_back_to(std::uint64_t number) {
  while (!steps_.empty() && steps_.back().number > number) steps_.pop_back();
  oracles_.clear();
  for (const stream_setup& s : history_->streams) oracles_.emplace_back(s);
  for (step& s : steps_) {
    for (operation& o : s.operations) (void)perform(o);
  }
}

std::optional<std::int64_t> step_book::next_offset(std::size_t log, std::uint64_t number) const {
  for (auto s = steps_.rbegin(); s != steps_.rend(); ++s) {
    if (s->number > number) continue;
    for (const auto& [which, next] : s->nexts) {
      if (which == log) return next;
    }
  }
  return std::nullopt;
}

void step_book::write(const step_batch& batch, const simulated_disk::contents& before, const cluster& c,
                      std::int64_t now, const std::vector<const request*>& asked) {
  step& s = steps_.emplace_back();
  s.number = batch.step;
  std::vector<said> sayings;
  for (const step_part& part : batch.parts) {
    const auto stream = static_cast<std::uint32_t>(part.stream);
    const stream_rows& was = before.streams[stream];
    check_part(part, was, forgets_positions(batch.audits));
    oracles_[stream].begin_step();
    (void)add(s, {.stream = stream});  // whatever it is about, it knows what is forgotten
    if (part.plan != nullptr && part.plan->resumes) {
      expected_ && expected_->stream == stream ? run_commands(s, part, was, c, now, batch.audits)
                                               : resume(s, part, was, c, now);
    } else if (part.plan != nullptr && part.plan->wants_answers) {
      transact(s, stream, asked, now);
    } else if (part.plan != nullptr && !part.plan->events.empty()) {
      check_floor(stream, was.state, c);
      take_records(s, part, was, c, now);
    } else if (part.plan != nullptr && !part.plan->aggregates.empty()) {
      take_away(s, part);
    } else {
      take_moves(s, stream, *part.change, was, batch.audits, c);
      if (part.change->after.floor != was.state.floor) check_floor(stream, part.change->after, c);
    }
    check_rows(part, was);
    const auto& own = oracles_[stream].sayings();
    sayings.insert(sayings.end(), own.begin(), own.end());
    check_published(oracles_[stream].published(), stream, batch.outbox);
    check_letters(stream, batch.outbox, c);
    for (std::size_t i = 0; i < c.logs.size(); ++i) {
      const auto at = part.change->after.partitions.find(c.logs[i].where);
      if (c.logs[i].stream != stream || at == part.change->after.partitions.end()) continue;
      if (!at->second.has_position()) continue;
      s.nexts.emplace_back(i, at->second.next_offset);
    }
  }
  check_sayings(std::move(sayings), batch.audits);
}

/// The step publishes what the oracle does, of each aggregate in its order, and nothing else.
void step_book::check_published(plain_oracle::messages wanted, std::uint32_t stream,
                                const outbox_change& outbox) {
  for (const output_row& row : outbox.puts) {
    if (row.kind != output_kind::published || static_cast<std::uint32_t>(row.stream) != stream) continue;
    const std::uint32_t aggregate = number_of(row.aggregate);
    const auto next = std::find_if(wanted.begin(), wanted.end(),
                                   [aggregate](const auto& known) { return known.first == aggregate; });
    if (next == wanted.end() || next->second != row.value)
      throw broken("of " + row.aggregate +
                   " is published what is not next: " + row.value.value_or("nothing"));
    wanted.erase(next);
  }
  if (!wanted.empty())
    throw broken(std::to_string(wanted.size()) + " messages are not published, the first of a" +
                 std::to_string(wanted.front().first) + ": " + wanted.front().second);
}

/// Each number that is skipped, and each aggregate that is held, is told by an audit row, and no other is.
void step_book::check_sayings(std::vector<said> wanted, const std::vector<audit_row>& found) {
  for (const audit_row& row : found) {
    constexpr std::array k_kinds{"gap_skipped",      "first_adopted",   "aggregate_held",
                                 "waiting_replayed", "waiting_skipped", "waiting_discarded"};
    if (std::find(k_kinds.begin(), k_kinds.end(), row.kind) == k_kinds.end()) continue;
    // Behind the bracket are the record and the hash of its payload, whose digits are no numbers of events.
    const std::string text = row.text.substr(0, row.text.find(" ("));
    const auto names = [&](const said& s) {
      return s.kind == row.kind && text.find("`a" + std::to_string(s.aggregate) + "`") != std::string::npos &&
             std::all_of(s.numbers.begin(), s.numbers.end(),
                         [&](std::uint64_t n) { return text.find(std::to_string(n)) != std::string::npos; });
    };
    const auto at = std::find_if(wanted.begin(), wanted.end(), names);
    if (at == wanted.end()) throw broken("an audit row that the oracle does not have: " + row.text);
    wanted.erase(at);
  }
  must_be(wanted.empty(), "an audit row is missing");
}

/// How far a step goes in releasing what waits is its own choice, as long as it says where it ended.
void step_book::take_bounds(step& s, const step_part& part, const stream_rows& before, bool is_resumed) {
  for (const backlog_change& change : part.change->backlogs) {
    const std::string name{part.plan->aggregates.at(change.aggregate)};
    operation o{.what = operation::kind::bind, .stream = static_cast<std::uint32_t>(part.stream)};
    o.aggregate = number_of(name);
    const bool tries_each = is_resumed && part.plan->order == order::latest;
    const sequence from = tries_each ? end_of_tried(change) : sequence{};
    if (change.after && change.after->ready) o.first = lowest_after(change, name, before, from);
    if (history_->streams[o.stream].deferred && change.after && change.after->goes_on()) {
      const auto& accepted = change.after->accepted;
      o.first_to_accept =
          lowest_after(change, name, before, accepted ? behind(accepted->sequence) : sequence{});
    }
    (void)add(s, o);
  }
}

void step_book::resume(step& s, const step_part& part, const stream_rows& before, const cluster& c,
                       std::int64_t now) {
  const auto stream = static_cast<std::uint32_t>(part.stream);
  for (const std::string_view name : part.plan->aggregates) {
    if (!oracles_[stream].is_due(number_of(name), now))
      throw broken("aggregate " + std::string{name} + " is resumed, but nothing of it is due");
  }
  constexpr bool k_is_resumed = true;
  take_bounds(s, part, before, k_is_resumed);
  // A step that had its time leaves the others for the next.
  const auto looked_at = std::span{part.plan->aggregates}.first(part.change->looked_at);
  for (const std::string_view name : looked_at) {
    operation o{.what = operation::kind::resume, .stream = stream, .now = now, .mended = running_->mended};
    o.runs_accepted = part.plan->runs_accepted;
    o.aggregate = number_of(name);
    (void)add(s, o);
  }
  check_stops(stream, *part.change, {}, c);
}

/// What holds of every part of every step, whatever it is about.
void step_book::check_part(const step_part& part, const stream_rows& before, bool forgets) const {
  const stream_change& change = *part.change;
  must_be(change.after.counters.consumed == change.after.counters.accounted(), "the ledger does not add up");
  must_be(!before.state.floor || (change.after.floor && *change.after.floor >= *before.state.floor),
          "the floor went back");
  for (const auto& [where, state] : before.state.partitions) {
    const auto after = change.after.partitions.find(where);
    must_be(after != change.after.partitions.end(), "a partition's position was forgotten");
    must_be(forgets || after->second.next() >= state.next(), "a position went back");
  }
}

/// The next record that was delivered to the stream. Those of a partition that is stopped are passed over.
step_book::delivery step_book::next_delivery(std::uint32_t stream, const record& wanted, const cluster& c) {
  std::deque<delivery>& queue = delivered_[stream];
  for (;;) {
    must_be(!queue.empty(), "a record was decided that was not delivered");
    const delivery d = queue.front();
    queue.pop_front();
    const topic_partition& where = c.logs[d.log].where;
    const bool is_it = where == *wanted.where && d.at.offset == wanted.offset && d.at.index == wanted.index;
    if (is_it) {
      must_be(d.at.more == wanted.more, "a record has more events than it holds, or fewer");
      return d;
    }
    if (!is_stopped(d.log, stream))
      throw broken(place(where) + ": offset " + to_text(event_place{d.at.offset, d.at.index}) +
                   " was passed over");
  }
}

bool step_book::is_stopped(std::size_t log, std::uint32_t stream) const {
  return stopped_.contains(log) || is_stopped_by_gap(stream);
}

bool step_book::is_stopped_by_gap(std::uint32_t stream) const {
  return history_->streams[stream].gap == gap_policy::stop && oracles_[stream].has_old_gap();
}

bool step_book::is_settled() const {
  return std::all_of(oracles_.begin(), oracles_.end(), [](const plain_oracle& o) { return o.is_settled(); });
}

/// Where a newer event makes older ones of its step needless, only that one is run, and nobody learns which
/// of the others would have failed; unless something of its aggregate waits, or that one fails.
std::set<std::uint32_t> step_book::superseding(std::uint32_t stream, const std::vector<delivery>& records,
                                               const stream_rows& before, std::int64_t now) const {
  const stream_setup& setup = history_->streams[stream];
  if (setup.strict || setup.arrival || setup.folds || !setup.fails) return {};
  plain_oracle unseen = oracles_[stream];
  unseen.set_retention(running_->retention.at(stream));
  std::map<std::uint32_t, bool> succeeded;
  std::set<std::uint32_t> too_old;
  for (const delivery& d : records) {
    const message& m = *d.what;
    const fate f = unseen.fate_of(unseen.take(m, d.at, now, true));
    if (f == fate::dead) too_old.insert(m.aggregate);
    if (f == fate::applied)
      succeeded[m.aggregate] = succeeds(m, 1) && (m.how != failing::stop || running_->mended);
  }
  std::set<std::uint32_t> out;
  for (const auto& [aggregate, newest_succeeded] : succeeded) {
    const auto row = before.rows.find("a" + std::to_string(aggregate));
    const bool waits = too_old.contains(aggregate) || (row != before.rows.end() && row->second.waits);
    if (newest_succeeded && !waits) out.insert(aggregate);
  }
  return out;
}

void step_book::check_gaps(std::uint32_t stream, const record& decided) const {
  const std::string gap = oracles_[stream].describe_old_gap();
  if (gap.empty()) return;
  throw broken(place(*decided.where) + ": offset " + std::to_string(decided.offset) +
               " is decided while a gap is too old: " + gap);
}

void step_book::take_records(step& s, const step_part& part, const stream_rows& before, const cluster& c,
                             std::int64_t now) {
  const auto stream = static_cast<std::uint32_t>(part.stream);
  const stream_change& change = *part.change;
  must_be(change.looked_at > 0 && change.looked_at <= part.plan->events.size(), "a step looks at no record");
  take_bounds(s, part, before);
  std::vector<delivery> records;
  for (std::size_t i = 0; i < change.looked_at; ++i)
    records.push_back(next_delivery(stream, *part.plan->events[i].from, c));
  std::vector<delivery> handled;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (change.decisions.at(i).verdict != verdict::unhandled) handled.push_back(records[i]);
  }
  const std::set<std::uint32_t> unseen = superseding(stream, handled, before, now);
  std::vector<std::pair<std::size_t, delivery>> taken;
  std::vector<decision> decisions;
  std::vector<stopping> stops;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const delivery& d = records[i];
    const auto partition = static_cast<std::uint32_t>(c.logs[d.log].where.partition);
    const bool is_handled = change.decisions[i].verdict != verdict::unhandled;
    const bool is_behind_a_stop = stopped_.contains(d.log) ||
                                  std::any_of(stops.begin(), stops.end(),
                                              [&](const stopping& at) { return at.partition == partition; });
    if (is_behind_a_stop) {
      must_be(!is_handled, "a record of a stopped partition was handled");
      continue;
    }
    check_gaps(stream, *part.plan->events[i].from);
    // A record that is not handled was run, and then thrown away with all behind it.
    const bool is_unseen = is_handled && unseen.contains(d.what->aggregate);
    const refusal refused = refusal_of(stream, d, now, is_unseen);
    if (!is_handled) {
      must_be(refused != refusal::none, "a partition stops before a record that can be handled");
      stops.push_back({partition, d.at.offset, d.at.index, refused});
      continue;
    }
    must_be(refused != refusal::reducer, "an event was handled whose reducer says stop");
    taken.emplace_back(take_record(s, stream, d, c, now, is_unseen), d);
    decisions.push_back(change.decisions[i]);
  }
  check_room(part, before);
  check_stops(stream, change, std::move(stops), c);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const decision d = decisions[i];
    const fate wanted = oracles_[stream].said_of(taken[i].first);
    if (fate_of(d) == wanted) continue;
    throw broken(place(c.logs[taken[i].second.log].where) + " at offset " +
                 to_text(event_place{taken[i].second.at.offset, taken[i].second.at.index}) + " was " +
                 name_of(d.verdict) +
                 (d.reason == reject_reason::none ? "" : std::string{" "} + name_of(d.reason)) +
                 ", but the oracle has fate " + std::to_string(static_cast<int>(wanted)));
  }
  const std::vector<plain_oracle::partition>& wanted = oracles_[stream].partitions();
  for (const auto& [where, state] : change.after.partitions) {
    const plain_oracle::partition& p = wanted[static_cast<std::size_t>(where.partition)];
    must_be(state.has_position() == p.known, "a record of a partition gives it its position");
    if (!p.known) continue;
    must_equal(static_cast<std::uint64_t>(state.next_offset), static_cast<std::uint64_t>(p.next),
               "next offset");
    must_equal(state.next_index, p.next_index, "handled events of the record there");
  }
}

/// Why this record may not be handled, by the words of the contract, record by record.
refusal step_book::refusal_of(std::uint32_t stream, const delivery& d, std::int64_t now, bool unseen) const {
  const stream_setup& setup = history_->streams[stream];
  const bool has_limits = !running_->lifted && (setup.most_events || setup.most_bytes);
  if (!has_limits && (!setup.stops || running_->mended)) return refusal::none;
  plain_oracle trial = oracles_[stream];
  trial.set_mended(running_->mended);
  trial.set_retention(running_->retention.at(stream));
  (void)trial.take(*d.what, d.at, now, unseen);
  return trial.refused() == refusal::full && !has_limits ? refusal::none : trial.refused();
}

void step_book::check_floor(std::uint32_t stream, const stream_state& state, const cluster& c) const {
  for (std::size_t i = 0; i < c.logs.size(); ++i) {
    const partition_log& log = c.logs[i];
    if (log.stream != stream) continue;
    const auto at = state.partitions.find(log.where);
    if (at != state.partitions.end() && !at->second.idle) continue;
    const bool has_position = at != state.partitions.end() && at->second.has_position();
    if (!has_position && history_->streams[stream].starts_at_end) continue;  // nothing of it is to be read
    const auto unread = std::find_if(log.from(has_position ? at->second.next_offset : log.start),
                                     log.entries.end(), [](const log_entry& e) { return e.what != nullptr; });
    if (unread == log.entries.end() || unread->offset >= unread_below_[i]) continue;
    throw broken("the floor does not wait for " + place(log.where) + ", whose record at offset " +
                 std::to_string(unread->offset) + " lies there unread");
  }
}

/// A step handles its aggregates one by one, so that one may find the room that another makes: it is behind
/// the step that no more may wait than the limits say, where it let anything wait.
void step_book::check_room(const step_part& part, const stream_rows& before) const {
  const auto stream = static_cast<std::uint32_t>(part.stream);
  const stream_setup& setup = history_->streams[stream];
  const auto adds = [&](const backlog_change& change) {
    const std::string name{part.plan->aggregates.at(change.aggregate)};
    return std::any_of(change.puts.begin(), change.puts.end(), [&](const waiting_event& e) {
      return !before.waiting.contains({name, e.head.sequence});
    });
  };
  const auto& backlogs = part.change->backlogs;
  if (running_->lifted || std::none_of(backlogs.begin(), backlogs.end(), adds)) return;
  const counters& after = part.change->after.counters;
  must_be(after.waiting() <= setup.most_events.value_or(~0ULL), "more events wait than may");
  // The text of an error that an event gets while it waits finds its room.
  must_be(setup.fails || after.waiting_bytes <= setup.most_bytes.value_or(~0ULL), "more bytes wait than may");
}

/// The step stops the partitions that it must stop, where it must, and says why; and no others.
void step_book::check_stops(std::uint32_t stream, const stream_change& change, std::vector<stopping> wanted,
                            const cluster& c) {
  const auto& waited = oracles_[stream].stopped();
  wanted.insert(wanted.end(), waited.begin(), waited.end());
  std::vector<stopping> found;
  for (const partition_stop& stop : change.stops) {
    const bool is_full = stop.code == make_error_code(errc::waiting_full);
    must_be(is_full || stop.code == make_error_code(errc::reducer_failed), "a stop for another reason");
    found.push_back({static_cast<std::uint32_t>(stop.where.partition), stop.offset, stop.index,
                     is_full ? refusal::full : refusal::reducer});
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  must_be(found == wanted, "other partitions stop than those that must");
  for (const stopping& at : found) {
    for (std::size_t log = 0; log < c.logs.size(); ++log) {
      const auto partition = static_cast<std::uint32_t>(c.logs[log].where.partition);
      if (c.logs[log].stream == stream && partition == at.partition) stopped_.insert(log);
    }
  }
}

}  // namespace ratchet::sim
