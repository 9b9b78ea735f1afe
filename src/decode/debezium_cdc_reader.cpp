// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/json_scan.hpp"
#include "decode/row_change_reader.hpp"
#include "decode/sequence_text.hpp"

namespace ratchet {
namespace {

std::string_view text_of(const json::found& here) noexcept {
  return {here.begin, static_cast<std::size_t>(here.end - here.begin)};
}

/// The first number of `"[\"123\",\"456\"]"`, as the connector spells it. Empty: it is spelt otherwise, and
/// is to be read as what it is, JSON within a string.
std::string_view commit_digits(std::string_view token) noexcept {
  constexpr std::string_view k_begin{R"("[\")"};
  constexpr std::string_view k_middle{R"(\",\")"};
  constexpr std::string_view k_end{R"(\"]")"};
  const auto take_digits = [&token] {
    std::size_t size = 0;
    while (size < token.size() && json::is_digit(token[size])) ++size;
    const std::string_view digits = token.substr(0, size);
    token.remove_prefix(size);
    return digits;
  };
  if (!token.starts_with(k_begin)) return {};
  token.remove_prefix(k_begin.size());
  const std::string_view commit = take_digits();
  if (!token.starts_with(k_middle)) return {};
  token.remove_prefix(k_middle.size());
  (void)take_digits();
  return token == k_end ? commit : std::string_view{};
}

}  // namespace

debezium_cdc_reader::change_fields::change_fields(json::pointer_tree& tree, const std::string& root,
                                                  const std::string& payload_from)
    : operation{field_at(tree, root + "/op")},
      log_sequence{field_at(tree, root + "/source/sequence")},
      lsn{field_at(tree, root + "/source/lsn")},
      time{field_at(tree, root + "/source/ts_ms")},
      after{field_at(tree, root + "/after")},
      payload{field_at(tree, root + "/after" + payload_from)} {}

debezium_cdc_reader::debezium_cdc_reader(const decode_rules& rules)
    : field_reader{rules, tree},
      schema_{tree.add({"schema"})},
      wrapped_{tree.add({"payload"})},
      bare_fields_{tree, "", rules.payload_from},
      wrapped_fields_{tree, "/payload", rules.payload_from},
      key_schema_{key_tree_.add({"schema"})},
      key_payload_{key_tree_.add({"payload"})},
      key_walker_{key_tree_},
      commit_lsn_{pair_tree_.add({"0"})},
      pair_walker_{pair_tree_} {
  key_.source.text = "key";
}

bool debezium_cdc_reader::read_all() {
  if (!from().value) return ignore();
  if (!check_size() || !walk_value()) return false;
  // Of each record by itself: converters are reconfigured while a topic lives (ADR 62).
  if (at(schema_).what == json::kind::none || at(wrapped_).what == json::kind::none) {
    return read_change(bare_fields_);
  }
  return at(wrapped_).what == json::kind::null ? ignore() : read_change(wrapped_fields_);
}

bool debezium_cdc_reader::read_change(const change_fields& fields) {
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
  if (!read_key() || !read_sequence(fields)) return false;
  event().type = op;
  if (!read_time_from(fields.time)) return false;
  if (op == "d") {
    event().kind = decoded_kind::tombstone;
    return true;
  }
  field_value after;
  if (!fetch_required(fields.after, after)) return false;
  if (after.what != json::kind::object) return fail(malformed_reason::wrong_type, fields.after, after);
  return set_payload(fields.payload);
}

/// The aggregate: the key's JSON, byte for byte, or what stands beside a schema in it.
bool debezium_cdc_reader::read_key() {
  if (!from().key) return fail(malformed_reason::null_key, key_.source.text, 0);
  const json::fault fault = key_walker_.walk(key_body());
  if (fault.reason != malformed_reason::none) return fail(fault.reason, key_.source.text, fault.offset);
  const bool is_wrapped = key_walker_.at(key_schema_).what != json::kind::none &&
                          key_walker_.at(key_payload_).what != json::kind::none;
  const json::node_index node = is_wrapped ? key_payload_ : json::k_root;
  const json::found& here = key_walker_.at(node);
  const auto offset = static_cast<std::uint64_t>(here.begin - from().key->data());
  if (is_wrapped && here.duplicate != nullptr) {
    return fail(malformed_reason::duplicate_field, key_.source.text, offset);
  }
  if (here.what == json::kind::null) return fail(malformed_reason::null_key, key_.source.text, offset);
  return set_aggregate(key_, {here.what, true, text_of(here), offset});
}

/// {the transaction's commit LSN, the event's LSN}. Rows of a snapshot come before all commits.
bool debezium_cdc_reader::read_sequence(const change_fields& fields) {
  ratchet::sequence lsn;
  if (!read_number(fields.lsn, false, lsn)) return false;
  event().has_sequence = true;
  const json::found& raw = at(fields.log_sequence.node);
  if (raw.what == json::kind::string && raw.duplicate == nullptr) {
    if (const auto commit = parse_u64(commit_digits(text_of(raw)))) {
      event().sequence = {*commit, lsn.number};
      return no_duplicate(fields.log_sequence);
    }
  }
  field_value pair;
  if (!fetch(fields.log_sequence, pair)) return false;
  if (pair.what != json::kind::none) {
    const auto invalid = [&] { return fail(malformed_reason::sequence_invalid, fields.log_sequence, pair); };
    if (pair.what != json::kind::string) {
      return fail(malformed_reason::wrong_type, fields.log_sequence, pair);
    }
    if (pair_walker_.walk(pair.text).reason != malformed_reason::none) return invalid();
    if (pair_walker_.at(json::k_root).what != json::kind::array) return invalid();
    const json::found& commit = pair_walker_.at(commit_lsn_);
    if (commit.what == json::kind::none) return invalid();
    if (commit.what != json::kind::null) {
      std::string_view digits = text_of(commit);
      if (commit.what == json::kind::string) digits = digits.substr(1, digits.size() - 2);
      const auto number = parse_u64(digits);
      if (!number) return invalid();
      lsn.epoch = *number;
    }
  }
  event().sequence = lsn;
  return true;
}

}  // namespace ratchet
