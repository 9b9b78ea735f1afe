// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/config_rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/output.hpp"
#include "decode/envelope_preset.hpp"
#include "decode/sequence_kinds.hpp"
#include "streams/envelope_rules.hpp"
#include "streams/stream_definition.hpp"
#include "streams/stream_findings.hpp"
#include "text/units.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

using kind_of = reducer_config::kind_of;

constexpr const char* k_least_is_1 = "it is 1 at least";

/// What is claimed by one alone, and where that is.
using claims = std::map<std::string_view, std::string>;

struct claimed {
  claims names;
  claims topics;
  claims tables;
  std::map<std::string_view, const stream_config*> readers;  ///< of topics
};

/// The rules of one stream.
class stream_rules_check {
 public:
  stream_rules_check(const config& all, std::size_t i, claimed& by, std::vector<config_finding>& found)
      : all_{all},
        stream_{all.streams[i]},
        envelope_{with_defaults(stream_.envelope)},
        kind_{kind_of_sequences(envelope_, stream_.order)},
        by_{by},
        found_{i, found} {}

  void run() {
    check_names();
    has_transactions_alone(stream_) ? check_transactions() : check_events();
    check_gap();
    check_limits();
    check_retention();
    check_reducer();
    for (std::size_t i = 0; i < stream_.outputs.size(); ++i)
      check_destination(item_of("outputs", i), stream_.outputs[i]);
    check_told("dead_letter.topic", stream_.dead_letter);
    check_told("rejections.topic", stream_.rejections);
  }

 private:
  void check_names() {
    claim(by_.names, "name", stream_.name, "each stream has a name of its own");
    for (std::size_t i = 0; i < stream_.topics.size(); ++i)
      claim(by_.topics, item_of("topics", i), stream_.topics[i], "a topic feeds one stream");
    for (std::size_t i = 0; i < stream_.tables.size(); ++i) {
      const std::string path = item_of("tables", i) + ".name";
      const std::string& name = stream_.tables[i].name;
      if (name.empty()) add(path, "is missing", "reducers and `ratchet get` name the table by it");
      // A table is asked for by its name alone.
      claim(by_.tables, path, name, "each table has a name of its own, in all streams");
    }
  }
  void check_transactions() {
    if (stream_.dedup.ids != id_kind::opaque) {
      add("dedup", "must be {ids: opaque} in a stream without topics and envelope",
          "its ids are the keys of transactions: leave `ids` out, or set opaque",
          {"order", "topics", "envelope"});
    }
    if (!stream_.emit.empty()) {
      add("emit", "does nothing in a stream without topics and envelope",
          "only transactions feed it, and they are not events: leave it out",
          {"order", "topics", "envelope"});
    }
  }
  void check_events() {
    check_fields(stream_, envelope_, found_);
    if (stream_.order == order::latest) check_latest();
    if (has_log_positions(envelope_.format)) {
      check_log_positions();
    } else {
      if (stream_.order == order::arrival) check_arrival();
      if (stream_.order != order::arrival) check_sequence();
      if (stream_.order == order::strict && stream_.epoch_change == epoch_change::accept) check_epochs();
      if (stream_.order != order::arrival) check_versions();
      if (stream_.order == order::strict) check_strict_versions();
    }
    check_choices();
    check_key(envelope_, found_);
    check_patterns(stream_, envelope_, found_);
    check_emits();
  }
  /// Versions that are no plain numbers.
  void check_versions() {
    if (!envelope_.epoch.empty() && kind_ != sequence_kind::integer) {
      add("envelope.epoch", "does not go with sequence.as: " + std::string{word_of(kind_)},
          "an epoch goes with integers: leave it out", {"order"});
    }
    if (!is_of_record(envelope_.sequence)) return;
    if (!envelope_.epoch.empty()) {
      add("envelope.epoch", "does not go with sequence: " + envelope_.sequence,
          "an epoch goes with numbers of the event: leave it out");
    }
    if (envelope_.sequence == "offset" && stream_.topics.size() > 1) {
      add("envelope.sequence", "offset goes with one topic",
          "offsets of two topics cannot be compared: give each topic a stream, or use sequence: timestamp",
          {"topics"});
    }
  }
  void check_strict_versions() {
    const std::string strict =
        "strict order applies n+1 after n, and a gap between two of these cannot be seen; use order: latest";
    if (is_of_record(envelope_.sequence)) {
      add("order", "strict does not go with sequence: " + envelope_.sequence, strict, {"envelope"});
    } else if (kind_ != sequence_kind::integer) {
      add("order", "strict does not go with sequence.as: " + std::string{word_of(kind_)}, strict,
          {"envelope"});
    }
    const bool has_ranges = !envelope_.previous.empty() || !envelope_.sequence_first.empty();
    if (has_ranges && envelope_.sequence_bits > k_one_half) {
      add(envelope_.previous.empty() ? "envelope.sequence.first" : "envelope.previous",
          "does not go with a sequence of 128 bits", "ranges are of integers of 64 bits");
    }
    if (!envelope_.previous.empty() && !envelope_.sequence_first.empty()) {
      add("envelope.previous", "repeats sequence.first",
          "set one of the two: the number of the event before, or the event's own first number");
    }
  }
  /// A choice that would do nothing, and whoever made it believes that it does.
  void check_choices() {
    const bool is_latest = stream_.order == order::latest;
    const std::string by = std::string{" does nothing with order: "} + name_of(stream_.order);
    if (stream_.order != order::strict) {
      if (!envelope_.previous.empty())
        add("envelope.previous", by.substr(1), "it belongs to order: strict; leave it out", {"order"});
      if (!envelope_.sequence_first.empty())
        add("envelope.sequence.first", by.substr(1), "it belongs to order: strict; leave it out", {"order"});
    }
    if (stream_.ties != ties::usual && !is_latest) {
      add("ties", by.substr(1), "two events with one number are a conflict there; leave it out", {"order"});
    } else if (stream_.ties == ties::reject && has_log_positions(envelope_.format)) {
      add("ties", std::string{"reject does not go with format: "} + name_of(envelope_.format),
          "changes of one row in one transaction may have one position; leave it out", {"envelope.format"});
    }
    if (stream_.after_delete == after_delete::restart) check_restart();
    if (stream_.too_old == too_old::park) check_parks_too_old();
  }
  void check_parks_too_old() {
    const bool is_arrival = stream_.order == order::arrival;
    if (!is_arrival && !stream_.retention) {
      add("too_old", std::string{"does nothing without retention in order: "} + name_of(stream_.order),
          "an event is too old there if its aggregate may be forgotten: set retention, or leave it out",
          {"order", "retention"});
    } else if (is_arrival && stream_.dedup.ids == id_kind::monotonic) {
      add("too_old", "does nothing with ids: monotonic", "growing ids are never too old; leave it out",
          {"dedup"});
    } else if (stream_.handling == handling::deferred && stream_.order != order::latest) {
      add("too_old", "park does not go with handling: deferred",
          "leave one of the two out: an event that is too old must wait before the others", {"handling"});
    }
  }
  void check_restart() {
    const char* hint =
        "numbers that begin again get a new epoch, which needs order: latest and 64-bit integers without an "
        "epoch";
    const bool is_fit = stream_.order == order::latest && !has_log_positions(envelope_.format) &&
                        kind_ == sequence_kind::integer && !is_of_record(envelope_.sequence) &&
                        envelope_.epoch.empty() && envelope_.sequence_bits <= k_one_half;
    if (!is_fit) add("after_delete", "restart does not go with this stream", hint, {"order", "envelope"});
  }
  void check_latest() {
    if (stream_.handling == handling::deferred) {
      add("handling", "deferred does not go with order: latest",
          "deferred handles every event in turn, but latest needs only the newest: use order: arrival or "
          "strict, or leave it out",
          {"order"});
    }
    if (stream_.reducer.kind == kind_of::merge_patch) {
      add("reducer.kind", "merge_patch does not go with order: latest",
          "latest ignores older events with their patches; use order: strict or arrival, or kind: replace",
          {"order"});
    }
  }
  void check_log_positions() {
    const std::string format = std::string{"format: "} + name_of(envelope_.format);
    if (stream_.order == order::strict) {
      add("order", "strict does not go with " + format,
          "log positions always have gaps, so a missing change cannot be seen; use order: latest",
          {"envelope.format"});
    }
    if (stream_.order == order::arrival) {
      add("order", "arrival does not go with " + format,
          "this order needs event ids to find repeats, and row changes have none; use order: latest",
          {"envelope.format"});
    }
    if (stream_.dedup.ids != id_kind::none) {
      add("dedup", "does not go with " + format, "row changes have no ids: leave it out, or set dedup: off",
          {"envelope.format"});
    }
  }
  void check_arrival() {
    if (stream_.dedup.ids == id_kind::none) {
      add("dedup", "cannot be off with order: arrival",
          "this order finds repeats by event id only: name the kind of ids", {"order", "envelope.format"});
    }
    if (envelope_.event_id.empty()) {
      add("envelope.event_id", "is missing", "order: arrival finds repeats by event id only", {"order"});
    }
  }
  void check_sequence() {
    if (envelope_.epoch.empty() && envelope_.sequence.ends_with("/source/pos")) {
      add("envelope.sequence", "starts over with each file of the binlog",
          "use envelope: {format: debezium-cdc}, which compares the file, too", {"envelope"});
    }
    if (envelope_.sequence.empty()) {
      add("envelope.sequence", "is missing",
          stream_.order == order::latest
              ? "order: latest needs a sequence to compare events; for events without one use order: arrival"
              : "order: strict applies n+1 after n; for events without a sequence use order: arrival",
          {"order"});
    }
    if (stream_.dedup.ids != id_kind::none && envelope_.event_id.empty()) {
      add("envelope.event_id", "is missing", "map the event's id, or set dedup: off if events have none",
          {"order", "dedup"});
    }
    if (stream_.dedup.ids == id_kind::monotonic) {
      add("dedup.ids", "monotonic goes with order: arrival alone",
          "the other orders find repeats by sequence: set dedup: off, or name another kind",
          {"order", "dedup"});
    }
  }
  void check_epochs() {
    if (stream_.first == first_number::any) {
      add("epoch_change", "accept does nothing with first: any",
          "Ratchet recognises a new epoch by its first number; set the number, or set park: then each new "
          "epoch waits for `ratchet waiting replay`",
          {"order", "first"});
    }
    if (envelope_.epoch.empty() && envelope_.sequence_bits <= k_one_half) {
      add("epoch_change", "accept does nothing without an epoch", "map envelope.epoch, or leave it out",
          {"order", "envelope"});
    }
  }
  void check_gap() {
    if (stream_.order == order::strict && stream_.first == first_number::any &&
        stream_.gap.policy != gap_policy::skip) {
      add("first", "any needs gap: {policy: skip}",
          "Ratchet finds the lowest number by waiting for lower ones until gap.timeout has passed",
          {"order", "gap"});
    }
  }
  /// One of 0 lets nothing through.
  void check_limits() {
    const std::pair<const char*, std::uint64_t> limits[] = {
        {"waiting.per_aggregate", stream_.waiting.per_aggregate},
        {"waiting.events", stream_.waiting.events},
        {"retry.attempts", stream_.retry.attempts}};
    for (const auto& [key, limit] : limits) {
      if (limit == 0) add(key, "0 is out of range", k_least_is_1);
    }
    if (stream_.waiting.bytes == 0) add("waiting.bytes", "is 0", "as in 4GiB");
    constexpr std::uint64_t k_most_rejected = 100'000;  // each may be 64 KiB long
    const std::uint64_t records = stream_.rejected.records;
    if (records == 0 || records > k_most_rejected) {
      add("rejected.records", std::to_string(records) + " is out of range",
          "it goes from 1 to " + std::to_string(k_most_rejected));
    }
  }
  /// As long as an id is remembered, so is its aggregate: a repeat is told by both.
  void check_retention() {
    if (!stream_.retention) return;
    const dedup_config& ids = stream_.dedup;
    const bool has_window = ids.ids != id_kind::none && ids.ids != id_kind::monotonic;
    const auto least = has_window ? ids.window + ids.max_skew : std::chrono::milliseconds{1};
    if (*stream_.retention >= least) return;
    add("retention",
        format_duration(*stream_.retention) +
            (has_window ? " is shorter than event ids are remembered" : " is too short"),
        has_window ? "it is dedup.window and dedup.max_skew together at least, here " + format_duration(least)
                   : "as in 90d; off keeps all aggregates for ever",
        {"dedup"});
  }
  void check_reducer() {
    const reducer_config& reducer = stream_.reducer;
    const bool flaky = reducer.kind == kind_of::flaky;
    if (!flaky && !reducer.fail.empty()) {
      add("reducer.fail", "belongs to kind: flaky", "leave it out, or use kind: flaky to try failures out",
          {"reducer"});
    }
    if (flaky && reducer.fail.empty())
      add("reducer.fail", "is missing", "as in fail: {type: paid, how: retry, times: 2}", {"reducer"});
    const bool typed = std::any_of(reducer.fail.begin(), reducer.fail.end(),
                                   [](const failure_rule& rule) { return !rule.type.empty(); });
    if (flaky && typed && !tells_types(envelope_))
      add("envelope.type", "is missing", "reducer.fail uses the type of events", {"reducer"});
    if (reducer.kind != kind_of::own && !reducer.name.empty()) {
      add("reducer.name", "belongs to kind: own",
          "leave it out, or set kind: own if a program has the reducer of this name", {"reducer"});
    }
    const char* fault = reducer.from.empty() ? nullptr : fault_of_pointer(reducer.from);
    if (fault != nullptr) add("reducer.from", "is not a JSON Pointer", fault);
  }
  void check_emits() {
    for (std::size_t i = 0; i < stream_.emit.size(); ++i) {
      const emit_config& out = stream_.emit[i];
      const std::string path = item_of("emit", i);
      if (out.topic.empty())
        add(path + ".topic", "is missing", "name the topic to publish to; or sink: NAME");
      else
        check_destination(path + ".topic", out.topic);
      if (out.key != "aggregate" && out.key != "none" && fault_of_pointer(out.key) != nullptr) {
        add(path + ".key", "is not a key",
            "aggregate, none, or a JSON Pointer into the payload as in /customer/id");
      }
      const char* fault = out.payload.empty() ? nullptr : fault_of_pointer(out.payload);
      if (fault != nullptr) add(path + ".payload", "is not a JSON Pointer", fault);
      if (!out.types.empty() && !tells_types(envelope_))
        add("envelope.type", "is missing", "emit.types uses the type of events", {"emit"});
    }
  }
  /// What a stream publishes may be another's to read, but never its own.
  void check_destination(const std::string& path, const std::string& to) {
    if (to.starts_with(k_sink_prefix)) return check_sink(path, sink_of(to));
    if (std::find(stream_.topics.begin(), stream_.topics.end(), to) == stream_.topics.end()) return;
    add(path, to + " is a topic that the stream reads itself",
        "its messages would come back as events: name another topic");
  }
  void check_sink(const std::string& path, std::string_view name) {
    if (found_.is_full()) return;
    if (name.empty()) return add(path, "names no sink", "as in \"sink:receipts\"");
    const stream_findings::paths judged_by{stream_findings::k_sinks};
    std::vector<std::string_view> known;
    for (const sink_config& s : all_.sinks) {
      known.emplace_back(s.name);
      if (s.name != name) continue;
      if (s.kind == sink_config::kind_of::discard)
        add(path, s.name + " discards its messages", "leave the output out", judged_by);
      return;
    }
    const std::string_view guess = did_you_mean(name, known);
    add(path, std::string{name} + " is not among `sinks`",
        guess.empty()
            ? "add it there, as in sinks: [{name: " + std::string{name} + ", http: {url: https://...}}]"
            : "did you mean \"" + std::string{guess} + "\"?",
        judged_by);
  }
  void check_told(const char* key, const std::string& topic) {
    const auto reader = by_.readers.find(topic);
    if (reader == by_.readers.end()) return;
    add(key, topic + " is a topic that stream " + reader->second->name + " reads",
        "dead letters and rejections would come back as records: name another topic");
  }

  void claim(claims& in, const std::string& key, const std::string& what, const char* hint) {
    if (what.empty()) return;
    const auto [first, fresh] = in.emplace(what, found_.path_of(key));
    if (!fresh) add(key, what + " is taken by " + first->second, hint);
  }
  void add(const std::string& key, std::string message, std::string hint,
           stream_findings::paths judged_by = {}) {
    found_.add(key, std::move(message), std::move(hint), judged_by);
  }

  const config& all_;
  const stream_config& stream_;
  envelope_config envelope_;  ///< with what its format knows
  sequence_kind kind_;
  claimed& by_;
  stream_findings found_;
};

void check_sink_names(const config& c, std::vector<config_finding>& found) {
  claims names;
  for (std::size_t i = 0; i < c.sinks.size() && found.size() < stream_findings::k_most; ++i) {
    const std::string path = item_of("sinks", i);
    if (c.sinks[i].name.empty() || names.emplace(c.sinks[i].name, path).second) continue;
    found.push_back({path, "has the name of another one", "each sink has a name of its own", {}});
  }
}

}  // namespace

bool is_at_or_below(std::string_view inner, std::string_view outer) noexcept {
  return inner.starts_with(outer) &&
         (inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
}

bool has_transactions_alone(const stream_config& s) {
  const envelope_config& e = s.envelope;
  return s.topics.empty() && s.order == order::arrival && e.format == envelope_format::json &&
         e.event_id.empty() && e.aggregate.empty() && e.sequence.empty() && e.epoch.empty() &&
         e.type.empty() && e.time.empty();
}

std::vector<config_finding> check_config(const config& c) {
  std::vector<config_finding> found;
  if (c.step_records == 0) found.push_back({"step.records", "0 is out of range", k_least_is_1, {}});
  check_sink_names(c, found);
  claimed by;
  for (const stream_config& s : c.streams) {
    for (const std::string& topic : s.topics) by.readers.emplace(topic, &s);
  }
  for (std::size_t i = 0; i < c.streams.size() && found.size() < stream_findings::k_most; ++i)
    stream_rules_check{c, i, by, found}.run();
  return found;
}

}  // namespace ratchet
