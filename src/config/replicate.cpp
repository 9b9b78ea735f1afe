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
    {"base"},
};
constexpr known_key k_base_keys[] = {
    {"at_least"}, {"every"}, {"rate"}, {"log", "leave it out; it is twice the base"}};
/// As the log's fences have it.
constexpr std::size_t k_longest_name = 255;

void read_name(const config_value& value, std::string& out) {
  if (value.text(out) && (out.empty() || out.size() > k_longest_name))
    value.error("has " + std::to_string(out.size()) + " bytes", "1 to 255 bytes");
}

void read_base(const config_value& value, base_config& out) {
  const config_map map{value, k_base_keys};
  if (!map.valid()) return;
  if (const auto least = map.get("at_least")) (void)least->size(out.at_least);
  if (const auto every = map.get("every")) (void)every->duration(out.every);
  if (const auto rate = map.get("rate"); rate && rate->size(out.rate) && out.rate == 0)
    rate->error("is 0", "bytes a second, as in 50MiB");
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
  if (const auto base = map.get("base")) read_base(*base, made.base);
}

}  // namespace ratchet
