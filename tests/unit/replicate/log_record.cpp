// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_record.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/replicate_records.hpp"

namespace ratchet::replicate {
namespace {

using testing::author;
using testing::k_lineage;
using testing::k_meaning;

log_record decoded(std::string_view bytes, record_fault want = record_fault::none) {
  log_record record;
  EXPECT_STREQ(name_of(decode_record(bytes, record)), name_of(want));
  return record;
}

TEST(a_fence, comes_back_as_it_was_written) {
  const author by{{5, 2}, 99};
  const std::string bytes = by.fence(17);
  const log_record record = decoded(bytes);
  EXPECT_EQ(record.head, by.head(record_kind::fence, false));
  EXPECT_EQ(record.fence, (fence_body{17, k_meaning, "one", "one:9187"}));
}

TEST(a_part_of_a_step, comes_back_as_it_was_written) {
  const author by{{5, 2}, 99};
  const std::string part = by.part(18, 3, "rows", 11);
  const log_record record = decoded(part);
  EXPECT_EQ(record.head, by.head(record_kind::step, false));
  EXPECT_EQ(record.chunk, (chunk_body{18, 3, 11, {}, "rows"}));
  const std::string last = by.last(18, 4, "", {1, 2}, 17);
  EXPECT_EQ(decoded(last).head, by.head(record_kind::step, true));
  EXPECT_EQ(decoded(last).chunk, (chunk_body{18, 4, 17, {1, 2}, ""}));
}

TEST(a_point, comes_back_as_it_was_written) {
  const author by{{5, 2}, 99};
  const std::string bytes = by.point(18, 6, "key");
  const log_record record = decoded(bytes);
  EXPECT_EQ(record.head, by.head(record_kind::point, false));
  EXPECT_EQ(record.point, (point_body{18, 1'000, 6, "key"}));
  decoded(by.point(18, 6, std::string(k_chunk_bytes, 'k')));
}

TEST(a_digest, comes_back_as_it_was_written) {
  const author by{{5, 2}, 99};
  const std::string bytes = by.digest(18, 3);
  const log_record record = decoded(bytes);
  EXPECT_EQ(record.head, by.head(record_kind::digest, false));
  EXPECT_EQ(record.digest, (digest_body{18, 3, {8, 9}, 77}));
}

TEST(a_fence, cuts_names_that_are_too_long_for_it) {
  std::string bytes;
  const std::string longest(k_name_bytes, 'x');
  append_fence(bytes, author{}.head(record_kind::fence, false), {0, {}, longest + "y", longest});
  EXPECT_EQ(decoded(bytes).fence.instance, longest);
  EXPECT_EQ(decoded(bytes).fence.advertise, longest);
}

TEST(bytes_that_are_no_record, are_refused_by_name) {
  const std::string fence = author{}.fence();
  const std::string part = author{}.part(1, 0, "rows");
  const std::string last = author{}.last(1, 0, "rows", {1, 2});
  const std::string point = author{}.point(1, 0, "key");
  const std::string digest = author{}.digest(1, 1);
  const auto with = [](std::string bytes, std::size_t at, char value) {
    bytes.at(at) = value;
    return bytes;
  };
  const auto zeroed = [](std::string bytes, std::size_t at, std::size_t size) {
    return bytes.replace(at, size, size, '\0');
  };
  const struct {
    const char* what;
    std::string bytes;
    record_fault want;
  } cases[] = {
      {"nothing", "", record_fault::not_a_record},
      {"another letter", with(fence, 0, 'r'), record_fault::not_a_record},
      {"version 0", with(fence, 1, 0), record_fault::not_a_record},
      {"one byte", "R", record_fault::head_cut_off},
      {"a head without its end", fence.substr(0, 39), record_fault::head_cut_off},
      {"version 2", with(fence, 1, 2), record_fault::newer_version},
      {"version 255", with(part, 1, '\xFF'), record_fault::newer_version},
      {"a newer one of another kind", with(with(part, 1, 2), 2, 9), record_fault::newer_version},
      {"a newer one that is a head alone", with(fence, 1, 2).substr(0, 40), record_fault::newer_version},
      {"kind 0", with(fence, 2, 0), record_fault::unknown_kind},
      {"kind 5", with(part, 2, 5), record_fault::unknown_kind},
      {"a point that is the last", with(point, 3, 1), record_fault::unknown_flags},
      {"a point without its end", point.substr(0, point.size() - 1), record_fault::cut_off},
      {"a point with more behind it", point + "x", record_fault::left_over},
      {"a point at a key that is too long", with(point, 58, 8) + std::string(0x80000, 'x'),
       record_fault::long_key},
      {"a digest without its end", digest.substr(0, digest.size() - 1), record_fault::cut_off},
      {"a digest with more behind it", digest + "x", record_fault::left_over},
      {"a fence that is the last", with(fence, 3, 1), record_fault::unknown_flags},
      {"flag 2", with(part, 3, 2), record_fault::unknown_flags},
      {"flags 1 and 2", with(last, 3, 3), record_fault::unknown_flags},
      {"epoch {0, 0}", zeroed(fence, 20, 8), record_fault::no_epoch},
      {"a head alone", fence.substr(0, 40), record_fault::cut_off},
      {"a fence without its end", fence.substr(0, fence.size() - 1), record_fault::cut_off},
      {"a fence with more behind it", fence + "x", record_fault::left_over},
      {"a name longer than the record", with(fence, 67, 'x'), record_fault::cut_off},
      {"a part without its end", part.substr(0, 57), record_fault::cut_off},
      {"a last part without its chain", last.substr(0, 73), record_fault::cut_off},
      {"step 0", zeroed(part, 40, 8), record_fault::step_zero},
      {"confirmed is the step", with(part, 57, 1), record_fault::confirmed_itself},
      {"confirmed is above the step", with(part, 57, 9), record_fault::confirmed_itself},
      {"a part above 512 KiB", part + std::string(k_chunk_bytes - 3, 'x'), record_fault::long_chunk},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    decoded(each.bytes, each.want);
  }
  decoded(part + std::string(k_chunk_bytes - 4, 'x'));  // the longest
}

TEST(bytes_that_are_no_record, are_a_name_above_its_bound) {
  std::string bytes = author{}.fence();
  bytes.resize(64);  // up to the instance
  const std::string name(k_name_bytes + 1, 'x');
  bytes += std::string{"\0\0\1\0", 4} + name + std::string(4, '\0');
  decoded(bytes, record_fault::long_name);
}

TEST(the_head, is_read_of_what_cannot_be_read_otherwise) {
  const author by{{5, 2}, 99};
  std::string newer = by.part(18, 3, "rows");
  newer[1] = 2;
  const log_record record = decoded(newer, record_fault::newer_version);
  EXPECT_EQ(record.head, by.head(record_kind::step, false));
  for (const auto fault : {record_fault::not_a_record, record_fault::head_cut_off})
    EXPECT_FALSE(has_head(fault));
  for (const auto fault :
       {record_fault::none, record_fault::newer_version, record_fault::unknown_kind,
        record_fault::unknown_flags, record_fault::no_epoch, record_fault::cut_off, record_fault::long_name,
        record_fault::left_over, record_fault::step_zero, record_fault::confirmed_itself,
        record_fault::long_chunk, record_fault::long_key}) {
    EXPECT_TRUE(has_head(fault)) << name_of(fault);
  }
}

TEST(the_beginning_of_a_record, is_no_record) {
  for (const std::string& whole : {author{}.fence(), author{}.last(1, 0, "", {1, 2}),
                                   author{}.point(1, 0, "key"), author{}.digest(1, 1)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      log_record record;
      const std::vector<char> exactly(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_NE(decode_record({exactly.data(), exactly.size()}, record), record_fault::none) << size;
    }
  }
}

TEST(the_next_epoch, is_the_lowest_above_the_logs_with_the_groups_generation) {
  EXPECT_EQ(next_epoch({}, 0), (log_epoch{0, 1}));
  EXPECT_EQ(next_epoch({}, 1), (log_epoch{1, 0}));
  EXPECT_EQ(next_epoch({4, 2}, 9), (log_epoch{9, 0}));
  EXPECT_EQ(next_epoch({4, 2}, 4), (log_epoch{4, 3}));
  EXPECT_EQ(next_epoch({4, 2}, 1), (log_epoch{4, 3})) << "a group that was deleted counts from the start";
  EXPECT_EQ(next_epoch({4, UINT32_MAX}, 4), (log_epoch{5, 0}));
}

TEST(a_chain, differs_by_lineage_slot_and_rows) {
  const hash128 first = founding_chain(k_lineage, 0);
  EXPECT_NE(first, founding_chain(testing::k_other_lineage, 0));
  EXPECT_NE(first, founding_chain(k_lineage, 1));
  EXPECT_NE(next_chain(first, ""), first);
  EXPECT_NE(next_chain(first, "a"), next_chain(first, "b"));
  EXPECT_NE(next_chain(first, "a"), next_chain(founding_chain(k_lineage, 1), "a"));
}

}  // namespace
}  // namespace ratchet::replicate
