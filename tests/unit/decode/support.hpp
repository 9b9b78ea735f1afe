// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/decoder.hpp"

namespace ratchet {

/// The rules of the docs' example: every field of the `json` envelope from the value.
inline decode_rules payment_rules() {
  decode_rules rules;
  rules.envelope.event_id = "/id";
  rules.envelope.aggregate = "/payment/id";
  rules.envelope.sequence = "/sequence";
  rules.envelope.type = "/type";
  rules.envelope.time = "/occurred_at";
  rules.payload_from = "/payment";
  return rules;
}

/// Of a format of row changes.
inline decode_rules row_rules(envelope_format format, change_order position = change_order::log) {
  decode_rules rules;
  rules.envelope.format = format;
  rules.envelope.position = position;
  rules.ids = id_kind::none;
  rules.bytes_allowed = true;
  return rules;
}

inline decode_rules outbox_rules(ratchet::order order = ratchet::order::arrival) {
  decode_rules rules;
  rules.envelope.format = envelope_format::debezium_outbox;
  rules.order = order;
  return rules;
}

/// Aggregate and sequence from the value, and no ids.
inline decode_rules plain_rules() {
  decode_rules rules;
  rules.order = order::latest;
  rules.ids = id_kind::none;
  rules.envelope.aggregate = "/a";
  rules.envelope.sequence = "/s";
  return rules;
}

constexpr const char* k_id_text = "018f2b7c-1234-7abc-89ab-0123456789ab";
constexpr event_id k_id{0x018F2B7C12347ABC, 0x89AB0123456789AB};

/// One record with memory of its own, which ends where the value ends.
struct test_record {
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::optional<timestamp> time;
};

/// Decodes one record; the event's views live as long as this.
class decoded {
 public:
  decoded(const decode_rules& rules, test_record r) : source_{std::move(r)}, decoder_{rules} {
    record_.where = &where_;
    if (source_.key) record_.key = *source_.key;
    if (source_.value) {
      exact_ = std::make_unique<char[]>(source_.value->size());
      source_.value->copy(exact_.get(), source_.value->size());
      record_.value = std::string_view{exact_.get(), source_.value->size()};
    }
    for (const auto& [name, value] : source_.headers) {
      headers_.push_back({name, value ? std::optional<std::string_view>{*value} : std::nullopt});
    }
    record_.headers = headers_;
    record_.time = source_.time;
    decoder_.decode({&record_, 1}, batch_);
  }
  decoded(const decode_rules& rules, std::string value)
      : decoded{rules, test_record{std::nullopt, std::move(value), {}, std::nullopt}} {}

  const decoded_event* operator->() const { return &batch_.events.at(0); }
  [[nodiscard]] std::string_view value() const { return *record_.value; }

  /// "reason pointer@offset", or the kind.
  [[nodiscard]] std::string verdict() const {
    const decoded_event& e = batch_.events.at(0);
    if (e.kind == decoded_kind::event) return "event";
    if (e.kind == decoded_kind::tombstone) return "tombstone";
    return std::string{name_of(e.malformed.reason)} + ' ' + std::string{e.malformed.pointer} + '@' +
           std::to_string(e.malformed.byte_offset);
  }

 private:
  topic_partition where_{"t", partition_id{0}};
  test_record source_;
  std::unique_ptr<char[]> exact_;
  std::vector<header> headers_;
  record record_;
  decoder decoder_;
  decoded_batch batch_;
};

}  // namespace ratchet
