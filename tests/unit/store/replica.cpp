// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/replica.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"
#include "store/engine/catalog.hpp"
#include "store/layout/slot_row.hpp"
#include "store/open/verify.hpp"
#include "store/step/confirmed_rows.hpp"
#include "support/replica_log.hpp"
#include "support/store_support.hpp"
#include "unit/store/faults.hpp"
#include "unit/store/replica_fixture.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;
using store_support::replica_log;
using store_support::rows_of;
using ::testing::HasSubstr;

class a_replica : public store_support::replica_fixture {
 protected:
  /// In the database alone.
  static std::size_t rows_in(store& s) {
    std::size_t rows = 0;
    must(must(s.view())->scan(s.id_of("payments"), [&](const scanned_row&) {
      ++rows;
      return true;
    }));
    return rows;
  }
};

TEST_F(a_replica, changes_its_database_with_confirmed_steps_alone) {
  const auto s = open();
  replica_log log;
  put(*s, "a", 1);
  put(*s, "b", 1);
  put(*s, "a", 2);
  EXPECT_EQ(s->last_step(), 3U);
  EXPECT_EQ(s->durable_step(), 0U);
  EXPECT_EQ(of(*s).pending().steps, 3U);
  EXPECT_EQ(rows_in(*s), 0U);
  EXPECT_FALSE(of(*s).position());
  EXPECT_EQ(last_of(*s, "a"), 2U);
  EXPECT_EQ(must(s->load(s->id_of("payments"))).counters.applied, 3U);
  log.confirm(*s, 2);
  EXPECT_EQ(s->durable_step(), 2U);
  EXPECT_EQ(rows_in(*s), 2U);
  EXPECT_EQ(of(*s).pending().steps, 1U);
  EXPECT_EQ(of(*s).position()->step, 2U);
  EXPECT_EQ(must(must(s->view())->get(s->id_of("payments"), "a")).last, seq(1))
      << "a view shows what is confirmed";
  EXPECT_EQ(last_of(*s, "a"), 2U);
  log.confirm(*s);
  EXPECT_EQ(s->durable_step(), 3U);
  EXPECT_EQ(of(*s).pending().steps, 0U);
  EXPECT_EQ(of(*s).pending().row_bytes, 0U);
}

TEST_F(a_replica, forgets_what_it_drops) {
  const auto s = open();
  replica_log log;
  put(*s, "a", 1);
  log.confirm(*s);
  put(*s, "a", 2);
  put(*s, "b", 1);
  must(of(*s).drop_pending());
  EXPECT_EQ(s->last_step(), 1U);
  EXPECT_EQ(last_of(*s, "a"), 1U);
  EXPECT_EQ(last_of(*s, "b"), std::nullopt);
  EXPECT_EQ(must(s->load(s->id_of("payments"))).counters.applied, 1U);
  put(*s, "c", 1);
  log.confirm(*s);
  EXPECT_EQ(rows_in(*s), 2U);
}

TEST_F(a_replica, keeps_the_name_of_the_owner_with_the_next_step) {
  const slot_owner zero{{3, 0}, "ratchet-0", "ratchet-0:9187"};
  const slot_owner one{{4, 0}, "ratchet-1", ""};
  replica_log log;
  {
    const auto s = open();
    EXPECT_FALSE(of(*s).owner());
    of(*s).note_owner(zero);
    EXPECT_EQ(of(*s).owner(), zero);
    put(*s, "a", 1);
    log.confirm(*s);
  }
  {
    const auto s = open();
    EXPECT_EQ(of(*s).owner(), zero);
    of(*s).note_owner(one);
    EXPECT_EQ(of(*s).owner(), one) << "at once";
  }
  {
    const auto s = open();
    EXPECT_EQ(of(*s).owner(), zero) << "no step came behind its fence, so the log is read from before it";
    of(*s).note_owner(one);
    put(*s, "a", 2);
    log.confirm(*s);
  }
  EXPECT_EQ(of(*open()).owner(), one);
  EXPECT_EQ(must(verify_store(options().path)), std::vector<std::string>{});
}

TEST_F(a_replica, goes_on_where_its_database_is) {
  replica_log log;
  {
    const auto s = open();
    put(*s, "a", 1);
    put(*s, "a", 2);
    put(*s, "a", 3);
    log.confirm(*s, 2);
  }
  const auto s = open();
  ASSERT_TRUE(of(*s).position());
  EXPECT_EQ(of(*s).position()->step, 2U);
  EXPECT_EQ(of(*s).position()->offset, 2);
  EXPECT_EQ(s->last_step(), 2U);
  EXPECT_EQ(s->durable_step(), 2U);
  EXPECT_EQ(last_of(*s, "a"), 2U);
}

TEST_F(a_replica, must_look_again_where_others_have_gone_on) {
  replica_log log;
  const auto owner = open();
  put(*owner, "a", 1);
  put(*owner, "a", 2);
  log.confirm(*owner);
  store_options other = options();
  other.path += "-2";
  const auto s = must(open_store(other));
  step_rows rows;
  const step_plan plan = store_support::plan_of({"a"});
  EXPECT_EQ(last_of(*s, "a"), std::nullopt);
  log.apply_to(*s, 1);
  log.apply_to(*s, 1);
  EXPECT_EQ(s->last_step(), 2U);
  EXPECT_EQ(s->lookup(s->id_of("payments"), plan, rows).error(), make_error_code(errc::internal));
  must(of(*s).reload());
  EXPECT_EQ(last_of(*s, "a"), 2U);
  log.fence();
  put(*s, "a", 3);
  log.confirm(*s);
  log.apply_to(*owner);
  EXPECT_TRUE(rows_of(*owner) == rows_of(*s));
}

TEST_F(a_replica, writes_several_steps_at_once_and_numbers_its_own_writes) {
  replica_log log;
  const auto owner = open();
  for (std::uint64_t n = 1; n <= 5; ++n) {
    put(*owner, "a" + std::to_string(n), 1);
    log.confirm(*owner);
  }
  store_options other = options();
  other.path += "-2";
  {
    const auto s = must(open_store(other));
    log.apply_to(*s, 4);
    log.apply_to(*s, 4);
    must(s->sync());
    EXPECT_TRUE(rows_of(*owner) == rows_of(*s));
    EXPECT_EQ(must(read_step(database_of(*s), {}, family::standard)), 2U);
    EXPECT_EQ(must(read_step(database_of(*owner), {}, family::standard)), 5U);
  }
  EXPECT_EQ(must(verify_store(other.path)), std::vector<std::string>{});
}

/// Steps with what `write` in the fixture does not put: messages of two lanes, some of them trimmed, rows of
/// tables, and audit rows.
class many_families {
 public:
  void step(store& s) {
    const std::uint64_t number = s.last_step() + 1;
    const stream_id stream = s.id_of("payments");
    step_plan plan;
    stream_change change;
    change.after = must(s.load(stream));
    const auto n = static_cast<std::int64_t>(number % 3);
    change.tables.push_back({0, 0, "t", "key " + std::to_string(n), "value " + std::to_string(number)});
    if (number % 4 == 0) change.tables.push_back({0, 0, "t", "key 1", std::nullopt});
    step_batch batch;
    batch.step = number;
    batch.audits.push_back({number, timestamp{}, "test", "payments", "audit"});
    for (const char* topic : {"out", "out", "sink:pay"}) {
      output_row row;
      row.stream = stream;
      row.topic = topic;
      row.value = "value " + std::to_string(number);
      batch.outbox.puts.push_back(row);
    }
    batch.outbox.number(s.outboxes(), s.outbox_epoch());
    const outbox_state all = s.outbox();
    if (number % 5 == 0) {
      const auto gone = must(s.outputs({}, all.first, all.next, 6, 1U << 20U));
      batch.outbox.trimmed_rows = gone.size();
      for (const output_row& row : gone) batch.outbox.trimmed_bytes += row.bytes();
    }
    batch.parts.push_back({stream, &plan, &change, {}});
    must(s.write(batch));
  }
};

TEST_F(a_replica, has_messages_and_tables_as_a_store_without_a_log) {
  store_options plain = fixture::options();
  plain.path += "-2";
  const auto direct = must(open_store(plain));
  const auto s = open();
  replica_log log;
  many_families of_direct;
  many_families of_replica;
  for (int i = 0; i < 24; ++i) {
    of_direct.step(*direct);
    of_replica.step(*s);
    EXPECT_EQ(s->outboxes(), direct->outboxes());
    must(direct->sync());  // its outputs are those of durable steps
    for (const char* lane : {"", "pay"}) {
      const outbox_state all = s->outboxes().of(lane);
      EXPECT_EQ(must(s->outputs(lane, all.first, all.next, 100, 1U << 20U)),
                must(direct->outputs(lane, all.first, all.next, 100, 1U << 20U)));
    }
    if (i % 7 == 6) log.confirm(*s, 5);
  }
  log.confirm(*s);
  EXPECT_TRUE(rows_of(*s) == rows_of(*direct));
}

TEST_F(a_replica, learns_of_floors_from_the_steps) {
  const auto owner = open();
  replica_log log;
  const timestamp floor{std::chrono::milliseconds{1000}};
  write(*owner, owner->id_of("payments"), {{"a", seq(1), "x"}},
        [&](step_batch&, stream_change& change) { change.after.floor = floor; });
  log.append(*of(*owner).rows_of(1));
  rocksdb::WriteBatch batch;
  std::vector<applied_floor> floors;
  row_sink to{database_of(*owner), batch};
  ASSERT_FALSE(put_confirmed(to, k_instance_slot, std::nullopt, log.behind(*owner), floors));
  ASSERT_EQ(floors.size(), 1U);
  EXPECT_EQ(floors[0].stream, owner->id_of("payments"));
  EXPECT_EQ(floors[0].floor, floor);
}

TEST_F(a_replica, is_opened_as_such_or_not_at_all) {
  {
    const auto s = open();
    replica_log log;
    put(*s, "a", 1);
    log.confirm(*s);
  }
  const auto refused = open_store(fixture::options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, make_error_code(errc::state_foreign));
  EXPECT_THAT(refused.error().message, HasSubstr("is a replica at step 1 of a replicated log"));
  EXPECT_EQ(must(verify_store(path())), std::vector<std::string>{});
}

TEST_F(a_replica, with_a_position_that_cannot_be_read_is_damaged) {
  for (const auto& [key, value] : {std::pair{layout::slot_key(k_instance_slot), std::string{"x"}},
                                   std::pair{layout::slot_key(slot{1}), std::string{"x"}},
                                   std::pair{layout::slot_key(k_instance_slot) + "x", std::string{"x"}}}) {
    store_options of_this = options();
    of_this.path += std::to_string(std::hash<std::string>{}(key));
    {
      const auto s = must(open_store(of_this));
      database& db = database_of(*s);
      rocksdb::WriteOptions synced;
      synced.sync = true;
      ASSERT_TRUE(db.db().Put(synced, db.handle(family::standard), key, value).ok());
    }
    const auto refused = open_store(of_this);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, make_error_code(errc::state_damaged));
    const auto findings = verify_store(of_this.path);
    EXPECT_TRUE(!findings || !findings.assume_value().empty());
  }
}

TEST_F(a_replica, takes_no_change_that_is_local_into_the_log) {
  const auto s = open();
  step_batch batch;
  batch.step = 1;
  batch.change.cluster_id = "c";
  EXPECT_EQ(s->write(batch).error(), make_error_code(errc::internal));
  batch.change.cluster_id.reset();
  batch.change.outbox_epoch = 7;
  must(s->write(batch));
  EXPECT_EQ(s->outbox_epoch(), 7U);
  replica_log log;
  log.confirm(*s);
  must(of(*s).reload());
  EXPECT_EQ(s->outbox_epoch(), 7U);
}

TEST_F(a_replica, tells_a_write_that_failed_and_applies_no_more) {
  store_support::switches switches;
  const std::unique_ptr<rocksdb::Env> env{
      rocksdb::NewCompositeEnv(std::make_shared<store_support::failing_file_system>(switches))};
  store_options o = options();
  o.writes = write_on::owner_thread;
  const auto s = must(open_store(o, env.get()));
  replica_log log;
  put(*s, "a", 1);
  log.confirm(*s);
  put(*s, "a", 2);
  log.append(*of(*s).rows_of(2));
  switches.fail_append = true;
  EXPECT_EQ(of(*s).apply(log.behind(*s)).error(), make_error_code(errc::write_indeterminate));
  EXPECT_EQ(s->durable_step(), 1U);
  switches.fail_append = false;
  EXPECT_EQ(of(*s).apply(log.behind(*s)).error(), make_error_code(errc::write_indeterminate));
}

/// Steps that are refused, and the store that they are given to: it has two.
class a_refusal : public a_replica {
 protected:
  void SetUp() override {
    store_ = open();
    put(*store_, "a", 1);
    log_.confirm(*store_);
    log_.fence();
    put(*store_, "a", 2);
    log_.confirm(*store_);
  }
  using edit = std::function<void(confirmed_rows&)>;
  /// The next step, right but for what `wrong` makes of it; none: of one row. What chains is made anew.
  void expect(apply_fault want, const edit& wrong, std::string rows = {}) {
    const auto before = rows_of(*store_, true);
    if (rows.empty()) rows = one_row(family::tables, "key");
    confirmed_rows step;
    step.position = *of(*store_).position();
    ++step.position.step;
    ++step.position.offset;
    step.position.chain = replicate::next_chain(step.position.chain, rows);
    step.rows = rows;
    step.layout = layout::k_schema_version;
    if (wrong) wrong(step);
    const auto refused = must(of(*store_).apply(std::span{&step, 1}));
    ASSERT_TRUE(refused) << name_of(want);
    EXPECT_STREQ(name_of(refused->fault), name_of(want));
    EXPECT_EQ(refused->step, step.position.step);
    EXPECT_TRUE(rows_of(*store_, true) == before) << name_of(want);
    EXPECT_EQ(store_->last_step(), 2U);
  }
  static std::string one_row(family f, std::string_view key) {
    replicate::row_buffer rows;
    rows.put(static_cast<std::uint8_t>(f), key, "value");
    return rows.release();
  }

  std::unique_ptr<store> store_;
  replica_log log_;
};

TEST_F(a_refusal, comes_where_a_step_does_not_follow) {
  expect(apply_fault::wrong_step, [](confirmed_rows& s) { ++s.position.step; });
  expect(apply_fault::wrong_step, [](confirmed_rows& s) { --s.position.step; });
  expect(apply_fault::at_fence, [](confirmed_rows& s) { s.position.at_fence = true; });
  expect(apply_fault::at_fence, [](confirmed_rows& s) { s.position.lineage.reset(); });
  expect(apply_fault::at_fence, [](confirmed_rows& s) { s.position.fenced_step = s.position.step; });
  expect(apply_fault::other_lineage, [](confirmed_rows& s) { ++s.position.lineage->low; });
  expect(apply_fault::other_chain, [](confirmed_rows& s) { ++s.position.chain.low; });
  expect(apply_fault::other_chain, [](confirmed_rows& s) { s.rows.remove_suffix(1); });
  expect(apply_fault::older_epoch, [](confirmed_rows& s) { --s.position.epoch.generation; });
  expect(apply_fault::older_epoch, [](confirmed_rows& s) { ++s.position.writer; });
  expect(apply_fault::offset_back, [](confirmed_rows& s) { --s.position.offset; });
  expect(apply_fault::newer_layout, [](confirmed_rows& s) { ++s.layout; });
  expect(apply_fault::older_layout, [](confirmed_rows& s) { s.layout = 5; });
}

TEST_F(a_refusal, comes_where_rows_are_none_of_the_logs) {
  expect(apply_fault::damaged_rows, {}, one_row(family::tables, "key").substr(1));
  replicate::row_buffer unknown;
  unknown.put(7, "key", "value");
  expect(apply_fault::unknown_family, {}, unknown.release());
  expect(apply_fault::local_row, {}, one_row(family::standard, layout::identity_key()));
  expect(apply_fault::local_row, {}, one_row(family::standard, layout::slot_key(k_instance_slot)));
  expect(apply_fault::local_row, {}, one_row(family::dedup, layout::step_key(false)));
  expect(apply_fault::local_row, {}, one_row(family::standard, "\x7F"));
  replicate::row_buffer erased;
  erased.put(static_cast<std::uint8_t>(family::tables), "key", "value");
  erased.erase(static_cast<std::uint8_t>(family::standard), layout::step_key(true));
  expect(apply_fault::local_row, {}, erased.release());
  replicate::row_buffer range;
  range.erase_range(static_cast<std::uint8_t>(family::standard), layout::stream_state_key(stream_id{1}), "x");
  expect(apply_fault::local_row, {}, range.release());
}

TEST_F(a_refusal, of_a_later_step_takes_those_before_it_along) {
  const auto before = rows_of(*store_, true);
  log_.append(one_row(family::tables, "key"));
  log_.append(one_row(family::standard, layout::identity_key()));
  const auto refused = must(of(*store_).apply(log_.behind(*store_)));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->step, 4U);
  EXPECT_TRUE(rows_of(*store_, true) == before);
  EXPECT_EQ(of(*store_).position()->step, 2U);
  log_.apply_to(*store_, 1);
  EXPECT_EQ(of(*store_).position()->step, 3U);
}

TEST_F(a_refusal, comes_where_the_store_has_decided_otherwise) {
  put(*store_, "b", 1);
  log_.append(one_row(family::tables, "key"));
  const auto refused = must(of(*store_).apply(log_.behind(*store_)));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->fault, apply_fault::other_decision);
  EXPECT_EQ(of(*store_).pending().steps, 1U);
  must(of(*store_).drop_pending());
  log_.apply_to(*store_);
  EXPECT_EQ(of(*store_).position()->step, 3U);
}

TEST_F(a_refusal, comes_where_the_first_step_has_no_founding_chain) {
  store_options other = options();
  other.path += "-2";
  const auto s = must(open_store(other));
  auto steps = log_.behind(*s, 1);
  ++steps[0].position.lineage->high;
  const auto refused = must(of(*s).apply(steps));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->fault, apply_fault::other_chain);
}

}  // namespace
}  // namespace ratchet
