// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "ratchet/reducer.hpp"
#include "ratchet/table.hpp"

namespace ratchet {

/// What a reducer may publish, and which tables it may write.
struct output_rules {
  std::optional<std::vector<std::string>> topics{std::in_place};  ///< to these; none: to any
  std::uint64_t message_bytes{std::uint64_t{960}
                              << 10U};  ///< of key, payload and what the headers hold of the event
  std::uint64_t snapshot_bytes{std::uint64_t{16} << 20U};  ///< of a snapshot, and of a row of a table
  /// These; none: any, with any bytes as keys.
  std::optional<std::vector<table_config>> tables{std::in_place};
};

/// How one call of a reducer ended.
struct reducer_call {
  ending how{ending::done};
  std::error_code cause;              ///< the reducer's own code
  std::string thrown;                 ///< what the reducer or its exception said, or what else is to be said
  std::string remedy;                 ///< of a stop, what else than the reducer may be wrong; empty: nothing
  std::vector<owned_output> outputs;  ///< what it published; nothing unless it ended with done
  std::vector<owned_table_change> tables;  ///< what it put and erased, with keys as they are stored; the same
  std::optional<std::string> reply;        ///< nothing unless it ended with done

  /// What a person reads of the failure.
  [[nodiscard]] std::string error() const;
};

/// Whether somebody waits who can be replied to.
enum class replies : std::uint8_t { refused, allowed };

/// Runs the reducer and lets nothing out of it: an exception is a failure that may pass, a message, a
/// snapshot or a row that is too large a lasting one, and what was not announced or does not fit its table a
/// stop. Where it did not end with done, `s` may be half changed.
[[nodiscard]] reducer_call call_reducer(const reducer&, const output_rules&, const event&, state& s,
                                        replies = replies::refused);

}  // namespace ratchet
