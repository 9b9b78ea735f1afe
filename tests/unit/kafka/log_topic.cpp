// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/log_topic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "kafka/group_generation.hpp"

namespace ratchet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

log_topic good() {
  return {1, 3, "delete", "-1", "-1", 2, 1'048'588};
}

TEST(log_topic, nothing_is_wrong_with_what_ratchet_makes) {
  EXPECT_THAT(wrong_settings(good()), IsEmpty());
  EXPECT_THAT(risky_settings(good()), IsEmpty());
}

TEST(log_topic, each_setting_by_which_kafka_would_delete_the_state_is_named) {
  log_topic topic = good();
  topic.partitions = 8;
  topic.cleanup_policy = "compact";
  topic.retention_ms = "604800000";
  topic.retention_bytes = "1000";
  EXPECT_THAT(
      wrong_settings(topic),
      ElementsAre("one partition, it has 8 (use another topic)", "cleanup.policy=delete, it has compact",
                  "retention.ms=-1, it has 604800000", "retention.bytes=-1, it has 1000"));
}

TEST(log_topic, a_topic_that_does_not_take_what_a_writer_sends_together_is_named) {
  log_topic topic = good();
  topic.max_message_bytes = 1'048'575;
  EXPECT_THAT(wrong_settings(topic), ElementsAre("max.message.bytes=1048588, it has 1048575"));
  topic.max_message_bytes = 1'048'576;
  EXPECT_THAT(wrong_settings(topic), IsEmpty());
  topic.max_message_bytes = 0;
  EXPECT_THAT(wrong_settings(topic), IsEmpty()) << "the brokers did not say";
}

TEST(log_topic, a_command_changes_what_is_wrong) {
  kafka_config kafka;
  kafka.brokers = {"a:9092", "b:9092"};
  log_topic topic = good();
  EXPECT_EQ(command_to_change(kafka, "p.ratchet", topic), std::nullopt);
  topic.partitions = 2;
  EXPECT_EQ(command_to_change(kafka, "p.ratchet", topic), std::nullopt) << "no setting is";
  topic.retention_ms = "604800000";
  topic.max_message_bytes = 100'000;
  EXPECT_EQ(command_to_change(kafka, "p.ratchet", topic),
            "kafka-configs.sh --bootstrap-server a:9092,b:9092 --alter --entity-type topics --entity-name "
            "p.ratchet --add-config retention.ms=-1,max.message.bytes=1048588");
}

TEST(log_topic, one_copy_is_a_risk) {
  log_topic topic = good();
  topic.replicas = 1;
  topic.min_insync_replicas = 1;
  EXPECT_THAT(risky_settings(topic),
              ElementsAre(HasSubstr("1 replica"), HasSubstr("min.insync.replicas is 1")));
}

TEST(log_topic, its_command_has_all_settings) {
  kafka_config kafka;
  kafka.brokers = {"a:9092", "b:9092"};
  EXPECT_EQ(command_to_make(kafka, "p.ratchet", 3),
            "kafka-topics.sh --bootstrap-server a:9092,b:9092 --create --topic p.ratchet --partitions 1 "
            "--replication-factor 3 --config cleanup.policy=delete --config retention.ms=-1 --config "
            "retention.bytes=-1 --config min.insync.replicas=2 --config max.message.bytes=1048588");
  EXPECT_THAT(command_to_make(kafka, "p.ratchet", 1), HasSubstr("min.insync.replicas=1"));
}

std::string written(std::int32_t generation) {
  std::string bytes = "CGMDv2:";
  bytes.resize(bytes.size() + sizeof generation);
  std::memcpy(bytes.data() + 7, &generation, sizeof generation);
  return bytes + std::string{"group\0member\0", 13};
}

TEST(group_generation, is_in_what_the_client_writes) {
  EXPECT_EQ(generation_in(written(7)), 7U);
  EXPECT_EQ(generation_in(written(-1)), std::nullopt) << "it is no member";
  EXPECT_EQ(generation_in("CGMDv3:" + written(7).substr(7)), std::nullopt);
  EXPECT_EQ(generation_in(written(7).substr(0, 9)), std::nullopt);
}

TEST(log_topic, needs_as_many_brokers_as_replicas) {
  EXPECT_FALSE(too_few_brokers("log", 3, 3));
  const auto few = too_few_brokers("log", 1, 3);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->code, make_error_code(errc::check_failed))
      << "it is no matter of rights, and brokers answer";
  EXPECT_NE(few->message.find("3 replicas need as many brokers, and this cluster has 1 now"),
            std::string::npos);
  EXPECT_NE(few->hint.find("--replicas 1"), std::string::npos) << few->hint;
}

}  // namespace
}  // namespace ratchet
