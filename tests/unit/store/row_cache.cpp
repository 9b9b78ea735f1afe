// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/row_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "support/store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::id_for;
using store_support::must;
using store_support::put_row;

row_head row_head_at(sequence last) {
  row_head head;
  head.last = last;
  return head;
}

/// Both halves choose a bucket.
constexpr hash128 name(std::uint64_t n) {
  return {n * 0xBF58476D1CE4E5B9ULL, n * 0x9E3779B97F4A7C15ULL};
}

TEST(row_cache, forgets_the_oldest_and_never_answers_with_an_old_row) {
  row_cache rows{40'000, true};
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

TEST(row_cache, forgets_what_was_not_asked_for_the_longest) {
  row_cache rows{40'000, true};
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    rows.put(name(i), row_head_at(seq(i)));
    for (std::uint64_t asked = 0; asked < std::min<std::uint64_t>(i, 20); ++asked)
      ASSERT_TRUE(rows.find(name(asked))) << asked << " behind " << i;
  }
}

TEST(row_cache, gives_back_all_of_a_row) {
  row_cache rows{8 << 20, true};
  row_head full = row_head_at(seq(7, 8));
  full.id = event_id{1, 2};
  full.payload_hash = {3, 4};
  full.time = timestamp{std::chrono::milliseconds{-5}};
  const row_head bare = row_head_at(seq(9));
  std::vector<row_head> heads{full, bare};
  full.has_seen = true;
  full.seen = timestamp{std::chrono::milliseconds{-6}};
  heads.insert(heads.begin(), full);  // before it nothing is remembered
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

TEST(row_cache, keep_when_an_aggregate_was_seen_within_the_same_memory) {
  row_cache rows{40'000, true};
  const auto row_of = [](std::uint64_t i) {
    row_head head = row_head_at(seq(i));
    head.has_seen = i % 3 != 0;
    if (head.has_seen) head.seen = timestamp{std::chrono::milliseconds{i}};
    return head;
  };
  for (std::uint64_t i = 1; i <= 5'000; ++i) rows.put(name(i), row_of(i));
  std::uint64_t known = 0;
  for (std::uint64_t i = 1; i <= 5'000; ++i) {
    const auto found = rows.find(name(i));
    if (!found) continue;
    ++known;
    ASSERT_EQ(found->head.has_seen, row_of(i).has_seen) << i;
    ASSERT_EQ(found->head.seen, row_of(i).seen) << i;
  }
  EXPECT_GT(known, 500U);
  EXPECT_LT(known, 40'000U / 44);
}

TEST(row_cache, does_not_know_all_rows_any_more_when_the_first_one_that_was_seen_makes_it_begin_anew) {
  row_cache rows{40'000, true};
  row_head seen = row_head_at(seq(2));
  seen.has_seen = true;
  seen.seen = timestamp{std::chrono::milliseconds{1}};
  rows.put(name(1), seen);
  EXPECT_TRUE(rows.has_all()) << "there was nothing before it";
  row_cache others{40'000, true};
  others.put(name(1), row_head_at(seq(1)));
  others.put(name(2), seen);
  EXPECT_FALSE(others.has_all());
  ASSERT_TRUE(others.find(name(2)));
  EXPECT_EQ(others.find(name(2))->head, seen);
}

/// What it does not have of a row it does not make up either.
TEST(row_cache, keep_the_rest_of_a_part_of_them) {
  row_cache rows{1 << 20, true};
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

TEST(row_cache, do_not_know_a_row_whose_epoch_they_do_not_have) {
  row_cache rows{1 << 20, true};
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

TEST(row_cache, takes_no_two_aggregates_for_one) {
  row_cache rows{1 << 20, true};
  // Of one bucket, and alike in one half or in the bits that are compared first.
  const std::vector<hash128> names{{0, 7}, {1, 7}, {2, 7}, {1 + (1U << 16U), 7}, {1, 8}};
  for (std::size_t i = 0; i < names.size(); ++i) rows.put(names[i], row_head_at(seq(i)));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto head = rows.find(names[i]);
    ASSERT_TRUE(head) << i;
    EXPECT_EQ(head->head.last, seq(i)) << i;
  }
}

TEST(row_cache, forgets_what_is_erased_and_nothing_else) {
  row_cache rows{1 << 20, true};
  for (std::uint64_t i = 0; i < 1'000; ++i) rows.put(name(i), row_head_at(seq(i)));
  for (std::uint64_t i = 0; i < 1'000; i += 2) rows.erase(name(i));
  rows.erase(name(5'000));  // was never there
  for (std::uint64_t i = 0; i < 1'000; ++i) EXPECT_EQ(rows.find(name(i)).has_value(), i % 2 == 1) << i;
  EXPECT_TRUE(rows.has_all());
}

TEST(row_cache, takes_the_places_of_erased_ones_first) {
  row_cache rows{40'000, true};
  std::uint64_t put = 0;
  while (rows.has_all()) {
    rows.put(name(put++), {});
    ASSERT_LT(put, 10'000U) << "it is not bounded";
  }
  row_cache again{40'000, true};
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

TEST(row_cache, has_none_where_there_is_no_memory) {
  row_cache rows{0, true};
  EXPECT_FALSE(rows.find(name(1)));
  EXPECT_TRUE(rows.has_all());
  rows.prefetch_ahead(0, 100, name);
  rows.put(name(1), {});
  EXPECT_FALSE(rows.find(name(1)));
  EXPECT_FALSE(rows.has_all()) << "the database has it now";
  rows.erase(name(1));
}

TEST(row_cache, has_all_until_it_forgets_one) {
  row_cache rows{40'000, true};
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
  EXPECT_FALSE(row_cache(40'000, false).has_all());
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

}  // namespace
}  // namespace ratchet
