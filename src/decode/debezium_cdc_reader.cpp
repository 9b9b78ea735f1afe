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

keyed_change_reader::keyed_change_reader(const decode_rules& rules)
    : field_reader{rules, tree},
      key_schema_{key_tree_.add({"schema"})},
      key_payload_{key_tree_.add({"payload"})},
      key_server_{key_tree_.add({"serverName"})},
      key_walker_{key_tree_},
      unavailable_{rules.keeps_columns ? std::string_view{rules.envelope.unavailable} : std::string_view{}} {
  key_.source.text = "key";
}

bool keyed_change_reader::read_key(bool payload_alone) {
  if (!from().key) return fail(malformed_reason::null_key, key_.source.text, 0);
  const json::fault fault = key_walker_.walk(key_body());
  if (fault.reason != malformed_reason::none) return fail(fault.reason, key_.source.text, fault.offset);
  const bool is_wrapped = key_walker_.at(key_payload_).what != json::kind::none &&
                          (payload_alone || key_walker_.at(key_schema_).what != json::kind::none);
  const json::node_index node = is_wrapped ? key_payload_ : json::k_root;
  const json::found& here = key_walker_.at(node);
  const auto offset = static_cast<std::uint64_t>(here.begin - from().key->data());
  if (is_wrapped && here.duplicate != nullptr) {
    return fail(malformed_reason::duplicate_field, key_.source.text, offset);
  }
  if (here.what == json::kind::null) return fail(malformed_reason::null_key, key_.source.text, offset);
  return set_aggregate(key_, {here.what, true, text_of(here), offset});
}

bool keyed_change_reader::is_key_of_heartbeat() {
  if (!from().key || key_walker_.walk(key_body()).reason != malformed_reason::none) return false;
  const json::found& payload = key_walker_.at(key_payload_);
  if (key_walker_.at(key_server_).what == json::kind::string) return true;
  // Beside a schema.
  return payload.what == json::kind::object &&
         text_of(payload).find("\"serverName\"") != std::string_view::npos;
}

bool keyed_change_reader::look_for_unavailable(std::string_view operation, std::string_view& column) {
  if (!unavailable_.may_be_in(event().payload)) return true;
  if (!brings_all_columns(operation)) {
    event().keeps_columns = true;
    return true;
  }
  const auto first = unavailable_.first_in(event().payload);
  if (first) column = *first;
  return !first;
}

postgres_log_reader::change_fields::change_fields(json::pointer_tree& tree, const std::string& root,
                                                  const std::string& payload_from)
    : operation{field_at(tree, root + "/op")},
      connector{field_at(tree, root + "/source/connector")},
      log_sequence{field_at(tree, root + "/source/sequence")},
      lsn{field_at(tree, root + "/source/lsn")},
      time{field_at(tree, root + "/source/ts_ms")},
      after{field_at(tree, root + "/after")},
      payload{field_at(tree, root + "/after" + payload_from)},
      arrays{arrays_on_way(tree, payload, field_use::payload)} {}

postgres_log_reader::postgres_log_reader(const decode_rules& rules)
    : keyed_change_reader{rules},
      schema_{tree.add({"schema"})},
      wrapped_{tree.add({"payload"})},
      bare_fields_{tree, "", rules.payload_from},
      wrapped_fields_{tree, "/payload", rules.payload_from} {}

bool postgres_log_reader::read_all() {
  left_it_ = false;
  if (!from().value) return ignore();
  if (!check_size() || !walk_value()) return false;
  if (at(schema_).what == json::kind::none || at(wrapped_).what == json::kind::none) {
    left_it_ = !read_change(bare_fields_);
  } else if (at(wrapped_).what == json::kind::null) {
    return ignore();
  } else {
    left_it_ = !read_change(wrapped_fields_);
  }
  return true;
}

/// False: it is no such change, or one at which something is wrong: any_change_reader says what.
bool postgres_log_reader::read_change(const change_fields& fields) {
  constexpr std::ptrdiff_t k_one_letter = 3;  // in quotes
  const json::found& operation = at(fields.operation.node);
  if (operation.what != json::kind::string || operation.end - operation.begin != k_one_letter) return false;
  const std::string_view op{operation.begin + 1, 1};
  if (op == "t" || op == "m") return no_duplicate(fields.operation) && ignore();
  if (std::string_view{"rcud"}.find(op) == std::string_view::npos) return false;
  if (!no_duplicate(fields.operation) || !read_key(false) || !read_sequence(fields)) return false;
  event().type = op;
  if (!read_time_from(fields.time)) return false;
  if (op == "d") {
    event().kind = decoded_kind::tombstone;
    return true;
  }
  if (at(fields.after.node).what != json::kind::object || !set_payload(fields.payload) ||
      !are_whole(fields.arrays)) {
    return false;
  }
  std::string_view column;
  return look_for_unavailable(op, column);
}

/// {the last commit's LSN, the event's LSN}.
bool postgres_log_reader::read_sequence(const change_fields& fields) {
  constexpr std::string_view k_name{"\"postgresql\""};
  const json::found& name = at(fields.connector.node);
  if (name.what != json::kind::none && text_of(name) != k_name) return false;
  const json::found& pair = at(fields.log_sequence.node);
  const json::found& place = at(fields.lsn.node);
  if (pair.what != json::kind::string || place.what != json::kind::number) return false;
  const auto commit = parse_u64(commit_digits(text_of(pair)));
  const auto lsn = parse_u64(text_of(place));
  if (!commit || !lsn) return false;
  event().has_sequence = true;
  event().sequence = {*commit, *lsn};
  return no_duplicate(fields.connector) && no_duplicate(fields.log_sequence) && no_duplicate(fields.lsn);
}

debezium_cdc_reader::debezium_cdc_reader(const decode_rules& rules)
    : by_partition_{rules.envelope.position == change_order::partition},
      plain_{rules},
      any_{rules, change_form::envelope},
      row_{rules, change_form::unwrapped} {}

void debezium_cdc_reader::read(const record& r, decoded_event& event, text_arena& texts) {
  if (first_ == turn::row) {
    row_.read(r, event, texts);
    if (!row_.left_it()) return;
    first_ = turn::plain;
  }
  if (first_ == turn::plain && !by_partition_) {
    plain_.read(r, event, texts);
    if (!plain_.left_it()) return;
  }
  any_.read(r, event, texts);
  first_ = any_.was_plain() ? turn::plain : turn::any;
  if (!any_.left_it()) return;
  row_.read(r, event, texts);
  first_ = turn::row;
}

}  // namespace ratchet
