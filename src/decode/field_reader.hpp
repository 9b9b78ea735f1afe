// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/decoded_event.hpp"
#include "core/record.hpp"
#include "decode/decoder.hpp"
#include "decode/event_reader.hpp"
#include "decode/field_map.hpp"
#include "decode/json_grammar.hpp"
#include "decode/text_arena.hpp"
#include "decode/whole_array.hpp"

namespace ratchet {

/// What the readers of all formats share: the value's walk, how a field is
/// fetched, and how a record is found malformed.
/// Thread-safety: none. Rules and tree are borrowed for the reader's lifetime.
class field_reader : public event_reader {
 public:
  field_reader(const decode_rules& rules, const json::pointer_tree& tree) : rules_{&rules}, walker_{tree} {}

  void read(const record&, decoded_event& event, text_arena& texts) final;

  /// Where fields are read from that stand beside the list of several events: the walk of the record whose
  /// events are read. Borrowed.
  void read_beside(const json::walker& outside) noexcept { outside_ = &outside; }

 protected:
  /// What a field holds before its meaning is looked at.
  struct field_value {
    json::kind what{json::kind::none};  ///< none: missing or null
    bool outside{false};                ///< from key or header: text, whatever it means
    std::string_view text;              ///< a string's characters, a number's token
    std::uint64_t offset{0};
  };

  /// For what is none of the stream's events.
  bool ignore() noexcept {
    event_->kind = decoded_kind::ignored;
    return true;
  }

  /// Fills the event; its kind too, where it is neither an event nor a tombstone by the value alone. False:
  /// fail() was called.
  virtual bool read_all() = 0;

  /// Size and grammar of the value, which is there. `null` is malformed.
  bool walk_value();
  bool check_size();
  /// The field's text. Success with kind none: there is none, or it is null. False: it cannot be read at all.
  bool fetch(const field&, field_value&);
  bool fetch_required(const field&, field_value&);
  bool fetch_from_value(const field&, field_value&);
  bool fetch_from_outside(const field&, field_value&);
  bool fetch_key(const field&, field_value&);
  /// The key without the frame, where JSON stands behind it. It must be there.
  [[nodiscard]] std::string_view key_body() const noexcept;
  bool fetch_header(const field&, field_value&);
  bool read_number(const field&, bool wide, ratchet::sequence&);
  bool fail_number(const field&, const field_value&);
  /// Hexadecimal digits, which only text can hold.
  bool read_hex(const field&, bool wide, ratchet::sequence&);
  bool read_time_from(const field&);
  bool set_aggregate(const field&, const field_value&);
  /// The bytes of a value's part become the payload. They must be there.
  bool set_payload(const field&);
  bool check_utf8(const field&, const field_value&);
  bool no_duplicate(const field&);
  /// Whether these arrays have no elements that are not read.
  bool are_whole(std::span<const whole_array>);
  bool is_whole(const whole_array&);

  [[nodiscard]] const decode_rules& rules() const noexcept { return *rules_; }
  [[nodiscard]] const record& from() const noexcept { return *record_; }
  /// The record's value, without a schema registry's frame. It must be there.
  [[nodiscard]] std::string_view body() const noexcept { return body_; }
  [[nodiscard]] decoded_event& event() const noexcept { return *event_; }
  [[nodiscard]] text_arena& texts() const noexcept { return *texts_; }
  [[nodiscard]] const json::found& at(json::node_index node) const noexcept { return walker_.at(node); }
  /// Whether the field is there, in the value or beside the list of events, and null.
  [[nodiscard]] bool is_null(const field& f) const noexcept {
    if (!f.in_value() || !record_->value) return false;
    return (f.is_outside() ? *outside_ : walker_).at(f.node).what == json::kind::null;
  }
  [[nodiscard]] std::uint64_t offset_of(const char* p) const noexcept;
  bool fail(malformed_reason, std::string_view pointer, std::uint64_t offset) noexcept;
  bool fail(malformed_reason reason, const field& f, const field_value& value) noexcept {
    return fail(reason, f.source.text, value.offset);
  }

 private:
  /// A value that was walked, and where its bytes begin.
  struct document {
    const json::walker& walked;
    const char* begin;
  };
  bool fetch_from(document, const field&, field_value&);
  bool unescape(const char* begin, const field&, field_value&);
  bool fail_where_twice(document, const field&);

  const decode_rules* rules_;
  json::walker walker_;
  const json::walker* outside_{nullptr};
  // of the record that is being read
  const record* record_{nullptr};
  std::string_view body_;
  decoded_event* event_{nullptr};
  text_arena* texts_{nullptr};
};

}  // namespace ratchet
