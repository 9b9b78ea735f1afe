// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// `ratchet sinks`, asked of a session that runs.
#include "control/sink_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "control/waiting_request.hpp"
#include "support/fake_publisher.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// Whether whoever asked is there still: before the claim, behind it, and when the message was not found.
constexpr int k_looks_before = 3;

stream_config publishing() {
  stream_config s = payments();
  s.order = order::strict;
  s.emit = {{.topic = "sink:receipts"}};
  return s;
}

/// Asks from a thread of its own, as the control server does, once the sink has refused a message.
class sinks_request : public ::testing::Test {
 protected:
  sinks_request() {
    w_.inbox = &inbox_;
    inbox_.tasks.open();
    w_.sinks = {{"receipts", &to_, milliseconds{500}, milliseconds{30'000}}};
    w_.source.logs[k_p0] = {};
    w_.source.held_at_join = {k_p0};
    w_.source.at_end = [] {};
    for (int n = 1; n <= 2; ++n) w_.source.produce(k_p0, event("p1", n));
    w_.source.produce(k_p0, event("p2", 1));
    to_.on_wait = [this] { w_.clock.advance(milliseconds{50}); };
    refuse_first_of_p1();
  }

  void refuse_first_of_p1() {
    w_.source.on_poll = [this](int) {
      if (w_.store.outboxes().rows() > 0) is_there_ = true;
      if (refused_ && !to_.under_way.empty()) is_sent_again_ = true;
      const bool holds = asks_at_once_ || (asks_while_sent_ && refused_);
      while (!to_.under_way.empty() && !(holds && !answered_ && looks_ < k_looks_before)) {
        const auto& row = *std::find_if(to_.sent.rbegin(), to_.sent.rend(), [this](const output_row& sent) {
          return sent.position == to_.under_way.front();
        });
        const bool is_bad = row.aggregate == "p1" && row.value == "1" && !mended_;
        to_.end(row.position, is_bad ? delivery::how::refused : delivery::how::done, "422 no such payment");
      }
      if (w_.status.snapshot().sinks.contains("receipts") &&
          w_.status.snapshot().sinks.at("receipts").refused > 0)
        refused_ = true;
      if (answered_ && (failed_ || !waits_for_idle_ || w_.store.outboxes().rows() == 0)) w_.stop = true;
    };
  }

  /// Runs until it is answered, and everything is sent where that is to be seen.
  reported<void> ask(sink_request request, bool until_sent = false) {
    waits_for_idle_ = until_sent;
    reported<void> done = BOOST_OUTCOME_V2_NAMESPACE::success();
    std::thread client{[&] {
      const auto& may_ask = asks_while_sent_ ? is_sent_again_ : refused_;
      while (!may_ask && !(asks_at_once_ && is_there_)) std::this_thread::sleep_for(milliseconds{1});
      done = sink_actor_of(inbox_.tasks)(request, "alice (uid 1000)", [this](std::string_view piece) {
        answer_ += piece;
        looks_ += piece.empty() ? 1 : 0;
        return true;
      });
      failed_ = !done;
      answered_ = true;
    }};
    EXPECT_EQ(w_.run().end, session_end::drained);
    client.join();
    return done;
  }

  session_world w_{{publishing()}};
  mailbox inbox_;
  fake_publisher to_;
  bool waits_for_idle_{false};
  bool asks_at_once_{false};     ///< and nothing is refused before it was looked for
  bool asks_while_sent_{false};  ///< the message that was refused, once more
  std::atomic<bool> is_sent_again_{false};
  std::atomic<bool> is_there_{false};  ///< a message, which may not have been tried yet
  std::atomic<int> looks_{0};  ///< whether whoever asked is there still: before each look for the message
  bool mended_{false};
  std::atomic<bool> refused_{false};
  std::atomic<bool> answered_{false};
  std::atomic<bool> failed_{false};  ///< with an error, so that what it waits for need not come
  std::string answer_;
};

TEST_F(sinks_request, lists_what_is_refused) {
  ASSERT_TRUE(ask({}));
  EXPECT_THAT(answer_, HasSubstr("receipts 0  p1 of payments: "));
  EXPECT_THAT(answer_, HasSubstr(", refused "));
  EXPECT_THAT(answer_, HasSubstr(": 422 no such payment\n"));
  EXPECT_EQ(w_.live_at_stop.sinks.empty() ? w_.status.snapshot().sinks.at("receipts").refused : 1U, 1U);
}

TEST_F(sinks_request, answers_in_json_too) {
  ASSERT_TRUE(ask({.sink = "receipts", .message = 0, .json = true}));
  EXPECT_THAT(
      answer_,
      HasSubstr(
          R"({"sink":"receipts","topic":null,"message":0,"stream":"payments","aggregate":"p1","id":")"));
  EXPECT_THAT(answer_, HasSubstr(R"("type":"ratchet.payments","attempts":)"));
  EXPECT_THAT(answer_, HasSubstr(R"("error":"422 no such payment","answer":null})"));
}

TEST_F(sinks_request, skips_nothing_that_nobody_said_yes_to) {
  ASSERT_TRUE(ask({.verb = sink_verb::skip, .sink = "receipts", .message = 0}));
  EXPECT_THAT(answer_, HasSubstr("would be skipped: 422"));
  EXPECT_THAT(answer_, HasSubstr("1 message; nothing was changed: add --yes to do it"));
  EXPECT_EQ(w_.store.outboxes().of("receipts").rows(), 2U) << "that and what waits behind it";
  EXPECT_TRUE(w_.store.audits().empty());
}

TEST_F(sinks_request, waits_for_a_message_that_is_being_sent_again) {
  asks_while_sent_ = true;
  const auto done = ask({.verb = sink_verb::skip, .sink = "receipts", .message = 0, .act = true}, true);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(answer_, HasSubstr(", skipped: 422"));
  EXPECT_EQ(w_.store.outboxes().rows(), 0U);
}

TEST_F(sinks_request, skips_a_message_for_good_and_keeps_an_audit_row) {
  ASSERT_TRUE(ask({.verb = sink_verb::skip, .sink = "receipts", .message = 0, .act = true}, true));
  EXPECT_THAT(answer_, HasSubstr("p1 of payments: "));
  EXPECT_THAT(answer_, HasSubstr(", skipped: 422"));
  EXPECT_EQ(w_.store.outboxes().rows(), 0U) << "what was behind it is sent";
  EXPECT_EQ(to_.sent.back().value, "2");
  const auto audits = w_.store.audits();
  ASSERT_EQ(audits.size(), 1U);
  EXPECT_EQ(audits[0].kind, "output_skipped");
  EXPECT_EQ(audits[0].stream, "payments");
  EXPECT_THAT(audits[0].text, HasSubstr("message 0 of the sink `receipts`"));
  EXPECT_THAT(audits[0].text, HasSubstr("of aggregate `p1`, was skipped and is not sent: 422 no such "
                                        "payment; decided by alice (uid 1000)"));
}

TEST_F(sinks_request, sends_again_at_once_what_it_is_told_to) {
  w_.source.on_poll = [this, base = w_.source.on_poll](int poll) {
    mended_ = answered_;
    base(poll);
  };
  ASSERT_TRUE(ask({.verb = sink_verb::retry, .sink = "receipts"}, true));
  EXPECT_THAT(answer_, HasSubstr("is sent again now: 422"));
  EXPECT_EQ(w_.store.outboxes().rows(), 0U);
}

TEST_F(sinks_request, does_not_make_the_end_wait_for_what_is_refused) {
  int waits = 0;
  to_.on_wait = [this, &waits] {
    ++waits;
    w_.clock.advance(milliseconds{50});
  };
  ASSERT_TRUE(ask({}));
  EXPECT_LT(waits, 10) << "of 50 ms each";
}

TEST_F(sinks_request, says_what_it_does_not_find) {
  const auto other = ask({.sink = "other"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, make_error_code(errc::usage));
  EXPECT_THAT(other.error().hint, HasSubstr("there are: receipts"));
}

TEST_F(sinks_request, waits_in_the_first_moment_until_the_message_is_refused) {
  asks_at_once_ = true;
  const auto done = ask({.verb = sink_verb::skip, .sink = "receipts", .message = 0, .act = true});
  ASSERT_TRUE(done) << to_text(done.error());
  EXPECT_THAT(answer_, HasSubstr(", skipped: 422"));
}

TEST_F(sinks_request, retries_in_the_first_moment_what_is_refused_then) {
  asks_at_once_ = true;
  const auto done = ask({.verb = sink_verb::retry, .sink = "receipts", .message = 0});
  ASSERT_TRUE(done) << to_text(done.error());
  EXPECT_THAT(answer_, HasSubstr("is sent again now: 422"));
}

TEST_F(sinks_request, says_that_no_such_message_is_refused) {
  const auto none = ask({.verb = sink_verb::skip, .sink = "receipts", .message = 2, .act = true});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, make_error_code(errc::not_found));
}

TEST(sink_words, are_read_as_they_are_written) {
  for (const sink_request& r :
       {sink_request{}, sink_request{.verb = sink_verb::retry, .sink = "a", .json = true},
        sink_request{.verb = sink_verb::skip, .sink = "a b", .message = 7, .why = "a b", .act = true}}) {
    EXPECT_EQ(parse_sink_words(to_words(r)), r);
  }
  EXPECT_FALSE(parse_sink_words(std::vector<std::string>{"sinks", "list"}));
  EXPECT_FALSE(parse_sink_words(std::vector<std::string>{"sinks", "drop", "text", "act", "all", ""}));
  EXPECT_FALSE(parse_sink_words(std::vector<std::string>{"sinks", "list", "text", "act", "7x", ""}));
}

}  // namespace
}  // namespace ratchet::testing
