// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/likely.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "decode/sequence_text.hpp"
#include "sniff/value_form.hpp"

namespace ratchet::sniff {

namespace {

using words = std::initializer_list<std::string_view>;

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The last token of a pointer, or the header's name, in lower case and without _ and -.
std::string bare_name(std::string_view source) {
  const std::size_t at = source.find_last_of("/:");
  std::string name = lower(at == std::string_view::npos ? source : source.substr(at + 1));
  std::erase_if(name, [](char c) { return c == '_' || c == '-'; });
  return name;
}

std::size_t depth_of(std::string_view source) noexcept {
  return static_cast<std::size_t>(std::count(source.begin(), source.end(), '/'));
}

bool is_one_of(std::string_view name, words known) noexcept {
  return std::find(known.begin(), known.end(), name) != known.end();
}

bool ends_as(std::string_view name, words known) noexcept {
  return std::any_of(known.begin(), known.end(), [&](std::string_view end) { return name.ends_with(end); });
}

std::string of(std::size_t part, std::size_t all) {
  return std::to_string(part) + " of " + std::to_string(all);
}

/// Guesses of one set of records. Scores are relative: only which is higher counts.
class guesser {
 public:
  guesser(std::span<const sniffed_record> records, const std::vector<column>& columns)
      : records_{records}, columns_{columns} {}

  [[nodiscard]] likely run() {
    find_look();
    if (out_.look == look::not_json) return std::move(out_);
    find_times();
    find_ids();
    find_aggregates();
    find_sequences();
    find_types();
    find_parts_of_states();
    return std::move(out_);
  }

 private:
  struct scored {
    int score;
    candidate what;
  };

  [[nodiscard]] bool has(std::size_t record, std::string_view source) const {
    const column* c = find(columns_, source);
    if (c == nullptr) return false;
    const auto at = std::lower_bound(c->cells.begin(), c->cells.end(), record,
                                     [](const cell& here, std::size_t r) { return here.record < r; });
    return at != c->cells.end() && at->record == record;
  }
  [[nodiscard]] std::size_t having(words sources) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const bool all = std::all_of(sources.begin(), sources.end(),
                                   [&](std::string_view source) { return has(i, source); });
      if (all) ++count;
    }
    return count;
  }

  void find_look() {
    values_ = 0;
    std::size_t objects = 0;
    for (const sniffed_record& r : records_) {
      if (!r.value) continue;
      ++values_;
      const byte_form form = look_at(r.value).form;
      if (form == byte_form::json_object || form == byte_form::framed_json) ++objects;
    }
    const std::size_t schemas = having({"/schema", "/payload"});
    root_ = 2 * schemas > values_ ? "/payload" : "";
    const std::string op = root_ + "/op";
    const std::string source = root_ + "/source";
    const std::pair<look, std::size_t> looks[] = {
        {look::cloudevents, std::max(having({"/specversion", "/source", "/type"}),
                                     having({"header:ce_specversion", "header:ce_id"}))},
        {look::ydb_changefeed, std::max({having({"/key", "/newImage"}), having({"/key", "/erase"}),
                                         having({"/key", "/update"}), ydb_debezium()})},
        {look::debezium_changes, having({op, source})},
        {look::debezium_unwrapped, unwrapped()},
        {look::debezium_outbox, having({"header:id", "key"})},
    };
    for (const auto& [what, count] : looks) {
      if (count == 0 || 2 * count < records_.size() - nulls()) continue;
      out_.look = what;
      out_.looking_so = count;
      if (what == look::debezium_changes) note_changes();
      return;
    }
    out_.looking_so = objects;
    if (objects == 0 && !any_header()) out_.look = look::not_json;
  }

  [[nodiscard]] std::size_t nulls() const noexcept { return records_.size() - values_; }
  [[nodiscard]] bool any_header() const {
    return std::any_of(columns_.begin(), columns_.end(),
                       [](const column& c) { return c.source.starts_with("header:"); });
  }
  [[nodiscard]] std::size_t ydb_debezium() const {
    const column* c = find(columns_, "/payload/source/connector");
    if (c == nullptr) return 0;
    return static_cast<std::size_t>(
        std::count_if(c->cells.begin(), c->cells.end(), [](const cell& here) { return here.text == "ydb"; }));
  }
  [[nodiscard]] std::size_t unwrapped() {
    std::size_t most = 0;
    for (const char* name : {"/__deleted", "/__op", "/__lsn", "/__source_lsn", "/__source_ts_ms"})
      most = std::max(most, having({root_ + name}));
    for (const char* name : {"/__lsn", "/__source_lsn", "/__pos", "/__source_pos", "/__commit_lsn",
                             "/__source_commit_lsn", "/__commit_scn", "/__source_commit_scn"}) {
      out_.is_ordered = out_.is_ordered || having({root_ + name}) > 0;
    }
    return most;
  }

  void note_changes() {
    if (const column* c = find(columns_, root_ + "/source/connector")) {
      for (const cell& here : c->cells) ++out_.connectors[here.text];
    }
    if (const column* c = find(columns_, root_ + "/op")) {
      for (const cell& here : c->cells) ++out_.operations[here.text];
    }
    for (const sniffed_record& r : records_) {
      if (r.value && r.value->find("__debezium_unavailable_value") != std::string::npos) ++out_.unavailable;
    }
  }

  /// The best first; of equals those that came first in the records.
  static std::vector<candidate> take(std::vector<scored>& all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const scored& a, const scored& b) { return a.score > b.score; });
    constexpr std::size_t k_most = 3;
    std::vector<candidate> out;
    for (scored& s : all) {
      if (out.size() < k_most) out.push_back(std::move(s.what));
    }
    return out;
  }

  [[nodiscard]] bool is_in_nearly_all(const column& c) const noexcept {
    return c.names * 20 >= expected(c) * 19 && c.names > 0;
  }
  /// How many records could have it: a null value has no members.
  [[nodiscard]] std::size_t expected(const column& c) const noexcept {
    return c.source.starts_with('/') ? values_ : records_.size();
  }

  [[nodiscard]] static bool names_time(std::string_view name) noexcept {
    return ends_as(
        name, {"at", "time", "timestamp", "date", "ts", "when", "tsms", "created", "updated", "occurred"});
  }

  void find_times() {
    std::vector<scored> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      const bool is_text = c.rfc3339 > 0 && c.rfc3339 * 10 >= c.cells.size() * 9;
      if (!is_text && !c.unit) continue;
      const std::string name = bare_name(c.source);
      if (!is_text && !names_time(name)) continue;
      int score = is_text ? 20 : 10;
      if (is_one_of(name, {"occurredat", "eventtime", "time", "timestamp", "createdat", "ts"})) score += 8;
      if (names_time(name)) score += 4;
      if (c.cells.size() * 10 >= expected(c) * 9) score += 10;
      score -= static_cast<int>(depth_of(c.source));
      all.push_back({score, {c.source, is_text ? "RFC 3339" : words_of_unit(*c.unit), i}});
    }
    out_.times = take(all);
    if (!out_.times.empty()) out_.unit = columns_[out_.times.front().column].unit;
  }
  static std::string words_of_unit(time_unit unit) {
    constexpr std::array<const char*, 4> k_words{"milliseconds", "seconds", "microseconds", "nanoseconds"};
    return std::string{"a number of "} + k_words[static_cast<std::size_t>(unit)];
  }
  [[nodiscard]] bool is_time(std::size_t column) const {
    return std::any_of(out_.times.begin(), out_.times.end(),
                       [&](const candidate& t) { return t.column == column; });
  }

  void find_ids() {
    std::vector<scored> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      if (!is_in_nearly_all(c) || is_time(i) || c.source == "key") continue;
      const std::string name = bare_name(c.source);
      const bool made_up = c.uuids == c.names || c.ulids == c.names;
      const bool of_event = is_one_of(
          name, {"eventid", "messageid", "ceid", "msgid", "transactionid", "requestid", "idempotencykey"});
      const bool named = of_event || is_one_of(name, {"id", "uuid", "guid"});
      const bool by_format = is_id_by_format(c.source);
      if (!made_up && !named && !by_format) continue;
      // Some come twice. What many records share is the id of something else, but for the format's own.
      const std::size_t least = made_up && of_event ? 60 : 95;
      if (!by_format && c.distinct * 100 < c.names * least) continue;
      int score = made_up ? 10 : 0;
      if (by_format) score += 100;
      if (c.uuids_7 == c.names || c.ulids == c.names) score += 5;
      if (is_one_of(name, {"eventid", "messageid", "msgid", "ceid"})) score += 8;
      if (name == "id") score += 6;
      score -= 3 * static_cast<int>(depth_of(c.source));
      const std::string kind = c.uuids_7 == c.names ? "UUIDv7, "
                               : c.ulids == c.names ? "ULID, "
                               : c.uuids == c.names ? "UUID, "
                                                    : "";
      const std::size_t again = c.names - c.distinct;
      const std::string repeats =
          again == 0 ? ""
                     : ", so that " + std::to_string(again) + (again == 1 ? " repeats" : " repeat") + " one";
      all.push_back({score, {c.source, kind + of(c.distinct, c.names) + " differ" + repeats, i}});
    }
    out_.ids = take(all);
    if (out_.ids.empty()) return;
    const column& best = columns_[out_.ids.front().column];
    if (best.uuids_7 == best.names) out_.ids_are = id_kind::uuidv7;
    if (best.ulids == best.names) out_.ids_are = id_kind::ulid;
  }

  [[nodiscard]] bool is_id_by_format(std::string_view source) const noexcept {
    if (out_.look == look::debezium_outbox) return source == "header:id";
    return out_.look == look::cloudevents && (source == "/id" || source == "header:ce_id");
  }

  /// Members of the outermost object that are in some events only. What a format needs is not the payload.
  void find_parts_of_states() {
    if (out_.look != look::plain && out_.look != look::debezium_outbox) return;
    std::size_t objects = 0;
    for (const sniffed_record& r : records_) {
      const byte_form form = look_at(r.value).form;
      if (form == byte_form::json_object || form == byte_form::framed_json) ++objects;
    }
    for (const column& c : columns_) {
      const bool is_member = c.source.starts_with(root_ + "/") && depth_of(c.source) == depth_of(root_) + 1;
      if (!is_member || c.cells.size() * 10 >= objects * 9) continue;
      if (c.cells.size() <= out_.now_and_then_in) continue;
      out_.now_and_then = c.source;
      out_.now_and_then_in = c.cells.size();
    }
  }

  void find_aggregates() {
    std::vector<scored> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      if (!is_in_nearly_all(c) || is_time(i)) continue;
      const std::string name = bare_name(c.source);
      const bool is_key = c.source == "key";
      const bool named = ends_as(name, {"id", "key", "uuid", "number", "code", "no", "sku", "subject"});
      if (!is_key && !named) continue;
      const bool comes_again = c.distinct < c.names;
      const bool is_event_id = !out_.ids.empty() && out_.ids.front().column == i;
      int score = is_key ? 20 : 0;
      if (comes_again) score += 12;
      if (is_event_id) score -= 15;
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

  struct growth {
    std::size_t pairs{0};  ///< of events of one aggregate, one behind the other
    std::size_t up{0};
    std::size_t by_one{0};
    std::size_t equal{0};
  };

  void find_sequences() {
    if (out_.aggregates.empty()) return;
    const column& by = columns_[out_.aggregates.front().column];
    std::vector<scored> all;
    std::map<std::string, growth> grown;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      if (c.integers == 0 || c.integers * 20 < expected(c) * 19 || c.source == by.source) continue;
      const growth found = growth_of(c, by);
      const std::string name = bare_name(c.source);
      const bool named = is_one_of(name, {"sequence", "seq", "version", "revision", "rev", "lsn", "seqno",
                                          "sequencenumber", "eventversion", "aggregateversion", "offset",
                                          "counter", "generation", "playheadsequence", "playhead"});
      const bool grows = found.pairs > 0 && found.up == found.pairs;
      const bool mostly = found.pairs > 0 && found.up * 10 >= found.pairs * 8 && found.equal + found.up > 0;
      if (!named && !(grows && found.pairs >= 3)) continue;
      if (found.pairs > 0 && !mostly && !named) continue;
      int score = named ? 20 : 0;
      if (grows) score += 10;
      if (is_time(i) || c.unit) score -= 15;
      if (!out_.ids.empty() && out_.ids.front().column == i) score -= 5;
      score -= 2 * static_cast<int>(depth_of(c.source));
      all.push_back({score, {c.source, words_of_growth(found), i}});
      grown.emplace(c.source, found);
    }
    out_.sequences = take(all);
    if (out_.sequences.empty()) return;
    const growth& best = grown.at(out_.sequences.front().source);
    out_.counts_by_one = best.pairs > 0 && best.by_one == best.pairs;
    out_.grows = best.pairs > 0 && best.up == best.pairs;
    const column& numbers = columns_[out_.sequences.front().column];
    out_.counts_in_digits = numbers.integers == numbers.cells.size();
  }
  static growth growth_of(const column& c, const column& by) {
    growth out;
    std::map<std::string_view, sequence> last;
    auto here = c.cells.begin();
    for (const cell& name : by.cells) {
      while (here != c.cells.end() && here->record < name.record) ++here;
      if (here == c.cells.end()) break;
      if (here->record != name.record) continue;
      const auto number = parse_u128(here->text);
      if (!number) continue;
      const auto [before, is_new] = last.try_emplace(name.text, *number);
      if (is_new) continue;
      ++out.pairs;
      if (before->second < *number) ++out.up;
      if (before->second == *number) ++out.equal;
      if (before->second.epoch == number->epoch && before->second.number + 1 == number->number) ++out.by_one;
      before->second = *number;
    }
    return out;
  }
  static std::string words_of_growth(const growth& g) {
    if (g.pairs == 0) return "by its name; no aggregate has two events here";
    if (g.by_one == g.pairs) return "grows by 1 with each event of an aggregate";
    if (g.up == g.pairs) return "grows with each event of an aggregate";
    return "of " + std::to_string(g.pairs) + " events behind another one of their aggregate " +
           std::to_string(g.up) + " have a higher number" +
           (g.equal == 0 ? "" : ", and " + std::to_string(g.equal) + " the same");
  }

  void find_types() {
    std::vector<scored> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      if (!is_in_nearly_all(c) || c.integers == c.names || c.source == "key") continue;
      const std::string name = bare_name(c.source);
      if (!is_one_of(name, {"type", "eventtype", "event", "kind", "@type", "op", "action", "eventname",
                            "messagetype"}))
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
    for (const cell& here : columns_[out_.types.front().column].cells) {
      const std::string word = bare_name("." + here.text);
      if (ends_as(word, {"delete", "deleted", "remove", "removed"}) && seen.insert(here.text).second)
        out_.deleting.push_back(here.text);
    }
  }

  std::span<const sniffed_record> records_;
  const std::vector<column>& columns_;
  std::size_t values_{0};
  std::string root_;  ///< of Debezium's, beside a schema
  likely out_;
};

}  // namespace

likely guess(std::span<const sniffed_record> records, const std::vector<column>& columns) {
  return guesser{records, columns}.run();
}

}  // namespace ratchet::sniff
