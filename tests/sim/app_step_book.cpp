// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app_step_book.hpp"

#include <algorithm>
#include <string>

namespace ratchet::sim {

namespace {

[[nodiscard]] std::string place(const topic_partition& where) {
  return where.topic + "/" + std::to_string(static_cast<int>(where.partition));
}

[[nodiscard]] fate fate_of(decision d) {
  switch (d.verdict) {
    case verdict::applied:
    case verdict::superseded:
      return fate::applied;
    case verdict::duplicate:
      return fate::repeated;
    case verdict::stale:
      return fate::stale;
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
    default:
      throw broken(std::string{"a reason that no setup here can have: "} + name_of(d.reason));
  }
}

void must_be(bool holds, const char* what) {
  if (!holds) throw broken(what);
}

void must_equal(std::uint64_t found, std::uint64_t wanted, const char* what) {
  if (found != wanted) {
    throw broken(std::string{what} + ": " + std::to_string(found) + ", but the oracle has " +
                 std::to_string(wanted));
  }
}

void compare_counters(const counters& found, const plain_oracle& wanted) {
  must_equal(found.applied + found.superseded, wanted.count(fate::applied), "applied and superseded");
  must_equal(found.duplicate, wanted.count(fate::repeated), "duplicate");
  must_equal(found.stale, wanted.count(fate::stale), "stale");
  must_equal(found.rejected_malformed, wanted.count(fate::malformed), "malformed");
  must_equal(found.rejected_conflict, wanted.count(fate::conflict), "conflict");
  must_equal(found.rejected_too_old, wanted.count(fate::too_old), "too_old");
  must_equal(found.rejected_id_reused, wanted.count(fate::id_reused), "id_reused");
  must_equal(found.consumed, wanted.taken(), "consumed");
}

void compare_rows(const stream_rows& found, const plain_oracle& wanted) {
  must_equal(found.rows.size(), wanted.aggregates().size(), "aggregates");
  for (const auto& [number, a] : wanted.aggregates()) {
    const std::string name = "a" + std::to_string(number);
    const auto at = found.rows.find(name);
    if (at == found.rows.end()) throw broken("aggregate " + name + " is missing");
    const aggregate_row& row = at->second;
    const bool same = row.last == sequence{a.last.first, a.last.second} && row.id == a.id &&
                      row.deleted == a.deleted && row.snapshot == a.snapshot;
    if (!same) {
      throw broken("aggregate " + name + " is at " + std::to_string(row.last.number) + " with `" +
                   row.snapshot + "`, but the oracle has " + std::to_string(a.last.second) + " with `" +
                   a.snapshot + "`");
    }
  }
}

void compare_window(const stream_rows& found, const plain_oracle& wanted) {
  const auto floor =
      found.state.floor ? std::optional{found.state.floor->time_since_epoch().count()} : std::nullopt;
  if (floor != wanted.floor()) {
    throw broken("the floor is " + std::to_string(floor.value_or(-1)) + ", but the oracle has " +
                 std::to_string(wanted.floor().value_or(-1)));
  }
  std::size_t known = 0;
  for (const auto& [id, aggregate] : wanted.ids()) {
    const bool stored = found.ids.contains({id, "a" + std::to_string(aggregate)});
    known += stored ? 1 : 0;
    const bool inside = !floor || id.time().time_since_epoch().count() >= *floor;
    must_be(stored || !inside, "an id inside the window is missing");
  }
  must_be(known == found.ids.size(), "an id is in the window whose event was not applied");
}

void compare_rejected(const stream_rows& found, const plain_oracle& wanted) {
  must_equal(found.rejected.size(), wanted.rejected().size(), "rejected rows");
  for (const auto& [key, row] : found.rejected) {
    const auto at = wanted.rejected().find({static_cast<std::uint32_t>(key.first.partition), key.second});
    must_be(at != wanted.rejected().end() && at->second == fate_of({verdict::rejected, row.reason}),
            "a rejected row that the oracle does not have");
  }
}

}  // namespace

step_book::step_book(const history& h) : history_{&h} {
  for (const stream_setup& s : h.streams) oracles_.emplace_back(s);
}

void step_book::delivered(const cluster& c, std::vector<std::pair<std::size_t, log_entry>> records) {
  std::vector<delivery>& batch = delivered_.emplace_back();
  batch.reserve(records.size());
  for (const auto& [log, entry] : records) batch.push_back({log, entry, c.logs[log].made});
}

fate step_book::perform(const operation& o) {
  plain_oracle& oracle = oracles_[o.stream];
  switch (o.what) {
    case operation::kind::take:
      return oracle.take(*o.of, o.offset, o.now);
    case operation::kind::go_on:
      oracle.go_on_at(o.partition, o.offset);
      break;
    case operation::kind::leave_out:
      oracle.leave_out(o.left_out);
      break;
  }
  return fate::applied;
}

void step_book::take_back_to(std::uint64_t number) {
  while (!steps_.empty() && steps_.back().number > number) steps_.pop_back();
  oracles_.clear();
  for (const stream_setup& s : history_->streams) oracles_.emplace_back(s);
  for (const step& s : steps_) {
    for (const operation& o : s.operations) (void)perform(o);
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
                      std::int64_t now) {
  step& s = steps_.emplace_back();
  s.number = batch.step;
  const bool has_records = std::any_of(batch.parts.begin(), batch.parts.end(),
                                       [](const step_part& p) { return !p.change->decisions.empty(); });
  std::vector<delivery> records;
  if (has_records) {
    must_be(!delivered_.empty(), "a step of records that were not delivered");
    records = std::move(delivered_.front());
    delivered_.pop_front();
  }
  std::size_t decided = 0;
  for (const step_part& part : batch.parts) {
    const auto stream = static_cast<std::uint32_t>(part.stream);
    const stream_rows& was = before.streams[stream];
    check_part(part, was);
    decided += part.change->decisions.size();
    if (part.change->decisions.empty()) {
      take_moves(s, stream, *part.change, was, batch.audits, c);
    } else {
      take_records(s, stream, *part.change, records, c, now);
    }
    for (std::size_t i = 0; i < c.logs.size(); ++i) {
      const auto at = part.change->after.partitions.find(c.logs[i].where);
      if (c.logs[i].stream != stream || at == part.change->after.partitions.end()) continue;
      s.nexts.emplace_back(i, at->second.next_offset);
    }
  }
  must_equal(decided, records.size(), "records decided in a step");
}

/// What holds of every part of every step, whatever it is about.
void step_book::check_part(const step_part& part, const stream_rows& before) const {
  const stream_change& change = *part.change;
  must_be(change.after.counters.consumed == change.after.counters.accounted(), "the ledger does not add up");
  must_be(!before.state.floor || (change.after.floor && *change.after.floor >= *before.state.floor),
          "the floor went back");
  for (const auto& [where, state] : before.state.partitions) {
    const auto after = change.after.partitions.find(where);
    must_be(after != change.after.partitions.end(), "a partition's position was forgotten");
    must_be(after->second.next_offset >= state.next_offset, "a position went back");
  }
  for (const aggregate_change& row : change.rows) {
    const auto at = before.rows.find(part.plan->aggregates.at(row.aggregate));
    must_be(at == before.rows.end() || at->second.last < row.row.last,
            "the last-handled sequence of an aggregate did not move forward");
  }
}

void step_book::take_records(step& s, std::uint32_t stream, const stream_change& change,
                             const std::vector<delivery>& records, const cluster& c, std::int64_t now) {
  std::size_t next = 0;
  for (const delivery& d : records) {
    if (c.logs[d.log].stream != stream) continue;
    must_be(next < change.decisions.size(), "a record was passed over");
    take_record(s, stream, change.decisions[next++], d, c, now);
  }
  must_be(next == change.decisions.size(), "a record was decided that was not delivered");
  const std::vector<plain_oracle::partition>& wanted = oracles_[stream].partitions();
  for (const auto& [where, state] : change.after.partitions) {
    const plain_oracle::partition& p = wanted[static_cast<std::size_t>(where.partition)];
    must_equal(static_cast<std::uint64_t>(state.next_offset), static_cast<std::uint64_t>(p.next),
               "next offset");
  }
}

void step_book::take_record(step& s, std::uint32_t stream, decision d, const delivery& r, const cluster& c,
                            std::int64_t now) {
  const partition_log& log = c.logs[r.log];
  const auto partition = static_cast<std::uint32_t>(log.where.partition);
  const plain_oracle::partition& p = oracles_[stream].partitions()[partition];
  if (r.made == log.made && p.known && r.entry.offset > p.next) {
    for (auto at = log.from(p.next); at != log.entries.end() && at->offset < r.entry.offset; ++at) {
      if (at->what != nullptr)
        throw broken(place(log.where) + ": offset " + std::to_string(at->offset) + " was skipped");
    }
  }
  s.operations.push_back({operation::kind::take, stream, partition, r.entry.offset, r.entry.what, now, {}});
  const fate wanted = perform(s.operations.back());
  if (fate_of(d) != wanted) {
    throw broken(place(log.where) + " at offset " + std::to_string(r.entry.offset) + " was " +
                 name_of(d.verdict) +
                 (d.reason == reject_reason::none ? "" : std::string{" "} + name_of(d.reason)) +
                 ", but the oracle has fate " + std::to_string(static_cast<int>(wanted)));
  }
}

void step_book::take_moves(step& s, std::uint32_t stream, const stream_change& change,
                           const stream_rows& before, const std::vector<audit_row>& audits,
                           const cluster& c) {
  std::vector<std::uint32_t> left_out;
  for (const auto& [where, after] : change.after.partitions) {
    const auto partition = static_cast<std::uint32_t>(where.partition);
    const auto was = before.state.partitions.find(where);
    const bool is_new = was == before.state.partitions.end();
    if (is_new || was->second.next_offset != after.next_offset) {
      check_jump(stream, c.logs[c.index_of(where)],
                 is_new ? std::nullopt : std::optional{was->second.next_offset}, after.next_offset, audits);
      s.operations.push_back({operation::kind::go_on, stream, partition, after.next_offset, nullptr, 0, {}});
      (void)perform(s.operations.back());
    }
    if (after.idle && (is_new || !was->second.idle)) left_out.push_back(partition);
  }
  if (left_out.empty()) return;
  s.operations.push_back({operation::kind::leave_out, stream, 0, 0, nullptr, 0, std::move(left_out)});
  (void)perform(s.operations.back());
}

/// A position moves without records only where there are none, or with an audit row that names the range.
void step_book::check_jump(std::uint32_t stream, const partition_log& log, std::optional<std::int64_t> from,
                           std::int64_t to, const std::vector<audit_row>& audits) const {
  const bool audited = std::any_of(audits.begin(), audits.end(), [&](const audit_row& a) {
    return a.where == log.where &&
           (!from || (a.not_handled && a.not_handled->from <= *from && a.not_handled->to >= to));
  });
  if (audited) return;
  if (!from) {
    const bool at_end = history_->streams[stream].starts_at_end && to == log.end;
    if (to == log.start || at_end) return;
    throw broken(place(log.where) + " starts at offset " + std::to_string(to) +
                 ", which is not where its log starts");
  }
  const bool holds_none =
      std::none_of(log.from(*from), log.from(to), [](const log_entry& e) { return e.what != nullptr; });
  // What was told to be empty stays so, also where the log's start has gone past it since.
  const auto lost = std::lower_bound(log.expired.begin(), log.expired.end(), *from);
  const bool lost_none = lost == log.expired.end() || *lost >= to;
  if (holds_none && lost_none) return;
  throw broken(place(log.where) + ": offsets " + std::to_string(*from) + " to " + std::to_string(to) +
               " were skipped without an audit row");
}

void step_book::compare(const simulated_disk::contents& found, const cluster& c) const {
  for (std::size_t i = 0; i < oracles_.size(); ++i) {
    const stream_rows& stream = found.streams[i];
    compare_counters(stream.state.counters, oracles_[i]);
    compare_rows(stream, oracles_[i]);
    compare_window(stream, oracles_[i]);
    compare_rejected(stream, oracles_[i]);
  }
  for (const partition_log& log : c.logs) {
    const auto& known = found.streams[log.stream].state.partitions;
    const auto at = known.find(log.where);
    const plain_oracle::partition& wanted =
        oracles_[log.stream].partitions()[static_cast<std::size_t>(log.where.partition)];
    must_be((at != known.end()) == wanted.known,
            "a partition that the oracle does not know, or the other way");
    if (at == known.end()) continue;
    const auto highest = at->second.highest_time
                             ? std::optional{at->second.highest_time->time_since_epoch().count()}
                             : std::nullopt;
    must_be(at->second.next_offset == wanted.next, "a partition's next offset");
    must_be(highest == wanted.highest && at->second.idle == wanted.idle, "a partition's highest time");
  }
}

void step_book::count(std::array<std::uint64_t, k_fates>& fates) const {
  for (const plain_oracle& oracle : oracles_) {
    for (std::size_t i = 0; i < fates.size(); ++i) fates[i] += oracle.count(static_cast<fate>(i));
  }
}

void step_book::compare_with_all(const history& h) const {
  std::vector<std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>> newest(h.streams.size());
  std::vector<std::set<std::pair<std::uint32_t, const message*>>> distinct(h.streams.size());
  for (const message* m : h.log) {
    auto& last = newest[m->stream][m->aggregate];
    last = std::max(last, std::pair{m->epoch, m->number});
    distinct[m->stream].insert({m->aggregate, m});
  }
  for (std::size_t i = 0; i < oracles_.size(); ++i) {
    must_equal(oracles_[i].aggregates().size(), newest[i].size(), "aggregates of all records");
    for (const auto& [number, a] : oracles_[i].aggregates()) {
      if (h.streams[i].arrival) {
        const auto all = static_cast<std::uint64_t>(std::count_if(
            distinct[i].begin(), distinct[i].end(), [n = number](const auto& d) { return d.first == n; }));
        must_equal(a.last.second, all, "events of an aggregate, each applied once");
      } else {
        must_be(a.last == newest[i].at(number), "the newest event of an aggregate is not its state");
      }
    }
  }
}

}  // namespace ratchet::sim
