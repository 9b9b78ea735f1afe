// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A filter of waiting events as words on the control socket.
#include <charconv>
#include <string_view>

#include "decode/sequence_text.hpp"
#include "reports/rejected_list.hpp"
#include "reports/wait_explanation.hpp"
#include "reports/waiting_list.hpp"

namespace ratchet {

namespace {

constexpr const char* k_rejected = "rejected";

std::string word(std::string_view key, const std::string& value) {
  return std::string{key} + "=" + value;
}

std::string milliseconds_of(timestamp time) {
  return std::to_string(time.time_since_epoch().count());
}

bool read(std::string_view text, std::optional<timestamp>& out) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end) return false;
  out = timestamp{std::chrono::milliseconds{number}};
  return true;
}

bool read(std::string_view text, std::optional<waiting_state>& out) {
  for (const waiting_state state : {waiting_state::parked, waiting_state::retrying, waiting_state::dead}) {
    if (text == name_of(state)) out = state;
  }
  return out.has_value();
}

/// The sequence ends at the first slash, whatever the aggregate holds.
bool read(std::string_view text, std::optional<std::pair<std::string, sequence>>& out) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto s = sequence_of(text.substr(0, slash));
  if (!s) return false;
  out = {std::string{text.substr(slash + 1)}, *s};
  return true;
}

bool read_word(std::string_view key, std::string_view value, waiting_filter& out) {
  if (key == "aggregate") {
    out.aggregate = value;
    return true;
  }
  if (key == "reason") {
    out.reason = value;
    return true;
  }
  if (key == "sequence") return (out.sequence = sequence_of(value)).has_value();
  if (key == "limit") return (out.limit = parse_u64(value)).has_value();
  if (key == "state" && value == k_rejected) return out.rejected = true;
  if (key == "state") return read(value, out.state);
  if (key == "after_position") return (out.after_position = position_of(value)).has_value();
  if (key == "seen_before") return read(value, out.seen_before);
  if (key == "from") return read(value, out.from);
  if (key == "to") return read(value, out.to);
  return key == "after" && read(value, out.after);
}

}  // namespace

std::vector<std::string> to_words(const waiting_filter& f) {
  std::vector<std::string> words;
  if (f.aggregate) words.push_back(word("aggregate", *f.aggregate));
  if (f.state) words.push_back(word("state", name_of(*f.state)));
  if (f.rejected) words.push_back(word("state", k_rejected));
  if (!f.reason.empty()) words.push_back(word("reason", f.reason));
  if (f.seen_before) words.push_back(word("seen_before", milliseconds_of(*f.seen_before)));
  if (f.from) words.push_back(word("from", milliseconds_of(*f.from)));
  if (f.to) words.push_back(word("to", milliseconds_of(*f.to)));
  if (f.sequence) words.push_back(word("sequence", sequence_word(*f.sequence)));
  if (f.limit) words.push_back(word("limit", std::to_string(*f.limit)));
  if (f.after) words.push_back(word("after", sequence_word(f.after->second) + "/" + f.after->first));
  if (f.after_position) words.push_back(word("after_position", position_word(*f.after_position)));
  return words;
}

std::optional<waiting_filter> parse_filter(std::span<const std::string> words) {
  waiting_filter filter;
  for (const std::string& each : words) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string_view text = each;
    if (!read_word(text.substr(0, equals), text.substr(equals + 1), filter)) return std::nullopt;
  }
  return filter;
}

}  // namespace ratchet
