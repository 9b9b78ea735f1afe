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

/// When the first id of the fixture is, as id_for() has it.
constexpr timestamp k_first_id{std::chrono::milliseconds{1'700'000'000'000}};

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

TEST_F(a_restore, has_the_same_copy_on_each_replica_whenever_it_drops_ids) {
  const auto owner = open();
  const auto s = open("-2");
  const auto drop_ids = [](store& of) {
    database& db = database_of(of);
    ASSERT_TRUE(db.db().Flush({}, db.handle(family::dedup)).ok());
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db.db().CompactRange(all, db.handle(family::dedup), nullptr, nullptr).ok());
  };
  const auto step_at = [&](std::uint64_t number, std::uint64_t floor) {
    write(*owner, owner->id_of("payments"), {{"a", seq(number), "state"}},
          [&](step_batch&, stream_change& change) {
            if (floor > 0) change.after.floor = k_first_id + std::chrono::milliseconds{floor};
          });
    log_.confirm(*owner);
  };
  constexpr std::uint64_t k_far = std::uint64_t{1} << 36U;
  for (std::uint64_t n = 1; n < 5; ++n) step_at(n * k_far, 0);
  step_at(5 * k_far, 2 * k_far);
  log_.apply_to(*s);
  must(owner->sync());
  drop_ids(*owner);
  ASSERT_FALSE(rows_of(*owner) == rows_of(*s)) << "one of them has dropped ids";
  const auto all = [](replica_copy& copy) {
    std::string bytes;
    for (const std::string& part : parts_of(copy, 100)) bytes += part;
    return bytes;
  };
  auto here = must(of(*owner).copy());
  const auto there = must(of(*s).copy());
  const std::string want = all(*must(of(*owner).copy()));
  EXPECT_EQ(all(*there), want);
  // The floor goes on while somebody reads a copy.
  step_at(6 * k_far, 4 * k_far);
  must(owner->sync());
  drop_ids(*owner);
  EXPECT_EQ(all(*here), want) << "ids that are in a copy stay";
  here.reset();
  const std::size_t before = rows_of(*owner).size();
  drop_ids(*owner);
  EXPECT_LT(rows_of(*owner).size(), before) << "and go behind it";
}

TEST_F(a_restore, reads_a_copy_from_any_place_on) {
  const auto owner = open();
  fill(*owner, 20);
  const auto whole = must(of(*owner).copy());
  std::string all;
  std::vector<std::pair<row_place, std::size_t>> places;
  while (const auto at = whole->place()) {
    places.emplace_back(*at, all.size());
    replicate::row_buffer one;
    must(whole->next(1, one));
    EXPECT_EQ(one.count(), 1U);
    all += one.bytes();
  }
  ASSERT_GT(places.size(), 20U);
  for (const auto& [at, begin] : places) {
    const auto rest = must(of(*owner).copy(at));
    EXPECT_EQ(rest->place(), at);
    std::string found;
    for (const std::string& part : parts_of(*rest, 1'000)) found += part;
    EXPECT_EQ(found, all.substr(begin));
  }
  EXPECT_FALSE(must(of(*owner).copy({200, ""}))->place()) << "a part that this version does not have";
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
