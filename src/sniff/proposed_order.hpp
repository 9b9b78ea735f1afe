// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ratchet/config.hpp"
#include "sniff/likely.hpp"

namespace ratchet::sniff {

/// How a format names its fields.
struct format_of_fields {
  bool has_ids{false};  ///< the config names the event's id
  /// The records' own order is right as long as none comes late.
  bool is_by_arrival{false};
  bool is_of_file{false};  ///< lines, without topics and offsets
  std::string source;      ///< what a config calls the likeliest sequence; empty: it cannot name it
};

/// An order that the records bear out, and that nothing found in them refutes.
struct proposed_order {
  order by{order::arrival};
  bool has_sequence{false};  ///< the likeliest one; else the format's own or none
  bool later_tie_wins{false};
  first_number first{first_number::one};  ///< of strict; any goes with gaps that are skipped
  /// Where records hold changes, and not whole states, neither this order nor another one is right.
  bool fails_changes{false};
  std::vector<std::string> why;  ///< for people
};

/// The order of a format whose fields a config names. Pure.
[[nodiscard]] proposed_order order_of(const likely&, const format_of_fields&);

/// As YAML has it behind `sequence: `. The source is as a config has it; `is_typed` where a kind must be
/// named.
[[nodiscard]] std::string text_of_sequence(const likely_sequence&, const std::string& source, bool is_typed);

/// As YAML reads it.
[[nodiscard]] std::string scalar(const std::string& text);

}  // namespace ratchet::sniff
