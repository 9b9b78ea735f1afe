// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// When an instance may try again to own the state, and what people are told: of every error that brokers may
// give to a fence or to a step.
#include "consumer/lead_attempts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kafka/kafka_error.hpp"
#include "ports/error_class.hpp"
#include "ports/source_condition.hpp"

namespace ratchet {
namespace {

using ::testing::HasSubstr;
using lead_kind = lead_failure::kind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view k_lead_no_hint{};
constexpr std::string_view k_lead_acl{"--operation Write --topic p.ratchet"};
constexpr std::string_view k_lead_settings{"`max.message.bytes` before all: `ratchet topics"};
constexpr std::string_view k_lead_make{"make the topic: `ratchet topics"};
constexpr std::string_view k_lead_administrator{"ask the administrator"};
constexpr std::string_view k_lead_login{"check `sasl.mechanisms`"};
constexpr std::string_view k_lead_tls{"check the `ssl.*` properties"};

struct lead_answer {
  int code;
  const char* name;
  bool passes_by;
  std::string_view hint;
};

/// Those that the brokers have for a produce request, and the client's own for one.
const std::vector<lead_answer>& lead_answers() {
  static const std::vector<lead_answer> all{
      {29, "TOPIC_AUTHORIZATION_FAILED", false, k_lead_acl},
      {31, "CLUSTER_AUTHORIZATION_FAILED", false, k_lead_administrator},
      {53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false, k_lead_administrator},
      {58, "SASL_AUTHENTICATION_FAILED", false, k_lead_login},
      {-169, "_AUTHENTICATION", false, k_lead_login},
      {-181, "_SSL", false, k_lead_tls},
      {10, "MSG_SIZE_TOO_LARGE", false, k_lead_settings},
      {18, "RECORD_LIST_TOO_LARGE", false, k_lead_settings},
      {87, "INVALID_RECORD", false, k_lead_settings},
      {32, "INVALID_TIMESTAMP", false, k_lead_settings},
      {44, "POLICY_VIOLATION", false, k_lead_settings},
      {2, "INVALID_MSG", false, k_lead_settings},
      {4, "INVALID_MSG_SIZE", false, k_lead_settings},
      {76, "UNSUPPORTED_COMPRESSION_TYPE", false, k_lead_settings},
      {43, "UNSUPPORTED_FOR_MESSAGE_FORMAT", false, k_lead_settings},
      {17, "INVALID_TOPIC_EXCEPTION", false, k_lead_administrator},
      {21, "INVALID_REQUIRED_ACKS", false, k_lead_administrator},
      {42, "INVALID_REQUEST", false, k_lead_administrator},
      {-1, "UNKNOWN", false, k_lead_administrator},
      {3, "UNKNOWN_TOPIC_OR_PART", true, k_lead_make},
      {-190, "_UNKNOWN_PARTITION", true, k_lead_make},
      {-188, "_UNKNOWN_TOPIC", true, k_lead_make},
      {6, "NOT_LEADER_FOR_PARTITION", true, k_lead_no_hint},
      {7, "REQUEST_TIMED_OUT", true, k_lead_no_hint},
      {19, "NOT_ENOUGH_REPLICAS", true, k_lead_no_hint},
      {20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", true, k_lead_no_hint},
      {56, "KAFKA_STORAGE_ERROR", true, k_lead_no_hint},
      {89, "THROTTLING_QUOTA_EXCEEDED", true, k_lead_no_hint},
      {-192, "_MSG_TIMED_OUT", true, k_lead_no_hint},
      {-195, "_TRANSPORT", true, k_lead_no_hint},
      {45, "OUT_OF_ORDER_SEQUENCE_NUMBER", false, k_lead_no_hint},
      {47, "INVALID_PRODUCER_EPOCH", false, k_lead_no_hint},
      {59, "UNKNOWN_PRODUCER_ID", false, k_lead_administrator},
      {-150, "_FATAL", false, k_lead_no_hint},
  };
  return all;
}

kafka_config kafka_of_lead() {
  kafka_config config;
  config.brokers = {"b:9092"};
  return config;
}

/// As the log's port gives it.
std::error_code given_to_lead(const lead_answer& a) {
  return to_port_error(kafka_error(a.code));
}

TEST(lead_failures, are_all_told_with_what_to_do) {
  for (const lead_answer& a : lead_answers()) {
    for (const lead_kind what : {lead_kind::fence, lead_kind::step, lead_kind::note}) {
      const problem told = describe({what, given_to_lead(a), what == lead_kind::step ? 7U : 0U, 0, 1},
                                    kafka_of_lead(), "p.ratchet");
      EXPECT_THAT(told.message, HasSubstr(given_to_lead(a).message())) << a.name;
      if (a.hint.empty()) {
        EXPECT_EQ(told.hint, "") << a.name;
      } else {
        EXPECT_THAT(told.hint, HasSubstr(std::string{a.hint})) << a.name;
      }
      if (what != lead_kind::step || access_kind_of(given_to_lead(a))) continue;
      EXPECT_THAT(told.message, HasSubstr("step 7")) << a.name;
    }
  }
}

TEST(lead_failures, pause_longer_each_time_and_not_long_for_what_passes) {
  for (const lead_answer& a : lead_answers()) {
    EXPECT_EQ(passes(classify(given_to_lead(a))), a.passes_by) << a.name;
    lead_attempts tries{"ratchet-0"};
    lead_attempts::time_point now{std::chrono::hours{1}};
    milliseconds longest{0};
    for (std::uint64_t i = 1; i <= 20; ++i) {
      tries.failed({lead_kind::fence, given_to_lead(a), 0, 0, i}, now);
      EXPECT_FALSE(tries.is_due(now)) << a.name << ": it would be repeated at once";
      EXPECT_GE(tries.pause(), milliseconds{200}) << a.name;
      EXPECT_TRUE(tries.is_due(now + tries.pause())) << a.name;
      longest = std::max(longest, tries.pause());
      now += tries.pause();
    }
    EXPECT_LE(longest, a.passes_by ? milliseconds{2'000} : milliseconds{60'000}) << a.name;
    EXPECT_GT(longest, a.passes_by ? milliseconds{1'000} : milliseconds{30'000}) << a.name;
  }
}

TEST(lead_failures, let_another_instance_try_behind_some_of_them) {
  for (const lead_answer& a : lead_answers()) {
    lead_attempts tries{"ratchet-0"};
    lead_attempts::time_point now{std::chrono::hours{1}};
    int failed = 0;
    while (!tries.gives_way(now) && failed < 20) {
      now += tries.pause();
      tries.failed({lead_kind::fence, given_to_lead(a), 0, 0, 1}, now);
      ++failed;
    }
    const bool nobody_can = classify(given_to_lead(a)) == error_class::missing;
    EXPECT_EQ(failed, nobody_can ? 20 : 5) << a.name;
    EXPECT_FALSE(tries.gives_way(now + tries.pause())) << a.name << ": then it tries itself";
  }
}

struct lead_failed_once : ::testing::Test {
  void fail(lead_kind what, int code, std::uint64_t step = 0) {
    tries.failed({what, to_port_error(kafka_error(code)), step, 0, 1}, now);
  }
  lead_attempts tries{"ratchet-0"};
  lead_attempts::time_point now{std::chrono::hours{1}};
};

TEST_F(lead_failed_once, a_fence_that_counts_ends_what_stood_against_it) {
  fail(lead_kind::fence, 29);
  tries.led();
  EXPECT_FALSE(tries.failure());
}

TEST_F(lead_failed_once, a_step_is_in_doubt_until_it_is_confirmed) {
  fail(lead_kind::step, 10, 7);
  tries.led();
  tries.confirmed(6);
  EXPECT_TRUE(tries.failure());
  tries.confirmed(7);
  EXPECT_FALSE(tries.failure());
}

TEST_F(lead_failed_once, a_right_that_is_missing_is_missing_behind_another_owner_too) {
  fail(lead_kind::fence, 29);
  tries.fenced();
  tries.confirmed(100);
  EXPECT_TRUE(tries.failure());
  fail(lead_kind::fence, 10);
  tries.fenced();
  EXPECT_FALSE(tries.failure());
}

TEST_F(lead_failed_once, is_forgotten_behind_a_calm_minute) {
  for (int i = 0; i < 4; ++i) {
    fail(lead_kind::step, 10, 7);
    now += tries.pause();
  }
  now += minutes{1};
  fail(lead_kind::step, 10, 7);
  EXPECT_FALSE(tries.gives_way(now));
  EXPECT_LE(tries.pause(), milliseconds{400});
}

TEST_F(lead_failed_once, is_told_once) {
  EXPECT_FALSE(tries.take_news());
  fail(lead_kind::fence, 29);
  EXPECT_TRUE(tries.take_news());
  EXPECT_FALSE(tries.take_news());
  EXPECT_TRUE(tries.failure()) << "it stands";
}

TEST_F(lead_failed_once, others_do_not_pause_for_the_same_time) {
  lead_attempts other{"ratchet-1"};
  for (int i = 0; i < 8; ++i) {
    fail(lead_kind::fence, 29);
    other.failed({lead_kind::fence, kafka_error(29), 0, 0, 1}, now);
  }
  EXPECT_NE(tries.pause(), other.pause());
}

TEST(lead_failures, of_other_kinds_are_told) {
  const kafka_config kafka = kafka_of_lead();
  const problem large = describe(
      {lead_kind::too_large, make_error_code(std::errc::message_size), 7, 2'000'000'000, 1}, kafka, "l");
  EXPECT_THAT(large.message, HasSubstr("step 7 has 2000000000 bytes of rows"));
  EXPECT_THAT(large.hint, HasSubstr("`state.snapshot_bytes`"));
  const problem silent = describe({lead_kind::silence, errc::source_unavailable, 0, 0, 1}, kafka, "l");
  EXPECT_THAT(silent.message, HasSubstr("do not answer to the fence"));
  const problem claim = describe({lead_kind::claim, kafka_error(30), 0, 0, 1}, kafka, "l");
  EXPECT_THAT(claim.message, HasSubstr("may not use the consumer group"));
  const problem read = describe({lead_kind::claim, kafka_error(29), 0, 0, 1}, kafka, "l");
  EXPECT_THAT(read.hint, HasSubstr("--operation Read --topic l"));
}

}  // namespace
}  // namespace ratchet
