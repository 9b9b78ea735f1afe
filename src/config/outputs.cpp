// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "config/sections.hpp"
#include "core/output.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

constexpr known_key k_emit_keys[] = {{"types"}, {"topic"}, {"sink"}, {"key"}, {"payload"}, {"as"}};

void read_one(const config_value& value, emit_config& out) {
  const config_map map{value, k_emit_keys};
  if (!map.valid()) return;
  if (const auto types = map.get("types")) read_types(*types, out.types);
  if (const auto sink = map.get("sink")) {
    std::string name;
    if (sink->text(name)) out.topic = std::string{k_sink_prefix} + name;
    if (map.has("topic"))
      map.error_at("topic", "cannot be combined with `sink`", "a message goes to one of them");
  } else if (const auto topic = map.get("topic")) {
    (void)read_topic(*topic, out.topic);
  }
  if (const auto key = map.get("key")) (void)key->text(out.key);
  if (const auto payload = map.get("payload")) (void)payload->text(out.payload);
  if (const auto as = map.get("as"); as && as->text(out.as) && out.as.empty()) {
    as->error("is empty", "leave it out to use the event's own type");
  }
}

}  // namespace

void read_types(const config_value& value, std::vector<std::string>& out) {
  for (const config_value& item : value.list("types")) {
    std::string type;
    if (!item.text(type)) continue;
    if (type.empty()) item.error("is empty", "leave `types` out to publish every event");
    out.push_back(std::move(type));
  }
  const bool is_list = value.node().kind == config_node::kind_of::list;
  if (is_list && value.node().items.empty()) {
    value.error("names no type", "leave it out to publish every event");
  }
}

bool read_topic(const config_value& value, std::string& out) {
  if (!value.text(out)) return false;
  if (!is_topic_name(out)) value.error("is not a topic's name", "1 to 249 of a-z A-Z 0-9 . _ -");
  return true;
}

void read_topics(const config_value& value, std::vector<std::string>& out) {
  for (const config_value& item : value.list("topics")) {
    (void)read_topic(item, out.emplace_back());
  }
}

void read_emit(const config_value& value, std::vector<emit_config>& out) {
  if (value.node().kind != config_node::kind_of::list) return read_one(value, out.emplace_back());
  for (const config_value& item : value.list("messages to publish")) read_one(item, out.emplace_back());
}

}  // namespace ratchet
