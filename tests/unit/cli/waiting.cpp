// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// `ratchet waiting` on a real directory: closed, or served on its control socket by this process.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "control/server.hpp"
#include "core/typed_command.hpp"
#include "support/store_support.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using cli_testing::ended;
using store_support::must;

/// p1: 5 was handled, 6 is missing, 7 and 8 wait. a/b: 1 is dead.
class waiting_command : public store_support::fixture {
 protected:
  waiting_command() {
    const auto made = open_strict();
    const stream_id id = made->id_of("payments");
    backlog_change of_p1;
    of_p1.after = ratchet::backlog{};
    of_p1.after->parked = 2;
    of_p1.after->highest = seq(8);
    of_p1.after->gap_since = timestamp{std::chrono::seconds{1'700'000'000}};
    of_p1.puts = {event(7, waiting_state::parked), event(8, waiting_state::parked)};
    backlog_change of_ab;
    of_ab.aggregate = 1;
    of_ab.after = ratchet::backlog{};
    of_ab.after->dead = 1;
    of_ab.after->highest = seq(1);
    of_ab.puts = {event(1, waiting_state::dead)};
    of_ab.puts[0].error = "no such account";
    of_ab.puts[0].attempts = 8;
    write(*made, id, {{"p1", seq(5), "5", false}, {"a/b", seq(0), "", false}},
          [&](step_batch& batch, stream_change& change) {
            for (auto& row : change.rows) row.row.waits = true;
            change.rows[1].row.has_last = false;
            change.rows[1].row.id.reset();
            change.ids.pop_back();
            change.backlogs = {of_p1, of_ab};
            rejected_row late;
            late.where = {"payment-status", partition_id{0}};
            late.offset = 9;
            late.at = timestamp{std::chrono::seconds{1'700'000'000}};
            late.reason = reject_reason::late;
            late.detail = "p1";
            batch.parts[0].rejected = {late, late};
            batch.parts[0].rejected[1].offset = 10;
            change.after.counters.rejected_late = 2;
            change.after.counters.applied = 1;
            change.after.counters.waiting_parked = 2;
            change.after.counters.waiting_dead = 1;
            change.after.counters.consumed = 6;
          });
    must(made->sync());
  }
  std::unique_ptr<store> open_strict() const {
    store_options o = options();
    o.streams = {{"payments", {{"order", "strict"}, {"first", "1"}, {"epoch_change", "park"}}}};
    return must(open_store(o));
  }
  static waiting_event event(std::uint64_t number, waiting_state state) {
    waiting_event e;
    e.head.sequence = seq(number);
    e.head.state = state;
    e.first_seen = timestamp{std::chrono::seconds{1'700'000'000 + static_cast<std::int64_t>(number)}};
    e.time = e.first_seen;
    e.record.where = {"payment-status", partition_id{0}};
    e.record.offset = static_cast<std::int64_t>(number);
    e.record.value = R"({"n":)" + std::to_string(number) + "}";
    e.payload_size = e.record.value->size();
    return e;
  }
  ended ratchet(std::vector<std::string> arguments) const {
    return cli_testing::run_ratchet(path().parent_path(), std::move(arguments));
  }
  ended list(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"waiting", "list", "--state", path().string()});
    return ratchet(std::move(arguments));
  }
  static std::int64_t lines(const ended& of) { return std::count(of.out.begin(), of.out.end(), '\n'); }
};

TEST_F(waiting_command, list_prints_a_line_an_event_with_why_it_waits) {
  const ended got = list({"payments"});
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(got.out,
            "a/b/1  dead  reducer: no such account  attempts 8  since 2023-11-14T22:13:21.000Z  "
            "payment-status/0@1\n"
            "p1/7  parked  gap: 6 is missing  since 2023-11-14T22:13:27.000Z  payment-status/0@7\n"
            "p1/8  parked  behind  since 2023-11-14T22:13:28.000Z  payment-status/0@8\n");
  EXPECT_EQ(lines(list({})), 4) << "without a stream it is named";
}

TEST_F(waiting_command, list_takes_every_filter) {
  EXPECT_EQ(lines(list({"payments", "--aggregate", "p1"})), 2);
  EXPECT_EQ(lines(list({"payments", "--state-is", "dead"})), 1);
  EXPECT_EQ(lines(list({"payments", "--reason", "behind"})), 1);
  EXPECT_EQ(lines(list({"payments", "--reason", "account"})), 1);
  EXPECT_EQ(lines(list({"payments", "--older-than", "1h"})), 3);
  EXPECT_EQ(lines(list({"payments", "--older-than", "36500d"})), 0) << "a hundred years";
  EXPECT_EQ(lines(list({"payments", "--from", "2023-11-14T22:13:27Z", "--to", "2023-11-14T22:13:28Z"})), 1);
  EXPECT_EQ(lines(list({"payments", "--sequence", "8"})), 1);
  EXPECT_EQ(lines(list({"payments", "--sequence", "1:8"})), 0);
  const ended page = list({"payments", "--limit", "1"});
  EXPECT_NE(page.out.find("more wait: go on with payments --after a/b/1\n"), std::string::npos) << page.out;
  const ended next = list({"payments", "--limit", "1", "--after", "a/b/1", "--output", "json"});
  EXPECT_TRUE(next.out.starts_with(R"({"stream":"payments","aggregate":"p1","sequence":7,)")) << next.out;
  EXPECT_EQ(lines(next), 1) << "JSON holds events alone";
}

TEST_F(waiting_command, refuses_what_it_cannot_read) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"payments", "--state-is", "late"},
                                             {"payments", "--older-than", "5"},
                                             {"payments", "--from", "noon"},
                                             {"payments", "--sequence", "x"},
                                             {"payments", "--limit", "0"},
                                             {"payments", "--after", "p1"},
                                             {"--after", "p1/7"},
                                             {"payment"}}) {
    const ended got = list(bad);
    EXPECT_EQ(got.status, 64) << bad.front() << " " << bad.back() << got.out;
    EXPECT_FALSE(got.err.empty());
  }
  EXPECT_EQ(ratchet({"waiting"}).status, 64);
  EXPECT_EQ(ratchet({"waiting", "list"}).status, 64);
  EXPECT_NE(ratchet({"waiting", "list", "--banana"}).err.find("see ratchet waiting list --help"),
            std::string::npos);
}

TEST_F(waiting_command, show_prints_an_event_with_its_bytes) {
  const ended got =
      ratchet({"waiting", "show", "--state", path().string(), "payments", "a/b", "1", "--output", "json"});
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_NE(got.out.find(R"("error":"no such account","attempts":8,)"), std::string::npos) << got.out;
  EXPECT_NE(got.out.find(R"("value":"{\"n\":1}","payload":{"n":1}})"), std::string::npos) << got.out;
  const ended text = ratchet({"waiting", "show", "--state", path().string(), "payments", "a/b", "1"});
  EXPECT_NE(text.out.find(
                "payments --aggregate a/b --sequence 1 --yes`\n  -> to give it up: `ratchet waiting skip"),
            std::string::npos)
      << text.out;
  const ended none = ratchet({"waiting", "show", "--state", path().string(), "payments", "p1", "6"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("no event 6 of \"p1\" waits"), std::string::npos) << none.err;
  EXPECT_EQ(ratchet({"waiting", "show", "--state", path().string(), "payments", "p1", "six"}).status, 64);
}

TEST_F(waiting_command, status_and_explain_tell_of_it_too) {
  const ended status = ratchet({"status", "--state", path().string(), "--output", "json"});
  EXPECT_NE(status.out.find(R"("waiting":{"parked":2,"retrying":0,"dead":1})"), std::string::npos)
      << status.out;
  EXPECT_NE(status.out.find(R"("oldest_gap":{"aggregate":"p1","since":"2023-11-14T22:13:20.000Z",)"),
            std::string::npos)
      << status.out;
  EXPECT_NE(status.out.find(R"("missing":{"first":6,"last":6}})"), std::string::npos) << status.out;
  const ended story = ratchet({"explain", "--state", path().string(), "payments", "--aggregate", "a/b"});
  EXPECT_EQ(story.status, 0) << story.err;
  EXPECT_NE(story.out.find("nothing: no event was applied\n  waiting         1 event: 0 parked, 0 retrying, "
                           "1 dead\n  waiting events:\n    a/b/1  dead  reducer: no such account"),
            std::string::npos)
      << story.out;
}

TEST_F(waiting_command, answers_the_same_from_a_running_instance_as_from_its_directory) {
  const std::string state = path().string();
  const std::vector<std::vector<std::string>> commands{
      {"waiting", "list", "--state", state, "--limit", "2"},
      {"waiting", "list", "--state", state, "payments", "--after", "a/b/1", "--reason", "gap", "--output",
       "json"},
      {"waiting", "show", "--state", state, "payments", "a/b", "1"},
      {"waiting", "show", "--state", state, "payments", "a/b", "2"},
      {"waiting", "list", "--state", state, "nothing"},
      {"waiting", "list", "--state", state, "--state-is", "rejected", "--limit", "1"},
      {"waiting", "list", "--state", state, "payments", "--state-is", "rejected", "--reason", "late",
       "--output", "json"},
      {"explain", "--state", state, "payments", "--aggregate", "p1", "--output", "json"}};
  std::vector<ended> from_directory;
  EXPECT_EQ(lines(ratchet(commands[5])), 3) << "the stream, one, and how to go on";
  for (const auto& command : commands) from_directory.push_back(ratchet(command));
  const auto running = open_strict();
  const instance_status status{timestamp{}};
  const auto server = must(control_server::start(path(), *running, {"payments"}, status));
  // An instance names in commands what it was started with.
  set_command_source("--state " + shell_word(state));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const ended got = ratchet(commands[i]);
    EXPECT_EQ(got.status, from_directory[i].status);
    EXPECT_EQ(got.out, from_directory[i].out);
    EXPECT_EQ(got.err, from_directory[i].err);
  }
  set_command_source({});
}

}  // namespace
}  // namespace ratchet
