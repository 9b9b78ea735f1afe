// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/several_events.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "decode/field_map.hpp"
#include "decode/record_splitter.hpp"
#include "sniff/columns.hpp"
#include "sniff/known_names.hpp"
#include "sniff/value_form.hpp"

namespace ratchet::sniff {

namespace {

constexpr std::string_view k_names[] = {"/records", "/events", "/messages", "/entries", "/batch", "/logs"};

bool has_rows_of_canal(const std::vector<column>& columns, const column& rows) {
  const bool is_list = std::all_of(rows.cells.begin(), rows.cells.end(), [](const cell& here) {
    return here.what == json::kind::array || here.what == json::kind::null;
  });
  const column* types = find(columns, "/type");
  if (!is_list || types == nullptr) return false;
  return find(columns, "/isDdl") != nullptr ||
         std::all_of(types->cells.begin(), types->cells.end(), [](const cell& here) {
           return is_one_of(here.text, {"INSERT", "UPDATE", "DELETE"});
         });
}

std::optional<each_config> likely_list(std::span<const sniffed_record> records) {
  std::size_t values = 0;
  std::size_t arrays = 0;
  std::size_t lines = 0;
  for (const sniffed_record& r : records) {
    if (!r.value) continue;
    ++values;
    const byte_form form = look_at(r.value).form;
    arrays += form == byte_form::json_array ? 1U : 0U;
    lines += form == byte_form::json_lines ? 1U : 0U;
  }
  if (2 * arrays > values) return each_config{each_kind::array, {}};
  if (2 * lines > values) return each_config{each_kind::lines, {}};
  const std::vector<column> columns = columns_of(records);
  const auto in_value = std::count_if(columns.begin(), columns.end(),
                                      [](const column& c) { return c.source.starts_with('/'); });
  // Canal, TiCDC and Flink: the rows of a change, mostly one. A changed schema has null there.
  const column* rows = find(columns, "/data");
  if (rows != nullptr && 2 * rows->cells.size() > values && has_rows_of_canal(columns, *rows))
    return each_config{each_kind::array, "/data"};
  for (const column& c : columns) {
    const bool is_array = std::all_of(c.cells.begin(), c.cells.end(),
                                      [](const cell& here) { return here.what == json::kind::array; });
    const bool is_named = std::find(std::begin(k_names), std::end(k_names), c.source) != std::end(k_names);
    const bool is_alone = in_value == 1 && c.source.starts_with('/');
    if (is_array && 2 * c.cells.size() > values && (is_named || is_alone))
      return each_config{each_kind::array, c.source};
  }
  return std::nullopt;
}

/// A batch of CloudEvents, which their format takes apart by itself.
bool is_batch(const record& r) {
  const std::string_view value = *r.value;
  const std::size_t first = value.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && value[first] == '[' &&
         value.find("\"specversion\"") != std::string_view::npos;
}

std::optional<several_events> find_batches(std::span<const sniffed_record> records) {
  several_events out;
  const decode_rules rules;
  record_splitter splitter{rules, &is_batch};
  bool any = false;
  for (const sniffed_record& from : records) {
    record r;
    if (from.value) r.value = *from.value;
    if (!r.value || !is_batch(r) || splitter.split(r) != record_splitter::holds::several) {
      out.events.push_back(from);
      continue;
    }
    any = true;
    for (const std::string_view event : splitter.events())
      out.events.emplace_back(from).value = std::string{event};
  }
  if (!any) return std::nullopt;
  return out;
}

}  // namespace

std::optional<several_events> find_several(std::span<const sniffed_record> records) {
  const auto each = likely_list(records);
  if (!each) return find_batches(records);
  several_events out{*each, {}};
  decode_rules rules;
  rules.envelope.each = *each;
  const field_map fields{rules};
  record_splitter splitter{rules, fields.outside, fields.list};
  std::size_t objects = 0;
  for (const sniffed_record& from : records) {
    record r;
    if (from.value) r.value = *from.value;
    if (splitter.split(r) != record_splitter::holds::several) continue;
    const std::string around = std::string{splitter.before()}.append(splitter.behind());
    for (const std::string_view event : splitter.events()) {
      sniffed_record& one = out.events.emplace_back(from);
      one.value = std::string{event};
      if (around.starts_with('{')) one.around = around;
      objects += event.front() == '{' ? 1U : 0U;
    }
  }
  if (2 * objects <= out.events.size()) return std::nullopt;
  return out;
}

}  // namespace ratchet::sniff
