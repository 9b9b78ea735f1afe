// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/known_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "core/json_scan.hpp"
#include "decode/json_grammar.hpp"
#include "sniff/known_names.hpp"
#include "text/counted.hpp"

namespace ratchet::sniff {

namespace {

std::string token_of(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string{c};
  return out;
}

std::size_t cells_of(const std::vector<column>& columns, std::string_view source) {
  const column* c = find(columns, source);
  return c == nullptr ? 0 : c->cells.size();
}

bool is_in_most(const std::vector<column>& columns, std::string_view source, std::size_t events) {
  const column* c = find(columns, source);
  return c != nullptr && c->names * 5 >= events * 4 && c->names > 0;
}

bool is_of_topic(std::span<const sniffed_record> events) {
  return !events.empty() && !events.front().where.topic.empty();
}

/// The whole texts of a column.
std::set<std::string> texts_of(const std::vector<column>& columns, std::string_view source) {
  std::set<std::string> out;
  if (const column* c = find(columns, source)) {
    for (const cell& here : c->cells) out.insert(here.text);
  }
  return out;
}

bool has_several_tables(const std::vector<column>& columns, const std::string& database,
                        const std::string& table) {
  return texts_of(columns, database).size() > 1 || texts_of(columns, table).size() > 1;
}

constexpr const char* k_key_changes =
    "an update that changes the primary key of a row leaves the row with the old key in the state";
constexpr const char* k_truncates =
    "rows stay in the state after TRUNCATE or DROP: delete them in the table, or build the state again";

/// The names of the columns of the primary key, as Canal lists them beside the rows. None: it does not.
std::optional<std::vector<std::string>> key_beside(const std::string& around) {
  constexpr std::size_t k_most = 16;
  json::pointer_tree tree;
  const json::node_index list = tree.add({"pkNames"});
  std::vector<json::node_index> nodes;
  for (std::size_t i = 0; i <= k_most; ++i) nodes.push_back(tree.add({"pkNames", std::to_string(i)}));
  json::walker walked{tree};
  if (walked.walk(around).reason != malformed_reason::none) return std::nullopt;
  if (walked.at(list).what != json::kind::array) return std::nullopt;
  std::vector<std::string> out;
  for (const json::node_index node : nodes) {
    const json::found& here = walked.at(node);
    if (here.what == json::kind::string) out.push_back(json_scan::unescaped({here.begin, here.end}));
  }
  if (out.empty() || out.size() > k_most) return std::nullopt;
  return out;
}

/// The rows of a change stand in its member `data`, and are events: all else is beside them.
known_rows of_canal(std::span<const sniffed_record> events, const std::vector<column>& columns,
                    const std::string& guessed) {
  known_rows out;
  std::set<std::vector<std::string>> keys;
  std::size_t without = 0;
  for (const sniffed_record& e : events) {
    if (const auto key = e.around ? key_beside(*e.around) : std::nullopt)
      keys.insert(*key);
    else
      ++without;
  }
  if (keys.size() > 1) {
    out.none =
        "rows of tables with different primary keys share the topic, and a stream reads one kind of key: let "
        "each table have a topic of its own (Canal: canal.mq.dynamicTopic)";
    return out;
  }
  if (has_several_tables(columns, "record:/database", "record:/table"))
    out.aggregate = {"record:/database", "record:/table"};
  if (!keys.empty()) {
    for (const std::string& name : *keys.begin()) out.aggregate.push_back("/" + token_of(name));
    if (without > 0)
      out.advice.push_back(counted(without, "row") + " did not come with the name of a primary key");
  } else if (guessed.starts_with('/')) {
    out.aggregate.push_back(guessed);
    out.advice.push_back("no record names the primary key (pkNames): " + guessed +
                         " was taken for it by its name");
  } else {
    out.none =
        "no record names the primary key of its rows (pkNames), and no column is called like one: Ratchet "
        "does not know whose row a change is";
    return out;
  }
  if (is_in_most(columns, "record:/_tidb/commitTs", events.size())) {
    out.sequence = "record:/_tidb/commitTs";
    out.is_coarse = true;
  } else if (is_of_topic(events)) {
    out.sequence = "offset";
    out.advice.emplace_back(
        "the last change of a row in its partition counts, so all changes of a row must be in one partition "
        "(Canal: canal.mq.partitionHash); `id` and `ts` are of the server and order no rows");
  } else if (is_in_most(columns, "record:/es", events.size())) {
    out.sequence = "record:/es";
    out.is_coarse = true;
    out.advice.emplace_back(
        "without the topic the changes are ordered by the time of the database (es): of the topic, or lines "
        "of kcat -C -J, their place in the partition would order them");
  } else {
    out.none =
        "nothing in these lines orders the changes of a row: give sniff the topic, or lines of "
        "kcat -C -J, where their place in the partition does";
    return out;
  }
  out.type = "record:/type";
  out.types = {"INSERT", "UPDATE", "DELETE"};
  out.deleting = {"DELETE"};
  for (const char* time : {"record:/es", "record:/ts"}) {
    if (out.time.empty() && is_in_most(columns, time, events.size())) out.time = time;
  }
  out.advice.emplace_back(k_key_changes);
  out.advice.emplace_back(k_truncates);
  return out;
}

known_rows of_maxwell(std::span<const sniffed_record> events, const std::vector<column>& columns,
                      const std::string& guessed) {
  known_rows out;
  const std::size_t of_rows = cells_of(columns, "/data");  // changes of a schema have none
  if (is_in_most(columns, "key", of_rows)) {
    out.aggregate = {"key"};
  } else if (guessed.starts_with("/data/")) {
    if (has_several_tables(columns, "/database", "/table")) out.aggregate = {"/database", "/table"};
    out.aggregate.push_back(guessed);
    out.advice.push_back("the primary key is in the key of a record, and no record here has one: " + guessed +
                         " was taken for it by its name");
  } else {
    out.none =
        "the primary key is in the key of a record, and no record here has one: give sniff the topic, "
        "or lines of kcat -C -J";
    return out;
  }
  if (is_of_topic(events)) {
    out.sequence = "offset";
    out.advice.emplace_back(
        "the last change of a row in its partition counts; `xid` begins at 1 when the database server is "
        "started again, so that it orders nothing");
  } else if (is_in_most(columns, "/xid", of_rows)) {
    out.sequence = "/xid";
    out.is_coarse = true;
    out.advice.emplace_back(
        "without the topic the changes are ordered by the number of their transaction (xid), which begins "
        "at 1 when the database server is started again: of the topic, or lines of kcat -C -J, their place "
        "in the partition would order them");
  } else {
    out.none =
        "nothing in these lines orders the changes of a row: give sniff the topic, or lines of "
        "kcat -C -J, where their place in the partition does";
    return out;
  }
  out.type = "/type";
  out.types = {"insert", "update", "delete", "bootstrap-insert"};
  out.deleting = {"delete"};
  out.time = "/ts";
  out.time_is_seconds = true;
  out.row = "/data";
  out.advice.emplace_back(k_key_changes);
  out.advice.emplace_back(k_truncates);
  return out;
}

/// Change events of MongoDB, as its own connector for Kafka writes them. The key of a record is a resume
/// token, so that the changes of a document are spread over the partitions.
known_rows of_mongodb(const std::vector<column>& columns) {
  known_rows out;
  const std::string id = "/documentKey/_id";
  // What all rows have: events of a whole collection have no document.
  const std::size_t of_documents = cells_of(columns, "/documentKey");
  const column* named = nullptr;
  for (const column& c : columns) {
    if ((c.source == id || c.source.starts_with(id + "/")) && is_in_most(columns, c.source, of_documents))
      named = &c;
  }
  const column* types = find(columns, "/operationType");
  if (named == nullptr || types == nullptr) {
    out.none =
        "no place names the document of a change: documentKey is JSON as text, or its _id is of several "
        "kinds; let the connector write output.format.value=json";
    return out;
  }
  const std::string time = "/clusterTime/$timestamp/";
  if (!is_in_most(columns, time + "t", of_documents) || !is_in_most(columns, time + "i", of_documents)) {
    out.none =
        "nothing here orders the changes of a document: clusterTime is not {\"$timestamp\": {\"t\": …, "
        "\"i\": "
        "…}}, and the key of a record is a resume token, which spreads them over the partitions; let the "
        "connector write output.json.formatter=com.mongodb.kafka.connect.source.json.formatter.ExtendedJson";
    return out;
  }
  out.epoch = time + "t";
  out.sequence = time + "i";
  out.is_coarse = true;
  if (has_several_tables(columns, "/ns/db", "/ns/coll")) out.aggregate = {"/ns/db", "/ns/coll"};
  out.aggregate.push_back(named->source);
  if (named->names < of_documents)
    out.advice.push_back(counted(of_documents - named->names, "change") + " has no name at " + named->source +
                         " and would be rejected");
  out.type = types->source;
  out.types = {"insert", "update", "replace", "delete"};
  out.deleting = {"delete"};
  if (is_in_most(columns, "/wallTime/$date", of_documents)) out.time = "/wallTime/$date";
  out.row = "/fullDocument";
  out.null_deletes = out.row;  // it was deleted before the connector looked it up
  const std::size_t changes =
      static_cast<std::size_t>(std::count_if(types->cells.begin(), types->cells.end(), [](const cell& here) {
        return is_one_of(here.text, {"insert", "update", "replace"});
      }));
  const std::size_t whole = cells_of(columns, out.row);
  if (whole < changes)
    out.advice.push_back(counted(changes - whole, "change") +
                         " did not bring the whole document and would be rejected: set "
                         "change.stream.full.document=updateLookup in the connector");
  out.advice.emplace_back(
      "documents stay in the state after their collection was dropped or renamed: build the state again");
  return out;
}

bool are_all(const std::set<std::string>& texts, words known) {
  return !texts.empty() && std::all_of(texts.begin(), texts.end(),
                                       [&](const std::string& text) { return is_one_of(text, known); });
}

}  // namespace

std::size_t rows_of(row_producer who, const std::vector<column>& columns) {
  switch (who) {
    case row_producer::canal:
      if (cells_of(columns, "record:/data") == 0) return 0;
      if (cells_of(columns, "record:/isDdl") == 0 &&
          !are_all(texts_of(columns, "record:/type"), {"INSERT", "UPDATE", "DELETE"}))
        return 0;
      return cells_of(columns, "record:/type");
    case row_producer::maxwell: {
      const column* data = find(columns, "/data");
      if (data == nullptr || data->objects == 0 || cells_of(columns, "/ts") == 0) return 0;
      if (cells_of(columns, "/xid") == 0 &&
          !are_all(texts_of(columns, "/type"), {"insert", "update", "delete", "bootstrap-start",
                                                "bootstrap-insert", "bootstrap-complete"}))
        return 0;
      return std::min({cells_of(columns, "/database"), cells_of(columns, "/table"),
                       cells_of(columns, "/type"), data->objects});
    }
    case row_producer::mongodb:
      // With a schema beside them their parts are JSON as text.
      return std::max(
          std::min(cells_of(columns, "/operationType"), cells_of(columns, "/documentKey")),
          std::min(cells_of(columns, "/payload/operationType"), cells_of(columns, "/payload/documentKey")));
  }
  return 0;
}

known_rows config_of(row_producer who, std::span<const sniffed_record> events,
                     const std::vector<column>& columns, const std::string& guessed) {
  switch (who) {
    case row_producer::canal:
      return of_canal(events, columns, guessed);
    case row_producer::maxwell:
      return of_maxwell(events, columns, guessed);
    case row_producer::mongodb:
      return of_mongodb(columns);
  }
  return {};
}

}  // namespace ratchet::sniff
