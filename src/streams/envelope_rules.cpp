// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/envelope_rules.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/envelope_preset.hpp"
#include "decode/event_types.hpp"
#include "decode/field_source.hpp"
#include "decode/sequence_kinds.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

/// Where fields come from: the key of each in the config, and what it says. Empty texts: nowhere.
using sources = std::vector<std::pair<std::string, std::string_view>>;

[[nodiscard]] sources of_fields(const envelope_config& e) {
  return {{"envelope.event_id", e.event_id}, {"envelope.aggregate", e.aggregate},
          {"envelope.sequence", e.sequence}, {"envelope.epoch", e.epoch},
          {"envelope.type", e.type},         {"envelope.time", e.time},
          {"envelope.previous", e.previous}, {"envelope.sequence.first", e.sequence_first}};
}

/// Of fields that several make up together those behind the first; and of what deletes.
[[nodiscard]] sources of_more_fields(const envelope_config& e) {
  sources out;
  const auto add = [&out](const char* key, const std::vector<std::string>& more) {
    for (std::size_t i = 0; i < more.size(); ++i) out.emplace_back(item_of(key, i + 1), more[i]);
  };
  add("envelope.event_id", e.event_id_more);
  add("envelope.aggregate", e.aggregate_more);
  out.emplace_back("envelope.delete.field", e.deletes.field);
  return out;
}

/// What is wrong with a field's source in the envelope; nullptr where nothing is.
const char* fault_of_source(const envelope_config& e, std::string_view text) {
  const bool has_outside = e.each.kind == each_kind::array && !e.each.pointer.empty();
  if (text.starts_with(k_record_source) && !has_outside)
    return "record:/pointer goes with each: /pointer, and leads to a field beside that list";
  if (e.format != envelope_format::cloudevents) {
    return text.starts_with("attribute:") ? "attribute:NAME belongs to format: cloudevents"
                                          : fault_of_field_source(text);
  }
  if (is_field_source(e.format, text)) return nullptr;
  return "with format: cloudevents it is attribute:NAME (of a-z and 0-9), key or header:NAME";
}

void check_sources(const envelope_config& e, const sources& all, stream_findings& found) {
  for (const auto& [key, source] : all) {
    const bool is_known = source.empty() || (key == "envelope.sequence" && is_of_record(source));
    const char* fault = is_known ? nullptr : fault_of_source(e, source);
    if (fault != nullptr) found.add(key, "is not a source of a field", fault);
  }
}

void check_each(const envelope_config& e, stream_findings& found) {
  const each_config& each = e.each;
  if (each.kind != each_kind::none && e.format != envelope_format::json) {
    found.add("envelope.each", std::string{"does not go with format: "} + name_of(e.format), "leave it out",
              {"envelope.format"});
  }
  const bool is_array = each.kind == each_kind::array;
  const char* fault = each.pointer.empty() ? nullptr : fault_of_pointer(each.pointer);
  if (fault != nullptr) found.add("envelope.each", "is not a JSON Pointer", fault);
  if (!is_array && !each.pointer.empty())
    found.add("envelope.each", "has a pointer, but is not an array", "a pointer leads to an array");
}

/// Who speaks of types must have them.
void check_types(const stream_config& stream, const envelope_config& e, stream_findings& found) {
  if (has_log_positions(e.format)) {
    if (!stream.types.empty() || !stream.ignore.empty() || stream.ignore_tombstones ||
        !stream.ignore_having.empty()) {
      found.add(stream.types.empty() ? "ignore" : "types",
                std::string{"does not go with format: "} + name_of(e.format),
                "the format itself marks records to ignore: leave it out", {"envelope.format"});
    }
    return;
  }
  if (!e.type.empty()) return;
  const std::pair<const char*, bool> speakers[] = {{"types", !stream.types.empty()},
                                                   {"ignore", !stream.ignore.empty()},
                                                   {"envelope.delete.types", !e.deletes.types.empty()}};
  for (const auto& [key, speaks] : speakers) {
    if (speaks)
      found.add("envelope.type", "is missing", std::string{key} + " uses the type of events", {key});
  }
}

}  // namespace

void check_fields(const stream_config& stream, const envelope_config& e, stream_findings& found) {
  check_sources(e, of_fields(e), found);
  check_each(e, found);
  check_sources(e, of_more_fields(e), found);
  check_sources(e, {{"ignore.has", stream.ignore_having}}, found);
  if (!e.event_id_more.empty() && stream.dedup.ids != id_kind::opaque && stream.dedup.ids != id_kind::none) {
    found.add("envelope.event_id", "of several fields needs dedup: {ids: opaque}",
              "several fields are joined as text; a single field may be of another kind", {"dedup"});
  }
  check_types(stream, e, found);
  if (e.aggregate.empty()) {
    found.add("envelope.aggregate", "is missing",
              "set where the aggregate's id comes from, as in aggregate: /payment/id or key",
              {"order", "topics"});
  }
  if (!e.epoch.empty() && e.sequence_bits > k_one_half) {
    found.add("envelope.epoch", "does not go with a sequence of 128 bits",
              "its upper half is the epoch already");
  }
}

void check_key(const envelope_config& e, stream_findings& found) {
  if (e.key == key_kind::automatic || has_log_positions(e.format)) return;
  if (e.format == envelope_format::debezium_outbox && (e.key == key_kind::text || e.key == key_kind::json)) {
    return found.add("envelope.key", std::string{"does not go with format: "} + name_of(e.format),
                     "quotes and a schema around a key are taken off there: leave it out",
                     {"envelope.format"});
  }
  const auto is_read = [](const sources& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& field) { return field.second == "key"; });
  };
  if (is_read(of_fields(e)) || is_read(of_more_fields(e))) return;
  found.add("envelope.key", "does nothing: no field comes from the key",
            "take a field from it, as in aggregate: key; or leave it out");
}

void check_patterns(const stream_config& stream, const envelope_config& e, stream_findings& found) {
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"types", &stream.types}, {"ignore", &stream.ignore}, {"envelope.delete.types", &e.deletes.types}};
  for (const auto& [key, list] : lists) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::size_t star = (*list)[i].find('*');
      if (star != std::string::npos && star + 1 != (*list)[i].size()) {
        found.add(item_of(key, i), "has a * that is not its end",
                  "a * stands for any text at the end of a type, as in order.*; name the types one by one");
      }
    }
  }
  if (stream.types.empty()) return;
  const event_types handled{stream.types};
  const event_types ignored{stream.ignore};
  for (const std::string& type : e.deletes.types) {
    if (type.ends_with('*') || handled.contain(type)) continue;
    found.add("envelope.delete.types", "names " + type + ", which `types` leaves out",
              "add it to `types`: what is not among them is ignored", {"types"});
  }
  const bool all_ignored = std::all_of(stream.types.begin(), stream.types.end(), [&](const std::string& t) {
    return ignored.contain(t.ends_with('*') ? std::string_view{t}.substr(0, t.size() - 1)
                                            : std::string_view{t});
  });
  if (all_ignored) found.add("ignore", "takes all of `types`", "leave one of the two out", {"types"});
}

}  // namespace ratchet
