// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/base_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "replicate/base_survey.hpp"
#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"
#include "support/replicate_records.hpp"

namespace ratchet::replicate {
namespace {

using testing::k_layout;
using testing::k_lineage;
using testing::k_meaning;

log_position base_position(std::uint64_t step) {
  log_position at;
  at.lineage = k_lineage;
  at.epoch = {2, 1};
  at.writer = 7;
  at.fenced_step = 1;
  at.step = step;
  at.chain = {step, step};
  at.offset = static_cast<std::int64_t>(10 * step);
  at.bytes = 1000;
  return at;
}

std::string rows_of_base() {
  row_buffer rows;
  rows.put(1, "a", "one");
  rows.put(1, "bb", "");
  rows.put(3, "c", std::string(300, 'x'));
  return rows.release();
}

/// The records of a base of these rows, in pieces of this size.
std::vector<std::string> base_of(std::uint64_t id, base_content of, const std::string& rows,
                                 std::size_t piece) {
  std::vector<std::string> records(1);
  append_base_begin(records.back(), {base_kind::begin, *of.at.lineage, id}, of);
  base_end end{of, 0, 0, {}};
  for (std::string_view rest = rows; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    const std::string_view part = rest.substr(0, piece);
    append_base_part(records.emplace_back(), {base_kind::part, *of.at.lineage, id}, {end.parts++, part});
    end.bytes += part.size();
    end.hash = next_chain(end.hash, part);
  }
  append_base_end(records.emplace_back(), {base_kind::end, *of.at.lineage, id}, end);
  return records;
}
base_content base_content_at(std::uint64_t step) {
  return {base_position(step), k_layout, k_meaning, 5};
}
std::vector<std::string> base_of(std::uint64_t id, std::uint64_t step = 9, std::size_t piece = 100) {
  return base_of(id, base_content_at(step), rows_of_base(), piece);
}

base_reader_options base_options() {
  return {k_layout, k_lineage, k_meaning, 0};
}

class a_reader_of_bases : public ::testing::Test {
 protected:
  std::string take(const std::string& record) {
    const base_fate f = reader_.take(next_++, record);
    if (f == base_fate::rows) rows_ += reader_.rows();
    return name_of(f);
  }
  std::string take_all(const std::vector<std::string>& records) {
    std::string last;
    for (const std::string& each : records) last = take(each);
    return last;
  }
  base_reader reader_{base_options()};
  std::int64_t next_{0};
  std::string rows_;
};

TEST_F(a_reader_of_bases, takes_one_from_before_the_log_where_the_log_has_all_of_its_records) {
  base_content of = base_content_at(9);
  of.at = position_before_log(k_lineage, 3, 9, {5, 6});
  const auto records = base_of(1, of, rows_of_base(), 100);
  EXPECT_EQ(take_all(records), "complete");
  EXPECT_EQ(reader_.content().at, of.at);
  auto with = base_options();
  with.log_first = 1;
  reader_ = base_reader{with};
  EXPECT_EQ(take_all(records), "passed") << "the log was cut: nothing leads on from there";
}

TEST_F(a_reader_of_bases, gives_whole_rows_wherever_they_are_cut) {
  for (std::size_t piece = 1; piece < 40; ++piece) {
    base_reader reader{base_options()};
    std::string rows;
    std::int64_t at = 0;
    base_fate last{};
    for (const std::string& each : base_of(5, base_content_at(9), rows_of_base(), piece)) {
      last = reader.take(at++, each);
      if (last != base_fate::rows) continue;
      EXPECT_EQ(check_rows(reader.rows()), row_fault::none) << "whole ones";
      rows += reader.rows();
    }
    EXPECT_EQ(last, base_fate::complete);
    EXPECT_EQ(rows, rows_of_base());
    EXPECT_EQ(reader.content(), base_content_at(9));
  }
}

TEST_F(a_reader_of_bases, takes_one_without_rows) {
  EXPECT_EQ(take_all(base_of(5, base_content_at(9), "", 1)), "complete");
}

TEST_F(a_reader_of_bases, passes_over_what_is_of_another_base) {
  const auto one = base_of(5);
  const auto other = base_of(6, 12);
  EXPECT_EQ(take(one[0]), "begun");
  EXPECT_EQ(take(other[0]), "passed");
  EXPECT_EQ(take(one[1]), "rows");
  EXPECT_EQ(take(other[1]), "passed");
  EXPECT_EQ(take("no record"), "passed");
  EXPECT_EQ(take(one[1]), "passed") << "sent twice";
  EXPECT_EQ(take(one[0]), "passed") << "sent twice";
  for (std::size_t i = 2; i + 1 < one.size(); ++i) EXPECT_EQ(take(one[i]), "rows");
  EXPECT_EQ(take(other.back()), "passed");
  EXPECT_EQ(take(one.back()), "complete");
  EXPECT_EQ(rows_, rows_of_base());
  EXPECT_EQ(take(other[0]), "passed") << "it has one";
}

TEST_F(a_reader_of_bases, gives_up_one_that_lacks_a_part) {
  const auto one = base_of(5);
  ASSERT_GT(one.size(), 4U);
  EXPECT_EQ(take(one[0]), "begun");
  EXPECT_EQ(take(one[1]), "rows");
  EXPECT_EQ(take(one[3]), "passed") << "whoever sends again sends the one before it, too";
  EXPECT_EQ(take(one.back()), "false_end");
  EXPECT_EQ(reader_.begun_at(), 0);
  reader_.give_up();
  EXPECT_EQ(take(one[2]), "passed");
  rows_.clear();
  EXPECT_EQ(take_all(base_of(6, 12)), "complete");
  EXPECT_EQ(rows_, rows_of_base());
  EXPECT_EQ(reader_.content().at.step, 12U);
}

TEST_F(a_reader_of_bases, believes_no_end_that_does_not_fit) {
  const std::vector<std::vector<std::string>> wrong = [] {
    std::vector<std::vector<std::string>> all;
    auto short_of_one = base_of(5);
    short_of_one.erase(short_of_one.end() - 2);
    all.push_back(short_of_one);
    auto other_bytes = base_of(5, base_content_at(9), rows_of_base(), 100);
    other_bytes[2].back() ^= 1;
    all.push_back(other_bytes);
    auto other_step = base_of(5);
    other_step.back() = base_of(5, 10).back();
    all.push_back(other_step);
    auto cut_row = base_of(5, base_content_at(9), rows_of_base().substr(0, rows_of_base().size() - 1), 100);
    all.push_back(cut_row);
    return all;
  }();
  for (const auto& records : wrong) {
    base_reader reader{base_options()};
    std::int64_t at = 0;
    base_fate last{};
    for (const std::string& each : records) last = reader.take(at++, each);
    EXPECT_EQ(last, base_fate::false_end);
  }
}

TEST_F(a_reader_of_bases, passes_over_an_end_in_the_middle) {
  const auto one = base_of(5);
  EXPECT_EQ(take(one[0]), "begun");
  EXPECT_EQ(take(one[1]), "rows");
  EXPECT_EQ(take(one.back()), "false_end") << "whoever wrote it";
  for (std::size_t i = 2; i + 1 < one.size(); ++i) EXPECT_EQ(take(one[i]), "rows");
  EXPECT_EQ(take(one.back()), "complete");
}

std::string taken_of(base_survey& survey, const std::vector<std::string>& records, std::int64_t& next) {
  for (const std::string& each : records) survey.take(next++, each);
  std::string said;
  for (const found_base& each : survey.whole())
    said += std::to_string(each.end.of.at.step) + "@" + std::to_string(each.begun_at) + "-" +
            std::to_string(each.ended_at) + " ";
  for (const std::int64_t at : survey.false_ends()) said += "!" + std::to_string(at) + " ";
  return said;
}

TEST(a_survey_of_bases, finds_all_that_are_whole_also_between_each_other) {
  base_survey survey{base_options()};
  std::int64_t next = 0;
  const auto one = base_of(5, 9, 1000);
  const auto other = base_of(6, 12, 1000);
  ASSERT_EQ(one.size(), 3U);
  EXPECT_EQ(taken_of(survey, {one[0], other[0], "no record", one[1], other[1], one[2], other[2]}, next),
            "9@0-5 12@1-6 ");
  EXPECT_EQ(taken_of(survey, {one[0], one[1], one[2]}, next), "9@0-5 12@1-6 ") << "sent again";
}

TEST(a_survey_of_bases, believes_no_end_of_one_that_is_not_there) {
  const auto one = base_of(5, 9, 1000);
  base_content other = base_content_at(9);
  other.at.lineage = hash128{8, 8};
  for (const auto& records : std::vector<std::vector<std::string>>{
           {one[2]}, {one[0], one[2]}, {one[1], one[0], one[2]}, {base_of(6, 9, 1000)[0], one[1], one[2]}}) {
    base_survey survey{base_options()};
    std::int64_t next = 0;
    EXPECT_EQ(taken_of(survey, records, next), "!" + std::to_string(records.size() - 1) + " ");
  }
  base_survey survey{base_options()};
  std::int64_t next = 0;
  EXPECT_EQ(taken_of(survey, {base_of(5, other, "", 1)[1]}, next), "") << "of another log";
  auto with = base_options();
  with.log_first = 100;
  base_survey late{with};
  EXPECT_EQ(taken_of(late, {one[2]}, next), "") << "of one from before the cut, as there may be";
}

TEST(a_survey_of_bases, keeps_few_that_were_begun) {
  base_survey survey{base_options()};
  std::int64_t next = 0;
  const auto one = base_of(5, 9, 10);
  survey.take(next++, one[0]);
  for (std::size_t i = 1; i + 1 < one.size(); ++i) {
    survey.take(next++, one[i]);
    survey.take(next++, base_of(100 + i)[0]);  // and never goes on
  }
  const std::string said = "9@0-" + std::to_string(next) + " ";
  EXPECT_EQ(taken_of(survey, {one.back()}, next), said);
}

TEST_F(a_reader_of_bases, gives_up_one_whose_bytes_are_no_rows) {
  const auto one = base_of(5, base_content_at(9), std::string{"\x01\x09\x00\x00", 4}, 100);
  EXPECT_EQ(take(one[0]), "begun");
  EXPECT_EQ(take(one[1]), "broken");
}

TEST_F(a_reader_of_bases, passes_over_one_that_the_log_does_not_go_on_from) {
  base_reader_options with = base_options();
  with.log_first = 100;
  reader_ = base_reader{with};
  EXPECT_EQ(take_all(base_of(5, 9)), "passed");
  EXPECT_EQ(take_all(base_of(6, 10)), "complete") << "the log still has the record at its position";
}

TEST_F(a_reader_of_bases, passes_over_one_of_another_history) {
  base_content of = base_content_at(9);
  of.at.lineage = hash128{8, 8};
  EXPECT_EQ(take_all(base_of(5, of, rows_of_base(), 100)), "passed");
  base_reader_options with = base_options();
  with.lineage.reset();
  reader_ = base_reader{with};
  EXPECT_EQ(take_all(base_of(5, of, rows_of_base(), 100)), "complete") << "there is no other yet";
}

TEST_F(a_reader_of_bases, refuses_what_this_program_cannot_use) {
  base_content of = base_content_at(9);
  of.layout = k_layout + 1;
  EXPECT_EQ(take(base_of(5, of, rows_of_base(), 100)[0]), "refused");
  EXPECT_EQ(reader_.refused(), refusal::newer_layout);
  reader_ = base_reader{base_options()};
  of = base_content_at(9);
  of.meaning = {9, 9};
  EXPECT_EQ(take(base_of(5, of, rows_of_base(), 100)[0]), "refused");
  EXPECT_EQ(reader_.refused(), refusal::other_meaning);
  EXPECT_EQ(take(base_of(6)[0]), "refused") << "for ever";
}

TEST(records_of_bases, were_begun_at_some_time) {
  for (const std::int64_t made : {std::int64_t{-1}, INT64_MIN, k_last_made + 1, INT64_MAX}) {
    base_content of = base_content_at(9);
    of.made = made;
    base_record record;
    for (const std::string& each : base_of(5, of, "", 1))
      EXPECT_FALSE(decode_base_record(each, record)) << made;
  }
}

TEST(records_of_bases, are_read_as_they_were_written_or_not_at_all) {
  for (const std::string& each : base_of(5)) {
    base_record record;
    EXPECT_TRUE(decode_base_record(each, record));
    EXPECT_EQ(record.head.base, 5U);
    for (std::size_t size = 0; size < each.size(); ++size) {
      if (record.head.kind == base_kind::part && size >= 35) continue;  // fewer rows
      EXPECT_FALSE(decode_base_record(each.substr(0, size), record)) << size;
    }
    std::string other = each;
    other[1] = 2;
    EXPECT_FALSE(decode_base_record(other, record)) << "another version";
    other = each;
    other[2] = 4;
    EXPECT_FALSE(decode_base_record(other, record)) << "another kind";
    ASSERT_TRUE(decode_base_record(each, record));
    if (record.head.kind == base_kind::part) continue;
    EXPECT_FALSE(decode_base_record(each + "x", record)) << "more than it has";
  }
}

}  // namespace
}  // namespace ratchet::replicate
