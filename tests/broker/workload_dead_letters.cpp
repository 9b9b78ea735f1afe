// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The topics that are told of records that were not handled, by the real binary on a real broker.
#include <set>

#include "broker/topic_feed.hpp"
#include "broker/topic_reader.hpp"
#include "broker/workload_matrix.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_topic_partitions = 2;

std::string big_endian_text(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(number >> (8 * i) & 0xFFU));
  return text;
}

struct told_job {
  explicit told_job(const std::map<std::string, std::string>& of_letters = {}) {
    for (const std::string& topic : {letters(), answers()}) {
      const auto made = create_topic(job.target().brokers, topic, k_topic_partitions,
                                     topic == letters() ? of_letters : std::map<std::string, std::string>{});
      if (!made) throw std::system_error{made.error()};
    }
    job.write_config(
        "    envelope: {format: json, aggregate: /p, sequence: /n, type: /t}\n    order: strict\n"
        "    dedup: off\n    poison: off\n"
        "    reducer: {kind: flaky, from: /v, fail: [{type: bad, how: give_up}]}\n"
        "    dead_letter: {topic: " +
        letters() + "}\n    rejections: {topic: " + answers() + "}\n");
    feed.emplace(job, std::map<std::string, std::string>{{"message.max.bytes", "2000000"}});
  }
  ~told_job() {
    for (const std::string& topic : {letters(), answers()}) (void)delete_topic(job.target().brokers, topic);
  }
  told_job(const told_job&) = delete;
  told_job& operator=(const told_job&) = delete;

  [[nodiscard]] std::string letters() const { return job.target().topic + ".dlq"; }
  [[nodiscard]] std::string answers() const { return job.target().topic + ".rejections"; }

  void send(int partition, const std::string& key, const std::string& value) {
    constexpr header k_header{"trace", "abc"};
    feed->send(partition, key, value, std::span{&k_header, 1}, time);
  }
  void flush() { feed->flush(); }
  [[nodiscard]] std::vector<read_record> told(const std::string& topic) const {
    std::vector<read_record> all;
    for (int p = 0; p < k_topic_partitions; ++p) {
      for (read_record& r : read_partition(job.target().brokers, at(topic, p))) all.push_back(std::move(r));
    }
    return all;
  }

  /// Not one of long ago: the broker's retention would take the records away.
  const timestamp time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  main_job job;
  std::optional<topic_feed> feed;
};

TEST(dead_letters, come_to_their_topics_at_least_once_and_with_one_id_under_kills) {
  told_job t;
  // Of each ten records one is no JSON, one is of an aggregate that is dead at once, and eight are fine.
  constexpr int k_rounds = 200;
  constexpr int k_of_a_round = 10;
  int sent = 0;
  std::map<int, std::int64_t> next;
  std::set<std::pair<int, std::int64_t>> rejected;
  std::set<std::pair<int, std::int64_t>> dead;
  for (int kill = 0; kill < 4; ++kill) {
    for (int round = 0; round < k_rounds / 4; ++round, ++sent) {
      const std::string number = std::to_string(sent);
      for (int i = 0; i < k_of_a_round; ++i) {
        const int partition = (sent + i) % static_cast<int>(main_job::k_partitions);
        const std::int64_t offset = next[partition]++;
        if (i == 3) {
          t.send(partition, "k" + number, "no JSON " + number);
          rejected.emplace(partition, offset);
        } else if (i == 7) {
          t.send(partition, "d" + number, R"({"p":"d)" + number + R"(","n":1,"t":"bad","v":1})");
          dead.emplace(partition, offset);
        } else {
          const std::string name = "a" + number + "-" + std::to_string(i);
          t.send(partition, name, R"({"p":")" + name + R"(","n":1,"t":"x","v":1})");
        }
      }
    }
    t.flush();
    auto daemon = t.job.start_daemon();
    const auto enough = static_cast<std::uint64_t>((kill * 5 + 3) * k_rounds * k_of_a_round / 4 / 5);
    ASSERT_TRUE(eventually([&] { return t.job.consumed() >= enough; })) << read_whole(t.job.log());
    ASSERT_TRUE(daemon.signal(SIGKILL));
    EXPECT_EQ(daemon.wait(k_patience), 128 + SIGKILL);
    const auto verified = t.job.run({"verify"});
    EXPECT_EQ(verified.code, 0) << verified.output;
  }
  const auto done = t.job.run_until_end();
  ASSERT_EQ(done.code, 0) << done.output;
  const auto found = t.job.run({"status", "--output", "json"}).json();
  EXPECT_EQ(found.get<int>("outbox.messages"), 0) << "all of it was sent";
  EXPECT_EQ(found.get<std::size_t>("streams.payments.verdicts.rejected"), rejected.size());
  EXPECT_EQ(found.get<std::size_t>("streams.payments.waiting.dead"), dead.size());

  std::map<std::string, read_record> by_id;
  std::set<std::pair<int, std::int64_t>> letters_of_rejected;
  std::set<std::pair<int, std::int64_t>> letters_of_dead;
  for (const read_record& r : t.told(t.letters())) {
    const auto [first, fresh] = by_id.emplace(r.header("ratchet-id"), r);
    EXPECT_TRUE(fresh || (first->second.value == r.value && first->second.headers == r.headers &&
                          first->second.key == r.key && first->second.time == r.time))
        << "a repeat is the same, byte for byte";
    if (!fresh) continue;
    EXPECT_EQ(r.header("kafka_dlt-original-topic"), t.job.target().topic);
    EXPECT_EQ(r.header("trace"), "abc") << "its own headers are kept";
    EXPECT_EQ(r.time, t.time.time_since_epoch().count());
    const bool is_dead = r.header("kafka_dlt-exception-fqcn") == "ratchet.dead";
    for (const auto& place : is_dead ? dead : rejected) {
      if (r.header("kafka_dlt-original-partition") ==
              big_endian_text(static_cast<std::uint64_t>(place.first), 4) &&
          r.header("kafka_dlt-original-offset") ==
              big_endian_text(static_cast<std::uint64_t>(place.second), 8)) {
        (is_dead ? letters_of_dead : letters_of_rejected).insert(place);
      }
    }
  }
  EXPECT_EQ(by_id.size(), rejected.size() + dead.size());
  EXPECT_EQ(letters_of_rejected, rejected);
  EXPECT_EQ(letters_of_dead, dead);
  std::set<std::string> answered;
  for (const read_record& r : t.told(t.answers())) {
    std::istringstream text{r.value.value_or("")};
    json_tree event;
    boost::property_tree::read_json(text, event);
    EXPECT_EQ(event.get<std::string>("type"), "ratchet.event.rejected");
    EXPECT_EQ(event.get<std::string>("data.reason"), "malformed");
    answered.insert(event.get<std::string>("id"));
  }
  EXPECT_EQ(answered.size(), rejected.size());
}

TEST(dead_letters, too_large_for_their_topic_come_without_their_value) {
  told_job t{{{"max.message.bytes", "20000"}}};
  std::string noise;
  std::uint64_t dice = 7;
  while (noise.size() < 100'000) {
    dice = dice * 6364136223846793005U + 1442695040888963407U;
    noise += static_cast<char>('0' + (dice >> 33U) % 75);
  }
  t.send(0, "before", "no JSON before");
  t.send(0, "large", noise);
  t.send(0, "after", "no JSON after");
  t.flush();
  const auto done = t.job.run_until_end();
  ASSERT_EQ(done.code, 0) << done.output;
  std::map<std::string, std::optional<std::string>> values;
  for (const read_record& r : t.told(t.letters())) {
    values[*r.key] = r.value;
    EXPECT_EQ(r.header("ratchet-value-left-out"), *r.key == "large" ? "100000 bytes" : "absent");
  }
  EXPECT_EQ(values, (std::map<std::string, std::optional<std::string>>{
                        {"before", "no JSON before"}, {"large", std::nullopt}, {"after", "no JSON after"}}));
  EXPECT_EQ(t.told(t.answers()).size(), 3U) << "answers hold no values";
}

TEST(dead_letters, wait_for_a_topic_that_was_deleted_while_records_are_handled_on) {
  told_job t;
  auto daemon = t.job.start_daemon();
  std::set<std::string> sent;
  const auto send_more = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const std::string value = "no JSON " + std::to_string(sent.size());
      t.send(0, "k", value);
      sent.insert(value);
    }
    t.flush();
    ASSERT_TRUE(eventually([&] { return t.job.consumed() == sent.size(); })) << read_whole(t.job.log());
  };
  send_more(3);
  const auto outbox = [&](const char* what) { return t.job.status().get<std::string>(what, "absent"); };
  ASSERT_TRUE(eventually([&] { return outbox("outbox.messages") == "0"; })) << read_whole(t.job.log());

  ASSERT_TRUE(delete_topic(t.job.target().brokers, t.letters()));
  send_more(20);
  ASSERT_TRUE(eventually([&] { return outbox("outbox.trouble") != "absent"; })) << read_whole(t.job.log());
  const std::string told = "the topic `" + t.letters() + "` takes no messages";
  expect_in(told, outbox("outbox.trouble"));
  expect_in(told, t.job.run({"status"}).output);
  expect_in(told, read_whole(t.job.log()));
  send_more(20);
  EXPECT_GE(t.job.status().get<int>("outbox.messages"), 40) << "none of them is given up";
  EXPECT_EQ(t.job.status().get<bool>("ready"), true) << "records are handled on";

  ASSERT_TRUE(create_topic(t.job.target().brokers, t.letters(), 1));
  ASSERT_TRUE(eventually([&] { return outbox("outbox.messages") == "0"; })) << read_whole(t.job.log());
  EXPECT_EQ(outbox("outbox.trouble"), "absent");
  expect_in("get through again", read_whole(t.job.log()));
  std::set<std::string> found;
  for (const read_record& r : read_partition(t.job.target().brokers, at(t.letters(), 0)))
    found.insert(r.value.value_or("nothing"));
  EXPECT_EQ(found.size(), 40U);
  EXPECT_TRUE(std::includes(sent.begin(), sent.end(), found.begin(), found.end()));
  EXPECT_EQ(t.told(t.answers()).size(), sent.size()) << "the other topic waits for nobody";
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0);
}

TEST(dead_letters, need_a_topic_that_is_there) {
  told_job t;
  t.send(0, "a", "no JSON");
  t.flush();
  ASSERT_EQ(t.job.run_until_end().code, 0);
  ASSERT_TRUE(delete_topic(t.job.target().brokers, t.letters()));
  const auto refused = t.job.run_until_end();
  EXPECT_EQ(refused.code, 78) << refused.output;
  expect_in("the topic `" + t.letters() + "` does not exist", refused.output);
  ASSERT_TRUE(create_topic(t.job.target().brokers, t.letters(), 1));
  t.send(0, "b", "no JSON either");
  t.flush();
  ASSERT_EQ(t.job.run_until_end().code, 0);
  const auto letters = read_partition(t.job.target().brokers, at(t.letters(), 0));
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_EQ(letters[0].value, "no JSON either");
}

}  // namespace
}  // namespace ratchet::testing
