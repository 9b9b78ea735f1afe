// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/output.hpp"
#include "sinks/http_limits.hpp"
#include "sinks/http_url.hpp"

/// How a message is written as a request. Pure.
namespace ratchet {

using http_request = boost::beast::http::request<boost::beast::http::string_body>;

/// What all requests of a sink have in common.
struct http_request_form {
  boost::beast::http::verb method{boost::beast::http::verb::post};
  http_url url;
  std::map<std::string, std::string> headers;
};

/// Whether it is a media type with its parameters, as in text/plain; charset=utf-8 (RFC 9110, section 8.3.1).
[[nodiscard]] bool is_media_type(std::string_view) noexcept;

/// The request that carries the row, which has the headers of a published message. None where no request can
/// carry it, and then `why` says in words what stands in the way.
[[nodiscard]] std::optional<http_request> write_request(const http_request_form&, const output_row&,
                                                        std::string& why);

}  // namespace ratchet
