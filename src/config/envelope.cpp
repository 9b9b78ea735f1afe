// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "config/sections.hpp"
#include "decode/envelope_preset.hpp"
#include "text/config_words.hpp"

namespace ratchet {

namespace {

constexpr known_key k_envelope_keys[] = {{"format"}, {"event_id"}, {"aggregate"}, {"sequence"},   {"epoch"},
                                         {"type"},   {"time"},     {"position"},  {"unavailable"}};
constexpr known_key k_time_keys[] = {{"from"}, {"unit"}};
constexpr known_key k_sequence_keys[] = {{"from"}, {"bits"}, {"base"}};

/// Reads the fields of one format.
class envelope_reader {
 public:
  envelope_reader(const config_map& map, envelope_config& out) : map_{map}, out_{out} {}

  void field(std::string_view key, std::string& out) const { read(map_, key, out); }

  void sequence() const {
    if (const auto map =
            field_with_more("sequence", out_.sequence, k_sequence_keys, "{from: /seq, bits: 128}")) {
      read_one_of(*map, "bits", {64, 128}, out_.sequence_bits);
      read_one_of(*map, "base", {10, 16}, out_.sequence_base);
    }
  }

  void time() const {
    const auto map = field_with_more("time", out_.time, k_time_keys, "{from: /created, unit: s}");
    const auto unit = map ? map->get("unit") : std::nullopt;
    const int at = unit ? unit->word(k_time_unit_words) : -1;
    if (at >= 0) out_.time_unit = static_cast<time_unit>(at);
  }

  void position() const {
    const auto value = map_.get("position");
    if (!value) return;
    if (out_.format != envelope_format::debezium_cdc) return of_debezium(*value);
    constexpr std::string_view k_words[] = {"log", "partition"};
    if (const int at = value->word(k_words); at >= 0) out_.position = static_cast<change_order>(at);
  }

  void unavailable() const {
    const auto value = map_.get("unavailable");
    if (!value) return;
    if (out_.format != envelope_format::debezium_cdc) return of_debezium(*value);
    if (!value->text(out_.unavailable)) return;
    if (out_.unavailable.empty()) value->error("is empty", "say off where no column is ever unavailable");
    if (out_.unavailable == "off") out_.unavailable.clear();
  }

  /// A field that the format knows by itself.
  void fixed(std::string_view key) const {
    if (const auto value = map_.get(key)) {
      value->error(std::string{"is given by format: "} + name_of(out_.format), "leave it out");
    }
  }

 private:
  static void of_debezium(const config_value& value) {
    value.error("belongs to format: debezium-cdc", "leave it out");
  }
  static void read_one_of(const config_map& map, std::string_view key, std::pair<int, int> known, int& out) {
    const auto value = map.get(key);
    const auto low = static_cast<std::uint64_t>(known.first);
    const auto high = static_cast<std::uint64_t>(known.second);
    std::uint64_t number = low;
    if (!value || !value->number(number, low, high)) return;
    if (number == low || number == high) {
      out = static_cast<int>(number);
    } else {
      value->error(value->node().text + " is not known here",
                   "it is " + std::to_string(low) + " or " + std::to_string(high));
    }
  }
  /// The map of a field that is given as one; none where it is a source alone, or not there.
  [[nodiscard]] std::optional<config_map> field_with_more(std::string_view key, std::string& source,
                                                          std::span<const known_key> keys,
                                                          const char* example) const {
    const auto value = map_.get(key);
    if (!value) return std::nullopt;
    if (value->node().kind != config_node::kind_of::map) {
      field(key, source);
      return std::nullopt;
    }
    const config_map map{*value, keys};
    if (map.require("from", std::string{"as in "} + example)) read(map, "from", source);
    return map;
  }
  void read(const config_map& map, std::string_view key, std::string& out) const {
    const auto value = map.get(key);
    if (!value || !value->text(out)) return;
    if (out.empty()) value->error("is empty", "leave it out where events have no such field");
  }

  const config_map& map_;
  envelope_config& out_;
};

}  // namespace

void read_envelope(const config_value& value, envelope_config& out) {
  const config_map map{value, k_envelope_keys};
  if (!map.valid()) return;
  if (const auto format = map.get("format")) {
    constexpr std::string_view k_words[] = {"json", "cloudevents", "debezium-outbox", "debezium-cdc",
                                            "ydb-changefeed"};
    const int at = format->word(k_words);
    if (at < 0) return;  // what the other keys mean depends on it
    out.format = static_cast<envelope_format>(at);
  }
  const envelope_reader read{map, out};
  if (has_log_positions(out.format)) {
    for (const known_key& key : k_envelope_keys) {
      if (key.name != "format" && key.name != "position" && key.name != "unavailable") read.fixed(key.name);
    }
    read.position();
    read.unavailable();
    out = with_defaults(out);
    return;
  }
  read.position();
  read.unavailable();
  const bool cloudevents = out.format == envelope_format::cloudevents;
  // One that is written has it, also where a stream of transactions could do without.
  if (out.format == envelope_format::json) {
    (void)map.require("aggregate",
                      "where the aggregate's id comes from, as in aggregate: /payment/id or key");
  }
  cloudevents ? read.fixed("event_id") : read.field("event_id", out.event_id);
  read.field("aggregate", out.aggregate);
  read.sequence();
  read.field("epoch", out.epoch);
  cloudevents ? read.fixed("type") : read.field("type", out.type);
  cloudevents ? read.fixed("time") : read.time();
  out = with_defaults(out);
}

}  // namespace ratchet
