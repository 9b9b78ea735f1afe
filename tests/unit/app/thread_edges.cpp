// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What becomes of exceptions where a thread of the application begins: none of them ends the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "app/engine.hpp"
#include "control/client.hpp"
#include "control/server.hpp"
#include "pipeline/decode_worker.hpp"
#include "support/control_fake_store.hpp"
#include "support/counted_memory.hpp"
#include "support/fake_source.hpp"
#include "support/http_client.hpp"
#include "support/no_more_threads.hpp"
#include "support/temporary_directory.hpp"
#include "telemetry/http_server.hpp"

namespace ratchet::testing {
namespace {

using ::testing::HasSubstr;

config settings(const std::filesystem::path& state) {
  auto read = parse_config("version: 1\nstate: {path: " + state.string() +
                               "}\nstreams:\n  - {name: orders, order: arrival, envelope: {event_id: /id, "
                               "aggregate: /a}}\n",
                           "f.yaml");
  EXPECT_TRUE(read) << to_text(read.error());
  return *read;
}

std::unique_ptr<record_batch> batch_of(std::int64_t first) {
  static const topic_partition plain{"", partition_id{0}};
  auto batch = std::make_unique<fake_batch>();
  for (std::int64_t i = 0; i < 200; ++i) batch->add(&plain, {first + i, R"({"a":"x"})", {}});
  return batch;
}

void expect_that_the_owner_decodes_behind(int allocations, const stream_list& streams, bool& failed) {
  decode_worker worker{streams};
  worker.submit(batch_of(0));
  EXPECT_EQ(worker.take().batch->records().size(), 200U);
  worker.submit(batch_of(200));
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  counted_memory::fail_after("ratchet:decode", allocations);
  worker.submit(batch_of(400));
  const auto expect_decoded = [&](std::int64_t first) {
    const decoded_input& got = worker.take();
    EXPECT_EQ(got.batch->records().front().offset, first);
    EXPECT_EQ(got.parts.at(0).decoded.events.size(), 200U);
    EXPECT_EQ(got.parts.at(0).records.size(), 200U);
  };
  expect_decoded(200);
  expect_decoded(400);
  failed = counted_memory::end_failing();
  worker.submit(batch_of(600));
  expect_decoded(600);
}

TEST(a_decoding_thread_that_finds_no_memory, leaves_its_batches_to_the_owner) {
  const support::temporary_directory files;
  auto made = make_streams(settings(files.path() / "state"), {});
  ASSERT_TRUE(made);
  int failures = 0;
  for (bool failed = true; failed && failures < 500; ++failures) {
    expect_that_the_owner_decodes_behind(failures, *made, failed);
  }
  EXPECT_GT(failures, 3) << "the name of the thread is right";
}

TEST(a_health_server, answers_on_behind_whatever_its_thread_throws) {
  const auto server = http_server::start("127.0.0.1", 0, [](std::string_view path) {
    http_answer made;
    if (path == "/int") throw 7;
    if (path == "/long") made.content_type.assign(70'000, 'x');  // more than Beast takes in a header
    return made;
  });
  ASSERT_TRUE(server);
  const std::uint16_t port = server.value()->port();
  EXPECT_EQ(http_get(port, "/int").status, 500);
  {
    const http_connection cut{port};
    cut.send("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(cut.read_all(), "");
    EXPECT_TRUE(cut.closed());
  }
  EXPECT_EQ(http_get(port, "/").status, 200);
}

/// Every allocation of its thread fails once, also the one that waits for the next client.
TEST(a_health_server, answers_on_behind_any_lack_of_memory) {
  const auto server = http_server::start("127.0.0.1", 0, [](std::string_view) { return http_answer{}; });
  ASSERT_TRUE(server);
  const std::uint16_t port = server.value()->port();
  EXPECT_EQ(http_get(port, "/").status, 200);
  int failures = 0;
  for (int allocations = 0; allocations < 500; ++allocations) {
    counted_memory::fail_after("ratchet:http", allocations);
    (void)http_get(port, "/");
    if (!counted_memory::end_failing()) break;
    ++failures;
    EXPECT_EQ(http_get(port, "/").status, 200) << "behind a failure at " << allocations;
  }
  EXPECT_GT(failures, 3) << "the name of the thread is right";
}

template <class Thrown>
void expect_told(const Thrown& thrown, const char* text) {
  const support::temporary_directory files;
  fake_store store;
  const instance_status status{timestamp{}};
  const auto server = control_server::start(
      files.path(), store, {"payments"}, status, {}, nullptr, {},
      [&](const sink_request&, const std::string&, const byte_sink&) -> reported<void> { throw thrown; });
  ASSERT_TRUE(server);
  for (int i = 0; i < 2; ++i) {
    auto connected = control_client::connect(files.path(), {});
    ASSERT_TRUE(connected && connected.value());
    const auto asked =
        connected.value()->ask(to_words(sink_request{}), [](std::string_view) { return true; });
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().code, make_error_code(errc::internal));
    EXPECT_THAT(asked.error().message, HasSubstr(text));
  }
}

TEST(whoever_asks_an_instance, is_told_what_the_answer_threw) {
  expect_told(std::runtime_error{"no luck"}, "the running instance could not answer: no luck");
  expect_told(7, "an exception that is not a std::exception");
}

/// Whether the instance that serves there says how it is.
bool is_answered(const std::filesystem::path& state) {
  auto connected = control_client::connect(state, {});
  if (!connected || !connected.value()) return false;
  read_request request;
  request.kind = read_request::kind_of::status;
  return bool{connected.value()->ask(request, [](std::string_view) { return true; })};
}

TEST(an_instance, accepts_on_behind_any_lack_of_memory) {
  const support::temporary_directory files;
  fake_store store;
  const instance_status status{timestamp{}};
  const auto server = control_server::start(files.path(), store, {"payments"}, status);
  ASSERT_TRUE(server);
  const auto ask = [&] { return is_answered(files.path()); };
  EXPECT_TRUE(ask());
  for (const char* thread : {"ratchet:control", "ratchet:answer"}) {
    int failures = 0;
    for (int allocations = 0; allocations < 500; ++allocations) {
      counted_memory::fail_after(thread, allocations);
      (void)ask();
      if (!counted_memory::end_failing()) break;
      ++failures;
      EXPECT_TRUE(ask()) << "behind a failure at " << allocations;
    }
    EXPECT_GT(failures, 0) << thread;
  }
}

/// A clock that throws when told, once.
class broken_clock final : public clock_port {
 public:
  [[nodiscard]] timestamp now() const override { return true_.now(); }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    if (std::this_thread::get_id() == owner && broken.exchange(false))
      throw std::runtime_error{"the clock is broken"};
    return true_.steady();
  }
  mutable std::atomic<bool> broken{false};  ///< once
  std::thread::id owner{std::this_thread::get_id()};

 private:
  system_clock_port true_;
};

TEST(a_run, ends_with_what_its_owner_threw_and_the_next_one_goes_on_from_the_disk) {
  const support::temporary_directory files;
  broken_clock clock;
  engine_options options;
  options.clock = &clock;
  auto opened = engine::open(settings(files.path() / "state"), {}, options);
  ASSERT_TRUE(opened) << to_text(opened.error());
  std::atomic<bool> stop{false};
  std::thread breaking{[&] {
    while (!opened.value()->status().snapshot().ready) std::this_thread::yield();
    clock.broken = true;
  }};
  const auto ended = opened.value()->run(false, stop);
  breaking.join();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, make_error_code(errc::internal));
  EXPECT_EQ(ended->message, "an exception ended the run: the clock is broken");
  EXPECT_EQ(exit_code(ended->code), 70);
  stop = true;
  const auto again = opened.value()->run(false, stop);
  EXPECT_FALSE(again) << again->message;
}

TEST(where_no_more_threads_can_be_had, a_health_server_says_that_it_cannot_start) {
  const auto start = [] {
    return http_server::start("127.0.0.1", 0, [](std::string_view) { return http_answer{}; });
  };
  {
    const no_more_threads none;
    const auto server = start();
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code, make_error_code(errc::io));
    EXPECT_THAT(server.error().message, HasSubstr("cannot start the HTTP server's thread: "));
  }
  EXPECT_TRUE(start());
}

TEST(where_no_more_threads_can_be_had, an_instance_cuts_who_asks_it_and_answers_the_next_one) {
  const support::temporary_directory files;
  fake_store store;
  const instance_status status{timestamp{}};
  {
    const no_more_threads none;
    const auto server = control_server::start(files.path(), store, {"payments"}, status);
    ASSERT_FALSE(server);
    EXPECT_THAT(server.error().message, HasSubstr("cannot start the control server's thread: "));
  }
  const auto server = control_server::start(files.path(), store, {"payments"}, status);
  ASSERT_TRUE(server);
  const auto ask = [&] { return is_answered(files.path()); };
  EXPECT_TRUE(ask());
  {
    const no_more_threads none;
    EXPECT_FALSE(ask());
  }
  EXPECT_TRUE(ask());
}

/// In a process of its own: what RocksDB had opened by then it leaks, with its lock.
TEST(where_no_more_threads_can_be_had, a_store_is_not_opened_and_loses_nothing) {
  const support::temporary_directory files;
  const auto open = [&] { return engine::open(settings(files.path() / "state"), {}, {}); };
  const auto say_why = [&] {
    const no_more_threads none;
    const auto opened = open();
    const bool says = !opened && opened.error().code == make_error_code(errc::io) &&
                      opened.error().message.starts_with("cannot start a thread: ");
    std::_Exit(says ? 0 : 1);
  };
  EXPECT_EXIT(say_why(), ::testing::ExitedWithCode(0), "");
  const auto opened = open();
  ASSERT_TRUE(opened) << to_text(opened.error());
}

}  // namespace
}  // namespace ratchet::testing
