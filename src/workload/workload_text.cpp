// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_text.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "workload/workload_stream.hpp"

namespace ratchet {
namespace {

constexpr std::array<std::string_view, 8> k_statuses{"created",    "queued",  "authorized", "captured",
                                                     "in_transit", "settled", "paid",       "reconciled"};
constexpr std::array<std::string_view, 4> k_currencies{"EUR", "USD", "GBP", "SEK"};
constexpr std::array<std::string_view, 3> k_methods{"card", "sepa_debit", "instant"};
constexpr std::array<std::string_view, 16> k_names{
    "invoice", "order",  "monthly", "parcel", "ticket",  "rent",   "travel", "online",
    "coffee",  "refund", "annual",  "store",  "grocery", "repair", "course", "meter"};
/// What is wrong with a malformed record; 0 is none.
enum defect : std::uint8_t {
  none,
  truncated,
  no_sequence,
  negative_sequence,
  bad_id,
  no_aggregate,
  not_json
};

/// Zero-padded decimal.
void append_number(std::uint64_t value, int digits, std::string& out) {
  std::array<char, 24> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  for (auto width = end - text.data(); width < digits; ++width) out += '0';
  out.append(text.data(), end);
}

void append_hex(std::uint64_t value, int digits, std::string& out) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
}

std::string_view status_of(const workload_event& event) {
  const auto index = event.number - 1;  // a long story ends in alternating corrections
  return index < k_statuses.size() ? k_statuses[index] : k_statuses[6 + index % 2];
}

/// Fills up with words that follow from the id, so that equal events have equal bytes.
void append_note(const workload_event& event, std::size_t bytes, std::string& out) {
  const auto end = out.size() + bytes;
  auto choice = mix64(event.id.low);
  for (auto word = event.id.low; out.size() < end; choice >>= 4) {
    if (choice == 0) choice = mix64(++word);
    out += k_names[choice & 15];
    out += ' ';
  }
  out.resize(end);
}

/// Without the note, which comes last: the text ends in an empty one.
void append_payment(const workload_event& event, std::string& out) {
  const auto nature = mix64(event.payment);  // what stays the same over a payment's life
  out += '{';
  if (event.defect != no_aggregate) out += "\"id\":\"" + workload_stream::key(event) + "\",";
  out += "\"status\":\"";
  out += status_of(event);
  out += "\",\"amount\":\"";
  append_number(1 + nature % 9999, 1, out);
  out += '.';
  append_number((nature >> 16) % 100, 2, out);
  out += "\",\"currency\":\"";
  out += k_currencies[(nature >> 32) % k_currencies.size()];
  out += "\",\"method\":\"";
  out += k_methods[(nature >> 40) % k_methods.size()];
  out += "\",\"merchant\":\"m";
  append_number((nature >> 48) % 5000, 4, out);
  out += "\",\"reference\":\"";
  append_hex(mix64(event.id.high ^ event.id.low), 16, out);
  out += "\",\"note\":\"\"}";
}

void append_value(const workload_event& event, std::string& out) {
  out += "{\"id\":\"";
  if (event.defect == bad_id) {
    out += "unknown";
  } else {
    append_uuid(event.id, out);
  }
  out += "\",\"type\":\"payment.";
  out += status_of(event);
  out += "\",\"occurred_at\":\"";
  append_rfc3339(event.occurred_at, out);
  out += '"';
  if (event.defect != no_sequence) {
    out += event.defect == negative_sequence ? ",\"sequence\":-" : ",\"sequence\":";
    append_number(event.number, 1, out);
  }
  out += ",\"payment\":";
  append_payment(event, out);
  out += '}';
}

/// Puts the note in front of the last `tail` bytes, so long that the value gets the size that is wanted.
void add_note(const workload_event& event, std::size_t bare, std::uint32_t size, std::string_view tail,
              std::string& out) {
  if (bare >= size) return;
  out.resize(out.size() - tail.size());
  append_note(event, size - bare, out);
  out += tail;
}

}  // namespace

void append_rfc3339(timestamp time, std::string& out) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  append_number(static_cast<std::uint64_t>(static_cast<int>(date.year())), 4, out);
  out += '-';
  append_number(static_cast<unsigned>(date.month()), 2, out);
  out += '-';
  append_number(static_cast<unsigned>(date.day()), 2, out);
  out += 'T';
  append_number(static_cast<std::uint64_t>(clock.hours().count()), 2, out);
  out += ':';
  append_number(static_cast<std::uint64_t>(clock.minutes().count()), 2, out);
  out += ':';
  append_number(static_cast<std::uint64_t>(clock.seconds().count()), 2, out);
  out += '.';
  append_number(static_cast<std::uint64_t>(clock.subseconds().count()), 3, out);
  out += 'Z';
}

bool parse_rfc3339(const std::string& text, timestamp& out) {
  using namespace std::chrono;
  int y = 0;
  unsigned mo = 0;
  unsigned d = 0;
  int h = 0;
  int mi = 0;
  int s = 0;
  int ms = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d%n", &y, &mo, &d, &h, &mi, &s, &used) != 6)
    return false;
  auto rest = std::string_view{text}.substr(static_cast<std::size_t>(used));
  if (rest.size() == 5 && rest.front() == '.') {
    const auto end = std::from_chars(rest.data() + 1, rest.data() + 4, ms);
    if (end.ptr != rest.data() + 4 || ms < 0) return false;
    rest.remove_prefix(4);
  }
  const year_month_day date{year{y}, month{mo}, day{d}};
  if (rest != "Z" || !date.ok() || y < 1970 || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59)
    return false;
  out = sys_days{date} + hours{h} + minutes{mi} + seconds{s} + milliseconds{ms};
  return true;
}

void append_uuid(event_id id, std::string& out) {
  append_hex(id.high >> 32, 8, out);
  out += '-';
  append_hex(id.high >> 16, 4, out);
  out += '-';
  append_hex(id.high, 4, out);
  out += '-';
  append_hex(id.low >> 48, 4, out);
  out += '-';
  append_hex(id.low, 12, out);
}

std::string workload_stream::key(const workload_event& event) {
  std::string key{"p"};
  append_number(event.payment, 8, key);
  return key;
}

void workload_stream::render(const workload_event& event, std::string& out) const {
  if (event.defect == not_json) {
    out += "payment=" + key(event) + ";status=";
    out += status_of(event);
    return;
  }
  const auto from = out.size();
  append_value(event, out);
  add_note(event, out.size() - from, dials_.size, "\"}}", out);
  if (event.defect == truncated) out.resize(from + (out.size() - from) * 2 / 3);
}

void workload_stream::render_payment(const workload_event& event, std::string& out) const {
  std::string value;
  append_value(event, value);
  append_payment(event, out);
  add_note(event, value.size(), dials_.size, "\"}", out);
}

}  // namespace ratchet
