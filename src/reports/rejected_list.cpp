// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/rejected_list.hpp"

#include <algorithm>
#include <charconv>

#include "core/record.hpp"
#include "core/shown_text.hpp"
#include "decode/time_text.hpp"
#include "reports/id_spelling.hpp"
#include "reports/line_pages.hpp"
#include "reports/wait_explanation.hpp"
#include "text/json_writer.hpp"
#include "text/partition_name.hpp"
#include "text/rejected_messages.hpp"
#include "text/sequence_text.hpp"

namespace ratchet {

namespace {

constexpr const char* k_state = "rejected";

bool is_malformed(const rejected_row& row) {
  return row.reason == reject_reason::malformed;
}

std::optional<timestamp> time_of(const rejected_row& row) {
  return row.time ? row.time : row.record_time;
}

bool fits(const waiting_filter& filter, const rejected_row& row) {
  if (filter.aggregate && (is_malformed(row) || row.detail != *filter.aggregate)) return false;
  if (filter.sequence && row.sequence != filter.sequence) return false;
  if (filter.seen_before && row.at > *filter.seen_before) return false;
  const auto time = time_of(row);
  if (filter.from && (!time || *time < *filter.from)) return false;
  if (filter.to && (!time || *time >= *filter.to)) return false;
  return filter.reason.empty() || filter.reason == name_of(row.reason) ||
         fault_text(row).find(filter.reason) != std::string::npos;
}

std::string json_of(const named_stream& stream, const id_spelling& ids, const rejected_row& row) {
  json_writer json;
  json.begin_object().key("stream").string(stream.name).key("aggregate");
  is_malformed(row) ? json.null() : json.string(row.detail);
  json.key("sequence");
  row.sequence ? write_sequence(json, ids.numbers, *row.sequence) : json.null();
  json.key("event_id");
  row.id ? json.string(ids.text(*row.id)) : json.null();
  json.key("state").string(k_state).key("reason").string(name_of(row.reason)).key("missing").null();
  json.key("error");
  is_malformed(row) ? json.string(fault_text(row)) : json.null();
  json.key("attempts").number(0U).key("due").null();
  json.key("time").time(time_of(row)).key("first_seen").time(row.at).key("position");
  write_position(json, row.where, row.place());
  json.end_object();
  return json.take();
}

std::string text_of(const id_spelling& ids, const rejected_row& row) {
  std::string out = is_malformed(row) ? "-" : row.detail;
  if (row.sequence) out += "/" + sequence_word(ids.numbers, *row.sequence);
  out += std::string{"  "} + k_state + "  " + name_of(row.reason);
  if (is_malformed(row)) out += ": " + fault_text(row);
  out += "  since " + to_rfc3339(row.at);
  if (row.id) out += "  event " + ids.text(*row.id);
  if (is_malformed(row) && row.key) out += "  key " + shown_text(*row.key);
  return out + "  " +
         (row.where.topic.empty() ? "content " + content_hash_text(row)
                                  : position_word(kept_rejected::position::of(row)));
}

}  // namespace

std::string position_word(const kept_rejected::position& position) {
  return to_string(position.where, position.place());
}

std::optional<kept_rejected::position> position_of(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t slash = text.substr(0, at).rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto read = [](std::string_view digits, auto& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc{} && end == digits.data() + digits.size() && out >= 0;
  };
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::uint32_t index = 0;
  const std::size_t dot = std::min(text.find('.', at), text.size());
  if (!read(text.substr(slash + 1, at - slash - 1), partition) ||
      !read(text.substr(at + 1, dot - at - 1), offset)) {
    return std::nullopt;
  }
  if (dot < text.size() && (!read(text.substr(dot + 1), index) || index == 0)) return std::nullopt;
  return kept_rejected::position{
      {std::string{text.substr(0, slash)}, partition_id{partition}}, offset, index};
}

result<waiting_listed> list_rejected(const store_view& view, const named_stream& stream,
                                     const waiting_filter& filter, bool json, const byte_sink& sink) {
  const id_spelling ids = id_spelling::of(stream);
  line_pages pages{filter.limit, sink};
  RATCHET_TRY(view.each_rejected(stream.id, filter.after_position, [&](const rejected_row& row) {
    if (!fits(filter, row)) return pages.pass_over();
    if (pages.is_full()) return false;
    return pages.add(json ? json_of(stream, ids, row) : text_of(ids, row),
                     position_word(kept_rejected::position::of(row)));
  }));
  return pages.end();
}

result<std::uint64_t> count_rejected(const store_view& view, const named_stream& stream,
                                     const waiting_filter& filter) {
  std::uint64_t count = 0;
  RATCHET_TRY(view.each_rejected(stream.id, filter.after_position, [&](const rejected_row& row) {
    if (fits(filter, row)) ++count;
    return true;
  }));
  return count;
}

}  // namespace ratchet
