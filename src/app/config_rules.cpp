// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "app/config_schema.hpp"

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
    if (has("envelope") && usable("order") && usable("envelope.format")) {
      if (stream_.order == order::arrival) check_arrival();
      if (stream_.order == order::latest) check_latest();
    }
    check_epoch();
  }

 private:
  void check_arrival() const {
    if (usable("dedup") && stream_.dedup.ids == id_kind::none) {
      add("dedup", "cannot be off with order: arrival",
          "only event ids tell a repeat there: name their kind");
    }
    if (usable("envelope.event_id") && stream_.envelope.event_id.empty()) {
      add("envelope.event_id", "is missing", "order: arrival tells repeats by the event's id alone");
    }
  }
  void check_latest() const {
    if (usable("envelope.sequence") && stream_.envelope.sequence.empty()) {
      add("envelope.sequence", "is missing",
          "order: latest needs a sequence to tell newer from older; events without one take order: arrival");
    }
    if (usable("dedup") && usable("envelope.event_id") && stream_.dedup.ids != id_kind::none &&
        stream_.envelope.event_id.empty()) {
      add("envelope.event_id", "is missing", "map the event's id, or say dedup: off where events have none");
    }
    if (usable("reducer.kind") && stream_.reducer.kind == reducer_config::kind_of::merge_patch) {
      add("reducer.kind", "merge_patch does not go with order: latest",
          "latest discards older events, and with them their patches; use order: arrival or kind: replace");
    }
  }
  void check_epoch() const {
    constexpr int k_one_half = 64;
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

}  // namespace

void check_rules(const config_node& root, const config& read, config_findings& findings) {
  const config_node* streams = root.find("streams");
  if (streams == nullptr || streams->kind != config_node::kind_of::list) return;
  claims names{findings};
  claims topics{findings};
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
    stream_rules_check{node, path, read.streams[i], findings}.run();
  }
  if (with_topics != nullptr && root.find("kafka") == nullptr && !findings.guessed("kafka")) {
    findings.add(root.at, "kafka", "is missing",
                 "streams with topics need kafka: {brokers: [localhost:9092], group: NAME}");
  }
}

}  // namespace ratchet
