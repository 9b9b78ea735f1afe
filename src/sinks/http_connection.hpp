// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ports/publisher.hpp"
#include "sinks/answer_mask.hpp"
#include "sinks/http_request.hpp"
#include "sinks/http_url.hpp"

namespace ratchet {

/// What all connections of a sink share. Of its thread alone.
struct http_peer {
  boost::asio::io_context& context;
  boost::asio::ssl::context* tls;  ///< none: plain
  http_url url;
  std::chrono::milliseconds timeout;
  answer_mask mask;
};

/// How a request ended.
struct http_result {
  delivery ended;  ///< its position is for the caller to fill in
  /// The connection was there before, and turned out to be closed before anything came back: nothing is known
  /// against the server.
  bool stale{false};
};

/// One connection to a sink's server, for one request at a time; once it is closed it is of no more use.
/// Everything runs on the context's thread. Alive as long as one of its operations is under way, or somebody
/// holds it.
class http_connection : public std::enable_shared_from_this<http_connection> {
 public:
  using told = std::function<void(http_result)>;

  explicit http_connection(const http_peer& peer)
      : peer_{peer}, resolver_{peer.context}, deadline_{peer.context} {}

  /// Sends the request, and connects first where that was not done. `told` is called once, not before this
  /// returns.
  void send(std::shared_ptr<const http_request>, told);
  /// Whether it is open still, and nothing has come that nobody asked for: that would be taken for the answer
  /// to the next request.
  [[nodiscard]] bool is_reusable();
  /// Breaks off what is under way; nothing is told any more.
  void stop();

 private:
  using tcp = boost::asio::ip::tcp;
  using plain_stream = boost::beast::tcp_stream;
  using tls_stream = boost::beast::ssl_stream<plain_stream>;
  using parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;

  /// Of an answer no more is read, whatever it is made of. Boost.Beast bounds headers alone: neither interim
  /// answers, nor extensions of chunks, nor trailers.
  static constexpr std::size_t k_most_answer = std::size_t{128} << 10U;
  /// The same where the server has not read the message by then, and says that it takes it.
  static constexpr std::size_t k_most_early_answer = std::size_t{32} << 20U;

  /// Once.
  void connect();
  void on_resolved(const boost::system::error_code&, const tcp::resolver::results_type&);
  void on_connected(const boost::system::error_code&);
  void write();
  void on_written(const boost::system::error_code&);
  void begin_answer();
  void read_some();
  void on_header(const boost::system::error_code&);
  void on_body(const boost::system::error_code&);
  void end_answer();
  [[nodiscard]] bool may_read_on();
  /// The answer says that the message is taken, and the server may still read the rest of it.
  [[nodiscard]] bool awaits_reader() const;
  void fail(const char* what, const boost::system::error_code&);
  void fail(std::string text);
  void on_deadline();
  void finish();
  void tell(delivery, bool stale);
  void close();
  [[nodiscard]] plain_stream& lowest();
  /// Calls `f` with the stream that is in use.
  template <class F>
  void with_stream(F&& f);
  /// A handler that does nothing where its request has ended meanwhile.
  template <class F>
  [[nodiscard]] auto of_this(F&& f);

  const http_peer& peer_;
  tcp::resolver resolver_;
  boost::asio::steady_timer deadline_;
  std::optional<plain_stream> plain_;
  std::optional<tls_stream> tls_;
  boost::beast::flat_buffer buffer_{k_most_answer};
  std::optional<parser> parser_;
  std::shared_ptr<const http_request> request_;
  told told_;
  std::array<char, 4096> piece_{};
  std::string excerpt_;
  std::size_t answer_bytes_{0};  ///< of all that came for this request, interim answers too
  std::uint64_t turn_{0};        ///< grows with each request: handlers of older ones do nothing
  bool open_{false};
  bool reused_{false};    ///< the request went out over a connection that was there before
  bool keep_{false};      ///< the answer lets the connection stay open
  bool answers_{false};   ///< the header was read
  bool written_{false};   ///< all of the request
  bool reads_on_{false};  ///< the answer, as the server may read the message behind it
  bool ended_{false};     ///< the answer was read to its end, or as far as it is read
  std::optional<boost::system::error_code> not_sent_;  ///< why the request could not be written to its end
};

}  // namespace ratchet
