// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// app::transact() as a program calls it: threads, a real store, and no Kafka.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ratchet/ratchet.hpp"
#include "support/temporary_directory.hpp"
#include "telemetry/http_server.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;

/// Counts up, and replies what it has come to.
outcome count_up(state& s, effects& fx) {
  const int before = s.exists() ? std::stoi(std::string{s.value()}) : 0;
  s.assign(std::to_string(before + 1));
  fx.reply(std::to_string(before + 1));
  return done();
}

/// A port that nothing listens on now.
std::uint16_t free_port() {
  return http_server::start("127.0.0.1", 0, [](std::string_view) { return http_answer{}; }).value()->port();
}

class app_transact : public ::testing::Test {
 protected:
  ~app_transact() override { end(); }
  [[nodiscard]] config settings() const {
    auto read = parse_config(
        "version: 1\nstate: {path: " + (directory_ / "state").string() +
            "}\nstreams:\n  - {name: counters, order: arrival}\n"
            "  - {name: files, order: latest, dedup: {ids: opaque}, envelope: {event_id: /id, aggregate: /a, "
            "sequence: /s}}\n"
            "  - {name: dated, order: arrival, envelope: {event_id: /id, aggregate: /a}}\n" +
            (http_ ? "http: {listen: 127.0.0.1:" + std::to_string(free_port()) + "}\n" : ""),
        "f.yaml");
    EXPECT_TRUE(read) << to_text(read.error());
    return *read;
  }
  void open() {
    auto opened = app::open(settings());
    ASSERT_TRUE(opened) << to_text(opened.error());
    app_.emplace(std::move(opened.value()));
  }
  void begin() {
    stop_ = false;
    if (!app_) open();
    owner_ = std::thread{[this] {
      const auto ended = app_->run(until_set(stop_));
      if (!ended) ADD_FAILURE() << to_text(ended.error());
    }};
  }
  /// As a restart of the program.
  void end() {
    stop_ = true;
    if (owner_.joinable()) owner_.join();
    app_.reset();
  }
  /// Asks until run() is there.
  reported<transacted> transact(const std::string& aggregate, const std::string& key,
                                const transact_options& options = {}) {
    for (int i = 0; i < 500; ++i) {
      auto got = app_->transact("counters", aggregate, key, count_up, options);
      if (got || got.error().code != make_error_code(errc::not_running)) return got;
      std::this_thread::sleep_for(milliseconds{10});
    }
    return problem{make_error_code(errc::not_running), "", "", {}};
  }

  support::temporary_directory files_;
  const std::filesystem::path& directory_{files_.path()};
  std::optional<app> app_;
  bool http_{false};  ///< answers on a port, too
  std::atomic<bool> stop_{false};
  std::thread owner_;
};

TEST_F(app_transact, is_answered_and_remembered_over_a_restart) {
  begin();
  const auto first = transact("c", "key-1");
  ASSERT_TRUE(first) << to_text(first.error());
  EXPECT_EQ(first.value().reply, "1");
  EXPECT_FALSE(first.value().repeated);
  EXPECT_EQ(first.value().sequence, seq(1));
  EXPECT_EQ(app_->read("counters", "c").value().value, "1");
  end();
  begin();
  const auto again = transact("c", "key-1");
  ASSERT_TRUE(again);
  EXPECT_EQ(again.value().reply, "1");
  EXPECT_TRUE(again.value().repeated);
  EXPECT_EQ(transact("c", "key-2").value().reply, "2");
}

TEST_F(app_transact, leaves_what_read_returns) {
  begin();
  const auto none = app_->read("counters", "c");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::not_found);
  EXPECT_EQ(none.error().message, "there is no aggregate c of stream counters");
  ASSERT_TRUE(transact("c", "key-1"));
  const auto found = app_->read("counters", "c");
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_EQ(found->value, "1");
  EXPECT_EQ(found->sequence, seq(1));
  ASSERT_TRUE(app_->transact("counters", "c", "key-2", [](state& s, effects&) {
    s.erase();
    return done();
  }));
  const auto deleted = app_->read("counters", "c");
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().code, errc::not_found);
  EXPECT_EQ(deleted.error().message, "there is no aggregate c of stream counters, deleted at sequence 2");
  EXPECT_EQ(*app_->last_sequence("counters", "c"), seq(2));
  EXPECT_EQ(app_->last_sequence("counters", "d").error().code, errc::not_found);
  EXPECT_FALSE(app_->read(table_key{"no-table", "k"})) << "no stream has it";
}

TEST_F(app_transact, of_many_threads_does_each_key_once) {
  begin();
  ASSERT_TRUE(transact("c", "0"));
  constexpr int k_threads = 8;
  constexpr int k_keys = 40;
  std::vector<std::thread> threads;
  std::vector<std::vector<std::string>> replies(k_threads);
  for (int t = 0; t < k_threads; ++t) {
    threads.emplace_back([&, t] {
      for (int key = 1; key < k_keys; ++key) {
        // Each key is used by two threads.
        const auto got = transact("c", std::to_string(t / 2) + "/" + std::to_string(key));
        replies[static_cast<std::size_t>(t)].push_back(got ? got.value().reply.value_or("none")
                                                           : to_text(got.error()));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(app_->read("counters", "c").value().value, std::to_string(1 + k_threads / 2 * (k_keys - 1)));
  std::set<std::string> distinct;
  for (std::size_t t = 0; t < k_threads; t += 2) {
    EXPECT_EQ(replies[t], replies[t + 1]) << "who asks with the same key gets the same reply";
    distinct.insert(replies[t].begin(), replies[t].end());
  }
  EXPECT_EQ(distinct.size(), static_cast<std::size_t>(k_threads / 2 * (k_keys - 1)));
}

TEST_F(app_transact, tells_its_errors_by_code) {
  open();
  const auto code = [&](std::string_view stream, std::string_view aggregate, std::string_view key) {
    const auto got = app_->transact(stream, aggregate, key, count_up);
    return got ? std::error_code{} : got.error().code;
  };
  EXPECT_EQ(code("counters", "c", "k"), make_error_code(errc::not_running)) << "run() was not called";
  begin();
  ASSERT_TRUE(transact("c", "0"));
  EXPECT_EQ(code("nowhere", "c", "k"), make_error_code(errc::not_found));
  EXPECT_EQ(code("files", "c", "k"), make_error_code(errc::usage)) << "latest";
  EXPECT_EQ(code("dated", "c", "k"), make_error_code(errc::usage)) << "ids with a time of their own";
  EXPECT_EQ(code("counters", "", "k"), make_error_code(errc::usage));
  EXPECT_EQ(code("counters", "c", ""), make_error_code(errc::usage));
  EXPECT_EQ(code("counters", "c", std::string(1025, 'k')), make_error_code(errc::usage));
  EXPECT_FALSE(code("counters", "c", std::string(1024, 'k')));
  ASSERT_TRUE(transact("c", "k", {.fingerprint = "body"}));
  EXPECT_EQ(transact("c", "k", {.fingerprint = "another"}).error().code, make_error_code(errc::key_reused));
  const auto failed = app_->transact("counters", "c", "f", [](state&, effects&) {
    return give_up(std::make_error_code(std::errc::no_link));
  });
  EXPECT_EQ(failed.error().code, std::errc::no_link);
  end();
}

TEST_F(app_transact, may_not_be_called_by_the_thread_that_would_answer) {
  begin();
  ASSERT_TRUE(transact("c", "0"));
  std::error_code inner;
  const auto outer = app_->transact("counters", "c", "outer", [&](state&, effects&) {
    inner = app_->transact("counters", "d", "inner", count_up).error().code;
    return done();
  });
  EXPECT_TRUE(outer);
  EXPECT_EQ(inner, make_error_code(errc::usage));
}

TEST_F(app_transact, waits_no_longer_than_it_is_told_to_but_for_its_function) {
  begin();
  ASSERT_TRUE(transact("c", "0"));
  std::atomic<bool> is_held{false};
  std::atomic<bool> is_over{false};
  std::thread slow{[&] {
    const auto got = app_->transact("counters", "c", "slow",
                                    [&](state& s, effects& fx) {
                                      is_held = true;
                                      while (!is_over) std::this_thread::sleep_for(milliseconds{1});
                                      return count_up(s, fx);
                                    },
                                    {.timeout = milliseconds{20}});
    EXPECT_TRUE(got || got.error().code == make_error_code(errc::timed_out));
  }};
  while (!is_held) std::this_thread::sleep_for(milliseconds{1});
  int calls = 0;
  const auto late = app_->transact("counters", "c", "late",
                                   [&](state& s, effects& fx) {
                                     ++calls;
                                     return count_up(s, fx);
                                   },
                                   {.timeout = milliseconds{20}});
  EXPECT_EQ(late.error().code, make_error_code(errc::timed_out));
  is_over = true;
  slow.join();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(transact("c", "slow").value().reply, "2") << "it was done, and its key tells";
}

TEST_F(app_transact, is_done_in_each_run_of_one_app) {
  http_ = true;
  for (const char* key : {"first", "second", "third"}) {
    begin();
    EXPECT_TRUE(transact("c", key)) << key;
    stop_ = true;
    owner_.join();
    const auto refused = app_->transact("counters", "c", "between", count_up);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, make_error_code(errc::not_running));
  }
  EXPECT_EQ(app_->read("counters", "c").value().value, "3");
}

TEST_F(app_transact, lets_nobody_wait_for_ever_when_run_ends) {
  begin();
  ASSERT_TRUE(transact("c", "0"));
  std::atomic<bool> is_on{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; is_on; ++i)
        (void)app_->transact("counters", "c", std::to_string(t) + "-" + std::to_string(i), count_up);
    });
  }
  std::this_thread::sleep_for(milliseconds{50});
  stop_ = true;
  owner_.join();
  is_on = false;
  for (std::thread& t : threads) t.join();
  end();
}

/// A stream whose transactions publish to a callback of the program.
config with_a_sink(const std::filesystem::path& directory) {
  auto read = parse_config("version: 1\nstate: {path: " + (directory / "state").string() +
                               "}\nsinks: [{name: audit, callback: true}]\nstreams:\n"
                               "  - {name: counters, order: arrival, outputs: [\"sink:audit\"]}\n",
                           "f.yaml");
  EXPECT_TRUE(read) << to_text(read.error());
  return *read;
}

TEST_F(app_transact, is_refused_to_a_callback_of_a_sink_for_which_the_end_would_wait) {
  std::atomic<int> calls{0};
  std::atomic<app*> mine{nullptr};
  std::error_code told;
  std::optional<snapshot> seen;
  const sinks to = sinks{}.add("audit", [&](const sink_message&) {
    if (calls++ > 0) return sink_answer{};
    const auto refused =
        mine.load()->transact("counters", "other", "k", count_up, {.timeout = milliseconds{60'000}});
    if (!refused) told = refused.error().code;
    if (auto read = mine.load()->read("counters", "c")) seen = read.value();
    return sink_answer{};
  });
  auto opened = app::open(with_a_sink(directory_), {}, to);
  ASSERT_TRUE(opened) << to_text(opened.error());
  app_.emplace(std::move(opened.value()));
  mine = &*app_;
  begin();
  const auto publishing = [](state& s, effects& fx) {
    fx.publish({.topic = {}, .payload = "x", .type = "counted", .sink = "audit"});
    return count_up(s, fx);
  };
  for (int i = 0; i < 500 && calls == 0; ++i) {
    static_cast<void>(app_->transact("counters", "c", "key", publishing));
    std::this_thread::sleep_for(milliseconds{10});
  }
  const auto begun = std::chrono::steady_clock::now();
  stop_ = true;
  owner_.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{30}) << "the end waits for nobody";
  EXPECT_EQ(told, errc::usage);
  EXPECT_TRUE(seen) << "it may read";
  EXPECT_FALSE(app_->read("counters", "other")) << "nothing was done";
}

TEST_F(app_transact, of_two_apps_that_run_until_a_signal_both_end_at_one) {
  const auto second_directory = directory_ / "second";
  std::filesystem::create_directory(second_directory);
  open();
  auto other = parse_config("version: 1\nstate: {path: " + second_directory.string() +
                                "}\nstreams:\n  - {name: b, order: arrival}\n",
                            "f.yaml");
  ASSERT_TRUE(other);
  auto second = app::open(*other);
  ASSERT_TRUE(second);
  std::atomic<int> ended{0};
  const auto run = [&ended](app& a) {
    EXPECT_TRUE(a.run(until_signal()));
    ++ended;
  };
  std::thread first_owner{[&] { run(*app_); }};
  std::thread second_owner{[&] { run(*second); }};
  // Both take transactions: both run.
  ASSERT_TRUE(transact("c", "1"));
  for (int i = 0; i < 500; ++i) {
    if (second->transact("b", "c", "1", count_up)) break;
    std::this_thread::sleep_for(milliseconds{10});
  }
  EXPECT_EQ(ended, 0);
  ::kill(::getpid(), SIGTERM);
  first_owner.join();
  second_owner.join();
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace ratchet::testing
