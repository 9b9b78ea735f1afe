// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Where an HTTP sink is (RFC 3986, as far as RFC 9110 uses it). Pure.
namespace ratchet {

struct http_url {
  bool tls{false};
  std::string host;         ///< a name, or a numeric address, without the brackets of IPv6
  std::string port;         ///< decimal
  std::string target{"/"};  ///< path and query
  /// The value of the Host header.
  [[nodiscard]] std::string authority() const;
  /// For people: without the query, and with *** for the parts of the path that may be secret, too.
  [[nodiscard]] std::string shown() const;
};

/// Whether a part of a path is a plain word, or a version: webhooks carry their secret in the path, as in
/// /services/T024/B7/x9Qa.
[[nodiscard]] bool is_shown_segment(std::string_view) noexcept;

/// Reads http:// or https://, a host, maybe a port, a path and a query. None for anything else, also where it
/// holds a user, a fragment, white space or bytes beyond ASCII.
[[nodiscard]] std::optional<http_url> parse_http_url(std::string_view);

}  // namespace ratchet
