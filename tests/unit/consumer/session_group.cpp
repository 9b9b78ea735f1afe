// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Who may go over another one's claim, and what becomes of a claim that is not taken.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "consumer/member_name.hpp"
#include "kafka/kafka_error.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

const group_member k_somebody{"id-1", "payments-a", "/10.0.0.7"};

/// A group whose offset is another's, met with an option that goes over it.
struct claimed_by_another : session_world {
  resume_option option;
  explicit claimed_by_another(resume_option said) : option{said} {
    for (int n = 1; n <= 4; ++n) source.produce(k_p0, event("a", n));
    if (said == resume_option::takeover) {  // the directory is a copy; else it is empty
      EXPECT_EQ(run_until_end().end, session_end::caught_up);
      calls.lines.clear();
    }
    for (int n = 5; n <= 6; ++n) source.produce(k_p0, event("a", n));
    source.logs[k_p0].committed = 4;
    source.logs[k_p0].metadata = mark(said == resume_option::takeover ? k_own_uuid : k_other_uuid, {9, 99});
    source.tick = std::chrono::seconds{5};
  }
  session_result run_to_end(const std::string& replaced = {}) {
    session_options options;
    options.until_end = true;
    options.resume = {option, replaced};
    return run(options);
  }
};

const resume_option k_overriding[] = {resume_option::kafka, resume_option::rebuild, resume_option::takeover};

TEST(session_group, is_not_joined_over_the_claim_of_an_instance_that_lives) {
  for (const resume_option option : k_overriding) {
    claimed_by_another w{option};
    w.source.others = {k_somebody};
    w.source.at_end = {};
    const auto begun = w.clock.steady();
    const session_result ended = w.run_to_end();
    ASSERT_EQ(ended.end, session_end::refused);
    EXPECT_EQ(ended.why->code, errc::group_taken);
    EXPECT_EQ(exit_code(ended.why->code), 78);
    EXPECT_NE(ended.why->message.find("it has live members (`payments-a` at /10.0.0.7)"), std::string::npos)
        << ended.why->message;
    EXPECT_NE(ended.why->message.find("t/0: 4, ratchet1:"), std::string::npos) << ended.why->message;
    EXPECT_NE(ended.why->hint.find(std::string{"--resume "} + name_of(option)), std::string::npos);
    EXPECT_EQ(w.calls.count("members"), w.calls.lines.size()) << "nothing was joined, drawn or written";
    EXPECT_GE(w.clock.steady() - begun, std::chrono::seconds{45}) << "a killed member is listed as long";
  }
}

TEST(session_group, that_is_not_claimed_yet_lets_nobody_change_the_state) {
  session_world w;
  w.source.produce(k_p0, event("a", 1));
  mailbox inbox;
  inbox.tasks.open();
  w.inbox = &inbox;
  w.source.unanswered_cluster_ids = 1;
  std::vector<bool> may_change;
  const auto note = [&](posted_tasks::access of) { may_change.push_back(of.may_change); };
  ASSERT_TRUE(inbox.tasks.post(note));
  w.source.script = {[&] { EXPECT_TRUE(inbox.tasks.post(note)); }, [] {}};
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(may_change, (std::vector<bool>{false, true})) << "while it connects, and behind the claim";
}

TEST(session_group, is_joined_once_the_killed_member_is_gone) {
  for (const resume_option option : k_overriding) {
    claimed_by_another w{option};
    w.source.others = {k_somebody};
    w.source.script = {[&] { w.source.others.clear(); }};
    ASSERT_EQ(w.run_to_end().end, session_end::caught_up);
    EXPECT_EQ(w.logged("waiting up to 51 s for them to leave"), 1U) << w.logged();
    EXPECT_EQ(w.source.logs[k_p0].committed, 6);
    EXPECT_EQ(parse_metadata(w.source.logs[k_p0].metadata)->store_uuid, k_own_uuid);
  }
}

TEST(session_group, waits_as_long_as_the_sessions_of_the_config) {
  claimed_by_another w{resume_option::kafka};
  w.settings.kafka.properties["session.timeout.ms"] = "6000";
  w.source.others = {k_somebody};
  w.source.at_end = {};
  ASSERT_EQ(w.run_to_end().end, session_end::refused);
  EXPECT_EQ(w.logged("waiting up to 12 s"), 1U) << w.logged();
}

/// An operator goes on without the log, and waits at the terminal.
TEST(session_group, waits_for_the_instances_of_a_pair_no_longer_than_their_sessions) {
  claimed_by_another w{resume_option::takeover};
  const std::string name = member_name({3, 1}, timestamp{}, "ratchet-1");
  w.source.others = {{name + "-uuid", name, "/10.0.0.7"}};
  w.source.at_end = {};
  w.source.tick = std::chrono::seconds{1};
  const auto begun = w.clock.steady();
  const session_result ended = w.run_to_end();
  ASSERT_EQ(ended.end, session_end::refused);
  EXPECT_LT(w.clock.steady() - begun, std::chrono::seconds{10});
  EXPECT_GE(w.clock.steady() - begun, std::chrono::seconds{6}) << "one that was killed is listed as long";
  EXPECT_NE(ended.why->message.find("it has live members (`ratchet-1` at /10.0.0.7)"), std::string::npos)
      << ended.why->message;
}

TEST(session_group, ends_the_wait_for_others_when_told_to_stop) {
  claimed_by_another w{resume_option::rebuild};
  w.source.others = {k_somebody};
  EXPECT_EQ(w.run_to_end().end, session_end::drained) << "at_end says stop";
  EXPECT_EQ(w.calls.find("join"), journal::npos);
}

constexpr resume_option k_every_option[] = {resume_option::none, resume_option::store, resume_option::kafka,
                                            resume_option::rebuild, resume_option::takeover};

TEST(session_group, is_not_joined_while_it_has_members_though_no_claim_is_gone_over) {
  for (const resume_option option : k_every_option) {
    session_world w;
    w.source.produce(k_p0, event("a", 1));
    w.source.others = {k_somebody};
    w.source.script = {[] {}, [] {}, [] {}};  // else it may be told to stop before it gives up
    w.source.tick = std::chrono::seconds{5};
    const auto begun = w.clock.steady();
    const session_result ended = w.run_with(option);
    ASSERT_EQ(ended.end, session_end::refused);
    ASSERT_TRUE(ended.why);
    EXPECT_EQ(ended.why->code, errc::group_taken);
    EXPECT_NE(ended.why->message.find("group `group-1` was not joined: it has live members (`payments-a` at "
                                      "/10.0.0.7), and one instance reads all of a group"),
              std::string::npos)
        << ended.why->message;
    EXPECT_NE(ended.why->hint.find("another copy of this state directory"), std::string::npos);
    EXPECT_EQ(w.calls.count("members"), w.calls.lines.size()) << "nothing was joined, drawn or written";
    EXPECT_GE(w.clock.steady() - begun, std::chrono::seconds{45}) << "a killed member is listed as long";
  }
}

TEST(session_group, is_joined_by_the_same_directory_once_its_killed_member_is_gone) {
  session_world w;
  w.source.produce(k_p0, event("a", 1));
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.source.produce(k_p0, event("a", 2));
  w.source.others = {k_somebody};
  w.source.script = {[&] { w.source.others.clear(); }};
  mailbox inbox;
  inbox.tasks.open();
  w.inbox = &inbox;
  bool served = false;
  ASSERT_TRUE(inbox.tasks.post([&](posted_tasks::access of) {
    served = true;
    EXPECT_FALSE(of.may_change);
    EXPECT_EQ(w.source.others.size(), 1U) << "while it waits";
  }));
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("waiting up to 51 s for them to leave"), 1U) << w.logged();
  EXPECT_TRUE(served);
  EXPECT_EQ(w.counted().consumed, 2U);
}

TEST(session_group, is_joined_where_the_brokers_cannot_say_who_is_in_it) {
  session_world w;
  w.source.produce(k_p0, event("a", 1));
  w.source.members_error = kafka_error(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 1U);
}

TEST(session_group, is_not_joined_where_nobody_answers_who_is_in_it) {
  session_world w;
  w.source.produce(k_p0, event("a", 1));
  w.source.members_error = make_error_code(errc::source_unavailable);
  ASSERT_EQ(w.run_until_end().end, session_end::client_lost);
  EXPECT_EQ(w.calls.find("join"), journal::npos);
}

TEST(session_group, may_go_over_the_claim_of_the_store_that_it_has_put_aside_itself) {
  claimed_by_another w{resume_option::rebuild};
  w.source.others = {k_somebody};  // the client before, perhaps
  w.source.script = {[&] { w.source.others.clear(); }};
  ASSERT_EQ(w.run_to_end(k_other_uuid).end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 6U);
}

TEST(session_group, is_not_built_anew_again_where_the_claim_of_the_new_store_failed) {
  claimed_by_another w{resume_option::rebuild};
  w.source.failing_waits = 1;
  ASSERT_EQ(w.run_to_end(k_other_uuid).end, session_end::client_lost);
  ASSERT_EQ(w.run_to_end(k_other_uuid).end, session_end::caught_up) << "it was";
  EXPECT_EQ(w.counted().consumed, 6U);
}

TEST(session_group, is_left_where_somebody_came_in_behind_the_look) {
  for (const resume_option option : k_overriding) {
    claimed_by_another w{option};
    w.source.produce(k_p1, event("b", 1));
    w.source.held_at_join = {k_p0};  // the lowest: without an option it would stay
    const session_result ended = w.run_to_end();
    ASSERT_EQ(ended.end, session_end::refused);
    EXPECT_EQ(ended.why->code, errc::group_taken);
    EXPECT_EQ(w.calls.count("commit"), 0U) << "nothing was claimed";
  }
}

TEST(session_group, takes_over_a_partition_that_it_must_not_read_too) {
  claimed_by_another w{resume_option::takeover};
  w.source.logs[k_p0].start = 5;
  w.source.logs[k_p0].records.erase(w.source.logs[k_p0].records.begin(),
                                    w.source.logs[k_p0].records.begin() + 5);
  ASSERT_EQ(w.run_to_end().end, session_end::caught_up);
  ASSERT_TRUE(w.stop_of(k_p0));
  EXPECT_EQ(w.counted().consumed, 4U);
  EXPECT_EQ(w.source.logs[k_p0].committed, 4);
  ASSERT_EQ(w.store.audits().size(), 1U);
  EXPECT_NE(w.store.audits()[0].text.find("stopped, the directory took over"), std::string::npos)
      << w.store.audits()[0].text;
  w.option = resume_option::kafka;  // what the stop has offered
  ASSERT_EQ(w.run_to_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 5U);
  EXPECT_EQ(w.source.logs[k_p0].committed, 6);
}

/// What a directory and its copy share: both were started before, and the group has that start's claims.
struct started_before : session_world {
  started_before() {
    source.produce(k_p0, event("a", 1));
    source.produce(k_p1, event("b", 1));
    EXPECT_EQ(run_until_end().end, session_end::caught_up);
    source.produce(k_p0, event("a", 2));
    source.produce(k_p1, event("b", 2));
    source.held_at_join = {k_p0};
  }
};

TEST(session_group, is_left_where_a_copy_of_the_directory_was_started_at_the_same_moment) {
  started_before w;
  const auto check = w.source.on_commit;
  w.source.on_commit = [&](const commit_request& r) {
    check(r);
    w.source.logs[k_p1].metadata = w.mark(k_own_uuid, {9, 99});  // its claim came just before ours
  };
  const session_result ended = w.run_until_end();
  ASSERT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(exit_code(ended.why->code), 78);
  EXPECT_NE(
      ended.why->message.find("was left: t/1: the group's committed offset 1 was written by another copy"),
      std::string::npos)
      << ended.why->message;
  EXPECT_EQ(w.counted().consumed, 2U) << "nothing is read beside a copy";
}

TEST(session_group, is_left_by_the_one_of_two_copies_that_does_not_get_the_lowest_partition) {
  for (const bool gets_something : {true, false}) {
    started_before w;
    w.source.held_at_join = std::vector<topic_partition>{};
    if (gets_something) w.source.held_at_join->push_back(k_p1);
    w.source.on_poll = [&](int) { w.source.others = {k_somebody}; };  // it joined in the same moment
    const session_result ended = w.run_until_end();
    ASSERT_EQ(ended.end, session_end::refused);
    ASSERT_TRUE(ended.why);
    EXPECT_EQ(ended.why->code, errc::group_taken);
    EXPECT_EQ(w.counted().consumed, 2U);
  }
}

TEST(session_group, is_left_where_a_copy_of_the_directory_claims_a_part_of_it_later) {
  for (const char* uuid : {k_own_uuid, k_other_uuid}) {
    started_before w;
    w.source.held_at_join.reset();
    w.source.script = {
        [&] {
          w.source.others = {k_somebody};
          w.source.say(notice::revoked{{k_p0, k_p1}, false});
          w.source.say(notice::assigned{{k_p0}});
        },
        [&] {
          w.source.logs[k_p1].metadata = w.mark(uuid, {9, 99});
        },
        [&] { w.source.tick = std::chrono::seconds{1}; },
        [] {},
    };
    const session_result ended = w.run();
    ASSERT_EQ(ended.end, session_end::refused) << "each would have a part of the state";
    ASSERT_TRUE(ended.why);
    EXPECT_EQ(exit_code(ended.why->code), 78);
    EXPECT_NE(ended.why->message.find("group `group-1` was left: t/1: "), std::string::npos)
        << ended.why->message;
    EXPECT_NE(ended.why->message.find("the group has the members `payments-a` at /10.0.0.7"),
              std::string::npos)
        << ended.why->message;
    EXPECT_NE(ended.why->message.find(uuid == k_own_uuid ? "another copy of this state directory"
                                                         : "held by another state directory"),
              std::string::npos)
        << ended.why->message;
  }
}

TEST(session_group, is_left_where_a_copy_of_the_directory_has_taken_over_all_of_it) {
  for (const char* uuid : {k_own_uuid, k_other_uuid}) {
    started_before w;
    w.source.held_at_join.reset();
    w.source.script = {
        // It stood still for longer than its session, while somebody else read the whole group and left.
        [&] {
          w.source.say(notice::revoked{{k_p0, k_p1}, true});
          for (const auto& where : {k_p0, k_p1}) w.source.logs[where].metadata = w.mark(uuid, {9, 99});
          w.source.say(notice::assigned{{k_p0, k_p1}});
        },
        [] {},
    };
    const session_result ended = w.run();
    ASSERT_EQ(ended.end, session_end::refused) << "it would keep the group from the one that goes on";
    ASSERT_TRUE(ended.why);
    EXPECT_EQ(exit_code(ended.why->code), 78);
    EXPECT_NE(ended.why->message.find("group `group-1` was left: t/0: "), std::string::npos)
        << ended.why->message;
    EXPECT_EQ(w.source.logs[k_p0].metadata, w.mark(uuid, {9, 99})) << "not claimed back";
  }
}

/// A machine that wakes up may not reach the brokers of the partitions at once.
TEST(session_group, is_left_once_the_brokers_answer_for_all_that_a_copy_has_taken_over) {
  started_before w;
  w.source.held_at_join.reset();
  w.source.script = {[&] {
    w.source.say(notice::revoked{{k_p0, k_p1}, true});
    for (const auto& where : {k_p0, k_p1}) {
      w.source.logs[where].metadata = w.mark(k_own_uuid, {9, 99});
      w.source.unanswered[where] = make_error_code(errc::source_unavailable);
    }
    w.source.say(notice::assigned{{k_p0, k_p1}});
  }};
  for (int i = 0; i < 6; ++i) w.source.script.emplace_back([] {});
  w.source.script.emplace_back([&] { w.source.unanswered.erase(k_p0); });
  for (int i = 0; i < 6; ++i) w.source.script.emplace_back([] {});
  w.source.script.emplace_back([&] {
    EXPECT_FALSE(w.status.snapshot().ready) << "the other one may still be its own";
    w.source.unanswered.clear();
  });
  for (int i = 0; i < 60; ++i) w.source.script.emplace_back([] {});
  const session_result ended = w.run();
  ASSERT_EQ(ended.end, session_end::refused);
  ASSERT_TRUE(ended.why);
  EXPECT_NE(ended.why->message.find("group `group-1` was left: t/1: "), std::string::npos)
      << ended.why->message;
}

TEST(session_group, shows_who_reads_the_rest_of_it_until_that_member_is_gone) {
  started_before w;
  w.source.held_at_join.reset();
  w.source.tick = std::chrono::seconds{1};
  const auto reason = [&] { return w.status.snapshot().ready_reason; };
  w.source.script = {
      [&] {
        w.source.others = {k_somebody};
        w.source.say(notice::revoked{{k_p0, k_p1}, false});
        w.source.say(notice::assigned{{k_p0}});
      },
      [&] {
        EXPECT_NE(
            reason().find("t/1: another member of the group reads them (members: `payments-a` at /10.0.0.7)"),
            std::string::npos)
            << reason();
        w.source.others.clear();
        w.source.say(notice::revoked{{k_p0}, false});
        w.source.say(notice::assigned{{k_p0, k_p1}});
      },
      [&] { EXPECT_EQ(reason(), ""); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.logged("another member of the group reads them"), 1U) << w.logged();
}

TEST(session_group, shows_which_topic_is_gone_where_nobody_else_is_in_it) {
  session_world w{{[] {
    stream_config s = payments();
    s.topics = {"t", "u"};
    return s;
  }()}};
  const topic_partition u0 = at("u", 0);
  w.source.produce(k_p0, event("a", 1));
  w.source.produce(u0, event("b", 1));
  w.source.tick = std::chrono::seconds{1};
  const auto reason = [&] { return w.status.snapshot().ready_reason; };
  w.source.script = {
      [&] {
        w.source.logs.erase(u0);
        w.source.say(notice::revoked{{k_p0, u0}, false});
        w.source.say(notice::assigned{{k_p0}});
      },
      [&] {
        EXPECT_NE(reason().find("u/0: no broker knows the topic `u` any more"), std::string::npos)
            << reason();
      },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
}

TEST(session_group, is_worked_in_beside_a_member_that_claims_nothing) {
  started_before w;
  w.source.tick = std::chrono::seconds{10};  // it may have been killed, which its session's end tells
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 3U);
}

TEST(session_claim, waits_for_the_next_assignment_where_the_group_moved_on) {
  session_world w;
  for (int n = 1; n <= 3; ++n) w.source.produce(k_p0, event("a", n));
  w.source.failing_waits = 1;
  w.source.wait_error = kafka_error(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
  w.source.script = {
      [&] {
        EXPECT_EQ(w.counted().consumed, 0U) << "nothing is read without a claim";
        w.source.say(notice::revoked{{k_p0}, false});
      },
      [&] { w.source.say(notice::assigned{{k_p0}}); },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.calls.count("join"), 1U) << "the client stays";
  EXPECT_EQ(w.counted().consumed, 3U);
  EXPECT_EQ(w.source.logs[k_p0].committed, 3);
}

TEST(session_claim, keeps_the_option_until_it_has_claimed) {
  claimed_by_another w{resume_option::kafka};
  w.source.tick = std::chrono::milliseconds{50};
  w.source.failing_waits = 1;
  w.source.wait_error = kafka_error(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
  w.source.script = {
      [&] {
        w.source.say(notice::revoked{{k_p0}, true});
      },
      [&] { w.source.say(notice::assigned{{k_p0}}); },
  };
  ASSERT_EQ(w.run_to_end().end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 2U) << "behind the offset of the other store";
  EXPECT_EQ(w.source.logs[k_p0].committed, 6);
}

TEST(session_claim, gives_up_where_this_user_may_not_commit) {
  session_world w;
  w.source.produce(k_p0, event("a", 1));
  w.source.failing_waits = 1;
  w.source.wait_error = kafka_error(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  const session_result ended = w.run();
  ASSERT_EQ(ended.end, session_end::refused) << "no new client would help";
  EXPECT_NE(ended.why->message.find("group `group-1` could not be claimed"), std::string::npos);
  EXPECT_NE(ended.why->hint.find("ACL"), std::string::npos);
  EXPECT_EQ(w.counted().consumed, 0U);
}

}  // namespace
}  // namespace ratchet::testing
