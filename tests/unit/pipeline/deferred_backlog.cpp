// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a producer can make grow in a stream that defers its events, and how far.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/pipeline.hpp"
#include "pipeline/stop_messages.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using ::testing::HasSubstr;

/// Gives the first event of aggregate `bad` up.
struct picky {
  static constexpr reducer_traits traits{.name = "picky", .version = 1};
  outcome apply(const ratchet::event& e, state& s, effects&) const {
    if (e.aggregate == "bad" && e.sequence == seq(1)) return give_up(make_error_code(errc::reducer_failed));
    s.assign(e.payload);
    return done();
  }
};

class a_deferred_backlog : public ::testing::Test {
 protected:
  a_deferred_backlog() {
    settings_.streams = {payments()};
    settings_.streams[0].order = order::strict;
    settings_.streams[0].handling = handling::deferred;
    settings_.streams[0].waiting = {.per_aggregate = 5, .events = 50};
    auto made = make_streams(settings_, reducers{}.add("payments", picky{}));
    streams_ = std::move(*made);
    tasks_ = make_tasks(streams_);
    if (!load_tasks(streams_, tasks_, store_)) throw std::runtime_error{"no states"};
  }
  /// Events of an aggregate, one batch each.
  void send(pipeline& p, const std::string& aggregate, int from, int to) {
    for (int n = from; n <= to; ++n) {
      auto made = std::make_unique<fake_batch>();
      made->add(&k_p0, {next_offset_++, event(aggregate, n), {}});
      decode_stage stage{streams_};
      decoded_input input;
      stage.run(std::move(made), input);
      ASSERT_TRUE(p.handle(input));
      ASSERT_TRUE(p.resume_waiting());
    }
  }
  [[nodiscard]] const counters& counted() const { return tasks_[0]->state.counters; }

  journal journal_;
  config settings_;
  fake_clock clock_;
  watched_store store_{journal_, {"payments"}, k_own_uuid};
  stream_list streams_;
  task_list tasks_;
  std::int64_t next_offset_{0};
};

TEST_F(a_deferred_backlog, of_one_aggregate_has_the_room_of_the_stream_and_stops_it_by_name) {
  pipeline p{tasks_, store_, clock_};
  send(p, "bad", 1, 50);
  EXPECT_EQ(counted().waiting_dead, 1U);
  EXPECT_EQ(counted().waiting_parked, 49U) << "ten times what may wait of an aggregate in trouble";
  EXPECT_FALSE(p.is_nearly_full(*tasks_[0], false)) << "waiting for none of them would help";
  EXPECT_TRUE(p.stopped().empty());
  send(p, "good", 1, 1);
  ASSERT_EQ(p.stopped().size(), 1U) << "no more may wait";
  EXPECT_THAT(describe(p.stopped().begin()->second), HasSubstr("bad"));
  EXPECT_EQ(counted().waiting(), 50U);

  const std::vector<pipeline::decided> skip{{"bad", waiting_verb::skip, seq(1)}};
  const auto answers = p.run_commands(*tasks_[0], skip);
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers.value(), std::vector{waiting_answer::done});
  while (p.has_deferred()) ASSERT_TRUE(p.resume_waiting());
  EXPECT_EQ(counted().applied, 49U);
  EXPECT_EQ(counted().waiting(), 0U);
  p.forget_stops();  // as at the next start
  --next_offset_;
  send(p, "good", 1, 1);
  EXPECT_TRUE(p.stopped().empty());
  EXPECT_EQ(counted().applied, 50U);
}

}  // namespace
}  // namespace ratchet::testing
