// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace peers {

/// What is needed of a payment's event. Views point into the parser, until its next event.
struct event {
  std::string_view id;  ///< a UUID's text
  std::string_view aggregate;
  std::uint64_t sequence{0};
  std::string_view snapshot;  ///< the member `payment`, byte for byte
};

/// simdjson's on-demand parser, as anybody would use it. Thread-safety: one thread.
class event_parser {
 public:
  /// None: it is no such event.
  [[nodiscard]] std::optional<event> parse(std::string_view value);

 private:
  simdjson::ondemand::parser parser_;
  std::string padded_;
};

/// The 16 bytes of a UUID's text of 36 characters.
[[nodiscard]] std::string bytes_of_uuid(std::string_view text);

}  // namespace peers
