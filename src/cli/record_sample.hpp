// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "ports/source.hpp"
#include "ratchet/error.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::cli {

/// Some records to look at.
struct record_sample {
  std::vector<sniff::sniffed_record> records;
  std::size_t not_json{0};  ///< lines of a file that are no JSON by themselves
  std::size_t arrays{0};    ///< lines that are arrays, whose elements are taken for records
};

/// The first lines of a file or of standard input (`-`): records as `kcat -C -J` prints them, and of other
/// lines the values, or of arrays their elements. Errors: io, naming the file.
[[nodiscard]] reported<record_sample> sample_file(const std::string& path, std::size_t records);

/// The last records of each partition of the topic, about as many of each; without a group that brokers hear
/// of, and without commits. Errors: source_unavailable; topic_missing.
[[nodiscard]] result<record_sample> sample_topic(source&, const std::string& topic, std::size_t records,
                                                 std::chrono::milliseconds timeout);

}  // namespace ratchet::cli
