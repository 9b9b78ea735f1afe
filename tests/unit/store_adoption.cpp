// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store_waiting_support.hpp"

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
  EXPECT_THAT(p.message,
              HasSubstr(R"(stream "payments" holds 3 events that wait (1 dead, 1 to be tried again, 1 parked))"));
  EXPECT_THAT(p.hint, AllOf(HasSubstr("`ratchet waiting replay`"), HasSubstr("`ratchet run --resume rebuild`")));
  ASSERT_EQ(p.diagnostics.size(), 1U);
  const stream_state kept = must(open()->load(stream_id{1}));
  EXPECT_EQ(kept.counters.waiting(), 3U) << "nothing was deleted";
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

}  // namespace
}  // namespace ratchet
