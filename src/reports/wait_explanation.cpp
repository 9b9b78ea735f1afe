// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/wait_explanation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/shown_id.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"
#include "text/partition_name.hpp"
#include "text/sequence_text.hpp"

namespace ratchet {

namespace {

constexpr std::uint64_t k_max = std::numeric_limits<std::uint64_t>::max();

std::string_view line_of(const named_stream& stream, std::string_view key) {
  const auto at = std::find_if(stream.meaning.begin(), stream.meaning.end(),
                               [key](const auto& line) { return line.first == key; });
  return at == stream.meaning.end() ? std::string_view{} : std::string_view{at->second};
}

/// Whether commands take the sequence as it is shown.
bool is_typed(const sequence_spelling& numbers) {
  return numbers.kind == sequence_kind::integer && !numbers.hex;
}

/// An event of it is too old, and until somebody has decided about that one nothing follows it.
bool is_unknown(const gate_rules& rules, const waiting_aggregate& of) {
  return rules.order == order::strict && !of.last && of.backlog.too_old > 0;
}

/// What the lowest of an aggregate waits for, where its reducer did not fail and it is not held.
wait_story story_of_lowest(const gate_rules& rules, const waiting_aggregate& of) {
  wait_story story;
  story.reason = wait_reason::ready;
  if (of.backlog.goes_on() || rules.order != order::strict) return story;
  const sequence s = *of.lowest;
  story.missing = missing_below_lowest(rules, of);
  // Whether still lower ones come where `any` may be the first, nobody knows.
  const bool is_first_of_any =
      !of.last && rules.first == first_number::any && of.backlog.adopted != s && !of.lowest_begins_at;
  if (story.missing || is_first_of_any) {
    story.reason = wait_reason::gap;
  } else if (of.last && of.begins_first && of.begins_first->number < of.lowest_begins_at.value_or(s.number) &&
             !is_successor(*of.last, s, rules, of.lowest_begins_at)) {
    story.reason = wait_reason::behind;  // a wider one, which covers what it waits for
  } else if (of.last && of.last->epoch != s.epoch && !is_successor(*of.last, s, rules, of.lowest_begins_at)) {
    story.reason = wait_reason::epoch;
  }
  return story;
}

}  // namespace

gate_rules rules_of(const named_stream& stream) {
  gate_rules rules;
  for (const order o : {order::latest, order::strict, order::arrival}) {
    if (line_of(stream, "order") == name_of(o)) rules.order = o;
  }
  const std::string_view first = line_of(stream, "first");
  if (first == "0") rules.first = first_number::zero;
  if (first == "any") rules.first = first_number::any;
  if (line_of(stream, "epoch_change") == "accept") rules.epoch_change = epoch_change::accept;
  return rules;
}

waiting_place in_front_of(std::string_view aggregate) {
  // The store seeks behind a place. There is no last id before this one but where it ends in a zero byte, so
  // this is one that few could come behind: whoever walks from here passes over what is not the aggregate's.
  constexpr std::size_t k_far = 8;
  waiting_place place{std::string{aggregate}, {k_max, k_max}};
  if (aggregate.empty()) return {{}, {}};
  const auto last = static_cast<unsigned char>(place.aggregate.back());
  place.aggregate.pop_back();
  if (last > 0) place.aggregate += static_cast<char>(last - 1) + std::string(k_far, '\xFF');
  return place;
}

result<std::optional<waiting_aggregate>> read_waiting_aggregate(const store_view& view, stream_id stream,
                                                                std::string_view aggregate) {
  RATCHET_TRY(auto backlog, view.backlog_of(stream, aggregate));
  if (!backlog) return std::optional<waiting_aggregate>{};
  waiting_aggregate of;
  of.backlog = std::move(*backlog);
  const auto row = view.get(stream, aggregate);
  if (row) {
    of.last = row.value().last;
  } else if (row.error() != make_error_code(errc::not_found)) {
    return row.error();
  }
  const auto lowest_behind = [&](waiting_place place, std::optional<sequence>& lowest) {
    std::size_t seen = 0;
    return view.waiting(stream, std::move(place), [&](std::string_view found, const waiting_event& event) {
      if (found < aggregate) return true;
      const waiting_head& head = event.head;
      if (found != aggregate || (lowest && head.sequence.epoch != lowest->epoch)) return false;
      if (!lowest) {
        lowest = head.sequence;
        of.lowest_begins_at = head.begins_at;
      }
      // Ranges may overlap, and then another one may begin before the lowest does.
      if (!head.begins_at) return false;
      const sequence begin{head.sequence.epoch, *head.begins_at};
      if (!of.begins_first || begin < *of.begins_first) of.begins_first = begin;
      return ++seen < k_queue_events;
    });
  };
  if (const auto& accepted = of.backlog.accepted) {
    of.last = accepted->sequence;
    RATCHET_TRY(lowest_behind(in_front_of(aggregate), of.lowest_accepted));
    of.begins_first.reset();
    RATCHET_TRY(lowest_behind({std::string{aggregate}, accepted->sequence}, of.lowest));
  } else {
    RATCHET_TRY(lowest_behind(in_front_of(aggregate), of.lowest));
  }
  return std::optional{std::move(of)};
}

std::optional<sequence_range> missing_below_lowest(const gate_rules& rules, const waiting_aggregate& of) {
  if (rules.order != order::strict || !of.lowest || is_unknown(rules, of)) return std::nullopt;
  const sequence s = *of.lowest;
  std::uint64_t wanted = rules.first == first_number::one ? 1 : 0;
  const bool goes_on = of.last && of.last->epoch == s.epoch;
  if (goes_on) {
    wanted = of.last->number;
    if (wanted < k_max) ++wanted;  // behind the last one of an epoch there is none
  } else if (rules.first == first_number::any || (of.last && rules.epoch_change != epoch_change::accept)) {
    return std::nullopt;
  }
  const std::uint64_t own = of.lowest_begins_at.value_or(s.number);
  const std::uint64_t begin = of.begins_first ? std::min(own, of.begins_first->number) : own;
  if (wanted >= begin) return std::nullopt;
  return sequence_range{{s.epoch, wanted}, {s.epoch, begin - 1}};
}

wait_story story_of(const gate_rules& rules, const waiting_aggregate& of, const waiting_head& head) {
  wait_story story;
  const bool is_accepted = of.backlog.is_accepted(head.sequence);
  if (head.state != waiting_state::parked) {
    story.reason = wait_reason::reducer;
  } else if (is_accepted) {
    story.reason = of.lowest_accepted == head.sequence ? wait_reason::ready : wait_reason::behind;
  } else if (of.backlog.held) {
    story.reason = wait_reason::limit;
  } else if (is_unknown(rules, of) || (of.lowest && *of.lowest < head.sequence)) {
    story.reason = wait_reason::behind;
  } else if (of.lowest) {
    story = story_of_lowest(rules, of);
  }
  story.state = of.backlog.held && !is_accepted ? waiting_state::dead : head.state;
  return story;
}

wait_story story_of(const gate_rules& rules, const waiting_aggregate& of, const waiting_event& event) {
  wait_story story = story_of(rules, of, event.head);
  if (event.is_undecided()) story.reason = wait_reason::too_old;
  return story;
}

result<std::optional<gap_report>> oldest_gap_of(const store_view& view, const named_stream& stream) {
  RATCHET_TRY(auto aggregate, view.oldest_gap(stream.id));
  if (!aggregate) return std::optional<gap_report>{};
  RATCHET_TRY(const auto of, read_waiting_aggregate(view, stream.id, *aggregate));
  if (!of || !of->backlog.gap_since) return make_error_code(errc::state_damaged);
  return std::optional{
      gap_report{std::move(*aggregate), *of->backlog.gap_since, missing_below_lowest(rules_of(stream), *of)}};
}

std::optional<timestamp> stream_time_of(const stream_state& state) noexcept {
  std::optional<timestamp> lowest;
  std::optional<timestamp> highest;
  for (const auto& [where, partition] : state.partitions) {
    const auto& time = partition.highest_time;
    if (!time) continue;
    highest = highest ? std::max(*highest, *time) : *time;
    if (!partition.idle) lowest = lowest ? std::min(*lowest, *time) : *time;
  }
  return lowest ? lowest : highest;
}

std::chrono::milliseconds age_of(const gap_report& gap, const stream_state& state) noexcept {
  const auto now = stream_time_of(state);
  return now ? std::max(*now - gap.since, std::chrono::milliseconds{0}) : std::chrono::milliseconds{0};
}

std::string age_text(std::chrono::milliseconds age) {
  struct unit {
    const char* name;
    std::int64_t size;
  };
  constexpr unit k_units[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}};
  std::int64_t rest = age.count();
  if (rest < 1000) return std::to_string(rest) + "ms";
  std::string text;
  for (const unit& u : k_units) {
    const std::int64_t count = rest / u.size;
    rest %= u.size;
    if (count == 0 && text.empty()) continue;
    const bool second = !text.empty();
    if (count > 0) text += (second ? " " : "") + std::to_string(count) + u.name;
    if (second) break;
  }
  return text;
}

std::string sequence_word(sequence s) {
  return (s.epoch == 0 ? "" : std::to_string(s.epoch) + ":") + std::to_string(s.number);
}

std::optional<sequence> sequence_of(std::string_view text) noexcept {
  char between = ':';
  const std::string_view whole = text;
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
    between = ',';
    if (text.find(between) == std::string_view::npos) return std::nullopt;
  }
  sequence s;
  if (const std::size_t at = text.find(between); at != std::string_view::npos) {
    const auto epoch = parse_u64(text.substr(0, at));
    if (!epoch) return std::nullopt;
    s.epoch = *epoch;
    text.remove_prefix(at + 1);
    if (between == ',' && text.starts_with(' ')) text.remove_prefix(1);
  }
  const auto number = parse_u64(text);
  if (!number) return text == whole ? parse_u128(text) : std::nullopt;
  s.number = *number;
  return s;
}

std::string missing_text(const sequence_range& range) {
  if (range.first == range.last) return sequence_word(range.first) + " is missing";
  return sequence_word(range.first) + " to " + sequence_word(range.last) + " are missing";
}

void write_missing(json_writer& json, const std::optional<sequence_range>& missing) {
  if (!missing) {
    json.null();
    return;
  }
  json.begin_object().key("first").sequence(missing->first);
  json.key("last").sequence(missing->last).end_object();
}

std::optional<timestamp> time_of(const waiting_event& event) noexcept {
  return event.time ? event.time : event.record.time;
}

void write_waiting_members(json_writer& json, std::string_view stream, const id_spelling& ids,
                           std::string_view aggregate, const waiting_event& event, const wait_story& story) {
  json.key("stream").string(stream).key("aggregate").string(aggregate);
  write_sequence(json.key("sequence"), ids.numbers, event.head.sequence).key("event_id");
  event.head.id ? json.string(ids.text(*event.head.id)) : json.null();
  if (!is_typed(ids.numbers)) json.key("sequence_pair").string(sequence_word(event.head.sequence));
  json.key("state").string(name_of(story.state)).key("reason").string(name_of(story.reason));
  write_missing(json.key("missing"), story.missing);
  json.key("error");
  event.error.empty() ? json.null() : json.string(event.error);
  json.key("attempts").number(event.attempts);
  // A held one is not tried again, whatever its row says.
  json.key("due").time(story.state == waiting_state::retrying ? event.due : std::nullopt);
  json.key("time").time(time_of(event)).key("first_seen").time(event.first_seen).key("position");
  write_position(json, event.record.where, event.record.place());
}

void write_position(json_writer& json, const topic_partition& where, event_place place) {
  if (where.topic.empty()) {
    json.null();
    return;
  }
  json.begin_object().place(where, place).end_object();
}

std::string waiting_line(const id_spelling& ids, std::string_view aggregate, const waiting_event& event,
                         const wait_story& story) {
  std::string out = shown_id(aggregate) + "/" + sequence_word(ids.numbers, event.head.sequence) + "  " +
                    name_of(story.state) + "  " + name_of(story.reason);
  if (story.missing) out += ": " + missing_text(*story.missing);
  if (!event.error.empty()) out += ": " + event.error;
  if (event.attempts > 0) out += "  attempts " + std::to_string(event.attempts);
  if (story.state == waiting_state::retrying && event.due) out += "  due " + to_rfc3339(*event.due);
  out += "  since " + to_rfc3339(event.first_seen);
  if (event.head.id) out += "  event " + ids.text(*event.head.id);
  if (!is_typed(ids.numbers)) out += "  --sequence " + sequence_word(event.head.sequence);
  const kept_record& record = event.record;
  if (!record.where.topic.empty()) {
    out += "  " + to_string(record.where, record.place());
  }
  return out;
}

}  // namespace ratchet
