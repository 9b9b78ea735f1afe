// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of the book that compares: the directory with the oracle, and the oracle with all that was sent.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "sim/consumer/book_messages.hpp"
#include "sim/consumer/step_book.hpp"

namespace ratchet::sim {

fate fate_of(decision d) {
  switch (d.verdict) {
    case verdict::applied:
    case verdict::superseded:
      return fate::applied;
    case verdict::duplicate:
      return fate::repeated;
    case verdict::stale:
      return fate::stale;
    case verdict::parked:
      return fate::parked;
    case verdict::retrying:
      return fate::retrying;
    case verdict::dead:
      return fate::dead;
    case verdict::ignored:
      return fate::ignored;
    case verdict::rejected:
      break;
    default:
      throw broken(std::string{"a verdict that no setup here can have: "} + name_of(d.verdict));
  }
  switch (d.reason) {
    case reject_reason::malformed:
      return fate::malformed;
    case reject_reason::conflict:
      return fate::conflict;
    case reject_reason::too_old:
      return fate::too_old;
    case reject_reason::id_reused:
      return fate::id_reused;
    case reject_reason::late:
      return fate::late;
    case reject_reason::below_first:
      return fate::below_first;
    default:
      throw broken(std::string{"a reason that no setup here can have: "} + name_of(d.reason));
  }
}

namespace {

void compare_counters(const counters& found, const plain_oracle& wanted) {
  must_equal(found.applied + found.superseded, wanted.count(fate::applied), "applied and superseded");
  must_equal(found.duplicate, wanted.count(fate::repeated), "duplicate");
  must_equal(found.stale, wanted.count(fate::stale), "stale");
  must_equal(found.rejected_malformed, wanted.count(fate::malformed), "malformed");
  must_equal(found.rejected_conflict, wanted.count(fate::conflict), "conflict");
  must_equal(found.rejected_too_old, wanted.count(fate::too_old), "too_old");
  must_equal(found.rejected_id_reused, wanted.count(fate::id_reused), "id_reused");
  must_equal(found.rejected_late, wanted.count(fate::late), "late");
  must_equal(found.rejected_below_first, wanted.count(fate::below_first), "below_first");
  must_equal(found.ignored, wanted.count(fate::ignored), "ignored");
  must_equal(found.skipped, wanted.count(fate::skipped), "skipped");
  must_equal(found.discarded, wanted.count(fate::discarded), "discarded");
  must_equal(found.waiting_parked, wanted.count(fate::parked), "parked");
  must_equal(found.waiting_retrying, wanted.count(fate::retrying), "retrying");
  must_equal(found.waiting_dead, wanted.count(fate::dead), "dead");
  must_equal(found.consumed, wanted.taken(), "consumed");
  must_equal(found.forgotten, wanted.forgotten(), "forgotten");
}

[[nodiscard]] std::optional<std::int64_t> ms(std::optional<timestamp> t) {
  return t ? std::optional{t->time_since_epoch().count()} : std::nullopt;
}

void compare_rows(const stream_rows& found, const plain_oracle& wanted) {
  const auto has_last = [](const auto& entry) { return entry.second.has_last; };
  const auto exists = [&wanted](const auto& entry) { return wanted.handled(entry.second).exists; };
  must_equal(static_cast<std::uint64_t>(std::count_if(found.rows.begin(), found.rows.end(), has_last)),
             static_cast<std::uint64_t>(
                 std::count_if(wanted.aggregates().begin(), wanted.aggregates().end(), exists)),
             "aggregates");
  for (const auto& [name, row] : found.rows) {
    must_be(row.waits == found.backlogs.contains(name), "a row does not know whether its aggregate waits");
    must_be(row.has_last || row.waits, "a row of an aggregate of which there is nothing to know");
  }
  for (const auto& [number, a] : wanted.aggregates()) {
    const auto handled = wanted.handled(a);
    const std::string name = "a" + std::to_string(number);
    const auto at = found.rows.find(name);
    if (at != found.rows.end() && ms(at->second.seen) != a.seen)
      throw broken(name + " was handled last at " + std::to_string(ms(at->second.seen).value_or(-1)) +
                   ", but the oracle has " + std::to_string(a.seen.value_or(-1)));
    if (!handled.exists) continue;
    if (at == found.rows.end() || !at->second.has_last) throw broken("aggregate " + name + " is missing");
    const aggregate_row& row = at->second;
    const bool same = row.last == sequence{handled.last.first, handled.last.second} && row.id == handled.id &&
                      row.deleted == a.deleted && row.snapshot == a.snapshot;
    if (!same) {
      throw broken("aggregate " + name + " is at " + std::to_string(row.last.number) + " with `" +
                   row.snapshot.str() + "`, but the oracle has " + std::to_string(handled.last.second) +
                   " with `" + a.snapshot + "`");
    }
  }
}

/// The names of tables have that of their stream behind them.
void compare_tables(const stream_rows& found, const plain_oracle& wanted) {
  plain_oracle::tables_of rows;
  for (const auto& [at, value] : found.tables)
    rows.emplace(std::pair{at.first.substr(0, at.first.find('-')), at.second}, value);
  must_equal(rows.size(), found.tables.size(), "tables of one stream");
  for (const auto& [at, value] : wanted.tables()) {
    const auto row = rows.find(at);
    if (row != rows.end() && row->second == value) continue;
    throw broken("row " + at.second + " of table " + at.first + " is `" +
                 (row == rows.end() ? "not there" : row->second) + "`, but the oracle has `" + value + "`");
  }
  must_equal(rows.size(), wanted.tables().size(), "rows of tables");
}

[[nodiscard]] sequence sequence_of(plain_oracle::place p) {
  return {p.first, p.second};
}

[[nodiscard]] std::optional<plain_oracle::place> place_of(std::optional<sequence> s) {
  return s ? std::optional{plain_oracle::place{s->epoch, s->number}} : std::nullopt;
}

void compare_waiter(const waiting_event& found, plain_oracle::place number, const plain_oracle::waiter& w) {
  const auto throw_if = [&](bool differs, const char* what) {
    if (differs) {
      throw broken("the waiting event " + std::to_string(number.second) + " of a" +
                   std::to_string(w.of->aggregate) + ": " + what);
    }
  };
  constexpr std::array k_states{fate::parked, fate::retrying, fate::dead};
  throw_if(k_states.at(static_cast<std::size_t>(found.head.state)) != w.state, "its state");
  throw_if(found.head.id != w.of->id, "its id");
  throw_if(ms(found.head.since) != w.since, "since when it waits");
  throw_if(found.attempts != w.attempts, "how often it was tried");
  throw_if(ms(found.due) != w.due, "when it is due");
  throw_if(found.payload() != w.what().payload, "its payload");
  throw_if(found.record.offset != w.offset || found.record.index != w.index ||
               static_cast<std::uint32_t>(found.record.where.partition) != w.of->partition,
           "its position");
  throw_if(found.record.key != w.of->key || found.record.value != w.of->value, "its record");
  throw_if(found.tombstone != (w.what().kind == message_kind::tombstone), "whether it is a tombstone");
}

void compare_backlog(const stream_setup& setup, const backlog& found, const plain_oracle::aggregate& a) {
  const auto count = [&](fate f) {
    const auto is_it = [f](const auto& w) { return w.second.state == f; };
    return static_cast<std::uint64_t>(std::count_if(a.waiting.begin(), a.waiting.end(), is_it) +
                                      std::count_if(a.accepted.begin(), a.accepted.end(), is_it));
  };
  must_equal(found.parked, count(fate::parked), "parked of an aggregate");
  must_equal(found.retrying, count(fate::retrying), "retrying of an aggregate");
  must_equal(found.dead, count(fate::dead), "dead of an aggregate");
  must_equal(found.too_old, setup.arrival ? 0 : a.undecided(), "those of an aggregate that are too old");
  must_be(found.held == a.held, "whether an aggregate is held");
  must_be(found.ready == (a.bound || a.accept_bound), "whether more of an aggregate is to be released");
  must_be(found.accepted.has_value() == !a.accepted.empty(), "whether events of an aggregate are accepted");
  if (found.accepted) {
    must_be(found.ready || a.accepted.begin()->second.state != fate::parked, "nobody runs an accepted event");
    must_equal(found.accepted->events, a.accepted.size(), "accepted events of an aggregate");
    must_be(place_of(found.accepted->sequence) == a.last && found.accepted->id == a.id,
            "what was accepted last");
  }
  // Those before the window may have been forgotten.
  for (const reopened_id& r : found.reopened)
    must_be(a.reopened.contains(r.id), "an id may come again that may not");
  must_be(place_of(found.adopted) == a.adopted, "the number that was adopted as the first");
  for (const auto& [from, to] : a.skipped) {
    must_be(found.was_skipped(sequence_of(from)) && found.was_skipped(sequence_of(to)),
            "a number that was skipped is not known as such");
  }
  for (const sequence_range& r : found.skipped) {
    must_be(a.was_skipped({r.first.epoch, r.first.number}) && a.was_skipped({r.last.epoch, r.last.number}),
            "a number counts as skipped that was not");
  }
}

void compare_waiting(const stream_setup& setup, const stream_rows& found, const plain_oracle& wanted) {
  std::size_t events = 0;
  std::size_t backlogs = 0;
  std::uint64_t bytes = 0;
  for (const auto& [number, a] : wanted.aggregates()) {
    const std::string name = "a" + std::to_string(number);
    const auto compare_those = [&](const std::map<plain_oracle::place, plain_oracle::waiter>& those) {
      for (const auto& [place, w] : those) {
        const auto at = found.waiting.find({name, sequence_of(place)});
        if (at == found.waiting.end())
          throw broken("event " + std::to_string(place.second) + " of " + name + " does not wait");
        compare_waiter(at->second, place, w);
        ++events;
        bytes += at->second.bytes();
      }
    };
    compare_those(a.waiting);
    compare_those(a.accepted);
    const auto at = found.backlogs.find(name);
    const bool is_forgotten = at == found.backlogs.end() && !a.reopened.empty();
    if (a.waiting.empty() && a.accepted.empty() && a.skipped.empty() && (a.reopened.empty() || is_forgotten))
      continue;
    ++backlogs;
    if (at == found.backlogs.end()) throw broken("aggregate " + name + " has no backlog");
    compare_backlog(setup, at->second, a);
  }
  must_equal(found.waiting.size(), events, "waiting events");
  must_equal(found.backlogs.size(), backlogs, "backlogs");
  must_equal(found.state.counters.waiting_bytes, bytes, "bytes of waiting events");
}

void compare_window(const stream_rows& found, const plain_oracle& wanted) {
  must_be(ms(found.state.retention.before) == wanted.forgets_before(), "what is forgotten");
  must_be(ms(found.state.retention.since) == wanted.counts_from(), "since when what has no time counts");
  const auto floor =
      found.state.floor ? std::optional{found.state.floor->time_since_epoch().count()} : std::nullopt;
  if (floor != wanted.floor()) {
    throw broken("the floor is " + std::to_string(floor.value_or(-1)) + ", but the oracle has " +
                 std::to_string(wanted.floor().value_or(-1)));
  }
  std::size_t known = 0;
  for (const auto& [id, filed] : wanted.ids()) {
    const auto stored = found.ids.find({id.first, "a" + std::to_string(id.second)});
    const bool is_stored = stored != found.ids.end();
    known += is_stored ? 1 : 0;
    const bool inside = !floor || filed >= *floor;
    must_be(is_stored || !inside, "an id inside the window is missing");
    must_be(!is_stored || stored->second.time_since_epoch().count() == filed,
            "an id is filed at another time");
  }
  must_be(known == found.ids.size(), "an id is in the window whose event was not applied");
}

/// An answer is kept as long as its id.
void compare_answers(const stream_rows& found, const plain_oracle& wanted) {
  std::size_t known = 0;
  for (const auto& [of, answer] : wanted.answers()) {
    const std::pair key{of.first, "a" + std::to_string(of.second)};
    const auto stored = found.answers.find(key);
    must_be((stored != found.answers.end()) == found.ids.contains(key), "an answer is not with its id");
    if (stored == found.answers.end()) continue;
    ++known;
    const bool same = stored->second == kept_answer{seq(answer.number), answer.fingerprint, answer.reply};
    must_be(same, "an answer is kept otherwise");
  }
  must_equal(found.answers.size(), known, "kept answers");
}

void compare_rejected(const stream_rows& found, const plain_oracle& wanted) {
  must_equal(found.rejected.size(), wanted.rejected().size(), "rejected rows");
  for (const auto& [key, row] : found.rejected) {
    const auto at =
        wanted.rejected().find({static_cast<std::uint32_t>(key.where.partition), key.offset, key.index});
    must_be(at != wanted.rejected().end() && at->second == fate_of({verdict::rejected, row.reason}),
            "a rejected row that the oracle does not have");
  }
}

/// Where every event is applied in its turn until one never comes or never succeeds, the state is this.
[[nodiscard]] plain_oracle::aggregate all_in_order(const stream_setup& setup,
                                                   const std::vector<const message*>& events) {
  plain_oracle::aggregate out;
  for (const message* m : events) {
    const plain_oracle::place mine{m->epoch, m->number};
    const std::uint64_t first = setup.first == first_number::one ? 1 : 0;
    const bool follows = out.exists && m->epoch == out.last.first && m->number == out.last.second + 1;
    const bool begins = m->number == first && (!out.exists || setup.accepts_epochs);
    if (setup.strict && !follows && !begins) break;
    const bool in_the_end = succeeds(*m, setup.retry.attempts);
    if (!in_the_end && !setup.strict && !setup.arrival) continue;  // a newer one takes its place
    if (!in_the_end) break;
    out.exists = true;
    out.last = setup.arrival ? plain_oracle::place{0, out.last.second + 1} : mine;
    out.deleted = m->kind == message_kind::tombstone;
    out.snapshot = out.deleted ? "" : setup.folds ? fold(out.snapshot, m->payload) : m->payload;
  }
  return out;
}

}  // namespace

void step_book::compare(const simulated_disk::contents& found, const cluster& c) const {
  for (std::size_t i = 0; i < oracles_.size(); ++i) {
    const stream_rows& stream = found.streams[i];
    compare_counters(stream.state.counters, oracles_[i]);
    compare_rows(stream, oracles_[i]);
    compare_tables(stream, oracles_[i]);
    compare_waiting(history_->streams[i], stream, oracles_[i]);
    compare_window(stream, oracles_[i]);
    compare_answers(stream, oracles_[i]);
    compare_rejected(stream, oracles_[i]);
  }
  for (const partition_log& log : c.logs) {
    const auto& known = found.streams[log.stream].state.partitions;
    const auto at = known.find(log.where);
    const plain_oracle::partition& wanted =
        oracles_[log.stream].partitions()[static_cast<std::size_t>(log.where.partition)];
    const bool counts = at != known.end() && !at->second.idle;
    must_be(counts == wanted.counts, "whether the floor waits for a partition");
    must_be((at != known.end() && at->second.has_position()) == wanted.known,
            "a partition that the oracle does not know, or the other way");
    if (!wanted.known) continue;
    const auto highest = at->second.highest_time
                             ? std::optional{at->second.highest_time->time_since_epoch().count()}
                             : std::nullopt;
    must_be(at->second.next_offset == wanted.next, "a partition's next offset");
    must_be(at->second.next_index == wanted.next_index, "how much of a record was handled");
    must_be(highest == wanted.highest, "a partition's highest time");
    must_be(at->second.leaps.size() == wanted.times.pending.size(), "the times that others have to bear out");
    const auto& ids = at->second.last_ids;
    must_be(std::equal(
                ids.begin(), ids.end(), wanted.highest_ordinals.begin(), wanted.highest_ordinals.end(),
                [](const auto& a, const auto& b) { return a.first == b.first && a.second == seq(b.second); }),
            "the highest ids of a partition");
  }
}

void step_book::count(std::array<std::uint64_t, k_fates>& fates) const {
  for (const plain_oracle& oracle : oracles_) {
    for (std::size_t i = 0; i < fates.size(); ++i) fates[i] += oracle.count(static_cast<fate>(i));
  }
}

void step_book::compare_with_all(const history& h) const {
  std::vector<std::map<std::uint32_t, std::vector<const message*>>> sent(h.streams.size());
  for (const message* record : h.log) {
    for (const auto& [event, at] : events_of(*record, 0)) {
      if (event->kind == message_kind::ignored) continue;
      const message* m = event->as_sent != nullptr ? event->as_sent : event;
      std::vector<const message*>& events = sent[m->stream][m->aggregate];
      if (std::find(events.begin(), events.end(), m) == events.end()) events.push_back(m);
    }
  }
  for (std::size_t i = 0; i < oracles_.size(); ++i) {
    const stream_setup& setup = h.streams[i];
    if (is_stopped_by_gap(static_cast<std::uint32_t>(i))) continue;
    // A lower id that comes late is taken for a repeat; and transactions come whenever they come.
    const bool has_requests =
        std::any_of(h.requests.begin(), h.requests.end(), [i](const request& r) { return r.stream == i; });
    if (setup.ids == id_kind::monotonic || has_requests) continue;
    must_equal(oracles_[i].aggregates().size(), sent[i].size(), "aggregates of all records");
    // What is skipped or held depends on what came when; and so does which epoch comes first.
    const bool depends_on_time = setup.gap != gap_policy::wait || setup.most_of_aggregate < h.log.size() ||
                                 (setup.strict && setup.has_epochs);
    if (depends_on_time) continue;
    for (auto& [number, events] : sent[i]) {
      if (!setup.arrival) {
        std::sort(events.begin(), events.end(), [](const message* a, const message* b) {
          return std::pair{a->epoch, a->number} < std::pair{b->epoch, b->number};
        });
      }
      const plain_oracle::aggregate wanted = all_in_order(setup, events);
      const plain_oracle::aggregate& found = oracles_[i].aggregates().at(number);
      const auto handled = oracles_[i].handled(found);
      must_be(handled.exists == wanted.exists && handled.last == wanted.last,
              "an aggregate is not as far as all of its events bring it");
      if (setup.strict || setup.arrival || !setup.folds) {
        must_be(found.deleted == wanted.deleted && found.snapshot == wanted.snapshot,
                "the state is not that of all events, each applied once, in their order");
      }
    }
  }
}

}  // namespace ratchet::sim
