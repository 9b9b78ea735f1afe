// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/record_sample.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "app/line_reader.hpp"
#include "core/json_scan.hpp"
#include "core/success.hpp"
#include "decode/json_grammar.hpp"
#include "decode/kcat_line.hpp"

namespace ratchet::cli {

namespace {

constexpr std::size_t k_batch_bytes = std::size_t{16} << 20U;

[[nodiscard]] sniff::sniffed_record of_kcat(kcat_record&& line) {
  sniff::sniffed_record r;
  r.where = {std::move(line.topic), line.partition};
  r.offset = line.offset;
  r.time = line.time;
  r.key = std::move(line.key);
  r.headers = std::move(line.headers);
  r.value = std::move(line.payload);
  return r;
}

[[nodiscard]] sniff::sniffed_record of_batch(const record& from) {
  sniff::sniffed_record r;
  r.where = *from.where;
  r.offset = from.offset;
  r.time = from.time;
  if (from.key) r.key = std::string{*from.key};
  if (from.value) r.value = std::string{*from.value};
  for (const header& h : from.headers) {
    r.headers.emplace_back(std::string{h.name},
                           h.value ? std::optional{std::string{*h.value}} : std::nullopt);
  }
  return r;
}

void add_value(record_sample& out, std::uint64_t line, std::string_view value) {
  sniff::sniffed_record r;
  r.offset = static_cast<std::int64_t>(line);
  r.value = std::string{value};
  out.records.push_back(std::move(r));
}

/// A line that is no record of kcat's.
void add_line(record_sample& out, const input_line& line, std::size_t most) {
  const bool is_json = json::check_json(line.text).reason == malformed_reason::none;
  if (!is_json) ++out.not_json;
  const std::string_view text = json_scan::trimmed(line.text);
  if (!is_json || !text.starts_with('[')) return add_value(out, line.number, line.text);
  ++out.arrays;
  const json_scan::long_values ends{text};
  std::size_t at = json_scan::skip_space(text, 1);
  while (text[at] != ']' && out.records.size() < most) {
    const std::size_t end = json_scan::end_of_value(text, at, ends);
    add_value(out, line.number, text.substr(at, end - at));
    at = json_scan::skip_space(text, end);
    if (text[at] == ',') at = json_scan::skip_space(text, at + 1);
  }
}

}  // namespace

reported<record_sample> sample_file(const std::string& path, std::size_t records) {
  auto opened = line_reader::open(path);
  if (!opened) return std::move(opened.error());
  record_sample out;
  kcat_line_reader kcat;
  line_batch batch;
  while (out.records.size() < records) {
    const auto more = opened.value().next_batch(batch, records - out.records.size(), k_batch_bytes);
    if (!more) {
      if (more.error().code == make_error_code(errc::aborted)) continue;  // nothing came for a while
      return more.error();
    }
    if (!more.value()) break;
    for (const input_line& line : batch.lines) {
      kcat_record parsed;
      if (!line.too_large && kcat.read(line.text, parsed).reason == malformed_reason::none) {
        out.records.push_back(of_kcat(std::move(parsed)));
        continue;
      }
      add_line(out, line, records);
    }
  }
  return out;
}

result<record_sample> sample_topic(source& from, const std::string& topic, std::size_t records,
                                   std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const std::vector<std::string> topics{topic};
  RATCHET_TRY(const std::vector<topic_partition> partitions, from.partitions(topics, timeout));
  const std::size_t of_each = (records + partitions.size() - 1) / std::max<std::size_t>(partitions.size(), 1);
  std::vector<position> begins;
  std::set<topic_partition> open;
  const auto all_bounds = from.bounds(partitions, timeout);
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const topic_partition& where = partitions[i];
    RATCHET_TRY(const log_bounds bounds, all_bounds[i]);
    if (bounds.end <= bounds.start) continue;
    begins.push_back({where, std::max(bounds.start, bounds.end - static_cast<std::int64_t>(of_each))});
    open.insert(where);
  }
  record_sample out;
  RATCHET_TRY(from.assign(begins));
  while (!open.empty() && std::chrono::steady_clock::now() < deadline) {
    RATCHET_TRY(polled got, from.poll(records, std::chrono::milliseconds{200}));
    if (got.batch) {
      for (const record& r : got.batch->records()) out.records.push_back(of_batch(r));
    }
    for (const source_notice& n : got.notices) {
      if (const auto* end = std::get_if<notice::end_of_partition>(&n)) open.erase(end->where);
      if (const auto* fatal = std::get_if<notice::fatal>(&n)) return fatal->code;
    }
    if (out.records.size() >= 2 * records) break;  // somebody writes faster than this reads
  }
  std::stable_sort(out.records.begin(), out.records.end(), [](const auto& a, const auto& b) {
    return a.where != b.where ? a.where < b.where : a.offset < b.offset;
  });
  return out;
}

}  // namespace ratchet::cli
