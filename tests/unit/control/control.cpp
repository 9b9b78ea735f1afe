// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "control/client.hpp"
#include "control/server.hpp"
#include "support/control_fake_store.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using testing::row_of;

/// A store with one stream of two aggregates, and everything else that a server needs.
class control : public ::testing::Test {
 protected:
  control() {
    store_.content.streams.resize(1);
    store_.content.streams[0].name = "payments";
    store_.content.streams[0].rows.emplace("p1", row_of(seq(1), R"({"a": 1})"));
    store_.content.streams[0].rows.emplace("p2", row_of(seq(2), "not json"));
  }

  std::unique_ptr<control_server> serve(const control_limits& limits = {}) {
    auto started = control_server::start(directory_.path(), store_, {"payments", "refunds"}, status_, limits);
    if (!started) ADD_FAILURE() << to_text(started.error());
    return started ? std::move(started).value() : nullptr;
  }
  control_client client(const std::filesystem::path& dir, const response_timeouts& timeouts = {}) {
    auto connected = control_client::connect(dir, timeouts);
    if (!connected || !connected.value()) throw std::runtime_error{"nobody listens"};
    return std::move(*connected.value());
  }
  /// The answer, or the message of the problem behind "error: ".
  std::string ask(const read_request& request) {
    std::string answer;
    const auto asked = client(directory_.path()).ask(request, [&](std::string_view piece) {
      answer += piece;
      return true;
    });
    return asked ? answer : "error: " + asked.error().message;
  }
  static read_request get(std::string aggregate) {
    read_request request;
    request.kind = read_request::kind_of::get;
    request.stream = "payments";
    request.aggregate = std::move(aggregate);
    return request;
  }
  static read_request scan() {
    read_request request;
    request.kind = read_request::kind_of::scan;
    request.stream = "payments";
    return request;
  }
  std::filesystem::path socket_path() const { return directory_.path() / k_control_socket_name; }
  /// A connection that speaks for itself.
  unique_fd raw_connection() {
    auto connected = connect_in(directory_.path(), 5s);
    return connected && connected.value() ? std::move(*connected.value()) : unique_fd{};
  }

  support::temporary_directory directory_;
  testing::fake_store store_;
  instance_status status_{timestamp{}};
};

TEST_F(control, answers_with_the_snapshots_very_bytes) {
  const auto server = serve();
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})");
  EXPECT_EQ(ask(get("p2")), "not json");
}

TEST_F(control, passes_errors_on_with_code_message_and_hint) {
  const auto server = serve();
  const auto none = client(directory_.path()).ask(get("p9"), [](std::string_view) { return true; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::not_found);
  EXPECT_NE(none.error().message.find("p9"), std::string::npos);
  auto request = scan();
  request.stream = "payment";
  const auto typo = client(directory_.path()).ask(request, [](std::string_view) { return true; });
  ASSERT_FALSE(typo);
  EXPECT_EQ(typo.error().code, errc::usage);
  EXPECT_NE(typo.error().hint.find("payments"), std::string::npos);
  EXPECT_NE(typo.error().hint.find("refunds"), std::string::npos);
}

TEST_F(control, reports_that_no_instance_runs_where_there_is_no_socket) {
  const auto connected = control_client::connect(directory_.path());
  ASSERT_TRUE(connected);
  EXPECT_FALSE(connected.value());
  const auto no_directory = control_client::connect(directory_.path() / "none");
  ASSERT_TRUE(no_directory);
  EXPECT_FALSE(no_directory.value());
}

TEST_F(control, answers_its_own_consumer_group_alone_where_a_group_asks) {
  const auto server =
      control_server::start(directory_.path(), store_, {"payments"}, status_, {}, nullptr, {}, {}, "prod");
  ASSERT_TRUE(server);
  const auto ask_of = [&](const char* group) {
    std::string answer;
    control_client asking = client(directory_.path());
    asking.ask_of_group(group);
    const auto asked = asking.ask(get("p1"), [&](std::string_view piece) {
      answer += piece;
      return true;
    });
    return asked ? answer : asked.error().code.message() + ": " + asked.error().message;
  };
  EXPECT_EQ(ask_of("prod"), R"({"a": 1})");
  EXPECT_EQ(ask_of("staging"), make_error_code(errc::state_foreign).message() + ": the state directory " +
                                   directory_.path().string() +
                                   " belongs to the consumer group \"prod\", the config has \"staging\"; no "
                                   "file was changed");
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})") << "who names no group reads the directory, whoever's it is";
}

/// A decision may have to wait; one that its operator has broken off must not be made.
TEST_F(control, tells_a_decision_that_whoever_asked_for_it_is_gone) {
  std::atomic<int> looks{0};
  std::atomic<bool> gone{false};
  const sink_actor waits = [&](const sink_request&, const std::string&,
                               const byte_sink& sink) -> reported<void> {
    for (; sink({}); ++looks) std::this_thread::sleep_for(1ms);
    gone = true;
    return problem{errc::source_unavailable, "too late", "", {}};
  };
  auto server =
      control_server::start(directory_.path(), store_, {"payments"}, status_, {}, nullptr, {}, waits);
  ASSERT_TRUE(server);
  unique_fd asking = raw_connection();
  ASSERT_TRUE(asking.valid());
  const std::string asked =
      encode_request(to_words(sink_request{.verb = sink_verb::skip, .sink = {}, .act = true}));
  ASSERT_EQ(
      write_exactly(asking.get(), asked.data(), asked.size(), std::chrono::steady_clock::now() + 60s, -1),
      transfer::done);
  ASSERT_EQ(::shutdown(asking.get(), SHUT_WR), 0);  // it has said all, and listens
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (looks < 10 && !gone && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(gone) << "it still listens";
  asking.reset();
  while (!gone && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(gone);
}

TEST_F(control, makes_a_socket_that_only_the_owner_may_use_and_removes_it) {
  auto server = serve();
  struct stat found {};
  ASSERT_EQ(::stat(socket_path().c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(socket_path()));
}

TEST_F(control, replaces_the_socket_of_a_process_that_died) {
  { const auto left_behind = listen_in(directory_.path(), 1); }
  ASSERT_TRUE(std::filesystem::exists(socket_path()));
  const auto connected = control_client::connect(directory_.path());
  ASSERT_TRUE(connected);
  EXPECT_FALSE(connected.value()) << "nobody listens on it";
  const auto server = serve();
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})");
}

TEST_F(control, refuses_to_take_the_socket_of_a_process_that_listens) {
  const auto server = serve();
  const auto second = control_server::start(directory_.path(), store_, {}, status_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::state_busy);
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})") << "the first one still answers";
}

TEST_F(control, works_in_a_directory_whose_path_is_longer_than_a_socket_address) {
  const auto deep = directory_.path() / std::string(120, 'd') / std::string(120, 'e');
  std::filesystem::create_directories(deep);
  const auto started = control_server::start(deep, store_, {}, status_);
  ASSERT_TRUE(started) << to_text(started.error());
  struct stat found {};
  ASSERT_EQ(::stat((deep / k_control_socket_name).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  std::string answer;
  ASSERT_TRUE(client(deep).ask(get("p1"), [&](std::string_view piece) {
    answer += piece;
    return true;
  }));
  EXPECT_EQ(answer, R"({"a": 1})");
}

TEST_F(control, answers_only_what_is_synced) {
  store_.written = 7;
  store_.durable = 3;
  const auto server = serve();
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})");
  EXPECT_EQ(store_.durable, 7U);
  EXPECT_GE(store_.syncs_requested, 1);
}

TEST_F(control, says_that_it_is_busy_where_the_sync_does_not_end) {
  store_.written = 7;
  store_.sync_works = false;
  control_limits limits;
  limits.durable_timeout = 20ms;
  const auto server = serve(limits);
  const auto asked = client(directory_.path()).ask(get("p1"), [](std::string_view) { return true; });
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, errc::source_unavailable);
  EXPECT_NE(asked.error().message.find("not synced"), std::string::npos);
}

TEST_F(control, streams_a_scan_that_is_far_larger_than_any_buffer) {
  store_.content.endless_rows = 200'000;
  const auto server = serve();
  std::size_t bytes = 0;
  std::size_t lines = 0;
  std::size_t largest = 0;
  const auto asked = client(directory_.path()).ask(scan(), [&](std::string_view piece) {
    bytes += piece.size();
    largest = std::max(largest, piece.size());
    lines += static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n'));
    return true;
  });
  ASSERT_TRUE(asked) << to_text(asked.error());
  EXPECT_EQ(lines, 200'002U);
  EXPECT_GT(bytes, std::size_t{50} << 20);
  EXPECT_LE(largest, k_max_chunk_bytes);
}

TEST_F(control, ends_a_scan_that_the_reader_no_longer_wants) {
  store_.content.endless_rows = ~std::uint64_t{0};
  const auto server = serve();
  std::size_t pieces = 0;
  const auto asked = client(directory_.path()).ask(scan(), [&](std::string_view) { return ++pieces < 3; });
  EXPECT_TRUE(asked);
  EXPECT_EQ(pieces, 3U);
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})") << "the server goes on";
}

TEST_F(control, tells_a_scan_that_failed_half_way_from_one_that_ended) {
  store_.content.scan_fails_with = make_error_code(errc::state_damaged);
  const auto server = serve();
  std::string answer;
  const auto asked = client(directory_.path()).ask(scan(), [&](std::string_view piece) {
    answer += piece;
    return true;
  });
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, errc::state_damaged);
  EXPECT_NE(answer.find("p1"), std::string::npos) << "what came before is passed on";
}

TEST_F(control, cuts_a_scan_at_the_stop_and_the_client_notices) {
  store_.content.endless_rows = ~std::uint64_t{0};
  auto server = serve();
  std::atomic<bool> flowing{false};
  std::optional<problem> ending;
  std::thread reader{[&] {
    const auto asked =
        client(directory_.path()).ask(scan(), [&](std::string_view) { return flowing = true; });
    if (!asked) ending = asked.error();
  }};
  while (!flowing) std::this_thread::yield();
  server.reset();
  reader.join();
  ASSERT_TRUE(ending) << "a cut answer is no whole one";
  EXPECT_EQ(ending->code, errc::source_unavailable);
}

TEST_F(control, stops_while_clients_hang_on_it) {
  store_.content.endless_rows = ~std::uint64_t{0};
  auto server = serve();
  std::vector<unique_fd> stuck;
  for (int i = 0; i < 20; ++i) stuck.push_back(raw_connection());  // say nothing
  const std::string request = encode_request(to_words(scan()));
  for (int i = 0; i < 8; ++i) {  // ask, and never read
    ASSERT_EQ(::send(stuck[static_cast<std::size_t>(i)].get(), request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
  }
  server.reset();  // the test's own time-out is the assertion
  EXPECT_FALSE(std::filesystem::exists(socket_path()));
}

TEST_F(control, cuts_a_reader_that_is_stuck_and_serves_the_next) {
  store_.content.endless_rows = ~std::uint64_t{0};
  control_limits limits;
  limits.connections = 1;
  limits.stall_timeout = 20ms;
  const auto server = serve(limits);
  const unique_fd stuck = raw_connection();
  const std::string request = encode_request(to_words(scan()));
  ASSERT_EQ(::send(stuck.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})") << "the only place was given up";
}

TEST_F(control, cuts_a_client_that_does_not_finish_its_request) {
  control_limits limits;
  limits.connections = 1;
  limits.request_timeout = 300ms;
  const auto server = serve(limits);
  const unique_fd half = raw_connection();
  ASSERT_EQ(::send(half.get(), "\0\0\0\x20", 4, 0), 4);
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})");
  char byte = 0;
  EXPECT_EQ(::recv(half.get(), &byte, 1, 0), 0) << "it was closed without an answer";
}

TEST_F(control, lets_who_asks_for_nothing_give_way_to_who_asks) {
  control_limits limits;
  limits.connections = 2;
  limits.request_timeout = 1h;
  limits.idle_timeout = 1ms;
  const auto server = serve(limits);
  std::vector<unique_fd> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(raw_connection());
    if (i % 2 == 1) continue;
    ASSERT_EQ(::send(idle.back().get(), "\0\0", 2, 0), 2);
  }
  ASSERT_EQ(ask(get("p1")), R"({"a": 1})") << "no place was ever given up";
  char byte = 0;
  EXPECT_EQ(::recv(idle.front().get(), &byte, 1, 0), 0) << "the oldest first";
}

TEST_F(control, refuses_a_request_that_is_too_large_or_makes_no_sense) {
  const auto server = serve();
  for (const std::string& bytes :
       {std::string("\x7F\xFF\xFF\xFF", 4), std::string("\0\0\0\x05\x09\0\0\0\0", 9),
        std::string("\0\0\0\x05\x01\xFF\xFF\xFF\xFF", 9), encode_request(std::vector<std::string>{"drop"})}) {
    const unique_fd connection = raw_connection();
    ASSERT_EQ(::send(connection.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    const auto answer = read_response(connection.get(), {}, [](std::string_view) { return true; });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::usage);
  }
  EXPECT_EQ(ask(get("p1")), R"({"a": 1})");
}

TEST_F(control, answers_many_clients_at_once_beyond_its_number_of_connections) {
  control_limits limits;
  limits.connections = 4;
  limits.idle_timeout = 1h;
  const auto server = serve(limits);
  std::atomic<int> right{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 24; ++i) {
    clients.emplace_back([&] {
      for (int n = 0; n < 20; ++n) {
        if (ask(get("p1")) == R"({"a": 1})") ++right;
      }
    });
  }
  for (std::thread& t : clients) t.join();
  EXPECT_EQ(right, 24 * 20);
}

TEST_F(control, reports_a_server_that_does_not_answer_in_time) {
  const auto listener = listen_in(directory_.path(), 1);  // accepts nobody
  ASSERT_TRUE(listener);
  const auto asked =
      client(directory_.path(), {20ms, 20ms}).ask(get("p1"), [](std::string_view) { return true; });
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, errc::source_unavailable);
}

TEST_F(control, tells_of_a_server_that_takes_its_time) {
  const auto listener = listen_in(directory_.path(), 1);  // accepts nobody
  ASSERT_TRUE(listener);
  control_client asking = client(directory_.path(), {40ms, 40ms});
  int told = 0;
  asking.tell_of_silence([&told] { ++told; }, 5ms);
  EXPECT_FALSE(asking.ask(get("p1"), [](std::string_view) { return true; }));
  EXPECT_EQ(told, 1);
}

TEST_F(control, tells_nothing_where_the_answer_comes_at_once) {
  const auto server = serve();
  control_client asking = client(directory_.path());
  bool told = false;
  asking.tell_of_silence([&told] { told = true; }, 20s);
  EXPECT_TRUE(asking.ask(get("p1"), [](std::string_view) { return true; }));
  EXPECT_FALSE(told);
}

TEST_F(control, status_of_an_instance_says_what_the_board_says) {
  const topic_partition where{"payment-status", partition_id{3}};
  store_.content.streams[0].state.partitions[where].next_offset = 40;
  status_.set_ready(false, "1 partition is missing");
  status_.set_assigned("payments", std::vector{where});
  status_.set_committed("payments", where, 38);
  status_.set_log_end("payments", where, 100);
  status_.set_stopped("payments", where, "poisoned");
  const auto server = serve();
  read_request request;
  request.json = true;
  const std::string answer = ask(request);
  EXPECT_TRUE(answer.starts_with(
      R"({"running":true,"ready":false,"ready_reason":"1 partition is missing; poisoned","started_at":"1970-01-01T00:00:00.000Z")"))
      << answer;
  EXPECT_NE(
      answer.find(
          R"([{"topic":"payment-status","partition":3,"next_offset":40,"committed":38,"lag":60,"assigned":true,"stopped":"poisoned"}])"),
      std::string::npos)
      << answer;
  EXPECT_NE(answer.find("\"refunds\""), std::string::npos) << "configured, and not in the store yet";
}

}  // namespace
}  // namespace ratchet
