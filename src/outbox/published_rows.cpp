// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/published_rows.hpp"

#include <string>
#include <utility>

#include "core/utf8.hpp"
#include "decode/event_id_text.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"
#include "outbox/output_id.hpp"
#include "text/json_writer.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

constexpr const char* k_json = "application/json";

/// A type is required of a CloudEvent, and events need not have one.
std::string type_of(const owned_output& o, const published_outputs& by, std::string_view stream) {
  if (!o.type.empty()) return o.type;
  return by.type.empty() ? "ratchet." + std::string{stream} : by.type;
}

/// Tells the messages of one event apart; and those of two events with one id, of which a stream with
/// sequences lets both through where they wait. In arrival order numbers depend on the arrival. And those of
/// two lives of a forgotten aggregate: by the time of the record, which the id has, or else by its place.
std::string purpose_of(const output_origin& from, const published_outputs& by, std::size_t place) {
  std::string text = "output/" + std::to_string(place);
  if (by.id && from.gate.order != order::arrival) text += "@" + to_decimal(by.sequence);
  if (from.forgets && !by.id && !by.record_time) text += " of " + to_string(by.where, {by.offset, by.index});
  return text;
}

/// What the message is about: who is next takes it for the aggregate.
std::string_view subject_of(const output_row& row) {
  return row.key && !row.key->empty() && is_utf8(*row.key) ? std::string_view{*row.key}
                                                           : std::string_view{row.aggregate};
}

}  // namespace

void add_published(const output_origin& from, const step_plan& plan,
                   std::vector<published_outputs>&& published, std::vector<output_row>& rows) {
  const std::string source = "/ratchet/" + std::string{from.group} + "/" + std::string{from.stream};
  for (published_outputs& by : published) {
    for (std::size_t i = 0; i < by.outputs.size(); ++i) {
      const std::string purpose = purpose_of(from, by, i);
      owned_output& o = by.outputs[i];
      output_row& row = rows.emplace_back();
      row.kind = output_kind::published;
      row.stream = from.id;
      row.aggregate = std::string{plan.aggregates[by.aggregate]};
      row.id = output_id({.group = from.group,
                          .stream = from.stream,
                          .aggregate = row.aggregate,
                          .id = by.id,
                          .id_has_time = from.ids_have_time,
                          .sequence = from.gate.ties_by_offset ? std::nullopt : std::optional{by.sequence},
                          .where = &by.where,
                          .offset = by.offset,
                          .index = by.index,
                          .time = by.record_time,
                          .purpose = purpose});
      row.time = by.record_time;
      row.type = type_of(o, by, from.stream);
      row.source = source;
      row.content_type = o.content_type == k_json ? std::string{} : std::move(o.content_type);
      row.topic = std::move(o.topic);
      row.key = std::move(o.key);
      row.value = std::move(o.payload);
    }
  }
}

void write_event_headers(const output_row& row, output_headers& out) {
  std::size_t count = 0;
  const auto add = [&](const char* name, std::string_view value) {
    if (count == out.size()) out.emplace_back(name, std::string{});
    out[count].first.assign(name);
    if (!out[count].second) out[count].second.emplace();
    out[count++].second->assign(value);
  };
  add("ce_specversion", "1.0");
  add("ce_id", to_text(row.id));
  add("ce_source", row.source);
  add("ce_type", row.type);
  add("ce_subject", subject_of(row));
  if (row.time) add("ce_time", to_rfc3339(*row.time));
  add("ce_sequence", to_decimal(row.sequence));
  add("content-type", row.content_type.empty() ? std::string_view{k_json} : row.content_type);
  out.resize(count);
}

}  // namespace ratchet
