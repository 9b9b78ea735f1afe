// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/kcat_line.hpp"

#include <array>
#include <charconv>
#include <limits>

#include "decode/json_grammar.hpp"
#include "decode/json_scan.hpp"
#include "decode/json_text.hpp"
#include "decode/pointer_tree.hpp"

namespace ratchet {
namespace {

enum member : std::size_t {
  topic,
  partition,
  offset,
  tstype,
  ts,
  key,
  headers,
  payload,
  key_error,
  payload_error,
  value,
  timestamp_of,
  value_size,
};
constexpr std::array<std::string_view, 13> k_members{
    "/topic",   "/partition", "/offset",        "/tstype", "/ts",        "/key",       "/headers",
    "/payload", "/key_error", "/payload_error", "/value",  "/timestamp", "/value_size"};

/// The text of a string of checked JSON, unescaped. False: a lone surrogate, which bytes cannot give.
bool take_string(std::string_view quoted, std::string& to) {
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  to.resize(text.size());
  const json::unescaped plain = json::unescape(text, to.data());
  to.resize(plain.size);
  return plain.lone_surrogate == nullptr;
}

template <class Integer>
bool take_integer(std::string_view token, Integer& to) {
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, to);
  return error == std::errc{} && stop == end;
}

}  // namespace

struct kcat_line_reader::implementation {
  implementation() : walker{tree, json::encoding::unchecked} {}

  /// Adds the members to the tree before the walker sees it.
  static json::pointer_tree make_tree(std::array<json::node_index, k_members.size()>& nodes) {
    json::pointer_tree made;
    for (std::size_t i = 0; i < k_members.size(); ++i)
      nodes[i] = made.add({std::string{k_members[i].substr(1)}});
    return made;
  }

  malformed_detail fail(member which, const char* at) const {
    return {malformed_reason::position_invalid, k_members[which],
            static_cast<std::uint64_t>(at - line.data())};
  }
  [[nodiscard]] const json::found& at(member which) const { return walker.at(nodes[which]); }
  [[nodiscard]] std::string_view token(member which) const {
    const json::found& f = at(which);
    return {f.begin, static_cast<std::size_t>(f.end - f.begin)};
  }

  /// Whether rpk printed the line: it is the one that says `timestamp`.
  [[nodiscard]] bool is_of_rpk() const {
    return at(timestamp_of).what != json::kind::none && at(ts).what == json::kind::none &&
           at(payload).what == json::kind::none;
  }
  malformed_detail check_members() const;
  malformed_detail read_position(kcat_record&) const;
  malformed_detail read_text(member, std::optional<std::string>&) const;
  malformed_detail read_headers(kcat_record&) const;
  bool read_header_list(kcat_record&, const char*& p, const char* end) const;
  bool read_header_object(kcat_record&, const char*& p, const char* end) const;

  std::array<json::node_index, k_members.size()> nodes{};
  json::pointer_tree tree{make_tree(nodes)};
  json::walker walker;
  std::string_view line;
};

/// No member twice, none that says that kcat could not print the record.
malformed_detail kcat_line_reader::implementation::check_members() const {
  for (std::size_t i = 0; i < k_members.size(); ++i) {
    const json::found& f = walker.at(nodes[i]);
    if (f.duplicate != nullptr) return fail(static_cast<member>(i), f.duplicate);
  }
  for (const member which : {key_error, payload_error}) {
    if (at(which).what != json::kind::none) return fail(which, at(which).begin);
  }
  const bool of_rpk = is_of_rpk();
  // --meta-only: the value is not there.
  if (of_rpk && at(value_size).what != json::kind::none) return fail(value_size, at(value_size).begin);
  for (const member which : {topic, partition, offset, key, payload}) {
    if (of_rpk && (which == key || which == payload)) continue;
    if (at(which).what == json::kind::none) return fail(which, walker.at(json::k_root).begin);
  }
  return {};
}

malformed_detail kcat_line_reader::implementation::read_position(kcat_record& to) const {
  if (at(topic).what != json::kind::string || !take_string(token(topic), to.topic) || to.topic.empty()) {
    return fail(topic, at(topic).begin);
  }
  std::int32_t number = 0;
  if (at(partition).what != json::kind::number || !take_integer(token(partition), number) || number < 0) {
    return fail(partition, at(partition).begin);
  }
  to.partition = partition_id{number};
  // Behind the last one that a number can be nothing follows, and the position behind a record is what is
  // kept.
  constexpr std::int64_t k_behind_all = std::numeric_limits<std::int64_t>::max();
  if (at(offset).what != json::kind::number || !take_integer(token(offset), to.offset) || to.offset < 0 ||
      to.offset == k_behind_all) {
    return fail(offset, at(offset).begin);
  }
  const member stamp = is_of_rpk() ? timestamp_of : ts;
  if (at(stamp).what == json::kind::none || at(stamp).what == json::kind::null) return {};
  std::int64_t time = 0;
  if (at(stamp).what != json::kind::number || !take_integer(token(stamp), time) || time < -1) {
    return fail(stamp, at(stamp).begin);
  }
  const bool unknown = at(tstype).what == json::kind::string && token(tstype) == "\"unknown\"";
  if (time != -1 && !unknown) to.time = timestamp{std::chrono::milliseconds{time}};
  return {};
}

malformed_detail kcat_line_reader::implementation::read_text(member which,
                                                             std::optional<std::string>& to) const {
  const json::found& f = at(which);
  if (f.what == json::kind::null || f.what == json::kind::none) return {};
  if (f.what != json::kind::string) {  // of Avro, as JSON
    to.emplace(token(which));
    return {};
  }
  if (!take_string(token(which), to.emplace())) return fail(which, f.begin);
  return {};
}

namespace {

/// One string or null of checked JSON, p at its first byte.
bool take_value(const char*& p, const char* end, std::optional<std::string>& to) {
  const char* const begin = p;
  if (*p == 'n') {
    p += 4;
    return true;
  }
  json::string_traits traits;
  return *p == '"' && json::scan_string(begin, p, end, traits) &&
         take_string({begin, static_cast<std::size_t>(p - begin)}, to.emplace());
}

/// Behind white space and a comma, where there is one. False at the closing bracket.
bool next_of(const char*& p, const char* end) {
  json::skip_space(p, end);
  if (*p == ',') ++p;
  json::skip_space(p, end);
  return *p != ']' && *p != '}';
}

}  // namespace

namespace {

/// {"key": name, "value": value}, p at its bracket.
bool take_pair(const char*& p, const char* end, kcat_record& to) {
  ++p;
  std::optional<std::string> name;
  std::optional<std::string> text;
  while (next_of(p, end)) {
    std::optional<std::string> member;
    if (!take_value(p, end, member)) return false;
    json::skip_space(p, end);
    ++p;  // the colon
    json::skip_space(p, end);
    if (member != "key" && member != "value") return false;
    if (!take_value(p, end, member == "key" ? name : text)) return false;
  }
  ++p;
  if (!name) return false;
  to.headers.emplace_back(std::move(*name), std::move(text));
  return true;
}

}  // namespace

/// [name, value, name, value, ...], or [{key, value}, ...] of rpk; p behind its bracket.
bool kcat_line_reader::implementation::read_header_list(kcat_record& to, const char*& p,
                                                        const char* end) const {
  while (next_of(p, end)) {
    if (*p == '{' && is_of_rpk()) {
      if (!take_pair(p, end, to)) return false;
      continue;
    }
    std::optional<std::string> name;
    if (!take_value(p, end, name) || !name) return false;
    auto& added = to.headers.emplace_back(std::move(*name), std::nullopt);
    if (!next_of(p, end) || !take_value(p, end, added.second)) return false;
  }
  return true;
}

/// {name: value, name: [value, ...], ...}, p behind its bracket.
bool kcat_line_reader::implementation::read_header_object(kcat_record& to, const char*& p,
                                                          const char* end) const {
  while (next_of(p, end)) {
    std::optional<std::string> name;
    if (!take_value(p, end, name)) return false;
    json::skip_space(p, end);
    ++p;  // the colon
    json::skip_space(p, end);
    const bool several = *p == '[';
    if (several && !next_of(++p, end)) {
      ++p;
      continue;
    }
    do {
      if (!take_value(p, end, to.headers.emplace_back(*name, std::nullopt).second)) return false;
    } while (several && next_of(p, end));
    if (several) ++p;
  }
  return true;
}

malformed_detail kcat_line_reader::implementation::read_headers(kcat_record& to) const {
  const json::found& f = at(headers);
  if (f.what == json::kind::none || f.what == json::kind::null) return {};
  const char* p = f.begin + 1;
  const bool fits = (f.what == json::kind::array && read_header_list(to, p, f.end)) ||
                    (f.what == json::kind::object && read_header_object(to, p, f.end));
  return fits ? malformed_detail{}
              : fail(headers, f.what == json::kind::array || f.what == json::kind::object ? p : f.begin);
}

kcat_line_reader::kcat_line_reader() : self_{std::make_unique<implementation>()} {}
kcat_line_reader::~kcat_line_reader() = default;
kcat_line_reader::kcat_line_reader(kcat_line_reader&&) noexcept = default;
kcat_line_reader& kcat_line_reader::operator=(kcat_line_reader&&) noexcept = default;

namespace {

/// The members that are whole, as an object of their own; empty where none is.
std::string whole_members(std::string_view begins) {
  std::size_t end = 0;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const char c = begins[i];
    if (c == '\\' && in_string) {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '{' || c == '[')) {
      ++depth;
    } else if (!in_string && (c == '}' || c == ']')) {
      --depth;
    } else if (!in_string && c == ',' && depth == 1) {
      end = i;
    }
  }
  return end == 0 ? std::string{} : std::string{begins.substr(0, end)} + '}';
}

}  // namespace

bool kcat_line_reader::read_beginning(std::string_view begins, kcat_record& to) {
  to = kcat_record{};
  implementation& self = *self_;
  const std::string members = whole_members(begins);
  self.line = members;
  if (self.walker.walk(members).reason != malformed_reason::none) return false;
  for (const member which : {topic, partition, offset, tstype, ts}) {
    if (self.at(which).duplicate != nullptr) return false;
  }
  return self.read_position(to).reason == malformed_reason::none;
}

malformed_detail kcat_line_reader::read(std::string_view line, kcat_record& to) {
  to = kcat_record{};
  implementation& self = *self_;
  self.line = line;
  const json::fault fault = self.walker.walk(line);
  if (fault.reason != malformed_reason::none) return {fault.reason, {}, fault.offset};
  malformed_detail broken = self.check_members();
  if (broken.reason == malformed_reason::none) broken = self.read_position(to);
  if (broken.reason == malformed_reason::none) broken = self.read_text(key, to.key);
  if (broken.reason == malformed_reason::none) broken = self.read_headers(to);
  if (broken.reason == malformed_reason::none)
    broken = self.read_text(self.is_of_rpk() ? value : payload, to.payload);
  return broken;
}

}  // namespace ratchet
