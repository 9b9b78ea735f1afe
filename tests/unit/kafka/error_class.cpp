// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Which class each error is of: every code of Ratchet, and every code of librdkafka that the sources name.
#include "ports/error_class.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "kafka/kafka_error.hpp"
#include "ports/source_condition.hpp"
#include "ratchet/error.hpp"

namespace ratchet {
namespace {

using c = error_class;
using s = source_condition;

struct errc_row {
  errc code;
  error_class of;
};

// In the order of their numbers.
constexpr std::array k_errcs{
    errc_row{errc::config_invalid, c::person},
    errc_row{errc::usage, c::person},
    errc_row{errc::not_built_yet, c::person},
    errc_row{errc::reducer_failed, c::request},
    errc_row{errc::poisoned, c::person},
    errc_row{errc::state_busy, c::person},
    errc_row{errc::state_missing, c::person},
    errc_row{errc::state_foreign, c::foreign},
    errc_row{errc::state_newer_schema, c::person},
    errc_row{errc::state_damaged, c::damaged},
    errc_row{errc::write_indeterminate, c::store_lost},
    errc_row{errc::source_unavailable, c::away},
    errc_row{errc::source_fatal, c::client_lost},
    errc_row{errc::resume_refused, c::person},
    errc_row{errc::group_taken, c::person},
    errc_row{errc::topic_missing, c::missing},
    errc_row{errc::partition_stopped, c::person},
    errc_row{errc::check_failed, c::person},
    errc_row{errc::not_found, c::request},
    errc_row{errc::io, c::person},
    errc_row{errc::aborted, c::person},
    errc_row{errc::internal, c::person},
    errc_row{errc::access_denied, c::denied},
    errc_row{errc::reducer_slow, c::request},
    errc_row{errc::waiting_full, c::person},
    errc_row{errc::gap_too_old, c::person},
    errc_row{errc::output_undeclared, c::request},
    errc_row{errc::output_lacking, c::request},
    errc_row{errc::output_too_large, c::request},
    errc_row{errc::table_undeclared, c::request},
    errc_row{errc::table_key_invalid, c::request},
    errc_row{errc::snapshot_too_large, c::request},
    errc_row{errc::aggregate_blocked, c::request},
    errc_row{errc::not_running, c::request},
    errc_row{errc::timed_out, c::request},
    errc_row{errc::key_reused, c::request},
    errc_row{errc::held_back, c::request},
    errc_row{errc::sink_missing, c::person},
    errc_row{errc::state_restoring, c::request},
    errc_row{errc::not_owner, c::request},
};

TEST(error_classes, of_every_code_of_ratchet) {
  for (std::size_t i = 0; i < k_errcs.size(); ++i) {
    const auto [code, of] = k_errcs.at(i);
    ASSERT_EQ(static_cast<std::size_t>(code), i + 1) << "one is missing";
    EXPECT_EQ(classify(make_error_code(code)), of) << make_error_code(code).message();
  }
  EXPECT_EQ(ratchet_category().message(static_cast<int>(k_errcs.size()) + 1), "unknown")
      << "there is one more: put it into the table";
}

struct kafka_row {
  int code;  ///< the value of rd_kafka_resp_err_t: part of the protocol, or of the library's stable interface
  std::string_view name;
  error_class of;
  std::vector<source_condition> means;
};

const std::vector<kafka_row>& kafka_rows() {
  static const std::vector<kafka_row> rows{
      {-150, "_FATAL", c::client_lost, {s::client_lost}},
      {-144, "_FENCED", c::client_lost, {s::client_lost}},
      {45, "OUT_OF_ORDER_SEQUENCE_NUMBER", c::client_lost, {s::client_lost}},
      {47, "INVALID_PRODUCER_EPOCH", c::client_lost, {s::client_lost}},
      {82, "FENCED_INSTANCE_ID", c::client_lost, {s::not_a_member, s::client_lost}},
      {90, "PRODUCER_FENCED", c::client_lost, {s::client_lost}},
      {-190, "_UNKNOWN_PARTITION", c::missing, {s::missing}},
      {-188, "_UNKNOWN_TOPIC", c::missing, {s::missing}},
      {3, "UNKNOWN_TOPIC_OR_PART", c::missing, {s::missing}},
      {-195, "_TRANSPORT", c::away, {s::away}},
      {-193, "_RESOLVE", c::away, {s::away}},
      {-192, "_MSG_TIMED_OUT", c::away, {s::away}},
      {-187, "_ALL_BROKERS_DOWN", c::away, {s::all_brokers_down, s::away}},
      {-185, "_TIMED_OUT", c::away, {s::away}},
      {-184, "_QUEUE_FULL", c::away, {s::away}},
      {-180, "_WAIT_COORD", c::away, {s::away}},
      {-178, "_IN_PROGRESS", c::away, {s::away}},
      {-177, "_PREV_IN_PROGRESS", c::away, {s::away}},
      {-166, "_TIMED_OUT_QUEUE", c::away, {s::away}},
      {-164, "_WAIT_CACHE", c::away, {s::away}},
      {-153, "_RETRY", c::away, {s::away}},
      {5, "LEADER_NOT_AVAILABLE", c::away, {s::away}},
      {6, "NOT_LEADER_FOR_PARTITION", c::away, {s::away}},
      {7, "REQUEST_TIMED_OUT", c::away, {s::away}},
      {8, "BROKER_NOT_AVAILABLE", c::away, {s::away}},
      {9, "REPLICA_NOT_AVAILABLE", c::away, {s::away}},
      {13, "NETWORK_EXCEPTION", c::away, {s::away}},
      {14, "COORDINATOR_LOAD_IN_PROGRESS", c::away, {s::away}},
      {15, "COORDINATOR_NOT_AVAILABLE", c::away, {s::away}},
      {16, "NOT_COORDINATOR", c::away, {s::away}},
      {19, "NOT_ENOUGH_REPLICAS", c::away, {s::away}},
      {20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", c::away, {s::away}},
      {41, "NOT_CONTROLLER", c::away, {s::away}},
      {56, "KAFKA_STORAGE_ERROR", c::away, {s::away}},
      {72, "LISTENER_NOT_FOUND", c::away, {s::away}},
      {74, "FENCED_LEADER_EPOCH", c::away, {s::away}},
      {75, "UNKNOWN_LEADER_EPOCH", c::away, {s::away}},
      {77, "STALE_BROKER_EPOCH", c::away, {s::away}},
      {78, "OFFSET_NOT_AVAILABLE", c::away, {s::away}},
      {80, "PREFERRED_LEADER_NOT_AVAILABLE", c::away, {s::away}},
      {83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", c::away, {s::away}},
      {88, "UNSTABLE_OFFSET_COMMIT", c::away, {s::away}},
      {89, "THROTTLING_QUOTA_EXCEEDED", c::away, {s::away}},
      {-169, "_AUTHENTICATION", c::denied, {s::login_refused}},
      {33, "UNSUPPORTED_SASL_MECHANISM", c::denied, {s::login_refused}},
      {34, "ILLEGAL_SASL_STATE", c::denied, {s::login_refused}},
      {58, "SASL_AUTHENTICATION_FAILED", c::denied, {s::login_refused}},
      {-181, "_SSL", c::denied, {s::tls_refused}},
      {29, "TOPIC_AUTHORIZATION_FAILED", c::denied, {s::topic_refused}},
      {30, "GROUP_AUTHORIZATION_FAILED", c::denied, {s::group_refused}},
      {31, "CLUSTER_AUTHORIZATION_FAILED", c::denied, {s::cluster_refused}},
      {-142, "_ASSIGNMENT_LOST", c::moved_on, {s::not_a_member}},
      {22, "ILLEGAL_GENERATION", c::moved_on, {s::not_a_member}},
      {25, "UNKNOWN_MEMBER_ID", c::moved_on, {s::not_a_member}},
      {27, "REBALANCE_IN_PROGRESS", c::moved_on, {s::not_a_member}},
      {-165, "_UNSUPPORTED_FEATURE", c::not_offered, {s::not_offered}},
      {35, "UNSUPPORTED_VERSION", c::not_offered, {s::not_offered}},
      {-199, "_BAD_MSG", c::unreadable, {s::unreadable}},
      {-198, "_BAD_COMPRESSION", c::unreadable, {s::unreadable}},
      {-170, "_NOT_IMPLEMENTED", c::unreadable, {s::unreadable}},
      {2, "INVALID_MSG", c::unreadable, {s::unreadable, s::message_refused}},
      {4, "INVALID_MSG_SIZE", c::unreadable, {s::unreadable, s::message_refused}},
      {10, "MSG_SIZE_TOO_LARGE", c::unreadable, {s::unreadable, s::message_refused}},
      {43, "UNSUPPORTED_FOR_MESSAGE_FORMAT", c::unreadable, {s::unreadable}},
      {76, "UNSUPPORTED_COMPRESSION_TYPE", c::unreadable, {s::unreadable}},
      {18, "RECORD_LIST_TOO_LARGE", c::message_refused, {s::message_refused}},
      {32, "INVALID_TIMESTAMP", c::message_refused, {s::message_refused}},
      {44, "POLICY_VIOLATION", c::message_refused, {s::message_refused}},
      {87, "INVALID_RECORD", c::message_refused, {s::message_refused}},
  };
  return rows;
}

constexpr std::array k_conditions{
    s::login_refused, s::tls_refused,      s::topic_refused,  s::group_refused, s::cluster_refused,
    s::not_a_member,  s::all_brokers_down, s::not_offered,    s::away,          s::missing,
    s::client_lost,   s::unreadable,       s::message_refused};

TEST(error_classes, of_every_code_of_librdkafka_that_means_something) {
  for (const kafka_row& row : kafka_rows()) {
    const std::error_code code = kafka_error(row.code);
    EXPECT_EQ(classify(code), row.of) << row.name;
    for (const source_condition condition : k_conditions) {
      const bool is_meant = std::find(row.means.begin(), row.means.end(), condition) != row.means.end();
      EXPECT_EQ(code == condition, is_meant) << row.name << ": " << make_error_condition(condition).message();
    }
  }
}

/// The library has more than two hundred codes: who meets one of the others stops and tells a person.
TEST(error_classes, of_the_other_codes_of_librdkafka_are_for_a_person) {
  constexpr int k_lowest = -200;
  constexpr int k_highest = 130;
  std::size_t named = 0;
  for (int value = k_lowest; value <= k_highest; ++value) {
    const bool is_named = std::any_of(kafka_rows().begin(), kafka_rows().end(),
                                      [&](const kafka_row& row) { return row.code == value; });
    named += is_named ? 1U : 0U;
    if (is_named) continue;
    EXPECT_EQ(classify(kafka_error(value)), c::person) << value << ": " << kafka_error(value).message();
    for (const source_condition condition : k_conditions)
      EXPECT_FALSE(kafka_error(value) == condition) << value;
  }
  EXPECT_EQ(named, kafka_rows().size()) << "one stands twice in the table";
}

TEST(error_classes, of_the_same_number_in_another_category_are_for_a_person) {
  for (const kafka_row& row : kafka_rows())
    EXPECT_EQ(classify(std::error_code{row.code, std::generic_category()}), c::person) << row.name;
  EXPECT_EQ(classify(std::make_error_code(std::errc::no_space_on_device)), c::person);
}

TEST(error_classes, say_what_may_be_repeated) {
  struct row {
    error_class of;
    bool passes;      ///< a partition is held, and asked about again
    bool is_sat_out;  ///< by an instance that has claimed its group
  };
  constexpr std::array k_rows{
      row{c::away, true, true},          row{c::missing, true, true},
      row{c::denied, false, true},       row{c::moved_on, false, false},
      row{c::not_offered, false, false}, row{c::client_lost, false, false},
      row{c::unreadable, false, false},  row{c::message_refused, false, false},
      row{c::store_lost, false, false},  row{c::damaged, false, false},
      row{c::foreign, false, false},     row{c::request, false, false},
      row{c::person, false, false},
  };
  for (const row& r : k_rows) {
    EXPECT_EQ(passes(r.of), r.passes) << static_cast<int>(r.of);
    EXPECT_EQ(is_sat_out(r.of), r.is_sat_out) << static_cast<int>(r.of);
  }
}

/// The port promises three codes; the others keep their value.
TEST(error_classes, give_the_port_its_error) {
  for (const kafka_row& row : kafka_rows()) {
    const std::error_code told = to_port_error(kafka_error(row.code));
    const std::error_code expected = row.of == c::away          ? make_error_code(errc::source_unavailable)
                                     : row.of == c::missing     ? make_error_code(errc::topic_missing)
                                     : row.of == c::client_lost ? make_error_code(errc::source_fatal)
                                                                : kafka_error(row.code);
    EXPECT_EQ(told, expected) << row.name;
    EXPECT_EQ(to_port_error(told), told) << row.name;
  }
  EXPECT_EQ(to_port_error(make_error_code(errc::access_denied)), errc::access_denied);
}

}  // namespace
}  // namespace ratchet
