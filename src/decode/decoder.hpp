// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/decoded_event.hpp"
#include "core/record.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// What of a stream's config decoding depends on.
struct decode_rules {
  envelope_config envelope;
  ratchet::order order{order::latest};
  id_kind ids{id_kind::uuidv7};
  std::string payload_from;            ///< JSON Pointer of the reducer's input; empty: the whole value
  bool time_stands_for_record{false};  ///< plain files: the event's time is the record's
};

/// The events of one batch, and the memory that some of their views point into.
/// Borrows from the batch that was decoded: must not outlive it.
class decoded_batch {
 public:
  decoded_batch();
  ~decoded_batch();
  decoded_batch(decoded_batch&&) noexcept;
  decoded_batch& operator=(decoded_batch&&) noexcept;

  /// One per record, in the same order.
  std::vector<decoded_event> events;

 private:
  friend class decoder;
  struct arena;
  std::unique_ptr<arena> arena_;
};

/// Turns records into events by the rules of one stream. Every byte of a record is checked against RFC 8259
/// and UTF-8. Never fails: what cannot be decoded is an event of kind malformed that says why and where.
/// Thread-safety: one thread at a time; reuse it, as it keeps its buffers.
class decoder {
 public:
  explicit decoder(decode_rules);
  ~decoder();
  decoder(decoder&&) noexcept;
  decoder& operator=(decoder&&) noexcept;

  /// `out` is cleared first; passing the same object again reuses its memory.
  void decode(std::span<const record> records, decoded_batch& out);

 private:
  struct implementation;
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
