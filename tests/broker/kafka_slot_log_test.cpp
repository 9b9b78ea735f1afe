// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The replicated log on a real Kafka: owners and readers over the port, and nothing between.
#include "kafka/kafka_slot_log.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "broker/kafka_fixture.hpp"
#include "broker/topic_reader.hpp"
#include "core/hex.hpp"
#include "kafka/admin.hpp"
#include "support/kafka_testing.hpp"
#include "support/log_instance.hpp"
#include "support/replicate_log_file.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet::testing {
namespace {

using replicate::fate;

std::unique_ptr<log_instance> start(const std::string& brokers, const std::string& topic, std::uint64_t name,
                                    const replicate::log_position& from = {},
                                    const std::string& compression = "lz4") {
  kafka_slot_log_options with;
  with.compression = compression;
  auto log = make_kafka_slot_log({{brokers}, "", {}}, at(topic, 0), with);
  if (!log) throw std::runtime_error{to_text(log.error())};
  return std::make_unique<log_instance>(std::move(log).value(), name, from);
}

/// Rows that compress about as snapshots do.
std::string rows_of_size(std::size_t size, unsigned seed) {
  replicate::row_buffer rows;
  for (std::size_t made = 0, i = 0; made < size; ++i) {
    std::string value(std::min<std::size_t>(size - made, 4000), ' ');
    for (char& each : value) {
      seed = seed * 1664525U + 1013904223U;
      each = static_cast<char>('a' + (seed >> 28U));
    }
    made += value.size();
    rows.put(1, "k" + std::to_string(i), value);
  }
  return rows.release();
}

/// Follows the log from its start to its end, and gives up where it is refused.
std::unique_ptr<log_instance> plain_reader(const std::string& brokers, const std::string& topic) {
  auto reader = start(brokers, topic, 99);
  const auto end = log_bounds_of(brokers, at(topic, 0));
  if (!end) throw std::system_error{end.error()};
  EXPECT_TRUE(take_turns(
      {reader.get()},
      [&] { return reader->owner().reader().next_offset() >= end.value().end || reader->refused() != "no"; }))
      << "at offset " << reader->owner().reader().next_offset();
  return reader;
}

/// What tools/slot-log says at the end of the log: the last step and its chain.
std::string judged_by_tool(const std::string& brokers, const std::string& topic) {
  replicate::log_file file;
  std::int64_t next = 0;
  for (const read_record& each : read_partition(brokers, at(topic, 0))) {
    for (; next < each.offset; ++next) file.skip();
    file.add(each.value.value_or(""));
    ++next;
  }
  const support::temporary_directory files;
  const std::string path = files.path() / "log";
  std::ofstream{path, std::ios::binary} << file.bytes();
  const std::string command = RATCHET_SOURCE_DIR "/tools/slot-log --judge --slot " +
                              std::to_string(replicate::testing::k_slot) + " --layout " +
                              std::to_string(replicate::testing::k_layout) + " " + path;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen(command.c_str(), "r"), &::pclose};
  std::string printed;
  std::array<char, 4096> bytes{};
  for (std::size_t size = 0; (size = std::fread(bytes.data(), 1, bytes.size(), pipe.get())) > 0;) {
    printed.append(bytes.data(), size);
  }
  while (!printed.empty() && printed.back() == '\n') printed.pop_back();
  const std::size_t chain = printed.rfind(' ');
  if (chain == std::string::npos || chain == 0) return printed;
  return printed.substr(printed.rfind(' ', chain - 1) + 1);
}

std::string end_of(log_instance& of) {
  return std::to_string(of.step()) + " " + to_hex(of.chain());
}

class a_slot_log_on_kafka : public ::testing::Test {
 protected:
  void make_topic() { ASSERT_TRUE(create_topic(brokers_, topic_, 1, {{"retention.ms", "-1"}})); }
  void lead(log_instance& of, std::uint32_t generation, const std::vector<log_instance*>& with = {}) {
    of.owner().assigned(generation);
    std::vector<log_instance*> all{&of};
    all.insert(all.end(), with.begin(), with.end());
    ASSERT_TRUE(take_turns(all, [&] { return of.phase() == "leading"; })) << of.phase() << of.refused();
  }
  std::string brokers_ = shared_brokers();
  std::string topic_ = fresh_name("slots");
};

TEST_F(a_slot_log_on_kafka, gives_a_standby_the_owners_history_and_a_third_program_agrees) {
  make_topic();
  auto owner = start(brokers_, topic_, 1, {}, "none");
  auto standby = start(brokers_, topic_, 2);
  lead(*owner, 1, {standby.get()});
  // Of none, one and several records.
  const std::vector<std::size_t> sizes{0, 300, 100'000, 600'000, 3'000'000, 1, 1'048'576};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ASSERT_TRUE(owner->make(rows_of_size(sizes[i], static_cast<unsigned>(i))));
  }
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(owner->make("k" + std::to_string(i % 50), std::to_string(i)));
  const std::uint64_t made = owner->owner().made_step();
  EXPECT_EQ(made, sizes.size() + 500);
  ASSERT_TRUE(take_turns({owner.get(), standby.get()},
                         [&] { return owner->step() == made && standby->step() == made; }))
      << owner->step() << " " << standby->step() << " " << standby->refused();
  EXPECT_EQ(standby->chain(), owner->chain());
  for (const auto& [step, applied] : owner->applied) {
    ASSERT_EQ(standby->applied[step].rows, applied.rows) << step;
    EXPECT_TRUE(applied.own);
  }
  EXPECT_EQ(judged_by_tool(brokers_, topic_), end_of(*owner));
}

TEST_F(a_slot_log_on_kafka, has_one_history_whoever_the_group_names_and_however_late_they_hear_of_it) {
  make_topic();
  std::vector<std::unique_ptr<log_instance>> all;
  for (std::uint64_t name = 1; name <= 3; ++name) all.push_back(start(brokers_, topic_, name));
  const std::vector<log_instance*> turns{all[0].get(), all[1].get(), all[2].get()};
  for (std::uint32_t generation = 1; generation <= 12; ++generation) {
    log_instance& next = *all[generation % 3];
    for (const auto& each : all) each->claim_is_taken = each.get() == &next;
    lead(next, generation);
    // Those before it have not heard yet, and go on.
    for (int i = 0; i < 20; ++i) {
      for (const auto& each : all) {
        (void)each->make("by " + std::to_string(generation), std::to_string(i));
        each->turn();
      }
    }
    const std::uint64_t made = next.owner().made_step();
    ASSERT_TRUE(take_turns(turns, [&] { return next.step() >= made; })) << next.phase() << next.refused();
    for (const auto& each : all) {
      if (each.get() != &next) each->owner().unassigned();
    }
  }
  const std::uint64_t last = all[0]->step();
  ASSERT_TRUE(take_turns(turns, [&] {
    return all[1]->step() >= last && all[0]->step() == all[1]->step() && all[1]->step() == all[2]->step();
  }));
  const auto reader = plain_reader(brokers_, topic_);
  EXPECT_EQ(reader->refused(), "no");
  for (const auto& each : all) {
    EXPECT_EQ(each->refused(), "no");
    EXPECT_EQ(end_of(*each), end_of(*reader));
    for (const auto& [step, applied] : each->applied) {
      EXPECT_EQ(reader->applied[step].chain, applied.chain) << step;
    }
  }
  EXPECT_GT(reader->owner().reader().count_of(fate::zombie), 0U);
  EXPECT_EQ(judged_by_tool(brokers_, topic_), end_of(*reader));
}

constexpr const char* k_zombie = "RATCHET_TEST_ZOMBIE";  // brokers, topic, and a file for what it was told

/// Not a test: another process's owner. It leads in generation 1 and makes steps until it leads no more.
TEST(a_zombie, DISABLED_makes_steps) {
  const char* given = std::getenv(k_zombie);
  if (given == nullptr) GTEST_SKIP() << "run by another test";
  std::string brokers;
  std::string topic;
  std::string told;
  std::istringstream{given} >> brokers >> topic >> told;
  auto owner = start(brokers, topic, 50);
  owner->claim_is_taken = false;
  owner->owner().assigned(1);
  ASSERT_TRUE(take_turns({owner.get()}, [&] { return owner->phase() == "leading"; }));
  std::ofstream out{told};
  std::uint64_t written = 0;
  const auto deadline = std::chrono::steady_clock::now() + k_patience;
  for (int made = 0; std::chrono::steady_clock::now() < deadline && owner->phase() == "leading"; ++made) {
    if (owner->owner().pending_steps() < 200) (void)owner->make("zombie's", std::to_string(made));
    owner->turn();
    for (; written < owner->step(); ++written) {
      out << written + 1 << " " << to_hex(owner->applied[written + 1].chain) << "\n" << std::flush;
    }
  }
  EXPECT_TRUE(take_turns({owner.get()}, [&] { return owner->phase() == "late"; }))
      << owner->phase() << owner->refused();
}

TEST_F(a_slot_log_on_kafka, passes_over_what_a_process_appends_that_stood_still_while_another_took_over) {
  make_topic();
  const support::temporary_directory files;
  const std::string told = files.path() / "told";
  const std::string setting = std::string{k_zombie} + "=" + brokers_ + " " + topic_ + " " + told;
  std::vector<char*> environment;
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  environment.push_back(const_cast<char*>(setting.c_str()));
  environment.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=a_zombie.*";
  std::string disabled = "--gtest_also_run_disabled_tests";
  std::array<char*, 4> arguments{program.data(), filter.data(), disabled.data(), nullptr};
  pid_t zombie = -1;
  ASSERT_EQ(posix_spawn(&zombie, program.c_str(), nullptr, nullptr, arguments.data(), environment.data()), 0);
  struct reaper {
    pid_t pid;
    ~reaper() {
      if (pid <= 0) return;
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  } reap{zombie};

  auto successor = start(brokers_, topic_, 2);
  ASSERT_TRUE(take_turns({successor.get()}, [&] { return successor->step() > 300; }));
  ASSERT_EQ(kill(zombie, SIGSTOP), 0);
  lead(*successor, 2);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(successor->make("successor's", std::to_string(i)));
  const std::uint64_t made = successor->owner().made_step();
  ASSERT_TRUE(take_turns({successor.get()}, [&] { return successor->step() == made; }));
  ASSERT_EQ(kill(zombie, SIGCONT), 0);
  int status = 0;
  ASSERT_EQ(waitpid(zombie, &status, 0), zombie);
  reap.pid = -1;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;

  ASSERT_TRUE(successor->make("successor's", "last"));
  ASSERT_TRUE(take_turns({successor.get()}, [&] { return successor->step() == made + 1; }))
      << successor->phase() << successor->refused();
  const auto reader = plain_reader(brokers_, topic_);
  EXPECT_EQ(end_of(*reader), end_of(*successor));
  EXPECT_GT(reader->owner().reader().count_of(fate::zombie), 0U);
  EXPECT_EQ(judged_by_tool(brokers_, topic_), end_of(*successor));
  // What the zombie was told as confirmed, before and after, is there for ever.
  std::ifstream in{told};
  std::uint64_t step = 0;
  std::string chain;
  std::size_t count = 0;
  while (in >> step >> chain) {
    ++count;
    EXPECT_EQ(to_hex(reader->applied[step].chain), chain) << step;
  }
  EXPECT_GT(count, 0U);
}

TEST_F(a_slot_log_on_kafka, goes_on_where_records_below_the_position_are_deleted) {
  make_topic();
  auto owner = start(brokers_, topic_, 1);
  auto standby = start(brokers_, topic_, 2);
  const std::vector<log_instance*> both{owner.get(), standby.get()};
  lead(*owner, 1, {standby.get()});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(owner->make("k", std::to_string(i)));
  ASSERT_TRUE(take_turns(both, [&] { return owner->step() == 20 && standby->step() == 20; }));
  const replicate::log_position at_20 = standby->owner().reader().position();
  ASSERT_TRUE(delete_records(brokers_, at(topic_, 0), at_20.offset));
  ASSERT_TRUE(owner->make("k", "behind"));
  ASSERT_TRUE(take_turns(both, [&] { return owner->step() == 21 && standby->step() == 21; }))
      << standby->refused();
  // One that comes back to a position which is still there, and one whose position is not.
  auto back = start(brokers_, topic_, 3, at_20);
  ASSERT_TRUE(take_turns({back.get()}, [&] { return back->step() == 21; })) << back->refused();
  EXPECT_EQ(end_of(*back), end_of(*owner));
  ASSERT_TRUE(delete_records(brokers_, at(topic_, 0), at_20.offset + 1));
  auto too_late = start(brokers_, topic_, 4, at_20);
  ASSERT_TRUE(take_turns({too_late.get()}, [&] { return too_late->phase() == "stopped"; }));
  EXPECT_EQ(too_late->refused(), "begins_later");
  auto empty = start(brokers_, topic_, 5);
  ASSERT_TRUE(take_turns({empty.get()}, [&] { return empty->phase() == "stopped"; }));
  EXPECT_EQ(empty->refused(), "begins_later");
}

TEST_F(a_slot_log_on_kafka, stops_a_standby_where_the_topic_was_deleted_and_made_anew) {
  make_topic();
  auto owner = start(brokers_, topic_, 1);
  auto standby = start(brokers_, topic_, 2);
  const std::vector<log_instance*> both{owner.get(), standby.get()};
  lead(*owner, 1, {standby.get()});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(owner->make("k", std::to_string(i)));
  ASSERT_TRUE(take_turns(both, [&] { return owner->step() == 5 && standby->step() == 5; }));
  ASSERT_TRUE(delete_topic(brokers_, topic_));
  ASSERT_TRUE(take_turns(both, [&] { return !standby->failures.empty(); }));
  EXPECT_EQ(standby->failures.front(), errc::topic_missing);
  EXPECT_EQ(standby->phase(), "standby");
  make_topic();
  produce(brokers_, topic_, 0, 0, 100);
  ASSERT_TRUE(take_turns(both, [&] { return standby->phase() == "stopped"; }));
  EXPECT_EQ(standby->refused(), "other_record");
}

TEST(a_slot_log_on_a_broker_of_its_own, goes_on_over_a_restart_and_a_broker_that_stands_still) {
  local_broker broker;
  const std::string brokers = broker.bootstrap();
  ASSERT_TRUE(create_topic(brokers, "slots", 1));
  auto owner = start(brokers, "slots", 1);
  auto standby = start(brokers, "slots", 2);
  const std::vector<log_instance*> both{owner.get(), standby.get()};
  owner->owner().assigned(1);
  ASSERT_TRUE(take_turns(both, [&] { return owner->phase() == "leading"; }))
      << owner->phase() << owner->refused() << owner->failures.size() << " "
      << owner->log().take_complaint().value_or(complaint{}).text << " "
      << (owner->failures.empty() ? "" : owner->failures.back().message());
  const auto make = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(owner->make("k" + std::to_string(i % 7), std::string(static_cast<std::size_t>(i), 'x')));
      owner->turn();
    }
  };
  const auto all_confirmed = [&] {
    return owner->owner().pending_steps() == 0 && standby->step() == owner->step();
  };
  make(200);
  broker.kill();
  make(200);
  EXPECT_GT(owner->owner().pending_steps(), 0U);
  broker.start();
  ASSERT_TRUE(take_turns(both, all_confirmed)) << owner->phase() << standby->step();
  make(200);
  broker.pause();
  make(200);
  for (int i = 0; i < 100; ++i) {
    for (log_instance* each : both) each->turn();
    owner->log().wait(5ms);
  }
  EXPECT_GT(owner->owner().pending_steps(), 0U);
  broker.resume();
  ASSERT_TRUE(take_turns(both, all_confirmed)) << owner->phase() << standby->step();
  EXPECT_EQ(owner->step(), 800U);
  EXPECT_EQ(owner->dropped, 0U);
  EXPECT_EQ(end_of(*standby), end_of(*owner));
  // Somebody's transaction leaves an offset without a record.
  broker.run(
      "org.apache.kafka.tools.ProducerPerformance --topic slots --num-records 10 --record-size 20 "
      "--throughput -1 --transactional-id x --transaction-duration-ms 60000 --producer-props "
      "bootstrap.servers=" +
      brokers);
  make(5);
  ASSERT_TRUE(take_turns(both, all_confirmed)) << owner->phase() << owner->refused();
  EXPECT_EQ(owner->step(), 805U);
  EXPECT_EQ(owner->dropped, 0U);
  EXPECT_EQ(end_of(*standby), end_of(*owner));
  EXPECT_EQ(judged_by_tool(brokers, "slots"), end_of(*owner));
}

}  // namespace
}  // namespace ratchet::testing
