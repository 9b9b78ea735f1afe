// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "unit/store/waiting_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;
using store_support::waiting_at;
using store_support::waiting_fixture;
using testing::AllOf;
using testing::HasSubstr;

class a_changed_meaning : public waiting_fixture {
 protected:
  [[nodiscard]] problem refusal() const {
    store_options o = options();
    o.streams[0].lines = {{"order", "arrival"}};
    auto opened = open_store(o);
    EXPECT_FALSE(opened);
    return opened ? problem{} : opened.error();
  }
};

TEST_F(a_changed_meaning, is_refused_while_anything_waits) {
  {
    auto s = open();
    write(*s, {{.aggregate = "p1",
                .puts = {waiting_at(seq(3)), waiting_at(seq(1), waiting_state::dead),
                         waiting_at(seq(2), waiting_state::retrying)},
                .removals = {}}});
  }
  const problem p = refusal();
  EXPECT_EQ(p.code, make_error_code(errc::state_foreign));
  EXPECT_THAT(
      p.message,
      HasSubstr(R"(stream "payments" holds 3 events that wait (1 dead, 1 to be tried again, 1 parked))"));
  EXPECT_THAT(p.hint,
              AllOf(HasSubstr("`ratchet waiting replay`"), HasSubstr("`ratchet run --resume rebuild`")));
  ASSERT_EQ(p.diagnostics.size(), 1U);
  const stream_state left = must(open()->load(stream_id{1}));
  EXPECT_EQ(left.counters.waiting(), 3U) << "nothing was deleted";
  EXPECT_TRUE(must(verify_store(path())).empty());
}

/// Every counter, and whether a stream that counted nothing else may start over.
TEST_F(fixture, that_counted_something_starts_over_or_does_not) {
  const struct {
    std::uint64_t counters::*counter;
    bool is_kept;
    const char* told;
  } k_rows[] = {
      {&counters::applied, true, "1 applied"},
      {&counters::superseded, true, "1 superseded"},
      {&counters::skipped, true, "1 skipped"},
      {&counters::discarded, true, "1 discarded"},
      {&counters::waiting_parked, true, "1 event that waits (1 parked)"},
      {&counters::waiting_retrying, true, "1 event that waits (1 to be tried again)"},
      {&counters::waiting_dead, true, "1 event that waits (1 dead)"},
      {&counters::rejected_malformed, false, ""},
      {&counters::rejected_conflict, false, ""},
      {&counters::rejected_too_old, false, ""},
      {&counters::rejected_late, false, ""},
      {&counters::rejected_id_reused, false, ""},
      {&counters::rejected_below_first, false, ""},
      {&counters::rejected_sequence_mixed, false, ""},
      {&counters::ignored, false, ""},
      {&counters::duplicate, false, ""},
      {&counters::stale, false, ""},
  };
  int at = 0;
  for (const auto& row : k_rows) {
    store_options o = options();
    o.path = path().parent_path() / std::to_string(at++);
    {
      auto s = must(open_store(o));
      write(*s, s->id_of("payments"), {}, [&](step_batch&, stream_change& change) {
        change.after.counters.*row.counter = change.after.counters.consumed = 1;
      });
    }
    o.streams[0].lines = {{"order", "arrival"}};
    const auto opened = open_store(o);
    ASSERT_EQ(static_cast<bool>(opened), !row.is_kept) << row.told << at;
    if (row.is_kept) {
      EXPECT_THAT(opened.error().message, HasSubstr(row.told));
    } else {
      EXPECT_EQ(opened.value()->restarted_streams().size(), 1U);
    }
  }
}

TEST_F(fixture, that_holds_nothing_takes_a_table_without_starting_over) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {},
          [](step_batch&, stream_change& change) { ++change.after.counters.consumed; });
  }
  store_options o = options();
  o.streams[0].lines.emplace_back("table.t", "text");
  auto s = must(open_store(o));
  EXPECT_EQ(must(s->load(s->id_of("payments"))).counters.consumed, 1U);
  EXPECT_TRUE(s->restarted_streams().empty());
  EXPECT_TRUE(s->added_tables().empty()) << "it lacks nothing";
}

/// Opened by whoever may still find that it may not start.
class a_start : public fixture {
 protected:
  [[nodiscard]] store_options may_be_refused() const {
    store_options o = options();
    o.adopts_at_once = false;
    return o;
  }
};

TEST_F(a_start, that_is_refused_leaves_no_directory_behind_that_it_has_made) {
  {
    auto s = must(open_store(may_be_refused()));
    EXPECT_TRUE(s->has_unwritten_start());
    must(s->set_cluster_id("cluster-1"));
    must(s->draw_incarnation(0, 7));
    EXPECT_EQ(s->cluster_id(), "cluster-1");
    EXPECT_EQ(s->incarnations().size(), 1U);
    const auto view = must(s->view());
    EXPECT_EQ(must(view->identity()).uuid, s->uuid()) << "whoever asks meanwhile is told";
    ASSERT_EQ(must(view->streams()).size(), 1U);
    EXPECT_EQ(s->checkpoint(path().string() + ".copy").error(), make_error_code(errc::state_missing));
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
  std::filesystem::create_directory(path());
  std::ofstream{path() / "lost+found"} << "of the file system";
  EXPECT_TRUE(must(open_store(may_be_refused()))->has_unwritten_start());
  std::vector<std::string> left;
  for (const auto& e : std::filesystem::directory_iterator{path()}) left.push_back(e.path().filename());
  EXPECT_THAT(left, testing::ElementsAre("lost+found"));
}

TEST_F(a_start, that_is_accepted_writes_what_it_is_with_its_first_step) {
  std::string uuid;
  {
    auto s = must(open_store(may_be_refused()));
    uuid = s->uuid();
    must(s->set_cluster_id("cluster-1"));
    const incarnation drawn = must(s->draw_incarnation(0, 7));
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    EXPECT_FALSE(s->has_unwritten_start());
    EXPECT_THAT(s->incarnations(), testing::ElementsAre(drawn));
    must(s->sync());
  }
  auto s = must(open_store(may_be_refused()));
  EXPECT_FALSE(s->has_unwritten_start());
  EXPECT_EQ(s->uuid(), uuid);
  EXPECT_EQ(s->cluster_id(), "cluster-1");
  EXPECT_EQ(s->incarnations().size(), 1U);
  EXPECT_EQ(must(s->load(s->id_of("payments"))).counters.applied, 1U);
  s.reset();
  EXPECT_TRUE(must(verify_store(path())).empty());
}

TEST_F(a_start, that_is_refused_leaves_the_old_meaning_and_what_was_rejected) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {}, [](step_batch&, stream_change& change) {
      change.after.floor = timestamp{std::chrono::hours{1}};
      change.after.counters.rejected_malformed = change.after.counters.consumed = 1;
    });
  }
  store_options changed = may_be_refused();
  changed.streams[0].lines = {{"order", "arrival"}};
  {
    auto s = must(open_store(changed));
    EXPECT_EQ(s->restarted_streams().size(), 1U);
    EXPECT_EQ(must(s->load(s->id_of("payments"))), stream_state{}) << "to this start it has begun anew";
  }
  {
    auto s = must(open_store(may_be_refused()));
    EXPECT_FALSE(s->has_unwritten_start()) << "the old settings fit as before";
    EXPECT_EQ(must(s->load(s->id_of("payments"))).counters.consumed, 1U);
  }
  {
    auto s = must(open_store(changed));
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    EXPECT_TRUE(s->restarted_streams().empty()) << "it is told once";
  }
  auto s = must(open_store(changed));
  EXPECT_TRUE(s->restarted_streams().empty());
  const stream_state left = must(s->load(s->id_of("payments")));
  EXPECT_EQ(left.counters.consumed, 1U);
  EXPECT_EQ(left.counters.rejected(), 0U);
  EXPECT_FALSE(left.floor);
}

/// What a config may do with the streams and topics of a directory: refused, or taken as it is. What else is
/// told of it, the log and audit rows say: see the table in docs/operating/upgrading.md.
class a_config_of_other_streams : public fixture {
 protected:
  using streams = std::vector<std::pair<std::string, std::vector<std::string>>>;

  [[nodiscard]] store_options with(const streams& wanted) const {
    store_options o = options();
    o.streams.clear();
    for (const auto& [name, topics] : wanted) o.streams.push_back({name, {{"order", "latest"}}, topics});
    return o;
  }
  /// payments holds what it read of a and b, refunds what it read of c; empty has read d, and holds nothing.
  void fill() const {
    auto s = must(open_store(with({{"payments", {"a", "b"}}, {"refunds", {"c"}}, {"empty", {"d"}}})));
    const auto read = [&](const std::string& stream, const std::vector<put_row>& rows,
                          const std::vector<std::string>& topics) {
      write(*s, s->id_of(stream), rows, [&](step_batch&, stream_change& change) {
        change.after.partitions.clear();
        change.touched.clear();
        for (const std::string& topic : topics) {
          change.touched.push_back({topic, partition_id{0}});
          change.after.partitions[change.touched.back()].next_offset = 7;
        }
      });
    };
    read("payments", {{"p1", seq(1), "one"}}, {"a", "b"});
    read("refunds", {{"r1", seq(1), "one"}}, {"c"});
    read("empty", {}, {"d"});
  }
  using put_row = store_support::put_row;
};

TEST_F(a_config_of_other_streams, is_refused_where_it_leaves_anything_behind) {
  const struct {
    const char* change;
    streams wanted;
    std::vector<std::string> refused;  ///< what the diagnostics say, in order; none: it is taken
  } k_rows[] = {
      {"nothing", {{"payments", {"a", "b"}}, {"refunds", {"c"}}, {"empty", {"d"}}}, {}},
      {"their order", {{"refunds", {"c"}}, {"empty", {"d"}}, {"payments", {"b", "a"}}}, {}},
      {"a stream goes", {{"payments", {"a", "b"}}, {"empty", {"d"}}}, {"refunds: it holds 1 applied"}},
      {"all but one go", {{"empty", {"d"}}}, {"payments: it holds 1 applied", "refunds: it holds 1 applied"}},
      {"a stream goes that holds nothing", {{"payments", {"a", "b"}}, {"refunds", {"c"}}}, {}},
      {"a stream is renamed",
       {{"payments", {"a", "b"}}, {"returns", {"c"}}, {"empty", {"d"}}},
       {"refunds: it holds 1 applied"}},
      {"a stream is renamed that holds nothing",
       {{"payments", {"a", "b"}}, {"refunds", {"c"}}, {"full", {"d"}}},
       {}},
      {"a stream stays without topics", {{"payments", {"a", "b"}}, {"refunds", {}}, {"empty", {"d"}}}, {}},
      {"a stream loses a topic", {{"payments", {"a"}}, {"refunds", {"c"}}, {"empty", {"d"}}}, {}},
      {"a stream gets a new topic",
       {{"payments", {"a", "b", "e"}}, {"refunds", {"c"}}, {"empty", {"d"}}},
       {}},
      {"a new stream with a new topic",
       {{"payments", {"a", "b"}}, {"refunds", {"c"}}, {"empty", {"d"}}, {"new", {"e"}}},
       {}},
      {"a stream is split",
       {{"payments", {"a"}}, {"other", {"b"}}, {"refunds", {"c"}}, {"empty", {"d"}}},
       {R"(other.topics: stream "payments" has read "b", and holds 1 applied)"}},
      {"two streams are merged",
       {{"payments", {"a", "b", "c"}}, {"empty", {"d"}}},
       {"refunds: it holds 1 applied"}},
      {"two streams are merged, and the other one stays without topics",
       {{"payments", {"a", "b", "c"}}, {"refunds", {}}, {"empty", {"d"}}},
       {R"(payments.topics: stream "refunds" has read "c", and holds 1 applied)"}},
      {"a topic moves to a stream that there is",
       {{"payments", {"a"}}, {"refunds", {"c", "b"}}, {"empty", {"d"}}},
       {R"(refunds.topics: stream "payments" has read "b", and holds 1 applied)"}},
      {"two streams change places",
       {{"payments", {"c"}}, {"refunds", {"a", "b"}}, {"empty", {"d"}}},
       {R"(payments.topics: stream "refunds" has read "c", and holds 1 applied)",
        R"(refunds.topics: stream "payments" has read "a", and holds 1 applied)",
        R"(refunds.topics: stream "payments" has read "b", and holds 1 applied)"}},
      {"a topic moves to a stream that holds nothing",
       {{"payments", {"a"}}, {"refunds", {"c"}}, {"empty", {"d", "b"}}},
       {R"(empty.topics: stream "payments" has read "b", and holds 1 applied)"}},
      {"a topic comes from a stream that holds nothing",
       {{"payments", {"a", "b", "d"}}, {"refunds", {"c"}}, {"empty", {}}},
       {}},
  };
  for (const auto& row : k_rows) {
    SCOPED_TRACE(row.change);
    std::filesystem::remove_all(path());
    fill();
    const auto opened = open_store(with(row.wanted));
    ASSERT_EQ(static_cast<bool>(opened), row.refused.empty());
    if (opened) continue;
    const problem& p = opened.error();
    EXPECT_EQ(p.code, make_error_code(errc::state_foreign));
    EXPECT_THAT(p.message, HasSubstr("no file was changed"));
    EXPECT_THAT(p.hint, HasSubstr("`ratchet run --resume rebuild`"));
    std::vector<std::string> told;
    for (const diagnostic& d : p.diagnostics) told.push_back(d.path + ": " + d.message);
    EXPECT_EQ(told, row.refused);
    EXPECT_EQ(must(open_store_read_only(path()))->streams().size(), 3U) << "no stream was entered";
  }
}

TEST_F(a_config_of_other_streams, may_give_a_topic_back) {
  fill();
  const streams before{{"payments", {"a", "b"}}, {"refunds", {"c"}}, {"empty", {"d"}}};
  {
    auto s = must(open_store(with({{"payments", {}}, {"refunds", {"c"}}})));
    EXPECT_EQ(must(s->load(s->id_of("payments"))).partitions.size(), 2U) << "the offsets stay";
  }
  auto s = must(open_store(with(before)));
  EXPECT_EQ(must(s->load(s->id_of("payments"))).partitions.at({"b", partition_id{0}}).next_offset, 7);
}

}  // namespace
}  // namespace ratchet
