// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kafka/kafka_error.hpp"
#include "kafka/kafka_source.hpp"
#include "kafka/properties.hpp"
#include "kafka/secret_mask.hpp"
#include "ports/source_condition.hpp"

namespace ratchet {
namespace {

constexpr std::size_t k_mib = std::size_t{1} << 20;

kafka_config with(std::map<std::string, std::string> properties) {
  return {{"a:1", "b:2"}, "g", std::move(properties)};
}

TEST(kafka_properties, refuses_what_the_guarantees_rest_on) {
  for (const char* name : {"enable.auto.commit",
                           "enable.auto.offset.store",
                           "auto.offset.reset",
                           "group.id",
                           "enable.partition.eof",
                           "bootstrap.servers",
                           "metadata.broker.list",
                           "group.instance.id",
                           "rebalance_cb",
                           "transactional.id",
                           "enable.idempotence",
                           "acks",
                           "request.required.acks",
                           "message.timeout.ms",
                           "delivery.timeout.ms",
                           "retries",
                           "message.send.max.retries",
                           "delivery.report.only.error",
                           "plugin.library.paths",
                           "ssl.engine.location"}) {
    const auto reason = refused_property(name, "true");
    ASSERT_TRUE(reason.has_value()) << name;
    EXPECT_FALSE(reason->empty()) << name;
  }
}

TEST(kafka_properties, looks_at_the_value_where_some_values_are_fine) {
  EXPECT_EQ(refused_property("isolation.level", "read_committed"), std::nullopt);
  EXPECT_NE(refused_property("isolation.level", "read_uncommitted"), std::nullopt);
  EXPECT_EQ(refused_property("partition.assignment.strategy", "range"), std::nullopt);
  EXPECT_EQ(refused_property("partition.assignment.strategy", "roundrobin"), std::nullopt);
  EXPECT_NE(refused_property("partition.assignment.strategy", "cooperative-sticky"), std::nullopt);
  EXPECT_NE(refused_property("partition.assignment.strategy", "range,cooperative-sticky"), std::nullopt);
  EXPECT_NE(refused_property("partitioner", "random"), std::nullopt);
  EXPECT_EQ(refused_property("partitioner", "consistent_random"), std::nullopt);
}

TEST(kafka_properties, leaves_the_rest_to_the_user) {
  for (const char* name :
       {"session.timeout.ms", "security.protocol", "sasl.username", "client.id", "fetch.max.bytes"}) {
    EXPECT_EQ(refused_property(name, "1"), std::nullopt) << name;
  }
}

TEST(kafka_properties, know_which_values_are_secret) {
  for (const char* name : {"sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem",
                           "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config"}) {
    EXPECT_TRUE(is_secret_property(name)) << name;
  }
  for (const char* name : {"sasl.username", "ssl.ca.pem", "ssl.key.location", "security.protocol"}) {
    EXPECT_FALSE(is_secret_property(name)) << name;
  }
}

TEST(kafka_properties, are_checked_by_librdkafka) {
  EXPECT_EQ(check_property("session.timeout.ms", "6000").verdict, property_verdict::fine);
  EXPECT_EQ(check_property("session.timeout.ms", "0x10").verdict, property_verdict::fine);
  EXPECT_EQ(check_property("session.timeout.ms", "6s").verdict, property_verdict::bad_value);
  EXPECT_EQ(check_property("session.timeout.ms", "").verdict, property_verdict::bad_value);
  EXPECT_EQ(check_property("linger.ms", "5").verdict, property_verdict::no_consumer);
  EXPECT_EQ(check_property("fetch", "3").verdict, property_verdict::unknown);
  EXPECT_EQ(check_property("fetch.message.max.bytes", "1000000").verdict, property_verdict::fine);
}

TEST(kafka_properties, that_can_be_set_are_listed_without_ours) {
  const auto& known = settable_properties();
  const auto has = [&](const char* name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  EXPECT_TRUE(has("session.timeout.ms"));
  EXPECT_TRUE(has("max.partition.fetch.bytes")) << "an alias";
  EXPECT_FALSE(has("group.id"));
  EXPECT_FALSE(has("linger.ms")) << "a producer's";
  EXPECT_FALSE(has("Property")) << "the table's head";
}

TEST(a_secret_mask, takes_secrets_out_of_texts) {
  const secret_mask mask{
      {{"sasl.password", "hunter22"},
       {"ssl.key.password", "hunter22hunter22"},
       {"sasl.username", "alice"},
       {"ssl.key.pem", "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nAb=\n-----END KEY-----\n"}}};
  EXPECT_EQ(mask("alice said hunter22, hunter22"), "alice said ***, ***");
  EXPECT_EQ(mask("hunter22hunter22!"), "***!") << "the longest first";
  EXPECT_EQ(mask("key MIIEvQIBADANBgkq"), "key ***") << "a line of it";
  EXPECT_EQ(mask("-----BEGIN KEY-----"), "-----BEGIN KEY-----");
  EXPECT_EQ(secret_mask{}("x"), "x");
}

TEST(kafka_settings, are_checked_as_a_whole_and_no_secret_is_shown) {
  EXPECT_TRUE(check_settings(with({}), 64 * k_mib));
  const auto no_user = check_settings(
      with({{"security.protocol", "sasl_plaintext"}, {"sasl.mechanisms", "PLAIN"}}), 64 * k_mib);
  ASSERT_FALSE(no_user);
  EXPECT_EQ(no_user.error().code, errc::config_invalid);
  EXPECT_NE(no_user.error().message.find("sasl.username and sasl.password must be set"), std::string::npos);
  const auto bad_key =
      check_settings(with({{"security.protocol", "ssl"}, {"ssl.key.pem", "not-a-key-4711"}}), 64 * k_mib);
  ASSERT_FALSE(bad_key);
  EXPECT_NE(bad_key.error().message.find("ssl.key.pem failed"), std::string::npos);
  EXPECT_EQ(bad_key.error().message.find("not-a-key-4711"), std::string::npos);
  const auto bad_publisher = check_settings(with({{"max.in.flight", "6"}}), 64 * k_mib);
  ASSERT_FALSE(bad_publisher) << "it would only be found when the instance runs";
  EXPECT_NE(bad_publisher.error().message.find("max.in.flight"), std::string::npos)
      << bad_publisher.error().message;
}

TEST(kafka_settings, put_the_users_over_the_defaults_and_ratchets_over_all) {
  const auto all = consumer_settings(with({{"session.timeout.ms", "9000"}}), 256 * k_mib).value();
  EXPECT_EQ(all.at("bootstrap.servers"), "a:1,b:2");
  EXPECT_EQ(all.at("group.id"), "g");
  EXPECT_EQ(all.at("session.timeout.ms"), "9000");
  EXPECT_EQ(all.at("reconnect.backoff.max.ms"), "500");
  EXPECT_EQ(all.at("enable.auto.commit"), "false");
  EXPECT_EQ(all.at("enable.auto.offset.store"), "false");
  EXPECT_EQ(all.at("auto.offset.reset"), "error");
  EXPECT_EQ(all.at("enable.partition.eof"), "true");
  EXPECT_EQ(all.at("isolation.level"), "read_committed");
  EXPECT_EQ(all.at("partition.assignment.strategy"), "range");
}

TEST(kafka_settings, look_at_topics_often_whatever_the_version_and_do_not_forget_them_for_it) {
  const auto settings = consumer_settings(with({}), 64 * k_mib).value();
  EXPECT_LE(std::stoi(settings.at("topic.metadata.refresh.interval.ms")), 100);
  EXPECT_GE(std::stoi(settings.at("metadata.max.age.ms")), 15 * 60 * 1000);
}

TEST(kafka_settings, keep_the_queue_and_a_fetch_within_the_budget) {
  for (const std::size_t budget : {16 * k_mib, 64 * k_mib, 256 * k_mib, 1024 * k_mib}) {
    const auto all = consumer_settings(with({}), budget).value();
    const std::size_t queue = std::stoull(all.at("queued.max.messages.kbytes")) * 1024;
    const std::size_t fetch = std::stoull(all.at("fetch.max.bytes"));
    const std::size_t records = std::stoull(all.at("queued.min.messages"));
    constexpr std::size_t k_overhead = 350;  // of a record, beside its bytes
    EXPECT_LE(queue + records * k_overhead, budget);
    EXPECT_LE(fetch, std::max(k_mib, budget / 16)) << "it comes on top, and grows when it is decompressed";
    EXPECT_GE(queue, budget / 4);
  }
}

TEST(kafka_settings, take_limits_that_librdkafka_accepts_whatever_the_budget) {
  for (const std::size_t budget : {std::size_t{0}, k_mib, std::size_t{1} << 40}) {
    kafka_source_options options;
    options.memory_bytes = budget;
    const auto made = make_kafka_source({{"127.0.0.1:1"}, "g", {}}, options);
    EXPECT_TRUE(made) << to_text(made.error());
  }
}

TEST(kafka_settings, name_every_property_that_cannot_be_set) {
  const auto made = make_kafka_source(with({{"group.id", "x"}, {"enable.auto.commit", "true"}}));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::config_invalid);
  ASSERT_EQ(made.error().diagnostics.size(), 2U);
  EXPECT_EQ(made.error().diagnostics[0].path, "kafka.properties.enable.auto.commit");
  EXPECT_EQ(made.error().diagnostics[1].path, "kafka.properties.group.id");
}

TEST(kafka_settings, give_librdkafkas_own_words_for_what_it_does_not_know) {
  const auto unknown = make_kafka_source(with({{"sesion.timeout.ms", "1"}}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, errc::config_invalid);
  EXPECT_NE(unknown.error().message.find("sesion.timeout.ms"), std::string::npos) << unknown.error().message;
  const auto range = make_kafka_source(with({{"session.timeout.ms", "-5"}}));
  ASSERT_FALSE(range);
  EXPECT_NE(range.error().message.find("session.timeout.ms"), std::string::npos) << range.error().message;
}

TEST(kafka_settings, want_brokers_and_a_group) {
  const auto made = make_kafka_source({});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().diagnostics.size(), 2U);
}

// A value of rd_kafka_resp_err_t: part of the library's stable interface.
constexpr int k_transport = -195;

TEST(kafka_errors, keep_their_value) {
  EXPECT_EQ(kafka_error(k_transport).value(), k_transport);
  EXPECT_STREQ(kafka_error(k_transport).category().name(), "kafka");
}

TEST(kafka_errors, that_no_retry_mends_say_what_is_refused) {
  constexpr int k_login = -169;
  constexpr int k_tls = -181;
  constexpr int k_topic = 29;
  constexpr int k_group = 30;
  EXPECT_EQ(access_kind_of(kafka_error(k_login)), access_kind::login);
  EXPECT_EQ(access_kind_of(kafka_error(k_tls)), access_kind::tls);
  EXPECT_EQ(access_kind_of(kafka_error(k_topic)), access_kind::topic);
  EXPECT_EQ(access_kind_of(kafka_error(k_group)), access_kind::group);
  EXPECT_EQ(access_kind_of(kafka_error(k_transport)), std::nullopt);
  EXPECT_EQ(access_kind_of(std::error_code{k_group, std::generic_category()}), std::nullopt);
}

}  // namespace
}  // namespace ratchet
