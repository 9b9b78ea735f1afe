// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "config/schema.hpp"
#include "config/sections.hpp"
#include "core/output.hpp"
#include "decode/envelope_preset.hpp"
#include "streams/stream_runtime.hpp"

namespace ratchet {

namespace {

/// One stream's part of the tree, for rules between its keys.
class stream_rules_check {
 public:
  stream_rules_check(const config_node& node, std::string path, const stream_config& stream,
                     config_findings& findings)
      : node_{node}, path_{std::move(path)}, stream_{stream}, findings_{findings} {}

  void run() const {
    if (!stream_.topics.empty() && !has("start") && usable("start")) {
      add("start", "is missing", "say where a partition begins that nobody has read yet: earliest or latest");
    }
    const bool by_log = has_log_positions(stream_.envelope.format);
    if (has("envelope") && usable("envelope.format") && by_log) check_log_positions();
    if (has("envelope") && usable("order") && usable("envelope.format") && !by_log) {
      if (stream_.order == order::arrival) check_arrival();
      if (stream_.order == order::latest) check_latest();
      if (stream_.order == order::strict) check_strict();
    }
    if (usable("order") && !by_log) check_monotonic();
    if (usable("order") && stream_.order != order::strict) refuse_strict_keys();
    if (!has("envelope") && usable("envelope")) check_transactions_alone();
    check_epoch();
    check_gap();
    check_limits();
    check_failures();
    check_own();
    check_emits();
  }

 private:
  void check_log_positions() const {
    const std::string format = std::string{"format: "} + name_of(stream_.envelope.format);
    if (usable("order") && stream_.order == order::strict) {
      add("order", "strict does not go with " + format,
          "a log position has gaps by nature, so that nothing tells whether one is missing; use order: "
          "latest");
    }
    if (usable("order") && stream_.order == order::arrival) {
      add("order", "arrival does not go with " + format,
          "only event ids tell a repeat there, and row changes have none; use order: latest");
    }
    if (has("dedup") && usable("dedup") && stream_.dedup.ids != id_kind::none) {
      add("dedup", "does not go with " + format, "row changes have no ids: leave it out, or say dedup: off");
    }
    if (usable("order") && stream_.order == order::latest) refuse_patches();
  }
  void check_arrival() const {
    if (usable("dedup") && stream_.dedup.ids == id_kind::none) {
      add("dedup", "cannot be off with order: arrival",
          "only event ids tell a repeat there: name their kind");
    }
    if (usable("envelope.event_id") && stream_.envelope.event_id.empty()) {
      add("envelope.event_id", "is missing", "order: arrival tells repeats by the event's id alone");
    }
  }
  void check_monotonic() const {
    if (!usable("dedup") || stream_.dedup.ids != id_kind::monotonic || stream_.order == order::arrival)
      return;
    add("dedup.ids", "monotonic goes with order: arrival alone",
        "the sequence tells repeats in the other orders: say dedup: off, or name another kind");
  }
  /// Nothing but transactions feeds it.
  void check_transactions_alone() const {
    if (has("dedup") && usable("dedup") && stream_.dedup.ids != id_kind::opaque) {
      add("dedup", "must be {ids: opaque} in a stream without topics and envelope",
          "its ids are the keys of transactions: leave `ids` out, or say opaque");
    }
    for (const char* key : {"emit", "reducer", "poison", "retry", "waiting", "rejected", "rejections",
                            "dead_letter", "start", "handling"}) {
      if (has(key)) {
        add(key, "does nothing in a stream without topics and envelope",
            "only transactions feed it, and they have no events: leave it out");
      }
    }
  }
  void check_latest() const {
    if (usable("handling") && stream_.handling == handling::deferred) {
      add("handling", "deferred does not go with order: latest",
          "it handles every event in turn, of which latest needs the newest alone: use order: arrival or "
          "strict, or leave it out");
    }
    if (usable("envelope.sequence") && stream_.envelope.sequence.empty()) {
      add("envelope.sequence", "is missing",
          "order: latest needs a sequence to tell newer from older; events without one take order: arrival");
    }
    check_id();
    refuse_patches();
  }
  void refuse_patches() const {
    if (usable("reducer.kind") && stream_.reducer.kind == reducer_config::kind_of::merge_patch) {
      add("reducer.kind", "merge_patch does not go with order: latest",
          "latest discards older events, and with them their patches; use order: strict or arrival, or kind: "
          "replace");
    }
  }
  void check_id() const {
    if (usable("dedup") && usable("envelope.event_id") && stream_.dedup.ids != id_kind::none &&
        stream_.envelope.event_id.empty()) {
      add("envelope.event_id", "is missing", "map the event's id, or say dedup: off where events have none");
    }
  }
  void check_strict() const {
    if (usable("envelope.sequence") && stream_.envelope.sequence.empty()) {
      add("envelope.sequence", "is missing",
          "order: strict applies n+1 after n; events without a sequence take order: arrival");
    }
    check_id();
    if (usable("epoch_change")) check_epoch_change();
  }
  void check_epoch_change() const {
    if (stream_.envelope.sequence_bits > k_one_half && usable("envelope.sequence") && !has("epoch_change")) {
      add("epoch_change", "is missing",
          "of a sequence of 128 bits the upper half is an epoch, and nothing but another epoch comes after a "
          "lower half of 2^64-1: say park or accept");
    }
    if (stream_.epoch_change != epoch_change::accept) return;
    if (usable("first") && stream_.first == first_number::any) {
      add("epoch_change", "accept does nothing with first: any",
          "a new epoch is known by its first number; name it, or say park: then each new epoch waits for "
          "`ratchet waiting replay`");
    }
    if (usable("envelope") && stream_.envelope.epoch.empty() &&
        stream_.envelope.sequence_bits <= k_one_half) {
      add("epoch_change", "accept does nothing without an epoch", "map envelope.epoch, or leave it out");
    }
  }
  /// They would do nothing, and whoever wrote them believes that they do.
  void refuse_strict_keys() const {
    for (const char* key : {"first", "epoch_change", "gap"}) {
      if (!has(key)) continue;
      add(key, std::string{"does nothing with order: "} + name_of(stream_.order),
          "it belongs to order: strict; leave it out");
    }
  }
  void check_gap() const {
    if (!usable("order") || stream_.order != order::strict) return;
    if (usable("first") && usable("gap") && stream_.first == first_number::any &&
        stream_.gap.policy != gap_policy::skip) {
      add("first", "any needs gap: {policy: skip}",
          "nobody can tell the lowest number but by waiting for lower ones, until gap.timeout has passed");
    }
    if (has("gap.timeout") && usable("gap") && stream_.gap.policy == gap_policy::wait) {
      add("gap.timeout", "does nothing with policy: wait",
          "a gap is waited for without end; leave it out, or name policy: skip or stop");
    }
  }
  void check_limits() const {
    if (has("waiting.per_aggregate") && has("waiting.events") && usable("waiting") &&
        stream_.waiting.per_aggregate > stream_.waiting.events) {
      add("waiting.per_aggregate", "is never reached", "it is above waiting.events, where the stream stops");
    }
  }
  void check_failures() const {
    if (!usable("reducer")) return;
    const bool flaky = stream_.reducer.kind == reducer_config::kind_of::flaky;
    if (!flaky && has("reducer.fail")) {
      add("reducer.fail", "belongs to kind: flaky", "leave it out, or use kind: flaky to try failures out");
    }
    if (flaky && stream_.reducer.fail.empty()) {
      add("reducer.fail", has("reducer.fail") ? "names no rule" : "is missing",
          "as in fail: {type: paid, how: retry, times: 2}");
    }
    const bool typed = std::any_of(stream_.reducer.fail.begin(), stream_.reducer.fail.end(),
                                   [](const failure_rule& rule) { return !rule.type.empty(); });
    if (flaky && typed && has("envelope") && usable("envelope.type") && stream_.envelope.type.empty()) {
      add("envelope.type", "is missing", "reducer.fail speaks of the type of events");
    }
  }
  void check_own() const {
    if (!usable("reducer")) return;
    const bool own = stream_.reducer.kind == reducer_config::kind_of::own;
    if (own && !has("reducer.name")) {
      add("reducer.name", "is missing",
          "as in {kind: own, name: payment_state, version: 1}: what the reducer_traits of the program say");
    }
    for (const char* key : {"reducer.name", "reducer.version"}) {
      if (own || !has(key)) continue;
      add(key, "belongs to kind: own",
          "leave it out, or say kind: own where a program brings the reducer of this name");
    }
  }
  void check_emits() const {
    const bool typed = std::any_of(stream_.emit.begin(), stream_.emit.end(),
                                   [](const emit_config& e) { return !e.types.empty(); });
    if (typed && usable("emit") && has("envelope") && usable("envelope.type") &&
        stream_.envelope.type.empty()) {
      add("envelope.type", "is missing", "emit.types speaks of the type of events");
    }
  }
  static constexpr int k_one_half = 64;  // bits of a sequence
  void check_epoch() const {
    if (has("envelope.epoch") && stream_.envelope.sequence_bits > k_one_half) {
      add("envelope.epoch", "does not go with a sequence of 128 bits", "its upper half is the epoch already");
    }
  }

  [[nodiscard]] const config_node* locate(std::string_view relative, const config_node** nearest) const {
    const config_node* at = &node_;
    while (!relative.empty()) {
      const std::size_t dot = std::min(relative.find('.'), relative.size());
      const config_node* next = at->find(relative.substr(0, dot));
      if (next == nullptr) {
        if (nearest != nullptr) *nearest = at;
        return nullptr;
      }
      at = next;
      relative.remove_prefix(std::min(dot + 1, relative.size()));
    }
    if (nearest != nullptr) *nearest = at;
    return at;
  }
  [[nodiscard]] bool has(std::string_view relative) const { return locate(relative, nullptr) != nullptr; }
  /// No finding speaks of the value, so that a rule may judge it.
  [[nodiscard]] bool usable(const std::string& relative) const {
    const std::string path = path_ + "." + relative;
    return findings_.clean(path) && !findings_.guessed(path);
  }
  void add(const std::string& relative, std::string message, std::string hint) const {
    const config_node* nearest = nullptr;
    (void)locate(relative, &nearest);
    findings_.add(nearest->at, path_ + "." + relative, std::move(message), std::move(hint));
  }

  const config_node& node_;
  std::string path_;
  const stream_config& stream_;
  config_findings& findings_;
};

/// A name or a topic that two streams (or one stream twice) claim.
class claims {
 public:
  explicit claims(config_findings& findings) : findings_{findings} {}
  void claim(const std::string& what, const config_node& at, const std::string& path, const char* hint) {
    const auto [first, fresh] = first_.emplace(what, path);
    if (!fresh) findings_.add(at.at, path, what + " is taken by " + first->second, hint);
  }

 private:
  config_findings& findings_;
  std::map<std::string, std::string> first_;
};

[[nodiscard]] bool publishes_to_kafka(const config& read) {
  return std::any_of(read.streams.begin(), read.streams.end(), [](const stream_config& s) {
    const std::vector<std::string> published = topics_published_to(s);
    return !s.dead_letter.empty() || !s.rejections.empty() ||
           std::any_of(published.begin(), published.end(),
                       [](const std::string& to) { return !to.starts_with(k_sink_prefix); });
  });
}

/// A table is asked for by its name alone.
void claim_tables(const config_node& stream, const std::string& path, claims& tables) {
  const config_node* list = stream.find("tables");
  if (list == nullptr) return;
  const auto claim_one = [&](const config_node& one, const std::string& at) {
    const config_node* name = one.kind == config_node::kind_of::map ? one.find("name") : nullptr;
    if (name != nullptr && !name->text.empty())
      tables.claim(name->text, *name, at + ".name", "each table has a name of its own, in all streams");
  };
  claim_one(*list, path);
  for (std::size_t i = 0; i < list->items.size(); ++i)
    claim_one(list->items[i], path + "[" + std::to_string(i) + "]");
}

/// What is written to a topic that is read would come back.
class loop_check {
 public:
  loop_check(const config& read, config_findings& findings) : read_{read}, findings_{findings} {}
  /// What a stream publishes may be another's to read, but never its own.
  void look_at_published(const config_node& stream, const std::string& path,
                         const stream_config& read) const {
    if (const config_node* list = stream.find("outputs"); list != nullptr) {
      for (std::size_t i = 0; i < list->items.size(); ++i)
        refuse_own(list->items[i], path + "outputs[" + std::to_string(i) + "]", read);
    }
    const config_node* emit = stream.find("emit");
    if (emit == nullptr) return;
    const auto look_at_one = [&](const config_node& one, const std::string& at) {
      if (one.kind != config_node::kind_of::map) return;
      if (const config_node* topic = one.find("topic")) refuse_own(*topic, at + ".topic", read);
    };
    look_at_one(*emit, path + "emit");
    for (std::size_t i = 0; i < emit->items.size(); ++i)
      look_at_one(emit->items[i], path + "emit[" + std::to_string(i) + "]");
  }
  void look_at(const config_node& parent, const std::string& path) const {
    for (const char* key : {"dead_letter", "rejections"}) {
      const config_node* value = parent.find(key);
      if (value == nullptr || value->kind != config_node::kind_of::map) continue;
      if (const config_node* topic = value->find("topic")) refuse(*topic, path + key + ".topic");
    }
  }

 private:
  void refuse_own(const config_node& topic, const std::string& path, const stream_config& read) const {
    if (std::find(read.topics.begin(), read.topics.end(), topic.text) == read.topics.end()) return;
    findings_.add(topic.at, path, topic.text + " is a topic that the stream reads itself",
                  "its messages would come back as events: name another topic");
  }
  void refuse(const config_node& topic, const std::string& path) const {
    for (const stream_config& s : read_.streams) {
      if (std::find(s.topics.begin(), s.topics.end(), topic.text) == s.topics.end()) continue;
      findings_.add(topic.at, path, topic.text + " is a topic that stream " + s.name + " reads",
                    "what is told of its records would come back as records: name another topic");
    }
  }
  const config& read_;
  config_findings& findings_;
};

}  // namespace

void check_rules(const config_node& root, const config& read, config_findings& findings) {
  check_sink_names(root, read, findings);
  const loop_check loops{read, findings};
  loops.look_at(root, "");
  const config_node* streams = root.find("streams");
  if (streams == nullptr || streams->kind != config_node::kind_of::list) return;
  claims names{findings};
  claims topics{findings};
  claims tables{findings};
  const config_node* with_topics = nullptr;
  for (std::size_t i = 0; i < streams->items.size() && i < read.streams.size(); ++i) {
    const config_node& node = streams->items[i];
    if (node.kind != config_node::kind_of::map) continue;
    const std::string path = "streams[" + std::to_string(i) + "]";
    if (const config_node* name = node.find("name"); name != nullptr && !name->text.empty()) {
      names.claim(name->text, *name, path + ".name", "each stream has a name of its own");
    }
    if (const config_node* list = node.find("topics"); list != nullptr) {
      if (with_topics == nullptr && !list->items.empty()) with_topics = list;
      for (std::size_t t = 0; t < list->items.size(); ++t) {
        if (list->items[t].text.empty()) continue;
        topics.claim(list->items[t].text, list->items[t], path + ".topics[" + std::to_string(t) + "]",
                     "a topic feeds one stream");
      }
    }
    claim_tables(node, path + ".tables", tables);
    stream_rules_check{node, path, read.streams[i], findings}.run();
    loops.look_at(node, path + ".");
    loops.look_at_published(node, path + ".", read.streams[i]);
  }
  if (root.find("kafka") != nullptr || findings.guessed("kafka")) return;
  if (with_topics != nullptr || publishes_to_kafka(read)) {
    findings.add(
        root.at, "kafka", "is missing",
        std::string{with_topics != nullptr ? "streams with topics need" : "what is published needs"} +
            " kafka: {brokers: [localhost:9092], group: NAME}");
  }
}

}  // namespace ratchet
