// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A directory that had no log begins one, and leaves it again.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::cluster;
using pair_support::expected;
using pair_support::instance;
using pair_support::make_many_bases;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;
using pair_support::until_refused;

void without_log(config& of) {
  of.replicate.reset();
}

class pair_with_a_state : public pair {
 protected:
  /// The first instance reads so many records without a log.
  void read_without_log(int records) {
    first.change = without_log;
    let_first_read(records);
    first.change = nullptr;
  }
  static void expect_right(const std::optional<problem>& failed) { ASSERT_FALSE(failed) << failed->message; }
};

TEST_F(pair_with_a_state, begins_a_log_and_others_have_all_of_it) {
  read_without_log(20);
  EXPECT_EQ(c.log.end(), 0);
  produce(c, 10);
  expect_right(first.run(until_all_is_read()));
  EXPECT_EQ(first.seen(), expected(c)) << "each record was handled once";
  produce(c, 10);
  expect_right(second.run(until_all_is_read()));
  EXPECT_EQ(second.seen(), expected(c));
  produce(c, 10);
  expect_right(first.run(until_all_is_read()));
  EXPECT_EQ(first.seen(), expected(c));
}

TEST_F(pair_with_a_state, begins_its_log_with_a_base_wherever_it_is_killed) {
  for (int killed_at = 1; killed_at < 12 && !HasFailure(); ++killed_at) {
    SCOPED_TRACE(killed_at);
    cluster other;
    instance one{other, "ratchet-0"};
    instance two{other, "ratchet-1"};
    one.change = without_log;
    produce(other, 20);
    expect_right(one.run(until_all_is_read()));
    one.change = nullptr;
    produce(other, 5);
    (void)one.run([left = killed_at](pair_source& s, std::atomic<bool>& stop) mutable {
      if (--left > 0) return;
      s.kill();
      stop = true;
    });
    if (other.log.end() > 0) {
      EXPECT_GT(other.bases.end(), 2) << "no log before its first base";
    }
    expect_right(one.run(until_all_is_read()));
    EXPECT_EQ(one.seen(), expected(other));
    expect_right(two.run(until_all_is_read()));
    EXPECT_EQ(two.seen(), expected(other));
  }
}

TEST_F(pair_with_a_state, goes_on_behind_a_log_that_is_cut) {
  read_without_log(20);
  first.change = make_many_bases;
  produce(c, 40);
  expect_right(first.run(until_all_is_read()));
  ASSERT_GT(c.log.first(), 0);
  produce(c, 10);
  expect_right(second.run(until_all_is_read()));
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair_with_a_state, does_not_begin_where_an_empty_instance_has_begun) {
  read_without_log(20);
  const auto before = c.committed;
  const auto empty = second.run(until_polled(20));
  ASSERT_TRUE(empty) << "the group's offsets are those of another state";
  const auto refused = first.run(until_refused());
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message.find("other_lineage"), std::string::npos) << refused->message;
  EXPECT_EQ(c.committed.at(pair_support::k_input).offset, before.at(pair_support::k_input).offset);
}

TEST_F(pair_with_a_state, is_not_mixed_with_a_copy_of_its_directory) {
  read_without_log(20);
  std::filesystem::copy(first.directory(), second.directory(), std::filesystem::copy_options::recursive);
  produce(c, 5);
  expect_right(first.run(until_all_is_read()));
  const auto refused = second.run(until_refused());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, make_error_code(errc::state_foreign)) << refused->message;
}

}  // namespace
}  // namespace ratchet
