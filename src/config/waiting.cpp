// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "config/sections.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

constexpr known_key k_gap_keys[] = {{"policy"}, {"timeout"}};
constexpr known_key k_waiting_keys[] = {{"per_aggregate"}, {"events"}, {"bytes"}};
constexpr known_key k_rejected_keys[] = {{"records"}, {"age"}};
constexpr known_key k_wait_retry_keys[] = {{"attempts"}, {"backoff"}};

void read_limit(const config_map& map, std::string_view key, std::uint64_t& out) {
  constexpr std::uint64_t k_most = 1'000'000'000'000;  // more than any disk holds
  if (const auto value = map.get(key)) (void)value->limit(out, k_most);
}

/// LOW..HIGH.
void read_backoff(const config_value& value, retry_config& out) {
  constexpr const char* k_example = "two durations and two dots between them, as in 200ms..5m";
  std::string text;
  if (!value.text(text)) return;
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    const bool constant = parse_duration(text).has_value();
    return value.error("is not a range of durations",
                       constant ? "for a constant one write " + text + ".." + text : k_example);
  }
  const auto low = parse_duration(std::string_view{text}.substr(0, dots));
  const auto high = parse_duration(std::string_view{text}.substr(dots + 2));
  if (!low || !high) return value.error("is not a range of durations", k_example);
  if (low->count() == 0) return value.error("begins at 0", "a retry waits for 1ms at least");
  if (*low > *high) return value.error("ends below its beginning", "the shorter one comes first");
  out.backoff = *low;
  out.most = *high;
}

}  // namespace

void read_gap(const config_value& value, gap_config& out) {
  const config_map map{value, k_gap_keys};
  if (!map.valid()) return;
  if (const auto policy = map.get("policy")) {
    constexpr std::string_view k_names[] = {"wait", "skip", "stop"};
    if (const int at = policy->word(k_names); at >= 0) out.policy = static_cast<gap_policy>(at);
  }
  if (const auto timeout = map.get("timeout")) {
    if (timeout->duration(out.timeout) && out.timeout.count() == 0) {
      timeout->error("is 0", "events may overtake each other: allow missing events some time, as in 1h");
    }
  }
}

void read_waiting(const config_value& value, waiting_config& out) {
  const config_map map{value, k_waiting_keys};
  if (!map.valid()) return;
  read_limit(map, "per_aggregate", out.per_aggregate);
  read_limit(map, "events", out.events);
  if (const auto bytes = map.get("bytes")) (void)bytes->size(out.bytes);
}

void read_retry(const config_value& value, retry_config& out) {
  const config_map map{value, k_wait_retry_keys};
  if (!map.valid()) return;
  if (const auto attempts = map.get("attempts")) {
    std::uint64_t number = 0;
    if (attempts->limit(number, std::numeric_limits<std::uint32_t>::max())) {
      out.attempts = static_cast<std::uint32_t>(number);
    }
  }
  if (const auto backoff = map.get("backoff")) read_backoff(*backoff, out);
}

void read_rejected(const config_value& value, rejected_config& out) {
  const config_map map{value, k_rejected_keys};
  if (!map.valid()) return;
  if (const auto records = map.get("records"))
    (void)records->limit(out.records, std::numeric_limits<std::uint64_t>::max());
  const auto age = map.get("age");
  if (!age) return;
  if (age->is_word("off")) {
    out.age.reset();
    return;
  }
  std::chrono::milliseconds given{0};
  if (!age->duration(given)) return;
  if (given.count() == 0) return age->error("is 0", "as in 7d; for no limit use age: off");
  out.age = given;
}

}  // namespace ratchet
