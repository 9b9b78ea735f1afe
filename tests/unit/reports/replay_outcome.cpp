// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What is said of events that were to be tried again, and how long the answer waits for that.
#include "reports/replay_outcome.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "control/waiting_request.hpp"
#include "support/control_fake_store.hpp"
#include "support/waiting_support.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using testing::fake_content;
using testing::fake_view;
using testing::head;
using testing::k_noon;

/// One stream, whose aggregate p has come to 5.
class replay_outcomes : public ::testing::Test {
 protected:
  replay_outcomes() {
    stream_.name = "pay";
    stream_.rows["p"].last = seq(5);
    order("strict");
  }
  void order(const char* name) {
    stream_.meaning = {{"order", name}, {"first", "1"}, {"epoch_change", "park"}};
  }
  waiting_event& add(std::uint64_t number, waiting_state state, std::uint32_t attempts) {
    backlog& b = stream_.backlogs["p"];
    ++(state == waiting_state::parked ? b.parked : state == waiting_state::dead ? b.dead : b.retrying);
    waiting_event& e = stream_.waiting[{"p", seq(number)}];
    e.head = head(seq(number), state);
    e.attempts = attempts;
    if (attempts > 0) e.error = "no ledger";
    return e;
  }
  [[nodiscard]] replay_outcome outcome(std::uint64_t number, const hash128& payload = {}) const {
    const fake_view view{content_, 9};
    auto found = outcome_of_replay(view, view.streams().value().front(), "p", seq(number), payload);
    EXPECT_TRUE(found);
    return found ? std::move(found).value() : replay_outcome{};
  }

  fake_content content_;
  testing::fake_stream& stream_{content_.streams.emplace_back()};
};

TEST_F(replay_outcomes, of_what_was_tried_and_failed) {
  add(6, waiting_state::dead, 1);
  EXPECT_EQ(outcome(6).end, replay_end::dead);
  EXPECT_EQ(outcome(6).told, "tried, and dead again: no ledger");
  stream_.waiting.clear();
  stream_.backlogs.clear();
  add(6, waiting_state::retrying, 1).due = k_noon;
  EXPECT_EQ(outcome(6).end, replay_end::retrying);
  EXPECT_EQ(outcome(6).told,
            "tried, and failed again: no ledger; the next attempt is due at 2026-01-01T12:00:00.000Z");
  EXPECT_EQ(outcome(6).error, "no ledger");
}

TEST_F(replay_outcomes, of_what_was_not_tried) {
  add(6, waiting_state::retrying, 0);
  EXPECT_EQ(outcome(6).end, replay_end::waiting);
  add(7, waiting_state::parked, 0);
  EXPECT_EQ(outcome(7).end, replay_end::parked);
  EXPECT_EQ(outcome(7).told, "not tried: it waits for others (behind)");
  stream_.backlogs["p"].held = true;
  EXPECT_EQ(outcome(7).end, replay_end::dead);
  stream_.waiting.erase({"p", seq(6)});
  stream_.backlogs["p"].held = false;
  EXPECT_EQ(outcome(7).told, "not tried: it waits for others (gap: 6 is missing)");
  stream_.backlogs["p"].ready = true;
  EXPECT_EQ(outcome(7).end, replay_end::waiting) << "the next step takes it";
}

TEST_F(replay_outcomes, of_what_waits_no_more) {
  EXPECT_EQ(outcome(5).end, replay_end::applied);
  EXPECT_EQ(outcome(4).end, replay_end::applied);
  EXPECT_EQ(outcome(6).end, replay_end::gone) << "somebody discarded it";
  stream_.backlogs["p"].skipped = {{seq(4), seq(4)}};
  EXPECT_EQ(outcome(4).end, replay_end::gone) << "somebody skipped it";
  stream_.backlogs.clear();
  order("latest");
  EXPECT_EQ(outcome(5).end, replay_end::applied);
  EXPECT_EQ(outcome(4).end, replay_end::superseded);
  EXPECT_EQ(outcome(5, {7, 7}).end, replay_end::superseded) << "another event has this number";
}

/// A replay of 6, which is carried out when the desk has been left alone so many times.
class replay_waits : public replay_outcomes {
 protected:
  struct answered {
    std::string text;
    std::error_code code;
  };
  answered replay(int pauses) {
    add(6, waiting_state::dead, 3);
    waiting_desk desk;
    desk.act = [this](const std::string&, std::span<const pipeline::decided> all, const decider&,
                      const still_wanted&) {
      stream_.waiting.clear();
      stream_.backlogs.clear();
      add(6, waiting_state::retrying, 0);
      return std::vector<waiting_answer>(all.size(), waiting_answer::done);
    };
    desk.look = [this]() -> reported<std::unique_ptr<store_view>> {
      return std::unique_ptr<store_view>{std::make_unique<fake_view>(content_, 10)};
    };
    desk.pause = [this, &pauses](std::chrono::milliseconds) {
      if (--pauses > 0) return true;
      if (pauses < 0) return false;
      stream_.waiting.clear();
      stream_.backlogs.clear();
      stream_.rows["p"].last = seq(6);
      return true;
    };
    waiting_request request;
    request.stream = "pay";
    request.act = true;
    const fake_view before{content_, 9};
    const std::vector<std::string> streams{"pay"};
    answered out;
    const auto done = answer_waiting(before, streams, request, desk, [&](std::string_view piece) {
      out.text += piece;
      return true;
    });
    if (!done) out.code = done.error().code;
    return out;
  }
};

TEST_F(replay_waits, until_it_was_tried) {
  const answered got = replay(3);
  EXPECT_EQ(got.text, "p  6  replay: applied\n1 of 1 event applied\n");
  EXPECT_FALSE(got.code);
}

TEST_F(replay_waits, no_longer_than_somebody_may_try_it) {
  const answered got = replay(0);
  EXPECT_NE(got.text.find("p  6  replay: not tried yet"), std::string::npos) << got.text;
  EXPECT_EQ(got.code, make_error_code(errc::check_failed));
}

}  // namespace
}  // namespace ratchet
