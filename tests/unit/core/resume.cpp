// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/resume.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "unit/core/resume_rows.hpp"

namespace ratchet {
namespace {

struct resume_case {
  const char* name;
  std::optional<std::int64_t> stored;
  std::optional<std::int64_t> committed;
  commit_owner owner;
  last record;
  resume_option option;
  resume_decision want;
};

// clang-format off
constexpr resume_case k_cases[] = {
    // Our uuid, but an incarnation that is not ours: before everything else.
    {"copied",                     500, 500, owner::ours_unknown, last::same,  option::none,     end(row::copied_directory, action::refuse)},
    {"copied_store",               500, 500, owner::ours_unknown, last::same,  option::store,    end(row::copied_directory, action::refuse)},
    {"copied_kafka",               500, 500, owner::ours_unknown, last::same,  option::kafka,    end(row::copied_directory, action::refuse)},
    {"copied_takeover",            500, 500, owner::ours_unknown, last::same,  option::takeover, taken(go(row::behind_or_absent, 500))},
    {"copied_takeover_ahead",      500, 700, owner::ours_unknown, last::same,  option::takeover, taken(go(row::power_loss, 500))},
    {"copied_before_bounds",        50,  50, owner::ours_unknown, last::other, option::none,     end(row::copied_directory, action::refuse)},
    {"copied_takeover_then_bounds", 50,  50, owner::ours_unknown, last::same,  option::takeover, taken(end(row::below_log_start, action::stop, 50, 100))},
    {"copied_without_store",      none, 500, owner::ours_unknown, last::not_checked, option::none, end(row::copied_directory, action::refuse)},
    {"copied_without_store_takeover", none, 500, owner::ours_unknown, last::not_checked, option::takeover, taken(skip(row::store_lost, 100, 0, 100))},

    // The store does not match.
    {"other_store",                500, 500, owner::other_store, last::same,  option::none,     end(row::other_store, action::refuse)},
    {"other_store_store",          500, 500, owner::other_store, last::same,  option::store,    end(row::other_store, action::refuse)},
    {"other_store_kafka",          500, 600, owner::other_store, last::same,  option::kafka,    end(row::other_store, action::refuse)},
    {"other_store_kafka_entered",  500, 500, owner::other_store, last::same,  option::kafka,    go(row::other_store, 500, true)},
    {"other_store_kafka_remade",   500, 500, owner::other_store, last::other, option::kafka,    end(row::other_record, action::stop)},
    {"other_store_rebuild",        500, 500, owner::other_store, last::same,  option::rebuild,  end(row::other_store, action::rebuild)},
    {"other_store_takeover",       500, 500, owner::other_store, last::same,  option::takeover, end(row::other_store, action::refuse)},
    {"other_store_before_bounds",   50, 500, owner::other_store, last::other, option::kafka,    end(row::other_store, action::refuse)},

    // S below the log's start.
    {"below_start",                 50,  50, owner::ours,    last::not_checked, option::none,     end(row::below_log_start, action::stop, 50, 100)},
    {"below_start_store",           50,  50, owner::ours,    last::not_checked, option::store,    end(row::below_log_start, action::stop, 50, 100)},
    {"below_start_takeover",        50,  50, owner::ours,    last::not_checked, option::takeover, end(row::below_log_start, action::stop, 50, 100)},
    {"below_start_kafka",           50,  50, owner::ours,    last::not_checked, option::kafka,    skip(row::below_log_start, 100, 50, 100)},
    {"below_start_before_rewound",  50,  20, owner::foreign, last::not_checked, option::store,    end(row::below_log_start, action::stop, 50, 100)},
    {"at_start_is_not_below",      100, 100, owner::ours,    last::not_checked, option::none,     go(row::behind_or_absent, 100)},

    // S past the end, or another record at the last handled offset.
    {"past_end",                   901, 901, owner::ours,    last::not_checked, option::none,    end(row::past_log_end, action::stop)},
    {"past_end_kafka",             901, 500, owner::ours,    last::not_checked, option::kafka,   end(row::past_log_end, action::stop)},
    {"past_end_rebuild",           901, 901, owner::ours,    last::not_checked, option::rebuild, end(row::past_log_end, action::rebuild)},
    {"past_end_before_rewound",    901, 500, owner::foreign, last::not_checked, option::store,   end(row::past_log_end, action::stop)},
    {"at_end_is_not_past",         900, 900, owner::ours,    last::same,        option::none,    go(row::behind_or_absent, 900)},
    {"other_record",               500, 500, owner::ours,    last::other,       option::none,    end(row::other_record, action::stop)},
    {"other_record_store",         500, 500, owner::ours,    last::other,       option::store,   end(row::other_record, action::stop)},
    {"other_record_rebuild",       500, 500, owner::ours,    last::other,       option::rebuild, end(row::other_record, action::rebuild)},
    {"other_record_before_skip",   500, 700, owner::foreign, last::other,       option::kafka,   end(row::other_record, action::stop)},
    {"other_record_no_commit",     500, none, owner::none,   last::other,       option::none,    end(row::other_record, action::stop)},

    // Ours, or nothing committed.
    {"behind",                     500, 400, owner::ours, last::same, option::none,     go(row::behind_or_absent, 500)},
    {"equal",                      500, 500, owner::ours, last::same, option::none,     go(row::behind_or_absent, 500)},
    {"absent",                     500, none, owner::none, last::same, option::none,    go(row::behind_or_absent, 500)},
    {"power_loss",                 500, 600, owner::ours, last::same, option::none,     go(row::power_loss, 500)},
    {"power_loss_below_start",      50, 600, owner::ours, last::same, option::none,     end(row::below_log_start, action::stop, 50, 100)},
    {"ours_store",                 500, 600, owner::ours, last::same, option::store,    go(row::power_loss, 500)},
    {"ours_kafka",                 500, 600, owner::ours, last::same, option::kafka,    go(row::power_loss, 500)},
    {"ours_rebuild",               500, 400, owner::ours, last::same, option::rebuild,  go(row::behind_or_absent, 500)},
    {"ours_takeover",              500, 400, owner::ours, last::same, option::takeover, go(row::behind_or_absent, 500)},

    // Somebody else committed.
    {"foreign_equal",              500, 500, owner::foreign, last::same, option::none,     go(row::equal_foreign, 500, true)},
    {"foreign_equal_kafka",        500, 500, owner::foreign, last::same, option::kafka,    go(row::equal_foreign, 500, true)},
    {"rewound",                    500, 400, owner::foreign, last::same, option::none,     end(row::rewound, action::stop)},
    {"rewound_kafka",              500, 400, owner::foreign, last::same, option::kafka,    end(row::rewound, action::stop)},
    {"rewound_takeover",           500, 400, owner::foreign, last::same, option::takeover, end(row::rewound, action::stop)},
    {"rewound_store",              500, 400, owner::foreign, last::same, option::store,    go(row::rewound, 500, true)},
    {"rewound_rebuild",            500, 400, owner::foreign, last::same, option::rebuild,  end(row::rewound, action::rebuild)},
    {"skipped",                    500, 700, owner::foreign, last::same, option::none,     end(row::skipped_ahead, action::stop)},
    {"skipped_takeover",           500, 700, owner::foreign, last::same, option::takeover, end(row::skipped_ahead, action::stop)},
    {"skipped_rebuild",            500, 700, owner::foreign, last::same, option::rebuild,  end(row::skipped_ahead, action::stop)},
    {"skipped_store",              500, 700, owner::foreign, last::same, option::store,    go(row::skipped_ahead, 500, true)},
    {"skipped_cluster",            500, 700, owner::foreign, last::same, option::cluster,  go(row::skipped_ahead, 500, true)},
    {"skipped_kafka",              500, 700, owner::foreign, last::same, option::kafka,    skip(row::skipped_ahead, 700, 500, 700)},
    {"skipped_kafka_past_the_end", 500, 950, owner::foreign, last::same, option::kafka,    skip(row::skipped_ahead, 900, 500, 900)},

    // The stream never applied anything and was given another meaning: its offsets went, our commits did not.
    {"started_over",               none, 500, owner::ours,        last::not_checked, option::none,     go(row::started_over, 100, true)},

    // The state directory is gone.
    {"lost",                       none, 500, owner::other_store, last::not_checked, option::none,     end(row::store_lost, action::refuse)},
    {"lost_foreign",               none, 500, owner::foreign,     last::not_checked, option::none,     end(row::store_lost, action::refuse)},
    {"lost_store",                 none, 500, owner::other_store, last::not_checked, option::store,    end(row::store_lost, action::refuse)},
    {"lost_takeover",              none, 500, owner::other_store, last::not_checked, option::takeover, end(row::store_lost, action::refuse)},
    {"lost_rebuild",               none, 500, owner::other_store, last::not_checked, option::rebuild,  skip(row::store_lost, 100, 0, 100)},
    {"lost_kafka",                 none, 500, owner::other_store, last::not_checked, option::kafka,    skip(row::store_lost, 500, 0, 500)},
    {"lost_kafka_below_start",     none,  50, owner::foreign,     last::not_checked, option::kafka,    skip(row::store_lost, 100, 0, 100)},
    {"lost_kafka_past_end",        none, 950, owner::foreign,     last::not_checked, option::kafka,    skip(row::store_lost, 900, 0, 900)},
};
// clang-format on

class resume_table : public ::testing::TestWithParam<resume_case> {};
TEST_P(resume_table, decides) {
  const resume_case& c = GetParam();
  const resume_decision got = resolve_resume({.stored = c.stored,
                                              .committed = c.committed,
                                              .owner = c.owner,
                                              .log_start = k_start,
                                              .log_end = k_end,
                                              .last = c.record,
                                              .store_is_new = !c.stored,
                                              .start = start_position::earliest,
                                              .option = c.option});
  EXPECT_STREQ(name_of(got.row), name_of(c.want.row));
  EXPECT_EQ(static_cast<int>(got.action), static_cast<int>(c.want.action));
  EXPECT_EQ(got.offset, c.want.offset);
  EXPECT_EQ(got.audit, c.want.audit);
  EXPECT_EQ(got.new_identity, c.want.new_identity);
  EXPECT_EQ(got.lost_from, c.want.lost_from);
  EXPECT_EQ(got.lost_to, c.want.lost_to);
  EXPECT_EQ(got.warn_unchecked, c.want.warn_unchecked);
}
INSTANTIATE_TEST_SUITE_P(design, resume_table, ::testing::ValuesIn(k_cases),
                         [](const auto& tested) { return std::string{tested.param.name}; });

/// Which options answer the question of a row, where the table alone does not tell.
std::vector<resume_option> answers_of(const resume_case& c) {
  switch (c.want.row) {
    case row::copied_directory:
      return {option::rebuild, option::takeover};
    case row::other_store:
      // A start that was entered and killed before its claim looks like this at the very offset.
      if (c.committed == c.stored) return {option::kafka, option::rebuild};
      return {option::rebuild};
    case row::below_log_start:
    case row::store_lost:
      return {option::kafka, option::rebuild};
    case row::rewound:
      return {option::store, option::rebuild};
    case row::skipped_ahead:
      return {option::store, option::kafka};
    default:
      return {option::rebuild};
  }
}

TEST_P(resume_table, lists_the_options_that_answer) {
  const resume_case& c = GetParam();
  const bool asks = c.want.action == action::stop || c.want.action == action::refuse;
  if (!asks) return;
  EXPECT_TRUE(question_of(c.want.row));
  resume_facts f{.stored = c.stored,
                 .committed = c.committed,
                 .owner = c.owner,
                 .log_start = k_start,
                 .log_end = k_end,
                 .last = c.record,
                 .store_is_new = !c.stored,
                 .start = start_position::earliest,
                 .option = c.option};
  std::vector<resume_option> listed;
  for (const resume_choice& choice : choices_of(f, c.want.row, true)) {
    listed.push_back(choice.option);
    f.option = choice.option;
    const resume_decision d = resolve_resume(f);
    if (d.action != action::resume) continue;
    EXPECT_EQ(choice.offset, d.offset);
    EXPECT_EQ(choice.lost_from, d.lost_from);
    EXPECT_EQ(choice.lost_to, d.lost_to);
  }
  EXPECT_EQ(listed, answers_of(c));
}

/// A checkpoint of a store that went on: the commits are of an incarnation that it knows, too.
resume_facts checkpointed(std::optional<std::int64_t> stored, std::optional<std::int64_t> committed) {
  resume_facts f;
  f.stored = stored;
  f.committed = committed;
  f.owner = committed ? owner::ours : owner::none;
  f.copy = copy_mark{7, {}, true};
  f.log_start = k_start;
  f.log_end = k_end;
  f.last = stored ? last::same : last::not_checked;
  f.store_is_new = false;
  return f;
}

TEST(resume_of_a_checkpoint, is_refused_where_the_group_has_a_claim_of_its_store) {
  for (const std::int64_t committed : {400, 500, 600}) {
    for (const option o : {option::none, option::store, option::kafka}) {
      resume_facts f = checkpointed(500, committed);
      f.option = o;
      EXPECT_EQ(resolve_resume(f), end(row::copied_directory, action::refuse)) << committed;
    }
  }
  EXPECT_EQ(resolve_resume(checkpointed(none, 500)), end(row::copied_directory, action::refuse));
}

TEST(resume_of_a_checkpoint, goes_on_at_its_own_offset_where_it_takes_over) {
  resume_facts f = checkpointed(500, 600);
  f.option = option::takeover;
  EXPECT_EQ(resolve_resume(f), taken(go(row::power_loss, 500)));
  f.committed = 400;
  EXPECT_EQ(resolve_resume(f), taken(go(row::behind_or_absent, 500)));
}

TEST(resume_of_a_checkpoint, stops_where_the_log_begins_behind_it_and_is_taken_over_all_the_same) {
  resume_facts f = checkpointed(50, 600);
  f.option = option::takeover;
  EXPECT_EQ(resolve_resume(f), [] {
    resume_decision want = end(row::below_log_start, action::stop, 50, 100);
    want.audit = want.new_identity = true;
    return want;
  }());
}

TEST(resume_of_a_checkpoint, asks_what_comes_behind_a_takeover_as_of_any_store) {
  const resume_facts f = checkpointed(50, 600);
  const auto first = choices_of(f, row::copied_directory, true);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1].option, option::takeover);
  EXPECT_FALSE(first[1].offset) << "another question comes behind it";
  const auto then = choices_of(f, row::below_log_start, true);
  ASSERT_EQ(then.size(), 2U);
  EXPECT_EQ(then[0], (resume_choice{option::kafka, k_start, 50, k_start}));
  EXPECT_EQ(then[1], (resume_choice{option::rebuild}));
}

TEST(resume_questions, say_nothing_of_the_log_before_it_is_looked_at) {
  resume_facts f;
  f.committed = 500;
  f.owner = owner::other_store;
  f.log_end = std::numeric_limits<std::int64_t>::max();
  const auto choices = choices_of(f, row::store_lost, false);
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0], (resume_choice{option::kafka, 500, 0, 500}));
  EXPECT_EQ(choices[1], (resume_choice{option::rebuild})) << "from the log's start, wherever that is";
}

TEST(resume_questions, are_asked_by_no_row_that_goes_on) {
  for (const resume_row r :
       {row::equal_foreign, row::behind_or_absent, row::power_loss, row::started_over, row::fresh}) {
    EXPECT_FALSE(question_of(r)) << name_of(r);
  }
  for (const resume_row r :
       {row::copied_directory, row::other_store, row::below_log_start, row::past_log_end, row::other_record,
        row::rewound, row::skipped_ahead, row::store_lost, row::other_cluster}) {
    ASSERT_TRUE(question_of(r));
    EXPECT_STREQ(name_of(*question_of(r)), name_of(r));
  }
}

TEST(resume_of_a_checkpoint, just_starts_where_the_group_has_no_claim) {
  EXPECT_EQ(resolve_resume(checkpointed(500, none)), go(row::behind_or_absent, 500));
  EXPECT_EQ(resolve_resume(checkpointed(none, none)), go(row::fresh, k_start));
}

TEST(resume_of_a_checkpoint, is_judged_as_any_store_where_somebody_else_committed) {
  resume_facts f = checkpointed(500, 500);
  f.owner = owner::foreign;
  EXPECT_EQ(resolve_resume(f), go(row::equal_foreign, 500, true));
  f.owner = owner::other_store;
  EXPECT_EQ(resolve_resume(f), end(row::other_store, action::refuse));
}

TEST(resume, of_a_copy_that_takes_over_reads_partitions_it_never_met_from_their_beginning) {
  resume_facts f = checkpointed(none, 500);
  f.option = option::takeover;
  EXPECT_EQ(resolve_resume(f), taken(skip(row::store_lost, k_start, 0, k_start)));
  f.copy.reset();
  f.owner = owner::ours_unknown;
  EXPECT_EQ(resolve_resume(f), taken(skip(row::store_lost, k_start, 0, k_start)));
}

resume_facts fresh() {
  return {.stored = none, .committed = none, .owner = owner::none, .log_start = k_start, .log_end = k_end};
}

TEST(resume, of_a_new_store_starts_where_the_config_says) {
  resume_facts f = fresh();
  EXPECT_EQ(resolve_resume(f), go(row::fresh, k_start));
  f.start = start_position::latest;
  EXPECT_EQ(resolve_resume(f), go(row::fresh, k_end));
  f.option = option::rebuild;
  EXPECT_EQ(resolve_resume(f), go(row::fresh, k_start)) << "its directory was moved away for that";
}

TEST(resume, of_a_partition_that_appears_later_starts_at_its_beginning) {
  resume_facts f = fresh();
  f.store_is_new = false;
  f.start = start_position::latest;
  EXPECT_EQ(resolve_resume(f), go(row::fresh, k_start));
}

TEST(resume, of_a_stream_that_started_over_begins_where_the_config_says) {
  resume_facts f = fresh();
  f.committed = 500;
  f.owner = owner::ours;
  EXPECT_EQ(resolve_resume(f), go(row::started_over, k_start, true));
  f.start = start_position::latest;
  EXPECT_EQ(resolve_resume(f), go(row::started_over, 500, true)) << "at its own commit, not at the end";
  f.committed = 50;
  EXPECT_EQ(resolve_resume(f), go(row::started_over, k_start, true)) << "the log has lost it";
  f.committed = 950;
  EXPECT_EQ(resolve_resume(f), go(row::started_over, k_end, true)) << "the log never had it";
}

TEST(resume, does_nothing_where_nothing_is_amiss_whatever_was_said) {
  for (const option o : {option::store, option::kafka, option::rebuild, option::takeover}) {
    resume_facts f = fresh();
    f.option = o;
    EXPECT_EQ(resolve_resume(f), go(row::fresh, k_start));
  }
}

TEST(resume, warns_where_no_record_could_be_compared) {
  for (const last found : {last::absent, last::unknown}) {
    resume_facts f = fresh();
    f.stored = 500;
    f.committed = 500;
    f.owner = owner::ours;
    f.last = found;
    const resume_decision d = resolve_resume(f);
    EXPECT_TRUE(d.warn_unchecked);
    EXPECT_EQ(d.action, action::resume);
    EXPECT_EQ(d.offset, 500);
    f.owner = owner::foreign;
    f.committed = 400;
    EXPECT_FALSE(resolve_resume(f).warn_unchecked) << "stopped: there is nothing to warn of";
    f.committed = 600;
    f.option = option::kafka;
    EXPECT_FALSE(resolve_resume(f).warn_unchecked) << "an operator says where to go on, whatever is there";
  }
}

TEST(resume, never_skips_in_silence) {
  for (const auto& stored : {std::optional<std::int64_t>{}, {50}, {100}, {500}, {900}, {950}}) {
    for (const auto& committed : {std::optional<std::int64_t>{}, {50}, {100}, {500}, {700}, {950}}) {
      for (const owner o : {owner::ours, owner::ours_unknown, owner::other_store, owner::foreign}) {
        for (const option said :
             {option::none, option::store, option::kafka, option::rebuild, option::takeover}) {
          resume_facts f = fresh();
          f.stored = stored;
          f.committed = committed;
          f.owner = committed ? o : owner::none;
          f.option = said;
          const resume_decision d = resolve_resume(f);
          if (d.action != action::resume) continue;
          ASSERT_GE(d.offset, k_start);
          ASSERT_LE(d.offset, k_end);
          if (stored && d.offset != *stored) {
            ASSERT_TRUE(d.audit);
            ASSERT_EQ(d.lost_from, *stored);
            ASSERT_EQ(d.lost_to, d.offset);
          }
        }
      }
    }
  }
}

TEST(resume, builds_anew_but_once) {
  resume_facts f = fresh();
  f.stored = 100;
  f.option = option::rebuild;
  for (const owner o : {owner::other_store, owner::foreign}) {
    for (const std::int64_t committed : {50, 100, 500}) {
      f.committed = committed;
      f.owner = o;
      f.rebuilt = true;
      const resume_decision d = resolve_resume(f);
      EXPECT_EQ(d.action, action::resume) << "its claim failed, and what it answers is committed still";
      EXPECT_EQ(d.offset, 100);
      EXPECT_TRUE(d.audit);
      f.rebuilt = false;
      const bool fits = o == owner::foreign && committed == 100;
      EXPECT_EQ(resolve_resume(f).action == action::resume, fits) << committed;
    }
  }
}

TEST(resume, names_every_row) {
  for (int r = 0; r <= static_cast<int>(row::fresh); ++r) {
    EXPECT_STRNE(name_of(static_cast<row>(r)), "?");
  }
  EXPECT_STREQ(name_of(static_cast<row>(99)), "?");
}

TEST(resume, names_every_option_as_it_is_typed) {
  EXPECT_STREQ(name_of(option::none), "none");
  EXPECT_STREQ(name_of(option::store), "store");
  EXPECT_STREQ(name_of(option::kafka), "kafka");
  EXPECT_STREQ(name_of(option::rebuild), "rebuild");
  EXPECT_STREQ(name_of(option::takeover), "takeover");
  EXPECT_STREQ(name_of(static_cast<option>(99)), "?");
}

// What is written beside the committed offset.

const commit_mark k_mark{.store_uuid = "0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d",
                         .incarnation = {.counter = 7, .random = 0x00ab00000000cdef},
                         .step = 12345};
constexpr const char* k_text = "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:12345";

TEST(metadata, is_written_as_documented) {
  EXPECT_EQ(to_metadata(k_mark), k_text);
}

TEST(metadata, is_read_back) {
  EXPECT_EQ(parse_metadata(k_text), k_mark);
  commit_mark largest = k_mark;
  largest.incarnation = {std::numeric_limits<std::uint64_t>::max(),
                         std::numeric_limits<std::uint64_t>::max()};
  largest.step = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(parse_metadata(to_metadata(largest)), largest);
  EXPECT_EQ(parse_metadata(to_metadata({k_mark.store_uuid, {0, 0}, 0})),
            (commit_mark{k_mark.store_uuid, {0, 0}, 0}));
}

TEST(metadata, is_foreign_where_it_is_not_ours_to_the_letter) {
  const std::vector<std::string> near_misses{
      "",
      "ratchet1:",
      "ratchet2:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:12345",
      "Ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:12345",
      " ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:12345 ",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:12345\n",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:700ab00000000cdef:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:700ab00000000cdef12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:12345:1",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:012345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:-1",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:+1",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdef:18446744073709551616",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:07-00ab00000000cdef:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:-00ab00000000cdef:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00AB00000000CDEF:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-ab00000000cdef:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-000ab00000000cdef:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6d:7-00ab00000000cdeg:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6:7-00ab00000000cdef:12345",
      "ratchet1:0b9de4f6-6f0d-4bd5-9d2e-1c2f3a4b5c6dd:7-00ab00000000cdef:12345",
      "ratchet1:7-00ab00000000cdef:12345",
      "ratchet1:0b9de4f6:6f0d:4bd5:9d2e:1c2f3a4b5c6d:7-00ab00000000cdef:12345",
  };
  for (const std::string& text : near_misses) EXPECT_FALSE(parse_metadata(text)) << text;
}

}  // namespace
}  // namespace ratchet
