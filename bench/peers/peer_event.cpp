// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "peer_event.hpp"

namespace peers {

namespace {

[[nodiscard]] unsigned digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  return static_cast<unsigned>(c - 'a') + 10U;
}

}  // namespace

std::optional<event> event_parser::parse(std::string_view value) {
  padded_.assign(value);
  padded_.reserve(value.size() + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::document document;
  event e;
  if (parser_.iterate(simdjson::padded_string_view{padded_.data(), padded_.size(), padded_.capacity()})
          .get(document) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  simdjson::ondemand::object payment;
  if (document["id"].get(e.id) != simdjson::SUCCESS ||
      document["sequence"].get(e.sequence) != simdjson::SUCCESS ||
      document["payment"].get(payment) != simdjson::SUCCESS ||
      payment["id"].get(e.aggregate) != simdjson::SUCCESS || payment.reset().error() != simdjson::SUCCESS ||
      payment.raw_json().get(e.snapshot) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return e;
}

std::string bytes_of_uuid(std::string_view text) {
  std::string bytes;
  bytes.reserve(16);
  for (std::size_t i = 0; i + 1 < text.size();) {
    if (text[i] == '-') {
      ++i;
      continue;
    }
    bytes += static_cast<char>((digit(text[i]) << 4U) | digit(text[i + 1]));
    i += 2;
  }
  return bytes;
}

}  // namespace peers
