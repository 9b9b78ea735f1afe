// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// How memory and file descriptors are shared out.
#include <gtest/gtest.h>

#include "app/descriptors.hpp"
#include "config/memory_budget.hpp"
#include "config/text.hpp"
#include "ratchet/config.hpp"
#include "store/engine/open_files.hpp"

namespace ratchet {
namespace {

constexpr std::uint64_t k_mebibyte = std::uint64_t{1} << 20U;

TEST(memory_budget, gives_out_the_whole_limit_and_no_more) {
  for (const std::uint64_t limit : {k_least_memory_limit, 512 * k_mebibyte, 1024 * k_mebibyte + 7,
                                    2048 * k_mebibyte + 3, k_most_memory_limit}) {
    const memory_budget shares = memory_budget::of(limit);
    EXPECT_EQ(shares.database + shares.remembered + shares.queue + shares.working, limit);
    EXPECT_GE(shares.remembered, shares.database) << limit;
    EXPECT_GE(shares.database, limit / 4) << limit;
  }
}

TEST(memory_budget, is_four_quarters_where_it_is_small) {
  for (const std::uint64_t limit : {k_least_memory_limit, 128 * k_mebibyte, 256 * k_mebibyte}) {
    const memory_budget shares = memory_budget::of(limit);
    for (const std::uint64_t share : {shares.database, shares.remembered, shares.queue, shares.working})
      EXPECT_EQ(share, limit / 4) << limit;
  }
}

TEST(memory_budget, gives_no_more_to_the_queue_than_it_can_use) {
  const memory_budget shares = memory_budget::of(2048 * k_mebibyte);
  EXPECT_EQ(shares.queue, 64 * k_mebibyte);
  EXPECT_EQ(shares.working, 384 * k_mebibyte);
}

TEST(memory_budget, gives_the_database_half_of_the_rest_and_above_what_tables_need_three_eighths) {
  const auto mebibytes_of_database = [](std::uint64_t limit) {
    return memory_budget::of(limit * k_mebibyte).database / k_mebibyte;
  };
  EXPECT_EQ(mebibytes_of_database(1024), (1024 - 64 - 256) / 2);  // working has a quarter yet
  EXPECT_EQ(mebibytes_of_database(1536), 512);
  EXPECT_EQ(mebibytes_of_database(2048), (2048 - 64 - 384) * 3 / 8);
}

std::string with_state(const std::string& lines) {
  return "version: 1\nstate: {path: /tmp/x" + lines +
         "streams:\n  - {name: s, envelope: {aggregate: /a, sequence: /n, event_id: /i}, reducer: {kind: "
         "replace}}\n";
}

TEST(memory_limit, is_refused_where_it_is_too_small_to_work_with) {
  EXPECT_TRUE(parse_config(with_state("}\nmemory_limit: 64MiB\n"), "c"));
  const auto small = parse_config(with_state("}\nmemory_limit: 63MiB\n"), "c");
  ASSERT_FALSE(small);
  ASSERT_EQ(small.error().diagnostics.size(), 1U);
  EXPECT_EQ(small.error().diagnostics[0].path, "memory_limit");
  EXPECT_NE(small.error().diagnostics[0].hint.find("64MiB"), std::string::npos);
}

TEST(min_free, is_a_size_or_off_and_by_default_chosen_later) {
  EXPECT_EQ(parse_config(with_state("}\n"), "c").value().state.min_free, std::nullopt);
  EXPECT_EQ(parse_config(with_state(", min_free: 2GiB}\n"), "c").value().state.min_free,
            std::uint64_t{2} << 30U);
  EXPECT_EQ(parse_config(with_state(", min_free: off}\n"), "c").value().state.min_free, 0U);
  EXPECT_FALSE(parse_config(with_state(", min_free: 10%}\n"), "c"));
}

TEST(descriptors, are_refused_where_too_few_are_left_for_the_store) {
  EXPECT_FALSE(refusal_of_descriptors(k_least_descriptors));
  EXPECT_FALSE(refusal_of_descriptors(1024));
  const auto refused = refusal_of_descriptors(k_least_descriptors - 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(exit_code(refused->code), 74);
  EXPECT_NE(refused->message.find("255 files"), std::string::npos) << refused->message;
  EXPECT_NE(refused->hint.find("ulimit -n"), std::string::npos);
  EXPECT_NE(refused->hint.find("LimitNOFILE="), std::string::npos);
}

TEST(descriptors, left_for_table_files_fit_the_limit_and_the_memory) {
  constexpr std::uint64_t k_gibibyte = std::uint64_t{1} << 30U;
  EXPECT_EQ(most_table_files(1024, k_gibibyte), 1024 - 192);
  EXPECT_EQ(most_table_files(1'000'000, k_gibibyte), 8192) << "128 KiB of memory for each";
  EXPECT_EQ(most_table_files(1'000'000, std::uint64_t{24} << 20U), 192);
  EXPECT_EQ(most_table_files(~std::uint64_t{0}, 1000 * k_gibibyte), 16'384);
  EXPECT_EQ(most_table_files(k_least_descriptors, k_gibibyte), 64);
  EXPECT_EQ(most_table_files(10, 10), 64);
}

}  // namespace
}  // namespace ratchet
