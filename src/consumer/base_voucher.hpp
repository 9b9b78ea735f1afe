// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/slot_log.hpp"
#include "ratchet/error.hpp"
#include "replicate/log_reader.hpp"

namespace ratchet {

/// Asks a log whether it goes on from the position that a base gives itself: it has the last record of that
/// step there, with its chain, or, for a base from before the log, its first step follows. A base that says
/// anything else is somebody's invention. Thread-safety: one owner thread, which has the log for itself.
class base_voucher {
 public:
  enum class answer : std::uint8_t { asking, yes, no };

  base_voucher(slot_log& log, const replicate::reader_options& options, const replicate::log_position& of)
      : log_{log}, reader_{options, of}, is_before_log_{of.is_before_log()} {}

  /// Does what can be done without waiting. Errors: as slot_log::read().
  [[nodiscard]] result<answer> turn();

 private:
  [[nodiscard]] answer take(const slot_record&);

  slot_log& log_;
  replicate::log_reader reader_;
  bool is_before_log_;
  bool has_begun_{false};  ///< a fence follows the base
};

}  // namespace ratchet
