// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/all_rows.hpp"
#include "unit/app/apply_world.hpp"

namespace ratchet {
namespace {

struct failing_for_bad {
  static constexpr reducer_traits traits{.name = "failing", .version = 1};
  outcome apply(const event& e, state& s, effects&) const {
    if (e.aggregate == "bad") return stop(make_error_code(errc::internal));
    s.assign(e.payload);
    return done();
  }
};

const topic_partition k_plain{"", partition_id{0}};

TEST_F(apply_command, takes_plain_lines_and_finds_the_repeats) {
  const std::string input = file("in", line("a", 1) + line("a", 3) + "\n" + line("a", 2) + line("b", 1));
  expect_applied({input});
  EXPECT_EQ(read("a"), "3");
  EXPECT_EQ(counted().consumed, 4U) << "blank lines are not counted";
  EXPECT_EQ(counted().applied + counted().superseded, 3U);
  EXPECT_EQ(counted().stale, 1U);

  reopen();
  const counters before = counted();
  expect_applied({input});
  const counters again = counted().since(before);
  EXPECT_EQ(again.applied + again.superseded, 0U);
  EXPECT_EQ(again.duplicate + again.stale, 4U);
  EXPECT_EQ(read("a"), "3");
}

TEST_F(apply_command, takes_two_files_as_one_partition_and_leaves_it_out_of_the_floor_at_the_end) {
  expect_applied({file("one", line("a", 1)), file("two", line("a", 2, "2024-01-01T13:00:00Z"))});
  EXPECT_EQ(counted().consumed, 2U);
  ASSERT_EQ(state().partitions.size(), 1U);
  EXPECT_TRUE(state().partitions.at(k_plain).idle);
  EXPECT_EQ(state().floor, k_noon_time + std::chrono::hours{1} - std::chrono::hours{24});
  EXPECT_EQ(opened().state().durable_step(), opened().state().last_step()) << "synced at the end";
}

TEST_F(apply_command, resumes_records_by_position) {
  const std::string first = kcat("t", 0, 5, "a", 1) + kcat("t", 1, 9, "b", 1);
  const std::string rest = kcat("t", 0, 6, "a", 2);
  expect_applied({file("one", first)}, true);
  reopen();
  expect_applied({file("all", first + rest)}, true);
  EXPECT_EQ(counted().consumed, 5U);
  EXPECT_EQ(counted().applied + counted().superseded, 3U);
  EXPECT_EQ(counted().duplicate, 2U);
  EXPECT_EQ(state().partitions.at({"t", partition_id{0}}).next_offset, 7);
  EXPECT_EQ(state().partitions.at({"t", partition_id{1}}).next_offset, 10);
  EXPECT_FALSE(state().partitions.at({"t", partition_id{0}}).idle) << "Kafka has more of them";
}

TEST_F(apply_command, remembers_the_last_record_also_where_older_ones_are_repeated_behind_it) {
  settings_.step_records = 10;
  const topic_partition where{"t", partition_id{0}};
  expect_applied({file("one", kcat("t", 0, 5, "a", 1) + kcat("t", 0, 6, "a", 2))}, true);
  const auto expected = state().partitions.at(where).last_record;
  ASSERT_TRUE(expected);

  reopen();
  expect_applied({file("two", kcat("t", 0, 7, "a", 3))}, true);
  const auto other = state().partitions.at(where).last_record;
  EXPECT_NE(other, expected);
  expect_applied({file("three", kcat("t", 0, 8, "a", 2) + kcat("t", 0, 5, "a", 1))}, true);
  const auto last = state().partitions.at(where).last_record;
  EXPECT_EQ(state().partitions.at(where).next_offset, 9);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->offset, 8);
  EXPECT_EQ(last->hash, expected->hash)
      << "8 has the bytes of 6; a stale hash would tell of a topic made anew";
}

TEST_F(apply_command, rejects_lines_that_kcat_did_not_print_and_goes_on) {
  expect_applied(
      {file("in", kcat("t", 0, 1, "a", 1) + "{\"topic\":\"t\"}\n" + "not json\n" + kcat("t", 0, 2, "a", 2))},
      true);
  EXPECT_EQ(counted().consumed, 4U);
  EXPECT_EQ(counted().rejected_malformed, 2U);
  EXPECT_EQ(read("a"), "2");
  ASSERT_EQ(rejected().size(), 2U);
  std::set<std::string> details;
  for (const rejected_row& row : rejected()) details.insert(row.detail);
  EXPECT_EQ(details, (std::set<std::string>{"invalid_json", "position_invalid"}));
}

TEST_F(apply_command, refuses_a_file_with_records_of_other_topics_before_anything_is_written) {
  const auto failed = apply({file("in", kcat("t", 0, 1, "a", 1) + kcat("foreign", 0, 7, "x", 1))}, true);
  ASSERT_TRUE(failed);
  EXPECT_EQ(exit_code(failed->code), 64);
  EXPECT_NE(failed->message.find("holds records of topic `foreign`, which this command does not apply (t)"),
            std::string::npos)
      << failed->message;
  EXPECT_NE(failed->hint.find("select(.topic"), std::string::npos) << failed->hint;
  EXPECT_EQ(counted().consumed, 0U);
}

TEST_F(apply_command, takes_off_a_byte_order_mark_before_the_first_line) {
  expect_applied({file("in", "\xEF\xBB\xBF" + line("a", 1) + line("b", 1))});
  EXPECT_EQ(counted().applied, 2U);
  expect_applied({file("records", "\xEF\xBB\xBF" + kcat("t", 0, 1, "c", 1))}, true);
  EXPECT_EQ(read("c"), "1");
}

TEST_F(apply_command, keeps_a_rejected_line_once_wherever_it_stands_in_a_file) {
  expect_applied({file("once", "not json\n")});
  expect_applied({file("again", line("a", 1) + line("a", 2) + "not json\n")});
  EXPECT_EQ(counted().rejected_malformed, 2U) << "it is counted as often as it comes";
  EXPECT_EQ(rejected().size(), 1U);
}

TEST_F(apply_command, rejects_a_line_that_is_too_large_and_goes_on) {
  expect_applied({file("in", std::string((std::size_t{64} << 20) + 1, 'x') + "\n" + line("a", 1))});
  EXPECT_EQ(counted().rejected_malformed, 1U);
  EXPECT_EQ(counted().consumed, 2U);
  EXPECT_EQ(rejected().front().detail, "too_large");
}

TEST_F(apply_command, takes_batches_by_the_memory_limit) {
  settings_.memory_limit = std::uint64_t{64} << 20U;
  settings_.step_records = 1'000;
  std::string lines;
  for (int i = 0; i < 24; ++i) {
    lines += line("a" + std::to_string(i), 1);
    lines.insert(lines.size() - 1, std::size_t{340} << 10U, ' ');
  }
  expect_applied({file("in", lines)});
  EXPECT_EQ(counted().applied, 24U);
  EXPECT_GE(opened().state().last_step(), 4U) << "8 MiB, in batches of 2";
}

TEST_F(apply_command, ends_with_exit_code_1_where_too_many_lines_in_a_row_are_malformed) {
  settings_.streams[0].poison = 3;
  const auto failed =
      apply({file("in", line("a", 1) + "x\nx\nx\n" + line("a", 2)), file("two", line("a", 3))});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, errc::partition_stopped);
  EXPECT_EQ(exit_code(failed->code), 1);
  EXPECT_NE(failed->message.find("line 4"), std::string::npos) << failed->message;
  EXPECT_EQ(counted().consumed, 3U) << "the record that reaches the limit is not handled, nor any behind it";
  EXPECT_EQ(read("a"), "1");
}

TEST_F(apply_command, stops_one_partition_of_the_records_and_takes_the_others) {
  own_.add("payments", failing_for_bad{});
  settings_.streams[0].reducer.kind = reducer_config::kind_of::own;
  const std::string input =
      file("in", kcat("t", 0, 1, "a", 1) + kcat("t", 0, 2, "bad", 1) + kcat("t", 0, 3, "a", 2) +
                     kcat("t", 1, 1, "b", 1) + kcat("t", 0, 4, "a", 3) + kcat("t", 1, 2, "b", 2));
  const auto failed = apply({input}, true);
  ASSERT_TRUE(failed);
  EXPECT_EQ(exit_code(failed->code), 1);
  EXPECT_NE(failed->message.find("t/0 at offset 2"), std::string::npos) << failed->message;
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(read("b"), "2");
  EXPECT_EQ(state().partitions.at({"t", partition_id{0}}).next_offset, 2);
}

TEST_F(apply_command, keeps_what_was_read_before_a_file_that_is_missing) {
  const auto failed = apply({file("one", line("a", 1)), "/nowhere/at/all"});
  ASSERT_TRUE(failed);
  EXPECT_EQ(exit_code(failed->code), 74);
  EXPECT_NE(failed->message.find("/nowhere/at/all"), std::string::npos);
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(opened().state().durable_step(), opened().state().last_step());
}

TEST_F(apply_command, wants_to_know_the_stream_where_there_are_several) {
  settings_.streams.push_back(stream_named("refunds", "u"));
  auto failed = apply({file("in", line("a", 1))});
  ASSERT_TRUE(failed);
  EXPECT_EQ(exit_code(failed->code), 64);
  request_.stream = "nothing";
  failed = apply({file("in", line("a", 1))});
  ASSERT_TRUE(failed);
  EXPECT_EQ(exit_code(failed->code), 64);
  EXPECT_NE(failed->hint.find("payments, refunds"), std::string::npos);
  request_.stream = "refunds";
  expect_applied({file("in", line("a", 1))});
  EXPECT_EQ(read("a", "refunds"), "1");
  EXPECT_EQ(counted(0).consumed, 0U);
}

TEST_F(apply_command, feeds_each_stream_from_its_topics) {
  settings_.streams.push_back(stream_named("refunds", "u"));
  expect_applied({file("in", kcat("u", 0, 1, "b", 7) + kcat("t", 0, 1, "a", 1) + kcat("u", 0, 2, "b", 8))},
                 true);
  EXPECT_EQ(read("a"), "1");
  EXPECT_EQ(read("b", "refunds"), "8");
  EXPECT_EQ(counted(1).consumed, 2U);
}

TEST_F(apply_command, explains_each_record_in_order) {
  std::vector<std::string> told;
  request_.explain = [&](const stream_definition& s, const decoded_event& e, decision d, const event_wait*) {
    told.push_back(s.config.name + " " + std::to_string(e.from->offset) + " " + name_of(d.verdict));
  };
  settings_.step_records = 1;
  expect_applied({file("in", line("a", 2) + "x\n" + line("a", 1) + line("a", 2))});
  EXPECT_EQ(told, (std::vector<std::string>{"payments 1 applied", "payments 2 rejected", "payments 3 stale",
                                            "payments 4 duplicate"}));
}

TEST_F(apply_command, reads_nothing_once_it_is_told_to_stop) {
  stop_ = true;
  const auto failed = apply({file("in", line("a", 1))});
  ASSERT_TRUE(failed) << "a script must not take that for done";
  EXPECT_EQ(failed->code, errc::aborted);
  EXPECT_EQ(exit_code(failed->code), 69);
  EXPECT_EQ(counted().consumed, 0U);
}

TEST_F(apply_command, forgets_neither_floor_nor_counters_when_opened_again) {
  expect_applied({file("in", line("a", 1) + "x\n")});
  const stream_state before = state();
  reopen();
  EXPECT_EQ(state(), before);
}

TEST_F(apply_command, has_the_directory_to_itself) {
  opened();
  auto second = engine::open(settings_, own_, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::state_busy);
}

TEST_F(apply_command, puts_a_state_of_another_meaning_aside_only_where_a_rebuild_is_asked_for) {
  expect_applied({file("in", line("a", 1))});
  reopen();
  settings_.streams[0].reducer.from = "/n";
  auto refused = engine::open(settings_, own_, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(exit_code(refused.error().code), 78);
  EXPECT_FALSE(refused.error().diagnostics.empty()) << "each changed line is told";
  auto rebuilt =
      engine::open(settings_, own_, {.log = nullptr, .resume = resume_option::rebuild, .clock = nullptr});
  ASSERT_TRUE(rebuilt) << to_text(rebuilt.error());
  EXPECT_EQ((*rebuilt)->tasks().front()->state.counters.consumed, 0U);
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator{settings_.state.path.parent_path()}) {
    kept += entry.path().filename().string().starts_with("state.old-") ? 1 : 0;
  }
  EXPECT_EQ(kept, 1) << "the old directory is moved, not deleted";
}

TEST_F(apply_command, never_puts_aside_what_is_no_state_directory_of_this_group) {
  settings_.kafka.group = "one";
  expect_applied({file("in", line("a", 1))});
  reopen();
  settings_.kafka.group = "another";
  const auto refused =
      engine::open(settings_, own_, {.log = nullptr, .resume = resume_option::rebuild, .clock = nullptr});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::state_foreign);
  EXPECT_TRUE(std::filesystem::exists(settings_.state.path / "CURRENT"));
}

TEST_F(apply_command, refuses_a_config_made_in_code_as_one_from_a_file) {
  settings_.streams[0].order = order::strict;
  settings_.streams[0].first = first_number::any;  // and its gaps are never skipped
  EXPECT_FALSE(engine::open(settings_, own_, {}));
  settings_.streams[0].first = first_number::one;
  settings_.streams[0].waiting.events = 0;
  EXPECT_FALSE(engine::open(settings_, own_, {}));
  settings_.streams[0].waiting.events = 1;
  settings_.streams[0].retry.attempts = 0;
  EXPECT_FALSE(engine::open(settings_, own_, {}));
  settings_.streams[0].retry.attempts = 1;
  settings_.streams[0].order = order::arrival;  // without ids
  EXPECT_FALSE(engine::open(settings_, own_, {}));
  settings_.streams[0].order = order::latest;
  settings_.streams[0].envelope.sequence = "n";
  const auto no_field = engine::open(settings_, own_, {});
  ASSERT_FALSE(no_field);
  EXPECT_NE(to_text(no_field.error()).find("streams[0].envelope.sequence: is not a source of a field"),
            std::string::npos);
  settings_.streams[0].envelope.sequence = "/n";
  settings_.streams[0].reducer.from = "v";
  EXPECT_FALSE(engine::open(settings_, own_, {}));
  EXPECT_FALSE(std::filesystem::exists(settings_.state.path)) << "nothing was made";
}

TEST_F(apply_command, makes_a_directory_that_others_cannot_read) {
  opened();
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(settings_.state.path).permissions(), perms::owner_all);
}

TEST_F(apply_command, closes_a_directory_that_others_can_read) {
  using std::filesystem::perms;
  std::filesystem::create_directories(settings_.state.path);
  for (int i = 0; i < 2; ++i) {  // empty, and with a state
    std::filesystem::permissions(settings_.state.path,
                                 perms::owner_all | perms::group_all | perms::others_all);
    opened();
    EXPECT_EQ(std::filesystem::status(settings_.state.path).permissions(), perms::owner_all);
    reopen();
  }
}

TEST_F(apply_command, leaves_the_mode_of_a_directory_that_holds_something_else) {
  using std::filesystem::perms;
  std::filesystem::create_directories(settings_.state.path / "photos");
  const perms before = perms::owner_all | perms::group_read | perms::group_exec;
  std::filesystem::permissions(settings_.state.path, before);
  EXPECT_FALSE(engine::open(settings_, own_, {}));
  EXPECT_EQ(std::filesystem::status(settings_.state.path).permissions(), before);
}

TEST_F(apply_command, says_where_there_is_nothing_to_consume) {
  const auto failed = opened().run(true, stop_);
  ASSERT_TRUE(failed) << "there are no brokers in the config";
  EXPECT_EQ(exit_code(failed->code), 78);
  EXPECT_NE(failed->message.find("kafka.brokers"), std::string::npos);
}

/// Of each payload by its length, and of each aggregate the last payload.
struct tabling {
  static constexpr reducer_traits traits{.name = "tabling", .version = 1};
  outcome apply(const event& e, state& s, effects& fx) const {
    s.assign(e.payload);
    fx.put("by-size", e.payload.size(), e.aggregate);
    fx.put("last", e.aggregate, e.payload);
    return done();
  }
};

TEST_F(apply_command, fills_tables_that_the_program_reads) {
  settings_.streams[0].tables = {{"by-size", key_encoding::u64}, {"last", key_encoding::text}};
  own_.add("payments", tabling{});
  expect_applied({file("in", line("a", 1) + line("b", 100) + line("a", 3) + line("c", 22) + line("d", 5))});
  for (int opens = 0; opens < 2; ++opens, reopen()) {
    const engine& e = opened();
    EXPECT_EQ(e.read(table_key{"last", "a"}).value(), "3");
    EXPECT_EQ(e.read(table_key{"by-size", "3"}).value(), "b");
    EXPECT_EQ(e.read(table_key{"last", "z"}).error(), make_error_code(errc::not_found));
    EXPECT_EQ(e.read(table_key{"first", "a"}).error(), make_error_code(errc::table_undeclared));
    EXPECT_EQ(e.read(table_key{"by-size", "many"}).error(), make_error_code(errc::table_key_invalid));
    using rows = std::vector<table_row>;
    const table_page first = e.scan({.table = "last", .limit = 2}).value();
    EXPECT_EQ(first.rows, (rows{{"a", "3"}, {"b", "100"}}));
    ASSERT_EQ(first.next, "c");
    const table_page rest = e.scan({.table = "last", .from = *first.next, .limit = 2}).value();
    EXPECT_EQ(rest.rows, (rows{{"c", "22"}, {"d", "5"}}));
    EXPECT_EQ(rest.next, std::nullopt) << "there is no more, though the page is full";
    EXPECT_EQ(e.scan({.table = "last", .prefix = "c"}).value().rows, (rows{{"c", "22"}}));
    EXPECT_EQ(e.scan({.table = "by-size"}).value().rows, (rows{{"1", "d"}, {"2", "c"}, {"3", "b"}}));
    EXPECT_EQ(e.scan({.table = "by-size", .prefix = "1"}).error(), make_error_code(errc::table_key_invalid));
    EXPECT_EQ(e.scan({.table = "by-size", .from = "x"}).error(), make_error_code(errc::table_key_invalid));
    EXPECT_EQ(e.scan({.table = "first"}).error(), make_error_code(errc::table_undeclared));
  }
}

TEST_F(apply_command, notes_that_a_table_which_is_added_begins_empty) {
  own_.add("payments", tabling{});
  settings_.streams[0].tables = {{"by-size", key_encoding::u64}, {"last", key_encoding::text}};
  expect_applied({file("in", line("a", 1))});
  reopen();
  settings_.streams[0].tables.push_back({"more", key_encoding::bytes});
  expect_applied({file("none", "")});
  const auto audits = support::all_audits(*opened().state().view().value()).value();
  ASSERT_EQ(audits.size(), 1U);
  EXPECT_EQ(audits[0].kind, "table_added");
  EXPECT_EQ(audits[0].stream, "payments");
  EXPECT_EQ(audits[0].text, "the table `more` begins empty: events that were handled before are not in it");
  EXPECT_EQ(opened().state().durable_step(), opened().state().last_step());
  reopen();
  EXPECT_EQ(support::all_audits(*opened().state().view().value()).value().size(), 1U) << "once";
}

TEST_F(apply_command, notes_that_a_stream_starts_over_where_it_holds_nothing) {
  expect_applied({file("in", "no event\n")});
  reopen();
  settings_.streams[0].order = order::strict;
  expect_applied({file("none", "")});
  const auto audits = support::all_audits(*opened().state().view().value()).value();
  ASSERT_EQ(audits.size(), 1U);
  EXPECT_EQ(audits[0].kind, "stream_started_over");
  EXPECT_EQ(audits[0].stream, "payments");
  EXPECT_EQ(audits[0].text,
            "the settings changed before anything was applied: offsets and counters start over, after 1 "
            "record, 1 of them rejected");
  reopen();
  EXPECT_EQ(support::all_audits(*opened().state().view().value()).value().size(), 1U) << "once";
}

TEST_F(apply_command, refuses_to_leave_a_stream_or_its_topic_behind) {
  expect_applied({file("in", kcat("t", 0, 0, "a", 1))}, true);
  reopen();
  settings_.streams[0].name = "renamed";
  const auto renamed = engine::open(settings_, own_, {});
  ASSERT_FALSE(renamed);
  EXPECT_EQ(renamed.error().code, make_error_code(errc::state_foreign));
  settings_.streams.push_back(stream_named("payments", "other"));
  const auto moved = engine::open(settings_, own_, {});
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().diagnostics.at(0).path, "renamed.topics");
  engine_options rebuild;
  rebuild.resume = resume_option::rebuild;
  EXPECT_TRUE(engine::open(settings_, own_, std::move(rebuild))) << "the way that the refusal names";
}

TEST_F(apply_command, leaves_a_topic_that_it_does_not_name_out_of_the_floor) {
  settings_.streams[0].topics = {"t", "u"};
  expect_applied({file("in", kcat("t", 0, 0, "a", 1) + kcat("u", 0, 0, "b", 1))}, true);
  EXPECT_FALSE(state().partitions.at({"u", partition_id{0}}).idle);
  reopen();
  settings_.streams[0].topics = {"t"};
  expect_applied({file("none", "")}, true);
  EXPECT_TRUE(state().partitions.at({"u", partition_id{0}}).idle);
  EXPECT_FALSE(state().partitions.at({"t", partition_id{0}}).idle);
  EXPECT_EQ(support::all_audits(*opened().state().view().value()).value().at(0).kind, "topic_left");
}

}  // namespace
}  // namespace ratchet
