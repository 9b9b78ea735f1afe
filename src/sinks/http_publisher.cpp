// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_publisher.hpp"

#include <openssl/ssl.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ports/thread_name.hpp"
#include "sinks/deliveries.hpp"
#include "sinks/http_connection.hpp"
#include "sinks/http_request.hpp"

namespace ratchet {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

/// A connection that nothing went over for so long is closed.
constexpr std::chrono::seconds k_longest_idle{30};
/// So many messages for each request under way may lie here, so that none of them waits for the owner.
constexpr std::size_t k_ahead = 4;

class http_publisher final : public publisher {
 public:
  http_publisher(const http_sink_config& how, http_request_form form, std::unique_ptr<asio::ssl::context> tls)
      : concurrency_{how.concurrency},
        form_{std::move(form)},
        tls_{std::move(tls)},
        peer_{context_, tls_.get(), form_.url, how.timeout},
        idle_end_{context_},
        thread_{[this] { run(); }} {}
  ~http_publisher() override {
    asio::post(context_, [this] {
      stopped_ = true;
      waiting_.clear();
      idle_end_.cancel();
      for (const connection& c : busy_) c->stop();
      for (const connection& c : idle_) c->stop();
      work_.reset();
    });
    thread_.join();
  }
  http_publisher(const http_publisher&) = delete;
  http_publisher& operator=(const http_publisher&) = delete;
  http_publisher(http_publisher&&) = delete;
  http_publisher& operator=(http_publisher&&) = delete;

  [[nodiscard]] bool send(const output_row& row) override {
    if (held_ >= concurrency_ * k_ahead) return false;
    std::string why;
    std::optional<http_request> request = write_request(form_, row, why);
    ++held_;
    if (!request) {
      ended_.add({.position = row.position,
                  .ended = delivery::how::refused,
                  .text = "no HTTP request can carry it: " + why});
      return true;
    }
    asio::post(context_, [this, m = message{row.position, std::move(*request)}]() mutable {
      waiting_.push_back(std::move(m));
      send_more();
    });
    return true;
  }
  [[nodiscard]] std::vector<delivery> delivered() override {
    std::vector<delivery> all = ended_.take();
    held_ -= all.size();
    return all;
  }
  void wait(std::chrono::milliseconds most) override { ended_.wait(most); }
  void on_progress(std::function<void()> told) override { ended_.on_progress(std::move(told)); }

 private:
  using connection = std::shared_ptr<http_connection>;
  struct message {
    std::uint64_t position;
    http_request request;
  };

  void run() {
    name_this_thread("ratchet-http-out");
    context_.run();
  }

  // All below on the context's thread.
  void send_more() {
    while (!stopped_ && !waiting_.empty() && busy_.size() < concurrency_) {
      message next = std::move(waiting_.front());
      waiting_.pop_front();
      connection over;
      if (idle_.empty()) {
        over = std::make_shared<http_connection>(peer_);
      } else {
        over = std::move(idle_.back());  // the one used last: it is open most likely, and others may go
        idle_.pop_back();
      }
      send_over(std::move(over), std::move(next));
    }
  }

  void send_over(connection over, message m) {
    const auto place = busy_.insert(busy_.end(), std::move(over));
    // Kept until it is known that no second attempt is needed, which an old connection may cost.
    http_request again;
    const bool may_be_stale = (*place)->is_open();
    if (may_be_stale) again = m.request;
    (*place)->send(std::move(m.request), [this, place, position = m.position,
                                          again = std::move(again)](http_result r) mutable {
      connection used = std::move(*place);
      busy_.erase(place);
      if (stopped_) return;
      if (r.stale) {
        return send_over(std::make_shared<http_connection>(peer_), {position, std::move(again)});
      }
      if (used->is_open()) keep(std::move(used));
      r.ended.position = position;
      ended_.add(std::move(r.ended));
      send_more();
    });
  }

  void keep(connection unused) {
    idle_.push_back(std::move(unused));
    idle_end_.expires_after(k_longest_idle);
    idle_end_.async_wait([this](const boost::system::error_code& code) {
      if (code) return;
      for (const connection& c : idle_) c->stop();
      idle_.clear();
    });
  }

  std::size_t concurrency_;
  http_request_form form_;
  deliveries ended_;
  std::size_t held_{0};  ///< sent, and not told of; of the owner
  std::unique_ptr<asio::ssl::context> tls_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  http_peer peer_;
  asio::steady_timer idle_end_;
  std::deque<message> waiting_;
  std::list<connection> busy_;
  std::vector<connection> idle_;
  bool stopped_{false};
  std::thread thread_;  ///< last
};

/// Trusts what the config says, else the system. Errors: io.
reported<std::unique_ptr<asio::ssl::context>> make_tls(const std::string& sink, const http_sink_config& how) {
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  tls->set_options(asio::ssl::context::default_workarounds);
  (void)SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  tls->set_verify_mode(asio::ssl::verify_peer);
  boost::system::error_code failed;
  if (how.ca.empty()) {
    tls->set_default_verify_paths(failed);
  } else {
    tls->load_verify_file(how.ca.string(), failed);
  }
  if (!failed) return tls;
  return problem{make_error_code(errc::io),
                 "the sink `" + sink + "`: cannot read the certificates" +
                     (how.ca.empty() ? std::string{" of the system"} : " in " + how.ca.string()) + ": " +
                     failed.message(),
                 "name a file of certificates in PEM, as in http: {ca: /etc/ssl/pay.pem}",
                 {}};
}

}  // namespace

reported<std::unique_ptr<publisher>> make_http_publisher(const std::string& sink,
                                                         const http_sink_config& how) {
  auto url = parse_http_url(how.url);
  if (!url || how.concurrency == 0 || (how.method != "POST" && how.method != "PUT")) {
    return problem{make_error_code(errc::config_invalid),
                   "the sink `" + sink + "` has no usable URL, method or concurrency",
                   "as in url: https://pay.example/receipts, method: POST, concurrency: 8",
                   {}};
  }
  http_request_form form{how.method == "PUT" ? http::verb::put : http::verb::post, std::move(*url),
                         how.headers};
  // What is wrong with the headers of all requests is told at once, and not of each message.
  if (std::string why; !write_request(form, output_row{}, why)) {
    return problem{make_error_code(errc::config_invalid),
                   "the sink `" + sink + "` cannot send its `headers`: " + why,
                   "as in headers: {X-Tenant: shop}",
                   {}};
  }
  std::unique_ptr<asio::ssl::context> tls;
  if (form.url.tls) {
    RATCHET_TRY(tls, make_tls(sink, how));
  }
  return std::unique_ptr<publisher>{std::make_unique<http_publisher>(how, std::move(form), std::move(tls))};
}

}  // namespace ratchet
