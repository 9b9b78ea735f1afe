// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "core/index_table.hpp"
#include "store/forgotten_ids.hpp"
#include "store/huge_pages.hpp"
#include "store/layout.hpp"
#include "store/recent_ids.hpp"
#include "store/recent_rows.hpp"
#include "store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::id_for;
using store_support::must;
using store_support::plan_of;
using store_support::put_row;

using answer = recent_ids::answer;

constexpr std::uint64_t k_little = 1;  // the least memory there is: it must rotate many times

/// With the aggregate's name as its own hash.
struct memory_of_ids {
  explicit memory_of_ids(std::uint64_t bytes, std::optional<event_id> stored = {}) : ids{stored, bytes} {}
  static id_mark mark(const event_id& id, char aggregate) {
    const std::uint64_t name = static_cast<unsigned char>(aggregate);
    return mark_of(id, {name << 32U, name});
  }
  void add(const event_id& id, char aggregate = 'p', const std::optional<event_id>& horizon = {}) {
    ids.add(id, mark(id, aggregate), horizon);
  }
  [[nodiscard]] answer find(const event_id& id, char aggregate = 'p') const {
    return ids.find(id, mark(id, aggregate));
  }
  recent_ids ids;
};

TEST(recent_ids, never_calls_an_id_absent_that_was_added_however_many_came_after) {
  memory_of_ids m{k_little};
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({i * 7919 % 50'000, i});
  int stored = 0;
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    const answer found = m.find({i * 7919 % 50'000, i});
    ASSERT_NE(found, answer::absent) << i;
    stored += found == answer::stored ? 1 : 0;
  }
  EXPECT_GT(stored, 100);
  EXPECT_LT(stored, 1'000) << "it is bounded";
  EXPECT_EQ(m.find({50'001, 0}), answer::absent);
}

/// As a partition that is read behind the others has them: new, but lower than what was forgotten.
TEST(recent_ids, calls_most_ids_absent_that_were_not_added_though_higher_ones_are_forgotten) {
  memory_of_ids m{k_little};
  constexpr std::uint64_t k_added = 5'000;
  for (std::uint64_t i = 0; i < k_added; ++i) m.add({i, 0});
  int stored = 0;
  int unknown = 0;
  for (std::uint64_t i = 0; i < k_added; ++i) {
    stored += m.find({i, 0}) == answer::stored ? 1 : 0;
    const answer other = m.find({i, 1});
    ASSERT_NE(other, answer::stored) << i;
    unknown += other == answer::unknown ? 1 : 0;
  }
  EXPECT_LT(stored, k_added / 10) << "they are not forgotten";
  EXPECT_LT(unknown, k_added / 25);
}

TEST(forgotten_ids, have_all_that_were_added_and_few_others) {
  constexpr std::uint64_t k_bytes = 1 << 16;
  forgotten_ids ids{k_bytes};
  EXPECT_FALSE(ids.has_any());
  EXPECT_FALSE(ids.may_have(0));
  ids.prefetch(0);
  const auto hash = [](std::uint64_t n) { return mix_bits(n * 0x9E3779B97F4A7C15ULL + 1); };
  std::uint64_t added = 0;
  for (; ids.has_room_for(1); ++added) ids.add(hash(added));
  EXPECT_EQ(added, k_bytes * 8 / 10);
  EXPECT_TRUE(ids.has_any());
  for (std::uint64_t n = 0; n < added; ++n) ASSERT_TRUE(ids.may_have(hash(n))) << n;
  std::uint64_t wrong = 0;
  for (std::uint64_t n = added; n < 3 * added; ++n) wrong += ids.may_have(hash(n)) ? 1U : 0U;
  EXPECT_LT(wrong, 2 * added / 60);
  EXPECT_GT(wrong, 0U) << "they are not bounded";
}

TEST(recent_ids, never_calls_an_id_stored_that_was_not_added) {
  memory_of_ids m{1 << 22};
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({i, i * 2});
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    ASSERT_EQ(m.find({i, i * 2}), answer::stored) << i;
    ASSERT_EQ(m.find({i, i * 2 + 1}), answer::absent) << i;
  }
}

TEST(recent_ids, knows_nothing_of_what_was_stored_before_it) {
  const memory_of_ids m{1 << 20, event_id{5, 5}};
  EXPECT_EQ(m.find({5, 5}), answer::unknown);
  EXPECT_EQ(m.find({4, 9}), answer::unknown);
  EXPECT_EQ(m.find({5, 6}), answer::absent);
}

TEST(recent_ids, remembers_late_ones_too) {
  memory_of_ids m{1 << 20, event_id{5, 5}};
  m.add({4, 4});
  EXPECT_EQ(m.find({4, 4}), answer::stored);
  EXPECT_EQ(m.find({4, 5}), answer::unknown);
}

TEST(recent_ids, starts_above_the_highest_of_all_it_is_told) {
  memory_of_ids m{1 << 20};
  m.ids.start_above({7, 0});
  m.ids.start_above({3, 0});
  EXPECT_EQ(m.find({7, 0}), answer::unknown);
  EXPECT_EQ(m.find({7, 1}), answer::absent);
}

TEST(recent_ids, tells_the_same_id_of_two_aggregates_apart) {
  memory_of_ids m{1 << 20};
  m.add({1, 1});
  EXPECT_EQ(m.find({1, 1}), answer::stored);
  EXPECT_EQ(m.find({1, 1}, 'q'), answer::absent);
}

TEST(recent_ids, keeps_an_id_whose_mark_is_all_zeros) {
  memory_of_ids m{1 << 20};
  const event_id id{std::uint64_t{'p'} << 32U, 'p'};
  EXPECT_EQ(m.find(id), answer::absent);
  m.add(id);
  EXPECT_EQ(m.find(id), answer::stored);
}

TEST(recent_ids, stays_useful_after_ids_that_are_far_ahead) {
  memory_of_ids m{k_little};
  const std::optional<event_id> horizon = event_id{100'000, 0};
  const event_id far{900'000, 1};
  m.add(far, 'p', horizon);
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({i, i}, 'p', horizon);  // it rotates many times
  EXPECT_EQ(m.find({50'001, 0}), answer::absent);
  EXPECT_EQ(m.find(far), answer::stored);
}

TEST(recent_ids, forgets_no_id_however_many_are_far_ahead) {
  memory_of_ids m{k_little};
  const std::optional<event_id> horizon = event_id{10, 0};
  for (std::uint64_t i = 0; i < 50'000; ++i) m.add({1'000 + i % 7, i}, 'p', horizon);
  for (std::uint64_t i = 0; i < 50'000; ++i) ASSERT_NE(m.find({1'000 + i % 7, i}), answer::absent) << i;
}

row_head row_head_at(sequence last) {
  row_head head;
  head.last = last;
  return head;
}

/// Both halves choose a bucket.
constexpr hash128 name(std::uint64_t n) {
  return {n * 0xBF58476D1CE4E5B9ULL, n * 0x9E3779B97F4A7C15ULL};
}

/// So that rows can have the rest.
TEST(recent_ids, remember_as_many_in_what_they_take_as_in_what_they_were_given) {
  constexpr std::uint64_t k_given = 700'000;
  const std::uint64_t taken = recent_ids::taken_of(k_given);
  EXPECT_GT(taken, k_given / 2);
  EXPECT_LE(taken, k_given);
  memory_of_ids all{k_given};
  memory_of_ids less{taken};
  memory_of_ids too_little{taken - 1};
  constexpr std::uint64_t k_added = 40'000;
  for (std::uint64_t i = 0; i < k_added; ++i) {
    for (memory_of_ids* m : {&all, &less, &too_little}) m->add({i, i});
  }
  const auto stored = [](const memory_of_ids& m) {
    int count = 0;
    for (std::uint64_t i = 0; i < k_added; ++i) count += m.find({i, i}) == answer::stored ? 1 : 0;
    return count;
  };
  EXPECT_EQ(stored(less), stored(all));
  EXPECT_LT(stored(too_little), stored(all));
}

TEST(recent_rows, forgets_the_oldest_and_never_answers_with_an_old_row) {
  recent_rows rows{40'000, true};
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (std::uint64_t i = 0; i < 2'000; ++i) rows.put(name(i), row_head_at(seq(round)));
  }
  int known = 0;
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    const auto head = rows.find(name(i));
    if (!head) continue;
    ++known;
    EXPECT_EQ(head->head.last, seq(3));
  }
  EXPECT_GT(known, 900) << "all of its memory is used";
  EXPECT_LT(known, 40'000 / 36) << "it is bounded";
}

TEST(recent_rows, forgets_what_was_not_asked_for_the_longest) {
  recent_rows rows{40'000, true};
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    rows.put(name(i), row_head_at(seq(i)));
    for (std::uint64_t asked = 0; asked < std::min<std::uint64_t>(i, 20); ++asked)
      ASSERT_TRUE(rows.find(name(asked))) << asked << " behind " << i;
  }
}

TEST(recent_rows, gives_back_all_of_a_row) {
  recent_rows rows{8 << 20, true};
  row_head full = row_head_at(seq(7, 8));
  full.id = event_id{1, 2};
  full.payload_hash = {3, 4};
  full.time = timestamp{std::chrono::milliseconds{-5}};
  const row_head bare = row_head_at(seq(9));
  std::vector<row_head> heads{full, bare};
  for (bool row_head::*flag :
       {&row_head::deleted, &row_head::external, &row_head::has_last, &row_head::waits}) {
    heads.push_back(bare);
    heads.back().*flag = !(bare.*flag);
  }
  for (std::size_t i = 0; i < heads.size(); ++i) rows.put(name(i), heads[i]);
  for (std::uint64_t i = 100; i < 5'000; ++i) rows.put(name(i), bare);  // it grows
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto found = rows.find(name(i));
    ASSERT_TRUE(found) << i;
    ASSERT_TRUE(found->is_whole) << i;
    EXPECT_EQ(found->head, heads[i]) << i;
  }
}

/// What it does not have of a row it does not make up either.
TEST(recent_rows, keep_the_rest_of_a_part_of_them) {
  recent_rows rows{1 << 20, true};
  const auto row_of = [](std::uint64_t i) {
    row_head head = row_head_at(seq(i));
    head.id = event_id{i, 1};
    head.payload_hash = {i, 2};
    head.time = timestamp{std::chrono::milliseconds{i}};
    return head;
  };
  constexpr std::uint64_t k_rows = 20'000;
  for (std::uint64_t i = 0; i < k_rows; ++i) rows.put(name(i), row_of(i));
  ASSERT_TRUE(rows.has_all());
  std::uint64_t whole = 0;
  for (std::uint64_t i = 0; i < k_rows; ++i) {
    const auto found = rows.find(name(i));
    ASSERT_TRUE(found) << i;
    row_head expected = row_of(i);
    if (!found->is_whole) {
      expected.id.reset();
      expected.payload_hash = {};
    }
    whole += found->is_whole ? 1U : 0U;
    ASSERT_EQ(found->head, expected) << i;
  }
  EXPECT_GT(whole, 1'000U);
  EXPECT_LT(whole, (1U << 20U) / 64 / 8 + 1) << "they are not bounded";
  EXPECT_TRUE(rows.find(name(k_rows - 1))->is_whole) << "the one put last";
}

TEST(recent_rows, do_not_know_a_row_whose_epoch_they_do_not_have) {
  recent_rows rows{1 << 20, true};
  for (std::uint64_t i = 0; i < 20'000; ++i) rows.put(name(i), row_head_at(seq(i % 2, i)));
  std::uint64_t unknown = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto found = rows.find(name(i));
    if (found) {
      ASSERT_EQ(found->head.last, seq(i % 2, i)) << i;
    } else {
      ASSERT_EQ(i % 2, 1U) << i;
      ++unknown;
    }
  }
  EXPECT_GT(unknown, 1'000U);
  EXPECT_FALSE(rows.has_all()) << "the database knows more";
}

TEST(recent_rows, takes_no_two_aggregates_for_one) {
  recent_rows rows{1 << 20, true};
  // Of one bucket, and alike in one half or in the bits that are compared first.
  const std::vector<hash128> names{{0, 7}, {1, 7}, {2, 7}, {1 + (1U << 16U), 7}, {1, 8}};
  for (std::size_t i = 0; i < names.size(); ++i) rows.put(names[i], row_head_at(seq(i)));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto head = rows.find(names[i]);
    ASSERT_TRUE(head) << i;
    EXPECT_EQ(head->head.last, seq(i)) << i;
  }
}

TEST(recent_rows, forgets_what_is_erased_and_nothing_else) {
  recent_rows rows{1 << 20, true};
  for (std::uint64_t i = 0; i < 1'000; ++i) rows.put(name(i), row_head_at(seq(i)));
  for (std::uint64_t i = 0; i < 1'000; i += 2) rows.erase(name(i));
  rows.erase(name(5'000));  // was never there
  for (std::uint64_t i = 0; i < 1'000; ++i) EXPECT_EQ(rows.find(name(i)).has_value(), i % 2 == 1) << i;
  EXPECT_TRUE(rows.has_all());
}

TEST(recent_rows, takes_the_places_of_erased_ones_first) {
  recent_rows rows{40'000, true};
  std::uint64_t put = 0;
  while (rows.has_all()) {
    rows.put(name(put++), {});
    ASSERT_LT(put, 10'000U) << "it is not bounded";
  }
  recent_rows again{40'000, true};
  for (std::uint64_t i = 0; i + 1 < put; ++i) again.put(name(i), {});
  // The last one did not fit. It does behind each of its bucket, of which nobody knows which they are.
  for (std::uint64_t i = 0; i + 1 < put; ++i) {
    again.erase(name(i));
    again.put(name(i), row_head_at(seq(i)));
    ASSERT_TRUE(again.has_all()) << i;
  }
  for (std::uint64_t i = 0; i + 1 < put; ++i) {
    const auto found = again.find(name(i));
    ASSERT_TRUE(found) << i;
    EXPECT_EQ(found->head, row_head_at(seq(i))) << i;
  }
}

TEST(recent_rows, has_none_where_there_is_no_memory) {
  recent_rows rows{0, true};
  EXPECT_FALSE(rows.find(name(1)));
  EXPECT_TRUE(rows.has_all());
  rows.prefetch_ahead(0, 100, name);
  rows.put(name(1), {});
  EXPECT_FALSE(rows.find(name(1)));
  EXPECT_FALSE(rows.has_all()) << "the database has it now";
  rows.erase(name(1));
}

TEST(recent_rows, has_all_until_it_forgets_one) {
  recent_rows rows{40'000, true};
  std::uint64_t put = 0;
  while (rows.has_all()) {
    for (std::uint64_t i = 0; i < put; ++i) ASSERT_TRUE(rows.find(name(i))) << i;
    rows.put(name(put++), {});
    ASSERT_LT(put, 10'000U) << "it is not bounded";
  }
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < put; ++i) known += rows.find(name(i)) ? 1U : 0U;
  EXPECT_EQ(known, put - 1);
  EXPECT_GT(put, 150U);
  EXPECT_FALSE(recent_rows(40'000, false).has_all());
}

class a_reopened_store : public fixture {};

TEST_F(a_reopened_store, knows_of_an_id_in_a_wide_run_that_begins_before_the_last_one) {
  constexpr std::uint64_t k_start = std::uint64_t{100'000'000} << layout::k_span_bits.back();
  const auto id_at = [](std::uint64_t milliseconds) {
    return event_id{(k_start + milliseconds) << 16U | 0x7000U, 1};
  };
  const step_plan plan = plan_of({"p1"});
  const auto file = [&](store& s, const std::vector<event_id>& ids) {
    write(s, s.id_of("payments"), {}, [&](step_batch& batch, stream_change& change) {
      batch.parts[0].plan = &plan;
      change.rows = {{0, {}}};
      for (const event_id& id : ids) change.ids.push_back({0, id});
    });
  };
  std::vector<event_id> wide;  // 512 ids, 128 ms between two
  for (std::uint64_t i = 0; i < 512; ++i) wide.push_back(id_at(i * 128));
  {
    auto s = open();
    file(*s, wide);
    file(*s, {id_at(500 * 128)});  // its narrow run begins last
  }
  auto s = open();
  step_plan asked = plan;
  asked.ids = {{0, wide.back()}};
  step_rows rows;
  must(s->lookup(s->id_of("payments"), asked, rows));
  EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1}));
}

TEST_F(a_reopened_store, does_not_take_what_it_does_not_remember_for_new) {
  open().reset();
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(4), "four"}});
  }
  auto s = open();
  write(*s, s->id_of("payments"), {{"p2", seq(1), "one"}});
  for (const bool needs_snapshots : {false, true}) {
    step_plan plan = plan_of({"p1", "p2", "p3"});
    plan.needs_snapshots = needs_snapshots;
    step_rows rows;
    must(s->lookup(s->id_of("payments"), plan, rows));
    ASSERT_TRUE(rows.aggregates[0]);
    EXPECT_EQ(rows.aggregates[0]->last, seq(4));
    ASSERT_TRUE(rows.aggregates[1]);
    EXPECT_FALSE(rows.aggregates[2]);
  }
}

TEST_F(a_reopened_store, that_was_empty_reads_snapshots_of_rows_that_it_remembers) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"p1", seq(4), "four"}});
  step_plan plan = plan_of({"p1", "p2"});
  plan.needs_snapshots = true;
  step_rows rows;
  must(s->lookup(s->id_of("payments"), plan, rows));
  ASSERT_TRUE(rows.aggregates[0]);
  EXPECT_EQ(rows.aggregates[0]->snapshot, "four");
  EXPECT_FALSE(rows.aggregates[1]);
}

TEST_F(a_reopened_store, still_sees_ids_and_rows_of_before) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    write(*s, s->id_of("payments"), {{"p1", seq(5), "five"}});
  }
  auto s = open();
  step_plan plan = plan_of({"p1"});
  plan.ids = {{0, id_for("p1", 1)}, {0, id_for("p1", 5)}, {0, id_for("p1", 3)}, {0, id_for("p1", 6)}};
  step_rows rows;
  for (int i = 0; i < 2; ++i) {  // from the database, then from memory
    must(s->lookup(s->id_of("payments"), plan, rows));
    EXPECT_EQ(rows.id_stored, (std::vector<std::uint8_t>{1, 1, 0, 0}));
    ASSERT_TRUE(rows.aggregates[0]);
    EXPECT_EQ(rows.aggregates[0]->last, seq(5));
    EXPECT_EQ(rows.aggregates[0]->id, id_for("p1", 5));
  }
}

/// Whose memory has room for what is compared with each event, but for id and payload of a few rows only.
class a_store_of_many_rows : public fixture {
 protected:
  static constexpr int k_rows = 2'000;
  static std::string name_of(int i) { return "p" + std::to_string(i); }
  static hash128 payload_of(int i) { return {static_cast<std::uint64_t>(i), 7}; }

  a_store_of_many_rows() {
    store_options few = options();
    few.remembered_bytes = std::uint64_t{128} << 10U;
    store_ = must(open_store(few));
    std::vector<put_row> rows;
    for (int i = 0; i < k_rows; ++i) rows.push_back({name_of(i), seq(5), "five"});
    write(*store_, stream(), rows, [](step_batch&, stream_change& change) {
      for (int i = 0; i < k_rows; ++i)
        change.rows[static_cast<std::size_t>(i)].row.payload_hash = payload_of(i);
    });
  }
  [[nodiscard]] stream_id stream() const { return store_->id_of("payments"); }

  /// With an event of this number for each aggregate.
  step_rows look_up(std::uint64_t number) {
    events_.assign(k_rows, {});
    plan_ = {};
    for (int i = 0; i < k_rows; ++i) {
      names_.push_back(name_of(i));
      plan_.add(names_.emplace_back(name_of(i)));
      plan_.aggregate_of.push_back(static_cast<std::uint32_t>(i));
      events_[static_cast<std::size_t>(i)].sequence = seq(number);
    }
    plan_.events = events_;
    step_rows rows;
    must(store_->lookup(stream(), plan_, rows));
    return rows;
  }

  std::unique_ptr<store> store_;
  std::deque<std::string> names_;
  std::vector<decoded_event> events_;
  step_plan plan_;
};

TEST_F(a_store_of_many_rows, leaves_out_what_no_event_is_compared_with) {
  const step_rows rows = look_up(6);
  int partial = 0;
  for (int i = 0; i < k_rows; ++i) {
    const auto& row = rows.aggregates[static_cast<std::size_t>(i)];
    ASSERT_TRUE(row) << i;
    EXPECT_EQ(row->last, seq(5)) << i;
    partial += row->partial ? 1 : 0;
  }
  EXPECT_GT(partial, k_rows / 2);
}

TEST_F(a_store_of_many_rows, reads_what_an_event_of_the_same_number_is_compared_with) {
  const step_rows rows = look_up(5);
  for (int i = 0; i < k_rows; ++i) {
    const auto& row = rows.aggregates[static_cast<std::size_t>(i)];
    ASSERT_TRUE(row) << i;
    ASSERT_FALSE(row->partial) << i;
    EXPECT_EQ(row->id, id_for(name_of(i), 5)) << i;
    EXPECT_EQ(row->payload_hash, payload_of(i)) << i;
  }
}

TEST_F(a_store_of_many_rows, keeps_what_was_left_out_where_the_row_is_written_again) {
  step_rows rows = look_up(6);
  write(*store_, stream(), {}, [&](step_batch& batch, stream_change& change) {
    batch.parts[0].plan = &plan_;
    for (std::uint32_t i = 0; i < k_rows; ++i) {
      aggregate_row row = *rows.aggregates[i];
      row.waits = true;
      change.rows.push_back({i, row, true});
    }
  });
  const auto view = must(store_->view());
  int seen = 0;
  must(view->scan(stream(), [&](const scanned_row& r) {
    const int i = std::stoi(std::string{r.aggregate.substr(1)});
    EXPECT_TRUE(r.row.waits) << i;
    EXPECT_EQ(r.row.id, id_for(name_of(i), 5)) << i;
    EXPECT_EQ(r.row.payload_hash, payload_of(i)) << i;
    EXPECT_EQ(r.row.snapshot, "five") << i;
    ++seen;
    return true;
  }));
  EXPECT_EQ(seen, k_rows);
}

/// What /proc/self/smaps says of the mapping that holds this address, as in "rd wr mr mw me ac hg".
std::string mapping_flags(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps{"/proc/self/smaps"};
  bool is_inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2)
      is_inside = begin <= wanted && wanted < end;
    if (is_inside && line.starts_with("VmFlags:")) return line;
  }
  return {};
}

TEST(huge_pages, are_asked_for_where_a_table_has_room_for_one) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) GTEST_SKIP() << "this kernel has none";
  std::vector<std::uint64_t, huge_page_allocator<std::uint64_t>> table(1U << 20U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.data()) % decltype(table)::allocator_type::k_page, 0U);
  EXPECT_NE(mapping_flags(table.data()).find(" hg"), std::string::npos) << mapping_flags(table.data());
}

}  // namespace
}  // namespace ratchet
