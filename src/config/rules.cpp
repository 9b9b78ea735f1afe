// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>

#include "config/schema.hpp"
#include "config/sections.hpp"
#include "core/output.hpp"
#include "streams/config_rules.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet {

namespace {

/// A value's place in a file. Where it is missing, it is that of the nearest map around it.
struct written {
  std::string path;  ///< as the file has it
  const config_node* at;
  bool is_there{true};

  void enter_key(std::string key, const config_node& root) {
    const bool is_of_all = key == "dead_letter" || key == "rejections";
    if (is_there && is_of_all && at->find(key) == nullptr && root.find(key) != nullptr) *this = {{}, &root};
    if (is_there && key == "topic" && at->find("sink") != nullptr) key = "sink";
    path += (path.empty() ? "" : ".") + key;
    go_to(is_there ? at->find(key) : nullptr);
  }
  /// One item may stand by itself, without a list around it.
  void enter_item(std::string_view index) {
    if (is_there && at->kind == config_node::kind_of::map) return;
    path += "[" + std::string{index} + "]";
    std::size_t i = 0;
    std::from_chars(index.data(), index.data() + index.size(), i);
    go_to(is_there && i < at->items.size() ? &at->items[i] : nullptr);
  }

 private:
  void go_to(const config_node* next) {
    is_there = next != nullptr;
    if (is_there) at = next;
  }
};

[[nodiscard]] written where_written(const config_node& root, const std::string& path) {
  written found{{}, &root};
  if (path == "step.records" && root.find("step") == nullptr) {  // it may stand under any stream
    const auto& streams = root.find("streams")->items;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].find("step") != nullptr)
        return where_written(root, "streams[" + std::to_string(i) + "]." + path);
    }
  }
  std::string_view rest = path;
  while (!rest.empty()) {
    const bool is_item = rest.front() == '[';
    const std::size_t end = std::min(is_item ? rest.find(']') : rest.find_first_of(".["), rest.size());
    is_item ? found.enter_item(rest.substr(1, end - 1))
            : found.enter_key(std::string{rest.substr(0, end)}, root);
    rest.remove_prefix(std::min(is_item ? end + 1 : end, rest.size()));
    if (rest.starts_with('.')) rest.remove_prefix(1);
  }
  // As in sequence: {from: /seq, bits: 128}.
  const bool is_field = path.find("].envelope.") != std::string::npos;
  if (is_field && found.is_there && found.at->find("from") != nullptr) found.enter_key("from", root);
  return found;
}

/// The rules of values, at their places; but those whose values could not be read.
void check_values(const config_node& root, const config& read, config_findings& findings) {
  for (config_finding& f : check_config(read)) {
    const written place = where_written(root, f.path);
    const bool is_known = findings.usable(place.path) &&
                          std::all_of(f.judged_by.begin(), f.judged_by.end(), [&](const std::string& path) {
                            return findings.usable(where_written(root, path).path);
                          });
    if (is_known) findings.add(place.at->at, place.path, std::move(f.message), std::move(f.hint));
  }
}

/// The rules of what is written, of one stream. They are those of a file alone: a struct's field always has a
/// value, so that of a program's config nobody can tell whether it says something or leaves it out. What
/// would do nothing does none there, `start` is the beginning, another epoch is parked, and without a
/// reducer's name any reducer will do.
class written_rules {
 public:
  written_rules(const config_node& node, std::string path, const stream_config& stream,
                config_findings& findings)
      : node_{node}, path_{std::move(path)}, stream_{stream}, findings_{findings} {}

  void run() const {
    if (!stream_.topics.empty() && !has("start") && usable("start")) {
      add("start", "is missing", "set where a partition without a stored offset begins: earliest or latest");
    }
    if (usable("order") && stream_.order != order::strict) refuse_strict_keys();
    if (usable("order") && stream_.order == order::strict) check_strict();
    if (!has("envelope") && usable("envelope")) check_transactions_alone();
    if (has("waiting.per_aggregate") && has("waiting.events") && usable("waiting") &&
        stream_.waiting.per_aggregate > stream_.waiting.events) {
      add("waiting.per_aggregate", "is never reached", "it is above waiting.events, where the stream stops");
    }
    if (usable("reducer.kind")) check_own();
  }

 private:
  /// They would do nothing, and whoever wrote them believes that they do.
  void refuse_strict_keys() const {
    for (const char* key : {"first", "epoch_change", "gap"}) {
      if (!has(key)) continue;
      add(key, std::string{"does nothing with order: "} + name_of(stream_.order),
          "it belongs to order: strict; leave it out");
    }
  }
  void check_strict() const {
    constexpr int k_one_half = 64;  // bits of a sequence
    if (stream_.envelope.sequence_bits > k_one_half && usable("envelope.sequence") && !has("epoch_change") &&
        usable("epoch_change")) {
      add("epoch_change", "is missing",
          "the upper half of a 128-bit sequence is its epoch, and after a lower half of 2^64-1 only another "
          "epoch can come: set park or accept");
    }
    if (has("gap.timeout") && usable("gap") && stream_.gap.policy == gap_policy::wait) {
      add("gap.timeout", "does nothing with policy: wait",
          "with this policy events wait without a limit; leave it out, or set policy: skip or stop");
    }
  }
  void check_transactions_alone() const {
    for (const char* key : {"reducer", "poison", "retry", "waiting", "rejected", "rejections", "dead_letter",
                            "start", "handling", "types", "ignore"}) {
      if (has(key)) {
        add(key, "does nothing in a stream without topics and envelope",
            "only transactions feed it, and they are not events: leave it out");
      }
    }
  }
  void check_own() const {
    const bool own = stream_.reducer.kind == reducer_config::kind_of::own;
    if (own && !has("reducer.name") && usable("reducer.name")) {
      add("reducer.name", "is missing",
          "as in {kind: own, name: payment_state, version: 1}: the values of the reducer_traits of the "
          "program");
    }
    if (!own && has("reducer.version")) {
      add("reducer.version", "belongs to kind: own",
          "leave it out, or set kind: own if a program has the reducer of this name");
    }
  }

  [[nodiscard]] bool has(const std::string& relative) const {
    return where_written(node_, relative).is_there;
  }
  /// No finding speaks of the value, so that a rule may judge it.
  [[nodiscard]] bool usable(const std::string& relative) const {
    return findings_.usable(path_ + "." + relative);
  }
  void add(const std::string& relative, std::string message, std::string hint) const {
    findings_.add(where_written(node_, relative).at->at, path_ + "." + relative, std::move(message),
                  std::move(hint));
  }

  const config_node& node_;
  std::string path_;
  const stream_config& stream_;
  config_findings& findings_;
};

/// A program may be without: what is read of files, and tests, need no brokers.
void check_kafka(const config_node& root, const config& read, config_findings& findings) {
  if (root.find("kafka") != nullptr || findings.guessed("kafka")) return;
  const auto publishes = [](const stream_config& s) {
    const std::vector<std::string> to = topics_published_to(s);
    return !s.dead_letter.empty() || !s.rejections.empty() ||
           std::any_of(to.begin(), to.end(), [](const auto& t) { return !t.starts_with(k_sink_prefix); });
  };
  const bool reads = std::any_of(read.streams.begin(), read.streams.end(),
                                 [](const stream_config& s) { return !s.topics.empty(); });
  if (!reads && std::none_of(read.streams.begin(), read.streams.end(), publishes)) return;
  findings.add(root.at, "kafka", "is missing",
               std::string{reads ? "streams with topics need" : "published messages need"} +
                   " kafka: {brokers: [localhost:9092], group: NAME}");
}

}  // namespace

void check_rules(const config_node& root, const config& read, config_findings& findings) {
  check_values(root, read, findings);
  warn_of_unused_sinks(root, read, findings);
  for (std::size_t i = 0; i < read.streams.size(); ++i) {
    const config_node& node = root.find("streams")->items[i];
    if (node.kind != config_node::kind_of::map) continue;
    written_rules{node, "streams[" + std::to_string(i) + "]", read.streams[i], findings}.run();
  }
  check_kafka(root, read, findings);
}

}  // namespace ratchet
