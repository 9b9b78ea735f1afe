// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <utility>

#include "store/files/synced_file.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "support/store_support.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using store_support::must;

const timestamp k_taken{std::chrono::milliseconds{1'700'000'000'000}};

class store_checkpoint : public store_support::fixture {
 protected:
  [[nodiscard]] fs::path copy() const { return path().parent_path() / "copy"; }

  static checkpoint_taken take(store& s, const fs::path& state, const fs::path& target) {
    auto progress = must(checkpoint_in_progress::begin(state, target));
    const auto step = must(s.checkpoint(progress.linked()));
    return must(progress.finish(step, k_taken, {}));
  }
  static std::map<std::string, std::string> rows_of(const fs::path& directory) {
    const auto opened = must(open_store_read_only(directory));
    const auto view = must(opened->view());
    std::map<std::string, std::string> rows;
    must(view->scan(must(view->streams()).at(0).id, [&](const scanned_row& row) {
      rows.emplace(row.aggregate, row.row.snapshot);
      return true;
    }));
    return rows;
  }
  static std::uint64_t step_of(const fs::path& directory) {
    return must(must(open_store_read_only(directory))->view())->step();
  }
  static store_identity identity_of(const fs::path& directory) {
    return must(must(must(open_store_read_only(directory))->view())->identity());
  }
  /// Every file with its size and the time of its last change.
  static std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> files_of(const fs::path& path) {
    std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> files;
    for (const auto& entry : fs::directory_iterator{path}) {
      files[entry.path().filename()] = {entry.is_directory() ? 0 : entry.file_size(),
                                        entry.last_write_time()};
    }
    return files;
  }
  [[nodiscard]] store_options options_of(const fs::path& directory) const {
    store_options o = options();
    o.path = directory;
    return o;
  }
};

TEST_F(store_checkpoint, can_be_taken_after_a_power_cut_that_spoilt_the_first_record_of_a_log) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"a", seq(1), "not synced"}});
  }
  int spoilt = 0;
  for (const auto& entry : fs::directory_iterator{path()}) {
    if (entry.path().extension() != ".log" || entry.file_size() < 32) continue;
    std::fstream io{entry.path(), std::ios::in | std::ios::out | std::ios::binary};
    io.seekp(20);
    io.put('\x55');
    io.put('\x55');
    ++spoilt;
  }
  EXPECT_GE(spoilt, 1);
  auto s = open();
  EXPECT_EQ(s->last_step(), 0U);
  EXPECT_EQ(take(*s, path(), copy()).step, 0U);
  write(*s, s->id_of("payments"), {{"a", seq(1), "again"}});
  must(s->sync());
  s.reset();
  EXPECT_EQ(rows_of(path()).at("a"), "again");
}

TEST_F(store_checkpoint, holds_the_step_it_was_taken_at_whatever_the_store_does_afterwards) {
  auto s = open();
  const stream_id payments = s->id_of("payments");
  for (std::uint64_t i = 1; i <= 3; ++i) write(*s, payments, {{"a", seq(i), "a" + std::to_string(i)}});
  write(*s, payments, {{"large", seq(1), std::string(5'000, 'x')}});
  const checkpoint_taken taken = take(*s, path(), copy());
  for (std::uint64_t i = 4; i <= 30; ++i) {
    write(*s, payments, {{"a", seq(i), "later"}, {"b" + std::to_string(i), seq(1), "b"}});
  }
  must(s->sync());
  EXPECT_EQ(taken.step, 4U);
  EXPECT_EQ(taken.uuid, s->uuid());
  EXPECT_EQ(taken.path, copy());
  EXPECT_GT(taken.bytes, 5'000U);
  ASSERT_EQ(taken.streams.size(), 1U);
  EXPECT_EQ(taken.streams[0].next_offsets.at(0).second, 4);
  s.reset();
  s = open();  // and recovers as ever
  EXPECT_EQ(s->last_step(), 31U);
  EXPECT_EQ(step_of(copy()), 4U);
  EXPECT_EQ(rows_of(copy()),
            (std::map<std::string, std::string>{{"a", "a3"}, {"large", std::string(5'000, 'x')}}));
  EXPECT_TRUE(must(verify_store(copy())).empty());
  EXPECT_FALSE(s->copy()) << "the store itself is no copy";
}

TEST_F(store_checkpoint, is_marked_as_a_copy_for_its_owner_alone_and_leaves_nothing_beside) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"a", seq(1), "a"}});
  take(*s, path(), copy());
  EXPECT_EQ(identity_of(copy()).copy, (copy_mark{1, k_taken, false}));
  EXPECT_EQ(identity_of(copy()).uuid, s->uuid());
  EXPECT_EQ(must(synced_file::read(copy())), 1U) << "that step is never lost";
  struct ::stat info {};
  ASSERT_EQ(::stat(copy().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  for (const auto& entry : fs::directory_iterator{path()}) EXPECT_FALSE(entry.is_directory()) << entry.path();
  EXPECT_EQ(std::distance(fs::directory_iterator{path().parent_path()}, fs::directory_iterator{}), 2);
}

TEST_F(store_checkpoint, is_for_its_owner_alone_while_it_is_made_too) {
  auto s = open();
  fs::permissions(path(), fs::perms::owner_all | fs::perms::group_all | fs::perms::others_all);
  const auto progress = must(checkpoint_in_progress::begin(path(), copy()));
  EXPECT_EQ(fs::status(progress.linked().parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(store_checkpoint, of_a_store_without_a_step_and_of_a_copy_can_be_taken) {
  auto s = open();
  EXPECT_EQ(take(*s, path(), copy()).step, 0U);
  s.reset();
  auto of_copy = must(open_store(options_of(copy())));
  write(*of_copy, of_copy->id_of("payments"), {{"a", seq(1), "a"}});
  const fs::path second = path().parent_path() / "second";
  take(*of_copy, copy(), second);
  EXPECT_EQ(identity_of(second).copy, (copy_mark{1, k_taken, false}));
}

TEST_F(store_checkpoint, of_a_stopped_directory_holds_its_log_and_changes_no_file) {
  {
    auto s = open();
    write(*s, s->id_of("payments"), {{"a", seq(1), "a1"}});
    must(s->sync());
    for (std::uint64_t i = 2; i <= 5; ++i)
      write(*s, s->id_of("payments"), {{"a", seq(i), "a" + std::to_string(i)}});
  }
  const auto before = files_of(path());
  const checkpoint_taken taken = must(checkpoint_directory(path(), copy(), k_taken));
  EXPECT_EQ(files_of(path()), before);
  EXPECT_EQ(taken.step, 5U);
  EXPECT_EQ(step_of(copy()), 5U);
  EXPECT_EQ(rows_of(copy()).at("a"), "a5");
  EXPECT_TRUE(must(verify_store(copy())).empty());
  EXPECT_TRUE(identity_of(copy()).copy);
  // The copy is written to, and the directory does not notice.
  auto s = must(open_store(options_of(copy())));
  write(*s, s->id_of("payments"), {{"a", seq(6), "a6"}});
  must(s->sync());
  EXPECT_EQ(rows_of(path()).at("a"), "a5");
  EXPECT_TRUE(must(verify_store(path())).empty());
}

TEST_F(store_checkpoint, of_a_directory_that_is_in_use_or_empty_is_refused) {
  EXPECT_EQ(checkpoint_directory(path(), copy(), k_taken).error().code, errc::state_missing);
  auto s = open();
  EXPECT_EQ(checkpoint_directory(path(), copy(), k_taken).error().code, errc::state_busy);
  EXPECT_FALSE(fs::exists(copy()));
}

TEST_F(store_checkpoint, is_refused_a_name_that_is_taken_or_cannot_be) {
  auto s = open();
  const auto refused = [&](const fs::path& target) {
    const auto checked = check_checkpoint_target(target, path());
    return checked ? std::string{} : checked.error().message;
  };
  fs::create_directory(copy());
  EXPECT_EQ(refused(copy()), "");
  EXPECT_EQ(refused(copy() / ""), "") << "a slash at the end";
  std::ofstream{copy() / "file"} << "x";
  EXPECT_NE(refused(copy()).find("exists already"), std::string::npos);
  EXPECT_NE(refused(copy() / "file").find("exists already"), std::string::npos);
  EXPECT_NE(refused(copy() / "none" / "copy").find("there is no directory"), std::string::npos);
  EXPECT_NE(refused(path() / "copy").find("lies inside the state directory"), std::string::npos);
  EXPECT_EQ(refused(path().string() + "-copy"), "") << "beside, and its name begins alike";
  fs::create_symlink(path(), path().parent_path() / "link");
  EXPECT_NE(refused(path().parent_path() / "link" / "copy").find("lies inside"), std::string::npos);
}

TEST_F(store_checkpoint, takes_the_place_of_an_empty_directory) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"a", seq(1), "a"}});
  fs::create_directory(copy());
  take(*s, path(), copy() / "");
  EXPECT_EQ(step_of(copy()), 1U);
}

TEST_F(store_checkpoint, is_copied_where_links_do_not_reach) {
  std::string name = "/dev/shm/ratchet-checkpoint-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path elsewhere{name};
  struct ::stat here {};
  struct ::stat there {};
  auto s = open();
  ASSERT_EQ(::stat(path().c_str(), &here), 0);
  ASSERT_EQ(::stat(elsewhere.c_str(), &there), 0);
  if (here.st_dev == there.st_dev) GTEST_SKIP() << "/dev/shm is no file system of its own";
  write(*s, s->id_of("payments"), {{"a", seq(1), "a1"}});
  take(*s, path(), elsewhere / "running");
  auto progress = must(checkpoint_in_progress::begin(path(), elsewhere / "given-up"));
  const auto step = must(s->checkpoint(progress.linked()));
  int asked = 0;
  const auto given_up = progress.finish(step, k_taken, [&] { return ++asked > 3; });
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, errc::aborted);
  s.reset();
  must(checkpoint_directory(path(), elsewhere / "stopped", k_taken));
  for (const char* made : {"running", "stopped"}) {
    EXPECT_EQ(rows_of(elsewhere / made).at("a"), "a1");
    EXPECT_TRUE(must(verify_store(elsewhere / made)).empty());
  }
  EXPECT_EQ(std::distance(fs::directory_iterator{elsewhere}, fs::directory_iterator{}), 2)
      << "nothing half made";
  fs::remove_all(elsewhere);
}

TEST_F(store_checkpoint, that_is_not_finished_has_no_name_and_cannot_be_opened) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"a", seq(1), "a"}});
  {
    auto progress = must(checkpoint_in_progress::begin(path(), copy()));
    must(s->checkpoint(progress.linked()));
    EXPECT_EQ(open_store_read_only(progress.linked()).error().code, errc::state_damaged);
    EXPECT_EQ(open_store(options_of(progress.linked())).error().code, errc::state_damaged);
    const auto given_up = progress.finish(1, k_taken, [] { return true; });
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code, errc::aborted);
  }
  EXPECT_FALSE(fs::exists(copy()));
  for (const auto& entry : fs::directory_iterator{path()}) EXPECT_FALSE(entry.is_directory()) << entry.path();
}

TEST_F(store_checkpoint, that_a_killed_process_left_is_removed_by_the_next_start) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"a", seq(1), "a"}});
  must(s->checkpoint(path() / "CHECKPOINT.new"));
  must(s->sync());
  s.reset();
  ASSERT_TRUE(fs::exists(path() / "CHECKPOINT.new"));
  s = open();
  EXPECT_FALSE(fs::exists(path() / "CHECKPOINT.new"));
  EXPECT_EQ(s->last_step(), 1U);
}

TEST_F(store_checkpoint, of_another_step_than_was_said_is_an_error) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"a", seq(1), "a"}});
  auto progress = must(checkpoint_in_progress::begin(path(), copy()));
  must(s->checkpoint(progress.linked()));
  EXPECT_FALSE(progress.finish(2, k_taken, {}));
  EXPECT_FALSE(fs::exists(copy()));
}

TEST_F(store_checkpoint, keeps_its_mark_and_its_epoch_until_a_step_changes_them) {
  auto s = open();
  write(*s, s->id_of("payments"), {{"a", seq(1), "a"}});
  const incarnation known = must(s->draw_incarnation(0, 7));
  take(*s, path(), copy());
  const auto reopened = [&](auto change) {
    auto of_copy = must(open_store(options_of(copy())));
    write(*of_copy, of_copy->id_of("payments"), {},
          [&](step_batch& batch, stream_change&) { change(batch.change); });
    must(of_copy->sync());
  };
  reopened([](store_change&) {});
  EXPECT_EQ(identity_of(copy()).copy, (copy_mark{1, k_taken, false})) << "a step alone washes nothing off";
  reopened([](store_change& change) {
    change.note_copy_opened = true;
    change.outbox_epoch = 5;
  });
  EXPECT_EQ(identity_of(copy()).copy, (copy_mark{1, k_taken, true}));
  EXPECT_EQ(identity_of(copy()).outbox_epoch, 5U);
  reopened([](store_change& change) {
    change.lift_copy_mark = true;
    change.outbox_epoch = 2;
    change.taken_over = {{3, 33}};
  });
  EXPECT_FALSE(identity_of(copy()).copy);
  EXPECT_EQ(identity_of(copy()).outbox_epoch, 6U) << "it only grows";
  EXPECT_EQ(must(open_store_read_only(copy()))->incarnations(), (std::vector<incarnation>{known, {3, 33}}));
  EXPECT_TRUE(must(verify_store(copy())).empty());
}

}  // namespace
}  // namespace ratchet
