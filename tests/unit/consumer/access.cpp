// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a person is told of topics that the brokers do not let this user use.
#include "consumer/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ratchet {
namespace {

using ::testing::HasSubstr;

kafka_config brokers() {
  kafka_config config;
  config.brokers = {"b:9092"};
  config.properties["sasl.username"] = "ann";
  return config;
}

TEST(refused_topics, say_which_right_is_missing) {
  const std::vector<std::string> topics{"a", "b"};
  const problem written = describe_refused_topics(topic_use::written, "denied", brokers(), topics);
  EXPECT_EQ(written.code, make_error_code(errc::access_denied));
  EXPECT_THAT(written.message, HasSubstr("may not write to the topics `a`, `b`: denied"));
  EXPECT_THAT(written.hint, HasSubstr("--allow-principal User:ann --operation Write --topic a --topic b"));
  const problem read = describe_refusal(access_kind::topic, "denied", brokers(), topics);
  EXPECT_THAT(read.message, HasSubstr("may not read the topics `a`, `b`: denied"));
  EXPECT_THAT(read.hint, HasSubstr("--operation Read --topic a --topic b"));
}

TEST(refused_topics, are_the_one_that_the_brokers_name) {
  const std::vector<std::string> topics{"a", "b"};
  const problem told = describe_refusal(access_kind::topic, "denied", brokers(), topics, "a.log");
  EXPECT_THAT(told.message, HasSubstr("may not read the topic `a.log`: denied"));
  EXPECT_TRUE(told.hint.ends_with("--operation Read --topic a.log")) << told.hint;
}

TEST(refused_topics, name_a_command_that_a_shell_takes_whatever_the_names) {
  kafka_config config = brokers();
  config.properties["sasl.username"] = "CN=ann, O=it's";
  config.group = "a group";
  const std::vector<std::string> topics{"t"};
  EXPECT_THAT(describe_refusal(access_kind::group, "denied", config, topics).hint,
              HasSubstr(R"(--allow-principal 'User:CN=ann, O=it'\''s' --operation Read --group 'a group')"));
}

}  // namespace
}  // namespace ratchet
