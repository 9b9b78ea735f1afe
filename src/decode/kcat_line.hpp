// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/decoded_event.hpp"
#include "ratchet/types.hpp"

namespace ratchet {

/// One record as `kcat -C -J` or `rpk topic consume` prints it, in memory of its own.
struct kcat_record {
  std::string topic;
  partition_id partition{0};
  std::int64_t offset{0};
  std::optional<timestamp> time;  ///< none where kcat prints none, -1, or the type "unknown"
  std::optional<std::string> key;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::optional<std::string> payload;  ///< none: null, a tombstone
};

/// Reads such lines. Where kcat turned Avro into JSON (`-s avro`), key and payload are that JSON, byte for
/// byte. A line of rpk has `value` and `timestamp` for kcat's `payload` and `ts`, and leaves out what is null
/// or empty, so that an empty one is null here; its headers are a list of {key, value}. kcat prints a
/// payload's bytes as they are, be they UTF-8 or not; so they come out as they are. Headers are its flat
/// array [name, value, ...] or an object of values or arrays of values. Other members are passed over.
/// Thread-safety: one thread at a time; reuse it.
class kcat_line_reader {
 public:
  kcat_line_reader();
  ~kcat_line_reader();
  kcat_line_reader(kcat_line_reader&&) noexcept;
  kcat_line_reader& operator=(kcat_line_reader&&) noexcept;

  /// Fills `to`; what it held before is gone in any case. Reason none is success. Errors: invalid_json,
  /// too_deep, byte_order_mark; position_invalid where a member is missing, twice there, or not what kcat
  /// prints; `pointer` names it (a literal), `byte_offset` is in the line.
  [[nodiscard]] malformed_detail read(std::string_view line, kcat_record& to);

  /// Fills `to` with the position and the time of a line of which these are the first bytes, and with nothing
  /// else. False where they do not say the position, as kcat prints it before the rest.
  [[nodiscard]] bool read_beginning(std::string_view begins, kcat_record& to);

 private:
  struct implementation;
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
