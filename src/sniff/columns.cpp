// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/columns.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/json_scan.hpp"
#include "core/utf8.hpp"
#include "decode/event_id_text.hpp"
#include "decode/key_text.hpp"
#include "decode/text_arena.hpp"
#include "decode/time_text.hpp"
#include "sniff/value_form.hpp"

namespace ratchet::sniff {

namespace {

constexpr std::size_t k_most_columns = 400;
constexpr std::size_t k_deepest = 5;

/// Makes columns of records; those that come first stand first.
class gatherer {
 public:
  void add(std::size_t record, const std::string& source, json::kind what, std::string text) {
    const auto known = index_.find(source);
    std::size_t at = columns_.size();
    if (known != index_.end()) {
      at = known->second;
    } else {
      if (columns_.size() == k_most_columns) return;
      index_.emplace(source, at);
      columns_.push_back({});
      columns_.back().source = source;
    }
    std::vector<cell>& cells = columns_[at].cells;
    if (!cells.empty() && cells.back().record == record) return;  // a name that is there twice
    cells.push_back({record, what, std::move(text)});
  }

  void add_object(std::size_t record, const std::string& path, std::string_view object, std::size_t depth) {
    const json_scan::long_values ends{object};
    std::size_t at = json_scan::skip_space(object, 1);
    while (at < object.size() && object[at] == '"') {
      const std::size_t name_end = json_scan::end_of_string(object, at);
      const std::string name = json_scan::unescaped(object.substr(at, name_end - at));
      at = json_scan::skip_space(object, json_scan::skip_space(object, name_end) + 1);
      const std::size_t value_end = json_scan::end_of_value(object, at, ends);
      add_value(record, path + "/" + escaped(name), object.substr(at, value_end - at), depth);
      at = json_scan::skip_space(object, value_end);
      if (at < object.size() && object[at] == ',') at = json_scan::skip_space(object, at + 1);
    }
  }

  [[nodiscard]] std::vector<column> take() && { return std::move(columns_); }

 private:
  static std::string escaped(const std::string& token) {
    std::string out;
    for (const char c : token) {
      if (c == '~')
        out += "~0";
      else if (c == '/')
        out += "~1";
      else
        out += c;
    }
    return out;
  }

  void add_value(std::size_t record, const std::string& path, std::string_view value, std::size_t depth) {
    switch (value.front()) {
      case '{':
        add(record, path, json::kind::object, {});
        if (depth < k_deepest) add_object(record, path, value, depth + 1);
        return;
      case '[':
        add(record, path, json::kind::array, {});
        return add_only_element(record, path, value);
      case '"':
        return add(record, path, json::kind::string, json_scan::unescaped(value));
      case 't':
      case 'f':
        return add(record, path, json::kind::boolean, std::string{value});
      case 'n':
        return add(record, path, json::kind::null, {});
      default:
        return add(record, path, json::kind::number, std::string{value});
    }
  }

  /// Of a list of ids that holds one: it names what the record is about.
  void add_only_element(std::size_t record, const std::string& path, std::string_view array) {
    if (!path.ends_with("Ids") && !path.ends_with("_ids")) return;
    const json_scan::long_values ends{array};
    const std::size_t at = json_scan::skip_space(array, 1);
    if (at >= array.size() || (array[at] != '"' && (array[at] < '0' || array[at] > '9'))) return;
    const std::size_t end = json_scan::end_of_value(array, at, ends);
    const std::size_t behind = json_scan::skip_space(array, end);
    if (behind < array.size() && array[behind] == ']')
      add_value(record, path + "/0", array.substr(at, end - at), k_deepest);
  }

  std::vector<column> columns_;
  std::map<std::string, std::size_t> index_;
};

bool is_integer(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 39 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool digit = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    if (dash ? c != '-' : !digit) return false;
  }
  return true;
}

/// 27 digits to the base 62 of 160 bits: 32 of seconds since 2014, and others by chance.
bool is_ksuid(std::string_view text) noexcept {
  constexpr std::size_t k_size = 27;
  constexpr std::string_view k_most{"aWgEPTl1tmebfsQzFP4bxwgy80V"};
  if (text.size() != k_size || text > k_most) return false;
  bool any_digit = false;
  bool any_letter = false;
  for (const char c : text) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit) return false;
    any_letter = any_letter || letter;
    any_digit = any_digit || digit;
  }
  return any_digit && any_letter && text.front() <= '9';  // until 2051
}

/// By size: from 2001 to 2096 no two units have a number in common.
std::optional<time_unit> unit_of(std::string_view digits) noexcept {
  constexpr std::pair<std::size_t, time_unit> k_units[] = {{10, time_unit::seconds},
                                                           {13, time_unit::milliseconds},
                                                           {16, time_unit::microseconds},
                                                           {19, time_unit::nanoseconds}};
  for (const auto& [size, unit] : k_units) {
    if (digits.size() == size && digits.front() >= '1' && digits.front() <= '3') return unit;
  }
  return std::nullopt;
}

void judge(column& c) {
  std::set<std::string_view> seen;
  bool all_times = true;
  for (const cell& here : c.cells) {
    if (here.what == json::kind::object) ++c.objects;
    if (here.what == json::kind::none) ++c.binary;
    const bool integer = is_integer(here.text);
    if ((here.what == json::kind::string && !here.text.empty()) ||
        (here.what == json::kind::number && integer)) {
      ++c.names;
      seen.insert(here.text);
    }
    if (integer) ++c.integers;
    if (here.what == json::kind::string) {
      if (is_uuid(here.text)) ++c.uuids;
      if (parse_uuidv7(here.text)) ++c.uuids_7;
      if (parse_ulid(here.text)) ++c.ulids;
      if (is_ksuid(here.text)) ++c.ksuids;
      if (is_json_text(here.text)) ++c.json_texts;
      if (is_base64_of_json(here.text)) ++c.json_base64s;
      if (parse_rfc3339(here.text)) ++c.rfc3339;
      constexpr std::size_t k_longer_than_date = 11;
      if (here.text.size() >= k_longer_than_date && parse_time_spelling(here.text)) ++c.times;
    }
    if (here.what == json::kind::null) continue;
    const auto unit = integer ? unit_of(here.text) : std::nullopt;
    if (!unit || (c.unit && c.unit != unit)) all_times = false;
    if (unit) c.unit = unit;
  }
  if (!all_times) c.unit.reset();
  c.distinct = seen.size();
}

}  // namespace

std::optional<timestamp> column::time_of(const cell& here) const {
  if (unit) return parse_time_number(here.text, *unit);
  return here.what == json::kind::string ? parse_time_spelling(here.text) : std::nullopt;
}

std::vector<column> columns_of(std::span<const sniffed_record> records, key_kind keys) {
  gatherer all;
  text_arena texts;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const sniffed_record& r = records[i];
    if (r.key && !r.key->empty()) {
      const key_text key = read_key(keys, *r.key, texts);
      if (key.reason == malformed_reason::none && is_utf8(key.text))
        all.add(i, "key", json::kind::string, std::string{key.text});
    }
    for (const auto& [name, value] : r.headers) {
      if (!value) continue;
      const bool is_text = is_plain_text(*value);
      all.add(i, "header:" + name, is_text ? json::kind::string : json::kind::none,
              is_text ? *value : std::string{});
    }
    if (r.around) all.add_object(i, "record:", *r.around, 1);
    const looked_at value = look_at(r.value);
    if (value.form == byte_form::json_object || value.form == byte_form::framed_json)
      all.add_object(i, "", json_scan::trimmed(value.json), 1);
  }
  std::vector<column> columns = std::move(all).take();
  for (column& c : columns) judge(c);
  return columns;
}

void unite_attributes(std::vector<column>& columns) {
  if (find(columns, "/specversion") == nullptr || find(columns, "header:ce_specversion") == nullptr) return;
  constexpr std::string_view k_prefix{"header:ce_"};
  const std::size_t size = columns.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (!columns[i].source.starts_with(k_prefix)) continue;
    const std::string name = "/" + columns[i].source.substr(k_prefix.size());
    column united;
    united.source = name;
    const auto known =
        std::find_if(columns.begin(), columns.end(), [&](const column& c) { return c.source == name; });
    const std::vector<cell> none;
    const std::vector<cell>& of_values = known == columns.end() ? none : known->cells;
    // A header comes first: in binary mode the value is data, and may have such a member.
    const auto precedes = [](const cell& a, const cell& b) { return a.record < b.record; };
    std::set_union(columns[i].cells.begin(), columns[i].cells.end(), of_values.begin(), of_values.end(),
                   std::back_inserter(united.cells), precedes);
    judge(united);
    if (known == columns.end())
      columns.push_back(std::move(united));
    else
      *known = std::move(united);
  }
}

const column* find(const std::vector<column>& columns, std::string_view source) noexcept {
  const auto at =
      std::find_if(columns.begin(), columns.end(), [&](const column& c) { return c.source == source; });
  return at == columns.end() ? nullptr : &*at;
}

}  // namespace ratchet::sniff
