// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a program is asked where offsets and state do not fit, and what its answers do: the real engine and
// store, over a scripted group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/engine.hpp"
#include "ratchet/ratchet.hpp"
#include "store/open/checkpoint.hpp"
#include "support/all_rows.hpp"
#include "support/fake_source.hpp"
#include "support/lent_source.hpp"
#include "support/temporary_directory.hpp"

namespace ratchet::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// The program's own: keeps the payload, and a row of a table where the stream has one.
struct payment_state {
  outcome apply(const ratchet::event& e, state& s, effects& fx) const {
    s.assign(e.payload);
    if (has_table) fx.put("by_payment", e.aggregate, e.payload);
    return done();
  }
  bool has_table{false};
};

resume_choice choice(resume_option option, std::optional<std::int64_t> offset = {}, std::int64_t from = 0,
                     std::int64_t to = 0) {
  return {option, offset, from, to};
}

class questions : public ::testing::Test {
 protected:
  questions() {
    settings_.kafka.brokers = {"broker:9092"};
    settings_.kafka.group = "g";
    settings_.state.path = root_ / "state";
    settings_.memory_limit = std::uint64_t{64} << 20U;
    stream_config& s = settings_.streams.emplace_back();
    s.name = "payments";
    s.topics = {"t"};
    s.start = start_position::earliest;
    s.envelope.aggregate = "/p";
    s.envelope.sequence = "/n";
    s.dedup.ids = id_kind::none;
  }
  ~questions() override { engine_.reset(); }
  void produce(const topic_partition& where, int from, int to) {
    for (int n = from; n <= to; ++n)
      source_.produce(where, R"({"p":"a)" + std::to_string(static_cast<int>(where.partition)) + R"(","n":)" +
                                 std::to_string(n) + "}");
  }
  /// As a start of the program.
  std::optional<problem> open(resume_answer answer = {}) {
    engine_.reset();
    engine_options options;
    options.clock = &clock_;
    options.make_source = [this]() -> reported<std::unique_ptr<source>> {
      return std::unique_ptr<source>{std::make_unique<lent_source>(source_)};
    };
    options.resume = answer.option;
    options.resumed_by = {answer.by, answer.why};
    const bool has_table = !settings_.streams[0].tables.empty();
    auto opened = engine::open(
        settings_,
        reducers{}.add("payments",
                       reducer{{.name = "payment_state", .version = version_}, payment_state{has_table}}),
        std::move(options));
    if (!opened) return std::move(opened.error());
    engine_ = std::move(*opened);
    return std::nullopt;
  }
  /// run() as app has it.
  std::optional<problem> run(const resume_answer& answer = {}) {
    const std::atomic<bool> never{false};
    const bool answered = answer.option != resume_option::none;
    if (answered) engine_->answer(answer.option, {answer.by, answer.why});
    auto failed = engine_->run(true, never);
    if (answered) engine_->answer(resume_option::none, {});
    return failed;
  }
  void has_handled(int records) {
    produce(k_p0, 1, records);
    ASSERT_FALSE(open());
    ASSERT_FALSE(run());
    ASSERT_EQ(consumed(), static_cast<std::uint64_t>(records));
  }
  [[nodiscard]] std::uint64_t consumed() { return engine_->tasks()[0]->state.counters.consumed; }
  [[nodiscard]] bool has_audit(const std::string& kind, const std::string& part = {}) {
    const auto rows = support::all_audits(*engine_->state().view().value()).value();
    return std::any_of(rows.begin(), rows.end(), [&](const audit_row& row) {
      return row.kind == kind && row.text.find(part) != std::string::npos;
    });
  }
  [[nodiscard]] std::size_t put_aside() const {
    return static_cast<std::size_t>(std::count_if(
        fs::directory_iterator{root_}, {},
        [](const fs::directory_entry& e) { return e.path().filename().string().starts_with("state.old-"); }));
  }
  [[nodiscard]] static question only(const std::optional<problem>& failed) {
    if (!failed || failed->questions.size() != 1) {
      ADD_FAILURE() << "one question is expected" << (failed ? ": " + to_text(*failed) : "");
      return {};
    }
    const question& asked = failed->questions.front();
    EXPECT_FALSE(asked.message.empty());
    EXPECT_FALSE(asked.hint.empty());
    return asked;
  }

  support::temporary_directory files_;
  const std::filesystem::path& root_{files_.path()};
  config settings_;
  journal calls_;
  fake_clock clock_;
  fake_source source_{calls_, clock_};
  std::uint32_t version_{1};
  std::unique_ptr<engine> engine_;
};

TEST_F(questions, are_asked_of_a_topic_that_somebody_rewound_and_answered_by_the_next_run) {
  has_handled(3);
  source_.logs[k_p0].committed = 1;
  source_.logs[k_p0].metadata.clear();
  ASSERT_FALSE(open());
  EXPECT_THAT(engine_->questions(), SizeIs(0)) << "nothing was found out yet";
  const auto stopped = run();
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->code, errc::partition_stopped);
  const question asked = only(stopped);
  EXPECT_EQ(asked.kind, question_kind::rewound);
  EXPECT_EQ(asked.stream, "payments");
  EXPECT_EQ(asked.where, k_p0);
  EXPECT_EQ(asked.stored, 3);
  EXPECT_EQ(asked.committed, 1);
  EXPECT_EQ(asked.log_start, 0);
  EXPECT_EQ(asked.log_end, 3);
  EXPECT_THAT(asked.choices, ElementsAre(choice(resume_option::store, 3), choice(resume_option::rebuild)));
  EXPECT_THAT(engine_->questions(), ElementsAre(asked)) << "the same, whoever asks";

  EXPECT_EQ(only(run(resume_option::kafka)).kind, question_kind::rewound) << "that is none of the choices";
  produce(k_p0, 4, 5);
  ASSERT_FALSE(run({resume_option::store, "alice", "it was a slip"}));
  EXPECT_THAT(engine_->questions(), SizeIs(0));
  EXPECT_EQ(consumed(), 5U);
  EXPECT_TRUE(has_audit("resume_rewound", "decided by alice: it was a slip"));
}

TEST_F(questions, answered_by_rebuild_handle_the_log_again_into_a_new_directory) {
  has_handled(3);
  source_.logs[k_p0].committed = 1;
  source_.logs[k_p0].metadata.clear();
  ASSERT_FALSE(open());
  ASSERT_TRUE(run());
  ASSERT_FALSE(run(resume_option::rebuild));
  EXPECT_THAT(engine_->questions(), SizeIs(0));
  EXPECT_EQ(consumed(), 3U);
  EXPECT_EQ(put_aside(), 1U);
}

TEST_F(questions, are_not_answered_by_a_rebuild_that_would_lose_what_no_topic_holds) {
  stream_config& other = settings_.streams.emplace_back(settings_.streams[0]);
  other.name = "kept";
  other.topics = {"u"};
  other.reducer.from = "/p";
  produce(at("u", 0), 1, 2);
  has_handled(3);
  settings_.streams[1].topics.clear();
  source_.logs.erase(at("u", 0));
  source_.logs[k_p0].committed = 1;
  source_.logs[k_p0].metadata.clear();
  ASSERT_FALSE(open());
  const auto refused = run(resume_option::rebuild);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, errc::resume_refused);
  EXPECT_THAT(refused->message, HasSubstr("the state of `kept`, which reads no topic"));
  EXPECT_EQ(put_aside(), 0U);
}

TEST_F(questions, of_a_partition_are_told_while_the_others_are_read) {
  source_.logs[k_p1] = {};
  has_handled(3);
  source_.logs[k_p0].committed = 1;
  source_.logs[k_p0].metadata.clear();
  produce(k_p1, 1, 4);
  ASSERT_FALSE(open());
  std::atomic<bool> stop{false};
  std::vector<question> told;
  source_.at_end = [&] {
    told = engine_->questions();
    stop = true;
  };
  const auto ended = engine_->run(false, stop);
  source_.at_end = nullptr;
  EXPECT_EQ(only(ended).where, k_p0);
  EXPECT_THAT(told, ElementsAre(only(ended)));
  EXPECT_EQ(consumed(), 7U) << "the other partition went on";
}

TEST_F(questions, of_a_group_that_another_directory_holds_are_asked_of_each_partition) {
  source_.logs[k_p1] = {};
  has_handled(3);
  for (const topic_partition& where : {k_p0, k_p1}) {
    source_.logs[where].committed = 2;
    source_.logs[where].metadata = to_metadata({"22222222-2222-4222-8222-222222222222", {1, 1}, 1});
  }
  ASSERT_FALSE(open());
  const auto refused = run();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, errc::group_taken);
  ASSERT_THAT(refused->questions, SizeIs(2));
  EXPECT_EQ(engine_->questions(), refused->questions);
  const question& first = refused->questions.front();
  EXPECT_EQ(first.kind, question_kind::other_store);
  EXPECT_EQ(first.where, k_p0);
  EXPECT_EQ(first.committed, 2);
  EXPECT_FALSE(first.log_start) << "the log was not looked at";
  EXPECT_THAT(first.choices, ElementsAre(choice(resume_option::rebuild)));
  EXPECT_EQ(refused->questions.back().where, k_p1);
  ASSERT_FALSE(run(resume_option::rebuild));
  EXPECT_THAT(engine_->questions(), SizeIs(0));
  EXPECT_EQ(consumed(), 3U);
}

TEST_F(questions, of_another_cluster_are_about_the_whole_directory) {
  has_handled(3);
  source_.cluster = "cluster-2";
  source_.logs.clear();
  source_.logs[k_p0].start = source_.logs[k_p0].end = 40;
  produce(k_p0, 1, 5);
  ASSERT_FALSE(open());
  const question asked = only(run());
  EXPECT_EQ(asked.kind, question_kind::other_cluster);
  EXPECT_FALSE(asked.where);
  EXPECT_EQ(engine_->questions(), std::vector{asked});
  EXPECT_THAT(asked.choices, ElementsAre(choice(resume_option::store), choice(resume_option::kafka),
                                         choice(resume_option::rebuild), choice(resume_option::cluster)));
  ASSERT_FALSE(run({resume_option::cluster, "alice", "moved"}));
  EXPECT_THAT(engine_->questions(), SizeIs(0));
  EXPECT_EQ(engine_->tasks()[0]->state.counters.applied + engine_->tasks()[0]->state.counters.superseded, 5U);
  EXPECT_TRUE(has_audit("cluster_changed", "decided by alice: moved"));
  ASSERT_FALSE(open());
  EXPECT_FALSE(run()) << "from now on it is its own";
}

TEST_F(questions, of_another_cluster_where_the_topics_were_made_anew_are_answered_by_a_rebuild) {
  has_handled(3);
  source_.cluster = "cluster-2";
  source_.logs.clear();
  produce(k_p0, 1, 2);
  ASSERT_FALSE(open());
  ASSERT_FALSE(run(resume_option::rebuild));
  EXPECT_EQ(put_aside(), 1U);
  EXPECT_EQ(consumed(), 2U);
  EXPECT_EQ(engine_->state().cluster_id(), "cluster-2");
}

TEST_F(questions, of_another_cluster_are_asked_of_a_restored_checkpoint_too_and_answered_alike) {
  has_handled(3);
  engine_.reset();
  ASSERT_TRUE(checkpoint_directory(settings_.state.path, root_ / "copy", clock_.now()));
  settings_.state.path = root_ / "copy";
  source_.cluster = "cluster-2";  // to which a mirror has brought the records, and the group's offsets
  ASSERT_FALSE(open());
  EXPECT_EQ(only(run()).kind, question_kind::other_cluster);
  ASSERT_FALSE(run(resume_option::cluster));
  EXPECT_TRUE(has_audit("copy_taken_over"));
  EXPECT_EQ(engine_->tasks()[0]->state.counters.applied + engine_->tasks()[0]->state.counters.superseded, 3U);
  ASSERT_FALSE(open());
  EXPECT_FALSE(run());
}

TEST_F(questions, of_a_restored_checkpoint_are_answered_by_takeover) {
  has_handled(3);
  engine_.reset();
  ASSERT_TRUE(checkpoint_directory(settings_.state.path, root_ / "copy", clock_.now()));
  produce(k_p0, 4, 5);
  ASSERT_FALSE(open());
  ASSERT_FALSE(run());
  settings_.state.path = root_ / "copy";
  ASSERT_FALSE(open());
  const question asked = only(run());
  EXPECT_EQ(asked.kind, question_kind::copied_directory);
  EXPECT_EQ(asked.stored, 3);
  EXPECT_EQ(asked.committed, 5);
  EXPECT_THAT(asked.choices, ElementsAre(choice(resume_option::rebuild), choice(resume_option::takeover, 3)));
  ASSERT_FALSE(run({resume_option::takeover, "alice"}));
  EXPECT_EQ(consumed(), 5U);
  EXPECT_TRUE(has_audit("copy_taken_over", "decided by alice"));
  settings_.state.path = root_ / "state";
  ASSERT_FALSE(open());
  EXPECT_EQ(only(run()).kind, question_kind::copied_directory) << "now the original is asked";
}

TEST_F(questions, of_a_raised_reducer_are_asked_by_open_and_its_answer_holds_for_the_first_run) {
  has_handled(3);
  version_ = 2;
  const auto refused = open();
  const question asked = only(refused);
  EXPECT_EQ(refused->code, errc::state_foreign);
  EXPECT_EQ(asked.kind, question_kind::changed_meaning);
  EXPECT_EQ(asked.stream, "payments");
  EXPECT_FALSE(asked.where);
  EXPECT_THAT(asked.choices, ElementsAre(choice(resume_option::rebuild)));
  EXPECT_EQ(put_aside(), 0U) << "nobody answered";
  EXPECT_EQ(only(open(resume_option::store)).kind, question_kind::changed_meaning) << "no answer to this";
  ASSERT_FALSE(open({resume_option::rebuild, "alice", "version 2"}));
  ASSERT_FALSE(run()) << "the group's claims are of the directory that was moved away";
  EXPECT_EQ(consumed(), 3U);
  EXPECT_EQ(put_aside(), 1U);
  EXPECT_TRUE(has_audit("resume_store_lost", "decided by alice: version 2"));
  ASSERT_FALSE(run()) << "there is nothing to ask from now on";
}

TEST_F(questions, of_a_lost_directory_are_answered_by_kafka_or_by_rebuild) {
  for (const resume_option option : {resume_option::kafka, resume_option::rebuild}) {
    settings_.state.path = root_ / name_of(option);
    source_.logs.clear();
    has_handled(3);
    engine_.reset();
    fs::remove_all(settings_.state.path);
    ASSERT_FALSE(open());
    const auto refused = run();
    EXPECT_EQ(refused->code, errc::resume_refused);
    const question asked = only(refused);
    EXPECT_EQ(asked.kind, question_kind::store_lost);
    EXPECT_FALSE(asked.stored);
    EXPECT_EQ(asked.committed, 3);
    EXPECT_THAT(asked.choices,
                ElementsAre(choice(resume_option::kafka, 3, 0, 3), choice(resume_option::rebuild)));
    EXPECT_THAT(asked.hint, HasSubstr("--resume rebuild"));
    ASSERT_FALSE(run(option));
    EXPECT_EQ(consumed(), option == resume_option::kafka ? 0U : 3U);
  }
}

TEST_F(questions, are_none_where_a_table_is_added_and_a_raised_version_fills_it) {
  has_handled(3);
  settings_.streams[0].tables.push_back({"by_payment", {}});
  ASSERT_FALSE(open());
  EXPECT_FALSE(has_audit("table_added")) << "it may still be refused";
  ASSERT_FALSE(run());
  EXPECT_TRUE(has_audit("table_added"));
  EXPECT_FALSE(engine_->read(table_key{"by_payment", "a0"})) << "what was handled before is not in it";
  version_ = 2;
  EXPECT_EQ(only(open()).kind, question_kind::changed_meaning);
  ASSERT_FALSE(open(resume_option::rebuild));
  ASSERT_FALSE(run());
  EXPECT_TRUE(engine_->read(table_key{"by_payment", "a0"}));
}

TEST_F(questions, whose_start_is_refused_let_the_old_config_start_again) {
  has_handled(3);
  source_.logs[k_p0].committed = 2;
  source_.logs[k_p0].metadata = to_metadata({"22222222-2222-4222-8222-222222222222", {1, 1}, 1});
  settings_.streams[0].tables.push_back({"by_payment", {}});
  ASSERT_FALSE(open());
  const std::uint64_t step = engine_->state().last_step();
  ASSERT_TRUE(run());
  EXPECT_EQ(engine_->state().last_step(), step);
  settings_.streams[0].tables.clear();
  ASSERT_FALSE(open()) << "nothing was taken over from a config that was refused";
}

TEST_F(questions, of_a_lost_directory_leave_none_in_its_place) {
  has_handled(3);
  engine_.reset();
  fs::rename(settings_.state.path, root_ / "backup");
  ASSERT_FALSE(open());
  EXPECT_EQ(only(run()).kind, question_kind::store_lost);
  engine_.reset();
  EXPECT_FALSE(fs::exists(settings_.state.path)) << "what is copied there must not end up inside of it";
  fs::rename(root_ / "backup", settings_.state.path);
  ASSERT_FALSE(open());
  ASSERT_FALSE(run());
  EXPECT_EQ(consumed(), 3U);
}

TEST_F(questions, answered_by_a_rebuild_that_is_refused_leave_the_directory_where_it_was) {
  has_handled(3);
  source_.others = {{"elsewhere-1", "elsewhere", "10.0.0.7"}};
  version_ = 2;
  ASSERT_FALSE(open(resume_option::rebuild));
  EXPECT_EQ(put_aside(), 1U);
  const auto refused = run();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, errc::group_taken);
  engine_.reset();
  EXPECT_EQ(put_aside(), 0U);
  version_ = 1;
  source_.others.clear();
  ASSERT_FALSE(open());
  ASSERT_FALSE(run());
  EXPECT_EQ(consumed(), 3U);
}

TEST_F(questions, of_a_topic_made_anew_leave_who_had_it_rebuilt_and_why) {
  has_handled(3);
  source_.logs[k_p0] = {};  // the group's offsets went with the topic
  produce(k_p0, 11, 12);
  ASSERT_FALSE(open());
  EXPECT_EQ(only(run()).kind, question_kind::past_log_end);
  ASSERT_FALSE(open({resume_option::rebuild, "alice", "the topic was made anew"}));
  ASSERT_FALSE(run());
  EXPECT_EQ(consumed(), 2U);
  EXPECT_TRUE(has_audit("state_rebuilt", "the topic was truncated or created again"));
  EXPECT_TRUE(has_audit("state_rebuilt", "decided by alice: the topic was made anew"));
}

TEST_F(questions, of_a_damaged_directory_are_asked_by_open) {
  has_handled(3);
  engine_.reset();
  for (const auto& e : fs::directory_iterator{settings_.state.path}) {
    if (e.path().filename().string().starts_with("MANIFEST")) fs::resize_file(e.path(), 10);
  }
  const auto refused = open();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, errc::state_damaged) << to_text(*refused);
  EXPECT_EQ(only(refused).kind, question_kind::damaged_state);
  ASSERT_FALSE(open(resume_option::rebuild));
  ASSERT_FALSE(run());
  EXPECT_EQ(consumed(), 3U);
}

TEST_F(questions, that_no_option_answers_carry_no_choice) {
  has_handled(3);
  engine_.reset();
  settings_.kafka.group = "another";
  const auto refused = open(resume_option::rebuild);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, errc::state_foreign);
  EXPECT_THAT(refused->questions, SizeIs(0)) << "another group's directory is not put aside";
  EXPECT_EQ(put_aside(), 0U);
}

TEST(resume_messages, are_the_commands) {
  for (const char* word : {"store", "kafka", "rebuild", "takeover", "none"}) {
    ASSERT_TRUE(resume_option_of(word));
    EXPECT_STREQ(name_of(*resume_option_of(word)), word);
  }
  EXPECT_FALSE(resume_option_of("restore"));
  EXPECT_FALSE(resume_option_of(""));
  EXPECT_STREQ(name_of(question_kind::below_log_start), "below_log_start");
}

}  // namespace
}  // namespace ratchet::testing
