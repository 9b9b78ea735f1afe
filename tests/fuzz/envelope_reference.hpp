// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/key_text.hpp"
#include "decode/media_type.hpp"
#include "decode/record_hash.hpp"
#include "decode/time_text.hpp"
#include "fuzz/json_judge.hpp"
#include "fuzz/text_reference.hpp"

/// What the `json` envelope makes of a record, once more: over Boost.JSON's tree, written from the words of
/// decode/decoder.hpp and the table of decided details. Byte offsets are not modelled.
namespace ratchet::fuzz {

struct read_event {
  malformed_reason reason{malformed_reason::none};
  std::string pointer;  ///< where it is malformed
  std::string aggregate;
  std::optional<ratchet::sequence> sequence;
  std::optional<event_id> id;
  std::string id_text{};
  std::string type;
  std::optional<timestamp> time;
  std::optional<timestamp> record_time;
  std::optional<json_node> payload;  ///< none: a tombstone, or bytes
};

class envelope_reference {
 public:
  /// `document`: of the record's value; none for a tombstone, or where the value is bytes.
  envelope_reference(const decode_rules& rules, const record& r, std::optional<json_node> document)
      : rules_{rules}, record_{r}, document_{std::move(document)} {}

  read_event read() {
    if (!rules_.time_stands_for_record) event_.record_time = record_.time;
    const bool well = whole() && id() && aggregate() && sequence() && type() && time() && payload();
    if (!well) {
      const read_event broken{event_.reason, event_.pointer, {}, {}, {}, {}, {}, {}, record_time_, {}};
      return broken;
    }
    return event_;
  }

 private:
  using kind_of = json_node::kind_of;
  struct value {
    const json_node* node{nullptr};
    bool outside{false};
    json_node own;  ///< of a key or a header
  };

  bool fail(malformed_reason reason, const std::string& source) {
    // What was known of the record's time before its fields were read stays.
    if (!rules_.time_stands_for_record) record_time_ = record_.time;
    event_.reason = reason;
    event_.pointer = source;
    return false;
  }

  static std::vector<std::string> tokens_of(std::string_view pointer) {
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < pointer.size(); ++i) {
      if (pointer[i] == '/') {
        tokens.emplace_back();
      } else if (pointer[i] == '~') {
        tokens.back() += pointer[++i] == '0' ? '~' : '/';
      } else {
        tokens.back() += pointer[i];
      }
    }
    return tokens;
  }

  /// The node that the pointer names, null where there is none. False: a name on the way is there twice.
  bool find(std::string_view pointer, const json_node*& at) const {
    at = document_ ? &*document_ : nullptr;
    for (const std::string& token : tokens_of(pointer)) {
      if (at == nullptr) return true;
      const json_node* next = nullptr;
      if (at->kind == kind_of::object) {
        for (std::size_t i = 0; i < at->names.size(); ++i) {
          if (at->names[i] != token) continue;
          if (next != nullptr) return false;
          next = &at->children[i];
        }
      } else if (at->kind == kind_of::array && all_digits(token) && (token == "0" || token.front() != '0') &&
                 token.size() < 10) {
        const auto index = static_cast<std::size_t>(std::atoll(token.c_str()));
        if (index < at->children.size()) next = &at->children[index];
      }
      at = next;
    }
    return true;
  }

  /// The payload may be one element of an array, of which nothing else is read: the array has no more then.
  bool whole() {
    const std::string& source = rules_.payload_from;
    const std::size_t last = source.rfind('/');
    if (!document_ || last == std::string::npos || !all_digits(source.substr(last + 1))) return true;
    const envelope_config& e = rules_.envelope;
    const std::string array = source.substr(0, last);
    for (const std::string& other : {e.event_id, e.aggregate, e.sequence, e.epoch, e.type, e.time}) {
      if (other.starts_with(array + "/") && !(other + "/").starts_with(source + "/")) return true;  // a tuple
    }
    const json_node* all = nullptr;
    const json_node* element = nullptr;
    if (!find(array, all) || !find(source, element)) return fail(malformed_reason::duplicate_field, source);
    if (element == nullptr || all->kind != kind_of::array || &all->children.back() == element) return true;
    return fail(malformed_reason::longer_array, source);
  }

  /// False: it cannot be read. No node: missing, or null.
  bool fetch(const std::string& source, value& v) {
    if (source.empty()) return true;
    if (source == "key") {
      if (!record_.key) return fail(malformed_reason::null_key, source);
      const key_text key = read_key(rules_.envelope.key, *record_.key, texts_);  // its units pin it
      if (key.reason != malformed_reason::none) return fail(key.reason, source);
      v.own = {kind_of::string, std::string{key.text}, {}, {}};
      v.outside = true;
    } else if (source.starts_with("header:")) {
      std::vector<const header*> same;
      std::vector<const header*> alike;
      for (const header& h : record_.headers) {
        if (h.name == source.substr(7)) same.push_back(&h);
        if (equal_ignoring_case(h.name, source.substr(7))) alike.push_back(&h);
      }
      if (same.empty()) same = alike;
      for (const header* h : same) {
        if (h->value != same.front()->value) return fail(malformed_reason::duplicate_header, source);
      }
      const header* found = same.empty() ? nullptr : same.front();
      if (found == nullptr || !found->value) return true;
      for (const char c : *found->value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F) return fail(malformed_reason::header_binary, source);
      }
      v.own = {kind_of::string, std::string{*found->value}, {}, {}};
      v.outside = true;
    } else {
      const json_node* at = nullptr;
      if (!find(source, at)) return fail(malformed_reason::duplicate_field, source);
      if (at != nullptr && at->kind != kind_of::null) v.node = at;
      return true;
    }
    v.node = &v.own;
    return true;
  }

  bool fetch_required(const std::string& source, value& v) {
    if (!fetch(source, v)) return false;
    if (v.node != nullptr) return true;
    const bool deletes = !record_.value && source.starts_with('/');
    return fail(deletes ? malformed_reason::null_value : malformed_reason::missing_field, source);
  }

  bool id() {
    const std::string& source = rules_.envelope.event_id;
    if (rules_.ids == id_kind::none || source.empty()) return true;
    const bool lost = !record_.value && source.starts_with('/');
    if (lost && !rules_.envelope.aggregate.starts_with('/') && !record_.where->topic.empty() && record_.time)
      return true;  // its place is its id
    value v;
    if (!fetch_required(source, v)) return false;
    if (rules_.ids == id_kind::opaque) return opaque_id(source, *v.node);
    if (v.node->kind != kind_of::string) return fail(malformed_reason::wrong_type, source);
    event_.id = reference_uuidv7(v.node->text);
    return event_.id || fail(malformed_reason::id_invalid, source);
  }

  /// What counts is the hash of its text, which is pinned elsewhere.
  bool opaque_id(const std::string& source, const json_node& n) {
    const bool integer = n.kind == kind_of::number && n.text.find_first_of(".eE") == std::string::npos;
    if (n.kind != kind_of::string && !integer) return fail(malformed_reason::wrong_type, source);
    if (n.text.empty() || n.text.size() > 1024) return fail(malformed_reason::id_invalid, source);
    if (!is_utf8(n.text)) return fail(malformed_reason::invalid_utf8, source);
    const hash128 hash = payload_hash(n.text);
    event_.id = event_id{hash.high, hash.low};
    event_.id_text = n.text;
    return true;
  }

  bool aggregate() {
    const std::string& source = rules_.envelope.aggregate;
    value v;
    if (!fetch_required(source, v)) return false;
    const json_node& n = *v.node;
    const bool integer = n.kind == kind_of::number && n.text.find_first_of(".eE") == std::string::npos;
    if (n.kind != kind_of::string && !integer) return fail(malformed_reason::wrong_type, source);
    if (n.text.empty() || n.text.size() > 1024) return fail(malformed_reason::aggregate_size, source);
    if (!is_utf8(n.text)) return fail(malformed_reason::invalid_utf8, source);
    event_.aggregate = n.text;
    return true;
  }

  bool number(const std::string& source, bool wide, ratchet::sequence& to, bool hex = false) {
    value v;
    if (!fetch_required(source, v)) return false;
    if (v.node->kind != kind_of::string && (hex || v.node->kind != kind_of::number))
      return fail(malformed_reason::wrong_type, source);
    const auto read = hex ? reference_hex_u128(v.node->text) : reference_u128(v.node->text);
    const std::string& text = v.node->text;
    const bool is_large = !hex && !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    if (!read || (!wide && read->epoch != 0)) {
      return fail(is_large ? malformed_reason::sequence_too_large : malformed_reason::sequence_invalid,
                  source);
    }
    to = *read;
    return true;
  }

  bool sequence() {
    if (rules_.order == order::arrival) return true;
    const bool wide = rules_.envelope.sequence_bits == 128;
    ratchet::sequence read;
    const bool hex = rules_.envelope.sequence_base == 16;
    if (!number(rules_.envelope.sequence, wide, read, hex)) return false;
    if (!wide && !rules_.envelope.epoch.empty()) {
      ratchet::sequence epoch;
      if (!number(rules_.envelope.epoch, false, epoch)) return false;
      read.epoch = epoch.number;
    }
    event_.sequence = read;
    return true;
  }

  bool type() {
    const std::string& source = rules_.envelope.type;
    value v;
    if (!fetch(source, v)) return false;
    if (v.node == nullptr) return true;
    if (v.node->kind != kind_of::string) return fail(malformed_reason::wrong_type, source);
    if (!is_utf8(v.node->text)) return fail(malformed_reason::invalid_utf8, source);
    event_.type = v.node->text;
    return true;
  }

  bool time() {
    const std::string& source = rules_.envelope.time;
    value v;
    if (!fetch(source, v)) return false;
    if (v.node == nullptr) return true;
    const bool text = v.node->kind == kind_of::string;
    const bool number = v.node->kind == kind_of::number || v.outside;
    if (text) event_.time = reference_rfc3339(v.node->text);
    if ((number || text) && !event_.time) event_.time = reference_milliseconds(v.node->text);
    if (text && !event_.time) event_.time = parse_time_spelling(v.node->text);  // its units pin it
    if (!event_.time)
      return fail(text || number ? malformed_reason::time_invalid : malformed_reason::wrong_type, source);
    if (rules_.time_stands_for_record) event_.record_time = record_time_ = event_.time;
    return true;
  }

  bool payload() {
    if (!document_) return true;
    const std::string& source = rules_.payload_from;
    const json_node* at = nullptr;
    if (!find(source, at)) return fail(malformed_reason::duplicate_field, source);
    if (at == nullptr) return fail(malformed_reason::missing_field, source);
    event_.payload = *at;
    return true;
  }

  const decode_rules& rules_;
  const record& record_;
  std::optional<json_node> document_;
  text_arena texts_;
  read_event event_;
  std::optional<timestamp> record_time_;  ///< what a malformed event keeps
};

}  // namespace ratchet::fuzz
