// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ports/replica.hpp"
#include "replicate/row_buffer.hpp"
#include "store/layout/layout.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "store/replica.hpp"
#include "support/replica_log.hpp"
#include "support/store_support.hpp"
#include "unit/store/replica_fixture.hpp"

/// A whole copy of a replica, and a replica that is made of one.
namespace ratchet {
namespace {

using store_support::must;
using store_support::replica_log;
using store_support::rows_of;

class a_restore : public store_support::replica_fixture {
 protected:
  /// Steps of many aggregates, all confirmed.
  void fill(store& s, int steps) {
    for (int i = 0; i < steps; ++i) put(s, "a" + std::to_string(i % 7), ++number_);
    log_.confirm(s);
  }
  static std::vector<std::string> parts_of(replica_copy& copy, std::size_t bytes) {
    std::vector<std::string> parts;
    for (;;) {
      replicate::row_buffer rows;
      must(copy.next(bytes, rows));
      if (rows.empty()) return parts;
      parts.push_back(rows.release());
    }
  }
  static void restore(store& s, const std::vector<std::string>& parts, const replicate::log_position& at) {
    must(of(s).begin_restore());
    for (const std::string& part : parts) EXPECT_FALSE(must(of(s).restore(part)));
    must(of(s).end_restore(at));
  }

  replica_log log_;
  std::uint64_t number_{0};
};

TEST_F(a_restore, gives_the_rows_of_the_copy) {
  const auto owner = open();
  fill(*owner, 20);
  const auto copy = must(of(*owner).copy());
  EXPECT_EQ(copy->position().step, 20U);
  const auto s = open("-2");
  restore(*s, parts_of(*copy, 100), copy->position());
  EXPECT_TRUE(rows_of(*s) == rows_of(*owner));
  EXPECT_EQ(of(*s).position(), of(*owner).position());
  EXPECT_EQ(s->last_step(), 20U);
  EXPECT_EQ(s->durable_step(), 20U);
  fill(*owner, 5);
  log_.apply_to(*s);
  EXPECT_TRUE(rows_of(*s) == rows_of(*owner)) << "steps go on behind it";
  must(of(*s).reload());
  log_.fence();
  fill(*s, 3);
  log_.apply_to(*owner);
  EXPECT_TRUE(rows_of(*s) == rows_of(*owner)) << "it may own the log";
}

TEST_F(a_restore, has_no_copy_before_the_first_step) {
  const auto owner = open();
  EXPECT_EQ(of(*owner).copy().error(), make_error_code(errc::not_found));
}

TEST_F(a_restore, copies_confirmed_steps_alone_while_the_store_goes_on) {
  const auto owner = open();
  fill(*owner, 10);
  const auto before = rows_of(*owner);
  put(*owner, "pending", ++number_);
  const auto copy = must(of(*owner).copy());
  log_.confirm(*owner);
  fill(*owner, 10);
  const auto s = open("-2");
  restore(*s, parts_of(*copy, 1000), copy->position());
  EXPECT_TRUE(rows_of(*s) == before);
}

TEST_F(a_restore, takes_the_place_of_an_old_state) {
  const auto owner = open();
  const auto s = open("-2");
  put(*owner, "gone", ++number_);
  log_.confirm(*owner);
  log_.apply_to(*s);
  const std::string uuid = s->uuid();
  fill(*owner, 20);
  const auto copy = must(of(*owner).copy());
  auto parts = parts_of(*copy, 100);
  auto at = copy->position();
  // A base whose history has erased a row.
  const auto third = open("-3");
  replicate::row_buffer none;
  restore(*third, {}, at);
  EXPECT_EQ(rows_of(*third).size(), 1U) << "the stream's name";
  restore(*s, parts, at);
  EXPECT_TRUE(rows_of(*s) == rows_of(*owner));
  EXPECT_EQ(s->uuid(), uuid) << "what is its own stays";
  restore(*s, {}, at);
  EXPECT_TRUE(rows_of(*s) == rows_of(*third)) << "whatever it had is gone";
}

TEST_F(a_restore, that_was_cut_short_is_seen_and_done_again) {
  const auto owner = open();
  fill(*owner, 20);
  const auto copy = must(of(*owner).copy());
  const auto parts = parts_of(*copy, 100);
  ASSERT_GT(parts.size(), 3U);
  for (std::size_t done = 0; done <= parts.size(); ++done) {
    const std::string suffix = "-" + std::to_string(done);
    {
      const auto s = open(suffix);
      must(of(*s).begin_restore());
      for (std::size_t i = 0; i < done; ++i) EXPECT_FALSE(must(of(*s).restore(parts[i])));
      must(s->sync());
    }
    const auto shown = open_store_read_only(options(suffix).path);
    ASSERT_FALSE(shown);
    EXPECT_EQ(shown.error().code, make_error_code(errc::state_restoring));
    store_options alone = options(suffix);
    alone.replicated = false;
    const auto as_store = open_store(alone);
    ASSERT_FALSE(as_store);
    EXPECT_EQ(as_store.error().code, make_error_code(errc::state_foreign));
    const auto s = open(suffix);
    EXPECT_TRUE(of(*s).is_restoring());
    EXPECT_FALSE(of(*s).position());
    restore(*s, parts, copy->position());
    EXPECT_FALSE(of(*s).is_restoring());
    EXPECT_TRUE(rows_of(*s) == rows_of(*owner));
  }
}

TEST_F(a_restore, that_is_complete_is_an_ordinary_replica) {
  const auto owner = open();
  fill(*owner, 20);
  const auto copy = must(of(*owner).copy());
  {
    const auto s = open("-2");
    restore(*s, parts_of(*copy, 100), copy->position());
    must(s->sync());
  }
  const auto found = verify_store(options("-2").path);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found.assume_value().empty()) << found.assume_value().front();
  const auto s = open("-2");
  EXPECT_EQ(of(*s).position(), copy->position());
}

TEST_F(a_restore, that_was_cut_short_ends_where_the_log_has_everything) {
  const auto owner = open();
  fill(*owner, 20);
  const auto copy = must(of(*owner).copy());
  const auto parts = parts_of(*copy, 100);
  const auto s = open("-2");
  must(of(*s).begin_restore());
  EXPECT_FALSE(must(of(*s).restore(parts[0])));
  must(of(*s).begin_restore());
  EXPECT_TRUE(of(*s).is_restoring());
  log_.apply_to(*s, 1);
  EXPECT_FALSE(of(*s).is_restoring());
  log_.apply_to(*s);
  EXPECT_TRUE(rows_of(*s) == rows_of(*owner));
}

TEST_F(a_restore, takes_no_row_that_is_a_replicas_own) {
  const auto s = open();
  must(of(*s).begin_restore());
  replicate::row_buffer rows;
  rows.put(0, layout::identity_key(), "x");
  EXPECT_EQ(must(of(*s).restore(rows.bytes())), apply_fault::local_row);
  EXPECT_EQ(must(of(*s).restore("no rows")), apply_fault::damaged_rows);
}

}  // namespace
}  // namespace ratchet
