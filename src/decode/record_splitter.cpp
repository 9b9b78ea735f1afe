// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/record_splitter.hpp"

#include <algorithm>
#include <cstring>

#include "decode/field_source.hpp"
#include "decode/json_scan.hpp"
#include "decode/registry_frame.hpp"

namespace ratchet {
namespace {

/// What stands beside the list goes with each event that is kept by itself. Of more than this much nothing
/// does, or the letters of one record could be a thousand times as long as the record.
constexpr std::size_t k_most_outside = std::size_t{16} << 10U;

const json::pointer_tree& nothing_named() {
  static const json::pointer_tree tree;
  return tree;
}

/// `{"a":{"b":[` for /a/b.
std::string path_to_list(const std::string& pointer) {
  std::string text;
  const std::vector<std::string> tokens = parse_json_pointer(pointer).value();
  for (const std::string& token : tokens) {
    text += "{\"";
    for (const char c : token) {
      constexpr const char* k_digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20) {
        text.append("\\u00").append(1, k_digits[byte >> 4U]).append(1, k_digits[byte & 0xFU]);
        continue;
      }
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += "\":";
  }
  return text + "[";
}

}  // namespace

record_splitter::record_splitter(const decode_rules& rules, const json::pointer_tree& outside,
                                 json::node_index list, std::span<const whole_array> whole)
    : rules_{&rules}, list_{list}, outside_tree_{&outside}, outside_{outside}, whole_{whole} {
  const std::string& pointer = rules.envelope.each.pointer;
  shortest_before_ = path_to_list(pointer);
  shortest_behind_ =
      "]" + std::string(static_cast<std::size_t>(std::count(pointer.begin(), pointer.end(), '/')), '}');
}

record_splitter::record_splitter(const decode_rules& rules, bool (*holds_several)(const record&))
    : rules_{&rules},
      holds_several_{holds_several},
      list_{json::k_root},
      outside_tree_{&nothing_named()},
      outside_{nothing_named()},
      shortest_before_{"["},
      shortest_behind_{"]"} {}

record_splitter::holds record_splitter::split(const record& r) {
  if (!r.value || (holds_several_ != nullptr && !holds_several_(r))) return holds::one;
  value_ = body_ = *r.value;
  events_.clear();
  copied_bytes_ = 0;
  is_chosen_by_one_ = false;
  const std::uint64_t most = rules_->max_value_bytes;
  if (body_.size() > most) return refuse(malformed_reason::too_large, {}, body_.data() + most);
  if (body_.empty()) return refuse(malformed_reason::empty_value, {}, body_.data());
  if (static_cast<unsigned char>(body_.front()) <= k_highest_frame_byte) {
    const malformed_reason framed = take_off_frame(body_);
    if (framed != malformed_reason::none) return refuse(framed, {}, value_.data());
  }
  return bound_copies(r, rules_->envelope.each.kind == each_kind::lines ? split_lines() : split_array());
}

record_splitter::holds record_splitter::bound_copies(const record& r, holds what) {
  if (what != holds::several) return what;
  std::uint64_t each = (r.key ? r.key->size() : 0) + bytes_read_outside();
  for (const header& h : r.headers) each += h.name.size() + (h.value ? h.value->size() : 0);
  const std::uint64_t count = events_.size();
  if (count * (each + before_.size() + behind_.size()) > k_most_copied_bytes &&
      rules_->envelope.each.kind != each_kind::lines) {
    before_ = shortest_before_;
    behind_ = shortest_behind_;
  }
  copied_bytes_ = count * (each + before_.size() + behind_.size());
  // One event by itself is no more than its record.
  if (count == 1 || copied_bytes_ <= k_most_copied_bytes) return what;
  copied_bytes_ = 0;
  if (breaks_all()) return holds::fault;  // where it is no JSON at all, that is told first
  return refuse(malformed_reason::too_many_events, rules_->envelope.each.pointer, value_.data());
}

/// Fields beside the list: each event has them.
std::uint64_t record_splitter::bytes_read_outside() const {
  if (rules_->envelope.each.kind == each_kind::lines || holds_several_ != nullptr) return 0;
  std::uint64_t bytes = 0;
  for (std::size_t node = 0; node < outside_tree_->size(); ++node) {
    const json::found& at = outside_.at(static_cast<json::node_index>(node));
    if (at.what != json::kind::string && at.what != json::kind::number) continue;
    bytes += static_cast<std::uint64_t>(at.end - at.begin);
  }
  return bytes;
}

record_splitter::holds record_splitter::split_lines() {
  before_ = behind_ = {};
  const char* const end = body_.data() + body_.size();
  for (const char* begin = body_.data(); begin != end;) {
    const void* const feed = std::memchr(begin, '\n', static_cast<std::size_t>(end - begin));
    const char* const next = feed == nullptr ? end : static_cast<const char*>(feed);
    const char* last = next;
    json::skip_space(begin, next);
    while (last != begin && json::is_space(last[-1])) --last;
    if (last != begin) {
      if (events_.size() == k_most_events_of_record)
        return refuse(malformed_reason::too_many_events, {}, begin);
      events_.emplace_back(begin, static_cast<std::size_t>(last - begin));
    }
    begin = next == end ? end : next + 1;
  }
  return events_.empty() ? holds::nothing : holds::several;
}

record_splitter::holds record_splitter::split_array() {
  const json::fault fault = outside_.walk_to(list_, body_, k_most_events_of_record, events_);
  if (fault.reason == malformed_reason::too_many_events)
    return refuse(fault.reason, rules_->envelope.each.pointer, body_.data() + fault.offset);
  if (fault.reason != malformed_reason::none) {
    // Before it there may be another one, in an element.
    const json::fault first = json::check_json(body_);
    const json::fault& told = first.reason != malformed_reason::none ? first : fault;
    return refuse(told.reason, {}, body_.data() + told.offset);
  }
  if (find_list() == holds::fault || check_arrays() == holds::fault) {
    (void)breaks_all();  // where it is no JSON at all, that is told first
    return holds::fault;
  }
  note_outside(outside_.at(list_));
  return events_.empty() ? holds::nothing : holds::several;
}

record_splitter::holds record_splitter::find_list() {
  const std::string& pointer = rules_->envelope.each.pointer;
  const json::found& root = outside_.at(json::k_root);
  if (root.what == json::kind::null) return refuse(malformed_reason::null_value, {}, root.begin);
  const char* const second = outside_.second_key(list_);
  if (second != nullptr) return refuse(malformed_reason::duplicate_field, pointer, second);
  const json::found& list = outside_.at(list_);
  if (list.what == json::kind::array) return holds::several;
  if (list.what != json::kind::none && list.what != json::kind::null)
    return refuse(malformed_reason::wrong_type, pointer, list.begin);
  return refuse(malformed_reason::missing_field, pointer, outside_.begin_of_nearest(list_));
}

/// Other lists beside the one that is read would be lost.
record_splitter::holds record_splitter::check_arrays() {
  const whole_array* longer = nullptr;
  for (const whole_array& a : whole_) {
    if (!a.has_more(outside_, body_.data() + body_.size())) continue;
    if (longer == nullptr) longer = &a;
    is_chosen_by_one_ = is_chosen_by_one_ || a.tells_type || a.tells_foreign;
  }
  if (longer == nullptr) return holds::several;
  return refuse(malformed_reason::longer_array, longer->last.source.text, outside_.at(longer->array).begin);
}

void record_splitter::note_outside(const json::found& list) {
  const auto begin = static_cast<std::size_t>(list.begin + 1 - value_.data());
  const auto end = static_cast<std::size_t>(list.end - 1 - value_.data());
  const bool is_short = value_.size() - (end - begin) <= k_most_outside;
  before_ = is_short ? value_.substr(0, begin) : std::string_view{shortest_before_};
  behind_ = is_short ? value_.substr(end) : std::string_view{shortest_behind_};
}

bool record_splitter::breaks_all() {
  if (rules_->envelope.each.kind == each_kind::lines) return false;
  const json::fault fault = json::check_json(body_);
  if (fault.reason == malformed_reason::none) return false;
  refuse(fault.reason, {}, body_.data() + fault.offset);
  return true;
}

record_splitter::holds record_splitter::refuse(malformed_reason reason, std::string_view pointer,
                                               const char* at) noexcept {
  fault_ = {reason, pointer, static_cast<std::uint64_t>(at - value_.data())};
  return holds::fault;
}

}  // namespace ratchet
