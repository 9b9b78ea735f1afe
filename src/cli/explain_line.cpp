// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/explain_line.hpp"

#include <initializer_list>

#include "core/shown_id.hpp"
#include "core/shown_text.hpp"
#include "pipeline/pipeline.hpp"
#include "text/json_writer.hpp"
#include "text/partition_name.hpp"
#include "text/sequence_text.hpp"

namespace ratchet::cli {

namespace {

[[nodiscard]] std::string position_text(const topic_partition& where, event_place place) {
  if (where.topic.empty()) return "line:" + to_text(place);
  return to_string(where, place);
}

[[nodiscard]] sequence_spelling numbers_of(const stream_definition& s) {
  return sequence_spelling::of(s.config.envelope, s.config.order);
}

[[nodiscard]] std::string sequence_text(const stream_definition& from, sequence s) {
  return sequence_word(numbers_of(from), s);
}

/// The stable word, and what the reducer said.
[[nodiscard]] std::string reason_text(wait_reason reason, const std::string& error) {
  return error.empty() ? name_of(reason) : std::string{name_of(reason)} + ": " + error;
}

[[nodiscard]] std::string reason_text(const decoded_event& e, decision d, const event_wait* waits) {
  if (waits != nullptr) return reason_text(waits->reason, waits->error);
  if (d.verdict != verdict::rejected) return "-";
  std::string text = name_of(d.reason);
  if (e.kind != decoded_kind::malformed) return text;
  text += std::string{" "} + name_of(e.malformed.reason);
  if (!e.malformed.pointer.empty()) text += " " + std::string{e.malformed.pointer};
  return text + " byte " + std::to_string(e.malformed.byte_offset);
}

/// Begins an object.
void add_position(json_writer& out, const stream_definition& s, const topic_partition& where,
                  event_place place) {
  out.begin_object().key("stream").string(s.config.name);
  if (where.topic.empty()) {
    out.key("line").number(place.offset);
    if (place.index != 0) out.key("index").number(place.index);
  } else {
    out.place(where, place);
  }
}

void add_reason(json_writer& out, wait_reason reason, const std::string& error) {
  out.key("reason").string(name_of(reason));
  if (!error.empty()) out.key("error").string(error);
}

[[nodiscard]] std::string json_line(const stream_definition& s, const decoded_event& e, decision d,
                                    const event_wait* waits) {
  json_writer out;
  add_position(out, s, *e.from->where, e.from->place());
  out.key("aggregate");
  e.aggregate.empty() ? out.null() : out.string(e.aggregate);
  out.key("sequence");
  e.has_sequence ? write_sequence(out, numbers_of(s), e.sequence) : out.null();
  out.key("verdict").string(name_of(d.verdict));
  if (waits != nullptr) {
    add_reason(out, waits->reason, waits->error);
  } else {
    out.key("reason");
    d.verdict == verdict::rejected ? out.string(name_of(d.reason)) : out.null();
  }
  if (e.kind == decoded_kind::malformed) {
    out.key("detail").string(name_of(e.malformed.reason)).key("pointer").string(e.malformed.pointer);
    out.key("byte_offset").number(e.malformed.byte_offset);
  }
  return out.end_object().take() + "\n";
}

[[nodiscard]] std::string text_line(std::initializer_list<std::string> fields) {
  std::string line;  // the tabs between the fields are its own
  for (const std::string& field : fields) line += (line.empty() ? "" : "\t") + shown_text(field);
  return line + "\n";
}

}  // namespace

std::string explain_line(const stream_definition& s, const decoded_event& e, decision d,
                         const event_wait* waits, output_format output) {
  if (output == output_format::json) return json_line(s, e, d, waits);
  const std::string aggregate = e.aggregate.empty() ? "-" : shown_id(e.aggregate);
  return text_line({position_text(*e.from->where, e.from->place()), aggregate,
                    e.has_sequence ? sequence_text(s, e.sequence) : "-", name_of(d.verdict),
                    reason_text(e, d, waits)});
}

std::string explain_line(const stream_definition& s, std::string_view aggregate, const waiting_fate& fate,
                         output_format output) {
  // In the order of arrival a record has no number: the one that it was given is none of its own.
  const bool has_number = s.rules.gate.order != order::arrival;
  const bool failed = fate.end == waiting_end::dead;
  if (output == output_format::text) {
    return text_line({position_text(fate.where, fate.place()), shown_id(aggregate),
                      has_number ? sequence_text(s, fate.sequence) : "-", name_of(fate.end),
                      failed ? reason_text(wait_reason::reducer, fate.error) : "-"});
  }
  json_writer out;
  add_position(out, s, fate.where, fate.place());
  out.key("aggregate").string(aggregate).key("sequence");
  has_number ? write_sequence(out, numbers_of(s), fate.sequence) : out.null();
  out.key("verdict").string(name_of(fate.end));
  failed ? add_reason(out, wait_reason::reducer, fate.error) : (void)out.key("reason").null();
  return out.end_object().take() + "\n";
}

}  // namespace ratchet::cli
