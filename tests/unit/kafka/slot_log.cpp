// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What every slot_log promises: the one on Kafka, over the embedded broker, and the one in memory, with which
// tests and the simulator work.
#include "ports/slot_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kafka/embedded_broker.hpp"
#include "kafka/kafka_slot_log.hpp"
#include "support/kafka_testing.hpp"
#include "support/log_instance.hpp"
#include "support/memory_slot_log.hpp"

namespace ratchet::testing {
namespace {

/// A log, and what happens to it from outside.
class surroundings {
 public:
  virtual ~surroundings() = default;
  virtual std::unique_ptr<slot_log> open(std::size_t queue_bytes = std::size_t{64} << 20) = 0;
  /// By somebody else.
  virtual void append(const std::string& value) = 0;
  virtual void set_led(bool) = 0;
};

class in_memory final : public surroundings {
 public:
  std::unique_ptr<slot_log> open(std::size_t queue_bytes) override {
    auto made = std::make_unique<memory_slot_log>(log_);
    made->room = queue_bytes;
    return made;
  }
  void append(const std::string& value) override { log_.append(value); }
  void set_led(bool led) override { log_.set_led(led); }

 private:
  memory_log log_;
};

class embedded final : public surroundings {
 public:
  embedded() { EXPECT_TRUE(broker_->create_topic("log", 2)); }
  std::unique_ptr<slot_log> open(std::size_t queue_bytes) override {
    kafka_slot_log_options with;
    with.queue_bytes = queue_bytes;
    auto made = make_kafka_slot_log({{broker_->bootstrap()}, "", {}}, at("log", 1), with);
    EXPECT_TRUE(made) << to_text(made.error());
    return std::move(made).value();
  }
  void append(const std::string& value) override {
    if (producer_ == nullptr) producer_ = std::move(record_producer::make(broker_->bootstrap())).value();
    EXPECT_TRUE(producer_->send("log", partition_id{1}, std::nullopt, value));
    EXPECT_TRUE(producer_->flush(k_patience));
  }
  void set_led(bool led) override { EXPECT_TRUE(broker_->set_led("log", 1, led)); }

 private:
  std::unique_ptr<embedded_broker> broker_ = embedded_broker::start().value();
  std::unique_ptr<record_producer> producer_;
};

using make_surroundings = std::unique_ptr<surroundings> (*)();

class a_slot_log : public ::testing::TestWithParam<make_surroundings> {
 protected:
  static replicate::append_request request(std::uint64_t writer, std::uint64_t step) {
    return {{writer, step, 0}, "w" + std::to_string(writer) + "s" + std::to_string(step)};
  }
  /// Waits for so many reports.
  static std::vector<append_report> wait_for_reports(slot_log& log, std::size_t count) {
    std::vector<append_report> all;
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (all.size() < count && std::chrono::steady_clock::now() < deadline) {
      for (const append_report& each : log.reports()) all.push_back(each);
      if (all.size() < count) log.wait(50ms);
    }
    return all;
  }
  struct seen {
    std::vector<std::pair<std::int64_t, std::string>> entries;
    std::int64_t next{0};
    log_read::state at{log_read::state::going_on};
  };
  /// Reads from `range.first` on as an owner does, until the log is at its end, out of range, or the range is
  /// done.
  static seen read(slot_log& log, replicate::read_range range) {
    seen out;
    out.next = range.first;
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (std::chrono::steady_clock::now() < deadline) {
      range.first = out.next;
      if (range.last && range.first > *range.last) return out;
      const auto got = log.read(range);
      if (!got) {
        ADD_FAILURE() << got.error().message();
        return out;
      }
      for (const slot_record& each : got.value().entries) {
        out.entries.emplace_back(each.offset, std::string{each.bytes});
        out.next = each.offset + 1;
      }
      out.next = std::max(out.next, got.value().through + 1);
      out.at = got.value().at;
      if (out.at == log_read::state::out_of_range) return out;
      if (out.at == log_read::state::at_end && !range.last) return out;
      log.wait(50ms);
    }
    ADD_FAILURE() << "it does not come to an end";
    return out;
  }
  using entries = std::vector<std::pair<std::int64_t, std::string>>;

  std::unique_ptr<surroundings> around_{GetParam()()};
};

INSTANTIATE_TEST_SUITE_P(
    of, a_slot_log,
    ::testing::Values([]() -> std::unique_ptr<surroundings> { return std::make_unique<in_memory>(); },
                      []() -> std::unique_ptr<surroundings> { return std::make_unique<embedded>(); }),
    [](const auto& which) { return which.index == 0 ? "memory" : "kafka"; });

TEST_P(a_slot_log, reports_where_records_are_in_their_order) {
  around_->append("somebody's");
  auto log = around_->open();
  for (std::uint64_t step = 0; step < 20; ++step) log->append(request(7, step));
  const auto reports = wait_for_reports(*log, 20);
  ASSERT_EQ(reports.size(), 20U);
  for (std::uint64_t step = 0; step < 20; ++step) {
    EXPECT_EQ(reports[step].ticket, (replicate::append_ticket{7, step, 0}));
    EXPECT_EQ(reports[step].offset, static_cast<std::int64_t>(step) + 1);
    EXPECT_FALSE(reports[step].failed);
  }
}

TEST_P(a_slot_log, reads_from_an_offset_to_the_end_and_goes_on) {
  for (const char* value : {"a", "b", "c"}) around_->append(value);
  auto log = around_->open();
  auto got = read(*log, {1, {}});
  EXPECT_EQ(got.entries, (entries{{1, "b"}, {2, "c"}}));
  EXPECT_EQ(got.next, 3);
  EXPECT_EQ(got.at, log_read::state::at_end);
  around_->append("d");
  got = read(*log, {3, 3});
  EXPECT_EQ(got.entries, (entries{{3, "d"}}));
}

TEST_P(a_slot_log, is_at_its_end_where_there_is_nothing_yet) {
  auto log = around_->open();
  auto got = read(*log, {0, {}});
  EXPECT_EQ(got.entries, entries{});
  EXPECT_EQ(got.next, 0);
  EXPECT_EQ(got.at, log_read::state::at_end);
}

TEST_P(a_slot_log, gives_nothing_beyond_the_last_offset_that_was_asked_for) {
  around_->append("a");
  auto log = around_->open();
  // Together, so that they come with one fetch.
  around_->set_led(false);
  for (std::uint64_t step = 0; step < 3; ++step) log->append(request(7, step));
  around_->set_led(true);
  ASSERT_EQ(wait_for_reports(*log, 3).size(), 3U);
  EXPECT_EQ(read(*log, {0, 0}).entries, (entries{{0, "a"}}));
  EXPECT_EQ(read(*log, {1, 1}).entries, (entries{{1, "w7s0"}}));
  EXPECT_EQ(read(*log, {2, 3}).entries, (entries{{2, "w7s1"}, {3, "w7s2"}}));
  log->stop_reading();
  EXPECT_EQ(read(*log, {2, {}}).entries, (entries{{2, "w7s1"}, {3, "w7s2"}}));
}

TEST_P(a_slot_log, begins_anew_at_another_offset) {
  for (const char* value : {"a", "b", "c"}) around_->append(value);
  auto log = around_->open();
  EXPECT_EQ(read(*log, {0, {}}).entries.size(), 3U);
  EXPECT_EQ(read(*log, {1, {}}).entries, (entries{{1, "b"}, {2, "c"}}));
  EXPECT_EQ(read(*log, {0, 0}).entries, (entries{{0, "a"}}));
}

TEST_P(a_slot_log, answers_that_an_offset_is_out_of_its_range_and_never_takes_another) {
  around_->append("a");
  auto log = around_->open();
  EXPECT_EQ(read(*log, {5, {}}).at, log_read::state::out_of_range);
  EXPECT_EQ(read(*log, {5, {}}).at, log_read::state::out_of_range) << "the same again";
  EXPECT_EQ(read(*log, {0, {}}).entries, (entries{{0, "a"}}));
}

TEST_P(a_slot_log, tells_the_bounds_with_what_was_known_when_it_was_asked) {
  around_->append("a");
  auto log = around_->open();
  EXPECT_FALSE(log->take_bounds());
  log->ask_bounds(41);
  log->ask_bounds(42);  // passed over
  std::optional<result<told_bounds>> told;
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  while (!told && std::chrono::steady_clock::now() < deadline) {
    told = log->take_bounds();
    if (!told) log->wait(10ms);
  }
  ASSERT_TRUE(told);
  ASSERT_TRUE(*told) << told->error().message();
  EXPECT_EQ(told->value().known, 41);
  EXPECT_EQ(told->value().first, 0);
  EXPECT_EQ(told->value().end, 1);
  EXPECT_FALSE(log->take_bounds()) << "once";
}

TEST_P(a_slot_log, waits_for_a_leader) {
  around_->append("a");
  auto log = around_->open();
  EXPECT_EQ(read(*log, {0, {}}).entries.size(), 1U);
  around_->set_led(false);
  log->append(request(7, 0));
  log->append(request(7, 1));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(log->reports().empty());
    const auto got = log->read({1, {}});
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_TRUE(got.value().entries.empty());
    log->wait(20ms);
  }
  around_->set_led(true);
  const auto reports = wait_for_reports(*log, 2);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_FALSE(reports[0].failed || reports[1].failed);
  EXPECT_EQ(read(*log, {1, 2}).entries, (entries{{1, "w7s0"}, {2, "w7s1"}}));
}

TEST_P(a_slot_log, gives_up_what_is_under_way_for_a_new_writer) {
  around_->append("a");
  auto log = around_->open();
  around_->set_led(false);
  for (std::uint64_t step = 0; step < 3; ++step) log->append(request(7, step));
  EXPECT_TRUE(log->reports().empty());
  log->append(request(8, 0));
  log->append(request(8, 1));
  around_->set_led(true);
  const auto reports = wait_for_reports(*log, 2);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].ticket, (replicate::append_ticket{8, 0, 0}));
  EXPECT_EQ(reports[1].ticket, (replicate::append_ticket{8, 1, 0}));
}

TEST_P(a_slot_log, has_no_room_while_too_much_is_under_way) {
  auto log = around_->open(8);
  EXPECT_TRUE(log->has_room());
  around_->set_led(false);
  log->append(request(7, 0));
  EXPECT_TRUE(log->has_room());
  log->append(request(7, 1));
  EXPECT_FALSE(log->has_room());
  log->append(request(7, 2));  // the rest of a step is taken all the same
  around_->set_led(true);
  EXPECT_EQ(wait_for_reports(*log, 3).size(), 3U);
  EXPECT_TRUE(log->has_room());
}

TEST_P(a_slot_log, tells_of_progress) {
  auto log = around_->open();
  EXPECT_EQ(read(*log, {0, {}}).at, log_read::state::at_end);
  std::atomic<int> told{0};
  log->on_progress([&told] { ++told; });
  around_->append("a");
  EXPECT_EQ(read(*log, {0, 0}).entries, (entries{{0, "a"}}));
  EXPECT_GT(told, 0);
  log->on_progress({});
  const int before = told;
  around_->append("b");
  EXPECT_EQ(read(*log, {1, 1}).entries, (entries{{1, "b"}}));
  EXPECT_EQ(told, before);
}

TEST_P(a_slot_log, serves_an_owner_and_a_standby_who_take_over_from_each_other) {
  log_instance one{around_->open(), 1, {}, 64};
  log_instance two{around_->open(), 2, {}, 64};
  const std::vector<log_instance*> both{&one, &two};
  const auto confirmed = [&](std::uint64_t step) { return one.step() == step && two.step() == step; };
  one.claim_is_taken = false;  // once another has it
  one.owner().assigned(1);
  ASSERT_TRUE(take_turns(both, [&] { return one.phase() == "leading"; })) << one.phase() << one.refused();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(one.make("k" + std::to_string(i), std::string(static_cast<std::size_t>(i) * 30, 'x')));
  }
  ASSERT_TRUE(take_turns(both, [&] { return confirmed(10); })) << one.step() << " " << two.step();
  EXPECT_EQ(one.chain(), two.chain());
  around_->append("not a record of this log");
  two.owner().assigned(2);
  ASSERT_TRUE(take_turns({&two}, [&] { return two.phase() == "leading"; })) << two.phase() << two.refused();
  ASSERT_TRUE(two.make("by", "two"));
  ASSERT_TRUE(one.make("by", "one, who does not know yet"));
  ASSERT_TRUE(take_turns(both, [&] { return two.step() == 11 && one.phase() != "leading"; }));
  one.owner().unassigned();
  ASSERT_TRUE(take_turns(both, [&] { return confirmed(11); })) << one.step() << " " << two.step();
  EXPECT_EQ(one.chain(), two.chain());
  EXPECT_EQ(one.dropped, 1U);
  ASSERT_EQ(one.applied.size(), 11U);
  for (const auto& [step, applied] : one.applied) {
    EXPECT_EQ(two.applied[step].chain, applied.chain);
    EXPECT_EQ(two.applied[step].rows, applied.rows);
  }
  EXPECT_EQ(one.failures, std::vector<std::error_code>{});
  EXPECT_EQ(two.failures, std::vector<std::error_code>{});
}

}  // namespace
}  // namespace ratchet::testing
