// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "decode/decoder.hpp"
#include "fuzz/json_judge.hpp"
#include "fuzz/text_reference.hpp"

/// What a record of CloudEvents or of row changes means, once more: over Boost.JSON's tree, written from the
/// formats' documents and the table of decided details. Why a record is malformed is not modelled.
namespace ratchet::fuzz {

struct read_format {
  decoded_kind kind{decoded_kind::malformed};
  std::string aggregate;
  std::optional<ratchet::sequence> sequence;
  std::string id;      ///< as it was written; empty: none is kept
  std::string source;  ///< that counts together with it
  std::string type;
  std::optional<json_node> payload;  ///< JSON
  std::optional<std::string> bytes;  ///< or bytes that are not looked at
};

class format_reference {
 public:
  format_reference(const decode_rules& rules, const record& r, const std::optional<json_node>& document)
      : rules_{rules}, record_{r}, root_{document ? &*document : nullptr} {}

  [[nodiscard]] read_format change() const {
    read_format out;
    if (rules_.envelope.format == envelope_format::ydb_changefeed) {
      if (!read_ydb(out)) return {};
    } else if (!read_debezium(out)) {
      return {};
    }
    return out;
  }
  /// False: Boost.JSON cannot read something that is valid, so that the answer means nothing.
  [[nodiscard]] bool has_answer() const noexcept { return has_answer_; }
  [[nodiscard]] read_format cloudevent(bool structured) const {
    read_format out;
    return read_cloudevent(structured, out) ? out : read_format{};
  }

 private:
  using kind_of = json_node::kind_of;
  static constexpr std::size_t k_most = 1024;

  /// A value that a field may be taken from. Not well: it is there twice. No node: missing or null.
  struct place {
    bool well{true};
    const json_node* node{nullptr};
    bool there{false};  ///< also where it is null
  };

  static place member(const json_node* at, std::string_view name) {
    place found;
    if (at == nullptr) return found;
    if (at->kind == kind_of::array && all_digits(name)) {
      const auto index = static_cast<std::size_t>(name.front() - '0');
      if (index < at->children.size()) found.node = &at->children[index];
    }
    if (at->kind == kind_of::object) {
      for (std::size_t i = 0; i < at->names.size(); ++i) {
        if (at->names[i] != name) continue;
        found.well = found.node == nullptr;
        if (!found.well) return found;
        found.node = &at->children[i];
      }
    }
    found.there = found.node != nullptr;
    if (found.there && found.node->kind == kind_of::null) found.node = nullptr;
    return found;
  }
  /// One member below another.
  static place member(const place& parent, std::string_view name) {
    if (!parent.well) return parent;
    return member(parent.node, name);
  }

  /// JSON within the record.
  std::optional<json_node> judge(std::string_view text) const {
    auto node = read_json(text);
    has_answer_ = has_answer_ && (node || !accepts(text));
    return node;
  }

  static std::optional<std::uint64_t> number(const json_node* n) {
    if (n == nullptr || (n->kind != kind_of::string && n->kind != kind_of::number)) return std::nullopt;
    return reference_u64(n->text);
  }
  static bool fits(const std::string& aggregate) {
    return !aggregate.empty() && aggregate.size() <= k_most && is_utf8(aggregate);
  }

  /// The payload below `at`, by the rules' pointer, which has one name at most.
  bool payload_in(place at, read_format& out) const {
    if (!at.well || !at.there) return false;
    static const json_node null;
    if (rules_.payload_from.empty()) {
      out.payload = at.node != nullptr ? *at.node : null;
      return true;
    }
    const place part = member(at, std::string_view{rules_.payload_from}.substr(1));
    if (!part.well || !part.there) return false;
    out.payload = part.node != nullptr ? *part.node : null;
    return true;
  }

  bool read_ydb(read_format& out) const {
    if (root_ == nullptr) return false;
    if (!member(root_, "key").there && member(root_, "resolved").there) {
      out.kind = decoded_kind::ignored;
      return true;
    }
    const place wrapped = member(root_, "payload");
    if (!has(root_, "key") && wrapped.node != nullptr && wrapped.node->kind == kind_of::object) {
      has_answer_ = false;  // Debezium's form: the unit tests have it
      return false;
    }
    const place key = member(root_, "key");
    const place stamp = member(root_, "ts");
    if (!key.well || key.node == nullptr || key.node->kind != kind_of::array) return false;
    if (!stamp.well || stamp.node == nullptr || stamp.node->kind != kind_of::array) return false;
    const auto step = number(member(stamp, "0").node);
    const auto transaction = number(member(stamp, "1").node);
    if (!step || !transaction) return false;
    out.sequence = ratchet::sequence{*step, *transaction};
    const place erase = member(root_, "erase");
    if (!erase.well) return false;
    if (erase.node != nullptr) {
      out.kind = decoded_kind::tombstone;
      out.type = "erase";
      return true;
    }
    out.kind = decoded_kind::event;
    out.type = "update";
    const place image = member(root_, "newImage");
    return image.node != nullptr && image.node->kind == kind_of::object && payload_in(image, out);
  }

  bool read_debezium(read_format& out) const {
    if (!record_.value) {
      out.kind = decoded_kind::ignored;
      return true;
    }
    if (root_ == nullptr) return false;
    place top{true, root_, true};
    const place wrapped = member(root_, "payload");
    const bool is_wrapped = has(root_, "schema") && has(root_, "payload");
    if (is_wrapped && first(root_, "payload")->kind == kind_of::null) {
      out.kind = decoded_kind::ignored;
      return true;
    }
    if (is_wrapped) top = wrapped;
    // Rows without their envelope, and envelopes without a schema's place: the unit tests have them.
    if (top.node != nullptr && top.node->kind == kind_of::object && !top.node->names.empty() &&
        !has(top.node, "op") && !has(top.node, "source")) {
      has_answer_ = false;
      return false;
    }
    const place op = member(top, "op");
    if (!op.well || op.node == nullptr || op.node->kind != kind_of::string) return false;
    if (op.node->text == "t" || op.node->text == "m") {
      out.kind = decoded_kind::ignored;
      return true;
    }
    if (op.node->text.size() != 1 || std::string_view{"rcud"}.find(op.node->text) == std::string_view::npos)
      return false;
    out.type = op.node->text;
    return read_key() && read_log_position(member(top, "source"), out) && read_row(member(top, "after"), out);
  }
  static bool has(const json_node* at, std::string_view name) { return first(at, name) != nullptr; }
  static const json_node* first(const json_node* at, std::string_view name) {
    if (at->kind != kind_of::object) return nullptr;
    for (std::size_t i = 0; i < at->names.size(); ++i) {
      if (at->names[i] == name) return &at->children[i];
    }
    return nullptr;
  }
  /// Only whether there is one: its bytes are the caller's to compare.
  bool read_key() const {
    if (!record_.key) return false;
    const auto key = judge(*record_.key);
    if (!key) return false;
    if (!has(&*key, "schema") || !has(&*key, "payload")) return key->kind != kind_of::null;
    const place payload = member(&*key, "payload");
    return payload.well && payload.node != nullptr;
  }
  bool read_log_position(const place& source, read_format& out) const {
    const place lsn = member(source, "lsn");
    const place pair = member(source, "sequence");
    const place time = member(source, "ts_ms");
    if (names_another_connector(source)) {
      has_answer_ = false;
      return false;
    }
    const auto number_of_lsn = number(lsn.node);
    if (!lsn.well || !pair.well || !time.well) return false;
    if (lsn.node != nullptr && !number_of_lsn) return false;
    if (pair.node == nullptr) {
      if (!number_of_lsn) return false;
      out.sequence = ratchet::sequence{0, *number_of_lsn};
      return true;
    }
    if (pair.node->kind != kind_of::string) return false;
    const auto list = judge(pair.node->text);
    if (!list || list->kind != kind_of::array || list->children.empty()) return false;
    const bool is_plain = number_of_lsn && list->children.front().kind != kind_of::null;
    if (!is_plain && !member(source, "snapshot").well) return false;
    return place_in_log(list->children, number_of_lsn, snapshot_of(source), out);
  }
  /// Where a change or a row of a snapshot stands: see docs/guides/cdc.md.
  static bool place_in_log(const std::vector<json_node>& pair, std::optional<std::uint64_t> lsn,
                           const std::string& snapshot, read_format& out) {
    const bool has_commit = pair.front().kind != kind_of::null;
    const auto commit = has_commit ? number(&pair.front()) : std::nullopt;
    if (has_commit && !commit) return false;
    if (!lsn && out.type != "r" && snapshot.empty()) return false;
    if (!lsn && pair.size() > 1) lsn = number(&pair[1]);
    const bool incremental_or_streamed = snapshot.empty() || snapshot == "incremental";
    if (commit)
      out.sequence = ratchet::sequence{*commit, lsn.value_or(0)};
    else
      out.sequence = ratchet::sequence{lsn.value_or(0), incremental_or_streamed ? lsn.value_or(0) : 0};
    return true;
  }
  static std::string snapshot_of(const place& source) {
    const place snapshot = member(source, "snapshot");
    if (snapshot.node == nullptr) return {};
    const bool is_scalar = snapshot.node->kind != kind_of::object && snapshot.node->kind != kind_of::array;
    const std::string how = is_scalar ? snapshot.node->text : "?";
    return how == "false" ? "" : how;
  }
  static bool names_another_connector(const place& source) {
    const auto there = [&](const char* name) { return source.node != nullptr && has(source.node, name); };
    const place name = member(source, "connector");
    if (!name.well || (name.node != nullptr && name.node->text != "postgresql")) return true;
    if (name.node != nullptr) return false;
    for (const char* sign : {"file", "commit_lsn", "commit_scn", "scn", "step"}) {
      if (there(sign)) return true;
    }
    return there("connector");
  }
  bool read_row(const place& after, read_format& out) const {
    if (out.type == "d") {
      out.kind = decoded_kind::tombstone;
      return true;
    }
    out.kind = decoded_kind::event;
    return after.node != nullptr && after.node->kind == kind_of::object && payload_in(after, out);
  }

  /// An attribute, from the value or from its header. Not well: there twice.
  place attribute(bool structured, std::string_view name, json_node& own) const {
    if (structured) return member(root_, name);
    place found;
    for (const header& h : record_.headers) {
      if (h.name != "ce_" + std::string{name}) continue;
      const bool same = found.node == nullptr ? !h.value : h.value && found.node->text == *h.value;
      if (found.there && !same) return {false, nullptr, true};
      found.there = true;
      if (!h.value) continue;
      own = {kind_of::string, std::string{*h.value}, {}, {}};
      found.node = &own;
    }
    const bool is_binary = std::any_of(own.text.begin(), own.text.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    });
    if (is_binary) found.well = false;
    return found;
  }
  bool text_attribute(bool structured, std::string_view name, std::string& out) const {
    json_node own;
    const place at = attribute(structured, name, own);
    if (!at.well || at.node == nullptr || at.node->kind != kind_of::string) return false;
    out = at.node->text;
    return !out.empty();
  }
  bool number_attribute(bool structured, std::string_view name, std::uint64_t& out) const {
    json_node own;
    const place at = attribute(structured, name, own);
    const auto read = number(at.node);
    if (!at.well || !read) return false;
    out = *read;
    return true;
  }

  bool read_cloudevent(bool structured, read_format& out) const {
    std::string version;
    if (!text_attribute(structured, "specversion", version) || version != "1.0") return false;
    if (!text_attribute(structured, "source", out.source) || !is_utf8(out.source)) return false;
    if (!text_attribute(structured, "id", out.id)) return false;
    if (rules_.ids == id_kind::none) out.id.clear();
    if (rules_.ids == id_kind::opaque && !is_utf8(out.id)) return false;
    if (!text_attribute(structured, "type", out.type) || !is_utf8(out.type)) return false;
    json_node own;
    const place subject = attribute(structured, "subject", own);
    if (!subject.well || subject.node == nullptr) return false;
    const json_node& n = *subject.node;
    const bool integer = n.kind == kind_of::number && n.text.find_first_of(".eE") == std::string::npos;
    if ((n.kind != kind_of::string && !integer) || !fits(n.text)) return false;
    out.aggregate = n.text;
    if (rules_.order != order::arrival) {
      ratchet::sequence s;
      if (!number_attribute(structured, "sequence", s.number)) return false;
      if (!rules_.envelope.epoch.empty() && !number_attribute(structured, "era", s.epoch)) return false;
      out.sequence = s;
    }
    json_node time;
    const place at = attribute(structured, "time", time);
    if (!at.well) return false;
    // Other spellings, and what is none, the units have.
    has_answer_ = has_answer_ && (at.node == nullptr || reference_rfc3339(at.node->text));
    out.kind = record_.value ? decoded_kind::event : decoded_kind::tombstone;
    if (!structured) return !record_.value || root_ == nullptr || payload_in({true, root_, true}, out);
    return read_data(out);
  }
  bool read_data(read_format& out) const {
    const place data = member(root_, "data");
    const place encoded = member(root_, "data_base64");
    if (!data.well || !encoded.well) return false;
    if (encoded.node == nullptr) {
      if (data.there || !rules_.payload_from.empty()) return payload_in(data, out);
      out.payload = json_node{};
      return true;
    }
    if (data.there || encoded.node->kind != kind_of::string) return false;
    const auto bytes = base64(encoded.node->text);
    if (!bytes) return false;
    if (rules_.payload_from.empty() && rules_.bytes_allowed) {
      out.bytes = bytes;
      return true;
    }
    const auto inner = judge(*bytes);
    return inner && payload_in({true, inner->kind == kind_of::null ? nullptr : &*inner, true}, out);
  }
  static std::optional<std::string> base64(std::string_view text) {
    constexpr std::string_view k_digits{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"};
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bits;
    std::size_t padding = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '=' && i + 2 >= text.size()) {
        ++padding;
        continue;
      }
      const std::size_t digit = k_digits.find(text[i]);
      if (digit == std::string_view::npos || padding > 0) return std::nullopt;
      for (int bit = 5; bit >= 0; --bit) bits += (digit >> bit & 1U) != 0 ? '1' : '0';
    }
    std::string out;
    std::size_t at = 0;
    for (; at + 8 <= bits.size(); at += 8) {
      out += static_cast<char>(std::strtoul(bits.substr(at, 8).c_str(), nullptr, 2));
    }
    if (bits.find('1', at) != std::string::npos) return std::nullopt;
    return out;
  }

  const decode_rules& rules_;
  const record& record_;
  const json_node* root_;
  mutable bool has_answer_{true};
};

}  // namespace ratchet::fuzz
