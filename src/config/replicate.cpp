// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <string>

#include "config/sections.hpp"

namespace ratchet {

namespace {

constexpr known_key k_keys[] = {
    {"topic"},
    {"instance"},
    {"advertise"},
    {"compression"},
    {"slots", "leave it out; one instance owns the whole state"},
    {"standbys", "leave it out; each instance follows the whole log"},
    {"base", "leave it out; the whole log is kept"},
};
/// As the log's fences have it.
constexpr std::size_t k_longest_name = 255;

void read_name(const config_value& value, std::string& out) {
  if (value.text(out) && (out.empty() || out.size() > k_longest_name))
    value.error("has " + std::to_string(out.size()) + " bytes", "1 to 255 bytes");
}

}  // namespace

void read_replicate(const config_value& value, std::optional<replicate_config>& out) {
  const config_map map{value, k_keys};
  if (!map.valid()) return;
  replicate_config& made = out.emplace();
  if (const auto topic = map.require("topic", "a topic for the log alone, as in payments.ratchet"))
    (void)read_topic(*topic, made.topic);
  if (const auto instance = map.require("instance", "another name on each machine, as in ratchet-0"))
    read_name(*instance, made.instance);
  if (const auto advertise = map.get("advertise")) read_name(*advertise, made.advertise);
  if (const auto compression = map.get("compression")) {
    constexpr std::string_view k_words[] = {"lz4", "zstd", "none"};
    if (const int at = compression->word(k_words); at >= 0)
      made.compression = k_words[static_cast<std::size_t>(at)];
  }
}

}  // namespace ratchet
