// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "sniff/guesser.hpp"

namespace ratchet::sniff {

/// The same bytes with the same key and headers are one record that came twice.
void guesser::find_repeats() {
  std::set<std::string> seen;
  seen_.records = records_;
  for (const sniffed_record& r : records_) {
    std::string all = r.key.value_or("") + '\0' + r.value.value_or("") + '\0' + r.around.value_or("");
    for (const auto& [name, value] : r.headers) all += '\0' + name + '\0' + value.value_or("");
    seen_.again.push_back(r.value.has_value() && !seen.insert(std::move(all)).second);
  }
  if (out_.times.empty()) return;
  const column& times = columns_[out_.times.front().column];
  seen_.when_is = times.source;
  seen_.when.resize(records_.size());
  for (const cell& here : times.cells) seen_.when[here.record] = times.time_of(here);
}

/// Of events that say who they are, no other byte counts.
void guesser::note_repeats_by_id(const column& ids) {
  std::set<std::string_view> seen;
  for (const cell& here : ids.cells) {
    if (!seen.insert(here.text).second) seen_.again[here.record] = true;
  }
}

/// Whether nearly all values there that come again do so in records that are the same: events that came
/// again. What an object is called stands in records that differ. A word such as "unknown" is one value of
/// many.
bool guesser::is_shared_by_repeats(const column& c) const {
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

bool guesser::comes_again(const column& c) const {
  std::set<std::string_view> seen;
  for (const cell& here : c.cells) {
    if (!seen_.again[here.record] && !seen.insert(here.text).second) return true;
  }
  return false;
}

/// Of names that end as an id: the event's own.
bool guesser::names_event(std::string_view name) noexcept {
  return ends_as(
      name, {"eventid", "messageid", "msgid", "ceid", "recordid", "deliveryid", "delivery", "notificationid",
             "webhookid", "logid", "auditid", "entryid", "changeid", "eventuuid", "messageuuid", "eventkey"});
}

/// The event's own, or what it has in common with others that happened with it.
bool guesser::names_events_together(std::string_view name) noexcept {
  return names_event(name) || ends_as(name, {"xid", "txid", "transactionid", "transactionkey", "replayid",
                                             "requestid", "commitnumber", "sequencenumber", "eventnumber"});
}

/// Several events may share them: of a request, of a transaction, of whoever the event is about.
bool guesser::names_something_else(std::string_view name) noexcept {
  return !is_one_of(name, {"id", "uuid", "guid"}) && !names_event(name) &&
         ends_as(name, {"id", "key", "uuid", "guid", "token"});
}

void guesser::find_ids() {
  std::vector<scored> all;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const column& c = columns_[i];
    if (!is_in_most(c) || is_time(i) || c.source == "key" || is_of_schema(c)) continue;
    if (c.source.starts_with("record:")) continue;  // the events of a record share it
    const std::string name = bare_name(c.source);
    const bool made_up = is_nearly_all(c.uuids, c) || is_nearly_all(c.ulids, c) || is_nearly_all(c.ksuids, c);
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
    all.push_back(
        {score,
         {c.source,
          kind + std::to_string(c.distinct) + " of " + std::to_string(c.names) + " differ" + repeats, i}});
  }
  out_.ids = take(all);
  if (out_.ids.empty()) return;
  const column& best = columns_[out_.ids.front().column];
  if (is_nearly_all(best.uuids_7, best)) out_.ids_are = id_kind::uuidv7;
  if (is_nearly_all(best.ulids, best)) out_.ids_are = id_kind::ulid;
  note_repeats_by_id(best);
}

/// What is the same for the events of a transaction, with their place in it.
void guesser::find_joined_ids() {
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
           is_one_of(bare_name(c.source), {"sequencenumber", "xoffset", "index", "ordinal", "line", "lineno",
                                           "seq", "sequence", "eventserialno", "row", "itemno"});
  });
  for (const std::size_t whole : wholes) {
    for (const std::size_t part : parts) {
      if (whole == part || joined_distinct({whole, part}) * 100 < columns_[whole].names * 95) continue;
      out_.joined_id = {columns_[whole].source, columns_[part].source};
      if (out_.sequence_is && out_.sequence_is->column == part) out_.sequence_is.reset();  // within the whole
      return;
    }
  }
}

std::size_t guesser::joined_distinct(std::initializer_list<std::size_t> parts) const {
  std::map<std::size_t, std::string> of_record;
  for (const std::size_t part : parts) {
    for (const cell& here : columns_[part].cells) of_record[here.record] += here.text + '\0';
  }
  std::set<std::string> seen;
  for (const auto& [record, text] : of_record) seen.insert(text);
  return seen.size();
}

bool guesser::is_id_by_format(std::string_view source) const noexcept {
  if (out_.look == look::debezium_outbox) return source == "header:id";
  return out_.look == look::cloudevents && (source == "/id" || source == "header:ce_id");
}

}  // namespace ratchet::sniff
