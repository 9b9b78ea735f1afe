// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

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
    {"digest"},
};
constexpr known_key k_base_keys[] = {
    {"at_least"}, {"every"}, {"rate"}, {"log", "leave it out; it is twice the base"}};
constexpr known_key k_digest_keys[] = {{"every"}, {"bytes"}};
/// As the log's fences have it.
constexpr std::size_t k_longest_topic_name = 255;

void read_name(const config_value& value, std::string& out) {
  if (value.text(out) && (out.empty() || out.size() > k_longest_topic_name))
    value.error("has " + std::to_string(out.size()) + " bytes", "1 to 255 bytes");
}

void read_size(const config_map& map, std::string_view key, std::uint64_t& out) {
  constexpr std::uint64_t k_least = std::uint64_t{1} << 20U;
  std::uint64_t value = 0;
  const auto given = map.get(key);
  if (!given || !given->size(value)) return;
  if (value < k_least) return given->error("is too small", "1MiB or more");
  out = value;
}

void read_interval(const config_map& map, std::chrono::milliseconds& out) {
  constexpr std::chrono::seconds k_least{1};
  std::chrono::milliseconds often{};
  const auto every = map.get("every");
  if (!every || !every->duration(often)) return;
  if (often < k_least) return every->error("is too short", "1s or more");
  out = often;
}

void read_base(const config_value& value, base_config& out) {
  const config_map map{value, k_base_keys};
  if (!map.valid()) return;
  read_size(map, "at_least", out.at_least);
  read_size(map, "rate", out.rate);
  read_interval(map, out.every);
}

void read_digest(const config_value& value, digest_config& out) {
  const config_map map{value, k_digest_keys};
  if (!map.valid()) return;
  read_size(map, "bytes", out.bytes);
  read_interval(map, out.every);
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
  if (const auto digest = map.get("digest")) read_digest(*digest, made.digest);
}

}  // namespace ratchet
