// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/values.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "decode/field_source.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

using letter_counts = std::array<int, 256>;

int& count_of(letter_counts& counts, char letter) {
  return counts[static_cast<unsigned char>(lower(letter))];
}

/// No fewer edits make `a` of a word of `size` letters with these counts: each adds at most one that it
/// lacks, or takes one that is too many. Most words of a list are ruled out by that, at a fraction of the
/// work.
std::size_t least_distance(std::string_view a, letter_counts of_other, std::size_t size) {
  std::size_t lacking = 0;
  for (const char letter : a) lacking += --count_of(of_other, letter) < 0 ? 1U : 0U;
  return std::max(lacking, size + lacking - std::min(size + lacking, a.size()));
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words, in any case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

bool is_topic_name(std::string_view name) noexcept {
  constexpr std::size_t k_longest = 249;
  if (name.empty() || name.size() > k_longest || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '.' || c == '_' || c == '-';
  });
}

bool is_broker_address(std::string_view address) noexcept {
  if (const std::size_t protocol = address.find("://"); protocol != std::string_view::npos) {
    constexpr std::string_view k_protocols[] = {"PLAINTEXT", "SSL", "SASL_PLAINTEXT",
                                                "SASL_SSL"};  // librdkafka's
    const std::string_view named = address.substr(0, protocol);
    if (std::find(std::begin(k_protocols), std::end(k_protocols), named) == std::end(k_protocols))
      return false;
    address.remove_prefix(protocol + 3);
  }
  const bool bracketed = address.starts_with('[');
  const std::size_t host_end = bracketed ? address.find(']') : address.find(':');
  if (bracketed && host_end == std::string_view::npos) return false;
  const std::string_view host =
      bracketed ? address.substr(1, host_end - 1) : address.substr(0, std::min(host_end, address.size()));
  const bool plain = std::all_of(host.begin(), host.end(), [bracketed](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '.' || c == '_' || c == '-' ||
           (bracketed && (c == ':' || c == '%'));
  });
  if (host.empty() || !plain) return false;
  std::string_view port = address.substr(std::min(address.size(), bracketed ? host_end + 1 : host_end));
  if (port.empty()) return true;
  constexpr std::uint64_t k_highest_port = 65'535;
  if (port.front() != ':') return false;
  const auto number = parse_whole_number(port.substr(1));
  return number && *number > 0 && *number <= k_highest_port;
}

std::optional<listen_address> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_whole_number(text.substr(colon + 1));
  if (!port || *port > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  listen_address found{std::string{host}, static_cast<std::uint16_t>(*port)};
  in6_addr address{};  // large enough for both
  if (::inet_pton(bracketed ? AF_INET6 : AF_INET, found.host.c_str(), &address) != 1) return std::nullopt;
  return found;
}

bool is_loopback(const std::string& host) noexcept {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (::ntohl(v4.s_addr) >> 24U) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

const char* fault_of_pointer(std::string_view pointer) noexcept {
  if (!pointer.starts_with('/')) return "a JSON Pointer begins with /";
  return parse_json_pointer(pointer) ? nullptr : "in a key of a JSON Pointer ~ is written ~0, and / is ~1";
}

const char* fault_of_field_source(std::string_view source) noexcept {
  if (source.starts_with('/')) return fault_of_pointer(source);
  return parse_field_source(source) ? nullptr : "a field comes from /a/pointer, key or header:NAME";
}

std::string_view did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t k_longest = 64;
  if (word.size() > k_longest) return {};
  letter_counts letters{};
  for (const char letter : word) ++count_of(letters, letter);
  std::string_view best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : known) {
    // A third of the letters may differ, and two in short words.
    const std::size_t allowed = std::max<std::size_t>(candidate.size() > 3 ? 2 : 1, candidate.size() / 3);
    if (least_distance(candidate, letters, word.size()) > allowed) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance <= allowed && distance < candidate.size()) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace ratchet
