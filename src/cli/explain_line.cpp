// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/explain_line.hpp"

#include "app/json_writer.hpp"
#include "app/pipeline.hpp"
#include "core/shown_text.hpp"

namespace ratchet::cli {

namespace {

[[nodiscard]] std::string position_text(const record& r) {
  if (r.where->topic.empty()) return "line:" + std::to_string(r.offset);
  return to_string(*r.where) + "@" + std::to_string(r.offset);
}

[[nodiscard]] std::string sequence_text(const decoded_event& e) {
  if (!e.has_sequence) return "-";
  const std::string number = std::to_string(e.sequence.number);
  return e.sequence.epoch == 0 ? number : std::to_string(e.sequence.epoch) + "." + number;
}

[[nodiscard]] std::string reason_text(const decoded_event& e, decision d) {
  if (d.verdict != verdict::rejected) return "-";
  std::string text = name_of(d.reason);
  if (e.kind != decoded_kind::malformed) return text;
  text += std::string{" "} + name_of(e.malformed.reason);
  if (!e.malformed.pointer.empty()) text += " " + std::string{e.malformed.pointer};
  return text + " byte " + std::to_string(e.malformed.byte_offset);
}

[[nodiscard]] std::string json_line(const stream_runtime& s, const decoded_event& e, decision d) {
  const record& r = *e.from;
  json_writer out;
  out.begin_object().key("stream").string(s.config.name);
  if (r.where->topic.empty()) {
    out.key("line").number(r.offset);
  } else {
    out.key("topic")
        .string(r.where->topic)
        .key("partition")
        .number(static_cast<std::int32_t>(r.where->partition));
    out.key("offset").number(r.offset);
  }
  out.key("aggregate");
  e.aggregate.empty() ? out.null() : out.string(e.aggregate);
  out.key("sequence");
  e.has_sequence ? out.sequence(e.sequence) : out.null();
  out.key("verdict").string(name_of(d.verdict)).key("reason");
  d.verdict == verdict::rejected ? out.string(name_of(d.reason)) : out.null();
  if (e.kind == decoded_kind::malformed) {
    out.key("detail").string(name_of(e.malformed.reason)).key("pointer").string(e.malformed.pointer);
    out.key("byte_offset").number(e.malformed.byte_offset);
  }
  return out.end_object().take() + "\n";
}

}  // namespace

std::string explain_line(const stream_runtime& s, const decoded_event& e, decision d, output_format output) {
  if (output == output_format::json) return json_line(s, e, d);
  const std::string aggregate{e.aggregate.empty() ? std::string_view{"-"} : e.aggregate};
  std::string line;  // the tabs between the fields are its own
  for (const std::string& field : {position_text(*e.from), aggregate, sequence_text(e),
                                   std::string{name_of(d.verdict)}, reason_text(e, d)}) {
    line += (line.empty() ? "" : "\t") + shown_text(field);
  }
  return line + "\n";
}

}  // namespace ratchet::cli
