// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a receiver may do to the sink that sends to it. Bytes and memory are counted, not time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "sinks/http_publisher.hpp"
#include "support/counted_memory.hpp"
#include "support/hostile_http_server.hpp"
#include "support/recording_http_server.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using how = delivery::how;

constexpr const char* k_sinks_thread = "ratchet-to-http";

output_row row(std::uint64_t position) {
  output_row r;
  r.position = position;
  r.value = "{}";
  r.headers = {{"ce_id", "the-id"}, {"ce_type", "paid"}, {"content-type", "application/json"}};
  return r;
}

/// A sink, and the one who waits for what it says.
struct sink_under_attack {
  explicit sink_under_attack(const std::string& url, milliseconds timeout = seconds{20}) {
    http_sink_config given;
    given.url = url;
    given.timeout = timeout;
    auto made = make_http_publisher("receipts", given);
    EXPECT_TRUE(made) << made.error().message;
    to = std::move(*made);
  }
  std::vector<delivery> wait_for(std::size_t count) const {
    std::vector<delivery> all;
    const auto until = std::chrono::steady_clock::now() + seconds{30};
    while (all.size() < count && std::chrono::steady_clock::now() < until) {
      to->wait(milliseconds{20});
      for (delivery& d : to->delivered()) all.push_back(std::move(d));
    }
    EXPECT_EQ(all.size(), count);
    all.resize(count);
    return all;
  }
  [[nodiscard]] delivery send(std::uint64_t position) const {
    EXPECT_TRUE(is_taken(to->send(row(position))));
    return wait_for(1).front();
  }
  std::unique_ptr<publisher> to;
};

struct attack {
  const char* name;
  hostile_answer says;
  how ended;
  const char* text;
  milliseconds timeout{seconds{20}};
};
std::ostream& operator<<(std::ostream& out, const attack& a) {
  return out << a.name;
}

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += text;
  return out;
}

std::vector<attack> attacks() {
  constexpr std::size_t k_piece = std::size_t{1} << 18U;
  constexpr milliseconds k_short{200};
  const std::string a = std::string(k_piece, 'a');
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string no = "HTTP/1.1 422 No\r\nTransfer-Encoding: chunked\r\n\r\n";
  return {
      {"endless_header", {ok + "x: ", a}, how::again, "no answer: "},
      {"endless_headers", {ok, repeated("x: y\r\n", k_piece)}, how::again, "no answer: "},
      {"endless_status_line", {"HTTP/1.1 200 ", a}, how::again, "no answer: "},
      {"endless_extension_of_a_chunk", {chunked + "1;", a}, how::done, ""},
      {"endless_extension_behind_a_refusal", {no + "1;", a}, how::refused, "answers 422 No"},
      {"endless_size_of_a_chunk", {chunked, std::string(k_piece, '0')}, how::done, ""},
      {"long_extensions_of_small_chunks",
       {chunked, "1;" + std::string(50'000, 'a') + "\r\na\r\n"},
       how::done,
       ""},
      {"endless_small_chunks", {chunked, repeated("1\r\na\r\n", k_piece)}, how::done, ""},
      {"endless_trailer", {chunked + "0\r\nx: ", a}, how::done, ""},
      {"endless_trailers", {chunked + "0\r\n", repeated("x: y\r\n", k_piece)}, how::done, ""},
      {"endless_body", {ok + "\r\n", a}, how::done, ""},
      {"endless_body_of_a_refusal", {"HTTP/1.1 400 No\r\n\r\n", a}, how::refused, "answers 400 No: aaa"},
      {"endless_body_of_a_failure", {"HTTP/1.1 500 No\r\n\r\n", a}, how::again, "answers 500 No: aaa"},
      {"huge_length", {ok + "Content-Length: 18446744073709551615\r\n\r\n", a}, how::done, ""},
      {"length_beyond_all_numbers",
       {ok + "Content-Length: 18446744073709551616\r\n\r\n", a},
       how::again,
       "no answer: "},
      {"two_lengths",
       {ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"},
       how::again,
       "no answer: "},
      {"length_of_a_chunked_answer",
       {ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", a},
       how::again,
       "no answer: "},
      {"interim_answers",
       {"", repeated("HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n", k_piece)},
       how::again,
       "no answer within 131072 bytes"},
      {"blank_lines", {"", repeated("\r\n", k_piece)}, how::again, "no answer"},
      {"garbage", {"", a}, how::again, "no answer: "},
      {"zeros", {"", std::string(k_piece, '\0')}, how::again, "no answer: "},
      {"another_protocol",
       {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"},
       how::again,
       "it switches to another protocol"},
      {"closes_at_once", {.closes = true}, how::again, "no answer: "},
      {"closes_in_the_header", {.first = ok + "x: ", .closes = true}, how::again, "no answer: "},
      {"closes_in_the_body", {.first = ok + "Content-Length: 9\r\n\r\nx", .closes = true}, how::done, ""},
      {"silence", {}, how::again, "no answer within 200 ms", k_short},
      {"silence_in_the_body", {ok + "Content-Length: 9\r\n\r\nx"}, how::done, "", k_short},
      {"a_drip_of_header",
       {ok + "x: ", "a", milliseconds{5}},
       how::again,
       "no answer within 200 ms",
       k_short},
      {"a_drip_of_body", {ok + "\r\n", "a", milliseconds{5}}, how::done, "", k_short},
      {"a_drip_of_interim_answers",
       {"", "HTTP/1.1 103 Early Hints\r\n\r\n", milliseconds{5}},
       how::again,
       "no answer within 200 ms",
       k_short},
  };
}

struct a_hostile_receiver : ::testing::TestWithParam<attack> {};

TEST_P(a_hostile_receiver, costs_no_more_than_one_attempt) {
  const attack& by = GetParam();
  hostile_http_server server{by.says};
  const sink_under_attack sink{server.url(), by.timeout};
  counted_memory::reset_most();
  const std::int64_t before = counted_memory::held;
  for (std::uint64_t i = 0; i < 2; ++i) {
    const delivery d = sink.send(i);
    EXPECT_EQ(d.ended, by.ended) << d.text;
    EXPECT_THAT(d.text, HasSubstr(by.text));
    EXPECT_LT(d.text.size(), 400U);
  }
  EXPECT_LT(counted_memory::most - before, std::int64_t{2} << 20U);
  // Most of it lies in the buffers of the kernel.
  EXPECT_LT(server.bytes_sent(), 2 * (std::size_t{16} << 20U)) << "the connection is cut";
  EXPECT_EQ(server.requests(), 2);
  EXPECT_TRUE(sink.to->delivered().empty());
}

INSTANTIATE_TEST_SUITE_P(with, a_hostile_receiver, ::testing::ValuesIn(attacks()),
                         [](const auto& given) { return std::string{given.param.name}; });

/// Larger than the buffers of the kernel between the two.
constexpr std::size_t k_large_value = std::size_t{24} << 20U;

output_row large_row(std::uint64_t position) {
  output_row r = row(position);
  r.value = std::string(k_large_value, 'x');
  return r;
}

struct early {
  const char* name;
  hostile_answer says;
  how ended;
  const char* text;
};
std::ostream& operator<<(std::ostream& out, const early& e) {
  return out << e.name;
}

struct an_answer_before_the_end_of_the_body : ::testing::TestWithParam<early> {};

/// The server reads the head alone.
TEST_P(an_answer_before_the_end_of_the_body, counts) {
  hostile_http_server server{GetParam().says};
  const sink_under_attack sink{server.url(), std::chrono::hours{1}};  // it is the answer that ends it
  for (std::uint64_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(is_taken(sink.to->send(large_row(i))));
    const std::vector<delivery> said = sink.wait_for(1);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said.front().ended, GetParam().ended) << said.front().text;
    EXPECT_THAT(said.front().text, HasSubstr(GetParam().text));
  }
  EXPECT_EQ(server.requests(), 2) << "a connection that was not written to its end is of no more use";
}

const early k_early[] = {
    {"refused_and_closed",
     {.first = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno", .closes = true},
     how::refused,
     "answers 413 Too Large: no"},
    {"refused_and_kept_open",
     {.first = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"},
     how::refused,
     "answers 413 Too Large"},
    {"refused_and_not_read_on",
     {.first = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n",
      .endless = "x",
      .pause = milliseconds{50}},
     how::refused,
     "answers 413 Too Large"},
    {"refused_behind_an_interim_answer",
     {.first = "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 401 No\r\n\r\n", .closes = true},
     how::refused,
     "answers 401 No"},
    {"not_now",
     {.first = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", .closes = true},
     how::again,
     "answers 503 Busy"},
    {"taken", {.first = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .closes = true}, how::done, ""},
    {"none", {.closes = true}, how::again, ": "},
};
INSTANTIATE_TEST_SUITE_P(that_is, an_answer_before_the_end_of_the_body, ::testing::ValuesIn(k_early),
                         [](const auto& given) { return std::string{given.param.name}; });

enum class at_the_end : std::uint8_t { closes, stays };

/// Takes a message when it has seen its head, with an answer of so many bytes, reads so much of its body, and
/// closes; or stays as long as this lives.
class early_taker {
 public:
  explicit early_taker(std::size_t reads, at_the_end then = at_the_end::closes, std::size_t says = 0)
      : reads_{reads}, then_{then}, says_{says}, serving_{[this] { serve(); }} {}
  ~early_taker() {
    is_over_ = true;
    if (serving_.joinable()) serving_.join();
  }
  early_taker(const early_taker&) = delete;
  early_taker& operator=(const early_taker&) = delete;
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "/in";
  }
  /// Waits until the other side has closed, or all is read.
  [[nodiscard]] std::size_t body_bytes_at_the_end() {
    serving_.join();
    return body_bytes_;
  }

 private:
  using tcp = boost::asio::ip::tcp;
  void serve() {
    boost::system::error_code code;
    tcp::socket from = acceptor_.accept(code);
    std::string got;
    const std::size_t head =
        boost::asio::read_until(from, boost::asio::dynamic_buffer(got), "\r\n\r\n", code);
    const std::string taken =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(says_) + "\r\n\r\n" + std::string(says_, 'y');
    boost::asio::write(from, boost::asio::buffer(taken), code);
    body_bytes_ = got.size() - head;
    std::string piece(std::size_t{1} << 20U, '\0');
    while (!code && body_bytes_ < reads_) body_bytes_ += from.read_some(boost::asio::buffer(piece), code);
    while (then_ == at_the_end::stays && !is_over_) std::this_thread::sleep_for(milliseconds{10});
    // Else the sink may notice the end first, and the answer behind it.
    if (reads_ < k_large_value) std::this_thread::sleep_for(milliseconds{300});
  }
  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_, tcp::endpoint{boost::asio::ip::make_address("127.0.0.1"), 0}};
  const std::size_t reads_;
  const at_the_end then_;
  const std::size_t says_;
  std::atomic<bool> is_over_{false};
  std::size_t body_bytes_{0};
  std::thread serving_;
};

TEST(a_message_that_is_taken_early, is_written_to_its_end) {
  early_taker server{k_large_value};
  {
    const sink_under_attack sink{server.url(), std::chrono::hours{1}};
    ASSERT_TRUE(is_taken(sink.to->send(large_row(0))));
    const std::vector<delivery> said = sink.wait_for(1);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said.front().ended, how::done) << said.front().text;
  }
  EXPECT_EQ(server.body_bytes_at_the_end(), k_large_value);
}

TEST(a_message_that_is_taken_early, is_written_to_its_end_behind_however_long_an_answer) {
  early_taker server{k_large_value, at_the_end::closes, std::size_t{24} << 20U};
  {
    const sink_under_attack sink{server.url(), std::chrono::seconds{30}};
    ASSERT_TRUE(is_taken(sink.to->send(large_row(0))));
    const std::vector<delivery> said = sink.wait_for(1);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said.front().ended, how::done) << said.front().text;
  }
  EXPECT_EQ(server.body_bytes_at_the_end(), k_large_value);
}

/// The rest of it finds nobody, and the message counts as taken all the same.
TEST(a_message_that_is_taken_early, is_delivered_also_where_its_end_is_not_wanted) {
  early_taker server{k_large_value / 8};  // the buffers between the two do not take the rest
  const sink_under_attack sink{server.url(), std::chrono::hours{1}};
  ASSERT_TRUE(is_taken(sink.to->send(large_row(0))));
  const std::vector<delivery> said = sink.wait_for(1);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said.front().ended, how::done) << said.front().text;
}

/// It neither reads nor closes: nobody has the message.
TEST(a_message_that_is_taken_early, is_sent_again_where_nobody_reads_it) {
  early_taker server{k_large_value / 8, at_the_end::stays};
  const sink_under_attack sink{server.url(), milliseconds{500}};
  ASSERT_TRUE(is_taken(sink.to->send(large_row(0))));
  const std::vector<delivery> said = sink.wait_for(1);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said.front().ended, how::again);
  EXPECT_THAT(said.front().text, HasSubstr("answers 200, and has not read the message within 500 ms"));
}

TEST(a_message_that_is_taken_early, is_not_waited_for_behind_an_endless_answer) {
  hostile_http_server server{{.first = "HTTP/1.1 200 OK\r\n\r\n", .endless = std::string(1U << 18U, 'a')}};
  const sink_under_attack sink{server.url(), seconds{2}};
  ASSERT_TRUE(is_taken(sink.to->send(large_row(0))));
  const std::vector<delivery> said = sink.wait_for(1);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said.front().ended, how::again);
  EXPECT_LT(server.bytes_sent(), std::size_t{48} << 20U) << "the rest lies in the buffers of the kernel";
}

TEST(an_unasked_answer, is_none_to_the_next_request) {
  const std::string fine = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  hostile_http_server server{{.first = fine, .endless = fine, .pause = milliseconds{5}}};
  const sink_under_attack sink{server.url()};
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sink.send(i).ended, how::done);
    std::this_thread::sleep_for(milliseconds{50});
    EXPECT_EQ(server.requests(), i + 1) << "each is asked for, over a connection of its own";
  }
}

/// Every allocation of the sink's thread fails once, in every state of a connection.
TEST(a_sink_without_memory, loses_no_message_and_stays) {
  std::atomic<bool> closes{false};
  recording_http_server server{[&](const auto&) {
    recording_http_server::answer said{.status = 400, .headers = {}, .body = "no"};
    if (closes) said.headers = {{"Connection", "close"}};
    return said;
  }};
  const sink_under_attack sink{server.url()};
  std::uint64_t position = 0;
  int failures = 0;
  for (const bool c : {true, false}) {
    closes = c;
    EXPECT_EQ(sink.send(++position).ended, how::refused);
    for (int allocations = 0; allocations < 2000; ++allocations) {
      counted_memory::fail_after(k_sinks_thread, allocations);
      const delivery d = sink.send(++position);
      if (!counted_memory::end_failing()) break;
      ++failures;
      EXPECT_EQ(d.position, position);
      EXPECT_TRUE(d.ended == how::refused ||
                  d.text.ends_with("broken off by an error of Ratchet's own: std::bad_alloc"))
          << d.text;
      EXPECT_EQ(sink.send(++position).ended, how::refused) << "behind a failure at " << allocations;
    }
  }
  EXPECT_GT(failures, 10) << "the name of the thread is right";
  std::size_t room = 0;
  while (is_taken(sink.to->send(row(++position)))) ++room;
  EXPECT_EQ(room, 32U) << "each was told of once";
  for (const delivery& d : sink.wait_for(room)) EXPECT_EQ(d.ended, how::refused);
}

TEST(a_sink_whose_listener_throws, goes_on) {
  recording_http_server server{[](const auto&) { return recording_http_server::answer{}; }};
  const sink_under_attack sink{server.url()};
  sink.to->on_progress([] { throw std::runtime_error{"no"}; });
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(sink.send(i).ended, how::done);
  sink.to->on_progress([] { throw 5; });
  EXPECT_EQ(sink.send(5).ended, how::done);
  sink.to->on_progress({});
  EXPECT_EQ(sink.send(6).ended, how::done);
  EXPECT_EQ(server.requests().size(), 7U) << "none is sent twice";
}

}  // namespace
}  // namespace ratchet::testing
