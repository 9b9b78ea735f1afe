// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a pair asks where the group's offsets, or the log of a topic, do not fit its state, and how that is
// answered for all instances.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::expected;
using pair_support::instance;
using pair_support::k_input;
using pair_support::pair;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;

class pair_resume : public pair {
 protected:
  /// Somebody sets the group's offset while no instance is up.
  void set_offset(std::int64_t to) { c.committed[k_input] = {k_input, to, {}}; }
  /// What is asked, and how it is answered.
  std::string asked(instance& of) {
    const auto stopped = of.run(until_polled(60));
    if (!stopped || stopped->questions.empty()) return "nothing";
    for (const resume_choice& choice : stopped->questions.front().choices)
      choices.emplace_back(name_of(choice.option));
    hint = stopped->questions.front().hint;
    return name_of(stopped->questions.front().kind);
  }
  void expect_goes_on(instance& of) {
    const auto failed = of.run(until_all_is_read());
    ASSERT_FALSE(failed) << failed->message;
  }
  /// The other one takes over without an answer, and has the same state.
  void expect_is_answered_for_all() {
    produce(c, 4);
    expect_goes_on(second);
    produce(c, 4);
    expect_goes_on(first);
    c.owner = &c;
    ASSERT_FALSE(second.run(until_polled(30)));
    EXPECT_EQ(second.seen(), first.seen());
  }

  std::vector<std::string> choices;
  std::string hint;
};

TEST_F(pair_resume, an_offset_that_was_set_back_is_answered_by_store) {
  let_first_read(20);
  set_offset(5);
  EXPECT_EQ(asked(first), "rewound");
  EXPECT_EQ(choices, std::vector<std::string>{"store"});
  EXPECT_TRUE(hint.starts_with(
      "stop the other instances of this log, then start one with `ratchet run --resume store`"))
      << hint;
  EXPECT_EQ(hint.find("rebuild"), std::string::npos) << hint;
  EXPECT_EQ(asked(second), "rewound") << "a take-over asks the same";
  first.resume = resume_option::store;
  produce(c, 4);
  expect_goes_on(first);
  EXPECT_EQ(first.seen(), expected(c)) << "each record was handled once";
  first.resume = resume_option::none;
  expect_is_answered_for_all();
  EXPECT_EQ(first.seen(), expected(c));
}

TEST_F(pair_resume, an_offset_that_was_set_ahead_is_answered_by_kafka_too) {
  let_first_read(20);
  produce(c, 12);
  set_offset(24);
  EXPECT_EQ(asked(first), "skipped_ahead");
  EXPECT_EQ(choices, (std::vector<std::string>{"store", "kafka"}));
  first.resume = resume_option::kafka;
  expect_goes_on(first);
  EXPECT_EQ(first.seen().at("consumed"), "28") << "four were skipped";
  first.resume = resume_option::none;
  expect_is_answered_for_all();
  EXPECT_EQ(first.seen().at("consumed"), "36");
}

TEST_F(pair_resume, records_that_expired_are_given_up_by_kafka) {
  let_first_read(20);
  produce(c, 12);
  c.input_begins = 24;
  EXPECT_EQ(asked(first), "below_log_start");
  EXPECT_EQ(choices, std::vector<std::string>{"kafka"});
  EXPECT_NE(hint.find("a log topic, a `kafka.group` and state directories that are new"), std::string::npos)
      << hint;
  first.resume = resume_option::kafka;
  expect_goes_on(first);
  EXPECT_EQ(first.seen().at("consumed"), "28");
  first.resume = resume_option::none;
  expect_is_answered_for_all();
}

TEST_F(pair_resume, a_topic_that_was_made_anew_names_what_works_on_a_pair) {
  let_first_read(20);
  c.records.clear();
  produce(c, 4);
  EXPECT_EQ(asked(first), "past_log_end");
  EXPECT_TRUE(choices.empty());
  EXPECT_TRUE(hint.starts_with("to keep the state, give the new topic another name")) << hint;
  EXPECT_EQ(hint.find("--resume"), std::string::npos) << hint;
}

TEST_F(pair_resume, an_answer_is_not_kept_for_a_later_lead) {
  let_first_read(20);
  c.owner = &c;  // another one owns the state
  second.resume = resume_option::store;
  const auto refused = second.run(until_polled(200));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, make_error_code(errc::group_taken));
  EXPECT_NE(refused->message.find("another one does: `ratchet-0`"), std::string::npos) << refused->message;
  EXPECT_TRUE(refused->hint.starts_with("stop all instances of this log, then start this instance"))
      << refused->hint;
}

TEST_F(pair_resume, an_answer_holds_for_one_lead) {
  let_first_read(20);
  set_offset(5);
  first.resume = resume_option::store;
  bool was_set = false;
  const auto failed =
      first.run([&, polls = 0](pair_support::pair_source& s, std::atomic<bool>& stop) mutable {
        if (!s.has_read_all() && !was_set) return;
        if (!was_set) {
          was_set = true;
          set_offset(7);
          s.lose();
          c.owner = nullptr;
        }
        if (++polls == 100) stop = true;
      });
  ASSERT_TRUE(failed) << "it leads again, and asks";
  EXPECT_EQ(failed->questions.front().kind, question_kind::rewound);
}

TEST_F(pair_resume, what_no_step_can_carry_is_refused_by_name) {
  let_first_read(8);
  for (const resume_option option :
       {resume_option::rebuild, resume_option::takeover, resume_option::cluster}) {
    first.resume = option;
    const auto refused = first.run(until_polled(10));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, make_error_code(errc::not_built_yet));
    EXPECT_NE(refused->message.find(name_of(option)), std::string::npos) << refused->message;
    EXPECT_NE(refused->hint.find("docs/operating/high-availability.md"), std::string::npos) << refused->hint;
  }
}

}  // namespace
}  // namespace ratchet
