// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "control/server.hpp"
#include "decode/event_id_text.hpp"
#include "support/store_support.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using cli_testing::ended;
using store_support::must;

/// The real command on a real directory: closed, or served on its control socket by this process.
class read_commands : public store_support::fixture {
 protected:
  read_commands() { fill(); }

  void fill() const {
    const auto made = open();
    const stream_id id = made->id_of("payments");
    write(*made, id, {{"p2", seq(2), "{\n \"paid\": 2}", false}, {"p1", seq(1, 5), "raw\xFF", false}});
    write(*made, id, {{"p3", seq(3), "", true}}, [](step_batch& batch, stream_change&) {
      rejected_row row;
      row.where = {"payment-status", partition_id{0}};
      row.offset = 1;
      row.step = batch.step;
      row.reason = reject_reason::conflict;
      row.detail = "p2";
      row.value = "{\"paid\": 9}";
      batch.parts[0].rejected.push_back(row);
      batch.audits.push_back(
          {batch.step, timestamp{}, "offsets_skipped", "payments", "payment-status/0 [5, 9)"});
    });
    must(made->sync());
  }
  std::string state() const { return path().string(); }
  std::filesystem::path scratch(const char* name) const { return path().parent_path() / name; }

  ended ratchet(std::vector<std::string> arguments, int out_fd = -1) const {
    return cli_testing::run_ratchet(path().parent_path(), std::move(arguments), out_fd);
  }
};

std::string one_line_of_p2() {
  return R"("time":null,"snapshot":{  "paid": 2}})";
}

TEST_F(read_commands, get_prints_the_very_bytes_of_a_snapshot) {
  const ended got = ratchet({"get", "--state", state(), "payments", "p2"});
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(got.out, "{\n \"paid\": 2}");
  EXPECT_EQ(got.err, "");
  EXPECT_EQ(ratchet({"get", "--state", state(), "payments", "p1"}).out, "raw\xFF");
}

TEST_F(read_commands, get_as_json_has_the_sequence_and_the_snapshot) {
  const ended got = ratchet({"get", "--output", "json", "--state", state(), "payments", "p1"});
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_TRUE(got.out.starts_with(R"({"aggregate":"p1","sequence":[1,5],"event_id":")")) << got.out;
  EXPECT_NE(got.out.find(R"("snapshot_base64":"cmF3/w=="})"), std::string::npos) << got.out;
}

TEST_F(read_commands, get_ends_with_1_and_a_word_on_standard_error_where_there_is_no_snapshot) {
  for (const char* aggregate : {"p9", "p3"}) {
    const ended got = ratchet({"get", "--state", state(), "payments", aggregate});
    EXPECT_EQ(got.status, 1);
    EXPECT_EQ(got.out, "");
    EXPECT_NE(got.err.find(aggregate), std::string::npos) << got.err;
  }
}

TEST_F(read_commands, an_unknown_stream_is_a_usage_error_that_names_the_others) {
  const ended got = ratchet({"scan", "--state", state(), "payment"});
  EXPECT_EQ(got.status, 64);
  EXPECT_NE(got.err.find("there are: payments"), std::string::npos) << got.err;
}

TEST_F(read_commands, scan_prints_those_that_begin_so_and_at_most_so_many) {
  const ended all = ratchet({"scan", "--state", state(), "payments"});
  const std::string first = all.out.substr(0, all.out.find('\n') + 1);
  EXPECT_EQ(ratchet({"scan", "--state", state(), "payments", "--limit", "1"}).out, first);
  for (const char* limit : {"0", "-1", "1.5", "x", "9223372036854775808"}) {
    const ended refused = ratchet({"scan", "--state", state(), "payments", "--limit", limit});
    EXPECT_EQ(refused.status, 64) << limit;
    EXPECT_NE(refused.err.find("a whole number, 1 at least"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(ratchet({"scan", "--state", state(), "payments", "--prefix", "no such"}).out, "");
  const std::size_t at = first.find(R"("aggregate":")") + 13;
  const std::string id = first.substr(at, first.find('"', at) - at);
  const ended begun = ratchet({"scan", "--state", state(), "payments", "--prefix", id});
  EXPECT_EQ(begun.out.substr(0, first.size()), first) << begun.err;
}

TEST_F(read_commands, scan_prints_a_line_an_aggregate_in_byte_order) {
  const ended got = ratchet({"scan", "--state", state(), "payments"});
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(std::count(got.out.begin(), got.out.end(), '\n'), 2) << got.out;
  EXPECT_LT(got.out.find("\"p1\""), got.out.find("\"p2\""));
  EXPECT_NE(got.out.find(one_line_of_p2()), std::string::npos) << got.out;
  const ended all = ratchet({"scan", "--state", state(), "payments", "--deleted"});
  EXPECT_NE(all.out.find(R"("aggregate":"p3","sequence":3)"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find(R"("deleted":true)"), std::string::npos) << all.out;
}

TEST_F(read_commands, answer_the_same_from_a_running_instance_as_from_its_directory) {
  std::vector<ended> from_directory;
  const std::vector<std::vector<std::string>> commands{
      {"get", "--state", state(), "payments", "p2"},
      {"get", "--state", state(), "payments", "p9"},
      {"get", "--output", "json", "--state", state(), "payments", "p2"},
      {"scan", "--state", state(), "payments", "--deleted"},
      {"scan", "--state", state(), "nothing"}};
  for (const auto& command : commands) from_directory.push_back(ratchet(command));
  const auto running = open();
  const instance_status status{timestamp{}};
  const auto server = must(control_server::start(path(), *running, {"payments"}, status));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const ended got = ratchet(commands[i]);
    EXPECT_EQ(got.status, from_directory[i].status);
    EXPECT_EQ(got.out, from_directory[i].out);
    EXPECT_EQ(got.err, from_directory[i].err);
  }
}

TEST_F(read_commands, see_what_a_running_instance_wrote_since) {
  const auto running = open();
  const instance_status status{timestamp{}};
  const auto server = must(control_server::start(path(), *running, {"payments"}, status));
  write(*running, running->id_of("payments"), {{"p4", seq(1), "4", false}});  // not synced
  EXPECT_EQ(ratchet({"get", "--state", state(), "payments", "p4"}).out, "4");
  EXPECT_EQ(running->durable_step(), running->last_step()) << "it was synced for the answer";
}

TEST_F(read_commands, status_prints_counters_and_positions_and_says_whether_an_instance_runs) {
  const ended stopped = ratchet({"status", "--output", "json", "--state", state()});
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_TRUE(stopped.out.starts_with(R"({"running":false,"store":")"));
  EXPECT_NE(
      stopped.out.find(
          R"("step":2,"copy":null,"outbox":{"messages":0,"bytes":0},"streams":{"payments":{"consumed":3,)"),
      std::string::npos)
      << stopped.out;
  EXPECT_NE(stopped.out.find(
                R"([{"topic":"payment-status","partition":0,"next_offset":3,"committed":null,"lag":null}])"),
            std::string::npos)
      << stopped.out;
  EXPECT_EQ(stopped.out.find("rejected_records"), std::string::npos);
  const auto running = open();
  const instance_status status{timestamp{}};
  const auto server = must(control_server::start(path(), *running, {"payments"}, status));
  EXPECT_TRUE(
      ratchet({"status", "--output", "json", "--state", state()}).out.starts_with(R"({"running":true,)"));
}

TEST_F(read_commands, status_lists_rejected_records_and_audit_rows_when_asked) {
  const ended got = ratchet({"status", "--state", state(), "--rejected", "--audit"});
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_NE(got.out.find("payment-status/0@1  conflict of p2"), std::string::npos) << got.out;
  EXPECT_NE(got.out.find("offsets_skipped  payments  payment-status/0 [5, 9)"), std::string::npos) << got.out;
  const ended none = ratchet({"status", "--state", state(), "--rejected", "0", "--output", "json"});
  EXPECT_NE(none.out.find("\"rejected_records\":[]"), std::string::npos) << none.out;
}

/// As the fixture's store is made, but for the group.
std::string config_of(const std::string& state, const std::string& group) {
  return "version: 1\n"
         "kafka: {brokers: [\"127.0.0.1:9\"], group: " +
         group +
         "}\n"
         "state: {path: " +
         state +
         "}\n"
         "streams:\n"
         "  - name: payments\n"
         "    topics: [payment-status]\n"
         "    start: earliest\n"
         "    envelope: {format: json, event_id: /id, aggregate: /a, sequence: /s}\n"
         "    order: latest\n"
         "    dedup: {ids: uuidv7, window: 24h}\n"
         "    reducer: {kind: replace}\n";
}

TEST_F(read_commands, read_the_directory_that_a_config_names) {
  const auto file = scratch("ratchet.yaml");
  std::ofstream{file} << config_of(state(), std::string{"group-1"});
  const ended got = ratchet({"get", "-c", file.string(), "payments", "p2"});
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_EQ(got.out, "{\n \"paid\": 2}");
}

/// As with a relative `state.path`, typed where another service has its state.
TEST_F(read_commands, refuse_the_directory_of_another_consumer_group) {
  const auto file = scratch("ratchet.yaml");
  std::ofstream{file} << config_of(state(), "staging");
  const std::string c = file.string();
  const std::string copy = scratch("copy").string();
  const std::vector<std::vector<std::string>> commands = {
      {"get", "-c", c, "payments", "p2"},
      {"scan", "-c", c, "payments"},
      {"status", "-c", c},
      {"explain", "-c", c, "payments", "--aggregate", "p2"},
      {"waiting", "list", "-c", c},
      {"verify", "-c", c},
      {"waiting", "discard", "-c", c, "payments", "--all"},
      {"checkpoint", "-c", c, copy}};
  for (const auto& words : commands) {
    const ended got = ratchet(words);
    EXPECT_EQ(got.status, 78) << words[0];
    EXPECT_EQ(got.out, "") << words[0];
    EXPECT_NE(got.err.find("the state directory " + state() + " belongs to the consumer group \"" +
                           std::string{"group-1"} + "\", the config has \"staging\""),
              std::string::npos)
        << words[0] << ": " << got.err;
  }
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_EQ(ratchet({"get", "--state", state(), "payments", "p2"}).status, 0) << "--state names no group";
}

TEST_F(read_commands, ask_for_a_config_or_a_directory_and_not_for_both) {
  EXPECT_EQ(ratchet({"status"}).status, 64);
  EXPECT_EQ(ratchet({"status", "-c", "x.yaml", "--state", state()}).status, 64);
  const ended missing = ratchet({"status", "--state", state() + "-none"});
  EXPECT_EQ(missing.status, 78);
  EXPECT_NE(missing.err.find("-none"), std::string::npos) << missing.err;
  EXPECT_FALSE(std::filesystem::exists(state() + "-none")) << "reading makes nothing";
}

TEST_F(read_commands, end_quietly_where_nobody_reads_their_output) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  ::close(pipe[0]);
  const ended got = ratchet({"scan", "--state", state(), "payments"}, pipe[1]);
  ::close(pipe[1]);
  EXPECT_EQ(got.status, 0);
  EXPECT_EQ(got.err, "");
}

TEST_F(read_commands, report_an_output_that_cannot_be_written) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const ended got = ratchet({"scan", "--state", state(), "payments"}, full);
  ::close(full);
  EXPECT_EQ(got.status, 74);
  EXPECT_NE(got.err.find("standard output"), std::string::npos) << got.err;
}

TEST_F(read_commands, explain_tells_of_an_aggregate_and_of_an_event_and_ends_with_1_where_nothing_is_known) {
  const ended aggregate = ratchet({"explain", "--state", state(), "payments", "--aggregate", "p2"});
  EXPECT_EQ(aggregate.status, 0) << aggregate.err;
  EXPECT_NE(aggregate.out.find("last handled    sequence 2, event "), std::string::npos) << aggregate.out;
  EXPECT_NE(aggregate.out.find("payment-status/0@1  conflict of p2"), std::string::npos) << aggregate.out;
  EXPECT_NE(aggregate.out.find("offsets_skipped"), std::string::npos) << aggregate.out;
  const std::string id = to_text(store_support::id_for("p2", 2));
  const ended event = ratchet({"explain", "--state", state(), "payments", "--event", id, "--output", "json"});
  EXPECT_EQ(event.status, 0) << event.err;
  EXPECT_NE(event.out.find(R"("window":"inside","aggregates":[{"aggregate":"p2",)"), std::string::npos)
      << event.out;
  const ended unknown =
      ratchet({"explain", "--state", state(), "payments", "--aggregate", "p9", "--output", "json"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_NE(unknown.out.find(R"("known":false)"), std::string::npos) << unknown.out;
  EXPECT_NE(unknown.err.find("the state has nothing about aggregate \"p9\""), std::string::npos)
      << unknown.err;
  const ended no_id = ratchet({"explain", "--state", state(), "payments", "--event", "p2"});
  EXPECT_EQ(no_id.status, 64);
  EXPECT_NE(no_id.err.find("is not an event id"), std::string::npos) << no_id.err;
  EXPECT_EQ(ratchet({"explain", "--state", state(), "payments"}).status, 64);
  EXPECT_EQ(ratchet({"explain", "--state", state(), "payments", "--aggregate", "p2", "--event", id}).status,
            64);
  // And the same from the instance that runs.
  const auto running = open();
  const instance_status status{timestamp{}};
  const auto server = must(control_server::start(path(), *running, {"payments"}, status));
  EXPECT_EQ(ratchet({"explain", "--state", state(), "payments", "--aggregate", "p2"}).out, aggregate.out);
  EXPECT_EQ(ratchet({"explain", "--state", state(), "payments", "--event", "p2"}).status, 64);
  EXPECT_EQ(ratchet({"explain", "--state", state(), "payments", "--aggregate", "p9", "--output", "json"}).out,
            unknown.out);
}

TEST_F(read_commands, checkpoint_of_a_stopped_directory_is_read_by_all_of_them) {
  const std::string copy = scratch("copy").string();
  const ended taken = ratchet({"checkpoint", "--state", state(), copy});
  EXPECT_EQ(taken.status, 0) << taken.err;
  EXPECT_TRUE(taken.out.starts_with(copy + " is a checkpoint of step 2, taken at 20")) << taken.out;
  EXPECT_NE(taken.out.find("    payment-status/0 up to offset 3\n"), std::string::npos) << taken.out;
  EXPECT_EQ(ratchet({"get", "--state", copy, "payments", "p2"}).out, "{\n \"paid\": 2}");
  EXPECT_EQ(ratchet({"scan", "--state", copy, "payments"}).out,
            ratchet({"scan", "--state", state(), "payments"}).out);
  EXPECT_EQ(ratchet({"verify", "--state", copy}).status, 0);
  EXPECT_EQ(ratchet({"explain", "--state", copy, "payments", "--aggregate", "p2"}).status, 0);
  const ended status = ratchet({"status", "--state", copy});
  EXPECT_NE(status.out.find("\na checkpoint of the store "), std::string::npos) << status.out;
  EXPECT_NE(status.out.find(", of its step 2, taken at "), std::string::npos) << status.out;
  const ended again = ratchet({"checkpoint", "--state", state(), copy});
  EXPECT_EQ(again.status, 64);
  EXPECT_NE(again.err.find("exists already"), std::string::npos) << again.err;
}

TEST_F(read_commands, checkpoint_that_files_are_applied_to_stays_one) {
  const auto file = scratch("ratchet.yaml");
  std::ofstream{file} << "version: 1\nstate: {path: " << scratch("applied").string()
                      << "}\nstreams:\n  - name: payments\n    envelope: {aggregate: /a, sequence: /s}\n"
                         "    order: latest\n    dedup: off\n    reducer: {kind: replace}\n";
  const auto apply = [&](const std::string& line, const std::string& to) {
    std::ofstream{scratch("events")} << line << "\n";
    const ended got =
        ratchet({"apply", "-c", file.string(), "--set", "state.path=" + to, scratch("events").string()});
    EXPECT_EQ(got.status, 0) << got.err;
  };
  apply(R"({"a":"p1","s":1})", scratch("applied").string());
  const std::string copy = scratch("copy").string();
  ASSERT_EQ(ratchet({"checkpoint", "-c", file.string(), copy}).status, 0);
  apply(R"({"a":"p1","s":2})", copy);
  apply(R"({"a":"p1","s":3})", copy);
  EXPECT_EQ(ratchet({"get", "--state", copy, "payments", "p1"}).out, R"({"a":"p1","s":3})");
  EXPECT_EQ(ratchet({"get", "-c", file.string(), "payments", "p1"}).out, R"({"a":"p1","s":1})");
  const ended status = ratchet({"status", "--state", copy, "--audit", "--output", "json"});
  EXPECT_NE(status.out.find(R"("copy":{"of":")"), std::string::npos) << status.out;
  const std::size_t opened = status.out.find("copy_opened");
  EXPECT_NE(opened, std::string::npos) << status.out;
  EXPECT_EQ(status.out.find("copy_opened", opened + 1), std::string::npos) << "it is the first opening alone";
}

TEST_F(read_commands, verify_says_that_a_directory_is_clean_and_what_it_holds) {
  const ended got = ratchet({"verify", "--state", state()});
  EXPECT_EQ(got.status, 0) << got.err << got.out;
  EXPECT_NE(got.out.find("is clean at step 2"), std::string::npos) << got.out;
  EXPECT_NE(got.out.find("stream payments: 3 records consumed, 2 aggregates, 1 deleted"), std::string::npos)
      << got.out;
  EXPECT_TRUE(ratchet({"verify", "--state", state(), "--output", "json"})
                  .out.starts_with(R"({"clean":true,"findings":[],"step":2,)"));
}

TEST_F(read_commands, verify_tells_what_to_do_while_an_instance_runs) {
  const auto running = open();
  {
    const instance_status status{timestamp{}};
    const auto server = must(control_server::start(path(), *running, {"payments"}, status));
    const ended got = ratchet({"verify", "--state", state()});
    EXPECT_EQ(got.status, 78);
    EXPECT_NE(got.err.find("stop the instance first"), std::string::npos) << got.err;
  }
  const ended locked = ratchet({"verify", "--state", state()});
  EXPECT_EQ(locked.status, 78) << "it is open, though nobody listens";
  EXPECT_NE(locked.err.find("stop the instance first"), std::string::npos) << locked.err;
}

TEST_F(read_commands, verify_ends_with_1_and_prints_its_findings) {
  bool damaged = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{path()}) {
    if (entry.path().extension() != ".log" || entry.file_size() == 0) continue;
    std::fstream file{entry.path(), std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.write("damaged!", 8);
    damaged = true;
  }
  ASSERT_TRUE(damaged);
  const ended got = ratchet({"verify", "--state", state()});
  EXPECT_EQ(got.status, 1) << got.out << got.err;
  EXPECT_NE(got.out, "");
  EXPECT_NE(got.err.find("finding"), std::string::npos) << got.err;
  const ended json = ratchet({"verify", "--state", state(), "--output", "json"});
  EXPECT_EQ(json.status, 1);
  EXPECT_TRUE(json.out.starts_with(R"({"clean":false,"findings":[")")) << json.out;
}

}  // namespace
}  // namespace ratchet
