// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "decode/decoder.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// What one stream's envelope makes of the records.
struct config_share {
  struct fault {
    std::size_t records{0};  ///< or events, of records that hold several
    std::string first;       ///< where the first of them is
  };
  std::string stream;
  std::size_t records{0};
  std::size_t events{0};
  std::size_t deletions{0};
  std::size_t ignored{0};
  std::map<std::string, fault> faults;  ///< by what is wrong, and where in the record

  std::size_t rejected{0};

  [[nodiscard]] std::size_t all() const noexcept { return events + deletions + ignored + rejected; }
};

/// Decodes the records as the stream would. Pure.
[[nodiscard]] config_share share_of(const std::string& stream, const decode_rules&,
                                    std::span<const sniffed_record>);

/// `topic[partition]@offset`, or `line N` of a plain file.
[[nodiscard]] std::string place_of(const sniffed_record&);

}  // namespace ratchet::sniff
