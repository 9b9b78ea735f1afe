// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "config/tree.hpp"

namespace ratchet {

namespace {

using kind_of = config_node::kind_of;

constexpr std::string_view k_properties = "kafka.properties.";

/// One walk from the root along the path of an override.
class override_walk {
 public:
  override_walk(config_node& root, config_place at, std::string_view path, std::vector<diagnostic>& findings)
      : node_{&root}, at_{std::move(at)}, path_{path}, rest_{path}, findings_{findings} {}

  /// The node that the path names, made where it was missing; nullptr where the path leads nowhere.
  config_node* run() {
    if (rest_.starts_with('.') || rest_.ends_with('.') || rest_.find("..") != std::string_view::npos) {
      return fail("has an empty part", "as in --set streams[0].start=latest");
    }
    // The names of librdkafka's properties have dots of their own.
    if (rest_.starts_with(k_properties)) return descend("kafka") ? properties() : nullptr;
    while (!rest_.empty()) {
      if (!step()) return nullptr;
    }
    return node_;
  }

 private:
  config_node* fail(std::string message, std::string hint = {}) {
    findings_.push_back(finding_at(at_, std::string{path_}, std::move(message), std::move(hint)));
    return nullptr;
  }
  config_node* properties() {
    if (!descend("properties")) return nullptr;
    return descend(path_.substr(k_properties.size())) ? node_ : nullptr;
  }
  bool step() {
    if (rest_.front() == '[') return index();
    if (node_->kind == kind_of::list) return by_name();
    const std::size_t end = std::min(rest_.find_first_of(".["), rest_.size());
    const std::string_view key = rest_.substr(0, end);
    rest_.remove_prefix(end);
    pass_dot();
    return descend(key);
  }
  void pass_dot() {
    if (rest_.starts_with('.')) rest_.remove_prefix(1);
  }
  bool index() {
    const std::size_t end = rest_.find(']');
    std::size_t at = 0;
    const bool closed = end != std::string_view::npos;
    const auto [last, error] =
        std::from_chars(rest_.data() + 1, rest_.data() + (closed ? end : rest_.size()), at);
    if (!closed || error != std::errc{} || last != rest_.data() + end) {
      return fail("has an invalid index", "as in streams[0]") != nullptr;
    }
    if (node_->kind != kind_of::list || at >= node_->items.size()) {
      return fail("there is no " + std::string{rest_.substr(0, end + 1)} + " there",
                  "indexes start at 0; a list as a whole is set as in --set 'streams[0].topics=[a, b]'") !=
             nullptr;
    }
    node_ = &node_->items[at];
    rest_.remove_prefix(end + 1);
    if (!rest_.empty() && rest_.front() != '.' && rest_.front() != '[') {
      return fail("needs a dot after ]", "as in streams[0].order") != nullptr;
    }
    pass_dot();
    return true;
  }
  /// Goes on in the list's item whose `name` the rest of the path begins with; the longest name wins, as
  /// names may have dots.
  bool by_name() {
    config_node* best = nullptr;
    std::size_t length = 0;
    std::string names;
    for (config_node& item : node_->items) {
      const config_node* name = item.find("name");
      if (name == nullptr || name->text.empty()) continue;
      names += (names.empty() ? "" : ", ") + name->text;
      if (!rest_.starts_with(name->text) || name->text.size() < length) continue;
      if (rest_.size() > name->text.size() && rest_[name->text.size()] != '.') continue;
      best = &item;
      length = name->text.size();
    }
    if (best == nullptr) {
      const std::string_view wanted = rest_.substr(0, rest_.find('.'));
      return fail("there is no item named " + std::string{wanted},
                  names.empty() ? std::string{} : "there is " + names) != nullptr;
    }
    node_ = best;
    rest_.remove_prefix(length);
    pass_dot();
    return true;
  }
  bool descend(std::string_view key) {
    if (node_->kind == kind_of::null) {
      node_->kind = kind_of::map;
      node_->at = at_;
    }
    if (node_->kind != kind_of::map) {
      return fail("there is no map above " + std::string{key}, "set the whole value instead") != nullptr;
    }
    if (config_node* found = node_->find(key)) {
      node_ = found;
      return true;
    }
    config_node name;
    name.kind = kind_of::scalar;
    name.text = key;
    name.plain = true;
    name.at = at_;
    config_node value;
    value.at = at_;
    node_->keys.push_back(std::move(name));
    node_->items.push_back(std::move(value));
    node_ = &node_->items.back();
    return true;
  }

  config_node* node_;
  config_place at_;
  std::string_view path_;
  std::string_view rest_;
  std::vector<diagnostic>& findings_;
};

void move_to(config_node& node, const config_place& at) {
  node.at = at;
  for (config_node& key : node.keys) move_to(key, at);
  for (config_node& item : node.items) move_to(item, at);
}

/// A list, a map or a quoted text is read as YAML; anything else is taken as it stands.
config_node value_of(const std::string& text, const config_place& at, const std::string& path,
                     std::vector<diagnostic>& findings) {
  config_node node;
  if (!text.empty() && std::string_view{"[{\"'"}.find(text.front()) != std::string_view::npos) {
    std::vector<diagnostic> inner;
    node = parse_tree(text, {}, inner);
    // Only the message is taken over: the place is that of the command line.
    for (diagnostic& d : inner) findings.push_back(finding_at(at, path, std::move(d.message), d.hint));
    if (!inner.empty()) node.kind = kind_of::refused;
  } else if (!text.empty()) {
    node.kind = kind_of::scalar;
    node.text = text;
    node.plain = true;
  }
  move_to(node, at);
  return node;
}

/// Splits "path=value"; `option` is "--set" or "-X".
void apply_one(config_node& root, const std::string& option, const std::string& prefix,
               const std::string& argument, std::vector<diagnostic>& findings) {
  const std::size_t equals = argument.find('=');
  const std::string key = argument.substr(0, equals);
  const config_place at{std::make_shared<const std::string>(option + " " + key), 0, 0};
  if (equals == std::string::npos || key.empty()) {
    findings.push_back(finding_at({std::make_shared<const std::string>(option), 0, 0}, {},
                                  "must be KEY=VALUE"));  // not shown: it may be a secret
    return;
  }
  const std::string path = prefix + key;
  const std::string text = argument.substr(equals + 1);
  override_walk walk{root, at, path, findings};
  config_node* target = walk.run();
  if (target == nullptr) return;
  if (!prefix.empty()) {  // a property is text, whatever it looks like
    *target =
        config_node{.kind = kind_of::scalar, .text = text, .plain = false, .at = at, .keys = {}, .items = {}};
    return;
  }
  *target = value_of(text, at, path, findings);
}

}  // namespace

void apply_overrides(config_node& root, const config_overrides& overrides,
                     std::vector<diagnostic>& findings) {
  if (root.kind != kind_of::map) return;  // reported by the schema
  for (const std::string& argument : overrides.set) apply_one(root, "--set", {}, argument, findings);
  for (const std::string& argument : overrides.kafka_properties) {
    if (root.find("kafka") == nullptr) {
      findings.push_back(finding_at({std::make_shared<const std::string>("-X"), 0, 0}, "kafka",
                                    "the config has no kafka section for the property"));
      return;
    }
    apply_one(root, "-X", std::string{k_properties}, argument, findings);
  }
}

}  // namespace ratchet
