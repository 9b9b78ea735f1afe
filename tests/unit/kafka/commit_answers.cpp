// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is read out of librdkafka's answer to a commit, whose errors stand in two places.
#include <gtest/gtest.h>

#include <vector>

#include "kafka/handles.hpp"
#include "kafka/kafka_error.hpp"
#include "kafka/source_events.hpp"

namespace ratchet {
namespace {

struct answered {
  const char* topic;
  std::int64_t offset;
  rd_kafka_resp_err_t error{RD_KAFKA_RESP_ERR_NO_ERROR};
};

kafka_handle<rd_kafka_topic_partition_list_t> list_of(const std::vector<answered>& all) {
  kafka_handle<rd_kafka_topic_partition_list_t> list{
      rd_kafka_topic_partition_list_new(static_cast<int>(all.size()))};
  for (const answered& a : all) {
    rd_kafka_topic_partition_t* entry = rd_kafka_topic_partition_list_add(list.get(), a.topic, 0);
    entry->offset = a.offset;
    entry->err = a.error;
  }
  return list;
}

std::vector<std::int64_t> offsets_of(const std::vector<committed_offset>& all) {
  std::vector<std::int64_t> offsets;
  for (const committed_offset& c : all) offsets.push_back(c.offset.value_or(-1));
  return offsets;
}

TEST(the_answer_to_a_commit, lists_what_was_committed) {
  const auto list = list_of({{"a", 5}, {"b", 7}});
  const commit_result done = read_commit(RD_KAFKA_RESP_ERR_NO_ERROR, list.get());
  EXPECT_FALSE(done.code);
  EXPECT_EQ(offsets_of(done.offsets), (std::vector<std::int64_t>{5, 7}));
  EXPECT_EQ(done.offsets[1].where, (topic_partition{"b", partition_id{0}}));
}

TEST(the_answer_to_a_commit, lists_nothing_where_the_whole_failed_though_each_partition_says_no_error) {
  const auto list = list_of({{"a", 5}, {"b", 7}});
  const commit_result done = read_commit(RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE, list.get());
  EXPECT_EQ(done.code, kafka_error(RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE));
  EXPECT_TRUE(done.offsets.empty());
}

TEST(the_answer_to_a_commit, tells_the_error_of_a_partition_and_what_was_committed_beside_it) {
  const auto list = list_of({{"a", 5}, {"b", 7, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED}});
  const commit_result done = read_commit(RD_KAFKA_RESP_ERR_NO_ERROR, list.get());
  EXPECT_EQ(done.code, kafka_error(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
  EXPECT_EQ(done.topic, "b");
  EXPECT_EQ(offsets_of(done.offsets), (std::vector<std::int64_t>{5}));
}

TEST(the_answer_to_a_commit, ends_the_commit_under_way) {
  source_events events;
  events.commit_under_way = true;
  const auto list = list_of({{"a", 5}});
  events.on_commit(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, list.get());
  EXPECT_FALSE(events.commit_under_way);
  const auto notices = events.take();
  ASSERT_EQ(notices.size(), 1U);
  const auto* done = std::get_if<notice::commit_done>(notices.data());
  ASSERT_NE(done, nullptr);
  EXPECT_EQ(done->code, kafka_error(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION));
}

}  // namespace
}  // namespace ratchet
