// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The rows of the resume table, through the whole session: what is said, what `--resume` does, what stays.
#include <gtest/gtest.h>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

/// Three records were handled and committed; six are in the log.
struct resumed : session_world {
  explicit resumed(int records = 3) {
    produce(k_p0, 1, records, "a");
    EXPECT_EQ(run_until_end().end, session_end::caught_up);
    EXPECT_EQ(state_of(k_p0).next_offset, records);
    calls.lines.clear();
  }
  fake_log& log_of_p0() { return source.logs[k_p0]; }
  void commit_by_somebody(std::int64_t offset, std::string metadata = {}) {
    log_of_p0().committed = offset;
    log_of_p0().metadata = std::move(metadata);
  }
  session_result run_to_end_with(resume_option option) {
    session_options options;
    options.until_end = true;
    options.resume.option = option;
    return run(options);
  }
  void expect_start_at(std::int64_t offset) {
    EXPECT_NE(calls.find("assign t[0]@" + std::to_string(offset)), journal::npos)
        << ::testing::PrintToString(calls.lines);
  }
  void expect_stopped(const std::string& part) {
    const auto why = stop_of(k_p0);
    ASSERT_TRUE(why);
    EXPECT_NE(why->find(part), std::string::npos) << *why;
    EXPECT_FALSE(status.snapshot().ready);
    EXPECT_EQ(calls.find("commit"), journal::npos) << "nothing is claimed of a stopped partition";
    EXPECT_EQ(calls.find("assign t[0]"), journal::npos);
    EXPECT_EQ(counted().consumed, 3U);
  }
  void expect_audit(const std::string& kind, const std::string& part) {
    const auto rows = store.audits();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].kind, kind);
    EXPECT_EQ(rows[0].stream, "payments");
    EXPECT_NE(rows[0].text.find(part), std::string::npos) << rows[0].text;
  }
};

const resume_option k_all_options[] = {resume_option::store, resume_option::kafka, resume_option::rebuild,
                                       resume_option::takeover};

TEST(session_resume, refuses_another_stores_group_without_joining) {
  for (const bool is_new : {true, false}) {
    resumed w;
    if (is_new) w.source.logs[k_p1] = {};  // only the second partition is unknown, and held
    fake_log& held = w.source.logs[is_new ? k_p1 : k_p0];
    held.committed = 2;
    held.metadata = session_world::mark(k_other_uuid, {1, 1});
    const session_result ended = w.run();
    EXPECT_EQ(ended.end, session_end::refused);
    ASSERT_TRUE(ended.why);
    EXPECT_EQ(exit_code(ended.why->code), 78);
    EXPECT_NE(ended.why->message.find("group `group-1` was not joined"), std::string::npos);
    EXPECT_NE(ended.why->message.find(k_other_uuid), std::string::npos) << "it names the holder";
    EXPECT_TRUE(w.calls.lines.empty()) << ::testing::PrintToString(w.calls.lines);
  }
}

TEST(session_resume, refuses_another_cluster_before_anything_else) {
  resumed w;
  w.source.cluster = "cluster-2";
  const session_result ended = w.run();
  EXPECT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(ended.why->code, errc::state_foreign);
  EXPECT_NE(ended.why->message.find("cluster-1"), std::string::npos);
  EXPECT_NE(ended.why->message.find("cluster-2"), std::string::npos);
  EXPECT_TRUE(w.calls.lines.empty());
}

TEST(session_resume, refuses_a_copied_directory_without_joining) {
  resumed w;
  w.commit_by_somebody(3, session_world::mark(k_own_uuid, {9, 99}));
  const session_result ended = w.run();
  EXPECT_EQ(ended.end, session_end::refused);
  EXPECT_NE(ended.why->message.find("another copy of this state directory"), std::string::npos);
  EXPECT_NE(ended.why->hint.find("--resume takeover"), std::string::npos);
  EXPECT_TRUE(w.calls.lines.empty());
}

TEST(session_resume, takes_over_from_a_copy_with_an_incarnation_past_its_own) {
  resumed w;
  w.commit_by_somebody(3, session_world::mark(k_own_uuid, {9, 99}));
  w.produce(k_p0, 4, 6, "a");
  ASSERT_EQ(w.run_to_end_with(resume_option::takeover).end, session_end::caught_up);
  EXPECT_EQ(w.store.incarnations().back().counter, 10U);
  w.expect_start_at(3);
  w.expect_audit("resume_takeover", "took over");
  EXPECT_EQ(w.counted().consumed, 6U);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "from now on it is ours";
}

TEST(session_resume, stops_where_the_log_begins_behind_the_state) {
  resumed w;
  w.produce(k_p0, 4, 8, "a");
  w.log_of_p0().start = 5;
  w.log_of_p0().records.erase(w.log_of_p0().records.begin(), w.log_of_p0().records.begin() + 5);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "a stopped partition counts as ended";
  w.expect_stopped("offsets [3, 5) were deleted before they were handled");

  ASSERT_EQ(w.run_to_end_with(resume_option::rebuild).end, session_end::rebuild);
  ASSERT_EQ(w.run_to_end_with(resume_option::kafka).end, session_end::caught_up);
  w.expect_start_at(5);
  w.expect_audit("resume_below_log_start", "offsets [3, 5) were not handled");
  EXPECT_EQ(w.logged("offsets [3, 5) are not handled"), 1U);
  EXPECT_EQ(w.counted().consumed, 6U);
  EXPECT_FALSE(w.stop_of(k_p0)) << "it is read again";
  EXPECT_TRUE(w.live_at_stop.ready);
}

TEST(session_resume, stops_where_the_state_lies_behind_the_end_of_the_log) {
  resumed w;
  w.log_of_p0().records.resize(1);
  w.log_of_p0().end = 1;
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_stopped("truncated or created again");
  EXPECT_EQ(w.run_to_end_with(resume_option::rebuild).end, session_end::rebuild);
}

TEST(session_resume, stops_where_the_last_record_is_another_one) {
  resumed w;
  w.log_of_p0().records[2].value = event("a", 33);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_stopped("the record at offset 2 is not the one that was handled there");
  EXPECT_EQ(w.run_to_end_with(resume_option::rebuild).end, session_end::rebuild);
}

TEST(session_resume, stops_where_the_last_record_before_the_markers_of_transactions_is_another_one) {
  resumed w;
  w.log_of_p0().end = 5;  // two markers
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 5);
  w.log_of_p0() = {};  // made anew, and longer than before; the group's offsets went with the topic
  w.produce(k_p0, 11, 19, "a");
  w.calls.lines.clear();
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_stopped("the record at offset 2 is not the one that was handled there");
  EXPECT_EQ(w.run_to_end_with(resume_option::rebuild).end, session_end::rebuild);
}

TEST(session_resume, says_nothing_of_a_partition_in_which_only_markers_of_transactions_were_read) {
  session_world w;
  w.source.logs[k_p0].end = 4;
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  ASSERT_EQ(w.state_of(k_p0).next_offset, 4);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("cannot check whether"), 0U) << "there is nothing of it to compare: " << w.logged();
}

TEST(session_resume, warns_and_goes_on_where_it_remembers_no_record_below_its_position) {
  resumed w;
  w.source.produce(k_p0, event("a", 4), w.clock.now());
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.commit_by_somebody(6);
  w.produce(k_p0, 5, 9, "a");
  w.log_of_p0().records.resize(6);
  w.log_of_p0().end = 6;
  ASSERT_EQ(w.run_to_end_with(resume_option::kafka).end, session_end::caught_up);
  EXPECT_EQ(w.logged("cannot check whether"), 0U) << "that was said by the operator";
  w.log_of_p0() = {};
  w.produce(k_p0, 11, 19, "a");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_start_at(6);
  EXPECT_EQ(w.logged("the state remembers no record below offset 6"), 1U);
}

TEST(session_resume, warns_and_goes_on_where_the_last_record_is_gone) {
  resumed w;
  w.log_of_p0().records.pop_back();  // compacted away; the log's end stays
  w.produce(k_p0, 4, 5, "a");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_start_at(3);
  EXPECT_EQ(w.logged("the record at offset 2 is gone"), 1U);
  EXPECT_EQ(w.counted().consumed, 5U);
}

TEST(session_resume, resumes_at_the_stored_offset_whatever_our_own_commit_says) {
  resumed w{6};
  for (const std::optional<std::int64_t> committed : {std::optional<std::int64_t>{4}, {}, {6}}) {
    w.calls.lines.clear();
    w.log_of_p0().committed = committed;
    ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
    w.expect_start_at(6);
    EXPECT_EQ(w.source.logs[k_p0].committed, 6) << "the mirror follows";
  }
  EXPECT_TRUE(w.store.audits().empty());
}

TEST(session_resume, resumes_at_the_stored_offset_where_our_own_commit_is_ahead) {
  resumed w;
  w.produce(k_p0, 4, 6, "a");
  w.commit_by_somebody(6, session_world::mark(k_own_uuid, w.store.incarnations().back()));
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_start_at(3);
  EXPECT_EQ(w.counted().consumed, 6U);
}

TEST(session_resume, leaves_an_audit_row_where_somebody_set_the_offset_that_we_have) {
  resumed w;
  w.commit_by_somebody(3);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_start_at(3);
  w.expect_audit("resume_equal_foreign", "resumed at offset 3");
}

TEST(session_resume, stops_where_somebody_rewound_the_group) {
  resumed w;
  w.commit_by_somebody(1);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.expect_stopped("an operator or another program set the group's offset back to 1; the state ends at 3");
  EXPECT_EQ(w.run_to_end_with(resume_option::rebuild).end, session_end::rebuild);
  ASSERT_EQ(w.run_to_end_with(resume_option::kafka).end, session_end::caught_up);
  EXPECT_TRUE(w.stop_of(k_p0)) << "the stored events cannot be taken back";
  EXPECT_EQ(w.logged("`--resume kafka` does not apply to what was found"), 1U);
  ASSERT_EQ(w.run_to_end_with(resume_option::store).end, session_end::caught_up);
  w.expect_start_at(3);
  w.expect_audit("resume_rewound", "resumed at offset 3");
  EXPECT_EQ(w.log_of_p0().committed, 3);
}

TEST(session_resume, stops_where_somebody_skipped_ahead) {
  for (const resume_option option : {resume_option::none, resume_option::store, resume_option::kafka}) {
    resumed w;
    w.produce(k_p0, 4, 8, "a");
    w.commit_by_somebody(5);
    ASSERT_EQ(w.run_to_end_with(option).end, session_end::caught_up);
    if (option == resume_option::none) {
      w.expect_stopped(
          "an operator or another program set the group's offset ahead to 5; the state ends at 3");
    } else if (option == resume_option::store) {
      w.expect_start_at(3);
      w.expect_audit("resume_skipped_ahead", "resumed at offset 3");
      EXPECT_EQ(w.counted().consumed, 8U);
    } else {
      w.expect_start_at(5);
      w.expect_audit("resume_skipped_ahead", "offsets [3, 5) were not handled");
      EXPECT_EQ(w.counted().consumed, 6U);
    }
  }
}

TEST(session_resume, says_in_strict_order_that_later_events_wait_for_what_was_skipped) {
  for (const bool waits : {true, false}) {
    stream_config s = payments();
    s.order = order::strict;
    s.gap.policy = waits ? gap_policy::wait : gap_policy::skip;
    session_world w{{s}};
    w.produce(k_p0, 1, 3, "a");
    ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
    w.source.logs[k_p0].committed = 5;
    w.source.logs[k_p0].metadata.clear();
    w.produce(k_p0, 4, 6, "a");
    session_options options;
    options.until_end = true;
    options.resume.option = resume_option::kafka;
    ASSERT_EQ(w.run(options).end, session_end::caught_up);
    EXPECT_EQ(w.logged("t/0: offsets [3, 5) are not handled"), 1U) << w.logged();
    EXPECT_EQ(w.logged("later events of an aggregate that lost one of them wait for its number"),
              waits ? 1U : 0U)
        << w.logged();
    EXPECT_EQ(w.logged("payments --reason gap"), waits ? 1U : 0U) << "the command that shows them";
  }
}

TEST(session_resume, refuses_where_the_state_is_lost) {
  for (const char* metadata : {"", "somebody", "mark"}) {
    session_world w;
    w.produce(k_p0, 1, 6, "a");
    w.source.logs[k_p0].committed = 4;
    w.source.logs[k_p0].metadata =
        std::string{metadata} == "mark" ? session_world::mark(k_other_uuid, {1, 1}) : metadata;
    const session_result ended = w.run();
    EXPECT_EQ(ended.end, session_end::refused);
    EXPECT_NE(ended.why->message.find("the state was lost"), std::string::npos) << ended.why->message;
    EXPECT_TRUE(w.calls.lines.empty());
  }
}

TEST(session_resume, builds_a_lost_state_anew_from_the_start_of_the_log_and_says_what_is_missing) {
  session_world w;
  w.produce(k_p0, 1, 6, "a");
  w.source.logs[k_p0].committed = 4;
  w.source.logs[k_p0].start = 2;
  w.source.logs[k_p0].records.erase(w.source.logs[k_p0].records.begin(),
                                    w.source.logs[k_p0].records.begin() + 2);
  session_options options;
  options.until_end = true;
  options.resume.option = resume_option::rebuild;
  ASSERT_EQ(w.run(options).end, session_end::caught_up);
  EXPECT_EQ(w.counted().consumed, 4U);
  EXPECT_EQ(w.logged("offsets [0, 2) are not handled"), 1U);
  ASSERT_EQ(w.store.audits().size(), 1U);
  EXPECT_EQ(w.store.audits()[0].kind, "resume_store_lost");
}

TEST(session_resume, accepts_a_lost_state_where_the_operator_says_so) {
  session_world w;
  w.produce(k_p0, 1, 6, "a");
  w.source.logs[k_p0].committed = 4;
  session_options options;
  options.until_end = true;
  options.resume.option = resume_option::kafka;
  ASSERT_EQ(w.run(options).end, session_end::caught_up);
  EXPECT_NE(w.calls.find("assign t[0]@4"), journal::npos);
  EXPECT_EQ(w.counted().consumed, 2U);
  ASSERT_EQ(w.store.audits().size(), 1U);
  EXPECT_NE(w.store.audits()[0].text.find("[0, 4)"), std::string::npos);
}

TEST(session_resume, starts_where_the_config_says_and_a_later_partition_at_its_beginning) {
  stream_config from_the_end = payments();
  from_the_end.start = start_position::latest;
  session_world w{{from_the_end}};
  w.produce(k_p0, 1, 4, "a");
  w.source.script = {
      [&] { w.produce(k_p0, 5, 6, "a"); },
      [&] {
        w.produce(k_p1, 1, 3, "a");
        w.source.say(notice::revoked{{k_p0}, false});
      },
      [&] {
        w.source.say(notice::assigned{{k_p0, k_p1}});
      },
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_NE(w.calls.find("assign t[0]@4"), journal::npos);
  EXPECT_NE(w.calls.find("assign t[0]@6 t[1]@0"), journal::npos);
  EXPECT_EQ(w.counted().consumed, 5U);
  EXPECT_TRUE(w.live_at_stop.ready) << "all partitions that there are now are read";
}

TEST(session_resume, does_nothing_with_an_option_where_nothing_is_amiss) {
  for (const resume_option option : k_all_options) {
    resumed w;
    w.produce(k_p0, 4, 6, "a");
    ASSERT_EQ(w.run_to_end_with(option).end, session_end::caught_up);
    w.expect_start_at(3);
    EXPECT_TRUE(w.store.audits().empty());
    EXPECT_EQ(w.counted().consumed, 6U);
    EXPECT_EQ(w.logged("had nothing to do"), 1U) << w.logged();
  }
}

TEST(session_resume, holds_an_option_for_the_first_assignment_only) {
  resumed w;
  w.produce(k_p0, 4, 8, "a");
  w.log_of_p0().records.pop_back();
  w.log_of_p0().end = 7;
  w.source.script = {
      [&] {
        w.source.say(notice::revoked{{k_p0}, false});
      },
      [&] {
        w.produce(k_p0, 8, 12, "a");
        w.commit_by_somebody(10);
        w.source.say(notice::assigned{{k_p0}});
      },
  };
  ASSERT_EQ(w.run_with(resume_option::kafka).end, session_end::drained);
  EXPECT_TRUE(w.stop_of(k_p0)) << "skipping was not meant for what happened since";
  EXPECT_EQ(w.counted().consumed, 7U);
  EXPECT_TRUE(w.store.audits().empty());
}

TEST(session_resume, calls_no_rebuild_unused_whose_directory_is_new) {
  for (const bool was_used : {false, true}) {
    session_world w;  // behind a topic made anew nothing is committed that the new state could meet
    w.produce(k_p0, 1, 3, "a");
    session_options options;
    options.until_end = true;
    options.resume = {resume_option::rebuild, {}, {}, was_used};
    int accepted = 0;
    w.accept = [&]() -> std::optional<problem> {
      EXPECT_EQ(w.store.last_step(), 0U) << "before the first step";
      ++accepted;
      return std::nullopt;
    };
    ASSERT_EQ(w.run(options).end, session_end::caught_up);
    EXPECT_EQ(w.logged("had nothing to do"), 0U) << "Ratchet or somebody else has put the old one aside";
    EXPECT_EQ(accepted, 1);
  }
}

TEST(session_resume, accepts_no_start_that_it_refuses) {
  resumed w;
  w.commit_by_somebody(2, session_world::mark(k_other_uuid, {1, 1}));
  w.accept = []() -> std::optional<problem> {
    ADD_FAILURE() << "nothing may be written";
    return std::nullopt;
  };
  EXPECT_EQ(w.run().end, session_end::refused);
  w.source.cluster = "cluster-2";
  w.commit_by_somebody(3);
  EXPECT_EQ(w.run().end, session_end::refused);
}

TEST(session_resume, judges_each_partition_by_itself) {
  session_world w;
  w.produce(k_p0, 1, 3, "a");
  w.produce(k_p1, 1, 3, "a");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  w.produce(k_p1, 4, 5, "a");
  w.source.logs[k_p0].committed = 1;
  w.source.logs[k_p0].metadata.clear();
  w.calls.lines.clear();
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_TRUE(w.stop_of(k_p0));
  EXPECT_NE(w.calls.find("assign t[1]@3"), journal::npos) << "the rest goes on";
  EXPECT_EQ(w.source.logs[k_p0].committed, 1) << "nothing is claimed of the stopped one";
  EXPECT_EQ(w.source.logs[k_p1].committed, 5);
  EXPECT_EQ(w.counted().consumed, 8U);
}

}  // namespace
}  // namespace ratchet::testing
