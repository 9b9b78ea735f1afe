// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The HTTP server over real sockets, against clients that behave and such that do not.
#include "telemetry/http_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "support/http_client.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using testing::http_connection;
using testing::http_get;
using testing::parse_answer;

const std::string k_request = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";

class http_servers : public ::testing::Test {
 protected:
  void start(const http_limits& limits = {}, const char* host = "127.0.0.1") {
    auto started = http_server::start(
        host, 0,
        [this](std::string_view path) {
          ++asked;
          if (path == "/throws") throw std::bad_alloc{};
          http_answer made;
          made.status = path == "/hello" ? 200 : 404;
          made.body = "you said " + std::string{path};
          if (path == "/large") made.body.assign(64U << 20U, 'x');
          return made;
        },
        limits);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(started.value());
  }
  [[nodiscard]] std::uint16_t port() const { return server->port(); }
  /// The answer to bytes of any kind, and whether the connection was closed behind it.
  void expect_refused(const std::string& bytes, int status) const {
    const http_connection to{port()};
    to.send(bytes);
    const auto got = parse_answer(to.read_all());
    EXPECT_EQ(got.status, status) << bytes.substr(0, 80);
    EXPECT_NE(got.header.find("Connection: close"), std::string::npos);
    EXPECT_TRUE(to.closed());
  }

  std::atomic<int> asked{0};
  std::unique_ptr<http_server> server;
};

TEST_F(http_servers, answer_a_path_without_its_query) {
  start();
  EXPECT_EQ(server->address(), "127.0.0.1:" + std::to_string(port()));
  const auto got = http_get(port(), "/hello?name=value");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "you said /hello");
  EXPECT_NE(got.header.find("Content-Type: text/plain; charset=utf-8"), std::string::npos);
  EXPECT_NE(got.header.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_EQ(http_get(port(), "/other").status, 404);
}

TEST_F(http_servers, answer_head_with_the_header_of_get_alone) {
  start();
  const http_connection to{port()};
  to.send("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const auto got = parse_answer(to.read_all());
  EXPECT_EQ(got.status, 200);
  EXPECT_NE(got.header.find("Content-Length: 15"), std::string::npos) << got.header;
  EXPECT_EQ(got.body, "");
}

TEST_F(http_servers, answer_many_requests_of_one_connection) {
  start();
  const http_connection to{port()};
  for (int i = 0; i < 3; ++i) {
    to.send(k_request);
    EXPECT_EQ(parse_answer(to.read_answer()).body, "you said /hello");
  }
  to.send("GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(parse_answer(to.read_all()).body, "you said /last");
}

TEST_F(http_servers, answer_a_client_of_http_1_0_and_close) {
  start();
  const http_connection to{port()};
  to.send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_EQ(parse_answer(to.read_all()).body, "you said /hello");
  EXPECT_TRUE(to.closed());
}

TEST_F(http_servers, listen_on_ipv6) {
  start({}, "::1");
  EXPECT_EQ(server->address(), "[::1]:" + std::to_string(port()));
  EXPECT_EQ(http_get(port(), "/hello", "GET", "::1").body, "you said /hello");
}

TEST_F(http_servers, refuse_other_methods) {
  start();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
    const auto got = http_get(port(), "/hello", method);
    EXPECT_EQ(got.status, 405) << method;
    EXPECT_NE(got.header.find("Allow: GET, HEAD"), std::string::npos);
  }
  EXPECT_EQ(asked, 0);
}

TEST_F(http_servers, refuse_a_body_before_it_is_sent) {
  start();
  expect_refused("GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 413);
  expect_refused("GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413);
  expect_refused("GET /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 413);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(http_get(port(), "/hello").status, 200);
}

TEST_F(http_servers, refuse_a_header_without_end) {
  start();
  expect_refused("GET /hello HTTP/1.1\r\nX: " + std::string(20'000, 'x'), 431);
  expect_refused("GET /" + std::string(20'000, 'x'), 431);
  std::string many = "GET /hello HTTP/1.1\r\n";
  for (int i = 0; i < 2'000; ++i) many += "X" + std::to_string(i) + ": y\r\n";
  expect_refused(many, 431);
}

TEST_F(http_servers, refuse_what_is_no_http) {
  start();
  expect_refused("\x16\x03\x01\x02hello TLS, are you there?\r\n\r\n", 400);
  expect_refused("GET\r\n\r\n", 400);
  expect_refused("GET /hello HTTP/9.9\r\n\r\n", 400);
  expect_refused("GET /hello HTTP/1.1\r\nno colon\r\n\r\n", 400);
  EXPECT_EQ(asked, 0);
}

TEST_F(http_servers, outlive_a_handler_that_throws) {
  start();
  EXPECT_EQ(http_get(port(), "/throws").status, 500);
  EXPECT_EQ(http_get(port(), "/hello").status, 200);
}

TEST_F(http_servers, close_a_connection_that_says_nothing_or_drips) {
  http_limits limits;
  limits.request_timeout = 300ms;
  start(limits);
  const http_connection silent{port()};
  const http_connection dripping{port()};
  std::atomic<bool> taken{true};
  std::thread drip{[&] {
    // A byte every now and then: the bound is for the whole of it. It would take 2 minutes to its end.
    for (int i = 0; taken && i < 6'000; ++i) {
      taken = dripping.send(i == 0 ? "GET /hello HTTP/1.1\r\nX: " : "x");
      std::this_thread::sleep_for(20ms);
    }
  }};
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(dripping.closed());
  drip.join();
  EXPECT_FALSE(taken);
  EXPECT_EQ(asked, 0);
}

TEST_F(http_servers, cut_a_client_that_does_not_take_its_answer) {
  http_limits limits;
  limits.answer_timeout = 300ms;
  start(limits);
  const http_connection lazy{port()};
  lazy.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  const http_connection other{port()};
  other.send(k_request);
  EXPECT_EQ(parse_answer(other.read_answer()).status, 200) << "it waits for nobody";
  std::this_thread::sleep_for(1s);  // longer than the server waits, to which nothing happens meanwhile
  const std::string part = lazy.read_all();
  EXPECT_TRUE(lazy.closed());
  EXPECT_LT(part.size(), 64U << 20U);
}

TEST_F(http_servers, keep_answering_where_silent_connections_hold_every_place) {
  http_limits limits;
  limits.connections = 8;
  start(limits);
  std::list<http_connection> silent;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(silent.emplace_back(port()).connected());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(http_get(port(), "/hello").status, 200);
  }
  EXPECT_TRUE(silent.front().closed()) << "the one that was silent the longest had to go";
}

TEST_F(http_servers, answer_every_request_of_many_clients) {
  start();
  constexpr int k_clients = 8;
  constexpr int k_requests = 50;
  std::atomic<int> right{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < k_clients; ++c) {
    clients.emplace_back([this, &right] {
      const http_connection to{port()};
      for (int i = 0; i < k_requests; ++i) {
        to.send(k_request);
        if (parse_answer(to.read_answer()).body == "you said /hello") ++right;
      }
    });
  }
  for (std::thread& c : clients) c.join();
  EXPECT_EQ(right, k_clients * k_requests);
  EXPECT_EQ(asked, k_clients * k_requests);
}

TEST_F(http_servers, answer_once_who_asks_ahead_of_the_answers) {
  start();
  std::string many;
  for (int i = 0; i < 100; ++i) many += k_request;
  const http_connection eager{port()};
  eager.send(many);
  const std::string answered = eager.read_all();
  EXPECT_EQ(parse_answer(answered).body, "you said /hello");
  EXPECT_NE(answered.find("Connection: close"), std::string::npos);
  EXPECT_EQ(asked, 1) << "each answer is work that others wait for";
  EXPECT_EQ(http_get(port(), "/hello").status, 200);
}

TEST_F(http_servers, end_with_connections_open) {
  start();
  const http_connection silent{port()};
  const http_connection kept{port()};
  kept.send(k_request);
  EXPECT_EQ(parse_answer(kept.read_answer()).status, 200);
  const std::uint16_t was = port();
  server.reset();
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(kept.closed());
  EXPECT_EQ(http_get(was, "/hello").status, 0);
}

TEST_F(http_servers, say_which_address_is_taken_and_what_to_do) {
  start();
  const auto second = http_server::start("127.0.0.1", port(), [](std::string_view) { return http_answer{}; });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::io);
  EXPECT_EQ(exit_code(second.error().code), 74);
  EXPECT_NE(second.error().message.find(server->address()), std::string::npos);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
  EXPECT_NE(second.error().hint.find("--set http.listen="), std::string::npos);
}

TEST_F(http_servers, say_that_an_address_is_not_of_this_machine) {
  const auto made = http_server::start("192.0.2.1", 0, [](std::string_view) { return http_answer{}; });
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("192.0.2.1:0"), std::string::npos);
  EXPECT_NE(made.error().hint.find("address of this machine"), std::string::npos);
}

}  // namespace
}  // namespace ratchet
