// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "store/layout/tables.hpp"
#include "store/open/verify.hpp"
#include "support/store_support.hpp"

/// Read models on disk: what a step puts there is there with the step, in the order of keys, and what a start
/// makes of a config whose tables changed.
namespace ratchet {
namespace {

using store_support::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using row_list = std::vector<std::string>;

struct stored_tables_fixture : store_support::fixture {
  static std::vector<std::pair<std::string, std::string>> lines(
      const std::vector<std::pair<std::string, std::string>>& tables) {
    std::vector<std::pair<std::string, std::string>> all{{"order", "latest"}, {"dedup.ids", "uuidv7"}};
    for (const auto& [name, key] : tables) all.emplace_back("table." + name, key);
    return all;
  }
  [[nodiscard]] store_options with(const std::vector<std::pair<std::string, std::string>>& tables) const {
    store_options o = options();
    o.streams = {{"payments", lines(tables)}};
    return o;
  }
  [[nodiscard]] std::unique_ptr<store> open_with(
      const std::vector<std::pair<std::string, std::string>>& tables) const {
    return must(open_store(with(tables)));
  }
  /// A step with one applied event and these changes; no value: erased.
  static void put(store& s, const std::string& table,
                  const std::vector<std::pair<std::string, std::optional<std::string>>>& changes,
                  const std::string& stream = "payments") {
    (void)write(s, s.id_of(stream), {{"p1", seq(s.last_step() + 1), "x"}},
                [&](step_batch&, stream_change& change) {
                  for (const auto& [key, value] : changes) change.tables.push_back({0, 0, table, key, value});
                });
  }
  static row_list scan(const store& s, const std::string& table, const std::string& prefix = {},
                       const std::string& from = {}, std::size_t limit = 1000,
                       const std::string& stream = "payments") {
    row_list out;
    must(must(s.view())->scan_table(s.id_of(stream), table, prefix, from,
                                    [&](std::string_view key, std::string_view value) {
                                      if (out.size() == limit) return false;
                                      out.push_back(std::string{key} + "=" + std::string{value});
                                      return true;
                                    }));
    return out;
  }
};

struct stored_table : stored_tables_fixture {};

TEST_F(stored_table, holds_what_steps_put_there_over_a_restart) {
  auto s = open_with({{"t", "text"}});
  put(*s, "t", {{"b", "1"}, {"a", "2"}, {"b", "3"}, {"c", "4"}});
  put(*s, "t", {{"c", std::nullopt}, {"d", ""}, {"e", "5"}, {"e", std::nullopt}});
  for (int opens = 0; opens < 2; ++opens) {
    EXPECT_THAT(scan(*s, "t"), ElementsAre("a=2", "b=3", "d="));
    EXPECT_EQ(must(must(s->view())->table_row(s->id_of("payments"), "t", "b")), "3");
    EXPECT_EQ(must(s->view())->table_row(s->id_of("payments"), "t", "c").error(),
              make_error_code(errc::not_found));
    must(s->sync());
    s.reset();
    EXPECT_THAT(must(verify_store(path())), IsEmpty());
    s = open_with({{"t", "text"}});
  }
}

TEST_F(stored_table, is_lost_with_the_step_that_a_power_cut_takes_back) {
  {
    auto s = open_with({{"t", "text"}});
    put(*s, "t", {{"a", "1"}});
    must(s->sync());
    put(*s, "t", {{"a", "2"}, {"b", "2"}});
    const auto before = must(s->view());
    put(*s, "t", {{"a", "3"}});
    EXPECT_EQ(must(before->table_row(s->id_of("payments"), "t", "a")), "2") << "a view stands still";
  }
  // The process ended, not the machine: what was written is there, with the state that goes with it.
  auto s = open_with({{"t", "text"}});
  EXPECT_EQ(s->last_step(), 3U);
  EXPECT_THAT(scan(*s, "t"), ElementsAre("a=3", "b=2"));
}

TEST_F(stored_table, is_read_in_the_order_of_keys_from_any_key_and_by_prefix) {
  auto s = open_with({{"t", "bytes"}, {"t2", "text"}, {"n", "u64"}});
  put(*s, "t",
      {{"b", ""}, {"a/2", ""}, {"a/1", ""}, {"\xFF\xFF", ""}, {"a", ""}, {std::string("a\0", 2), ""}});
  put(*s, "t2", {{"a/9", ""}});
  EXPECT_THAT(scan(*s, "t"), ElementsAre("a=", std::string("a\0=", 3), "a/1=", "a/2=", "b=", "\xFF\xFF="));
  EXPECT_THAT(scan(*s, "t", "a/"), ElementsAre("a/1=", "a/2="));
  EXPECT_THAT(scan(*s, "t", "a/", "a/2"), ElementsAre("a/2="));
  EXPECT_THAT(scan(*s, "t", "a/", "A"), ElementsAre("a/1=", "a/2=")) << "from below the prefix";
  EXPECT_THAT(scan(*s, "t", "a/", "b"), IsEmpty());
  EXPECT_THAT(scan(*s, "t", "\xFF"), ElementsAre("\xFF\xFF="));
  EXPECT_THAT(scan(*s, "t", {}, "a/15"), ElementsAre("a/2=", "b=", "\xFF\xFF="));
  EXPECT_THAT(scan(*s, "t", {}, {}, 2), ElementsAre("a=", std::string("a\0=", 3)));
  EXPECT_THAT(scan(*s, "none"), IsEmpty());
  const auto number = [](const char* text) { return encode_table_key(key_encoding::u64, text).value(); };
  put(*s, "n", {{number("10"), "x"}, {number("9"), "y"}, {number("18446744073709551615"), "z"}});
  EXPECT_THAT(scan(*s, "n"),
              ElementsAre(number("9") + "=y", number("10") + "=x", number("18446744073709551615") + "=z"));
  EXPECT_THAT(scan(*s, "n", {}, number("10")), ::testing::SizeIs(2));
}

TEST_F(stored_table, is_one_streams_alone) {
  store_options both = options();
  both.streams = {{"payments", lines({{"t", "text"}})}, {"refunds", lines({{"r", "text"}})}};
  auto s = must(open_store(both));
  put(*s, "t", {{"a", "1"}});
  put(*s, "r", {{"a", "2"}}, "refunds");
  EXPECT_THAT(scan(*s, "t"), ElementsAre("a=1"));
  EXPECT_THAT(scan(*s, "t", {}, {}, 9, "refunds"), IsEmpty());
  EXPECT_THAT(scan(*s, "r", {}, {}, 9, "refunds"), ElementsAre("a=2"));
}

TEST_F(stored_table, may_be_added_to_a_stream_and_begins_empty) {
  auto s = open_with({{"t", "text"}});
  EXPECT_THAT(s->added_tables(), IsEmpty()) << "a new stream has nothing that could be missing";
  put(*s, "t", {{"a", "1"}});
  must(s->sync());
  s = nullptr;
  s = open_with({{"t", "text"}, {"n", "u64"}});
  ASSERT_EQ(s->added_tables().size(), 1U);
  EXPECT_EQ(s->added_tables()[0].stream, "payments");
  EXPECT_EQ(s->added_tables()[0].table, "n");
  EXPECT_THAT(scan(*s, "t"), ElementsAre("a=1"));
  s = nullptr;
  s = open_with({{"n", "u64"}, {"t", "text"}});
  EXPECT_THAT(s->added_tables(), IsEmpty()) << "it was added, in whatever order they stand";
}

TEST_F(stored_table, keeps_its_encoding_and_its_place) {
  {
    auto s = open_with({{"t", "text"}});
    put(*s, "t", {{"a", "1"}});
    must(s->sync());
  }
  const auto refused = [&](const store_options& o) {
    const auto opened = open_store(o);
    if (opened) return std::string{"opened"};
    EXPECT_EQ(opened.error().code, make_error_code(errc::state_foreign));
    return to_text(opened.error());
  };
  EXPECT_THAT(refused(with({{"t", "u64"}})),
              HasSubstr("payments.table.t: the state was made with \"text\", the config has \"u64\""));
  EXPECT_THAT(refused(with({})),
              HasSubstr("payments.table.t: the state was made with \"text\", the config has (absent)"));
  EXPECT_THAT(refused(with({{"t", "text"}, {"renamed", "bytes"}})), HasSubstr("opened"));
  store_options more = with({{"t", "text"}, {"renamed", "bytes"}, {"x", "u64"}});
  more.streams[0].lines[0].second = "strict";
  EXPECT_THAT(refused(more), HasSubstr("payments.order")) << "a table that is added hides nothing else";
  store_options elsewhere = with({{"renamed", "bytes"}});
  elsewhere.path = path().parent_path() / "holds-nothing";
  EXPECT_THAT(refused(elsewhere), HasSubstr("opened"));
  elsewhere.streams[0].name = "refunds";
  EXPECT_THAT(refused(elsewhere), HasSubstr("the table \"renamed\" of stream \"refunds\" is one of stream "
                                            "\"payments\""));
}

TEST_F(stored_table, may_change_while_its_stream_has_applied_nothing) {
  {
    auto s = open_with({{"t", "text"}});
    must(s->sync());
  }
  auto s = open_with({{"t", "u64"}});
  EXPECT_THAT(s->added_tables(), IsEmpty());
  const auto known = must(must(s->view())->streams());
  ASSERT_EQ(known.size(), 1U);
  EXPECT_THAT(tables_in(known[0].meaning), ElementsAre(table_config{"t", key_encoding::u64}));
}

TEST_F(stored_table, keeps_its_stream_from_starting_over) {
  {
    auto s = open_with({{"t", "text"}});
    step_plan plan;
    stream_change change;
    change.tables.push_back({0, 0, "t", "a", "1"});  // of nothing that was applied
    step_batch batch;
    batch.step = 1;
    batch.parts.push_back({s->id_of("payments"), &plan, &change, {}});
    must(s->write(batch));
    must(s->sync());
  }
  const auto opened = open_store(with({{"t", "bytes"}}));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("rows of aggregates or tables"));
  EXPECT_THAT(scan(*open_with({{"t", "text"}}), "t"), ElementsAre("a=1"));
}

TEST_F(stored_table, is_checked) {
  auto s = open_with({{"t", "text"}, {"n", "u64"}});
  put(*s, "t", {{"a", "1"}});
  must(s->sync());
  rocksdb::WriteBatch batch;
  database& db = database_of(*s);
  const auto add = [&](stream_id stream, std::string_view table, std::string_view key,
                       std::string_view value) {
    std::string at;
    layout::append_table_key(at, stream, k_instance_slot, table, key);
    ASSERT_TRUE(batch.Put(db.handle(family::tables), at, value).ok());
  };
  const stream_id stream = s->id_of("payments");
  add(stream, "n", "seven b", "\x01x");
  add(stream, "t", "b", "\x02x");
  add(stream, "u", "b", "\x01x");
  add(stream_id{99}, "t", "b", "\x01x");
  ASSERT_TRUE(db.db().Write({}, &batch).ok());
  must(s->sync());
  s.reset();
  EXPECT_THAT(must(verify_store(path())),
              ElementsAre(HasSubstr("its key does not fit its table"), HasSubstr("cannot be decoded"),
                          HasSubstr("of a table that its stream does not have"),
                          HasSubstr("of a stream that is not known")));
}

}  // namespace
}  // namespace ratchet
