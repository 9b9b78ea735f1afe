// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// With src/sinks the only place that includes Boost.Beast and Boost.Asio: they take long to compile.
#include "telemetry/http_server.hpp"

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "ports/thread_edge.hpp"
#include "ports/thread_name.hpp"
#include "process/signals.hpp"

namespace ratchet {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

/// Before accept() is tried again where the process has no descriptor left.
constexpr std::chrono::milliseconds k_accept_pause{100};
/// Behind an exception: what was lacking may be back.
constexpr std::chrono::milliseconds k_breath{10};
/// An answer that ends a connection reaches its client only if what the client still sends is read: so much
/// of it, for so long.
constexpr std::size_t k_linger_bytes = std::size_t{64} << 10U;
constexpr std::chrono::milliseconds k_linger_timeout{1'000};

http_answer plain_answer(http::status status) {
  return {static_cast<unsigned>(status), "text/plain; charset=utf-8",
          std::string{http::obsolete_reason(status)} + "\n"};
}

/// What is answered where a header could not be read; none where nobody waits for an answer.
std::optional<http::status> status_of(const boost::system::error_code& code) {
  if (code == http::error::header_limit) return http::status::request_header_fields_too_large;
  if (code == http::error::body_limit) return http::status::payload_too_large;
  if (code == http::error::end_of_stream || code == http::error::partial_message) return std::nullopt;
  if (code.category() == http::make_error_code(http::error::bad_method).category())
    return http::status::bad_request;
  return std::nullopt;  // timed out, or the connection broke
}

}  // namespace

struct http_server::implementation {
  implementation(handler h, const http_limits& l) : answer{std::move(h)}, limits{l} {}

  class connection;

  handler answer;
  http_limits limits;
  std::string address;
  std::uint16_t port{0};
  std::list<connection*> open;  ///< the one that is silent the longest first; of the thread alone
  asio::io_context context{1};  ///< behind `open`: with it go the connections, which leave the list
  tcp::acceptor acceptor{context};
  asio::steady_timer accept_again{context};
  bool accepts{false};           ///< a client or the timer is waited for
  std::uint64_t accept_turn{0};  ///< the last one that was begun; what an earlier one comes to begins none
  std::atomic<bool> ended{false};
  std::thread thread;

  void run() noexcept;
  void accept();
  void accept_anew() noexcept;
  void serve(tcp::socket);
  void make_room();
};

/// One connection, alive as long as one of its operations is under way.
class http_server::implementation::connection : public std::enable_shared_from_this<connection> {
 public:
  connection(implementation& server, tcp::socket socket)
      : server_{server}, stream_{std::move(socket)}, place_{server.open.insert(server.open.end(), this)} {}
  ~connection() { server_.open.erase(place_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void read() {
    server_.open.splice(server_.open.end(), server_.open, place_);
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_.limits.header_bytes));
    stream_.expires_after(server_.limits.request_timeout);  // for the whole of it, however it drips in
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](auto code, std::size_t) { self->on_read(code); });
  }
  void close() {
    boost::system::error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void on_read(const boost::system::error_code& code) {
    if (code) {
      const auto status = status_of(code);
      return status ? send(plain_answer(*status), true, false) : close();
    }
    // Each answer is work for this one thread, and who does not wait for the last one could ask for
    // thousands.
    const bool asks_ahead = buffer_.size() > 0;
    const auto& request = parser_->get();
    const bool head = request.method() == http::verb::head;
    if (parser_->chunked() || parser_->content_length_remaining().value_or(0) > 0)
      return send(plain_answer(http::status::payload_too_large), true, head);
    if (!head && request.method() != http::verb::get)
      return send(plain_answer(http::status::method_not_allowed), true, head);
    const std::string_view target{request.target().data(), request.target().size()};
    http_answer made;
    try {
      made = server_.answer(target.substr(0, target.find('?')));
    } catch (...) {  // NOLINT: whatever it is, this request fails, and nothing else
      return send(plain_answer(http::status::internal_server_error), true, head);
    }
    send(std::move(made), asks_ahead || !request.keep_alive(), head);
  }

  void send(http_answer made, bool last, bool head) {
    response_ = {};
    response_.version(11);
    response_.result(made.status);
    response_.set(http::field::content_type, made.content_type);
    response_.set(http::field::cache_control, "no-store");
    if (made.status == static_cast<unsigned>(http::status::method_not_allowed))
      response_.set(http::field::allow, "GET, HEAD");
    response_.keep_alive(!last);
    response_.content_length(made.body.size());
    if (!head) response_.body() = std::move(made.body);
    stream_.expires_after(server_.limits.answer_timeout);
    http::async_write(stream_, response_, [self = shared_from_this(), last](auto code, std::size_t) {
      if (code) return self->close();
      last ? self->linger() : self->read();
    });
  }

  /// Closing with unread bytes would reset the connection, and the client might not see the answer.
  void linger() {
    boost::system::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(k_linger_timeout);
    drop_some();
  }
  void drop_some() {
    stream_.async_read_some(asio::buffer(dropped_),
                            [self = shared_from_this()](auto code, std::size_t count) {
                              self->dropped_bytes_ += count;
                              if (code || self->dropped_bytes_ > k_linger_bytes) return self->close();
                              self->drop_some();
                            });
  }

  implementation& server_;
  beast::tcp_stream stream_;
  std::list<connection*>::iterator place_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
  std::array<char, 4096> dropped_{};
  std::size_t dropped_bytes_{0};
};

void http_server::implementation::make_room() {
  // It ends once the thread comes around to it; until then it counts, and the next one is looked at.
  std::size_t count = open.size();
  for (connection* c : open) {
    if (count-- < limits.connections) break;
    c->close();
  }
}

/// An exception out of a handler, be it Beast's or for want of memory, cuts off that handler's connection,
/// which nothing else holds, and the rest is served on. Whether Asio still waits for a client then, and how
/// much it believes to have under way, nobody knows: run() may return as if there were nothing to do.
void http_server::implementation::run() noexcept {
  name_this_thread("ratchet:http");
  for (;;) {
    (void)at_edge(
        [this] {
          if (!accepts) accept();
          context.run();
        },
        [](const char*) {});
    if (ended) return;
    accept_anew();
    std::this_thread::sleep_for(k_breath);
    context.restart();
    if (ended) return;  // else it is stopped behind this
  }
}

void http_server::implementation::accept_anew() noexcept {
  boost::system::error_code ignored;
  acceptor.cancel(ignored);
  ++accept_turn;
  accepts = false;
}

void http_server::implementation::serve(tcp::socket socket) {
  make_room();
  std::make_shared<connection>(*this, std::move(socket))->read();
}

void http_server::implementation::accept() {
  const std::uint64_t turn = ++accept_turn;
  acceptor.async_accept([this, turn](const boost::system::error_code& code, tcp::socket socket) {
    const bool is_last = turn == accept_turn;
    if (is_last) accepts = false;
    if (!code) serve(std::move(socket));
    if (!is_last || code == asio::error::operation_aborted) return;
    if (!code) return accept();
    accept_again.expires_after(k_accept_pause);
    accept_again.async_wait([this, turn](const boost::system::error_code& stopped) {
      if (turn != accept_turn) return;
      accepts = false;
      if (!stopped) accept();
    });
    accepts = true;
  });
  accepts = true;
}

namespace {

problem cannot_listen(const std::string& address, const boost::system::error_code& code) {
  problem p{
      make_error_code(errc::io), "cannot listen on " + address + " for HTTP: " + code.message(), "", {}};
  if (code == asio::error::address_in_use) {
    p.hint =
        "another program listens there (`ss -ltnp` names it): stop it, or choose another port (`--set "
        "http.listen=127.0.0.1:0` picks a free one)";
  } else if (code == asio::error::access_denied) {
    p.hint = "choose a port above 1023 in `http.listen`";
  } else {
    p.hint = "name an address of this machine in `http.listen`, as in 127.0.0.1:9187";
  }
  return p;
}

std::string to_text(const asio::ip::address& host, std::uint16_t port) {
  const std::string name = host.to_string();
  return (host.is_v6() ? "[" + name + "]" : name) + ":" + std::to_string(port);
}

}  // namespace

http_server::http_server(std::unique_ptr<implementation> self) : self_{std::move(self)} {}

reported<std::unique_ptr<http_server>> http_server::start(const std::string& host, std::uint16_t port,
                                                          handler answer, const http_limits& limits) {
  auto self = std::make_unique<implementation>(std::move(answer), limits);
  boost::system::error_code code;
  const auto where = asio::ip::make_address(host, code);
  if (code) return cannot_listen(host + ":" + std::to_string(port), code);
  const tcp::endpoint endpoint{where, port};
  self->acceptor.open(endpoint.protocol(), code);
  // A restart must not wait for the connections of the process before.
  if (!code) self->acceptor.set_option(asio::socket_base::reuse_address{true}, code);
  if (!code) self->acceptor.bind(endpoint, code);
  if (!code) self->acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (!code) self->port = self->acceptor.local_endpoint(code).port();
  if (code) return cannot_listen(to_text(where, port), code);
  self->address = to_text(where, self->port);
  self->accept();
  try {
    const signals_blocked blocked;
    self->thread = std::thread{[&s = *self] { s.run(); }};
  } catch (const std::system_error& e) {
    return problem{
        make_error_code(errc::io), std::string{"cannot start the HTTP server's thread: "} + e.what(), "", {}};
  }
  return std::unique_ptr<http_server>{new http_server{std::move(self)}};
}

http_server::~http_server() {
  self_->ended = true;
  self_->context.stop();
  self_->thread.join();
}

const std::string& http_server::address() const noexcept {
  return self_->address;
}

std::uint16_t http_server::port() const noexcept {
  return self_->port;
}

}  // namespace ratchet
