// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/decoded_event.hpp"
#include "ratchet/config.hpp"
#include "ratchet/types.hpp"

/// Versions that are no plain numbers: how each becomes a sequence in its own order, and is written again.
/// What comes of a version is stored, and never changes.
namespace ratchet {

/// A version that was read, or why it is none: sequence_invalid, sequence_negative or sequence_too_large.
struct read_version {
  malformed_reason fault{malformed_reason::none};
  ratchet::sequence sequence{};
};

/// All kinds but `integer`.
[[nodiscard]] read_version read_version_of(sequence_kind, std::string_view text) noexcept;

/// Whether versions of the kind may be written as a JSON number.
[[nodiscard]] constexpr bool may_be_number(sequence_kind kind) noexcept {
  return kind == sequence_kind::decimal || kind == sequence_kind::hlc || kind == sequence_kind::integer;
}

/// The word of the config for a kind; empty for `by_format`.
[[nodiscard]] std::string_view word_of(sequence_kind) noexcept;

/// The field is the record's own `offset` or `timestamp`.
[[nodiscard]] constexpr bool is_of_record(std::string_view source) noexcept {
  return source == "offset" || source == "timestamp";
}

/// What the sequences of an envelope are, in this order. Never by_format.
[[nodiscard]] sequence_kind kind_of_sequences(const envelope_config&, order) noexcept;

/// Whether they are text because CloudEvents have it so, and the config names no kind.
[[nodiscard]] bool are_text_by_format(const envelope_config&, order) noexcept;

/// Whether they are text or whole numbers, as each event says: the extension of CloudEvents. The envelope
/// must have its defaults.
[[nodiscard]] bool are_numbers_or_text(const envelope_config&, order) noexcept;

/// How a stream's sequences are written for people: as they came, but for leading zeros, zeros behind a
/// fraction, and times, which are shown in UTC.
struct sequence_spelling {
  sequence_kind kind{sequence_kind::integer};
  bool wide{false};  ///< integers of 128 bits
  bool hex{false};   ///< integers to the base 16

  [[nodiscard]] static sequence_spelling of(const envelope_config&, order);
  /// Of a JSON number: digits that no quotes are needed for.
  [[nodiscard]] bool is_number(sequence) const noexcept;
  /// Two numbers, as no single one is known for it: an epoch that is not 0.
  [[nodiscard]] bool is_pair(sequence) const noexcept;
  [[nodiscard]] std::string text(sequence) const;
  /// The same as a function of the sequence alone.
  [[nodiscard]] std::string (*function() const noexcept)(sequence);
  friend bool operator==(const sequence_spelling&, const sequence_spelling&) = default;
};

}  // namespace ratchet
