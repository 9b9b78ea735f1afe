// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sniff/guesser.hpp"

namespace ratchet::sniff {

/// What is the aggregate of a CloudEvent unless a config says otherwise.
bool guesser::is_subject(const column& c) const noexcept {
  return out_.look == look::cloudevents && (c.source == "/subject" || c.source == "header:ce_subject") &&
         is_in_nearly_all(c);
}

void guesser::find_aggregates() {
  std::vector<scored> all;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const column& c = columns_[i];
    if (!is_in_most(c) || is_time(i) || is_of_schema(c)) continue;
    const std::string name = bare_name(c.source);
    const bool is_key = c.source == "key";
    const bool is_within_key = in_lower_case(c.source).find("/keys/") != std::string::npos;
    const bool named = is_within_key || in_lower_case(c.source).ends_with("ids/0") ||
                       ends_as(name, {"id", "key", "uuid", "number", "code", "no", "sku", "subject"});
    if (!is_key && !named) continue;
    const bool comes_again = this->comes_again(c);
    const bool is_event_id = !out_.ids.empty() && out_.ids.front().column == i;
    constexpr std::size_t k_enough = 8;
    const bool names_events = is_event_id || names_events_together(name);
    if (!comes_again && c.names >= k_enough && names_events) continue;
    int score = is_key ? 20 : 0;
    if (comes_again) score += 12;
    if (!is_in_nearly_all(c)) score -= 10;
    if (is_subject(c)) score += 100;
    if (names_events) score -= 15;
    if (is_within_key) score += 6;
    if (c.distinct <= 1 && c.names > 10) continue;  // what is the same in all names none of them
    if (is_one_of(name, {"correlationid", "traceid", "spanid", "tenantid", "sessionid", "schemaid"}))
      score -= 12;
    score -= 2 * static_cast<int>(depth_of(c.source));
    if (c.source.starts_with("header:")) score -= 4;
    all.push_back(
        {score, {c.source, std::to_string(c.distinct) + " different in " + std::to_string(c.names), i}});
  }
  out_.aggregates = take(all);
}

void guesser::find_sequences() {
  if (out_.aggregates.empty()) return;
  std::vector<likely_sequence> all =
      likely_sequences(columns_, out_.aggregates.front().column, records_.size() - marks_, objects_, seen_);
  std::erase_if(
      all, [this](const likely_sequence& s) { return is_of_schema(columns_[s.column]) || is_the_id(s); });
  join_aggregates(all);
  if (!out_.times.empty())
    out_.in_time =
        growth_of_times(columns_[out_.times.front().column], columns_[out_.aggregates.front().column], seen_);
  if (all.empty()) return;
  std::stable_sort(all.begin(), all.end(),
                   [](const likely_sequence& a, const likely_sequence& b) { return a.score > b.score; });
  constexpr std::size_t k_most = 3;
  for (std::size_t i = 0; i < std::min(k_most, all.size()); ++i)
    out_.sequences.push_back(
        {columns_[all[i].column].source, words_of(all[i], seen_.when_is), all[i].column});
  const likely_sequence& best = all.front();
  out_.counts_by_one = best.numbers.counts_by_one;
  out_.grows = best.growth.grows();
  out_.sequence_is = best;
}

/// An id that grows orders events by when they were made up, which is no version.
bool guesser::is_the_id(const likely_sequence& s) const {
  return !out_.ids.empty() && out_.ids.front().column == s.column && s.kind != sequence_kind::integer;
}

/// Where a version grows in the aggregates of another field, or in those of two: the orders of a customer
/// who is the key, numbers of several tenants.
void guesser::join_aggregates(std::vector<likely_sequence>& all) {
  if (all.empty() || !all.front().is_named || all.front().is_time) return;
  likely_sequence& s = all.front();
  constexpr std::size_t k_enough = 3;
  if (s.growth.pairs == 0 || s.growth.grows() || (s.in_time.pairs >= k_enough && s.in_time.grows())) return;
  const column& version = columns_[s.column];
  const column& first = columns_[out_.aggregates.front().column];
  // Two events of one aggregate with one number: it counts within something else. Numbers that fall may
  // only have come late.
  const bool collides = !s.is_believable() || s.growth.equal * 5 > s.growth.pairs;
  const auto take_if_grows = [&](const std::vector<const column*>& by) {
    const growth came = growth_of(version, s.kind, by, seen_);
    const growth in_time = growth_in_time(version, s.kind, by, seen_);
    // Of few pairs all may grow by chance.
    constexpr std::size_t k_many = 20;
    if (came.pairs < (collides ? k_enough : k_many) || came.pairs * 3 < s.growth.pairs) return false;
    if (!came.grows() && !(in_time.pairs >= k_enough && in_time.grows())) return false;
    s.growth = came;
    s.in_time = in_time;
    s.numbers = numbers_of(version, s.kind, by, seen_);
    s.score += 10;
    return true;
  };
  for (std::size_t i = 1; i < out_.aggregates.size(); ++i) {
    const candidate other = out_.aggregates[i];
    if (other.column == s.column || names_events_together(bare_name(other.source)) ||
        !take_if_grows({&columns_[other.column]}))
      continue;
    out_.not_the_aggregate = first.source;
    std::rotate(out_.aggregates.begin(), out_.aggregates.begin() + static_cast<std::ptrdiff_t>(i),
                out_.aggregates.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return;
  }
  for (std::size_t i = 0; i < columns_.size() && collides; ++i) {
    const column& c = columns_[i];
    const bool fits = is_in_nearly_all(c) && c.distinct > 1 && c.distinct * 2 <= c.names && !is_time(i) &&
                      i != s.column && &c != &first && c.source != "key" && !is_of_schema(c) &&
                      depth_of(c.source) <= 3;
    if (!fits || !take_if_grows({&c, &first})) continue;
    out_.joined_aggregate = {c.source, first.source};
    return;
  }
}

}  // namespace ratchet::sniff
