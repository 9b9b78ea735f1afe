// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace ratchet::testing {

/// What is said to each request, in place of an answer: `first`, then `endless` over and over for as long as
/// the client listens.
struct hostile_answer {
  std::string first{};
  std::string endless{};
  std::chrono::milliseconds pause{0};  ///< before each `endless`
  bool closes{false};                  ///< behind `first`; else it stays silent
};

/// A server on 127.0.0.1 that means no good. It reads heads of requests, without their bodies, and counts
/// what it could get rid of; the kernel's buffers hold some of that.
class hostile_http_server {
 public:
  /// No more is written to one client, so that a broken one fails its test and not the machine.
  static constexpr std::size_t k_enough = std::size_t{64} << 20U;

  explicit hostile_http_server(hostile_answer says) : says_{std::move(says)} {
    acceptor_.listen();
    accepting_ = std::thread{[this] { accept(); }};
  }
  ~hostile_http_server() {
    {
      const std::lock_guard lock{mutex_};
      stopped_ = true;
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    for (std::thread& t : connections_) t.join();
  }
  hostile_http_server(const hostile_http_server&) = delete;
  hostile_http_server& operator=(const hostile_http_server&) = delete;

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "/in";
  }
  [[nodiscard]] std::size_t bytes_sent() const { return bytes_sent_; }
  [[nodiscard]] int requests() const { return requests_; }

 private:
  using tcp = boost::asio::ip::tcp;

  void accept() {
    for (;;) {
      boost::system::error_code failed;
      tcp::socket socket = acceptor_.accept(failed);
      const std::lock_guard lock{mutex_};
      if (failed || stopped_) return;
      open_.push_back(socket.native_handle());
      connections_.emplace_back([this, s = std::move(socket)]() mutable {
        serve(s);
        const std::lock_guard end{mutex_};
        open_.remove(s.native_handle());
        boost::system::error_code ignored;
        s.close(ignored);
      });
    }
  }

  void serve(tcp::socket& to) {
    boost::system::error_code code;
    to.set_option(boost::asio::socket_base::send_buffer_size{1 << 16}, code);
    std::string got;
    for (;;) {
      const std::size_t head =
          boost::asio::read_until(to, boost::asio::dynamic_buffer(got), "\r\n\r\n", code);
      if (code) return;
      got.erase(0, head);
      ++requests_;
      if (!write(to, says_.first) || says_.closes) return;
      for (std::size_t sent = 0; !says_.endless.empty() && sent < k_enough; sent += says_.endless.size()) {
        std::this_thread::sleep_for(says_.pause);
        if (!write(to, says_.endless)) return;
      }
    }
  }

  [[nodiscard]] bool write(tcp::socket& to, const std::string& bytes) {
    boost::system::error_code code;
    bytes_sent_ += boost::asio::write(to, boost::asio::buffer(bytes), code);
    return !code;
  }

  hostile_answer says_;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_, tcp::endpoint{boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::atomic<std::size_t> bytes_sent_{0};
  std::atomic<int> requests_{0};
  std::mutex mutex_;
  bool stopped_{false};
  std::list<int> open_;
  std::list<std::thread> connections_;
  std::thread accepting_;
};

}  // namespace ratchet::testing
