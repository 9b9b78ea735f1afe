// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "model/store_steps.hpp"
#include "store/engine/catalog.hpp"
#include "store/files/synced_file.hpp"
#include "store/open/opening.hpp"
#include "store/step/step_writer.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;
using ::testing::HasSubstr;

/// A filter that is shown write-ahead log records as batches.
class a_replay : public ::testing::Test {
 protected:
  static rocksdb::WriteBatch step(std::uint64_t number) {
    rocksdb::WriteBatch batch;
    EXPECT_TRUE(batch.Put(layout::step_key(true), layout::encode_step(number)).ok());
    EXPECT_TRUE(batch.Put("another", "entry").ok());
    return batch;
  }
  static bool lets_pass(recovery_filter& filter, const rocksdb::WriteBatch& batch) {
    rocksdb::WriteBatch unused;
    bool changed = false;
    const auto said = filter.LogRecordFound(1, "1.log", batch, &unused, &changed);
    EXPECT_FALSE(changed);
    return said == rocksdb::WalFilter::WalProcessingOption::kContinueProcessing;
  }
};

TEST_F(a_replay, goes_on_as_long_as_steps_are_consecutive_and_never_after_a_hole) {
  recovery_filter filter{0};
  EXPECT_TRUE(lets_pass(filter, step(1)));
  EXPECT_TRUE(lets_pass(filter, step(2)));
  EXPECT_FALSE(lets_pass(filter, step(4)));
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(filter.stopped_at(), 4U);
  EXPECT_FALSE(lets_pass(filter, step(3)));
  EXPECT_EQ(filter.last_passed(), 2U);
}

TEST_F(a_replay, stops_at_a_step_that_comes_twice_or_again) {
  for (const std::uint64_t next : {2U, 1U}) {
    recovery_filter filter{0};
    EXPECT_TRUE(lets_pass(filter, step(1)));
    EXPECT_TRUE(lets_pass(filter, step(2)));
    EXPECT_FALSE(lets_pass(filter, step(next)));
  }
}

TEST_F(a_replay, may_begin_before_what_the_files_hold_or_right_behind_it_but_no_later) {
  for (const std::uint64_t first : {1U, 5U, 6U}) {
    recovery_filter filter{5};
    EXPECT_TRUE(lets_pass(filter, step(first))) << first;
  }
  recovery_filter filter{5};
  EXPECT_FALSE(lets_pass(filter, step(7)));
  EXPECT_FALSE(filter.last_passed());
}

TEST_F(a_replay, passes_batches_without_a_step_and_stops_at_one_that_cannot_be_read) {
  recovery_filter filter{0};
  rocksdb::WriteBatch without;
  ASSERT_TRUE(without.Put(layout::identity_key(), "x").ok());
  EXPECT_TRUE(lets_pass(filter, without));
  EXPECT_FALSE(filter.last_passed());
  rocksdb::WriteBatch damaged;
  ASSERT_TRUE(damaged.Put(layout::step_key(true), "x").ok());
  EXPECT_FALSE(lets_pass(filter, damaged));
  EXPECT_TRUE(filter.stopped());
}

TEST_F(a_replay, stops_at_a_batch_whose_very_first_entry_cannot_be_read) {
  constexpr std::size_t k_header_bytes = 12;
  std::string bytes = step(1).Data().substr(0, k_header_bytes);
  bytes += "\x7f there is no such entry";
  recovery_filter filter{0};
  EXPECT_FALSE(lets_pass(filter, rocksdb::WriteBatch{bytes})) << "it may have been a step";
  EXPECT_TRUE(filter.stopped());
}

TEST_F(a_replay, of_nothing_stops_at_once) {
  recovery_filter filter;
  EXPECT_FALSE(lets_pass(filter, step(1)));
  EXPECT_FALSE(filter.last_passed());
}

class what_recovery_would_give : public fixture {
 protected:
  void make(int steps) const {
    auto s = open();
    for (int i = 1; i <= steps; ++i) {
      write(*s, s->id_of("payments"), {{"p1", seq(static_cast<std::uint64_t>(i)), "x"}});
    }
    must(s->sync());
  }
  /// The message of the refusal; "" where it opens.
  [[nodiscard]] std::string refusal() const {
    const auto opened = open_store(options());
    if (opened) return "";
    EXPECT_EQ(opened.error().code, make_error_code(errc::state_damaged));
    EXPECT_THAT(opened.error().message, HasSubstr("no file was changed"));
    return opened.error().message;
  }
  /// Writes behind the store's back.
  void write_raw(const std::function<void(database&, rocksdb::WriteBatch&)>& fill) const {
    auto s = open();
    rocksdb::WriteBatch batch;
    fill(database_of(*s), batch);
    rocksdb::WriteOptions synced;
    synced.sync = true;
    ASSERT_TRUE(database_of(*s).db().Write(synced, &batch).ok());
  }
};

TEST_F(what_recovery_would_give, is_refused_where_one_column_family_is_ahead_of_or_behind_the_others) {
  for (const family f : {family::sequences, family::snapshots, family::dedup, family::waiting}) {
    for (const std::uint64_t step : {2U, 4U}) {
      make(3);
      write_raw([&](database& db, rocksdb::WriteBatch& batch) {
        ASSERT_TRUE(batch.Put(db.handle(f), layout::step_key(false), layout::encode_step(step)).ok());
      });
      const std::string name = k_family_names[static_cast<std::size_t>(f)];
      EXPECT_THAT(refusal(), HasSubstr("the column family " + name + " is at step " + std::to_string(step)));
      std::filesystem::remove_all(path());
    }
  }
}

/// The log must begin right behind the column family that was flushed the least, or steps of that one are
/// lost.
TEST_F(what_recovery_would_give, follows_on_from_the_column_family_whose_files_end_first) {
  for (const family ahead : k_step_families) {
    {
      auto s = open();
      for (std::uint64_t i = 1; i <= 3; ++i) write(*s, s->id_of("payments"), {{"p1", seq(i), "x"}});
      const database& db = database_of(*s);
      ASSERT_TRUE(db.db().Flush({}, db.handle(ahead)).ok());
    }
    database_settings settings;
    settings.path = path();
    settings.memory_bytes = options().database_bytes;
    const inspected found = must(inspect_directory(settings));
    EXPECT_EQ(found.step, 3U);
    EXPECT_EQ(found.in_files, 0U) << k_family_names[static_cast<std::size_t>(ahead)];
    std::filesystem::remove_all(path());
  }
}

TEST_F(what_recovery_would_give, is_refused_where_the_files_are_ahead_of_the_log) {
  make(3);
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(4), "x"}});  // in the log, and passed
    database& db = database_of(*s);
    // What a flush past a hole leaves: table files with a step that the log cannot give.
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Put("\x7f", "no step comes first").ok());
    put_step(batch, db, 9);
    ASSERT_TRUE(db.db().Write({}, &batch).ok());
  }
  EXPECT_THAT(refusal(), HasSubstr("can be read up to step 4 only, and the table files hold step 9"));
}

TEST_F(what_recovery_would_give, is_refused_below_what_was_synced) {
  make(3);
  must(must(synced_file::open(path())).write(4));
  EXPECT_THAT(refusal(), HasSubstr("step 3 is the last one that can be recovered, and 4 was synced"));
}

TEST_F(what_recovery_would_give, is_taken_where_more_was_written_than_synced) {
  make(3);
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(4), "x"}});
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(what_recovery_would_give, is_refused_where_a_file_that_another_one_names_is_missing) {
  make(3);
  for (const auto& entry : std::filesystem::directory_iterator{path()}) {
    if (entry.path().filename().string().starts_with("MANIFEST-")) std::filesystem::remove(entry.path());
  }
  EXPECT_THAT(refusal(), HasSubstr("MANIFEST-"));
}

TEST_F(what_recovery_would_give,
       is_refused_with_no_file_changed_where_a_start_cannot_read_what_it_keeps_in_memory) {
  for (const family f : {family::standard, family::dedup}) {
    make(3);
    const std::string key = f == family::standard
                                ? layout::prefix_of(layout::kind::rejected, stream_id{1}) + "no position"
                                : layout::end_of_prefix(layout::stream_prefix(stream_id{1}) + "\xfe");
    write_raw([&](database& db, rocksdb::WriteBatch& batch) {
      ASSERT_TRUE(batch.Put(db.handle(f), key, "no value").ok());
    });
    const auto before = store_steps::contents(path());
    EXPECT_THAT(refusal(), HasSubstr("a value cannot be decoded"));
    EXPECT_TRUE(store_steps::contents(path()) == before);
    std::filesystem::remove_all(path());
  }
}

TEST_F(what_recovery_would_give, can_be_told_as_every_step_is_in_every_column_family_that_it_writes_to) {
  auto s = open();
  for (std::uint64_t step = 1; step <= 2; ++step) {
    step_batch nothing;
    nothing.step = step;
    must(s->write(nothing));
    for (const family f :
         {family::standard, family::sequences, family::snapshots, family::dedup, family::waiting}) {
      EXPECT_EQ(must(read_step(database_of(*s), {}, f)), step);
    }
  }
}

}  // namespace
}  // namespace ratchet
