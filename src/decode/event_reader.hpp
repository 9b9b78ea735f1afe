// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/decoded_event.hpp"
#include "core/record.hpp"
#include "decode/text_arena.hpp"

namespace ratchet {

class record_splitter;

/// Turns one record at a time into an event, by the rules of one format.
/// Thread-safety: none.
class event_reader {
 public:
  event_reader() = default;
  virtual ~event_reader() = default;
  event_reader(const event_reader&) = delete;
  event_reader& operator=(const event_reader&) = delete;

  /// Fills `event`, whatever was in it. Views in it point into the record, into `texts`, or
  /// (malformed.pointer) into the reader.
  virtual void read(const record&, decoded_event& event, text_arena& texts) = 0;

  /// What takes records apart that hold several events, before they are read; null where none does.
  [[nodiscard]] virtual record_splitter* splitter() noexcept { return nullptr; }
};

}  // namespace ratchet
