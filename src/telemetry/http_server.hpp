// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ratchet/error.hpp"

namespace ratchet {

/// Every wait and every size of an HTTP server has one of these bounds.
struct http_limits {
  std::size_t connections{64};     ///< at once; one more and the one that is silent the longest is closed
  std::size_t header_bytes{8192};  ///< of a request: its line and its header
  std::chrono::milliseconds request_timeout{30'000};  ///< from the connection, or the answer before, to the
                                                      ///< last byte of the header
  std::chrono::milliseconds answer_timeout{10'000};   ///< for a client to take the answer
};

struct http_answer {
  unsigned status{200};
  std::string content_type{"text/plain; charset=utf-8"};
  std::string body;
};

/// Answers GET and HEAD with whatever a function says of a path, on one thread of its own. HTTP/1.0 and 1.1,
/// without encryption and without any question of who asks. Other methods are answered with 405, a body with
/// 413, a header that is too large with 431, what is no HTTP with 400; each of these ends the connection. So
/// does a request that comes together with the next one, which is not answered. Lifetime: what the function
/// uses must outlive this.
class http_server {
 public:
  /// Called on the server's thread, with the path as it stands in the request, without its query.
  using handler = std::function<http_answer(std::string_view path)>;

  /// Listens on a numeric IPv4 or IPv6 address; port 0 picks a free one. Errors: io.
  [[nodiscard]] static reported<std::unique_ptr<http_server>> start(const std::string& host,
                                                                    std::uint16_t port, handler,
                                                                    const http_limits& = {});
  /// Cuts every connection, and waits for the thread.
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Where it listens: HOST:PORT, or [HOST]:PORT for IPv6.
  [[nodiscard]] const std::string& address() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept;

 private:
  struct implementation;
  explicit http_server(std::unique_ptr<implementation>);
  std::unique_ptr<implementation> self_;
};

}  // namespace ratchet
