// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/sections.hpp"
#include "decode/envelope_preset.hpp"
#include "text/config_words.hpp"

namespace ratchet {

namespace {

constexpr known_key k_envelope_keys[] = {
    {"format"}, {"event_id"}, {"aggregate"}, {"sequence"}, {"epoch"},       {"previous"}, {"type"},
    {"time"},   {"key"},      {"delete"},    {"position"}, {"unavailable"}, {"each"}};
constexpr known_key k_delete_keys[] = {{"types"}, {"field"}, {"is"}};
constexpr known_key k_time_keys[] = {{"from"}, {"unit"}};
constexpr known_key k_sequence_keys[] = {{"from"}, {"as"}, {"bits"}, {"base"}, {"first"}};
constexpr std::string_view k_sequence_words[] = {"integer", "decimal", "time",   "lsn",
                                                 "hlc",     "ulid",    "uuidv7", "text"};

/// Reads the fields of one format.
class envelope_reader {
 public:
  envelope_reader(const config_map& map, order by, envelope_config& out) : map_{map}, order_{by}, out_{out} {}

  void field(std::string_view key, std::string& out) const { read(map_, key, out); }

  /// A source, or a list of them.
  void parts(std::string_view key, std::string& first, std::vector<std::string>& more) const {
    const auto value = map_.get(key);
    if (!value || value->node().kind != config_node::kind_of::list) return field(key, first);
    std::vector<std::string> all;
    for (const config_value& item : value->list("sources")) {
      std::string source;
      if (!item.text(source)) continue;
      if (source.empty()) item.error("is empty", "each is a source as in [/tenant, /order]");
      all.push_back(std::move(source));
    }
    if (value->node().items.empty()) return value->error("names no source", "as in [/tenant, /order]");
    if (all.empty()) return;
    first = std::move(all.front());
    more.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
  }

  void key() const {
    const auto value = map_.get("key");
    const int at = value ? value->word(k_key_words) : -1;
    if (at >= 0) out_.key = static_cast<key_kind>(at);
  }

  void deletes() const {
    const auto value = map_.get("delete");
    if (!value) return;
    const config_map map{*value, k_delete_keys};
    if (!map.valid()) return;
    if (const auto types = map.get("types")) read_types(*types, out_.deletes.types);
    if (const auto source = map.get("field"); source && source->text(out_.deletes.field)) {
      if (out_.deletes.field.empty()) source->error("is empty", "as in /__deleted");
    }
    if (const auto is = map.get("is")) {
      read_is(*is);
      if (!map.has("field")) is->error("needs `field`", "as in {field: /__deleted, is: \"true\"}");
    }
    if (!map.has("types") && !map.has("field")) {
      value->error("names neither `types` nor `field`",
                   "as in {types: [customer.deleted]} or {field: /__deleted, is: \"true\"}");
    }
  }

  void sequence() const {
    if (const auto map =
            field_with_more("sequence", out_.sequence, k_sequence_keys, "{from: /seq, as: time}")) {
      const auto as = map->get("as");
      const int at = as ? as->word(k_sequence_words) : -1;
      if (at >= 0) out_.sequence_as = static_cast<sequence_kind>(at + 1);
      const bool is_digits = at < 0 || out_.sequence_as == sequence_kind::integer;
      if (at < 0 && (map->has("bits") || map->has("base"))) out_.sequence_as = sequence_kind::integer;
      for (const char* key : {"bits", "base"}) {
        const auto value = is_digits ? std::nullopt : map->get(key);
        if (value) value->error("belongs to as: integer", "leave it out");
      }
      // Any number that fits; in strict order the upper half would be an epoch, which has to be spoken of.
      const bool is_any = at >= 0 && is_digits && order_ == order::latest && !map_.get("epoch");
      if (is_any) out_.sequence_bits = 128;
      if (const auto bits = is_digits ? map->get("bits") : std::nullopt) {
        out_.sequence_bits = 64;
        read_one_of(*bits, {64, 128}, out_.sequence_bits);
      }
      if (const auto base = is_digits ? map->get("base") : std::nullopt)
        read_one_of(*base, {10, 16}, out_.sequence_base);
      read(*map, "first", out_.sequence_first);
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
    constexpr std::string_view k_names[] = {"log", "partition"};
    if (const int at = value->word(k_names); at >= 0) out_.position = static_cast<change_order>(at);
  }

  void unavailable() const {
    const auto value = map_.get("unavailable");
    if (!value) return;
    if (out_.format != envelope_format::debezium_cdc) return of_debezium(*value);
    if (!value->text(out_.unavailable)) return;
    if (out_.unavailable.empty()) value->error("is empty", "set off if no column is ever unavailable");
    if (out_.unavailable == "off") out_.unavailable.clear();
  }

  void each() const {
    const auto value = map_.get("each");
    if (!value) return;
    if (out_.format == envelope_format::cloudevents)
      return value->error("is given by format: cloudevents",
                          "leave it out: a batch of this format is several events");
    if (out_.format != envelope_format::json)
      return value->error(std::string{"does not go with format: "} + name_of(out_.format), "leave it out");
    std::string word;
    if (!value->text(word)) return;
    const bool is_pointer = word.starts_with('/');
    if (is_pointer || word == "array") {
      out_.each = {each_kind::array, is_pointer ? word : std::string{}};
    } else if (word == "lines") {
      out_.each = {each_kind::lines, {}};
    } else {
      value->error("`" + word + "` is not allowed here",
                   "a pointer to an array as in /records; array if the value is one; or lines for NDJSON");
    }
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
  /// A word, or a list of them.
  void read_is(const config_value& value) const {
    if (value.node().kind != config_node::kind_of::list) {
      if (!value.text(out_.deletes.is.emplace_back())) out_.deletes.is.pop_back();
      return;
    }
    for (const config_value& item : value.list("values")) {
      if (!item.text(out_.deletes.is.emplace_back())) out_.deletes.is.pop_back();
    }
    if (value.node().items.empty()) value.error("names no value", "leave it out if any value deletes");
  }
  static void read_one_of(const config_value& value, std::pair<int, int> known, int& out) {
    const auto low = static_cast<std::uint64_t>(known.first);
    const auto high = static_cast<std::uint64_t>(known.second);
    std::uint64_t number = low;
    if (!value.number(number, low, high)) return;
    if (number == low || number == high) {
      out = static_cast<int>(number);
    } else {
      value.error(value.node().text + " is not allowed here",
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
    if (out.empty()) value->error("is empty", "leave it out if events have no such field");
  }

  const config_map& map_;
  order order_;
  envelope_config& out_;
};

}  // namespace

void read_envelope(const config_value& value, order by, envelope_config& out) {
  const config_map map{value, k_envelope_keys};
  if (!map.valid()) return;
  if (const auto format = map.get("format")) {
    constexpr std::string_view k_names[] = {"json", "cloudevents", "debezium-outbox", "debezium-cdc",
                                            "ydb-changefeed"};
    const int at = format->word(k_names);
    if (at < 0) return;  // what the other keys mean depends on it
    out.format = static_cast<envelope_format>(at);
  }
  const envelope_reader read{map, by, out};
  if (has_log_positions(out.format)) {
    for (const known_key& key : k_envelope_keys) {
      const bool is_read = key.name == "format" || key.name == "position" || key.name == "unavailable";
      if (!is_read && key.name != "each") read.fixed(key.name);
    }
    read.each();
    read.position();
    read.unavailable();
    out = with_defaults(out);
    return;
  }
  read.position();
  read.unavailable();
  read.each();
  const bool cloudevents = out.format == envelope_format::cloudevents;
  // One that is written has it, also where a stream of transactions could do without.
  if (out.format == envelope_format::json) {
    (void)map.require("aggregate",
                      "set where the aggregate's id comes from, as in aggregate: /payment/id or key");
  }
  cloudevents ? read.fixed("event_id") : read.parts("event_id", out.event_id, out.event_id_more);
  read.parts("aggregate", out.aggregate, out.aggregate_more);
  read.sequence();
  read.field("epoch", out.epoch);
  read.field("previous", out.previous);
  // A topic read as a table: the newest record of a key counts.
  const bool is_table = out.format == envelope_format::json && by == order::latest && out.aggregate == "key";
  if (is_table && !map.has("sequence")) out.sequence = "offset";
  cloudevents ? read.fixed("type") : read.field("type", out.type);
  cloudevents ? read.fixed("time") : read.time();
  read.key();
  read.deletes();
  out = with_defaults(out);
}

}  // namespace ratchet
