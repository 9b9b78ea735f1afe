// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/suggested_config.hpp"

#include <algorithm>
#include <cctype>

#include "decode/event_id_text.hpp"
#include "decode/sequence_kinds.hpp"
#include "text/config_words.hpp"
#include "text/counted.hpp"
#include "text/json_writer.hpp"

namespace ratchet::sniff {

namespace {

/// JSON's strings are YAML's.
std::string quoted(const std::string& text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// As YAML reads it.
std::string scalar(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_' || c == '-' || c == '.';
  });
  if (plain && std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '-' &&
      text.front() != '.') {
    return text;
  }
  return quoted(text);
}

/// A name for the stream, of the topic's letters.
std::string name_of_stream(const std::string& topic) {
  std::string name;
  for (const char c : topic) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0) {
      name += static_cast<char>(std::tolower(u));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  constexpr std::size_t k_longest = 40;
  if (name.size() > k_longest) name.resize(k_longest);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "events" : name;
}

const char* word_of_unit(time_unit unit) noexcept {
  constexpr const char* k_names[] = {"ms", "s", "us", "ns"};
  return k_names[static_cast<std::size_t>(unit)];
}

class writer {
 public:
  writer(const likely& found, const std::string& topic) : found_{found}, topic_{topic} {}

  suggestion run(const std::vector<std::string>& brokers) {
    if (found_.look == look::not_json) {
      out_.advice.emplace_back(
          "no value here is a JSON object, and no header names a field: Ratchet cannot read it as it is");
      return std::move(out_);
    }
    if (found_.rows && !found_.rows->none.empty()) {
      advise("no config is known that is right for these row changes: " + found_.rows->none);
      return std::move(out_);
    }
    std::string list;
    for (const std::string& b : brokers) list += (list.empty() ? "" : ", ") + quoted(b);
    if (brokers.empty()) list = quoted("localhost:9092");
    const std::string name = name_of_stream(topic_);
    line("version: 1");
    line("kafka: {brokers: [" + list + "], group: " + quoted("ratchet-" + name) + "}");
    line("state: {path: ratchet-state}");
    line("streams:");
    line("  - name: " + scalar(name));
    if (!topic_.empty()) {
      line("    topics: [" + quoted(topic_) + "]");
      line("    start: earliest");
    }
    write_envelope();
    write_reducer();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_.yaml += text + "\n"; }
  void write_order(order chosen) {
    order_ = chosen;
    line(std::string{"    order: "} + name_of(chosen));
  }
  void advise(std::string text) { out_.advice.push_back(std::move(text)); }

  void write_envelope() {
    switch (found_.look) {
      case look::cloudevents:
        return write_cloudevents();
      case look::debezium_outbox:
        line("    envelope: {format: debezium-outbox" + kind_of_keys() + "}");
        write_order(order::arrival);
        advise_sequence();
        return write_ids();
      case look::debezium_changes:
      case look::debezium_unwrapped:
        return write_changes();
      case look::ydb_changefeed:
        line("    envelope: {format: ydb-changefeed}");
        return write_order(order::latest);
      case look::canal:
      case look::maxwell:
      case look::mongodb:
        return write_rows(*found_.rows);
      case look::plain:
      case look::not_json:
        return write_plain();
    }
  }

  static std::string list_of(const std::vector<std::string>& all) {
    std::string list;
    for (const std::string& one : all) list += (list.empty() ? "" : ", ") + scalar(one);
    return "[" + list + "]";
  }

  void write_rows(const known_rows& rows) {
    line("    envelope:");
    if (found_.each.kind != each_kind::none) line("      each: " + scalar(std::string{word_of(found_.each)}));
    line("      aggregate: " +
         (rows.aggregate.size() == 1 ? scalar(rows.aggregate.front()) : list_of(rows.aggregate)));
    if (rows.aggregate.front() == "key" && found_.keys.kind != key_kind::automatic)
      line("      key: " + std::string{word_of(found_.keys.kind)});
    if (!rows.epoch.empty()) line("      epoch: " + scalar(rows.epoch));
    line("      sequence: " + scalar(rows.sequence));
    line("      type: " + scalar(rows.type));
    if (!rows.time.empty())
      line("      time: " +
           (rows.time_is_seconds ? "{from: " + scalar(rows.time) + ", unit: s}" : scalar(rows.time)));
    const std::string null_field =
        rows.null_deletes.empty() ? "" : ", field: " + scalar(rows.null_deletes) + ", is: \"null\"";
    line("      delete: {types: " + list_of(rows.deleting) + null_field + "}");
    line("    types: " + list_of(rows.types));
    write_order(order::latest);
    if (rows.is_coarse) line("    ties: later");
    line("    dedup: off");
    for (const std::string& text : rows.advice) advise(text);
  }

  /// As a further member of a map on one line. The format takes quotes and schemas off by itself.
  [[nodiscard]] std::string kind_of_keys() const {
    const bool is_said = found_.keys.kind != key_kind::automatic && found_.keys.kind != key_kind::json;
    return is_said ? ", key: " + std::string{word_of(found_.keys.kind)} : "";
  }

  /// In Debezium's form, but in an order of its own.
  void write_cockroachdb() {
    const std::string& root = found_.root;
    advise(
        "a changefeed of CockroachDB orders its changes by its clock, source.ts_hlc: see docs/guides/cdc.md");
    line("    envelope:");
    line("      aggregate: key");
    line("      sequence: {from: " + scalar(root + "/source/ts_hlc") + ", as: hlc}");
    line("      type: " + scalar(root + "/op"));
    line("      delete: {types: [d]}");
    write_order(order::latest);
    line("    dedup: off");
  }

  void write_changes() {
    if (found_.connectors.contains("cockroachdb")) return write_cockroachdb();
    const bool by_partition =
        found_.look == look::debezium_unwrapped
            ? !found_.is_ordered
            : std::any_of(found_.connectors.begin(), found_.connectors.end(), [](const auto& c) {
                const std::string& name = c.first;
                return name != "postgresql" && name != "TiCDC" && name != "mysql" && name != "mariadb" &&
                       name != "sqlserver" && name != "oracle" && name != "mongodb" && name != "ydb";
              });
    if (found_.look == look::debezium_unwrapped) {
      advise(
          "the rows were unwrapped (ExtractNewRecordState): Ratchet sees deletes if the connector has "
          "`delete.tombstone.handling.mode: rewrite`; it ignores tombstones alone");
    }
    if (by_partition) {
      advise(
          "nothing in the records orders them reliably, so the last record of a row in its partition counts; "
          "see position in docs/guides/cdc.md");
      line("    envelope: {format: debezium-cdc, position: partition}");
    } else {
      line("    envelope: {format: debezium-cdc}");
    }
    write_order(order::latest);
  }

  void write_cloudevents() {
    const bool is_keyed = !found_.has_subjects && found_.keys.any && found_.keys.readable;
    std::string envelope = "format: cloudevents";
    if (is_keyed) {
      envelope += ", aggregate: key" + kind_of_keys();
      advise("some events have no subject, so the key is the aggregate");
    }
    const bool in_digits = found_.sequence_attribute == attribute_form::digits;
    const bool is_ordered = found_.sequence_attribute != attribute_form::none;
    if (in_digits) {
      envelope += ", sequence: {from: \"attribute:sequence\", as: integer}";
      advise(
          "the sequences are digits: as: integer compares them as numbers, and not as text, which the "
          "CloudEvents extension defines");
    }
    line("    envelope: {" + envelope + "}");
    if (!is_ordered && found_.sequence_is && found_.sequence_is->is_named &&
        found_.sequence_is->is_believable()) {
      advise(
          found_.sequences.front().source +
          " is called like a sequence, but CloudEvents are ordered by an attribute alone: let the producer "
          "send it as the extension `sequence`, too, or read the events with format: json; until then a "
          "late event counts as a new one");
    }
    write_order(is_ordered ? order::latest : order::arrival);
    write_ids();
  }

  /// Of a format whose id has one place, which is the likeliest then.
  void write_ids() {
    const id_kind kind = found_.ids.empty() ? id_kind::opaque : found_.ids_are;
    line(std::string{"    dedup: {ids: "} + name_of(kind) + "}");
  }

  /// An outbox may have a column that orders its events.
  void advise_sequence() {
    if (found_.sequences.empty()) return;
    const std::string& source = found_.sequences.front().source;
    const likely_sequence& s = *found_.sequence_is;
    if (!found_.grows && !(s.is_named && s.is_believable())) return;
    const std::string late = s.growth.pairs == 0 || found_.grows
                                 ? ""
                                 : ", and events come late here: " +
                                       counts_of(s.growth, s.is_time ? "an earlier time" : "a lower number");
    advise(source +
           (found_.counts_by_one ? " counts by 1 with each event of an aggregate"
            : found_.grows       ? " grows with each event of an aggregate"
                                 : " is called like a sequence") +
           late + (late.empty() ? ": with " : ". With ") + aggregate_of_sequence() + "`sequence: " + source +
           "` in the envelope " + words_of_orders());
  }
  /// Where it grows within another field than the format's own.
  [[nodiscard]] std::string aggregate_of_sequence() const {
    const bool is_joined = !found_.joined_aggregate.empty();
    if (!is_joined && found_.not_the_aggregate.empty()) return {};
    return "`aggregate: " + places(found_.joined_aggregate, found_.aggregates.front().source) + "` and ";
  }
  /// What the orders that need a sequence do, and which one goes with the proposed reducer.
  [[nodiscard]] std::string words_of_orders() const {
    std::string text;
    if (found_.counts_by_one)
      text = "`order: strict` applies late events in their place and waits for events that are missing, and ";
    text += "`order: latest` keeps the newest whole state";
    if (has_parts()) text += ", but needs `reducer: {kind: replace}`";
    return text;
  }

  /// Events may be changes, and not whole states.
  [[nodiscard]] bool has_parts() const { return !found_.now_and_then.empty(); }
  /// An order that is not the proposed one, and the reducer that it needs.
  [[nodiscard]] std::string words_of_latest() const {
    return has_parts() ? "`order: latest` and `reducer: {kind: replace}`" : "`order: latest`";
  }

  /// Where each event counts, what one record lacks is no deletion of what another one had.
  void write_reducer() {
    if (found_.rows) {
      return line("    reducer: {kind: replace" +
                  (found_.rows->row.empty() ? "" : ", from: " + scalar(found_.rows->row)) + "}");
    }
    const bool each_counts = order_ != order::latest;
    if (found_.has_resolved) line("    ignore: {has: /resolved}");
    std::string from =
        found_.look == look::plain && !found_.root.empty() ? ", from: " + scalar(found_.root) : "";
    if (found_.has_after_image) from = ", from: /after";
    if (found_.connectors.contains("cockroachdb")) from = ", from: " + scalar(found_.root + "/after");
    line(std::string{"    reducer: {kind: "} + (has_parts() && each_counts ? "merge_patch" : "replace") +
         from + "}");
    if (!has_parts()) return;
    const std::string seen = found_.now_and_then + " stands in " + std::to_string(found_.now_and_then_in) +
                             " records and not in all";
    if (each_counts) {
      advise(seen +
             ": merge_patch takes each record for what has changed. If each one holds the whole state, set "
             "reducer: {kind: replace}, which keeps the last one alone");
    } else {
      advise(seen +
             ": replace keeps the newest record alone. If a record holds only what has changed, set order: "
             "strict or arrival, and reducer: {kind: merge_patch}");
    }
  }

  /// One place, or several that name it together.
  static std::string places(const std::vector<std::string>& joined, const std::string& one) {
    return joined.empty() ? scalar(one) : list_of(joined);
  }

  /// A number that grows by chance orders nothing: its name has to say it, but for want of anything else.
  [[nodiscard]] bool takes_sequence(bool has_id) const {
    if (!found_.sequence_is) return false;
    const likely_sequence& s = *found_.sequence_is;
    // Ids tell events apart; a time orders whole states alone.
    if (s.is_time && has_id) return false;
    if (!s.is_believable()) return false;
    return s.is_named || (topic_.empty() && !has_id);
  }

  void write_sequence() {
    const likely_sequence& s = *found_.sequence_is;
    const std::string source = scalar(found_.sequences.front().source);
    const bool is_plain = s.kind == sequence_kind::integer && !s.is_wide;
    line("      sequence: " +
         (is_plain ? source : "{from: " + source + ", as: " + std::string{word_of(s.kind)} + "}"));
    if (s.kind == sequence_kind::text)
      advise(
          "the times of " + found_.sequences.front().source +
          " name no zone: they are compared as text, which is right where all are of one zone and spelling");
    if (s.is_coarse)
      advise("two events can share " + found_.sequences.front().source +
             ": with ties: later the later one in its partition counts");
  }

  [[nodiscard]] static std::string counts_of(const growth& g, const char* lower) {
    return "of " + counted(g.pairs, "event") + " behind another one of their aggregate " +
           std::to_string(g.falls()) + " have " + lower +
           (g.equal == 0 ? "" : ", and " + std::to_string(g.equal) + " the same");
  }

  /// What the records do not bear out of the sequence that is proposed.
  void advise_evidence() {
    const likely_sequence& s = *found_.sequence_is;
    const std::string& source = found_.sequences.front().source;
    constexpr std::size_t k_few = 3;
    if (s.growth.pairs < k_few) {
      advise(
          source + " was taken for the sequence by its name: " +
          (s.growth.pairs == 0 ? std::string{"no aggregate"} : "hardly an aggregate") +
          " has two events here; look at more records with --records, or ask the producer whether it grows "
          "with each event of an aggregate");
    } else if (s.growth.falls() > 0 && !s.is_time && s.in_time.grows() && s.in_time.pairs >= k_few) {
      advise("events come late here: " + counts_of(s.growth, "a lower number") +
             "; in the order of their times it grows, so that order: latest keeps the newest one");
    } else if (s.growth.falls() > 0) {
      advise(source + ": " + counts_of(s.growth, s.is_time ? "an earlier time" : "a lower number") +
             ". If these came late, order: latest is right; if not, the aggregate or the sequence is another "
             "field");
    }
    if (s.missing > 0)
      advise(source + " is missing in " + counted(s.missing, "record") +
             ", or is something else there: they are rejected");
    if (!found_.not_the_aggregate.empty() && found_.joined_aggregate.empty())
      advise("the sequence grows within " + found_.aggregates.front().source + " and not within " +
             found_.not_the_aggregate + ", so " + found_.aggregates.front().source + " is the aggregate");
  }

  void advise_sequences(bool has_id, bool has_sequence) {
    if (!found_.sequence_is) return;
    if (has_sequence) return advise_evidence();
    const likely_sequence& s = *found_.sequence_is;
    const std::string& source = found_.sequences.front().source;
    const std::string as = s.kind == sequence_kind::integer
                               ? source
                               : "{from: " + source + ", as: " + std::string{word_of(s.kind)} + "}";
    if (s.is_time && has_id) {
      advise(
          (s.growth.falls() == 0
               ? source + " grows with the events of an aggregate"
               : "events come late here, and order: arrival applies them as they come: of " + source + " " +
                     counts_of(s.growth, "an earlier time")) +
          ": if each event carries the whole state, `sequence: " + as + "` with " +
          (has_parts() ? "`ties: later`, " + words_of_latest() : words_of_latest() + " and `ties: later`") +
          " keeps the newest one, in whatever order they come");
    } else if (!s.is_named) {
      advise(source +
             " grows with each event of an aggregate, but its name does not say that it orders them: if it "
             "does, set `sequence: " +
             as + "` and " + words_of_latest());
    } else {
      advise(source + " is called like a sequence, but " +
             (s.is_rare ? "most records are without it" : counts_of(s.growth, "a lower number")) +
             ". If it orders the events of an aggregate, set `sequence: " + as + "` and " +
             words_of_latest() + ": until then a late event counts as a new one");
    }
  }

  void write_deletions() {
    if (found_.has_after_image) line("      delete: {field: /after, is: \"null\"}");
    if (found_.deleting.empty() || found_.has_after_image) return;
    std::string types;
    for (const std::string& type : found_.deleting) types += (types.empty() ? "" : ", ") + scalar(type);
    if (found_.deletes_rows) return line("      delete: {types: [" + types + "]}");
    advise("some types look like deletions: if they delete their aggregate, set `delete: {types: [" + types +
           "]}` in the envelope");
  }

  [[nodiscard]] bool joins_key(bool has_sequence) const {
    const std::vector<std::string>& parts = found_.joined_aggregate;
    return has_sequence && std::find(parts.begin(), parts.end(), "key") != parts.end();
  }

  void write_plain() {
    const bool has_id = !found_.ids.empty() || !found_.joined_id.empty();
    const bool has_sequence = takes_sequence(has_id);
    std::string aggregate = "key";
    if (!found_.aggregates.empty()) {
      aggregate = found_.aggregates.front().source;
    } else if (found_.keys.any && found_.keys.readable) {
      advise("no field identifies the aggregate of an event: correct `aggregate: key`");
    } else {
      aggregate = "/the-id-of-the-aggregate";
      advise(std::string{"no field identifies the aggregate of an event, and "} +
             (found_.keys.any ? "keys cannot be read" : "no record has a key") + ": correct `aggregate`");
    }
    const bool is_key = aggregate == "key" && (!has_sequence || found_.joined_aggregate.empty());
    line("    envelope:");
    if (found_.each.kind != each_kind::none) line("      each: " + scalar(std::string{word_of(found_.each)}));
    line("      aggregate: " +
         places(has_sequence ? found_.joined_aggregate : std::vector<std::string>{}, aggregate));
    if ((is_key || joins_key(has_sequence)) && found_.keys.kind != key_kind::automatic)
      line("      key: " + std::string{word_of(found_.keys.kind)});
    if (has_id)
      line("      event_id: " +
           places(found_.joined_id, found_.ids.empty() ? std::string{} : found_.ids.front().source));
    const bool by_offset = !has_id && !has_sequence && !topic_.empty();
    if (by_offset) {
      line("      sequence: offset");
      advise(
          "there were neither ids nor sequences: of an aggregate the record that comes last counts, unless "
          "you set `event_id` or `sequence`");
    } else if (!has_id && !has_sequence) {
      line("      event_id: /the-id-of-the-event");
      advise("there were neither ids nor sequences: correct `event_id`, or set a `sequence`");
    }
    if (has_sequence) write_sequence();
    if (!found_.types.empty()) line("      type: " + scalar(found_.types.front().source));
    if (!found_.times.empty()) write_time(found_.times.front().source);
    write_deletions();
    advise_sequences(has_id, has_sequence);
    if (by_offset) {
      write_order(order::latest);
      return line("    dedup: off");
    }
    if (!has_sequence) {
      write_order(order::arrival);
      write_ids();
      if (!found_.sequence_is)
        advise(
            "no field was found that grows with each event of an aggregate: each event counts once, as it "
            "arrives");
      return;
    }
    write_order(order::latest);
    if (found_.sequence_is->is_coarse) line("    ties: later");
    has_id ? write_ids() : line("    dedup: off");
    if (found_.counts_by_one)
      advise(
          "the sequence counts by 1: if no event may be missed and none carries the full state, set order: "
          "strict");
  }

  void write_time(const std::string& source) {
    if (!found_.unit || *found_.unit == time_unit::milliseconds) return line("      time: " + scalar(source));
    line("      time: {from: " + scalar(source) + ", unit: " + word_of_unit(*found_.unit) + "}");
  }

  const likely& found_;
  const std::string& topic_;
  order order_{order::latest};  ///< that was written
  suggestion out_;
};

}  // namespace

suggestion suggest(const likely& found, const std::string& topic, const std::vector<std::string>& brokers) {
  return writer{found, topic}.run(brokers);
}

}  // namespace ratchet::sniff
