// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/stat.h>

#include <fstream>

#include "store/engine/rocksdb_versions.hpp"
#include "store/layout/layout.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "support/all_rows.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

using store_support::fixture;
using store_support::must;
using ::testing::HasSubstr;

class a_state_directory : public fixture {
 protected:
  static problem refusal(const store_options& o) {
    auto opened = open_store(o);
    EXPECT_FALSE(opened);
    return opened ? problem{} : opened.error();
  }
  void write_schema_version(std::uint32_t version) {
    auto s = open();
    layout::identity other;
    other.schema_version = version;
    rocksdb::WriteOptions synced;
    synced.sync = true;
    database& db = database_of(*s);
    ASSERT_TRUE(
        db.db().Put(synced, db.handle(family::standard), "\x01", layout::encode_identity(other)).ok());
  }
};

TEST_F(a_state_directory, that_is_missing_is_not_made_unless_asked) {
  store_options o = options();
  o.create = false;
  EXPECT_EQ(refusal(o).code, make_error_code(errc::state_missing));
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(open_store_read_only(path()).error().code, make_error_code(errc::state_missing));
  EXPECT_EQ(verify_store(path()).error().code, make_error_code(errc::state_missing));
}

TEST_F(a_state_directory, that_is_a_link_to_nothing_is_told_as_that) {
  std::filesystem::create_symlink("nowhere", path());
  const problem p = refusal(options());
  EXPECT_EQ(p.code, make_error_code(errc::state_missing));
  EXPECT_THAT(p.message, HasSubstr("is a symbolic link to nothing"));
}

TEST_F(a_state_directory, that_holds_other_files_is_refused) {
  std::filesystem::create_directories(path());
  std::ofstream{path() / "notes.txt"} << "mine";
  const problem p = refusal(options());
  EXPECT_EQ(p.code, make_error_code(errc::state_foreign));
  EXPECT_THAT(p.message, HasSubstr("is not empty and is not a state directory"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{path()}, {}), 1);
}

TEST_F(a_state_directory, whose_current_was_deleted_is_damaged_and_not_foreign) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    must(s->sync());
  }
  std::filesystem::remove(path() / "CURRENT");
  const problem p = refusal(options());
  EXPECT_EQ(p.code, make_error_code(errc::state_damaged));
  EXPECT_THAT(p.message, HasSubstr("the file CURRENT is missing"));
  EXPECT_THAT(must(verify_store(path())), ::testing::ElementsAre(HasSubstr("the file CURRENT is missing")));
  std::ofstream{path() / "SYNCED", std::ios::trunc} << "x";
  EXPECT_EQ(refusal(options()).code, make_error_code(errc::state_damaged)) << "nor is it where both are bad";
}

/// Each would be waited for, or read without an end, by whoever opened it.
TEST_F(a_state_directory, with_a_file_that_is_none_is_refused_by_its_name) {
  open().reset();
  std::vector<std::string> names{"SYNCED", "000123.sst"};
  for (const auto& e : std::filesystem::directory_iterator{path()}) {
    const std::string name = e.path().filename();
    if (name == "CURRENT" || name == "IDENTITY" || name.ends_with(".log") || name.starts_with("MANIFEST-"))
      names.push_back(name);
  }
  ASSERT_EQ(names.size(), 6U) << ::testing::PrintToString(names);
  for (const std::string& name : names) {
    const auto file = path() / name;
    const auto kept = path().parent_path() / "kept";
    const bool was_there = std::filesystem::exists(file);
    if (was_there) std::filesystem::rename(file, kept);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const auto expect_refused = [&](const char* kind) {
      const problem p = refusal(options());
      EXPECT_EQ(p.code, make_error_code(errc::state_damaged)) << name;
      EXPECT_THAT(p.message, HasSubstr(name + " is " + kind + ", not a regular file; no file was changed"));
      EXPECT_EQ(open_store_read_only(path()).error().code, make_error_code(errc::state_damaged)) << name;
      EXPECT_EQ(must(verify_store(path())).size(), 1U) << name;
      std::filesystem::remove(file);
    };
    expect_refused("a FIFO");
    std::filesystem::create_symlink("/dev/zero", file);
    expect_refused("a symbolic link");
    if (was_there) std::filesystem::rename(kept, file);
  }
  EXPECT_EQ(open()->last_step(), 0U) << "all as it was";
}

TEST_F(a_state_directory, whose_current_is_too_long_for_a_name_is_damaged) {
  open().reset();
  std::filesystem::resize_file(path() / "CURRENT", 1 << 20);
  const problem p = refusal(options());
  EXPECT_EQ(p.code, make_error_code(errc::state_damaged));
  EXPECT_THAT(p.message, HasSubstr("CURRENT has 1048576 bytes"));
}

TEST_F(a_state_directory, of_another_program_on_rocksdb_is_refused) {
  std::unique_ptr<rocksdb::DB> other;
  rocksdb::Options o;
  o.create_if_missing = true;
  std::filesystem::create_directories(path());
  ASSERT_TRUE(open_database(other, o, path().string()).ok());
  ASSERT_TRUE(other->Put({}, "their", "data").ok());
  other.reset();
  EXPECT_EQ(refusal(options()).code, make_error_code(errc::state_foreign));
}

TEST_F(a_state_directory, whose_creation_was_cut_short_is_made_after_all) {
  open().reset();
  // What a kill leaves before the identity was written: SYNCED at step 0, and parts of a database.
  for (const auto& entry : std::filesystem::directory_iterator{path()}) {
    if (entry.path().filename() != "SYNCED") std::filesystem::remove_all(entry.path());
  }
  std::ofstream{path() / "MANIFEST-000001"} << "";
  EXPECT_EQ(open()->last_step(), 0U);
}

TEST_F(a_state_directory, of_another_group_is_refused) {
  open().reset();
  store_options o = options();
  o.group = "group-2";
  const problem p = refusal(o);
  EXPECT_EQ(p.code, make_error_code(errc::state_foreign));
  EXPECT_THAT(p.message, HasSubstr("\"group-1\""));
  EXPECT_THAT(p.message, HasSubstr("\"group-2\""));
}

TEST_F(a_state_directory, without_a_group_takes_its_first_one_for_good) {
  store_options o = options();
  o.group = "";
  ASSERT_TRUE(open_store(o));
  open().reset();
  EXPECT_EQ(refusal(o).code, make_error_code(errc::state_foreign));
}

TEST_F(a_state_directory, with_a_changed_meaning_is_refused_and_every_changed_line_is_named) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
  }
  store_options o = options();
  o.streams = {{"payments", {{"order", "arrival"}, {"dedup.ids", "uuidv7"}, {"reducer", "replace"}}}};
  const problem p = refusal(o);
  EXPECT_EQ(p.code, make_error_code(errc::state_foreign));
  ASSERT_EQ(p.diagnostics.size(), 2U);
  EXPECT_EQ(p.diagnostics[0].path, "payments.order");
  EXPECT_THAT(p.diagnostics[0].message, HasSubstr("\"latest\""));
  EXPECT_THAT(p.diagnostics[0].message, HasSubstr("\"arrival\""));
  EXPECT_THAT(p.diagnostics[1].message, HasSubstr("(absent)"));
  EXPECT_THAT(p.hint, HasSubstr("--resume rebuild"));
  EXPECT_EQ(open()->last_step(), 1U);
}

TEST_F(a_state_directory, goes_on_with_another_cluster_by_the_step_that_says_so) {
  for (const bool at_once : {true, false}) {
    store_options o = options();
    o.adopts_at_once = at_once;
    std::string uuid;
    {
      auto s = must(open_store(o));
      uuid = s->uuid();
      ASSERT_TRUE(s->set_cluster_id("cluster-1"));
      write(*s, s->id_of("payments"), {},
            [](step_batch& batch, stream_change&) { batch.change.cluster_id = "cluster-2"; });
      EXPECT_EQ(s->cluster_id(), "cluster-2");
    }
    auto s = must(open_store(o));
    EXPECT_EQ(s->cluster_id(), "cluster-2");
    EXPECT_EQ(s->uuid(), uuid) << "all else of what it is stays";
  }
}

TEST_F(a_state_directory, whose_stream_holds_nothing_takes_a_changed_meaning_and_starts_over) {
  stream_id id{0};
  std::string uuid;
  const topic_partition where{"payment-status", partition_id{0}};
  {
    auto s = open();
    id = s->id_of("payments");
    uuid = s->uuid();
    ASSERT_TRUE(s->draw_incarnation(0, 5));
    ASSERT_TRUE(s->set_cluster_id("cluster-1"));
    write(*s, id, {}, [&](step_batch& batch, stream_change& change) {
      change.after.counters.rejected_malformed = change.after.counters.consumed = 1;
      change.after.floor = timestamp{std::chrono::milliseconds{5}};
      change.after.partitions[where].next_offset = 42;
      change.after.partitions[where].highest_time = timestamp{std::chrono::milliseconds{7}};
      rejected_row r;
      r.where = where;
      batch.parts[0].rejected.push_back(r);
      batch.audits.push_back({1, timestamp{}, "offsets_skipped", "payments", "why"});
    });
    const stream_state before = must(s->load(id));
    ASSERT_EQ(before.partitions.size(), 1U);
    ASSERT_TRUE(before.floor);
    ASSERT_EQ(must(support::newest_rejected(*must(s->view()), id, 10)).size(), 1U);
  }
  store_options o = options();
  o.streams = {{"payments", {{"order", "arrival"}}}};
  for (int opens = 0; opens < 2; ++opens) {
    auto s = must(open_store(o));
    EXPECT_EQ(s->id_of("payments"), id);
    const auto restarted = s->restarted_streams();
    ASSERT_EQ(restarted.size(), opens == 0 ? 1U : 0U);
    if (opens == 0) {
      EXPECT_EQ(restarted[0].stream, "payments");
      EXPECT_EQ(restarted[0].forgotten.consumed, 1U);
    }
    EXPECT_EQ(must(s->load(id)), stream_state{}) << "counters, floor and offsets are to go";
    EXPECT_TRUE(must(support::newest_rejected(*must(s->view()), id, 10)).empty());
    EXPECT_EQ(s->uuid(), uuid);
    EXPECT_EQ(s->cluster_id(), "cluster-1");
    EXPECT_EQ(s->incarnations(), (std::vector<incarnation>{{1, 5}}));
    EXPECT_EQ(s->last_step(), 1U);
    const auto audits = must(support::all_audits(*must(s->view())));
    ASSERT_EQ(audits.size(), 1U);
    EXPECT_EQ(audits[0].text, "why");
  }
  EXPECT_TRUE(must(verify_store(path())).empty());
  EXPECT_EQ(must(open_store_read_only(path()))->streams()[0].meaning, o.streams[0].lines);
}

TEST_F(a_state_directory, whose_other_stream_applied_something_keeps_that_one_when_a_stream_starts_over) {
  store_options o = options();
  o.streams.push_back({"refunds", {{"order", "latest"}}});
  stream_state payments;
  {
    auto s = must(open_store(o));
    payments = write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
    write(*s, s->id_of("refunds"), {});
  }
  o.streams[1].lines[0].second = "arrival";
  auto s = must(open_store(o));
  EXPECT_EQ(must(s->load(s->id_of("payments"))), payments);
  EXPECT_EQ(must(must(s->view())->get(s->id_of("payments"), "p1")).snapshot, "one");
  EXPECT_EQ(must(s->load(s->id_of("refunds"))), stream_state{});
}

TEST_F(a_state_directory, gives_no_stream_the_number_of_another) {
  open().reset();
  store_options o = options();
  o.streams = {{"refunds", {}}};
  stream_id refunds{0};
  {
    auto s = must(open_store(o));
    refunds = s->id_of("refunds");
  }
  EXPECT_NE(open()->id_of("payments"), refunds) << "also where the config had lost it for a while";
}

TEST_F(a_state_directory, serves_one_process_at_a_time_and_says_which) {
  auto first = open();
  for (const problem& p : {refusal(options()), open_store_read_only(path()).error()}) {
    EXPECT_EQ(p.code, make_error_code(errc::state_busy));
    EXPECT_THAT(p.message, HasSubstr(path().string()));
    EXPECT_THAT(p.hint, HasSubstr("stop the other process"));
  }
  first.reset();
  EXPECT_TRUE(open());
}

TEST_F(a_state_directory, of_a_newer_schema_is_refused) {
  write_schema_version(layout::k_schema_version + 1);
  const problem p = refusal(options());
  EXPECT_EQ(p.code, make_error_code(errc::state_newer_schema));
  EXPECT_THAT(p.message, HasSubstr("schema version " + std::to_string(layout::k_schema_version + 1)));
}

TEST_F(a_state_directory, of_an_older_schema_is_refused_and_may_be_built_again) {
  write_schema_version(1);
  const problem p = refusal(options());
  EXPECT_EQ(p.code, make_error_code(errc::state_foreign));
  EXPECT_THAT(p.message, HasSubstr("schema version 1"));
  EXPECT_THAT(p.hint, HasSubstr("--resume rebuild"));
  EXPECT_FALSE(p.diagnostics.empty()) << "without a line that differs a rebuild is refused";
}

TEST_F(a_state_directory, without_its_file_synced_is_refused) {
  open().reset();
  std::filesystem::remove(path() / "SYNCED");
  const problem p = refusal(options());
  EXPECT_EQ(p.code, make_error_code(errc::state_damaged));
  EXPECT_THAT(p.message, HasSubstr("SYNCED is missing"));
}

TEST_F(a_state_directory, is_read_without_its_config) {
  std::string uuid;
  {
    auto s = open();
    uuid = s->uuid();
    ASSERT_TRUE(s->draw_incarnation(0, 5));
    write(*s, s->id_of("payments"), {{"p1", seq(1), "one"}});
  }
  auto s = must(open_store_read_only(path()));
  EXPECT_EQ(s->uuid(), uuid);
  EXPECT_EQ(s->group(), "group-1");
  EXPECT_EQ(s->incarnations(), (std::vector<incarnation>{{1, 5}}));
  ASSERT_EQ(s->streams().size(), 1U);
  auto view = must(s->view());
  EXPECT_EQ(view->step(), 1U);
  EXPECT_EQ(must(view->get(s->streams()[0].id, "p1")).snapshot, "one");
}

TEST_F(a_state_directory, with_a_broken_ledger_or_a_lost_snapshot_does_not_verify) {
  {
    auto s = open();
    const stream_id stream = s->id_of("payments");
    write(*s, stream, {{"p1", seq(1), std::string(2000, 'x')}},
          [](step_batch&, stream_change& change) { change.after.counters.consumed += 1; });
    database& db = database_of(*s);
    std::string key;
    layout::append_aggregate_key(key, stream, k_instance_slot, "p1");
    ASSERT_TRUE(db.db().Delete({}, db.handle(family::snapshots), key).ok());
  }
  const auto findings = must(verify_store(path()));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0], HasSubstr("its snapshot is missing"));
  EXPECT_THAT(findings[1], HasSubstr("the ledger does not add up: 2 consumed, 1 accounted for"));
}

}  // namespace
}  // namespace ratchet
