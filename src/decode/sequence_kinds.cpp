// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/sequence_kinds.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "core/ordered_text.hpp"
#include "core/sequence_range.hpp"
#include "decode/event_id_text.hpp"
#include "decode/json_scan.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"

namespace ratchet {

namespace {

constexpr read_version k_invalid{malformed_reason::sequence_invalid};
constexpr read_version k_too_large{malformed_reason::sequence_too_large};
constexpr read_version k_negative{malformed_reason::sequence_negative};

/// So many digits of a fraction fit into 64 bits, whatever they are.
constexpr std::size_t k_most_fraction = 19;

std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && json::is_digit(text[size])) ++size;
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

std::string_view without_zeros_behind(std::string_view digits) noexcept {
  while (!digits.empty() && digits.back() == '0') digits.remove_suffix(1);
  return digits;
}

/// The digits behind a point, as so many 10^-places. None: more of them than zeros behind those.
std::optional<std::uint64_t> read_fraction(std::string_view digits, std::size_t places) noexcept {
  digits = without_zeros_behind(digits);
  if (digits.size() > places) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < places; ++i)
    value = value * 10 + (i < digits.size() ? static_cast<std::uint64_t>(digits[i] - '0') : 0);
  return value;
}

std::string fraction_text(std::uint64_t value, std::size_t places) {
  std::string digits = std::to_string(value);
  digits.insert(0, places - digits.size(), '0');
  return digits;
}

read_version of_parts(std::string_view whole, std::string_view fraction, std::size_t places) noexcept {
  while (!whole.empty() && whole.front() == '0') whole.remove_prefix(1);
  const auto number = whole.empty() ? std::optional<std::uint64_t>{0} : parse_u64(whole);
  const auto behind = read_fraction(fraction, places);
  if (!number || !behind) return k_too_large;
  return {malformed_reason::none, {*number, *behind}};
}

/// {what stands before the point, what stands behind it}.
read_version read_decimal(std::string_view text) noexcept {
  if (text.starts_with('-')) return k_negative;
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return k_invalid;
  }
  if (whole.empty()) return k_invalid;
  if (text.empty()) return of_parts(whole, fraction, k_most_fraction);
  if (text.front() != 'e' && text.front() != 'E') return k_invalid;
  text.remove_prefix(1);
  const bool is_small = text.starts_with('-');
  if (is_small || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view power_digits = take_digits(text);
  if (power_digits.empty() || !text.empty()) return k_invalid;
  // The point moves; what is longer than this does not fit, wherever it goes.
  constexpr std::size_t k_most = 64;
  std::array<char, 3 * k_most> digits{};
  digits.fill('0');
  std::string_view significant = without_zeros_behind(fraction);
  if (whole.size() > k_most || significant.size() > k_most) return k_too_large;
  std::size_t at = k_most;
  for (const char c : whole) digits[at++] = c;
  const std::size_t point = at;
  for (const char c : significant) digits[at++] = c;
  const std::string_view all{digits.data() + k_most, at - k_most};
  if (all.find_first_not_of('0') == std::string_view::npos) return {};
  const auto power = parse_u64(power_digits);
  if (!power || *power >= k_most) return k_too_large;
  const std::size_t moved = is_small ? point - *power : point + *power;
  const std::string_view room{digits.data(), digits.size()};
  return of_parts(room.substr(0, moved), room.substr(moved), k_most_fraction);
}

constexpr std::size_t k_most_logical = 10;

/// {nanoseconds, the counter}: a decimal number, as CockroachDB compares it.
read_version read_hlc(std::string_view text) noexcept {
  if (text.starts_with('-')) return k_negative;
  const std::string_view whole = take_digits(text);
  if (whole.empty()) return k_invalid;
  if (text.empty()) return of_parts(whole, {}, k_most_logical);
  text.remove_prefix(1);
  const std::string_view logical = take_digits(text);
  if (*(whole.data() + whole.size()) != '.' || logical.empty() || !text.empty()) return k_invalid;
  return of_parts(whole, logical, k_most_logical);
}

constexpr std::size_t k_seconds = 19;  // characters of a date and time of day
constexpr std::int64_t k_year_0 = -62'167'219'200;

/// {twice the seconds since the year 0, and one more for a leap second; the fraction}.
read_version read_time(std::string_view text) noexcept {
  if (text.size() <= k_seconds) return k_invalid;
  std::string_view rest = text.substr(k_seconds);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty() || rest.starts_with('.')) return k_invalid;
  }
  constexpr std::size_t k_offset = 6;  // +hh:mm
  if (rest.size() > k_offset) return k_invalid;
  std::array<char, k_seconds + k_offset> whole{};
  std::size_t size = text.copy(whole.data(), k_seconds);
  if (whole[10] == ' ') whole[10] = 'T';
  size += rest.copy(whole.data() + size, k_offset);
  // +hhmm and +hh, as databases write them.
  const auto add = [&](std::string_view more) { size += more.copy(whole.data() + size, more.size()); };
  if (rest.size() == 5 && rest[3] != ':') {
    size -= 2;
    add(":");
    add(rest.substr(3));
  } else if (rest.size() == 3) {
    add(":00");
  }
  const bool is_leap = whole[17] == '6' && whole[18] == '0';
  const auto time = parse_rfc3339({whole.data(), size});
  if (!time) return k_invalid;
  const auto behind = read_fraction(fraction, k_most_fraction);
  if (!behind) return k_too_large;
  const auto seconds = time->time_since_epoch().count() / 1000 - k_year_0;
  const auto twice = static_cast<std::uint64_t>(seconds) * 2;
  // A leap second is read as the one behind it; it has a place before that.
  return {malformed_reason::none, {is_leap ? twice - 1 : twice, *behind}};
}

/// Hexadecimal digits up to a length, then this character or the end.
std::optional<std::uint64_t> take_hex(std::string_view& text, std::size_t most, char end) noexcept {
  std::size_t size = 0;
  std::uint64_t value = 0;
  for (; size < text.size() && size < most; ++size) {
    const int digit = json::hex_value(text[size]);
    if (digit < 0) break;
    value = value << 4 | static_cast<std::uint64_t>(digit);
  }
  if (size == 0) return std::nullopt;
  text.remove_prefix(size);
  if (end == '\0') return value;
  if (!text.starts_with(end)) return std::nullopt;
  text.remove_prefix(1);
  return value;
}

constexpr std::uint64_t k_sql_server = std::uint64_t{1} << 63U;
constexpr std::size_t k_half = 8;  // digits of 32 bits
constexpr std::size_t k_slot = 4;

/// Of PostgreSQL {0, position}; of SQL Server {its mark and the file, block and slot}.
read_version read_lsn(std::string_view text) noexcept {
  const bool is_bytes = text.starts_with("0x") && text.size() == 2 + 2 * k_half + k_slot;
  const bool is_sql_server = is_bytes || text.find(':') != std::string_view::npos;
  if (is_bytes) text.remove_prefix(2);
  const char between = is_bytes ? '\0' : is_sql_server ? ':' : '/';
  const auto first = take_hex(text, k_half, between);
  const auto second = first ? take_hex(text, k_half, is_sql_server ? between : '\0') : std::nullopt;
  if (!second) return k_invalid;
  if (!is_sql_server) {
    if (!text.empty()) return k_invalid;
    return {malformed_reason::none, {0, *first << 32 | *second}};
  }
  const auto slot = take_hex(text, k_slot, '\0');
  if (!slot || !text.empty()) return k_invalid;
  return {malformed_reason::none, {k_sql_server | *first, *second << 16 | *slot}};
}

read_version of_id(const std::optional<event_id>& id) noexcept {
  return id ? read_version{malformed_reason::none, {id->high, id->low}} : k_invalid;
}

read_version read_text(std::string_view text) noexcept {
  const auto place = sequence_of_text(text);
  if (place) return {malformed_reason::none, *place};
  const bool is_none = text.empty() || text.find('\0') != std::string_view::npos;
  return is_none ? k_invalid : k_too_large;
}

std::string hex_text(std::uint64_t value, std::size_t places, bool upper) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  std::string text{digits.data(), end.ptr};
  if (text.size() < places) text.insert(0, places - text.size(), '0');
  for (char& c : text) {
    if (upper && c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string decimal_text(sequence s) {
  const std::string fraction = fraction_text(s.number, k_most_fraction);
  const std::string_view shown = without_zeros_behind(fraction);
  return std::to_string(s.epoch).append(shown.empty() ? "" : ".").append(shown);
}

std::string hlc_text(sequence s) {
  return std::to_string(s.epoch) + "." + fraction_text(s.number, k_most_logical);
}

std::string time_text(sequence s) {
  const bool is_leap = (s.epoch & 1U) != 0;
  const std::int64_t seconds = static_cast<std::int64_t>(s.epoch >> 1U) + k_year_0;
  std::string text = to_rfc3339(timestamp{std::chrono::seconds{seconds}});
  text.resize(k_seconds);
  if (is_leap) text.replace(k_seconds - 2, 2, "60");
  const std::string fraction = fraction_text(s.number, k_most_fraction);
  const std::string_view shown = without_zeros_behind(fraction);
  return text.append(shown.empty() ? "" : ".").append(shown).append("Z");
}

std::string lsn_text(sequence s) {
  if ((s.epoch & k_sql_server) == 0)
    return hex_text(s.number >> 32U, 1, true) + "/" + hex_text(s.number & 0xFFFFFFFF, 1, true);
  return hex_text(s.epoch & 0xFFFFFFFF, k_half, false) + ":" +
         hex_text(s.number >> 16U & 0xFFFFFFFF, k_half, false) + ":" +
         hex_text(s.number & 0xFFFF, k_slot, false);
}

std::string id_text(sequence s, id_kind kind) {
  return to_text(kind, event_id{s.epoch, s.number});
}

/// CloudEvents may have whole numbers among them.
std::string version_text(sequence s) {
  return s.epoch == 0 ? std::to_string(s.number) : text_of_sequence(s);
}

std::string wide_hex(sequence s) {
  return s.epoch == 0 ? hex_text(s.number, 1, false)
                      : hex_text(s.epoch, 1, false) + hex_text(s.number, 2 * k_half, false);
}

std::string narrow_hex(sequence s) {
  const std::string number = hex_text(s.number, 1, false);
  return s.epoch == 0 ? number : "[" + std::to_string(s.epoch) + ", " + number + "]";
}

constexpr std::string_view k_names[] = {"",    "integer", "decimal", "time", "lsn",
                                        "hlc", "ulid",    "uuidv7",  "text"};

}  // namespace

std::string_view word_of(sequence_kind kind) noexcept {
  return k_names[static_cast<std::size_t>(kind)];
}

read_version read_version_of(sequence_kind kind, std::string_view text) noexcept {
  switch (kind) {
    case sequence_kind::decimal:
      return read_decimal(text);
    case sequence_kind::time:
      return read_time(text);
    case sequence_kind::lsn:
      return read_lsn(text);
    case sequence_kind::hlc:
      return read_hlc(text);
    case sequence_kind::ulid:
      return of_id(parse_ulid(text));
    case sequence_kind::uuidv7:
      return of_id(parse_uuidv7(text));
    case sequence_kind::text:
      return read_text(text);
    case sequence_kind::by_format:
    case sequence_kind::integer:
      break;
  }
  return k_invalid;
}

sequence_kind kind_of_sequences(const envelope_config& e, order by) noexcept {
  if (is_of_record(e.sequence)) return sequence_kind::integer;
  if (e.sequence_as != sequence_kind::by_format) return e.sequence_as;
  // As their extension has it. With strict order they are counted, and with an epoch, too.
  const bool is_text = e.format == envelope_format::cloudevents && by == order::latest && e.epoch.empty() &&
                       e.sequence_bits == 64 && e.sequence_base == 10;
  return is_text ? sequence_kind::text : sequence_kind::integer;
}

bool are_text_by_format(const envelope_config& e, order by) noexcept {
  return e.sequence_as == sequence_kind::by_format && kind_of_sequences(e, by) == sequence_kind::text;
}

bool are_numbers_or_text(const envelope_config& e, order by) noexcept {
  return e.sequence == "attribute:sequence" && are_text_by_format(e, by);
}

sequence_spelling sequence_spelling::of(const envelope_config& e, order by) {
  return {kind_of_sequences(e, by), e.sequence_bits == 128, e.sequence_base == 16};
}

bool sequence_spelling::is_pair(sequence s) const noexcept {
  return kind == sequence_kind::integer && !wide && s.epoch != 0;
}

bool sequence_spelling::is_number(sequence s) const noexcept {
  if (kind == sequence_kind::integer) return !hex && !is_pair(s);
  return kind == sequence_kind::decimal || (kind == sequence_kind::text && s.epoch == 0);
}

std::string (*sequence_spelling::function() const noexcept)(sequence) {
  switch (kind) {
    case sequence_kind::decimal:
      return &decimal_text;
    case sequence_kind::time:
      return &time_text;
    case sequence_kind::lsn:
      return &lsn_text;
    case sequence_kind::hlc:
      return &hlc_text;
    case sequence_kind::ulid:
      return [](sequence s) { return id_text(s, id_kind::ulid); };
    case sequence_kind::uuidv7:
      return [](sequence s) { return id_text(s, id_kind::uuidv7); };
    case sequence_kind::text:
      return &version_text;
    case sequence_kind::by_format:
    case sequence_kind::integer:
      break;
  }
  if (hex) return wide ? &wide_hex : &narrow_hex;
  return wide ? static_cast<std::string (*)(sequence)>(&to_decimal)
              : static_cast<std::string (*)(sequence)>(&to_text);
}

std::string sequence_spelling::text(sequence s) const {
  return function()(s);
}

}  // namespace ratchet
