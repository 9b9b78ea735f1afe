// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ratchet::testing {

/// A certificate that is its own authority, and its key, both in PEM.
struct test_certificate {
  std::string certificate;
  std::string key;

  /// `name`: as subjectAltName has it, for one DNS:localhost.
  static test_certificate make(const std::string& name) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
    const std::unique_ptr<X509, decltype(&X509_free)> made{X509_new(), &X509_free};
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* subject = X509_get_subject_name(made.get());
    const auto* common = reinterpret_cast<const unsigned char*>("test");
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0);
    X509_set_issuer_name(made.get(), subject);
    for (const auto& [kind, value] : {std::pair{NID_subject_alt_name, name},
                                      std::pair{NID_basic_constraints, std::string{"critical,CA:TRUE"}}}) {
      X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
      X509_add_ext(made.get(), extension, -1);
      X509_EXTENSION_free(extension);
    }
    X509_sign(made.get(), key.get(), EVP_sha256());
    return {text([&](BIO* out) { PEM_write_bio_X509(out, made.get()); }), text([&](BIO* out) {
              PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
            })};
  }

 private:
  template <class Write>
  static std::string text(Write write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out{BIO_new(BIO_s_mem()), &BIO_free};
    write(out.get());
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out.get(), &bytes);
    return {bytes, static_cast<std::size_t>(size)};
  }
};

/// An HTTP server on 127.0.0.1 that keeps what it was sent, and answers as it is told. A thread for each
/// connection.
class recording_http_server {
 public:
  using request = boost::beast::http::request<boost::beast::http::string_body>;
  struct answer {
    unsigned status{200};
    std::map<std::string, std::string> headers{};
    std::string body{};
    std::chrono::milliseconds delay{0};
    bool hangs_up{false};           ///< in place of an answer
    bool closes_afterwards{false};  ///< without saying so
    std::string raw{};              ///< in place of an answer: these bytes, and the end
  };
  using handler = std::function<answer(const request&)>;

  explicit recording_http_server(handler h, const test_certificate* tls = nullptr) : handle_{std::move(h)} {
    if (tls != nullptr) {
      tls_.emplace(boost::asio::ssl::context::tls_server);
      tls_->use_certificate_chain(boost::asio::buffer(tls->certificate));
      tls_->use_private_key(boost::asio::buffer(tls->key), boost::asio::ssl::context::pem);
    }
    acceptor_.listen();
    accepting_ = std::thread{[this] { accept(); }};
  }
  ~recording_http_server() {
    {
      const std::lock_guard lock{mutex_};
      stopped_ = true;
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    for (std::thread& t : connections_) t.join();
  }
  recording_http_server(const recording_http_server&) = delete;
  recording_http_server& operator=(const recording_http_server&) = delete;

  [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const {
    return std::string{tls_ ? "https://" : "http://"} + host + ":" + std::to_string(port()) + "/in?secret=1";
  }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  [[nodiscard]] std::vector<request> requests() const {
    const std::lock_guard lock{mutex_};
    return requests_;
  }
  [[nodiscard]] int connections() const {
    const std::lock_guard lock{mutex_};
    return accepted_;
  }

 private:
  using tcp = boost::asio::ip::tcp;

  void accept() {
    for (;;) {
      boost::system::error_code failed;
      tcp::socket socket = acceptor_.accept(failed);
      const std::lock_guard lock{mutex_};
      if (failed || stopped_) return;
      ++accepted_;
      open_.push_back(socket.native_handle());
      connections_.emplace_back([this, s = std::move(socket)]() mutable {
        const int fd = s.native_handle();
        if (tls_) {
          boost::beast::ssl_stream<tcp::socket&> stream{s, *tls_};
          boost::system::error_code code;
          stream.handshake(boost::asio::ssl::stream_base::server, code);
          if (!code) serve(stream, s);
        } else {
          serve(s, s);
        }
        const std::lock_guard end{mutex_};
        open_.remove(fd);
        boost::system::error_code ignored;
        s.close(ignored);
      });
    }
  }

  template <class Stream>
  void serve(Stream& stream, tcp::socket& socket) {
    namespace http = boost::beast::http;
    boost::beast::flat_buffer buffer;
    for (;;) {
      request r;
      boost::system::error_code code;
      http::read(stream, buffer, r, code);
      if (code) return;
      {
        const std::lock_guard lock{mutex_};
        requests_.push_back(r);
      }
      const answer a = handle_(r);
      std::this_thread::sleep_for(a.delay);
      if (a.hangs_up) return;
      if (!a.raw.empty()) {
        boost::asio::write(stream, boost::asio::buffer(a.raw), code);
        socket.shutdown(tcp::socket::shutdown_both, code);
        return;
      }
      http::response<http::string_body> out{http::int_to_status(a.status), r.version()};
      out.result(a.status);
      for (const auto& [name, value] : a.headers) out.set(name, value);
      out.body() = a.body;
      out.prepare_payload();
      http::write(stream, out, code);
      if (code || !out.keep_alive() || a.closes_afterwards) return;
    }
  }

  handler handle_;
  std::optional<boost::asio::ssl::context> tls_;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_, tcp::endpoint{boost::asio::ip::make_address("127.0.0.1"), 0}};
  mutable std::mutex mutex_;
  bool stopped_{false};
  int accepted_{0};
  std::list<int> open_;
  std::vector<request> requests_;
  std::list<std::thread> connections_;
  std::thread accepting_;
};

}  // namespace ratchet::testing
