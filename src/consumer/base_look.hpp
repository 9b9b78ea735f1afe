// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "ports/slot_log.hpp"
#include "ratchet/error.hpp"
#include "replicate/base_survey.hpp"

namespace ratchet {

/// What is to be looked for in a topic of bases.
struct base_wish {
  replicate::base_reader_options which;
  /// A base that was whole when it was looked at: it is only looked whether it is still there, and what lies
  /// behind it. None: all of the topic is read.
  std::optional<replicate::found_base> known{};
  std::optional<std::int64_t> from{};  ///< where to begin to read; none: where the topic begins
  std::uint64_t rate{0};               ///< the most bytes that are read in a second; 0: as many as come
  /// In which brokers may tell nothing, beside some turns.
  std::chrono::milliseconds patience{0};
};

/// What a topic of bases has.
struct bases_found {
  std::deque<replicate::found_base> whole;  ///< in the order of their ends
  std::deque<std::int64_t> false_ends;      ///< as replicate::base_survey has them
};

/// Reads a topic of bases up to the end that it has. Waits until `stop`, or until brokers have told nothing
/// for too long. Errors: topic_missing; timed_out; of the client.
[[nodiscard]] result<bases_found> look_at_bases(slot_log& of, const base_wish&,
                                                const std::atomic<bool>& stop);

}  // namespace ratchet
