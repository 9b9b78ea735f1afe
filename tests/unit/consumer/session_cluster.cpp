// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A state that was read from another cluster: what is asked, and how each answer goes on with this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three records of each partition were handled on the first cluster. The second one has them behind offsets
/// of its own, and two more of t/0.
struct moved : session_world {
  explicit moved(std::vector<stream_config> streams = {payments()}) : session_world{std::move(streams)} {
    settings.kafka.group = "group-1";
    produce(k_p0, 1, 3, "a");
    produce(k_p1, 1, 3, "b");
    EXPECT_EQ(run_until_end().end, session_end::caught_up);
    source.cluster = "cluster-2";
    source.logs.clear();
    skip(k_p0, 40);
    skip(k_p1, 7);
    produce(k_p0, 1, 5, "a");
    produce(k_p1, 1, 3, "b");
    calls.lines.clear();
  }
  void skip(const topic_partition& where, std::int64_t to) {
    source.logs[where].start = source.logs[where].end = to;
  }
  session_result go_on_by(resume_option option) {
    session_options options;
    options.until_end = true;
    options.resume.option = option;
    return run(options);
  }
  void commit_by(std::string metadata, std::int64_t of_p0, std::int64_t of_p1) {
    source.logs[k_p0].committed = of_p0;
    source.logs[k_p1].committed = of_p1;
    source.logs[k_p0].metadata = source.logs[k_p1].metadata = std::move(metadata);
  }
  [[nodiscard]] std::vector<std::string> kinds_of_audits() const {
    std::vector<std::string> kinds;
    for (const audit_row& row : store.audits()) kinds.push_back(row.kind);
    return kinds;
  }
  void expect_untouched() {
    EXPECT_EQ(store.cluster_id(), "cluster-1");
    EXPECT_EQ(state_of(k_p0).next_offset, 3);
    EXPECT_EQ(calls.find("assign t"), journal::npos) << ::testing::PrintToString(calls.lines);
    EXPECT_EQ(calls.find("commit"), journal::npos);
    EXPECT_TRUE(store.audits().empty());
  }
};

std::vector<resume_option> options_of(const question& q) {
  std::vector<resume_option> out;
  for (const resume_choice& c : q.choices) out.push_back(c.option);
  return out;
}

TEST(session_cluster, asks_before_anything_is_read) {
  for (const resume_option option : {resume_option::none, resume_option::takeover}) {
    moved w;
    const session_result ended = w.run_with(option);
    ASSERT_EQ(ended.end, session_end::refused);
    ASSERT_TRUE(ended.why);
    EXPECT_EQ(ended.why->code, errc::state_foreign);
    EXPECT_THAT(ended.why->message, HasSubstr("was read from the cluster cluster-1"));
    EXPECT_THAT(ended.why->message, HasSubstr("is the cluster cluster-2"));
    ASSERT_EQ(ended.why->questions.size(), 1U);
    const question& asked = ended.why->questions[0];
    EXPECT_EQ(asked.kind, question_kind::other_cluster);
    EXPECT_THAT(options_of(asked), ElementsAre(resume_option::store, resume_option::kafka,
                                               resume_option::rebuild, resume_option::cluster));
    EXPECT_TRUE(w.calls.lines.empty()) << "nobody joins";
    w.expect_untouched();
  }
}

TEST(session_cluster, reads_each_log_from_its_start_and_handles_what_is_new) {
  moved w;
  ASSERT_EQ(w.go_on_by(resume_option::cluster).end, session_end::caught_up);
  EXPECT_NE(w.calls.find("assign t[0]@40 t[1]@7"), journal::npos) << ::testing::PrintToString(w.calls.lines);
  EXPECT_EQ(w.store.cluster_id(), "cluster-2");
  EXPECT_EQ(w.store.snapshot_of("payments", "a"), "5");
  EXPECT_EQ(w.counted().applied + w.counted().superseded, 8U) << "each event once";
  EXPECT_EQ(w.counted().duplicate + w.counted().stale, 6U);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 45);
  EXPECT_THAT(w.kinds_of_audits(),
              ElementsAre("resume_other_cluster", "resume_other_cluster", "cluster_changed"));
  EXPECT_EQ(w.logged("read from the cluster cluster-1 so far, from the cluster cluster-2 from now on"), 1U);
  w.calls.lines.clear();
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up) << "from now on it is its own";
  EXPECT_NE(w.calls.find("assign t[0]@45 t[1]@10"), journal::npos);
}

TEST(session_cluster, knows_no_offset_of_the_cluster_before_any_more) {
  moved w;
  w.source.logs.erase(k_p1);  // there are fewer partitions now
  ASSERT_EQ(w.go_on_by(resume_option::cluster).end, session_end::caught_up);
  EXPECT_FALSE(w.state_of(k_p1).has_position());
  w.skip(k_p1, 2);
  w.produce(k_p1, 4, 4, "b");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.state_of(k_p1).next_offset, 3) << "read from its log's start";
}

TEST(session_cluster, goes_on_behind_a_crash_between_the_step_and_the_claim) {
  moved w;
  w.source.failing_waits = 1;
  EXPECT_EQ(w.go_on_by(resume_option::cluster).end, session_end::client_lost);
  EXPECT_EQ(w.store.cluster_id(), "cluster-2") << "it was entered, and durable";
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.store.snapshot_of("payments", "a"), "5");
}

TEST(session_cluster, keeps_all_or_nothing_where_the_power_is_cut_before_the_step_is_durable) {
  moved w;
  w.store.syncs_until_failure = 0;
  EXPECT_EQ(w.go_on_by(resume_option::cluster).end, session_end::store_lost);
  w.power_cut();
  w.store.syncs_until_failure = -1;
  w.expect_untouched();
  EXPECT_EQ(w.run().end, session_end::refused) << "it asks again";
}

TEST(session_cluster, is_refused_by_name_where_repeats_are_not_known) {
  stream_config ties = payments();
  ties.ties = ties::later;
  moved w{{ties}};
  const session_result ended = w.go_on_by(resume_option::cluster);
  ASSERT_EQ(ended.end, session_end::refused);
  EXPECT_THAT(ended.why->hint, HasSubstr("stream `payments`: of two events with one number"));
  ASSERT_EQ(ended.why->questions.size(), 1U);
  EXPECT_THAT(options_of(ended.why->questions[0]),
              ElementsAre(resume_option::store, resume_option::kafka, resume_option::rebuild));
  w.expect_untouched();

  ASSERT_EQ(w.go_on_by(resume_option::kafka).end, session_end::refused) << "the group has no offsets there";
  w.expect_untouched();
  w.commit_by("", 43, 10);
  ASSERT_EQ(w.go_on_by(resume_option::kafka).end, session_end::caught_up);
  EXPECT_NE(w.calls.find("assign t[0]@43 t[1]@10"), journal::npos) << ::testing::PrintToString(w.calls.lines);
  EXPECT_EQ(w.counted().consumed, 8U);
  EXPECT_EQ(w.logged("t/0: offsets [40, 43) are not handled"), 1U);
}

TEST(session_cluster, takes_over_what_a_mirror_brought_of_its_own_marks) {
  // The mirror has translated the group's offsets, and left their metadata as it was.
  for (const incarnation of : {incarnation{1, 1}, incarnation{9, 99}}) {
    moved w;
    w.commit_by(session_world::mark(k_own_uuid, of), 42, 10);
    ASSERT_EQ(w.go_on_by(resume_option::cluster).end, session_end::caught_up);
    EXPECT_NE(w.calls.find("assign t[0]@40 t[1]@7"), journal::npos) << "it reads all the same";
    EXPECT_EQ(w.store.snapshot_of("payments", "a"), "5");
    EXPECT_EQ(w.counted().applied + w.counted().superseded, 8U);
    EXPECT_GE(w.store.incarnations().back().counter, of.counter);
  }
}

TEST(session_cluster, leaves_the_group_of_another_store_alone) {
  for (const resume_option option : {resume_option::cluster, resume_option::kafka, resume_option::store}) {
    moved w;
    w.commit_by(session_world::mark(k_other_uuid, {1, 1}), 42, 10);
    const session_result ended = w.go_on_by(option);
    ASSERT_EQ(ended.end, session_end::refused);
    EXPECT_EQ(ended.why->code, errc::group_taken);
    w.expect_untouched();
  }
}

TEST(session_cluster, waits_for_members_of_the_group_to_go) {
  moved w;
  w.source.others = {{"m", "someone", "/10.0.0.1"}};
  w.source.at_end = {};
  const session_result ended = w.go_on_by(resume_option::cluster);
  ASSERT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(ended.why->code, errc::group_taken);
  w.expect_untouched();
}

TEST(session_cluster, keeps_its_offsets_where_the_log_is_the_same_one) {
  moved w;
  w.source.logs.clear();
  w.produce(k_p0, 1, 5, "a");
  w.produce(k_p1, 1, 3, "b");
  ASSERT_EQ(w.go_on_by(resume_option::store).end, session_end::caught_up);
  EXPECT_NE(w.calls.find("assign t[0]@3 t[1]@3"), journal::npos) << ::testing::PrintToString(w.calls.lines);
  EXPECT_EQ(w.store.cluster_id(), "cluster-2");
  EXPECT_EQ(w.counted().consumed, 8U) << "nothing comes twice";
}

TEST(session_cluster, keeps_no_offset_that_nothing_proves) {
  {
    moved w;  // other offsets
    ASSERT_EQ(w.go_on_by(resume_option::store).end, session_end::refused);
    w.expect_untouched();
  }
  {
    moved w;  // another record
    w.source.logs.clear();
    w.produce(k_p0, 1, 5, "a");
    w.produce(k_p1, 4, 9, "b");
    const session_result ended = w.go_on_by(resume_option::store);
    ASSERT_EQ(ended.end, session_end::refused) << "not even the partition that fits is read";
    EXPECT_THAT(ended.why->message, HasSubstr("t/1: the record at offset 2 is not the one"));
    EXPECT_THAT(ended.why->hint, HasSubstr("--resume cluster`"));
    w.expect_untouched();
  }
  {
    moved w;  // the record is gone
    w.source.logs.clear();
    w.produce(k_p0, 1, 5, "a");
    w.produce(k_p1, 1, 5, "b");
    auto& records = w.source.logs[k_p0].records;
    records.erase(records.begin() + 2);
    const session_result ended = w.go_on_by(resume_option::store);
    ASSERT_EQ(ended.end, session_end::refused);
    EXPECT_THAT(ended.why->message, HasSubstr("cannot check that the offsets are the same"));
    w.expect_untouched();
  }
}

TEST(session_cluster, builds_the_state_anew_where_the_topics_were) {
  moved w;
  EXPECT_EQ(w.go_on_by(resume_option::rebuild).end, session_end::rebuild);
}

TEST(session_cluster, reads_a_topic_of_another_name_from_its_start_too) {
  stream_config from_end = payments();
  from_end.start = start_position::latest;
  moved w{{from_end}};
  w.source.logs.clear();
  w.settings.streams[0].topics = {"mirrored.t"};
  w.streams()[0]->config.topics = {"mirrored.t"};
  for (int n = 1; n <= 5; ++n) w.source.produce(at("mirrored.t", 0), event("a", n));
  ASSERT_EQ(w.go_on_by(resume_option::cluster).end, session_end::caught_up);
  EXPECT_EQ(w.store.snapshot_of("payments", "a"), "5");
}

}  // namespace
}  // namespace ratchet::testing
