// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "sniff/guesser.hpp"
#include "sniff/value_form.hpp"

namespace ratchet::sniff {

bool guesser::has(std::size_t record, std::string_view source) const {
  const column* c = find(columns_, source);
  if (c == nullptr) return false;
  const auto at = std::lower_bound(c->cells.begin(), c->cells.end(), record,
                                   [](const cell& here, std::size_t r) { return here.record < r; });
  return at != c->cells.end() && at->record == record;
}

std::size_t guesser::having(words sources) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const bool all =
        std::all_of(sources.begin(), sources.end(), [&](std::string_view source) { return has(i, source); });
    if (all) ++count;
  }
  return count;
}

void guesser::find_look() {
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
      {look::canal, rows_of(row_producer::canal, columns_)},
      {look::maxwell, rows_of(row_producer::maxwell, columns_)},
      {look::mongodb, rows_of(row_producer::mongodb, columns_)},
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

bool guesser::any_header() const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [](const column& c) { return c.source.starts_with("header:"); });
}

std::size_t guesser::ydb_debezium() const {
  const column* c = find(columns_, "/payload/source/connector");
  if (c == nullptr) return 0;
  return static_cast<std::size_t>(
      std::count_if(c->cells.begin(), c->cells.end(), [](const cell& here) { return here.text == "ydb"; }));
}

std::size_t guesser::unwrapped() {
  std::size_t most = 0;
  for (const char* name : {"/__deleted", "/__op", "/__lsn", "/__source_lsn", "/__source_ts_ms"})
    most = std::max(most, having({root_ + name}));
  for (const char* name : {"/__lsn", "/__source_lsn", "/__pos", "/__source_pos", "/__commit_lsn",
                           "/__source_commit_lsn", "/__commit_scn", "/__source_commit_scn"}) {
    out_.is_ordered = out_.is_ordered || having({root_ + name}) > 0;
  }
  return most;
}

void guesser::note_changes() {
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

}  // namespace ratchet::sniff
