// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/likely.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "sniff/known_names.hpp"
#include "sniff/likely_sequences.hpp"
#include "sniff/value_form.hpp"

namespace ratchet::sniff {

namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::size_t depth_of(std::string_view source) noexcept {
  return static_cast<std::size_t>(std::count(source.begin(), source.end(), '/'));
}

std::string of(std::size_t part, std::size_t all) {
  return std::to_string(part) + " of " + std::to_string(all);
}

/// Guesses of one set of records. Scores are relative: only which is higher counts.
class guesser {
 public:
  guesser(std::span<const sniffed_record> records, const std::vector<column>& columns,
          std::optional<look> known)
      : records_{records}, columns_{columns}, known_{known} {}

  [[nodiscard]] likely run() {
    find_look();
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
    out_.root = root_;
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
    if (const column* resolved = find(columns_, "/resolved")) {
      if (2 * resolved->cells.size() < values_ && kind_of_versions(*resolved) == sequence_kind::hlc)
        marks_ = resolved->cells.size();
      values_ -= marks_;
      objects -= std::min(objects, marks_);
    }
    objects_ = objects;
    if (known_) {
      out_.look = *known_;
      out_.looking_so = records_.size();
      return;
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
        {look::debezium_changes,
         std::max(having({op, source}), having({op, root_ + "/after", root_ + "/before"}))},
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
    // Who writes Debezium's form and is no connector.
    if (const column* c = find(columns_, root_ + "/source/origin"); c != nullptr && out_.connectors.empty()) {
      for (const cell& here : c->cells) ++out_.connectors[here.text];
    }
    if (out_.connectors.empty()) out_.connectors["not named"] = out_.looking_so;
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
  /// What is malformed is no sign that the others have nothing to go by.
  [[nodiscard]] bool is_in_most(const column& c) const noexcept {
    return c.names * 5 >= expected(c) * 4 && c.names > 0;
  }
  [[nodiscard]] static bool is_nearly_all(std::size_t part, const column& c) noexcept {
    return part > 0 && part * 10 >= c.names * 9;
  }
  /// How many records could have it: a null value has no members, nor has one that is no object.
  [[nodiscard]] std::size_t expected(const column& c) const noexcept {
    return c.source.starts_with('/') ? objects_ : records_.size() - marks_;
  }

  [[nodiscard]] static bool names_time(std::string_view name) noexcept {
    return ends_as(name, {"at", "time", "timestamp", "date", "ts", "when", "tsms", "created", "updated",
                          "occurred", "modified", "changed"});
  }

  void find_times() {
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
  static std::string words_of_unit(time_unit unit) {
    constexpr std::array<const char*, 4> k_names{"milliseconds", "seconds", "microseconds", "nanoseconds"};
    return std::string{"a number of "} + k_names[static_cast<std::size_t>(unit)];
  }
  [[nodiscard]] bool is_time(std::size_t column) const {
    return std::any_of(out_.times.begin(), out_.times.end(),
                       [&](const candidate& t) { return t.column == column; });
  }

  /// The same bytes with the same key and headers are one record that came twice.
  void find_repeats() {
    std::set<std::string> seen;
    for (const sniffed_record& r : records_) {
      std::string all = r.key.value_or("") + '\0' + r.value.value_or("") + '\0' + r.around.value_or("");
      for (const auto& [name, value] : r.headers) all += '\0' + name + '\0' + value.value_or("");
      seen_.again.push_back(r.value.has_value() && !seen.insert(std::move(all)).second);
    }
    if (out_.times.empty()) return;
    const column& times = columns_[out_.times.front().column];
    seen_.when.resize(records_.size());
    for (const cell& here : times.cells) seen_.when[here.record] = times.time_of(here);
  }
  /// Of events that say who they are, no other byte counts.
  void note_repeats_by_id(const column& ids) {
    std::set<std::string_view> seen;
    for (const cell& here : ids.cells) {
      if (!seen.insert(here.text).second) seen_.again[here.record] = true;
    }
  }

  /// Whether nearly all values there that come again do so in records that are the same: events that came
  /// again. What an object is called stands in records that differ. A word such as "unknown" is one value of
  /// many.
  [[nodiscard]] bool is_shared_by_repeats(const column& c) const {
    struct sharing {
      const sniffed_record* first;
      bool again{false};
      bool differs{false};
    };
    std::map<std::string_view, sharing> all;
    std::size_t keyed = 0;  // by it
    for (const cell& here : c.cells) {
      const sniffed_record& r = records_[here.record];
      if (r.key == here.text) ++keyed;
      const auto [known, is_new] = all.try_emplace(here.text, sharing{&r});
      if (is_new) continue;
      const sniffed_record& first = *known->second.first;
      known->second.again = true;
      if (first.value != r.value || first.key != r.key) known->second.differs = true;
    }
    std::size_t again = 0;
    std::size_t same = 0;
    for (const auto& [text, of] : all) {
      again += of.again ? 1U : 0U;
      same += of.again && !of.differs ? 1U : 0U;
    }
    return keyed * 2 < c.cells.size() && same * 100 >= again * 95;
  }
  [[nodiscard]] bool comes_again(const column& c) const {
    std::set<std::string_view> seen;
    for (const cell& here : c.cells) {
      if (!seen_.again[here.record] && !seen.insert(here.text).second) return true;
    }
    return false;
  }

  /// Of names that end as an id: the event's own.
  [[nodiscard]] static bool names_event(std::string_view name) noexcept {
    return ends_as(name, {"eventid", "messageid", "msgid", "ceid", "recordid", "deliveryid", "delivery",
                          "notificationid", "webhookid", "logid", "auditid", "entryid", "changeid",
                          "eventuuid", "messageuuid", "eventkey"});
  }
  /// The event's own, or what it has in common with others that happened with it.
  [[nodiscard]] static bool names_events_together(std::string_view name) noexcept {
    return names_event(name) || ends_as(name, {"xid", "txid", "transactionid", "transactionkey", "replayid",
                                               "requestid", "commitnumber", "sequencenumber", "eventnumber"});
  }
  /// Several events may share them: of a request, of a transaction, of whoever the event is about.
  [[nodiscard]] static bool names_something_else(std::string_view name) noexcept {
    return !is_one_of(name, {"id", "uuid", "guid"}) && !names_event(name) &&
           ends_as(name, {"id", "key", "uuid", "guid", "token"});
  }

  void find_ids() {
    std::vector<scored> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      if (!is_in_most(c) || is_time(i) || c.source == "key" || is_of_schema(c)) continue;
      if (c.source.starts_with("record:")) continue;  // the events of a record share it
      const std::string name = bare_name(c.source);
      const bool made_up =
          is_nearly_all(c.uuids, c) || is_nearly_all(c.ulids, c) || is_nearly_all(c.ksuids, c);
      const bool may_be_shared = names_something_else(name);
      const bool of_event = names_event(name);
      const bool named = of_event || is_one_of(name, {"id", "uuid", "guid"});
      const bool by_format = is_id_by_format(c.source);
      if (!by_format && (may_be_shared || names_order(name) || (!made_up && !named))) continue;
      // Some come twice. What many records share is the id of something else, but for the format's own.
      const std::size_t least = made_up && of_event ? 60 : 95;
      const bool differs = c.distinct * 100 >= c.names * least;
      // Most of the records are no repeats, or it is the name of an object that is told again and again.
      const bool may_repeat = made_up && c.distinct * 3 >= c.names;
      if (!by_format && !differs && !(may_repeat && is_shared_by_repeats(c))) continue;
      int score = made_up ? 10 : 0;
      if (by_format) score += 100;
      if (is_nearly_all(c.uuids_7, c) || is_nearly_all(c.ulids, c)) score += 5;
      if (of_event) score += 8;
      if (name == "id") score += depth_of(c.source) < 2 ? 12 : 6;
      if (!is_in_nearly_all(c)) score -= 10;
      score -= 3 * static_cast<int>(depth_of(c.source));
      const std::string kind = is_nearly_all(c.uuids_7, c)  ? "UUIDv7, "
                               : is_nearly_all(c.ulids, c)  ? "ULID, "
                               : is_nearly_all(c.ksuids, c) ? "KSUID, "
                               : is_nearly_all(c.uuids, c)  ? "UUID, "
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
    if (is_nearly_all(best.uuids_7, best)) out_.ids_are = id_kind::uuidv7;
    if (is_nearly_all(best.ulids, best)) out_.ids_are = id_kind::ulid;
    note_repeats_by_id(best);
  }

  /// What is the same for the events of a transaction, with their place in it.
  void find_joined_ids() {
    const auto of_names = [this](auto fits) {
      std::vector<std::size_t> out;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const column& c = columns_[i];
        if (is_in_nearly_all(c) && c.source != "key" && fits(c)) out.push_back(i);
      }
      return out;
    };
    const auto wholes = of_names([](const column& c) {
      return ends_as(bare_name(c.source), {"transactionid", "transactionkey", "xid", "txid", "batchid",
                                           "requestid", "fileid", "messageid", "commitnumber", "commitid"});
    });
    const auto parts = of_names([](const column& c) {
      return c.integers == c.names &&
             is_one_of(bare_name(c.source), {"sequencenumber", "xoffset", "index", "ordinal", "line",
                                             "lineno", "seq", "sequence", "eventserialno", "row", "itemno"});
    });
    for (const std::size_t whole : wholes) {
      for (const std::size_t part : parts) {
        if (whole == part || joined_distinct({whole, part}) * 100 < columns_[whole].names * 95) continue;
        out_.joined_id = {columns_[whole].source, columns_[part].source};
        if (out_.sequence_is && out_.sequence_is->column == part)
          out_.sequence_is.reset();  // within the whole
        return;
      }
    }
  }
  [[nodiscard]] std::size_t joined_distinct(std::initializer_list<std::size_t> parts) const {
    std::map<std::size_t, std::string> of_record;
    for (const std::size_t part : parts) {
      for (const cell& here : columns_[part].cells) of_record[here.record] += here.text + '\0';
    }
    std::set<std::string> seen;
    for (const auto& [record, text] : of_record) seen.insert(text);
    return seen.size();
  }

  /// Connect's description of the values, which stands in each record.
  [[nodiscard]] bool is_of_schema(const column& c) const {
    return !root_.empty() && c.source.starts_with("/schema");
  }

  [[nodiscard]] bool is_id_by_format(std::string_view source) const noexcept {
    if (out_.look == look::debezium_outbox) return source == "header:id";
    return out_.look == look::cloudevents && (source == "/id" || source == "header:ce_id");
  }

  void find_attributes() {
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

  /// What is the aggregate of a CloudEvent unless a config says otherwise.
  [[nodiscard]] bool is_subject(const column& c) const noexcept {
    return out_.look == look::cloudevents && (c.source == "/subject" || c.source == "header:ce_subject") &&
           is_in_nearly_all(c);
  }

  /// Members of the payload that are in some events only. What a format needs is not the payload.
  void find_parts_of_states() {
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
  void find_parts_of(const std::string& root, std::size_t objects) {
    for (const column& c : columns_) {
      const bool is_member = c.source.starts_with(root + "/") && depth_of(c.source) == depth_of(root) + 1;
      if (!is_member || c.cells.size() * 10 >= objects * 9) continue;
      if (c.cells.size() <= out_.now_and_then_in) continue;
      out_.now_and_then = c.source;
      out_.now_and_then_in = c.cells.size();
    }
  }

  /// Of CockroachDB's envelopes without an operation.
  void find_after_image() {
    if (out_.look != look::plain || !out_.sequence_is || out_.sequence_is->kind != sequence_kind::hlc) return;
    const column* after = find(columns_, "/after");
    out_.has_after_image = after != nullptr && after->objects > 0;
    out_.has_resolved = find(columns_, "/resolved") != nullptr;
  }

  void find_aggregates() {
    std::vector<scored> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      if (!is_in_most(c) || is_time(i) || is_of_schema(c)) continue;
      const std::string name = bare_name(c.source);
      const bool is_key = c.source == "key";
      const bool is_within_key = lower(c.source).find("/keys/") != std::string::npos;
      const bool named = is_within_key || lower(c.source).ends_with("ids/0") ||
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

  void find_sequences() {
    if (out_.aggregates.empty()) return;
    std::vector<likely_sequence> all =
        likely_sequences(columns_, out_.aggregates.front().column, records_.size() - marks_, objects_, seen_);
    std::erase_if(
        all, [this](const likely_sequence& s) { return is_of_schema(columns_[s.column]) || is_the_id(s); });
    join_aggregates(all);
    if (all.empty()) return;
    std::stable_sort(all.begin(), all.end(),
                     [](const likely_sequence& a, const likely_sequence& b) { return a.score > b.score; });
    constexpr std::size_t k_most = 3;
    for (std::size_t i = 0; i < std::min(k_most, all.size()); ++i)
      out_.sequences.push_back({columns_[all[i].column].source, words_of(all[i]), all[i].column});
    const likely_sequence& best = all.front();
    out_.counts_by_one = best.counts_by_one;
    out_.grows = best.growth.grows();
    out_.sequence_is = best;
  }
  /// An id that grows orders events by when they were made up, which is no version.
  [[nodiscard]] bool is_the_id(const likely_sequence& s) const {
    return !out_.ids.empty() && out_.ids.front().column == s.column && s.kind != sequence_kind::integer;
  }

  /// Where a version grows in the aggregates of another field, or in those of two: the orders of a customer
  /// who is the key, numbers of several tenants.
  void join_aggregates(std::vector<likely_sequence>& all) {
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
      s.counts_by_one = count_by_one(version, s.kind, by, seen_);
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

  void find_types() {
    std::vector<scored> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const column& c = columns_[i];
      if (!is_in_nearly_all(c) || c.integers == c.names || c.source == "key" || is_of_schema(c)) continue;
      const std::string name = bare_name(c.source);
      if (!is_one_of(name,
                     {"type", "eventtype", "event", "kind", "@type", "op", "optype", "action", "eventname",
                      "messagetype", "operation", "changetype", "objectkind", "xgitlabevent", "xgithubevent",
                      "xshopifytopic", "detailtype", "axonmessagetype"}))
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
      return is_one_of(lower(text), {"insert", "update", "delete", "create", "modify", "remove", "undelete",
                                     "bootstrap-insert", "i", "u", "d", "c", "r", "load"});
    });
    for (const std::string& text : seen) {
      const std::string word = bare_name(text);
      if (ends_as(word, {"delete", "deleted", "remove", "removed"}) || (out_.deletes_rows && word == "d"))
        out_.deleting.push_back(text);
    }
  }

  std::span<const sniffed_record> records_;
  const std::vector<column>& columns_;
  std::optional<look> known_;
  std::size_t values_{0};
  std::size_t objects_{0};  ///< of the values
  occurrences seen_;
  std::size_t marks_{0};  ///< records that only say how far a changefeed is
  std::string root_;      ///< of Debezium's, beside a schema
  likely out_;
};

}  // namespace

likely guess(std::span<const sniffed_record> records, const std::vector<column>& columns,
             std::optional<look> known) {
  return guesser{records, columns, known}.run();
}

}  // namespace ratchet::sniff
