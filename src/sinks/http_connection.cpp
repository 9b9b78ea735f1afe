// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_connection.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "sinks/http_answers.hpp"

namespace ratchet {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr std::uint32_t k_most_header = std::uint32_t{32} << 10U;
constexpr unsigned k_switching_protocols = 101;
constexpr unsigned k_first_final_status = 200;

}  // namespace

http_connection::plain_stream& http_connection::lowest() {
  return tls_ ? tls_->next_layer() : *plain_;
}

template <class F>
void http_connection::with_stream(F&& f) {
  if (tls_) {
    f(*tls_);
  } else {
    f(*plain_);
  }
}

template <class F>
auto http_connection::of_this(F&& f) {
  return [self = shared_from_this(), turn = turn_, f = std::forward<F>(f)](
             const boost::system::error_code& code, auto&&... rest) -> void {
    if (self->turn_ == turn && self->told_) f(code, rest...);
  };
}

void http_connection::send(std::shared_ptr<const http_request> r, told t) {
  ++turn_;
  request_ = std::move(r);
  told_ = std::move(t);
  reused_ = open_;
  answers_ = false;
  answer_bytes_ = 0;
  deadline_.expires_after(peer_.timeout);
  deadline_.async_wait(of_this([this](const auto& code) {
    if (!code) on_deadline();
  }));
  open_ ? write() : connect();
}

/// Where the status is there, the rest of the answer may take as long as it likes. But of a message that it
/// says to take a server reads the end, or closes (RFC 9112, section 9.3): what it did neither with, it does
/// not have.
void http_connection::on_deadline() {
  keep_ = false;
  if (answers_ && !awaits_reader()) return finish();
  if (answers_)
    return fail("answers " + std::to_string(parser_->get().result_int()) +
                ", and has not read the message within " + std::to_string(peer_.timeout.count()) + " ms");
  if (not_sent_) return fail("cannot send", *not_sent_);
  close();
  tell({.ended = delivery::how::again,
        .text = "no answer within " + std::to_string(peer_.timeout.count()) + " ms"},
       false);
}

void http_connection::connect() {
  if (peer_.tls != nullptr) {
    tls_.emplace(peer_.context, *peer_.tls);
    boost::system::error_code is_name;
    (void)asio::ip::make_address(peer_.url.host, is_name);
    // Server names are names (RFC 6066, section 3); who is asked by address shows what it has.
    if (is_name) (void)SSL_set_tlsext_host_name(tls_->native_handle(), peer_.url.host.c_str());
    tls_->set_verify_callback(asio::ssl::host_name_verification{peer_.url.host});
  } else {
    plain_.emplace(peer_.context);
  }
  resolver_.async_resolve(peer_.url.host, peer_.url.port,
                          of_this([this](const auto& code, const auto& found) { on_resolved(code, found); }));
}

void http_connection::on_resolved(const boost::system::error_code& code,
                                  const tcp::resolver::results_type& found) {
  if (code) return fail("its name cannot be resolved", code);
  lowest().async_connect(found, of_this([this](const auto& failed, const auto&) {
                           if (failed) return fail("cannot connect", failed);
                           on_connected(failed);
                         }));
}

void http_connection::on_connected(const boost::system::error_code&) {
  boost::system::error_code ignored;
  lowest().socket().set_option(tcp::no_delay{true}, ignored);
  if (!tls_) {
    open_ = true;
    return write();
  }
  tls_->async_handshake(asio::ssl::stream_base::client, of_this([this](const auto& code) {
                          if (code) return fail("TLS", code);
                          open_ = true;
                          write();
                        }));
}

/// The answer is read beside it: it may come before everything is written, as one that refuses a large body,
/// and then the rest may find nobody who reads it.
void http_connection::write() {
  excerpt_.clear();
  written_ = false;
  ended_ = false;
  reads_on_ = false;
  not_sent_.reset();
  with_stream([this](auto& stream) {
    http::async_write(stream, *request_,
                      of_this([this](const auto& code, std::size_t) { on_written(code); }));
  });
  begin_answer();
}

/// Where it fails, the reading tells what came of it.
void http_connection::on_written(const boost::system::error_code& code) {
  written_ = !code;
  if (code) not_sent_ = code;
  if (ended_) finish();
}

void http_connection::begin_answer() {
  parser_.emplace();
  parser_->header_limit(k_most_header);
  parser_->body_limit(boost::none);  // all that is read is bounded
  read_some();
}

void http_connection::read_some() {
  auto& body = parser_->get().body();
  body.data = piece_.data();
  body.size = piece_.size();
  with_stream([this](auto& stream) {
    http::async_read_some(stream, buffer_, *parser_, of_this([this](const auto& code, std::size_t bytes) {
                            answer_bytes_ += bytes;
                            answers_ ? on_body(code) : on_header(code);
                          }));
  });
}

void http_connection::on_header(const boost::system::error_code& code) {
  if (code) return not_sent_ ? fail("cannot send", *not_sent_) : fail("no answer", code);
  if (answer_bytes_ > k_most_answer)
    return fail("no answer within " + std::to_string(k_most_answer) + " bytes");
  if (!parser_->is_header_done()) return read_some();
  const unsigned status = parser_->get().result_int();
  if (status == k_switching_protocols) return fail("no answer: it switches to another protocol");
  if (status < k_first_final_status) return begin_answer();  // such as 103
  answers_ = true;
  keep_ = parser_->get().keep_alive();
  parser_->is_done() ? end_answer() : read_some();
}

void http_connection::on_body(const boost::system::error_code& code) {
  const std::size_t read = piece_.size() - parser_->get().body().size;
  const std::size_t needed = peer_.mask.needed();
  excerpt_.append(piece_.data(), std::min(read, needed - std::min(needed, excerpt_.size())));
  const bool more = !code || code == http::error::need_buffer;
  // The status says what became of the message, whatever becomes of the body.
  if (!more || answer_bytes_ > k_most_answer) keep_ = false;
  if (!more || parser_->is_done() || !may_read_on()) return end_answer();
  read_some();
}

/// A server may read the message once it has written all of its answer. To close over unread bytes of that
/// would reset the connection, and take from it what it has not read of the message.
bool http_connection::may_read_on() {
  if (answer_bytes_ <= k_most_answer) return true;
  reads_on_ = reads_on_ || awaits_reader();
  return reads_on_ && answer_bytes_ <= k_most_early_answer;
}

/// Whoever takes a message may say so before the end of it, and reads on; whoever does not needs no more of
/// it.
void http_connection::end_answer() {
  if (awaits_reader()) {
    ended_ = true;
    return;
  }
  finish();
}

bool http_connection::awaits_reader() const {
  return meaning_of_status(parser_->get().result_int()) == delivery::how::done && !written_ && !not_sent_;
}

void http_connection::finish() {
  const auto& answer = parser_->get();
  delivery d{.ended = meaning_of_status(answer.result_int()), .text = {}};
  if (d.ended != delivery::how::done) {
    d.text = "answers " + std::to_string(answer.result_int());
    const std::string reason = peer_.mask.excerpt({answer.reason().data(), answer.reason().size()});
    if (!reason.empty()) d.text += " " + reason;
    if (!excerpt_.empty()) d.text += ": " + peer_.mask.excerpt(excerpt_);
  }
  if (d.ended == delivery::how::again) {
    const auto after = answer[http::field::retry_after];
    d.pause = read_retry_after({after.data(), after.size()}, std::chrono::system_clock::now());
  }
  // Bytes behind an answer belong to none.
  if (!keep_ || !written_ || buffer_.size() > 0) close();
  tell(std::move(d), false);
}

void http_connection::fail(const char* what, const boost::system::error_code& code) {
  std::string text = std::string{what} + ": " + code.message();
  if (tls_) {
    const long verified = SSL_get_verify_result(tls_->native_handle());
    if (verified == X509_V_ERR_UNSPECIFIED) {  // Asio's, which compares the names
      text += " (the certificate is not for `" + peer_.url.host + "`)";
    } else if (verified != X509_V_OK) {
      text += std::string{" ("} + X509_verify_cert_error_string(verified) + ")";
    }
  }
  fail(std::move(text));
}

void http_connection::fail(std::string text) {
  const bool stale = reused_ && answer_bytes_ == 0 && buffer_.size() == 0;
  close();
  tell({.ended = delivery::how::again, .text = std::move(text)}, stale);
}

void http_connection::tell(delivery d, bool stale) {
  const auto self = shared_from_this();
  deadline_.cancel();
  if (d.ended != delivery::how::done) d.text = peer_.url.shown() + ": " + d.text;
  std::exchange(told_, nullptr)({std::move(d), stale});
}

void http_connection::close() {
  open_ = false;
  resolver_.cancel();
  if (!tls_ && !plain_) return;
  boost::system::error_code ignored;
  lowest().socket().close(ignored);
}

bool http_connection::is_reusable() {
  boost::system::error_code failed;
  return open_ && lowest().socket().available(failed) == 0 && !failed;
}

void http_connection::stop() {
  told_ = nullptr;
  deadline_.cancel();
  close();
}

}  // namespace ratchet
