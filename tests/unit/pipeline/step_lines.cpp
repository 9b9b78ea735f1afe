// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What the log says of events that were not simply handled.
#include "pipeline/step_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const topic_partition k_place = at("t", 0);

/// Steps as a test makes them.
class lines_of_steps : public ::testing::Test {
 protected:
  lines_of_steps()
      : log_{std::make_shared<spdlog::logger>("test",
                                              std::make_shared<spdlog::sinks::ostream_sink_mt>(text_))} {
    log_->set_formatter(make_log_formatter(log_format::text));
    config c;
    c.streams = {payments()};
    auto made = make_streams(c, {});
    streams_ = std::move(made.value());
    lines_.emplace(log_, streams_);
  }
  void reject(int n) {
    step_batch batch;
    step_part& part = batch.parts.emplace_back();
    part.stream = streams_.front()->id;
    stream_change change;
    part.change = &change;
    for (int i = 0; i < n; ++i) {
      rejected_row& row = part.rejected.emplace_back();
      row.where = k_place;
      row.offset = offset_++;
      row.reason = reject_reason::malformed;
      row.detail = "missing_field";
      row.pointer = "/p";
    }
    lines_->tell(batch, now_);
  }
  void audit(const char* kind, const char* text) {
    step_batch batch;
    audit_row& row = batch.audits.emplace_back();
    row.kind = kind;
    row.stream = "payments";
    row.text = text;
    lines_->tell(batch, now_);
  }
  [[nodiscard]] std::ptrdiff_t count() const {
    const std::string all = text_.str();
    return std::count(all.begin(), all.end(), '\n');
  }

  std::ostringstream text_;
  log_ptr log_;
  stream_list streams_;
  std::optional<step_lines> lines_;
  step_lines::time_point now_{1h};
  std::int64_t offset_{0};
};

TEST_F(lines_of_steps, say_which_record_was_rejected_and_why) {
  reject(1);
  EXPECT_THAT(text_.str(), HasSubstr("warn  stream payments: t/0 at offset 0 was rejected: malformed, "
                                     "missing_field at /p, byte 0; see `ratchet status --rejected`\n"));
}

TEST_F(lines_of_steps, are_a_few_in_a_while_and_then_say_how_many_more_there_were) {
  reject(100);
  EXPECT_EQ(count(), 5);
  lines_->turn(now_ += 9s);
  EXPECT_EQ(count(), 5);
  lines_->turn(now_ += 1s);
  EXPECT_EQ(count(), 6);
  EXPECT_THAT(text_.str(), HasSubstr("95 more lines of this kind (event_rejected) were not shown; "
                                     "`ratchet status --rejected` lists them\n"));
  lines_->turn(now_ += 10s);
  lines_->end();
  EXPECT_EQ(count(), 6) << "each is told of once";
  reject(1);
  EXPECT_EQ(count(), 7);
}

TEST_F(lines_of_steps, say_at_the_end_what_they_held_back) {
  reject(7);
  lines_->end();
  EXPECT_THAT(text_.str(), HasSubstr(" 2 more lines of this kind"));
}

TEST_F(lines_of_steps, say_it_too_where_the_next_one_comes_first) {
  reject(7);
  now_ += 10s;
  reject(1);
  EXPECT_EQ(count(), 7);
  EXPECT_THAT(text_.str(), HasSubstr(" 2 more lines of this kind"));
}

TEST_F(lines_of_steps, pace_each_kind_by_itself) {
  reject(100);
  audit("gap_skipped", "aggregate `a`: number 3 did not come");
  EXPECT_THAT(text_.str(), HasSubstr("warn  stream payments: aggregate `a`: number 3 did not come\n"));
}

TEST_F(lines_of_steps, tell_what_operators_decided_and_not_what_a_start_has_told) {
  audit("waiting_skipped", "aggregate `a`: event 1, dead, was skipped");
  audit("resume_fresh", "t/0: resumed at offset 0");
  EXPECT_THAT(text_.str(), HasSubstr("info  stream payments: aggregate `a`: event 1, dead, was skipped\n"));
  EXPECT_THAT(text_.str(), Not(HasSubstr("resumed")));
}

/// In JSON: what programs look for.
TEST_F(lines_of_steps, tell_once_of_a_time_that_is_not_believed) {
  step_batch batch;
  stream_change change;
  change.passed_over = {k_place, {timestamp{1'800'000'000'000ms}, 17}, timestamp{1'700'000'000'000ms}};
  step_part& part = batch.parts.emplace_back();
  part.stream = streams_.front()->id;
  part.change = &change;
  lines_->tell(batch, now_);
  EXPECT_THAT(text_.str(),
              HasSubstr("warn  stream payments: t/0 at offset 17 has the time 2027-01-15T08:00:00.000Z, "
                        "but the records around it are of about 2023-11-14T22:13:20.000Z"));
  lines_->tell(batch, now_ + 1h);
  EXPECT_EQ(count(), 1);
}

TEST_F(lines_of_steps, tell_once_of_jumps_and_of_records_behind_them) {
  step_batch batch;
  stream_change change;
  change.jumped = {k_place, {timestamp{1'800'000'000'000ms}, 17}, timestamp{1'700'000'000'000ms}};
  change.behind = {k_place, {timestamp{1'700'000'060'000ms}, 18}, timestamp{1'800'000'000'000ms}};
  step_part& part = batch.parts.emplace_back();
  part.stream = streams_.front()->id;
  part.change = &change;
  lines_->tell(batch, now_);
  lines_->tell(batch, now_ + 1h);
  EXPECT_THAT(text_.str(), HasSubstr("t/0 at offset 17 moves the time of its partition to "
                                     "2027-01-15T08:00:00.000Z at once, from 2023-11-14T22:13:20.000Z: "));
  EXPECT_THAT(text_.str(), HasSubstr("t/0 at offset 18 has the time 2023-11-14T22:14:20.000Z, which is older "
                                     "than the window: its partition is at 2027-01-15T08:00:00.000Z"));
  EXPECT_EQ(count(), 2) << "each once";
}

TEST_F(lines_of_steps, have_their_facts_as_members) {
  log_->set_formatter(make_log_formatter(log_format::json));
  reject(1);
  EXPECT_THAT(text_.str(),
              HasSubstr(R"("level":"warn","code":"event_rejected","message":"stream payments: )"));
  EXPECT_THAT(text_.str(), HasSubstr(R"("stream":"payments","topic":"t","partition":0,"offset":0})"));
}

struct never {
  static constexpr reducer_traits traits{
      .name = "never", .version = 1, .full_state = true, .has_effects = false};
  outcome apply(const ratchet::event& e, state& s, effects&) const {
    if (e.aggregate != "ok") return give_up(make_error_code(errc::check_failed));
    s.assign(e.payload);
    return done();
  }
};

TEST(lines_of_a_session, tell_of_dead_and_rejected_events_and_of_no_other) {
  session_world w{{payments()}, reducers{}.add("payments", never{})};
  w.source.produce(k_place, event("ok", 1));
  w.source.produce(k_place, event("a", 1));
  w.source.produce(k_place, R"({"p":"b"})");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_THAT(w.logged(), HasSubstr("event 1 of aggregate `a`, t/0 at offset 1, is dead after 1 attempt: "));
  EXPECT_THAT(w.logged(), HasSubstr("t/0 at offset 2 was rejected: malformed, missing_field at /n"));
  EXPECT_THAT(w.logged(), Not(HasSubstr("`ok`")));
}

}  // namespace
}  // namespace ratchet::testing
