// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Checkpoints of an instance that runs: what is handed to the owner of the store, and what is answered.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/checkpoint_request.hpp"
#include "control/client.hpp"
#include "control/server.hpp"
#include "pipeline/posted_tasks.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "store/rocks_store.hpp"
#include "support/temporary_directory.hpp"
#include "testing/memory_store.hpp"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A store on disk with an owner who writes steps, and a control server.
class running_checkpoint : public ::testing::Test {
 protected:
  running_checkpoint() {
    store_options options;
    options.path = state();
    options.group = "group-1";
    options.streams = {{"payments", {}}};
    options.database_bytes = std::uint64_t{24} << 20U;
    options.remembered_bytes = std::uint64_t{8} << 20U;
    store_ = open_store(options).value();
    way_ = std::make_unique<pipeline>(none_, *store_, clock_);
  }
  ~running_checkpoint() override {
    tasks_.close();
    server_.reset();
    stop_ = true;
    if (owner_.joinable()) owner_.join();
    store_.reset();
  }
  [[nodiscard]] fs::path state() const { return directory_ / "state"; }
  void serve() {
    server_ = control_server::start(state(), *store_, {"payments"}, status_, {}, &taker_).value();
    tasks_.open();
  }
  /// Steps with one row each, whose snapshot is the number of the step.
  void start_owner() {
    owner_ = std::thread{[this] {
      while (!stop_) {
        write_step();
        tasks_.run_next({*store_, *way_});
      }
    }};
  }
  void write_step() {
    step_plan plan;
    plan.add("a");
    stream_change change;
    change.after = store_->load(stream_id{1}).value();
    change.after.counters.applied += 1;
    change.after.counters.consumed += 1;
    step_batch batch;
    batch.step = store_->last_step() + 1;
    aggregate_row row;
    row.last = seq(batch.step);
    row.snapshot = std::to_string(batch.step);
    change.rows.push_back({0, row});
    batch.parts.push_back({store_->id_of("payments"), &plan, &change, {}});
    ASSERT_TRUE(store_->write(batch));
  }
  /// The answer, or "error: " and the message.
  std::string ask(const std::vector<std::string>& words) {
    auto client = control_client::connect(state());
    if (!client || !client.value()) return "nobody listens";
    std::string answer;
    const auto done = client.value()->ask(words, [&](std::string_view piece) {
      answer += piece;
      return true;
    });
    return done ? answer : "error: " + done.error().message;
  }

  const support::temporary_directory files_;
  const fs::path& directory_{files_.path()};
  system_clock_port clock_;
  instance_status status_{clock_.now()};
  std::unique_ptr<store> store_;
  task_list none_;
  std::unique_ptr<pipeline> way_;
  posted_tasks tasks_;
  checkpoint_taker taker_{state(), by_task(tasks_), clock_, silent_log()};
  std::unique_ptr<control_server> server_;
  std::atomic<bool> stop_{false};
  std::thread owner_;
};

TEST_F(running_checkpoint, holds_an_exact_prefix_while_the_owner_goes_on) {
  serve();
  start_owner();
  for (int i = 0; i < 5; ++i) {
    const fs::path target = directory_ / ("copy-" + std::to_string(i));
    const std::string answer = ask(to_words(checkpoint_request{target, true}));
    ASSERT_TRUE(answer.starts_with(R"({"path":")" + target.string() + R"(","store":")" + store_->uuid() +
                                   R"(","step":)"))
        << answer;
    const auto opened = open_store_read_only(target);
    ASSERT_TRUE(opened) << to_text(opened.error());
    const auto view = std::move(opened.value()->view()).value();
    EXPECT_NE(answer.find("\"step\":" + std::to_string(view->step()) + ","), std::string::npos) << answer;
    EXPECT_EQ(view->get(stream_id{1}, "a").value().snapshot, std::to_string(view->step()));
    EXPECT_EQ(view->load(stream_id{1}).value().counters.applied, view->step());
    EXPECT_TRUE(verify_store(target).value().empty());
  }
}

TEST_F(running_checkpoint, is_refused_without_troubling_the_owner_where_the_target_is_taken) {
  serve();  // nobody serves: the owner is not asked
  const std::string refused = ask(to_words(checkpoint_request{directory_, false}));
  EXPECT_NE(refused.find("exists already, and is not an empty directory"), std::string::npos) << refused;
  EXPECT_EQ(ask({"checkpoint", "text", "relative/path"}),
            "error: the running instance does not understand the request");
}

TEST_F(running_checkpoint, that_nobody_serves_ends_with_the_server) {
  serve();
  std::string answer;
  std::thread client{[&] { answer = ask(to_words(checkpoint_request{directory_ / "copy", false})); }};
  // Its scaffold tells that it is under way.
  for (int i = 0; i < 10'000 && !fs::exists(state() / "CHECKPOINT.new"); ++i)
    std::this_thread::sleep_for(1ms);
  tasks_.close();
  server_.reset();
  client.join();
  EXPECT_TRUE(answer.starts_with("error: the running instance ")) << answer;
  EXPECT_FALSE(fs::exists(directory_ / "copy"));
  EXPECT_FALSE(fs::exists(state() / "CHECKPOINT.new"));
}

TEST(checkpoint_report, tells_people_the_step_the_size_and_the_offsets) {
  checkpoint_taken taken;
  taken.path = "/backup/copy";
  taken.uuid = "u";
  taken.step = 7;
  taken.taken_at = timestamp{std::chrono::milliseconds{1'767'268'800'000}};
  taken.files = 1;
  taken.bytes = 2'000;
  taken.streams = {{"payments", {{{"t", partition_id{3}}, 17}}}};
  EXPECT_EQ(checkpoint_report(taken, false),
            "/backup/copy is a checkpoint of step 7, taken at 2026-01-01T12:00:00.000Z: 1 file, 2000 bytes\n"
            "  stream payments\n"
            "    t/3 up to offset 17\n");
  EXPECT_EQ(
      checkpoint_report(taken, true),
      R"({"path":"/backup/copy","store":"u","step":7,"taken_at":"2026-01-01T12:00:00.000Z","files":1,)"
      R"("bytes":2000,"streams":{"payments":{"partitions":[{"topic":"t","partition":3,"next_offset":17}]}}})"
      "\n");
}

}  // namespace
}  // namespace ratchet
