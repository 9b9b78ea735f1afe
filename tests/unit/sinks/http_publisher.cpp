// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_publisher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/recording_http_server.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using answer = recording_http_server::answer;
using how = delivery::how;

output_row row(std::uint64_t position, std::string value = "{}") {
  output_row r;
  r.position = position;
  r.kind = output_kind::published;
  r.aggregate = "p1";
  r.topic = "sink:receipts";
  r.value = std::move(value);
  r.headers = {{"ce_specversion", "1.0"},           {"ce_id", "the-id"},
               {"ce_source", "/ratchet/g/s"},       {"ce_type", "paid"},
               {"ce_subject", "caf\xc3\xa9"},       {"ce_sequence", "1/5"},
               {"content-type", "application/json"}};
  return r;
}

struct an_http_sink : ::testing::Test {
  void open(recording_http_server::handler h, const test_certificate* tls = nullptr) {
    server_ = std::make_unique<recording_http_server>(std::move(h), tls);
    how_.url = server_->url();
  }
  publisher& to() {
    if (!to_) {
      auto made = make_http_publisher("receipts", how_);
      EXPECT_TRUE(made) << made.error().message;
      to_ = std::move(*made);
    }
    return *to_;
  }
  std::vector<delivery> wait_for(std::size_t count) {
    std::vector<delivery> all;
    const auto until = std::chrono::steady_clock::now() + seconds{20};
    while (all.size() < count && std::chrono::steady_clock::now() < until) {
      to().wait(milliseconds{50});
      for (delivery& d : to().delivered()) all.push_back(std::move(d));
    }
    EXPECT_EQ(all.size(), count);
    all.resize(count);
    return all;
  }
  delivery send(output_row r) {
    EXPECT_TRUE(is_taken(to().send(r)));
    return wait_for(1).front();
  }
  /// The text of one header of the request; "absent" where it is not there.
  [[nodiscard]] std::string header(std::size_t request, const std::string& name) const {
    const auto all = server_->requests();
    const auto at = all.at(request).find(name);
    return at == all.at(request).end() ? "absent" : std::string{at->value()};
  }

  http_sink_config how_;
  std::unique_ptr<recording_http_server> server_;
  std::unique_ptr<publisher> to_;
};

answer fine(const recording_http_server::request&) {
  return {};
}

TEST_F(an_http_sink, sends_a_cloudevent_with_its_id_as_idempotency_key) {
  open(fine);
  how_.headers = {{"Authorization", "Bearer 7"}};
  const delivery d = send(row(5, "{\"a\":1}"));
  EXPECT_EQ(d.position, 5U);
  EXPECT_EQ(d.ended, how::done) << d.text;
  const auto request = server_->requests().at(0);
  EXPECT_EQ(request.method_string(), "POST");
  EXPECT_EQ(request.target(), "/in?secret=1");
  EXPECT_EQ(request.body(), "{\"a\":1}");
  EXPECT_EQ(header(0, "Host"), "127.0.0.1:" + std::to_string(server_->port()));
  EXPECT_EQ(header(0, "Idempotency-Key"), "\"the-id\"");
  EXPECT_EQ(header(0, "ce-specversion"), "1.0");
  EXPECT_EQ(header(0, "ce-id"), "the-id");
  EXPECT_EQ(header(0, "ce-source"), "/ratchet/g/s");
  EXPECT_EQ(header(0, "ce-type"), "paid");
  EXPECT_EQ(header(0, "ce-subject"), "caf%C3%A9");
  EXPECT_EQ(header(0, "ce-sequence"), "1/5");
  EXPECT_EQ(header(0, "Content-Type"), "application/json");
  EXPECT_EQ(header(0, "Content-Length"), "7");
  EXPECT_EQ(header(0, "Authorization"), "Bearer 7");
}

TEST_F(an_http_sink, sends_a_tombstone_as_an_empty_body_without_a_type) {
  open(fine);
  how_.method = "PUT";
  output_row r = row(0);
  r.value.reset();
  EXPECT_EQ(send(r).ended, how::done);
  EXPECT_EQ(server_->requests().at(0).method_string(), "PUT");
  EXPECT_EQ(server_->requests().at(0).body(), "");
  EXPECT_EQ(header(0, "Content-Length"), "0");
  EXPECT_EQ(header(0, "Content-Type"), "absent");
}

/// Boost.Beast throws at a header's value of more than 65,533 bytes.
TEST_F(an_http_sink, refuses_what_no_request_can_carry_as_that_message_alone) {
  open(fine);
  output_row large = row(1);
  for (auto& [name, value] : large.headers) {
    if (name == "ce_type") value = std::string(70'000, 'x');
  }
  output_row smuggling = row(2);
  smuggling.headers.back().second = "text/plain\r\nX-Admin: yes";
  for (const output_row& r : {large, smuggling}) {
    const delivery d = send(r);
    EXPECT_EQ(d.position, r.position);
    EXPECT_EQ(d.ended, how::refused);
    EXPECT_THAT(d.text, HasSubstr("no HTTP request can carry it: its "));
  }
  for (std::uint64_t i = 3; i < 40; ++i) EXPECT_EQ(send(row(i)).ended, how::done) << "there is room still";
  EXPECT_EQ(server_->requests().size(), 37U);
}

TEST_F(an_http_sink, keeps_its_connection_open) {
  open(fine);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(send(row(i)).ended, how::done);
  EXPECT_EQ(server_->connections(), 1);
}

TEST_F(an_http_sink, replaces_a_kept_connection_that_was_closed) {
  open([](const auto&) { return answer{.closes_afterwards = true}; });
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(send(row(i)).ended, how::done);
    std::this_thread::sleep_for(milliseconds{5});
  }
  EXPECT_EQ(server_->requests().size(), 5U);
  EXPECT_EQ(server_->connections(), 5);
}

TEST_F(an_http_sink, sends_as_many_at_a_time_as_it_may) {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  open([&](const auto&) {
    most = std::max(most.load(), ++now);
    std::this_thread::sleep_for(milliseconds{50});
    --now;
    return answer{};
  });
  how_.concurrency = 3;
  std::uint64_t sent = 0;
  while (is_taken(to().send(row(sent)))) ++sent;
  EXPECT_EQ(sent, 12U) << "there is a bound";
  for (const delivery& d : wait_for(sent)) EXPECT_EQ(d.ended, how::done);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(server_->connections(), 3);
  EXPECT_TRUE(is_taken(to().send(row(99)))) << "there is room again";
  (void)wait_for(1);
}

TEST_F(an_http_sink, tells_failures_that_pass_from_refusals) {
  std::atomic<unsigned> status{0};
  open([&](const auto&) {
    return answer{.status = status, .headers = {{"Retry-After", "7"}}, .body = "no\nmoney"};
  });
  for (const unsigned s : {500U, 503U, 429U, 408U}) {
    status = s;
    const delivery d = send(row(0));
    EXPECT_EQ(d.ended, how::again) << s;
    EXPECT_EQ(d.pause, seconds{7});
  }
  for (const unsigned s : {400U, 404U, 301U}) {
    status = s;
    EXPECT_EQ(send(row(0)).ended, how::refused) << s;
  }
  status = 400;
  const delivery d = send(row(0));
  EXPECT_EQ(d.text,
            "http://127.0.0.1:" + std::to_string(server_->port()) + "/in: answers 400 Bad Request: no.money")
      << "and no secret of the query";
  EXPECT_EQ(d.pause, std::nullopt);
  EXPECT_EQ(server_->connections(), 1) << "a refusal does not end the connection";
}

TEST_F(an_http_sink, shows_no_secret_that_the_server_quotes) {
  open([](const auto& r) {
    return answer{
        .status = 401,
        .headers = {},
        .body = std::string(190, 'x') + std::string{r.at("Authorization")} + std::string{r.target()}};
  });
  how_.headers = {{"Authorization", "Bearer s3cr3t-t0ken-value"}};
  const delivery d = send(row(0));
  EXPECT_TRUE(d.text.ends_with("/in: answers 401 Unauthorized: " + std::string(190, 'x') + "***")) << d.text;
}

TEST_F(an_http_sink, reads_little_of_a_large_answer) {
  open([](const auto&) { return answer{.status = 422, .body = std::string(std::size_t{8} << 20U, 'x')}; });
  const delivery d = send(row(0));
  EXPECT_EQ(d.ended, how::refused);
  EXPECT_LT(d.text.size(), 400U);
  EXPECT_THAT(d.text, HasSubstr(std::string(200, 'x')));
  EXPECT_EQ(send(row(1)).ended, how::refused) << "over another connection";
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(an_http_sink, takes_a_success_for_one_whatever_becomes_of_its_body) {
  open([](const auto&) { return answer{.raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"}; });
  EXPECT_EQ(send(row(0)).ended, how::done);
}

TEST_F(an_http_sink, waits_for_the_final_answer) {
  open([](const auto&) {
    return answer{
        .raw = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"};
  });
  EXPECT_EQ(send(row(0)).ended, how::refused);
}

TEST_F(an_http_sink, gives_up_waiting_after_its_timeout) {
  open([](const auto& r) {
    return answer{.delay = r.body() == "slow" ? milliseconds{600} : milliseconds{0}};
  });
  how_.timeout = milliseconds{150};
  const auto begin = std::chrono::steady_clock::now();
  const delivery d = send(row(0, "slow"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds{500});
  EXPECT_EQ(d.ended, how::again);
  EXPECT_THAT(d.text, HasSubstr("no answer within 150 ms"));
  EXPECT_EQ(send(row(1)).ended, how::done) << "its late answer is not taken for another's";
}

TEST_F(an_http_sink, tries_again_where_the_server_hangs_up_or_talks_nonsense) {
  std::atomic<bool> nonsense{false};
  open([&](const auto&) {
    return nonsense ? answer{.raw = "I am no server\r\n\r\n"} : answer{.hangs_up = true};
  });
  EXPECT_EQ(send(row(0)).ended, how::again);
  nonsense = true;
  const delivery d = send(row(0));
  EXPECT_EQ(d.ended, how::again);
  EXPECT_THAT(d.text, HasSubstr("no answer: "));
}

TEST_F(an_http_sink, tries_again_where_nobody_listens_or_no_name_leads) {
  open(fine);
  server_.reset();
  EXPECT_THAT(send(row(0)).text, HasSubstr("cannot connect: Connection refused"));
  to_.reset();
  how_.url = "http://no-such-host.invalid/";
  const delivery d = send(row(0));
  EXPECT_EQ(d.ended, how::again);
  EXPECT_THAT(d.text, HasSubstr("its name cannot be resolved"));
}

TEST_F(an_http_sink, ends_while_requests_are_under_way) {
  open([](const auto&) { return answer{.delay = milliseconds{300}}; });
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(to().send(row(i)));
  std::this_thread::sleep_for(milliseconds{30});
  const auto begin = std::chrono::steady_clock::now();
  to_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds{200});
}

TEST_F(an_http_sink, tells_whoever_waits) {
  open(fine);
  std::atomic<int> told{0};
  to().on_progress([&] { ++told; });
  (void)send(row(0));
  // It is told behind what delivered() has, so that the owner may have looked before.
  const auto until = std::chrono::steady_clock::now() + seconds{20};
  while (told == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds{1});
  to().on_progress({});
  EXPECT_EQ(told, 1);
}

struct a_sink_behind_tls : an_http_sink {
  void trust(const std::string& certificate) {
    file_ = std::filesystem::temp_directory_path() / ("ratchet-ca-" + std::to_string(::getpid()) + ".pem");
    std::ofstream{file_} << certificate;
    how_.ca = file_;
  }
  ~a_sink_behind_tls() override { std::filesystem::remove(file_); }
  std::filesystem::path file_;
};

TEST_F(a_sink_behind_tls, is_sent_to_where_certificate_and_name_are_right) {
  const auto own = test_certificate::make("DNS:localhost");
  open(fine, &own);
  how_.url = server_->url("localhost");
  trust(own.certificate);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const delivery d = send(row(i));
    EXPECT_EQ(d.ended, how::done) << d.text;
  }
  EXPECT_EQ(server_->connections(), 1);
  EXPECT_EQ(server_->requests().size(), 3U);
}

TEST_F(a_sink_behind_tls, is_sent_to_by_an_address_that_the_certificate_has) {
  const auto own = test_certificate::make("IP:127.0.0.1");
  open(fine, &own);
  trust(own.certificate);
  const delivery d = send(row(0));
  EXPECT_EQ(d.ended, how::done) << d.text;
}

TEST_F(a_sink_behind_tls, gets_nothing_where_the_certificate_has_another_name) {
  const auto own = test_certificate::make("DNS:other.example");
  open(fine, &own);
  how_.url = server_->url("localhost");
  trust(own.certificate);
  const delivery d = send(row(0));
  EXPECT_EQ(d.ended, how::again);
  EXPECT_THAT(d.text, HasSubstr("TLS: "));
  EXPECT_THAT(d.text, HasSubstr("the certificate is not for `localhost`"));
  EXPECT_TRUE(server_->requests().empty());
}

TEST_F(a_sink_behind_tls, gets_nothing_where_nobody_vouches_for_it) {
  const auto own = test_certificate::make("DNS:localhost");
  const auto other = test_certificate::make("DNS:localhost");
  open(fine, &own);
  how_.url = server_->url("localhost");
  trust(other.certificate);
  const delivery d = send(row(0));
  EXPECT_EQ(d.ended, how::again);
  EXPECT_THAT(d.text, HasSubstr("certificate verify failed"));
  to_.reset();
  how_.ca.clear();
  EXPECT_EQ(send(row(0)).ended, how::again) << "nor does the system";
  EXPECT_TRUE(server_->requests().empty());
}

TEST(an_http_sinks_config, is_refused_where_it_cannot_work) {
  http_sink_config given;
  EXPECT_EQ(make_http_publisher("s", given).error().code, make_error_code(errc::config_invalid));
  given.url = "https://localhost/";
  given.ca = "/nowhere/ca.pem";
  const auto refused = make_http_publisher("s", given);
  EXPECT_EQ(refused.error().code, make_error_code(errc::io));
  EXPECT_THAT(refused.error().message, HasSubstr("cannot read the certificates in /nowhere/ca.pem"));
  given.url = "http://localhost/";
  given.headers = {{"Authorization", std::string(70'000, 'x')}};
  const auto too_long = make_http_publisher("s", given);
  EXPECT_EQ(too_long.error().code, make_error_code(errc::config_invalid));
  EXPECT_THAT(too_long.error().message,
              HasSubstr("cannot send its `headers`: its header Authorization has 70000"));
}

}  // namespace
}  // namespace ratchet::testing
