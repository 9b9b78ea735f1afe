// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/suggested_config.hpp"

#include <algorithm>
#include <cctype>

#include "decode/event_id_text.hpp"
#include "sniff/proposed_order.hpp"
#include "text/config_words.hpp"
#include "text/json_writer.hpp"

namespace ratchet::sniff {

namespace {

/// JSON's strings are YAML's.
std::string quoted(const std::string& text) {
  std::string out;
  append_json_string(out, text);
  return out;
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
  /// What the format's fields bear out, and what belongs to it.
  void write_order(const proposed_order& chosen) {
    write_order(chosen.by);
    fails_changes_ = chosen.fails_changes;
    if (chosen.by == order::strict && chosen.first != first_number::one)
      line(chosen.first == first_number::zero ? "    first: 0" : "    first: any");
    if (chosen.first == first_number::any) line("    gap: {policy: skip, timeout: 1h}");
    if (chosen.later_tie_wins) line("    ties: later");
    for (const std::string& text : chosen.why) advise(text);
  }
  void advise(std::string text) { out_.advice.push_back(std::move(text)); }

  void write_envelope() {
    switch (found_.look) {
      case look::cloudevents:
        return write_cloudevents();
      case look::debezium_outbox:
        return write_outbox();
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

  /// As further members of a map on one line: a sequence, and where it counts within another field than the
  /// format's own.
  [[nodiscard]] std::string members_of(const proposed_order& chosen, const std::string& source,
                                       bool is_typed) const {
    if (!chosen.has_sequence) return {};
    const bool is_within_another = !found_.joined_aggregate.empty() || !found_.not_the_aggregate.empty();
    return (is_within_another
                ? ", aggregate: " + places(found_.joined_aggregate, found_.aggregates.front().source)
                : std::string{}) +
           ", sequence: " + text_of_sequence(*found_.sequence_is, source, is_typed);
  }

  /// The connector keeps the order of commits, but what comes behind it may not.
  void write_outbox() {
    const std::string source = found_.sequences.empty() ? std::string{} : found_.sequences.front().source;
    const proposed_order chosen =
        order_of(found_, {.has_ids = true, .is_by_arrival = true, .is_of_file = false, .source = source});
    line("    envelope: {format: debezium-outbox" + kind_of_keys() + members_of(chosen, source, false) + "}");
    write_order(chosen);
    write_ids();
  }

  void write_cloudevents() {
    const bool is_keyed = !found_.has_subjects && found_.keys.any && found_.keys.readable;
    std::string envelope = "format: cloudevents";
    if (is_keyed) {
      envelope += ", aggregate: key" + kind_of_keys();
      advise("some events have no subject, so the key is the aggregate");
    }
    const bool in_digits = found_.sequence_attribute == attribute_form::digits;
    if (in_digits)
      advise(
          "the sequences are digits: as: integer compares them as numbers, and not as text, which the "
          "CloudEvents extension defines");
    const bool is_ordered = found_.sequence_attribute != attribute_form::none;
    const std::string source = found_.sequence_in_events;
    const bool is_of_extension = is_ordered && source == "attribute:sequence";
    proposed_order chosen;
    if (!is_ordered || (in_digits && is_of_extension))
      chosen = order_of(
          found_, {.has_ids = true, .is_by_arrival = !is_ordered, .is_of_file = false, .source = source});
    if (is_ordered) {
      // The extension says what orders events, whatever a few of them look like.
      if (!chosen.has_sequence) {
        chosen = {};
        chosen.by = order::latest;
      }
      if (in_digits) envelope += ", sequence: {from: \"attribute:sequence\", as: integer}";
    } else if (!chosen.has_sequence && source.empty() && write_cloudevents_as_json()) {
      return;
    } else {
      envelope += members_of(chosen, source, true);
      if (found_.sequence_is && source.empty() && found_.sequence_is->is_named &&
          found_.sequence_is->is_believable())
        advise(found_.sequences.front().source +
               " is called like a sequence, but CloudEvents are ordered by an attribute alone: let the "
               "producer send it as the extension `sequence`, too, or read the events with format: json; "
               "until then a late event counts as a new one");
    }
    line("    envelope: {" + envelope + "}");
    write_order(chosen);
    write_ids();
  }

  /// Where what orders late events stands in their data, which the format does not look into. False: nothing
  /// does, or the records have two forms.
  bool write_cloudevents_as_json() {
    const std::string& attributes = found_.attributes_are_at;
    if (!found_.sequence_is || attributes.empty()) return false;
    const std::string source = found_.sequences.front().source;
    const proposed_order chosen =
        order_of(found_, {.has_ids = true, .is_by_arrival = true, .is_of_file = false, .source = source});
    if (!chosen.has_sequence) return false;
    const bool is_structured = attributes == "/";
    const auto at = [&](const char* name) { return scalar(attributes + name); };
    advise("CloudEvents come late here, and " + source +
           " orders them, which is no attribute: format: json reads it. If the producer sends it as the "
           "extension `sequence`, too, format: cloudevents is shorter");
    line("    envelope:");
    line("      aggregate: " + places(found_.joined_aggregate, found_.aggregates.front().source));
    if (found_.aggregates.front().source == "key" && found_.keys.kind != key_kind::automatic)
      line("      key: " + std::string{word_of(found_.keys.kind)});
    line("      event_id: [" + at("source") + ", " + at("id") + "]");
    line("      sequence: " + text_of_sequence(*found_.sequence_is, source, false));
    line("      type: " + at("type"));
    line("      time: " + at("time"));
    write_order(chosen);
    line("    dedup: {ids: opaque}");
    if (is_structured) from_ = "/data";
    return true;
  }

  /// Of a format whose id has one place, which is the likeliest then.
  void write_ids() {
    const id_kind kind = found_.ids.empty() ? id_kind::opaque : found_.ids_are;
    line(std::string{"    dedup: {ids: "} + name_of(kind) + "}");
  }

  /// Events may be changes, and not whole states.
  [[nodiscard]] bool has_parts() const { return !found_.now_and_then.empty(); }
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
    if (!from_.empty()) from = ", from: " + scalar(from_);
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
    } else if (fails_changes_) {
      advise(seen +
             ": the config below is right only if each record holds the whole state. If one holds only what "
             "has changed, no order is right for these records: events come late, and nothing tells whether "
             "one is missing before another one. The producer must send a number that counts by 1 with each "
             "event of an aggregate: then set order: strict and reducer: {kind: merge_patch}");
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
    const std::string source = found_.sequences.empty() ? std::string{} : found_.sequences.front().source;
    proposed_order chosen = order_of(
        found_, {.has_ids = has_id, .is_by_arrival = false, .is_of_file = topic_.empty(), .source = source});
    const bool has_sequence = chosen.has_sequence;
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
    if (has_sequence) line("      sequence: " + text_of_sequence(*found_.sequence_is, source, false));
    if (!found_.types.empty()) line("      type: " + scalar(found_.types.front().source));
    if (!found_.times.empty()) write_time(found_.times.front().source);
    write_deletions();
    if (by_offset) chosen.by = order::latest;
    write_order(chosen);
    has_id || (!has_sequence && !by_offset) ? write_ids() : line("    dedup: off");
  }

  void write_time(const std::string& source) {
    if (!found_.unit || *found_.unit == time_unit::milliseconds) return line("      time: " + scalar(source));
    line("      time: {from: " + scalar(source) + ", unit: " + word_of_unit(*found_.unit) + "}");
  }

  const likely& found_;
  const std::string& topic_;
  order order_{order::latest};  ///< that was written
  bool fails_changes_{false};   ///< that order, and every other one
  std::string from_;            ///< what the reducer takes of a value; empty: all
  suggestion out_;
};

}  // namespace

suggestion suggest(const likely& found, const std::string& topic, const std::vector<std::string>& brokers) {
  return writer{found, topic}.run(brokers);
}

}  // namespace ratchet::sniff
