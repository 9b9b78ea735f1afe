// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>
#include <utility>

#include "decode/json_text.hpp"
#include "decode/log_position.hpp"
#include "decode/record_hash.hpp"
#include "decode/row_change_reader.hpp"
#include "decode/sequence_text.hpp"

namespace ratchet {
namespace {

/// Names that were never seen before are kept up to here, so that nobody fills the memory with them.
constexpr std::size_t k_most_names = 32;

std::string_view bytes_of(const json::found& here) noexcept {
  return {here.begin, static_cast<std::size_t>(here.end - here.begin)};
}

std::string_view unquoted(std::string_view token) noexcept {
  if (token.size() < 2 || token.front() != '"') return token;
  return token.substr(1, token.size() - 2);
}

}  // namespace

any_change_reader::position_fields::position_fields(json::pointer_tree& tree, const std::string& prefix)
    : name{field_at(tree, prefix + "connector")},
      origin{field_at(tree, prefix + "origin")},
      snapshot{field_at(tree, prefix + "snapshot")},
      log_sequence{field_at(tree, prefix + "sequence")},
      lsn{field_at(tree, prefix + "lsn")},
      file{field_at(tree, prefix + "file")},
      pos{field_at(tree, prefix + "pos")},
      row{field_at(tree, prefix + "row")},
      commit_lsn{field_at(tree, prefix + "commit_lsn")},
      change_lsn{field_at(tree, prefix + "change_lsn")},
      scn{field_at(tree, prefix + "scn")},
      commit_scn{field_at(tree, prefix + "commit_scn")},
      step{field_at(tree, prefix + "step")},
      transaction{field_at(tree, prefix + "txId")},
      commit_ts{field_at(tree, prefix + "commit_ts")},
      time{field_at(tree, prefix + "ts_ms")} {}

any_change_reader::change_fields::change_fields(json::pointer_tree& tree, change_form form,
                                                const std::string& root, const std::string& payload_from)
    : whole{field_at(tree, root)},
      operation{field_at(tree, root + "/op")},
      origin{field_at(tree, root + "/source")} {
  if (form == change_form::envelope) {
    after = field_at(tree, root + "/after");
    payload = field_at(tree, root + "/after" + payload_from);
    arrays = arrays_on_way(tree, payload, field_use::payload);
    statement = field_at(tree, root + "/ddl");
    position = {tree, root + "/source/"};
  } else {
    status = field_at(tree, root + "/status");
    event_count = field_at(tree, root + "/event_count");
    row_operation = field_at(tree, root + "/__op");
    row_deleted = field_at(tree, root + "/__deleted");
    row_payload = field_at(tree, root + payload_from);
    arrays = arrays_on_way(tree, row_payload, field_use::payload);
    time = field_at(tree, root + "/ts_ms");
    row_position = {tree, root + "/__"};
    row_source_position = {tree, root + "/__source_"};
    row_mixed_position = row_position;
    row_mixed_position.log_sequence = row_source_position.log_sequence;
    row_other_position = row_source_position;
    row_other_position.log_sequence = row_position.log_sequence;
  }
}

any_change_reader::any_change_reader(const decode_rules& rules, change_form form)
    : keyed_change_reader{rules},
      form_{form},
      schema_{field_at(tree, "/schema")},
      wrapped_{field_at(tree, "/payload")},
      bare_fields_{tree, form, "", rules.payload_from},
      wrapped_fields_{tree, form, "/payload", rules.payload_from},
      commit_of_pair_{pair_tree_.add({"0"})},
      lsn_of_pair_{pair_tree_.add({"1"})},
      pair_walker_{pair_tree_},
      document_payload_{document_tree_.add(parse_json_pointer(rules.payload_from).value())},
      document_arrays_{
          arrays_on_way(document_tree_, field_at(document_tree_, rules.payload_from), field_use::payload)},
      document_walker_{document_tree_} {}

bool any_change_reader::read_all() {
  was_plain_ = false;
  left_it_ = false;
  if (!from().value) return ignore();
  if (!check_size() || !walk_value()) return false;
  if (is_there(schema_) && is_there(wrapped_)) {
    return at(wrapped_.node).what == json::kind::null ? ignore() : read_change(wrapped_fields_);
  }
  // A converter that leaves the schema out but not its place, and YDB.
  const bool is_wrapped = !is_there(bare_fields_.operation) && !is_there(bare_fields_.origin) &&
                          is_there(wrapped_fields_.operation);
  return read_change(is_wrapped ? wrapped_fields_ : bare_fields_);
}

bool any_change_reader::read_change(const change_fields& fields) {
  constexpr std::ptrdiff_t k_empty = 2;  // {}
  const json::found& whole = at(fields.whole.node);
  const bool has_members = whole.what == json::kind::object && whole.end - whole.begin > k_empty;
  const bool is_row = has_members && !is_there(fields.operation) && !is_there(fields.origin);
  left_it_ = is_row != (form_ == change_form::unwrapped);
  if (left_it_) return true;
  if (is_row) return read_row(fields);
  // What a connector says of a changed schema, in the topic of its own name.
  if (!is_there(fields.operation) && is_there(fields.statement)) return ignore();
  field_value operation;
  if (!fetch_required(fields.operation, operation)) return false;
  if (operation.what != json::kind::string) {
    return fail(malformed_reason::wrong_type, fields.operation, operation);
  }
  const std::string_view op = operation.text;
  if (op == "t" || op == "m") return ignore();
  if (op.size() != 1 || std::string_view{"rcud"}.find(op) == std::string_view::npos) {
    return fail(malformed_reason::operation_unknown, fields.operation, operation);
  }
  connector from_whom{};
  if (!read_connector(fields.position, from_whom)) return false;
  if (!read_key(from_whom == connector::ydb) || !read_position(fields.position, from_whom, op)) return false;
  event().type = op;
  if (!read_time_from(fields.position.time)) return false;
  if (op == "d") {
    event().kind = decoded_kind::tombstone;
    return true;
  }
  return read_after(fields, from_whom) && has_known_columns(fields.payload, op);
}

/// A row without its envelope; what orders it is there where ExtractNewRecordState was told to add it.
bool any_change_reader::read_row(const change_fields& fields) {
  if (is_there(fields.time) && is_key_of_heartbeat()) return ignore();
  if (is_transaction_metadata(fields)) return ignore();
  field_value operation;
  if (!fetch(fields.row_operation, operation)) return false;
  const bool has_operation = operation.what == json::kind::string;
  if (has_operation && (operation.text == "t" || operation.text == "m")) return ignore();
  field_value deleted;
  if (!fetch(fields.row_deleted, deleted)) return false;
  const bool is_deleted = deleted.text == "true" || (has_operation && operation.text == "d");
  const position_fields* position = &fields.row_position;
  // PostgreSQL's place is of two fields, which people add by either spelling.
  const bool has_lsn = is_there(fields.row_position.lsn);
  const bool has_sequence = is_there(fields.row_position.log_sequence);
  if (has_lsn && !has_sequence && is_there(fields.row_source_position.log_sequence))
    position = &fields.row_mixed_position;
  if (has_sequence && !has_lsn && is_there(fields.row_source_position.lsn))
    position = &fields.row_other_position;
  connector from_whom{};
  if (rules().envelope.position == change_order::log) {
    bool is_known = guess_connector(*position, from_whom);
    if (!is_known) {
      position = &fields.row_source_position;
      is_known = guess_connector(*position, from_whom);
    }
    if (!is_known) return fail(malformed_reason::unwrapped_row, fields.row_position.lsn.source.text, 0);
    if (is_there(position->name) && !read_connector(*position, from_whom)) return false;
  }
  const std::string_view op = has_operation ? operation.text
                              : is_deleted  ? std::string_view{"d"}
                                            : std::string_view{};
  if (!read_key(false) || !read_position(*position, from_whom, op)) return false;
  event().type = op;
  if (!read_time_from(fields.row_source_position.time)) return false;
  if (is_deleted) {
    event().kind = decoded_kind::tombstone;
    return true;
  }
  if (!set_payload(fields.row_payload) || !are_whole(fields.arrays)) return false;
  return has_known_columns(fields.row_payload, op);
}

bool any_change_reader::has_known_columns(const field& payload, std::string_view operation) {
  std::string_view column;
  if (look_for_unavailable(operation, column)) return true;
  const std::uint64_t offset = is_there(payload) ? offset_of(at(payload.node).begin) : 0;
  std::string place = payload.source.text;
  if (!column.empty() && column.find_first_of("~/\\") == std::string_view::npos)
    place.append("/").append(column);
  return fail(malformed_reason::unavailable_column, kept_name(place, payload.source.text), offset);
}

/// What a connector writes of the begin and the end of a transaction (provide.transaction.metadata).
bool any_change_reader::is_transaction_metadata(const change_fields& fields) {
  field_value status;
  if (!is_there(fields.event_count) || !fetch(fields.status, status)) return false;
  return status.text == "BEGIN" || status.text == "END";
}

bool any_change_reader::guess_connector(const position_fields& fields, connector& out) const noexcept {
  const std::pair<const field*, connector> signs[] = {
      {&fields.lsn, connector::postgresql},    {&fields.log_sequence, connector::postgresql},
      {&fields.file, connector::binlog},       {&fields.commit_lsn, connector::sqlserver},
      {&fields.commit_scn, connector::oracle}, {&fields.scn, connector::oracle},
      {&fields.step, connector::ydb}};
  for (const auto& [sign, means] : signs) {
    if (!is_there(*sign)) continue;
    out = means;
    return true;
  }
  return false;
}

bool any_change_reader::read_connector(const position_fields& fields, connector& out) {
  constexpr std::pair<std::string_view, connector> k_known[] = {{"postgresql", connector::postgresql},
                                                                {"mysql", connector::binlog},
                                                                {"mariadb", connector::binlog},
                                                                {"sqlserver", connector::sqlserver},
                                                                {"oracle", connector::oracle},
                                                                {"mongodb", connector::mongodb},
                                                                {"ydb", connector::ydb},
                                                                {"TiCDC", connector::ticdc}};
  out = connector::postgresql;
  field_value name;
  if (!fetch(fields.name, name)) return false;
  if (name.what == json::kind::none) {
    if (guess_connector(fields, out)) return true;
    // Who writes Debezium's form and is no connector may say whose rows they are.
    if (!fetch(fields.origin, name)) return false;
    if (name.what != json::kind::string) name.text = fields.name.source.text;
  }
  for (const auto& [known, means] : k_known) {
    if (name.text != known) continue;
    out = means;
    return true;
  }
  if (rules().envelope.position == change_order::partition) return true;  // nothing else is asked of it
  constexpr std::size_t k_longest = 64;
  const std::string_view kept = kept_name(name.text.substr(0, k_longest), "/source/connector");
  return fail(malformed_reason::connector_unknown, kept, name.offset);
}

std::string_view any_change_reader::kept_name(std::string_view name, std::string_view otherwise) {
  constexpr std::size_t k_longest = 256;
  const auto at = names_.find(name);
  if (at != names_.end()) return *at;
  if (names_.size() == k_most_names || name.size() > k_longest) return otherwise;
  return *names_.emplace(name).first;
}

bool any_change_reader::read_position(const position_fields& fields, connector from_whom,
                                      std::string_view operation) {
  event().has_sequence = true;
  if (rules().envelope.position == change_order::partition)
    return true;  // all are equal: the last one counts
  if (from_whom == connector::postgresql) return read_postgres(fields, operation == "r");
  std::string_view snapshot;
  if (!read_snapshot(fields, snapshot)) return false;
  const bool is_read = operation == "r" || !snapshot.empty();
  switch (from_whom) {
    case connector::binlog:
      return read_binlog(fields);
    case connector::sqlserver:
      return read_sqlserver(fields, is_read);
    case connector::oracle:
      return read_oracle(fields, is_read);
    case connector::postgresql:
    case connector::mongodb:
      return true;  // its records do not say enough: see docs/guides/cdc.md
    case connector::ydb:
      return read_virtual_time(fields);
    case connector::ticdc:
      return read_commit_time(fields);
  }
  return true;
}

bool any_change_reader::read_snapshot(const position_fields& fields, std::string_view& how) {
  field_value value;
  if (!fetch(fields.snapshot, value)) return false;
  if (value.what != json::kind::none && value.text != "false") how = value.text;
  return true;
}

/// A row that was streamed has {the last commit before it, its own LSN}. One of an incremental snapshot has
/// no LSN, but in its pair that of the place in the stream at which it was written. A null commit means that
/// the connector has seen none since it began: what it says lies behind all that was said before it began.
bool any_change_reader::read_postgres(const position_fields& fields, bool is_read) {
  std::optional<std::uint64_t> commit;
  std::optional<std::uint64_t> lsn_of_pair;
  bool has_pair = false;
  if (!read_log_pair(fields.log_sequence, commit, lsn_of_pair, has_pair)) return false;
  std::optional<std::uint64_t> lsn;
  if (!read_optional_number(fields.lsn, lsn)) return false;
  field_value nothing;
  if (!has_pair) {
    if (!lsn) return fetch_required(fields.lsn, nothing);  // says where it is missing
    event().sequence = {0, *lsn};                          // connectors before 1.7 have the LSN alone
    return true;
  }
  was_plain_ = commit && lsn;
  if (was_plain_) {
    event().sequence = {*commit, *lsn};
    return true;
  }
  std::string_view snapshot;
  if (!read_snapshot(fields, snapshot)) return false;
  if (!lsn && !is_read && snapshot.empty()) return fetch_required(fields.lsn, nothing);
  const std::uint64_t place = lsn ? *lsn : lsn_of_pair.value_or(0);
  const bool is_whole_snapshot = !snapshot.empty() && snapshot != "incremental";
  event().sequence = {commit.value_or(place), !commit && is_whole_snapshot ? 0 : place};
  return true;
}

bool any_change_reader::read_log_pair(const field& f, std::optional<std::uint64_t>& commit,
                                      std::optional<std::uint64_t>& lsn, bool& has_pair) {
  field_value pair;
  if (!fetch(f, pair)) return false;
  has_pair = pair.what != json::kind::none;
  if (!has_pair) return true;
  if (pair.what != json::kind::string) return fail(malformed_reason::wrong_type, f, pair);
  const auto invalid = [&] { return fail(malformed_reason::sequence_invalid, f, pair); };
  if (pair_walker_.walk(pair.text).reason != malformed_reason::none) return invalid();
  if (pair_walker_.at(json::k_root).what != json::kind::array) return invalid();
  const json::found& first = pair_walker_.at(commit_of_pair_);
  const json::found& second = pair_walker_.at(lsn_of_pair_);
  if (first.what == json::kind::none) return invalid();
  if (first.what != json::kind::null) {
    commit = parse_u64(unquoted(bytes_of(first)));
    if (!commit) return invalid();
  }
  // Looked at only where the event has no LSN of its own.
  if (second.what != json::kind::none && second.what != json::kind::null)
    lsn = parse_u64(unquoted(bytes_of(second)));
  return true;
}

bool any_change_reader::read_optional_number(const field& f, std::optional<std::uint64_t>& out) {
  field_value value;
  if (!fetch(f, value)) return false;
  if (value.what == json::kind::none) return true;
  if (value.what != json::kind::string && value.what != json::kind::number) {
    return fail(malformed_reason::wrong_type, f, value);
  }
  out = parse_u64(value.text);
  return out || fail(malformed_reason::sequence_invalid, f, value);
}

/// {number of the file, position in it and row of the event}, of MySQL and MariaDB.
bool any_change_reader::read_binlog(const position_fields& fields) {
  field_value file;
  if (!fetch_required(fields.file, file)) return false;
  if (file.what != json::kind::string) return fail(malformed_reason::wrong_type, fields.file, file);
  const auto number = binlog_number(file.text);
  if (!number) return fail(malformed_reason::sequence_invalid, fields.file, file);
  ratchet::sequence position;
  std::optional<std::uint64_t> row;
  if (!read_number(fields.pos, false, position) || !read_optional_number(fields.row, row)) return false;
  const auto sequence = binlog_sequence(*number, position.number, row.value_or(0));
  if (!sequence) return fail(malformed_reason::sequence_invalid, fields.pos.source.text, 0);
  event().sequence = *sequence;
  return true;
}

bool any_change_reader::read_lsn(const field& f, std::optional<sqlserver_lsn>& out) {
  field_value value;
  if (!fetch(f, value)) return false;
  if (value.what == json::kind::none) return true;
  if (value.what != json::kind::string) return fail(malformed_reason::wrong_type, f, value);
  out = parse_sqlserver_lsn(value.text);
  return out || fail(malformed_reason::sequence_invalid, f, value);
}

bool any_change_reader::read_sqlserver(const position_fields& fields, bool is_read) {
  std::optional<sqlserver_lsn> commit;
  std::optional<sqlserver_lsn> change;
  if (!read_lsn(fields.commit_lsn, commit) || !read_lsn(fields.change_lsn, change)) return false;
  field_value nothing;
  if (!commit) return is_read || fetch_required(fields.commit_lsn, nothing);
  const auto sequence = sqlserver_sequence(*commit, change);
  if (!sequence) return fail(malformed_reason::sequence_invalid, fields.change_lsn.source.text, 0);
  event().sequence = *sequence;
  return true;
}

/// {SCN of the commit, SCN of the change}. A row of a snapshot shows all that was committed up to its SCN.
bool any_change_reader::read_oracle(const position_fields& fields, bool is_read) {
  std::optional<std::uint64_t> commit;
  std::optional<std::uint64_t> change;
  if (!read_optional_number(fields.commit_scn, commit) || !read_optional_number(fields.scn, change))
    return false;
  field_value nothing;
  if (!commit && !is_read) return fetch_required(fields.commit_scn, nothing);
  if (commit) {
    event().sequence = {*commit, change.value_or(0)};
  } else if (change) {
    event().sequence = {*change, std::numeric_limits<std::uint64_t>::max()};
  } else {
    return fetch_required(fields.scn, nothing);
  }
  return true;
}

bool any_change_reader::read_virtual_time(const position_fields& fields) {
  ratchet::sequence step;
  ratchet::sequence transaction;
  if (!read_number(fields.step, false, step) || !read_number(fields.transaction, false, transaction)) {
    return false;
  }
  event().sequence = {step.number, transaction.number};
  return true;
}

/// Of TiDB: the timestamp of the commit, which changes a row once.
bool any_change_reader::read_commit_time(const position_fields& fields) {
  ratchet::sequence commit;
  if (!read_number(fields.commit_ts, false, commit)) return false;
  event().sequence = commit;
  return true;
}

bool any_change_reader::read_after(const change_fields& fields, connector from_whom) {
  field_value after;
  if (!fetch_required(fields.after, after)) return false;
  if (after.what == json::kind::string && from_whom == connector::mongodb)
    return read_document(fields, after);
  if (after.what != json::kind::object) return fail(malformed_reason::wrong_type, fields.after, after);
  return set_payload(fields.payload) && are_whole(fields.arrays);
}

/// A document that is JSON within a string.
bool any_change_reader::read_document(const change_fields& fields, const field_value& after) {
  const json::fault fault = document_walker_.walk(after.text);
  if (fault.reason != malformed_reason::none) return fail(fault.reason, fields.after, after);
  if (document_walker_.any_duplicate()) return fail(malformed_reason::duplicate_field, fields.payload, after);
  if (document_walker_.at(json::k_root).what != json::kind::object) {
    return fail(malformed_reason::wrong_type, fields.after, after);
  }
  const json::found& here = document_walker_.at(document_payload_);
  if (here.what == json::kind::none) return fail(malformed_reason::missing_field, fields.payload, after);
  for (const whole_array& a : document_arrays_) {
    if (a.has_more(document_walker_, after.text.data() + after.text.size()))
      return fail(malformed_reason::longer_array, fields.payload, after);
  }
  event().payload = bytes_of(here);
  event().payload_hash = payload_hash(event().payload);
  return true;
}

}  // namespace ratchet
