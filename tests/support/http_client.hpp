// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace ratchet::testing {

/// A connection of a test's own, which may say whatever it likes. Every wait is bounded.
class http_connection {
 public:
  explicit http_connection(std::uint16_t port, const char* host = "127.0.0.1") {
    const bool v6 = std::string_view{host}.find(':') != std::string_view::npos;
    fd_ = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in v4_address{};
    sockaddr_in6 v6_address{};
    v4_address.sin_family = AF_INET;
    v6_address.sin6_family = AF_INET6;
    v4_address.sin_port = v6_address.sin6_port = htons(port);
    ::inet_pton(AF_INET, host, &v4_address.sin_addr);
    ::inet_pton(AF_INET6, host, &v6_address.sin6_addr);
    const auto* address = v6 ? reinterpret_cast<const sockaddr*>(&v6_address)   // NOLINT: the sockets API
                             : reinterpret_cast<const sockaddr*>(&v4_address);  // NOLINT
    connected_ = ::connect(fd_, address, v6 ? sizeof v6_address : sizeof v4_address) == 0;
  }
  ~http_connection() { ::close(fd_); }
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  /// False: nobody takes it any more.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// What comes until the other side closes, or has nothing to say for 20 s.
  [[nodiscard]] std::string read_all() const {
    std::string all;
    while (read_some(all)) {
    }
    return all;
  }
  /// One answer: its header, and as many bytes behind it as it announces (none for HEAD).
  [[nodiscard]] std::string read_answer(bool head = false) const {
    std::string all;
    while (all.find("\r\n\r\n") == std::string::npos && read_some(all)) {
    }
    const std::size_t end = all.find("\r\n\r\n");
    const std::size_t length = all.find("Content-Length: ");
    if (end == std::string::npos || length == std::string::npos || head) return all;
    const auto body = std::strtoull(all.c_str() + length + 16, nullptr, 10);
    while (all.size() < end + 4 + body && read_some(all)) {
    }
    return all;
  }
  /// True once the other side has closed or reset; waits for it as long as read_all().
  [[nodiscard]] bool closed() const {
    std::string rest;
    while (read_some(rest)) {
    }
    return closed_;
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  bool read_some(std::string& to) const {
    constexpr int k_patience_ms = 20'000;
    pollfd waited{fd_, POLLIN, 0};
    if (::poll(&waited, 1, k_patience_ms) <= 0) return false;
    char bytes[4096];
    const ssize_t count = ::recv(fd_, bytes, sizeof bytes, 0);
    closed_ = count <= 0;
    if (count > 0) to.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  int fd_;
  bool connected_{false};
  mutable bool closed_{false};
};

struct http_result {
  int status{0};  ///< 0: there was no answer
  std::string header;
  std::string body;
};

inline http_result parse_answer(const std::string& text) {
  http_result got;
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return got;
  got.status = std::atoi(text.c_str() + 9);
  got.header = text.substr(0, end);
  got.body = text.substr(end + 4);
  return got;
}

inline http_result http_get(std::uint16_t port, const std::string& path, const std::string& method = "GET",
                            const char* host = "127.0.0.1") {
  const http_connection to{port, host};
  if (!to.connected()) return {};
  to.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return parse_answer(to.read_all());
}

}  // namespace ratchet::testing
