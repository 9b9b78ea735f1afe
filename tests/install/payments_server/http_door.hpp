// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// A small HTTP server: one request at a time on each of its threads. For an example: behind a real door
/// stand limits, time-outs and TLS.
class http_door {
 public:
  struct request {
    std::string_view method;
    std::string_view target;
    std::string_view key;  ///< the header Idempotency-Key; empty: there is none
    std::string_view body;
  };
  struct answer {
    unsigned status{200};
    std::string body{};
    bool replayed{false};  ///< says so in a header
  };
  /// Is called on any of the threads.
  using handler = std::function<answer(const request&)>;

  /// Listens on 127.0.0.1, port 0: a free one. Throws where it cannot.
  http_door(std::uint16_t port, int threads, handler);
  /// Takes no more requests, and lets those under way end.
  ~http_door();
  http_door(const http_door&) = delete;
  http_door& operator=(const http_door&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> self_;
};
