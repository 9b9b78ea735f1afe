// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/verify_waiting.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

namespace {

using layout::waiting_kind;

const std::string k_cannot = "cannot be decoded";
const std::string k_no_stream = "of a stream that is not known";

void count(waiting_totals& totals, waiting_state state) {
  switch (state) {
    case waiting_state::parked:
      ++totals.parked;
      break;
    case waiting_state::retrying:
      ++totals.retrying;
      break;
    case waiting_state::dead:
      ++totals.dead;
      break;
  }
}

bool has_order(const layout::stream_record& record, order o) {
  return std::any_of(record.lines.begin(), record.lines.end(),
                     [o](const auto& line) { return line.first == "order" && line.second == name_of(o); });
}

bool are_in_order(const std::vector<sequence_range>& ranges) {
  std::optional<sequence> last;
  for (const sequence_range& r : ranges) {
    if (r.last < r.first || (last && r.first <= *last)) return false;
    last = r.last;
  }
  return true;
}

/// What a backlog says that cannot be, whatever else is stored.
std::string contradiction(const backlog& b) {
  if (b.empty()) return "nothing waits, and nothing was skipped";
  if (b.held && b.gap_since) return "held, and yet its gap has an age";
  if (b.gap_since && b.events() == 0) return "a gap has an age, and nothing waits";
  return are_in_order(b.skipped) ? "" : "skipped numbers are not in order";
}

}  // namespace

waiting_check::waiting_check(const inspected& found, rocksdb::ReadOptions options)
    : db_{found.db.get()}, options_{std::move(options)} {
  for (const auto& [name, record] : found.catalog.streams) {
    streams_[record.id].has_ids = has_order(record, order::arrival);
    streams_[record.id].is_latest = has_order(record, order::latest);
  }
}

waiting_totals waiting_check::totals_of(stream_id stream) const {
  const auto at = streams_.find(stream);
  return at == streams_.end() ? waiting_totals{} : at->second.totals;
}

waiting_check::stream_facts* waiting_check::stream_of(stream_id stream) {
  const auto at = streams_.find(stream);
  return at == streams_.end() ? nullptr : &at->second;
}

std::string waiting_check::check(std::string_view key, std::string_view value) {
  const auto kind = key.empty() ? waiting_kind{} : static_cast<waiting_kind>(key[0]);
  switch (kind) {
    case waiting_kind::event:
      return check_event(key, value);
    case waiting_kind::backlog:
      return check_backlog(key, value);
    case waiting_kind::wake:
    case waiting_kind::gap:
      return check_due(kind, key, value);
    case waiting_kind::id:
      return check_id(key, value);
  }
  return "an unknown key";
}

std::string waiting_check::check_row(const layout::parsed_aggregate_key& key,
                                     const layout::aggregate_value& row) const {
  if (!row.waits) return row.has_last ? "" : "nothing was applied, and nothing waits";
  const auto found = backlog_of(key.stream, key.slot, key.aggregate);
  if (!found) return "its backlog cannot be read: " + found.error().message();
  return found.assume_value() ? "" : "its backlog is missing";
}

std::string waiting_check::check_event(std::string_view key, std::string_view value) {
  const auto parsed = layout::parse_waiting_event_key(key);
  if (!parsed) return k_cannot;
  const layout::parsed_waiting_event_key& k = parsed.assume_value();
  const auto event = layout::decode_waiting_event(k.sequence, value);
  if (!event) return k_cannot;
  stream_facts* stream = stream_of(k.stream);
  if (!stream) return k_no_stream;
  stream->totals.bytes += event.assume_value().bytes();
  std::string owner;
  layout::append_backlog_key(owner, k.stream, k.slot, k.aggregate);
  if (owner != last_owner_) {
    const auto found = db_->get(options_, family::waiting, owner);
    if (!found) return "its backlog cannot be read: " + found.error().message();
    last_owner_exists_ = found.assume_value().has_value();
    last_accepted_.reset();
    if (last_owner_exists_) {
      const auto of = layout::decode_backlog(*found.assume_value());  // else found where it is looked at
      if (of && of.assume_value().accepted) last_accepted_ = of.assume_value().accepted->sequence;
    }
    last_owner_ = std::move(owner);
  }
  if (!last_owner_exists_) return "its aggregate has no backlog";
  const std::optional<event_id>& id = event.assume_value().head.id;
  if (!stream->has_ids || !id || (last_accepted_ && k.sequence <= *last_accepted_)) return {};
  std::string id_key;
  layout::append_waiting_id_key(id_key, k.stream, k.slot, k.aggregate, *id);
  const auto filed = db_->get(options_, family::waiting, id_key);
  if (!filed) return "the index of its id cannot be read: " + filed.error().message();
  if (!filed.assume_value()) return "its id is not in the index";
  const auto s = layout::decode_sequence(*filed.assume_value());
  return s && s.assume_value() == k.sequence ? "" : "its id is in the index under another number";
}

std::string waiting_check::check_backlog(std::string_view key, std::string_view value) {
  const auto parsed = layout::parse_backlog_key(key);
  const auto decoded = layout::decode_backlog(value);
  if (!parsed || !decoded) return k_cannot;
  const layout::parsed_aggregate_key& k = parsed.assume_value();
  const backlog& b = decoded.assume_value();
  stream_facts* stream = stream_of(k.stream);
  if (!stream) return k_no_stream;
  waiting_totals& totals = stream->totals;
  const waiting_counts counts = b.counted();
  totals.parked += counts.parked;
  totals.retrying += counts.retrying;
  totals.dead += counts.dead;
  if (std::string wrong = contradiction(b); !wrong.empty()) return wrong;
  const auto events = events_of(k, b);
  if (!events) return "its events cannot be read: " + events.error().message();
  const events_seen& seen = events.assume_value();
  if (b.parked != seen.by_state.parked || b.retrying != seen.by_state.retrying ||
      b.dead != seen.by_state.dead) {
    const auto shown = [](std::uint64_t parked, std::uint64_t retrying, std::uint64_t dead) {
      return std::to_string(parked) + " parked, " + std::to_string(retrying) + " retrying and " +
             std::to_string(dead) + " dead";
    };
    return "it counts " + shown(b.parked, b.retrying, b.dead) + " events, and there are " +
           shown(seen.by_state.parked, seen.by_state.retrying, seen.by_state.dead);
  }
  if (b.too_old != seen.too_old) {
    return "it counts " + std::to_string(b.too_old) + " events that are too old, and there are " +
           std::to_string(seen.too_old);
  }
  if (seen.highest && b.highest < *seen.highest) return "an event lies above its highest";
  if (b.accepted && b.accepted->events != seen.accepted) {
    return "it counts " + std::to_string(b.accepted->events) + " accepted events, and there are " +
           std::to_string(seen.accepted);
  }
  if (b.wake && !is_indexed(waiting_kind::wake, k, *b.wake)) return "its wake is not in the index";
  if (b.gap_since && !is_indexed(waiting_kind::gap, k, *b.gap_since)) return "its gap is not in the index";
  return check_owner(k, b, seen);
}

/// The row of the aggregate that a backlog belongs to.
std::string waiting_check::check_owner(const layout::parsed_aggregate_key& k, const backlog& b,
                                       const events_seen& seen) const {
  std::string row_key;
  layout::append_aggregate_key(row_key, k.stream, k.slot, k.aggregate);
  const auto row = db_->get(options_, family::sequences, row_key);
  if (!row) return "the row of its aggregate cannot be read: " + row.error().message();
  if (!row.assume_value()) return "its aggregate has no row";
  const auto decoded = layout::decode_aggregate(*row.assume_value());
  if (!decoded) return {};  // found where that row is looked at
  const layout::aggregate_value& owner = decoded.assume_value();
  if (!owner.waits) return "the row of its aggregate does not show that it waits";
  // In `latest` one that ties with the last one handled waits at its number, and came later.
  const auto stream = streams_.find(k.stream);
  const bool may_tie = stream != streams_.end() && stream->second.is_latest;
  const bool is_passed = owner.has_last && !b.ready && seen.lowest &&
                         (may_tie ? *seen.lowest < owner.last : *seen.lowest <= owner.last);
  if (is_passed) return "an event waits that is not above the last one handled";
  const bool is_behind = owner.has_last && b.accepted && b.accepted->sequence <= owner.last;
  return is_behind ? "an accepted event is not above the last one handled" : "";
}

std::string waiting_check::check_due(waiting_kind kind, std::string_view key, std::string_view value) const {
  const auto parsed = layout::parse_due_key(kind, key);
  if (!parsed || !layout::decode_presence(value)) return k_cannot;
  const layout::parsed_due_key& k = parsed.assume_value();
  if (!streams_.contains(k.stream)) return k_no_stream;
  const auto found = backlog_of(k.stream, k.slot, k.aggregate);
  if (!found) return "its backlog cannot be read: " + found.error().message();
  const std::optional<backlog>& b = found.assume_value();
  if (!b) return "its aggregate has no backlog";
  const std::optional<timestamp>& time = kind == waiting_kind::wake ? b->wake : b->gap_since;
  return time == k.time ? "" : "its backlog does not have this time";
}

std::string waiting_check::check_id(std::string_view key, std::string_view value) const {
  const auto parsed = layout::parse_waiting_id_key(key);
  const auto s = layout::decode_sequence(value);
  if (!parsed || !s) return k_cannot;
  const layout::parsed_waiting_id_key& k = parsed.assume_value();
  if (!streams_.contains(k.stream)) return k_no_stream;
  std::string event_key;
  layout::append_waiting_event_key(event_key, k.stream, k.slot, k.aggregate, s.assume_value());
  const auto event = db_->get(options_, family::waiting, event_key);
  if (!event) return "its event cannot be read: " + event.error().message();
  if (!event.assume_value()) return "no event waits under this id";
  const auto head = layout::decode_waiting_head(s.assume_value(), *event.assume_value());
  return head && head.assume_value().id == k.id ? "" : "its event has another id";
}

result<std::optional<backlog>> waiting_check::backlog_of(stream_id stream, slot s,
                                                         std::string_view aggregate) const {
  std::string key;
  layout::append_backlog_key(key, stream, s, aggregate);
  RATCHET_TRY(const auto value, db_->get(options_, family::waiting, key));
  if (!value) return std::optional<backlog>{};
  RATCHET_TRY(backlog found, layout::decode_backlog(*value));
  return std::optional{std::move(found)};
}

result<waiting_check::events_seen> waiting_check::events_of(const layout::parsed_aggregate_key& k,
                                                            const backlog& b) const {
  std::string prefix;
  layout::append_waiting_events_prefix(prefix, k.stream, k.slot, k.aggregate);
  events_seen seen;
  RATCHET_TRY(db_->for_each(
      options_, family::waiting, prefix, [&](std::string_view key, std::string_view value) -> result<bool> {
        RATCHET_TRY(const sequence s, layout::parse_sequence(key.substr(prefix.size())));
        RATCHET_TRY(const waiting_head head, layout::decode_waiting_head(s, value));
        count(seen.by_state, head.state);
        if (b.is_accepted(s)) ++seen.accepted;
        if (b.too_old > 0) {
          const auto event = layout::decode_waiting_event(s, value);  // else found where that is looked at
          if (event && event.assume_value().is_undecided()) ++seen.too_old;
        }
        if (!seen.lowest) seen.lowest = s;
        seen.highest = s;
        return true;
      }));
  return seen;
}

bool waiting_check::is_indexed(waiting_kind kind, const layout::parsed_aggregate_key& k,
                               timestamp time) const {
  std::string key;
  layout::append_due_key(key, kind, k.stream, time, k.slot, k.aggregate);
  const auto found = db_->get(options_, family::waiting, key);
  return found && found.assume_value().has_value();
}

}  // namespace ratchet
