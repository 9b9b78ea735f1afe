// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/likely.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "sniff/guesser.hpp"

namespace ratchet::sniff {

likely guesser::run() {
  find_look();
  find_start();
  if (out_.look == look::not_json) return std::move(out_);
  find_times();
  find_repeats();
  find_ids();
  find_aggregates();
  find_sequences();
  if (out_.look == look::cloudevents) find_attributes();
  // Where a version tells repeats, an id of parts would only be one more guess.
  const bool has_version =
      out_.sequence_is && out_.sequence_is->is_named && !out_.sequence_is->is_time && out_.grows;
  if (out_.ids.empty() && !has_version) find_joined_ids();
  find_types();
  find_parts_of_states();
  find_after_image();
  find_rows();
  out_.root = root_;
  return std::move(out_);
}

void guesser::find_start() {
  std::map<topic_partition, std::int64_t> first;
  for (const sniffed_record& r : records_) {
    const auto [known, is_new] = first.try_emplace(r.where, r.offset);
    if (!is_new) known->second = std::min(known->second, r.offset);
  }
  out_.is_from_start = std::all_of(first.begin(), first.end(),
                                   [](const auto& of) { return of.first.topic.empty() || of.second == 0; });
}

/// The best first; of equals those that came first in the records.
std::vector<candidate> guesser::take(std::vector<scored>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const scored& a, const scored& b) { return a.score > b.score; });
  constexpr std::size_t k_most = 3;
  std::vector<candidate> out;
  for (scored& s : all) {
    if (out.size() < k_most) out.push_back(std::move(s.what));
  }
  return out;
}

bool guesser::is_in_nearly_all(const column& c) const noexcept {
  return c.names * 20 >= expected(c) * 19 && c.names > 0;
}

/// What is malformed is no sign that the others have nothing to go by.
bool guesser::is_in_most(const column& c) const noexcept {
  return c.names * 5 >= expected(c) * 4 && c.names > 0;
}

bool guesser::is_nearly_all(std::size_t part, const column& c) noexcept {
  return part > 0 && part * 10 >= c.names * 9;
}

/// How many records could have it: a null value has no members, nor has one that is no object.
std::size_t guesser::expected(const column& c) const noexcept {
  return c.source.starts_with('/') ? objects_ : records_.size() - marks_;
}

bool guesser::names_time(std::string_view name) noexcept {
  return ends_as(name, {"at", "time", "timestamp", "date", "ts", "when", "tsms", "created", "updated",
                        "occurred", "modified", "changed"});
}

void guesser::find_times() {
  std::vector<scored> all;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const column& c = columns_[i];
    const std::string name = bare_name(c.source);
    const bool is_spelt = c.times > 0 && c.times * 10 >= c.cells.size() * 9 && names_time(name);
    const bool is_text = is_spelt || (c.rfc3339 > 0 && c.rfc3339 * 10 >= c.cells.size() * 9);
    if ((!is_text && !c.unit) || is_of_schema(c)) continue;
    if (!is_text && !names_time(name)) continue;
    int score = is_text ? 20 : 10;
    if (is_one_of(name, {"occurredat", "eventtime", "time", "timestamp", "createdat", "ts"})) score += 8;
    if (names_time(name)) score += 4;
    if (c.cells.size() * 10 >= expected(c) * 9) score += 10;
    if (c.distinct * 2 < c.names) score -= 16;  // of what was there before the event
    score -= static_cast<int>(depth_of(c.source));
    const std::string how = !is_text        ? words_of_unit(*c.unit)
                            : c.rfc3339 > 0 ? "RFC 3339"
                                            : "text; where it names no zone, it is taken for UTC";
    all.push_back({score, {c.source, how, i}});
  }
  out_.times = take(all);
  if (!out_.times.empty()) out_.unit = columns_[out_.times.front().column].unit;
}

std::string guesser::words_of_unit(time_unit unit) {
  constexpr std::array<const char*, 4> k_names{"milliseconds", "seconds", "microseconds", "nanoseconds"};
  return std::string{"a number of "} + k_names[static_cast<std::size_t>(unit)];
}

bool guesser::is_time(std::size_t column) const {
  return std::any_of(out_.times.begin(), out_.times.end(),
                     [&](const candidate& t) { return t.column == column; });
}

/// Connect's description of the values, which stands in each record.
bool guesser::is_of_schema(const column& c) const {
  return !root_.empty() && c.source.starts_with("/schema");
}

/// An attribute, or a header beside them. Of records in both modes a member of a value may be one of their
/// data.
std::string guesser::name_in_events(const std::string& source) const {
  constexpr std::string_view k_of_attributes{"header:ce_"};
  const bool is_header = source.starts_with("header:");
  if (is_header && !source.starts_with(k_of_attributes)) return source;
  const std::string name = source.substr(is_header ? k_of_attributes.size() : 1);
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
  const bool is_structured = find(columns_, "/specversion") != nullptr;
  const bool is_binary = find(columns_, "header:ce_specversion") != nullptr;
  const bool is_attribute =
      is_header || (is_structured && (!is_binary || find(columns_, "header:ce_" + name) != nullptr));
  return is_name && is_attribute && name != "data" ? "attribute:" + name : std::string{};
}

void guesser::find_attributes() {
  const bool is_structured = find(columns_, "/specversion") != nullptr;
  const bool is_binary = find(columns_, "header:ce_specversion") != nullptr;
  if (is_structured != is_binary) out_.attributes_are_at = is_structured ? "/" : "header:ce_";
  if (!out_.sequences.empty()) out_.sequence_in_events = name_in_events(out_.sequences.front().source);
  out_.has_subjects =
      std::any_of(columns_.begin(), columns_.end(), [this](const column& c) { return is_subject(c); });
  for (const char* source : {"/sequence", "header:ce_sequence"}) {
    const column* c = find(columns_, source);
    if (c == nullptr || c->cells.size() * 2 < out_.looking_so) continue;
    const bool in_digits = c->integers * 5 >= c->cells.size() * 4;
    out_.sequence_attribute = in_digits ? attribute_form::digits : attribute_form::text;
    return;
  }
}

void guesser::find_rows() {
  const std::pair<look, row_producer> producers[] = {{look::canal, row_producer::canal},
                                                     {look::maxwell, row_producer::maxwell},
                                                     {look::mongodb, row_producer::mongodb}};
  for (const auto& [what, producer] : producers) {
    if (out_.look != what) continue;
    // A number of the producer's own is beside the row.
    const std::string within = what == look::maxwell ? "/data/" : "/";
    const auto named = std::find_if(out_.aggregates.begin(), out_.aggregates.end(),
                                    [&](const candidate& c) { return c.source.starts_with(within); });
    out_.rows = config_of(producer, records_, columns_,
                          named == out_.aggregates.end() ? std::string{} : named->source);
  }
}

/// Members of the payload that are in some events only. What a format needs is not the payload.
void guesser::find_parts_of_states() {
  const bool is_read =
      out_.look == look::plain || out_.look == look::debezium_outbox || out_.look == look::cloudevents;
  if (!is_read) return;
  if (out_.look != look::cloudevents) find_parts_of(root_, objects_);
  // Behind what an envelope of the producer's own, or of CloudEvents, says of the event.
  if (!out_.now_and_then.empty() || !root_.empty()) return;
  for (const char* payload : {"/data", "/payload", "/body", "/detail", "/changes"}) {
    const column* c = find(columns_, payload);
    if (c == nullptr || c->objects * 10 < objects_ * 9) continue;
    return find_parts_of(payload, c->objects);
  }
  if (out_.look == look::cloudevents && find(columns_, "/specversion") == nullptr)
    find_parts_of("", objects_);
}

void guesser::find_parts_of(const std::string& root, std::size_t objects) {
  for (const column& c : columns_) {
    const bool is_member = c.source.starts_with(root + "/") && depth_of(c.source) == depth_of(root) + 1;
    if (!is_member || c.cells.size() * 10 >= objects * 9) continue;
    if (c.cells.size() <= out_.now_and_then_in) continue;
    out_.now_and_then = c.source;
    out_.now_and_then_in = c.cells.size();
  }
}

/// Of CockroachDB's envelopes without an operation.
void guesser::find_after_image() {
  if (out_.look != look::plain || !out_.sequence_is || out_.sequence_is->kind != sequence_kind::hlc) return;
  const column* after = find(columns_, "/after");
  out_.has_after_image = after != nullptr && after->objects > 0;
  out_.has_resolved = find(columns_, "/resolved") != nullptr;
}

void guesser::find_types() {
  std::vector<scored> all;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const column& c = columns_[i];
    if (!is_in_nearly_all(c) || c.integers == c.names || c.source == "key" || is_of_schema(c)) continue;
    const std::string name = bare_name(c.source);
    if (!is_one_of(name, {"type", "eventtype", "event", "kind", "@type", "op", "optype", "action",
                          "eventname", "messagetype", "operation", "changetype", "objectkind", "xgitlabevent",
                          "xgithubevent", "xshopifytopic", "detailtype", "axonmessagetype"}))
      continue;
    constexpr std::size_t k_most_types = 50;
    if (c.distinct > k_most_types || c.names != c.cells.size()) continue;
    int score = 10 - 3 * static_cast<int>(depth_of(c.source));
    if (is_one_of(name, {"type", "eventtype"})) score += 4;
    all.push_back({score, {c.source, std::to_string(c.distinct) + " different", i}});
  }
  out_.types = take(all);
  if (out_.types.empty()) return;
  std::set<std::string> seen;
  for (const cell& here : columns_[out_.types.front().column].cells) seen.insert(here.text);
  // The words of databases for a row's changes: what they delete is deleted.
  out_.deletes_rows = std::all_of(seen.begin(), seen.end(), [](const std::string& text) {
    return is_one_of(in_lower_case(text), {"insert", "update", "delete", "create", "modify", "remove",
                                           "undelete", "bootstrap-insert", "i", "u", "d", "c", "r", "load"});
  });
  for (const std::string& text : seen) {
    const std::string word = bare_name(text);
    if (ends_as(word, {"delete", "deleted", "remove", "removed"}) || (out_.deletes_rows && word == "d"))
      out_.deleting.push_back(text);
  }
}

likely guess(std::span<const sniffed_record> records, const std::vector<column>& columns,
             std::optional<look> known) {
  return guesser{records, columns, known}.run();
}

}  // namespace ratchet::sniff
