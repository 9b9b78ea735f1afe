// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_publisher.hpp"

#include <openssl/ssl.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <iterator>
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
/// Behind an exception: what was lacking may be back.
constexpr std::chrono::milliseconds k_breath{10};

class http_publisher final : public publisher {
 public:
  http_publisher(const http_sink_config& how, http_request_form form, std::unique_ptr<asio::ssl::context> tls)
      : concurrency_{how.concurrency},
        form_{std::move(form)},
        tls_{std::move(tls)},
        peer_{context_, tls_.get(), form_.url, how.timeout, answer_mask{form_.headers, form_.url}},
        idle_end_{context_},
        thread_{[this] { run(); }} {}
  ~http_publisher() override {
    asio::post(context_, [this] {
      stopped_ = true;
      work_.reset();
      waiting_.clear();
      idle_end_.cancel();
      for (const exchange& x : busy_) {
        if (x.over) x.over->stop();
      }
      close_idle();
    });
    thread_.join();
  }
  http_publisher(const http_publisher&) = delete;
  http_publisher& operator=(const http_publisher&) = delete;
  http_publisher(http_publisher&&) = delete;
  http_publisher& operator=(http_publisher&&) = delete;

  [[nodiscard]] sending send(const output_row& row) override {
    if (held_ >= concurrency_ * k_ahead) return sending::full;
    std::string why;
    std::optional<http_request> request = write_request(form_, row, why);
    ++held_;
    if (!request) {
      ended_.add({.position = row.position,
                  .ended = delivery::how::refused,
                  .text = "no HTTP request can carry it: " + why});
      return sending::ended;
    }
    exchanges one;
    one.push_back({row.position, std::make_shared<const http_request>(std::move(*request)), nullptr});
    asio::post(context_, [this, one = std::move(one)]() mutable {
      waiting_.splice(waiting_.end(), one);
      send_more();
    });
    return sending::taken;
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
  struct exchange {
    std::uint64_t position;
    std::shared_ptr<const http_request> request;
    connection over;  ///< none yet where it waits
  };
  /// A message goes from list to list as the node it is, until its end is kept: no lack of memory loses it.
  using exchanges = std::list<exchange>;

  void run() {
    name_this_thread("ratchet-to-http");
    std::exception_ptr thrown;
    for (;;) {
      try {
        if (thrown) break_off(text_of(std::exchange(thrown, nullptr)));
        context_.run();
        return;
      } catch (...) {
        thrown = std::current_exception();
      }
      std::this_thread::sleep_for(k_breath);
    }
  }

  [[nodiscard]] static std::string text_of(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& failure) {
      return failure.what();
    } catch (...) {
      return "an exception that is not a std::exception";
    }
  }

  // All below on the context's thread.

  /// Behind an exception nobody knows how far any exchange got: all that are under way are tried again. May
  /// be called once more where it throws itself.
  void break_off(const std::string& why) {
    for (const exchange& x : busy_) {
      if (x.over) x.over->stop();
    }
    close_idle();
    while (!busy_.empty()) {
      ended_.keep({.position = busy_.front().position,
                   .ended = delivery::how::again,
                   .text = form_.url.shown() + ": broken off by an error of Ratchet's own: " + why});
      busy_.pop_front();
    }
    ended_.tell();
    send_more();
  }

  void send_more() {
    while (!stopped_ && !waiting_.empty() && busy_.size() < concurrency_) {
      busy_.splice(busy_.end(), waiting_, waiting_.begin());
      const auto next = std::prev(busy_.end());
      next->over = take_connection();
      send_over(next);
    }
  }

  /// The one used last: it is open most likely, and others may go.
  [[nodiscard]] connection take_connection() {
    while (!idle_.empty()) {
      connection known = std::move(idle_.back());
      idle_.pop_back();
      if (known->is_reusable()) return known;
      known->stop();
    }
    return std::make_shared<http_connection>(peer_);
  }

  void send_over(exchanges::iterator x) {
    x->over->send(x->request, [this, x](http_result r) { on_ended(x, std::move(r)); });
  }

  void on_ended(exchanges::iterator x, http_result r) {
    if (stopped_) return;
    if (r.stale) {
      x->over = std::make_shared<http_connection>(peer_);
      return send_over(x);
    }
    const connection used = x->over;
    r.ended.position = x->position;
    ended_.keep(std::move(r.ended));
    busy_.erase(x);
    ended_.tell();
    if (used->is_reusable()) keep(used);
    send_more();
  }

  void keep(const connection& unused) {
    idle_.push_back(unused);
    idle_end_.expires_after(k_longest_idle);
    idle_end_.async_wait([this](const boost::system::error_code& code) {
      if (!code) close_idle();
    });
  }

  void close_idle() {
    for (const connection& c : idle_) c->stop();
    idle_.clear();
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
  exchanges waiting_;
  exchanges busy_;
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

std::optional<std::string> refusal_of_certificates(const std::filesystem::path& file) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed))
    return failed ? failed.message() : std::string{"it is not a regular file"};
  boost::system::error_code unread;
  asio::ssl::context{asio::ssl::context::tls_client}.load_verify_file(file.string(), unread);
  return unread ? std::optional{unread.message()} : std::nullopt;
}

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
