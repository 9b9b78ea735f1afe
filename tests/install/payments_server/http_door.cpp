// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "http_door.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr std::uint32_t k_most_body = 64 * 1024;

http::response<http::string_body> response_of(const http_door::answer& made,
                                              const http::request<http::string_body>& to) {
  http::response<http::string_body> response{http::int_to_status(made.status), to.version()};
  response.set(http::field::content_type, "application/json");
  if (made.replayed) response.set("Idempotent-Replayed", "true");
  if (made.status == 503) response.set(http::field::retry_after, "1");
  response.keep_alive(to.keep_alive());
  response.body() = made.body;
  response.prepare_payload();
  return response;
}

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

/// A client that says nothing for so long is left.
void limit_silence(tcp::socket& socket) {
  const timeval limit{2, 0};
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

}  // namespace

struct http_door::implementation {
  asio::io_context context{};
  tcp::acceptor acceptor{context};
  handler answer_to{};
  std::vector<std::thread> threads{};

  void work() {
    for (;;) {
      boost::system::error_code code;
      tcp::socket socket{context};
      // Each thread waits in the kernel; it wakes one of them for each connection.
      const int fd = ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
      if (fd < 0) return;
      socket.assign(tcp::v4(), fd, code);
      limit_silence(socket);
      serve(socket);
    }
  }
  void serve(tcp::socket& socket) const {
    boost::beast::flat_buffer buffer;
    for (;;) {
      boost::system::error_code code;
      http::request_parser<http::string_body> parser;
      parser.body_limit(k_most_body);
      http::read(socket, buffer, parser, code);
      if (code) return;
      const auto& request = parser.get();
      const answer made = answer_to({.method = view(request.method_string()),
                                     .target = view(request.target()),
                                     .key = view(request["Idempotency-Key"]),
                                     .body = request.body()});
      http::write(socket, response_of(made, request), code);
      if (code || !request.keep_alive()) return;
    }
  }
};

http_door::http_door(std::uint16_t port, int threads, handler h) : self_{std::make_unique<implementation>()} {
  self_->answer_to = std::move(h);
  const tcp::endpoint where{asio::ip::make_address_v4("127.0.0.1"), port};
  self_->acceptor.open(where.protocol());
  self_->acceptor.set_option(asio::socket_base::reuse_address{true});
  self_->acceptor.bind(where);
  self_->acceptor.listen();
  for (int i = 0; i < threads; ++i) self_->threads.emplace_back([this] { self_->work(); });
}

http_door::~http_door() {
  ::shutdown(self_->acceptor.native_handle(), SHUT_RDWR);  // wakes who waits in accept
  for (std::thread& t : self_->threads) t.join();
}

std::uint16_t http_door::port() const {
  return self_->acceptor.local_endpoint().port();
}
