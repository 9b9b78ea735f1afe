// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sniff/config_share.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// What was looked at, and what is to be told of it.
struct sniff_request {
  std::string name;                  ///< the topic or file, for people
  std::string topic;                 ///< of the suggested stream; empty: of a plain file
  std::vector<std::string> brokers;  ///< of the suggested config
  std::size_t lines_that_are_no_json{0};
  std::size_t lines_that_are_arrays{0};  ///< whose elements are among the records
};

/// A config to start from, with what the records are as comments before it: lines of a YAML file as a whole.
/// Where no config can be suggested, the comments alone. Pure.
[[nodiscard]] std::string report_on(const sniff_request&, std::span<const sniffed_record>,
                                    std::span<const config_share>);

/// What its own records say of a suggested config, as comments; empty: it rejects none of them.
[[nodiscard]] std::string words_of_trial(const config_share&);

}  // namespace ratchet::sniff
