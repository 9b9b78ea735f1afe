// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/output.hpp"

namespace ratchet {

std::uint64_t output_row::bytes() const {
  constexpr std::uint64_t k_rest = 128;
  std::uint64_t sum =
      k_rest + aggregate.size() + topic.size() + type.size() + source.size() + content_type.size();
  if (key) sum += key->size();
  if (value) sum += value->size();
  for (const auto& [name, text] : headers) sum += name.size() + (text ? text->size() : 0);
  return sum;
}

output_row skipped_row(const output_row& of) {
  output_row row;
  row.position = of.position;
  row.kind = output_kind::skipped;
  row.stream = of.stream;
  row.id = of.id;
  row.aggregate = of.aggregate;
  row.topic = of.topic;
  return row;
}

outbox_state outbox_lanes::of(std::string_view lane) const {
  const auto at = by_name.find(lane);
  return at == by_name.end() ? outbox_state{} : at->second;
}

std::map<std::string, outbox_state, std::less<>> outbox_lanes::sinks() const {
  auto all = by_name;
  all.erase(std::string{});
  return all;
}

std::uint64_t outbox_lanes::rows() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [name, state] : by_name) sum += state.rows();
  return sum;
}

namespace {

/// Most steps have messages of one lane alone.
template <class Map>
auto& lane_at(Map& lanes, std::string_view name) {
  const auto at = lanes.find(name);
  return at != lanes.end() ? at->second : lanes.try_emplace(std::string{name}).first->second;
}

}  // namespace

void outbox_change::number(const outbox_lanes& before, std::uint64_t epoch) {
  std::map<std::string, outbox_state, std::less<>> lanes = before.by_name;
  for (output_row& row : puts) {
    row.position = lane_at(lanes, row.lane()).next++;
    if (row.kind == output_kind::published) row.sequence = {epoch, row.position};
  }
}

void outbox_change::apply_to(outbox_lanes& lanes) const {
  if (trims()) {
    outbox_state& trimmed = lane_at(lanes.by_name, trimmed_lane);
    trimmed.first += trimmed_rows;
    trimmed.gone -= trimmed_gone;
    for (const output_range& range : trimmed_behind) trimmed.gone += range.next - range.first;
    trimmed.bytes -= trimmed_bytes;
  }
  if (skipped) {
    outbox_state& lane = lane_at(lanes.by_name, skipped->row.lane());
    lane.bytes -= skipped->bytes_before;
    lane.bytes += skipped->row.bytes();
  }
  for (const output_row& row : puts) {
    outbox_state& lane = lane_at(lanes.by_name, row.lane());
    ++lane.next;
    lane.bytes += row.bytes();
  }
}

const char* name_of(output_kind kind) noexcept {
  switch (kind) {
    case output_kind::dead_letter:
      return "dead_letter";
    case output_kind::rejection:
      return "rejection";
    case output_kind::published:
      return "published";
    case output_kind::skipped:
      return "skipped";
  }
  return "";
}

}  // namespace ratchet
