// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/cluster_questions.hpp"

#include <gmock/gmock.h>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct questions : ::testing::Test {
  session_world w;
  std::vector<std::string> topics{"t"};
  bool stop{false};
  int waited{0};
  cluster_questions asked{{w.settings, w.streams(), w.store, w.source, w.clock, topics, resume_option::none,
                           [this] { return stop; },
                           [this]() -> turn_result<> {
                             ++waited;
                             return go_on();
                           }}};

  void SetUp() override {
    w.settings.kafka.connect_timeout = 3s;
    w.source.produce(at("t", 0), event("a", 1));
  }
  static session_result ended(const turn_result<>& asked) { return asked ? session_result{} : asked.error(); }
};

TEST_F(questions, make_an_empty_store_the_first_cluster_s) {
  ASSERT_TRUE(asked.find_cluster());
  EXPECT_EQ(w.store.cluster_id(), "cluster-1");
  ASSERT_TRUE(asked.find_cluster()) << "it is the one it knows";
}

TEST_F(questions, refuse_another_cluster_and_leave_the_store_as_it_is) {
  ASSERT_TRUE(asked.find_cluster());
  w.source.cluster = "cluster-2";
  const session_result refused = ended(asked.find_cluster());
  ASSERT_EQ(refused.end, session_end::refused);
  ASSERT_TRUE(refused.why);
  EXPECT_EQ(refused.why->code, errc::state_foreign);
  EXPECT_THAT(refused.why->message, HasSubstr("cluster-1"));
  EXPECT_THAT(refused.why->message, HasSubstr("cluster-2"));
  EXPECT_EQ(w.store.cluster_id(), "cluster-1");
}

TEST_F(questions, wait_for_brokers_and_serve_others_meanwhile) {
  w.source.unanswered_cluster_ids = 2;
  ASSERT_TRUE(asked.find_cluster());
  EXPECT_EQ(waited, 2);
}

TEST_F(questions, give_up_behind_the_time_that_the_config_gives) {
  w.source.unanswered_cluster_ids = 100;
  const session_result refused = ended(asked.find_cluster());
  ASSERT_EQ(refused.end, session_end::refused);
  ASSERT_TRUE(refused.why);
  EXPECT_EQ(refused.why->code, errc::source_unavailable);
  EXPECT_EQ(waited, 3) << "once a second";
}

TEST_F(questions, end_as_drained_when_they_are_told_to_stop) {
  w.source.unanswered_cluster_ids = 100;
  stop = true;
  const turn_result<> drained = asked.find_cluster();
  ASSERT_FALSE(drained);
  EXPECT_EQ(drained.error().end, session_end::drained);
  EXPECT_EQ(waited, 0);
}

TEST_F(questions, name_the_topics_that_are_missing_with_what_to_type) {
  ASSERT_TRUE(asked.require_outputs({})) << "nothing is written to";
  ASSERT_TRUE(asked.require_outputs({"t"}));
  const session_result refused = ended(asked.require_outputs({"out", "more"}));
  ASSERT_EQ(refused.end, session_end::refused);
  ASSERT_TRUE(refused.why);
  EXPECT_EQ(refused.why->code, errc::topic_missing);
  EXPECT_THAT(refused.why->message, HasSubstr("`out`, `more` do not exist"));
  EXPECT_THAT(refused.why->hint, HasSubstr("--create --topic out && kafka-topics.sh"));
}

TEST_F(questions, wait_for_a_topic_that_brokers_have_not_heard_of_yet) {
  w.source.on_poll = [this](int n) {
    if (n == 2) w.source.produce(at("late", 0), event("a", 1));
  };
  w.source.at_end = {};
  const std::vector<std::string> late{"late"};
  const auto found = asked.look_up(late);
  ASSERT_TRUE(found);
  EXPECT_THAT(found.value(), ElementsAre(at("late", 0)));
}

TEST_F(questions, without_an_answer_are_asked_by_a_new_client_where_that_may_help) {
  const session_result away =
      asked.failed("x", make_error_code(errc::source_unavailable), session_end::refused);
  EXPECT_EQ(away.end, session_end::client_lost);
  const session_result other = asked.failed("x", make_error_code(errc::internal), session_end::refused);
  EXPECT_EQ(other.end, session_end::refused);
  w.source.complaints = {{make_error_code(errc::access_denied), access_kind::group, "no right"}};
  const session_result denied = asked.resume_failed(make_error_code(errc::source_unavailable));
  ASSERT_EQ(denied.end, session_end::refused);
  ASSERT_TRUE(denied.why);
  EXPECT_THAT(denied.why->message, HasSubstr("cannot find out where to resume: "));
}

}  // namespace
}  // namespace ratchet::testing
