// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/replicate_records.hpp"

/// The table of docs/internals/replicated-log.md, row by row.
namespace ratchet::replicate {
namespace {

using testing::author;
using testing::chain_of;
using testing::k_layout;
using testing::k_lineage;
using testing::k_meaning;
using testing::k_other_lineage;
using testing::k_slot;
using testing::rows_of;
using testing::step_record;

const author k_first{{1, 0}, 7};
const author k_second{{2, 0}, 8};

reader_options options() {
  reader_options with;
  with.slot = k_slot;
  with.newest_layout = k_layout;
  return with;
}

class a_reader : public ::testing::Test {
 protected:
  /// Keeps the record: the reader's rows borrow from it.
  std::string take(std::string record) {
    record_ = std::move(record);
    return name_of(reader_.take(reader_.next_offset(), record_));
  }
  /// Behind a fence of the first author: steps 1 to `last`.
  void begin(std::uint64_t last) {
    ASSERT_EQ(take(k_first.fence()), "fence");
    for (std::uint64_t n = 1; n <= last; ++n) ASSERT_EQ(take(step_record(k_first, n)), "step");
  }
  void expect_refused(const std::string& record, refusal why) {
    const log_position before = reader_.position();
    EXPECT_EQ(take(record), "refused");
    ASSERT_TRUE(reader_.refused());
    EXPECT_STREQ(name_of(*reader_.refused()), name_of(why));
    EXPECT_EQ(reader_.position(), before);
    EXPECT_EQ(take(author{{9, 0}, 1}.fence()), "refused") << "for ever";
    EXPECT_STREQ(name_of(*reader_.refused()), name_of(why));
  }
  std::uint64_t step() const { return reader_.position().step; }

  std::string record_;
  log_reader reader_{options()};
};

TEST_F(a_reader, takes_steps_behind_a_fence) {
  EXPECT_EQ(take(k_first.fence()), "fence");
  EXPECT_EQ(reader_.position(), (log_position{k_lineage, {1, 0}, 7, 0, 0, chain_of(0), 0, true}));
  EXPECT_EQ(take(step_record(k_first, 1)), "step");
  EXPECT_EQ(reader_.rows(), rows_of(1));
  EXPECT_EQ(take(step_record(k_first, 2, 1)), "step");
  EXPECT_EQ(reader_.position(),
            (log_position{
                k_lineage, {1, 0}, 7, 0, 2, chain_of(2), 2, false, rows_of(1).size() + rows_of(2).size()}));
  EXPECT_EQ(reader_.count_of(fate::step), 2U);
}

TEST_F(a_reader, goes_on_with_the_writer_of_a_higher_fence) {
  begin(2);
  EXPECT_EQ(take(k_second.fence(1)), "fence");
  EXPECT_EQ(reader_.position(),
            (log_position{
                k_lineage, {2, 0}, 8, 2, 2, chain_of(2), 3, true, rows_of(1).size() + rows_of(2).size()}));
  EXPECT_EQ(take(step_record(k_first, 3)), "zombie");
  EXPECT_EQ(take(k_first.fence()), "zombie");
  EXPECT_EQ(take(step_record(k_second, 3)), "step");
  EXPECT_EQ(take(author{{2, 1}, 8}.fence()), "fence") << "the next attempt";
  EXPECT_EQ(take(step_record(k_second, 4)), "zombie");
  EXPECT_EQ(step(), 3U);
}

TEST_F(a_reader, lets_the_first_writer_of_an_epoch_have_it) {
  begin(1);
  const author rival{k_first.epoch, 9};
  EXPECT_EQ(take(rival.fence()), "rival");
  EXPECT_EQ(take(step_record(rival, 2)), "rival");
  EXPECT_EQ(take(k_first.fence()), "again");
  EXPECT_EQ(take(step_record(k_first, 2)), "step");
}

TEST_F(a_reader, refuses_a_step_that_no_fence_has_begun) {
  begin(0);
  expect_refused(step_record(k_second, 1), refusal::fence_missing);
}

TEST_F(a_reader, refuses_a_record_that_nobody_could_fence_behind) {
  for (const std::uint32_t attempt : {0U, 5U, 0xFFFFFFFEU, 0xFFFFFFFFU}) {
    const author last{{k_generations_end, attempt}, 8};
    for (const std::string& record : {last.fence(1), step_record(last, 2), last.point(1)}) {
      reader_ = log_reader{options()};
      begin(1);
      expect_refused(record, refusal::epochs_used_up);
      EXPECT_EQ(reader_.refused_at(), reader_.next_offset() - 1);
    }
  }
}

TEST_F(a_reader, refuses_a_log_that_begins_with_a_step) {
  expect_refused(step_record(k_first, 1), refusal::fence_missing);
}

TEST_F(a_reader, joins_the_parts_of_a_step) {
  begin(0);
  const std::string rows = rows_of(1);
  EXPECT_EQ(take(k_first.part(1, 0, rows.substr(0, 3))), "chunk");
  EXPECT_EQ(take(k_first.part(1, 0, rows.substr(0, 3))), "again");
  EXPECT_EQ(take(k_first.part(1, 1, "")), "chunk");
  EXPECT_EQ(take(k_first.fence()), "again") << "a fence that was sent twice ends nothing";
  EXPECT_EQ(take(k_first.last(1, 2, rows.substr(3), chain_of(1))), "step");
  EXPECT_EQ(reader_.rows(), rows);
  EXPECT_EQ(take(k_first.part(1, 0, rows.substr(0, 3))), "again");
  EXPECT_EQ(take(k_first.last(1, 2, rows.substr(3), chain_of(1))), "again");
  EXPECT_EQ(reader_.rows(), "") << "it is not to be applied twice";
}

TEST_F(a_reader, tells_of_points_and_digests_of_the_writer_that_counts_alone) {
  begin(2);
  const log_position before = reader_.position();
  EXPECT_EQ(take(k_first.point(1)), "point");
  EXPECT_EQ(take(k_first.digest(1, 2)), "digest");
  EXPECT_EQ(take(author{{1, 0}, 9}.point(2)), "rival");
  EXPECT_EQ(reader_.position(), before) << "nothing is changed by them";
  EXPECT_EQ(take(step_record(k_first, 3)), "step");
  EXPECT_EQ(take(k_second.fence(2)), "fence");
  EXPECT_EQ(take(k_first.point(3)), "zombie");
  EXPECT_EQ(take(k_first.digest(3, 3)), "zombie");
  EXPECT_EQ(take(k_second.point(4)), "point");
  EXPECT_EQ(reader_.count_of(fate::point), 2U);
}

class a_reader_before_the_log : public a_reader {
 protected:
  a_reader_before_the_log() {
    before_ = position_before_log(k_lineage, k_slot, 9, {5, 6});
    reader_ = log_reader{options(), before_};
  }
  log_position before_;
};

TEST_F(a_reader_before_the_log, goes_on_from_the_steps_that_it_has) {
  EXPECT_TRUE(before_.is_before_log());
  EXPECT_EQ(reader_.next_offset(), 0);
  EXPECT_EQ(take(k_first.fence(9)), "fence");
  EXPECT_FALSE(reader_.position().is_before_log());
  const hash128 chain = next_chain(before_.chain, rows_of(10));
  EXPECT_EQ(take(k_first.last(10, 0, rows_of(10), chain)), "step");
  EXPECT_EQ(step(), 10U);
}

TEST_F(a_reader_before_the_log, refuses_a_log_that_another_copy_has_begun) {
  expect_refused(k_first.fence(8), refusal::other_begin);
  reader_ = log_reader{options(), before_};
  expect_refused(k_first.fence(10), refusal::other_begin);
  reader_ = log_reader{options(), before_};
  EXPECT_EQ(take(k_first.fence(9)), "fence") << "at the same step, with other steps before it";
  const hash128 chain = next_chain(position_before_log(k_lineage, k_slot, 9, {5, 7}).chain, rows_of(10));
  expect_refused(k_first.last(10, 0, rows_of(10), chain), refusal::other_chain);
}

TEST_F(a_reader_before_the_log, refuses_a_log_of_another_history) {
  EXPECT_EQ(take("of a stranger"), "unreadable");
  author other = k_first;
  other.lineage = k_other_lineage;
  EXPECT_EQ(take(other.part(1, 0, "rows")), "foreign") << "nobody's who counts";
  expect_refused(other.fence(), refusal::other_lineage);
}

TEST_F(a_reader, refuses_a_log_that_goes_on_from_a_state_which_it_does_not_have) {
  expect_refused(k_first.fence(9), refusal::steps_missing);
}

TEST_F(a_reader, refuses_a_point_that_no_fence_has_begun) {
  begin(2);
  expect_refused(k_second.point(1), refusal::fence_missing);
}

TEST_F(a_reader, drops_the_parts_of_a_step_at_the_next_fence) {
  begin(0);
  const std::string rows = rows_of(1);
  EXPECT_EQ(take(k_first.part(1, 0, rows.substr(0, 3))), "chunk");
  EXPECT_EQ(take(k_second.fence()), "fence");
  EXPECT_EQ(take(k_second.last(1, 1, rows.substr(3), chain_of(1))), "gap");
  EXPECT_EQ(take(step_record(k_second, 1)), "step");
  EXPECT_EQ(reader_.rows(), rows);
}

TEST_F(a_reader, passes_over_what_lies_behind_a_record_that_was_never_written) {
  begin(1);
  EXPECT_EQ(take(step_record(k_first, 3)), "gap");
  EXPECT_EQ(take(k_first.part(2, 1, "x")), "gap");
  EXPECT_EQ(take(step_record(k_first, 4)), "gap");
  EXPECT_EQ(step(), 1U);
  EXPECT_EQ(take(k_second.fence()), "fence");
  EXPECT_EQ(take(step_record(k_second, 2)), "step");
  EXPECT_EQ(reader_.count_of(fate::gap), 3U);
}

TEST_F(a_reader, passes_over_what_anybody_appends) {
  begin(1);
  EXPECT_EQ(take(""), "unreadable");
  EXPECT_EQ(take("hello"), "unreadable");
  EXPECT_EQ(take(author{{9, 0}, 9, k_other_lineage}.fence()), "foreign");
  EXPECT_EQ(take(step_record(author{{1, 0}, 7, k_other_lineage}, 2)), "foreign");
  std::string broken = author{{9, 0}, 9}.fence();
  broken.pop_back();
  EXPECT_EQ(take(broken), "unreadable") << "its writer finds that out, too";
  std::string newer = step_record(author{{1, 0}, 9}, 2);
  newer[1] = 2;
  EXPECT_EQ(take(newer), "unreadable") << "of a rival";
  EXPECT_EQ(take(step_record(author{{1, 0}, 9, k_lineage, k_layout + 1}, 2)), "rival");
  EXPECT_EQ(take(step_record(k_first, 2)), "step");
}

TEST_F(a_reader, refuses_a_later_layout_that_counts) {
  begin(1);
  expect_refused(step_record(author{{1, 0}, 7, k_lineage, k_layout + 1}, 2), refusal::newer_layout);
}

TEST_F(a_reader, refuses_a_fence_with_a_later_layout) {
  expect_refused(author{{1, 0}, 7, k_lineage, k_layout + 1}.fence(), refusal::newer_layout);
}

TEST_F(a_reader, takes_an_older_layout) {
  const author older{{1, 0}, 7, k_lineage, k_layout - 1};
  EXPECT_EQ(take(older.fence()), "fence");
  EXPECT_EQ(take(step_record(older, 1)), "step");
}

TEST_F(a_reader, refuses_a_later_version_that_counts) {
  begin(1);
  std::string newer = step_record(k_first, 2);
  newer[1] = 2;
  expect_refused(newer, refusal::newer_version);
}

TEST_F(a_reader, refuses_a_fence_of_a_later_version) {
  std::string newer = k_second.fence();
  newer[1] = 2;
  expect_refused(newer, refusal::newer_version);
}

TEST_F(a_reader, refuses_a_writer_that_begins_at_a_step_that_it_has) {
  begin(3);
  EXPECT_EQ(take(k_second.fence(2)), "fence");
  expect_refused(step_record(k_second, 3), refusal::steps_lost);
}

TEST_F(a_reader, refuses_a_fence_that_knows_a_later_step) {
  begin(3);
  expect_refused(k_second.fence(4), refusal::steps_missing);
}

TEST_F(a_reader, refuses_a_writer_that_has_confirmed_a_later_step) {
  begin(3);
  expect_refused(step_record(k_first, 6, 4), refusal::steps_missing);
}

TEST_F(a_reader, refuses_a_step_behind_another_history) {
  begin(1);
  expect_refused(k_first.last(2, 0, rows_of(2), chain_of(3)), refusal::other_chain);
}

TEST_F(a_reader, refuses_a_record_of_the_writer_that_cannot_be_read) {
  begin(1);
  std::string broken = step_record(k_first, 2);
  broken[3] = 2;
  expect_refused(broken, refusal::damaged);
}

TEST_F(a_reader, refuses_rows_that_are_none) {
  begin(0);
  expect_refused(k_first.last(1, 0, "xx", next_chain(chain_of(0), "xx")), refusal::damaged);
}

TEST_F(a_reader, refuses_offsets_that_do_not_rise) {
  begin(2);
  EXPECT_EQ(reader_.take(2, step_record(k_first, 3)), fate::refused);
  EXPECT_EQ(reader_.refused(), refusal::offset_back);
}

TEST_F(a_reader, does_not_mind_offsets_without_records) {
  begin(1);
  EXPECT_EQ(reader_.take(100, step_record(k_first, 2)), fate::step);
  reader_.skip_to(200);
  reader_.skip_to(150);
  EXPECT_EQ(reader_.next_offset(), 200);
  EXPECT_FALSE(reader_.refused());
}

TEST_F(a_reader, refuses_a_log_of_another_history_than_its_state) {
  reader_options with = options();
  with.lineage = k_other_lineage;
  reader_ = log_reader{with};
  EXPECT_EQ(take("hello"), "unreadable");
  expect_refused(k_first.fence(), refusal::other_lineage);
}

TEST_F(a_reader, refuses_an_owner_whose_streams_mean_something_else) {
  reader_options with = options();
  with.meaning = k_meaning;
  reader_ = log_reader{with};
  begin(1);
  EXPECT_EQ(take(author{{1, 0}, 9}.fence(0, {1, 1})), "rival");
  expect_refused(k_second.fence(1, {1, 1}), refusal::other_meaning);
}

class a_reader_that_comes_back : public a_reader {
 protected:
  void SetUp() override {
    begin(2);  // offsets 0 to 2
    at_step_ = reader_.position();
    ASSERT_EQ(take("hello"), "unreadable");
    ASSERT_EQ(take(k_second.fence(2)), "fence");
    at_fence_ = reader_.position();
  }
  log_position at_step_;
  log_position at_fence_;
};

TEST_F(a_reader_that_comes_back, goes_on_behind_the_record_at_its_position) {
  reader_ = log_reader{options(), at_step_};
  EXPECT_EQ(reader_.next_offset(), 2);
  EXPECT_EQ(reader_.known_offset(), 2);
  reader_.check_bounds(reader_.known_offset(), 0, 3);
  EXPECT_EQ(take(step_record(k_first, 2)), "resumed");
  EXPECT_EQ(reader_.rows(), "");
  EXPECT_EQ(reader_.position(), at_step_);
  EXPECT_EQ(take(step_record(k_first, 3)), "step");
  reader_ = log_reader{options(), at_fence_};
  EXPECT_EQ(take(k_second.fence(2)), "resumed");
  EXPECT_EQ(take(step_record(k_second, 3)), "step");
}

TEST_F(a_reader_that_comes_back, refuses_another_record_at_its_position) {
  const auto refuses = [&](const log_position& from, std::int64_t offset, const std::string& record) {
    log_reader reader{options(), from};
    return reader.take(offset, record) == fate::refused && reader.refused() == refusal::other_record;
  };
  EXPECT_TRUE(refuses(at_step_, 3, step_record(k_first, 2))) << "nothing is there any more";
  EXPECT_TRUE(refuses(at_step_, 2, step_record(k_first, 1)));
  EXPECT_TRUE(refuses(at_step_, 2, step_record(author{{1, 0}, 9}, 2)));
  EXPECT_TRUE(refuses(at_step_, 2, k_first.last(2, 0, rows_of(2), chain_of(3))));
  EXPECT_TRUE(refuses(at_step_, 2, k_first.part(2, 0, rows_of(2))));
  EXPECT_TRUE(refuses(at_step_, 2, k_first.fence()));
  EXPECT_TRUE(refuses(at_step_, 2, "hello"));
  EXPECT_TRUE(refuses(at_step_, 2, step_record(author{{1, 0}, 7, k_other_lineage}, 2)));
  EXPECT_TRUE(refuses(at_fence_, 4, author{{2, 0}, 9}.fence(2)));
  EXPECT_TRUE(refuses(at_fence_, 4, step_record(k_second, 2)));
  log_reader reader{options(), at_step_};
  reader.skip_to(3);
  EXPECT_EQ(reader.refused(), refusal::other_record);
}

TEST_F(a_reader_that_comes_back, refuses_a_log_that_does_not_reach_to_its_position) {
  const auto refusal_of = [&](std::int64_t first, std::int64_t end) {
    log_reader reader{options(), at_step_};
    reader.check_bounds(reader.known_offset(), first, end);
    return reader.refused();
  };
  EXPECT_EQ(refusal_of(0, 3), std::nullopt);
  EXPECT_EQ(refusal_of(2, 3), std::nullopt);
  EXPECT_EQ(refusal_of(3, 3), refusal::begins_later);
  EXPECT_EQ(refusal_of(0, 2), refusal::ends_earlier);
  EXPECT_EQ(refusal_of(0, 0), refusal::ends_earlier);
}

TEST_F(a_reader, refuses_a_log_whose_beginning_is_gone) {
  reader_.check_bounds(reader_.known_offset(), 0, 0);
  EXPECT_FALSE(reader_.refused());
  reader_.check_bounds(reader_.known_offset(), 1, 5);
  EXPECT_EQ(reader_.refused(), refusal::begins_later);
}

TEST_F(a_reader, does_not_mind_bounds_that_are_older_than_what_it_has_read) {
  const std::int64_t known = reader_.known_offset();
  begin(4);
  reader_.check_bounds(known, 0, 2);
  EXPECT_FALSE(reader_.refused());
  reader_.check_bounds(reader_.known_offset(), 0, 4);
  EXPECT_EQ(reader_.refused(), refusal::ends_earlier);
}

}  // namespace
}  // namespace ratchet::replicate
