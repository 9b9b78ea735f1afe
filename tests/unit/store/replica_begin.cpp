// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A directory with steps that begins a replicated log, and a replica that leaves its log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/uuid_text.hpp"
#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"
#include "store/open/checkpoint.hpp"
#include "store/open/verify.hpp"
#include "support/replica_log.hpp"
#include "support/store_support.hpp"
#include "unit/store/replica_fixture.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;
using store_support::replica_log;
using store_support::rows_of;
using ::testing::HasSubstr;

class a_replica_with_steps_of_its_own : public store_support::replica_fixture {};

TEST_F(a_replica_with_steps_of_its_own, may_have_steps_that_no_log_has_and_a_log_goes_on_from_them) {
  std::string uuid;
  {
    const auto s = fixture::open();
    EXPECT_EQ(replica_of(*s), nullptr);
    put(*s, "a", 1);
    put(*s, "a", 2);
    uuid = s->uuid();
  }
  replicate::log_position begun;
  {
    const auto s = open();
    ASSERT_TRUE(of(*s).position());
    begun = *of(*s).position();
    EXPECT_TRUE(begun.is_before_log());
    EXPECT_EQ(begun.step, 2U);
    EXPECT_EQ(s->last_step(), 2U);
    EXPECT_EQ(to_uuid(*begun.lineage), uuid) << "to the group it is the same store";
    EXPECT_EQ(must(of(*s).copy())->position(), begun);
  }
  auto s = open();
  EXPECT_EQ(of(*s).position(), begun) << "it is drawn once";
  EXPECT_EQ(last_of(*s, "a"), 2U);
  put(*s, "a", 3);
  const auto rows = of(*s).rows_of(3);
  ASSERT_TRUE(rows);
  replicate::log_position at = begun;
  at.epoch = {1, 0};
  at.writer = 1;
  at.step = 3;
  at.chain = replicate::next_chain(begun.chain, *rows);
  at.offset = 1;
  const confirmed_rows step{at, *rows, layout::k_schema_version};
  EXPECT_FALSE(must(of(*s).apply({&step, 1})));
  EXPECT_EQ(of(*s).position(), at);
  s.reset();
  EXPECT_TRUE(must(verify_store(path())).empty());
}

TEST_F(a_replica_with_steps_of_its_own, becomes_a_store_of_its_own_where_that_is_wanted) {
  std::string lineage;
  std::map<std::pair<std::string, std::string>, std::string> rows;
  replica_log log;
  {
    // Made of a copy, so that its own log is far behind the steps that its rows name.
    const auto owner = open("-owner");
    for (std::uint64_t n = 1; n <= 20; ++n) put(*owner, "a" + std::to_string(n % 3), n);
    log.confirm(*owner);
    const auto copy = must(of(*owner).copy());
    const auto s = open();
    must(of(*s).begin_restore());
    replicate::row_buffer all;
    must(copy->next(SIZE_MAX / 2, all));
    EXPECT_FALSE(must(of(*s).restore(all.bytes())));
    must(of(*s).end_restore(copy->position()));
    lineage = to_uuid(*copy->position().lineage);
    rows = rows_of(*s);
  }
  store_options alone = fixture::options();
  const auto refused = open_store(alone);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("--resume takeover"));
  alone.leaves_log = true;
  {
    const auto s = must(open_store(alone));
    EXPECT_EQ(replica_of(*s), nullptr);
    EXPECT_EQ(s->last_step(), 20U) << "steps go on behind those of the log";
    EXPECT_EQ(s->uuid(), lineage);
    EXPECT_TRUE(rows_of(*s) == rows);
  }
  alone.leaves_log = false;
  for (std::uint64_t n = 21; n <= 24; ++n) {
    const auto s = must(open_store(alone));
    EXPECT_EQ(s->last_step(), n - 1);
    put(*s, "a", n);
    must(s->sync());
  }
  EXPECT_TRUE(must(verify_store(path())).empty());
  EXPECT_EQ(must(open_store(alone))->last_step(), 24U);
}

TEST_F(a_replica_with_steps_of_its_own, begins_no_log_with_streams_in_another_order_than_an_empty_ones) {
  store_options two = fixture::options();
  two.streams.push_back({"orders", two.streams[0].lines});
  {
    const auto s = must(open_store(two));
    put(*s, "a", 1);
  }
  std::swap(two.streams[0], two.streams[1]);
  two.replicated = true;
  const auto refused = open_store(two);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, make_error_code(errc::state_foreign));
  EXPECT_THAT(refused.error().hint, HasSubstr("payments, orders"));
  std::swap(two.streams[0], two.streams[1]);
  EXPECT_TRUE(open_store(two));
}

TEST_F(a_replica_with_steps_of_its_own, begins_no_log_with_a_checkpoint_that_was_never_started) {
  {
    const auto s = fixture::open();
    put(*s, "a", 1);
    auto progress = must(checkpoint_in_progress::begin(path(), path().string() + "-copy"));
    const auto step = must(s->checkpoint(progress.linked()));
    must(progress.finish(step, timestamp{}, {}));
  }
  const auto refused = open_store(options("-copy"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, make_error_code(errc::state_foreign));
  EXPECT_THAT(refused.error().message, HasSubstr("checkpoint"));
}

}  // namespace
}  // namespace ratchet
