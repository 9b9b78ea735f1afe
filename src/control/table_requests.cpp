// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "control/table_requests.hpp"

#include <utility>

#include "control/words.hpp"
#include "core/shown_id.hpp"
#include "core/tables.hpp"
#include "core/utf8.hpp"
#include "decode/json_grammar.hpp"
#include "decode/sequence_text.hpp"
#include "reports/line_pages.hpp"
#include "reports/table_reading.hpp"
#include "text/json_writer.hpp"

namespace ratchet {

namespace {

constexpr const char* k_get_row = "get_row";
constexpr const char* k_scan_table = "scan_table";
constexpr const char* k_all = "all";

problem of_store(std::error_code code, const std::string& table) {
  return {code, "cannot read the table \"" + table + "\": " + code.message(), "", {}};
}

/// The table, or a problem that names those that there are.
reported<stored_table> find_asked(const store_view& view, const std::string& name) {
  const auto all = stored_tables(view);
  if (!all) return of_store(all.error(), name);
  std::string names;
  for (const stored_table& t : all.value()) {
    if (t.what.name == name) return t;
    names += (names.empty() ? "" : ", ") + t.what.name + " (of stream " + t.stream_name + ")";
  }
  return problem{errc::usage,
                 "there is no table \"" + name + "\"",
                 names.empty() ? "no stream of this state has `tables`" : "there are: " + names,
                 {}};
}

problem does_not_fit(const std::string& key, const table_config& table) {
  return {errc::usage,
          "\"" + shown_id(key) + "\" is not a key of the table \"" + table.name + "\"",
          std::string{"its keys are "} + name_of(table.key) + ": " + shape_of(table.key),
          {}};
}

void write_key(json_writer& json, const table_config& table, const std::string& key) {
  if (table.key == key_encoding::u64) {
    json.key("key").raw(key);
  } else if (is_utf8(key)) {
    json.key("key").string(key);
  } else {
    json.key("key_base64").base64(key);
  }
}

void write_value(json_writer& json, std::string_view value, raw_layout layout) {
  if (json::check_json(value).reason == malformed_reason::none) {
    json.key("value").raw(value, layout);
  } else {
    json.key("value_base64").base64(value);
  }
}

reported<void> answer_row(const store_view& view, const table_question& asked, const stored_table& table,
                          const byte_sink& sink) {
  const auto stored = encode_table_key(table.what.key, *asked.key);
  if (!stored) return does_not_fit(*asked.key, table.what);
  const auto value = view.table_row(table.stream, table.what.name, *stored);
  if (!value && value.error() == errc::not_found) {
    return problem{errc::not_found,
                   "no row of \"" + shown_id(*asked.key) + "\" in the table \"" + asked.table + "\"",
                   "",
                   {}};
  }
  if (!value) return of_store(value.error(), asked.table);
  if (!asked.json) {
    sink(value.value());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  json_writer json;
  json.begin_object();
  json.key("table").string(asked.table);
  write_key(json, table.what, *asked.key);
  write_value(json, value.value(), raw_layout::as_it_stands);
  json.end_object();
  sink(json.take() + "\n");
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

reported<void> answer_range(const store_view& view, const table_question& asked, const stored_table& table,
                            const byte_sink& sink) {
  const auto bounds = bounds_of(table.what, asked.prefix, asked.from);
  if (!bounds && table.what.key == key_encoding::u64 && !asked.prefix.empty()) {
    return problem{errc::usage,
                   "the keys of the table \"" + asked.table + "\" are numbers, which have no prefix",
                   "name the first key with --from, and the number of rows with --limit",
                   {}};
  }
  if (!bounds) return does_not_fit(asked.from, table.what);
  line_pages pages{asked.limit, sink};
  bool readable = true;
  const auto scanned =
      view.scan_table(table.stream, table.what.name, bounds.value().prefix, bounds.value().from,
                      [&](std::string_view stored, std::string_view value) {
                        if (pages.is_full()) return false;
                        const auto key = decode_table_key(table.what.key, stored);
                        readable = key.has_value();
                        if (!readable) return false;
                        json_writer json;
                        json.begin_object();
                        write_key(json, table.what, *key);
                        write_value(json, value, raw_layout::one_line);
                        json.end_object();
                        return pages.add(json.text(), {});
                      });
  (void)pages.end();
  if (!scanned) return of_store(scanned.error(), asked.table);
  if (!readable) return of_store(make_error_code(errc::state_damaged), asked.table);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

std::vector<std::string> to_words(const table_question& asked) {
  if (asked.key) return {k_get_row, asked.table, *asked.key, k_json_or_text.of(asked.json)};
  return {k_scan_table, asked.table, asked.prefix, asked.from,
          asked.limit ? std::to_string(*asked.limit) : k_all};
}

std::optional<table_question> parse_table_words(std::span<const std::string> words) {
  table_question asked;
  if (words.size() == 4 && words[0] == k_get_row && k_json_or_text.read(words[3])) {
    asked.table = words[1];
    asked.key = words[2];
    asked.json = *k_json_or_text.read(words[3]);
    return asked;
  }
  if (words.size() != 5 || words[0] != k_scan_table) return std::nullopt;
  asked.table = words[1];
  asked.prefix = words[2];
  asked.from = words[3];
  if (words[4] == k_all) return asked;
  asked.limit = parse_u64(words[4]);
  return asked.limit ? std::optional{asked} : std::nullopt;
}

reported<void> answer_table_question(const store_view& view, const table_question& asked,
                                     const byte_sink& sink) {
  RATCHET_TRY(const stored_table table, find_asked(view, asked.table));
  return asked.key ? answer_row(view, asked, table, sink) : answer_range(view, asked, table, sink);
}

}  // namespace ratchet
