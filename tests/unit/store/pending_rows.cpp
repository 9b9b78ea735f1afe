// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/engine/pending_rows.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ratchet {
namespace {

using replicate::row_buffer;

constexpr auto k_tables = static_cast<std::uint8_t>(family::tables);
constexpr auto k_outbox = static_cast<std::uint8_t>(family::outbox);

pending_rows::step_bytes step(const std::function<void(row_buffer&)>& fill) {
  row_buffer rows;
  fill(rows);
  return std::make_shared<const std::string>(rows.release());
}
/// As text: the value, `erased`, or `-` where nothing pending says anything.
std::string find(const pending_rows& rows, std::string_view key, family f = family::tables) {
  const auto found = rows.find(f, key);
  if (!found) return "-";
  return found->is_erased ? "erased" : std::string{found->value};
}

TEST(pending_rows, say_what_the_newest_step_says) {
  pending_rows rows;
  EXPECT_EQ(find(rows, "a"), "-");
  rows.add(5, step([](row_buffer& r) {
             r.put(k_tables, "a", "one");
             r.put(k_tables, "b", "one");
           }));
  rows.add(6, step([](row_buffer& r) {
             r.put(k_tables, "a", "first");
             r.put(k_tables, "a", "two");
             r.erase(k_tables, "b");
           }));
  EXPECT_EQ(find(rows, "a"), "two");
  EXPECT_EQ(find(rows, "b"), "erased");
  EXPECT_EQ(find(rows, "a", family::outbox), "-") << "another family";
  EXPECT_EQ(rows.oldest_step(), 5U);
  rows.release_oldest();
  EXPECT_EQ(find(rows, "a"), "two");
  EXPECT_EQ(find(rows, "b"), "erased");
  rows.release_oldest();
  EXPECT_EQ(find(rows, "a"), "-");
  EXPECT_EQ(find(rows, "b"), "-");
  EXPECT_TRUE(rows.empty());
}

TEST(pending_rows, erase_ranges_of_what_came_before_them_alone) {
  pending_rows rows;
  rows.add(1, step([](row_buffer& r) {
             r.put(k_outbox, "b", "one");
             r.put(k_outbox, "d", "one");
           }));
  rows.add(2, step([](row_buffer& r) {
             r.put(k_outbox, "c", "before");
             r.erase_range(k_outbox, "b", "d");
             r.put(k_outbox, "c", "behind");
           }));
  const auto in_outbox = [&](std::string_view key) { return find(rows, key, family::outbox); };
  EXPECT_EQ(in_outbox("a"), "-");
  EXPECT_EQ(in_outbox("b"), "erased");
  EXPECT_EQ(in_outbox("bb"), "erased") << "what the database has";
  EXPECT_EQ(in_outbox("c"), "behind");
  EXPECT_EQ(in_outbox("d"), "one");
  EXPECT_EQ(find(rows, "bb"), "-") << "another family";
  rows.release_oldest();
  EXPECT_EQ(in_outbox("b"), "erased");
  rows.release_oldest();
  EXPECT_EQ(in_outbox("b"), "-");
  EXPECT_EQ(in_outbox("bb"), "-");
}

TEST(pending_rows, may_be_an_erased_range_alone) {
  pending_rows rows;
  rows.add(1, step([](row_buffer& r) { r.erase_range(k_outbox, "b", "d"); }));
  EXPECT_EQ(find(rows, "b", family::outbox), "erased");
  EXPECT_EQ(find(rows, "d", family::outbox), "-");
  rows.add(2, step([](row_buffer&) {}));
  rows.release_oldest();
  EXPECT_EQ(find(rows, "b", family::outbox), "-");
  rows.release_oldest();
  EXPECT_TRUE(rows.empty());
}

TEST(pending_rows, know_what_they_take) {
  pending_rows rows;
  EXPECT_EQ(rows.bytes(), 0U);
  std::size_t row_bytes = 0;
  for (std::uint64_t n = 1; n <= 50; ++n) {
    const auto bytes = step([&](row_buffer& r) {
      for (int i = 0; i < 200; ++i) r.put(k_tables, std::to_string(n * 1000) + std::to_string(i), "value");
    });
    row_bytes += bytes->size();
    rows.add(n, bytes);
  }
  EXPECT_EQ(rows.row_bytes(), row_bytes);
  EXPECT_GT(rows.bytes(), row_bytes + 50U * 200U * 24U);
  const std::size_t unordered = rows.bytes();
  EXPECT_EQ(rows.in_order(family::tables).size(), 10'000U);
  EXPECT_GT(rows.bytes(), unordered) << "an order takes room, too";
  EXPECT_EQ(rows.steps(), 50U);
  for (std::uint64_t n = 1; n <= 49; ++n) rows.release_oldest();
  EXPECT_EQ(rows.in_order(family::tables).size(), 200U);
  rows.drop();
  EXPECT_EQ(rows.bytes(), 0U);
  EXPECT_EQ(rows.row_bytes(), 0U);
  EXPECT_EQ(find(rows, "10000"), "-");
  rows.add(7, step([](row_buffer& r) { r.put(k_tables, "a", "one"); }));
  EXPECT_EQ(find(rows, "a"), "one");
}

TEST(pending_rows, give_a_steps_rows_as_they_were_added) {
  pending_rows rows;
  EXPECT_EQ(rows.rows_of(1), nullptr);
  const auto one = step([](row_buffer& r) { r.put(k_tables, "a", "one"); });
  const auto two = step([](row_buffer& r) { r.put(k_tables, "a", "two"); });
  rows.add(4, one);
  rows.add(5, two);
  EXPECT_EQ(rows.rows_of(3), nullptr);
  EXPECT_EQ(rows.rows_of(4), one);
  EXPECT_EQ(rows.rows_of(5), two);
  EXPECT_EQ(rows.rows_of(6), nullptr);
  rows.release_oldest();
  EXPECT_EQ(rows.rows_of(4), nullptr);
  EXPECT_EQ(rows.rows_of(5), two);
}

TEST(pending_rows, keep_an_order_that_was_asked_for_up_to_date) {
  pending_rows rows;
  const auto keys = [&] {
    std::string all;
    for (const auto& [key, row] : rows.in_order(family::tables)) all += key;
    return all;
  };
  rows.add(1, step([](row_buffer& r) {
             r.put(k_tables, "b", "one");
             r.put(k_outbox, "z", "one");
           }));
  EXPECT_EQ(keys(), "b");
  rows.add(2, step([](row_buffer& r) {
             r.put(k_tables, "c", "two");
             r.put(k_tables, "b", "two");
             r.erase(k_tables, "a");
           }));
  EXPECT_EQ(keys(), "abc");
  rows.release_oldest();
  EXPECT_EQ(keys(), "abc") << "the key lives in the bytes of the younger row";
  rows.release_oldest();
  EXPECT_EQ(keys(), "");
}

}  // namespace
}  // namespace ratchet
