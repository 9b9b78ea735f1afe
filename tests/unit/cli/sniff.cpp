// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// `ratchet sniff`, run to its end: on files, on a topic of an embedded broker, and with a config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kafka/embedded_broker.hpp"
#include "kafka/record_producer.hpp"
#include "support/temporary_directory.hpp"
#include "unit/cli/command.hpp"

namespace ratchet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class sniffing : public ::testing::Test {
 protected:
  cli_testing::ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sniff");
    return cli_testing::run_ratchet(root_.path(), std::move(arguments));
  }
  std::string file(const std::string& name, const std::string& content) {
    std::ofstream{root_.path() / name} << content;
    return (root_.path() / name).string();
  }
  /// The exit code of `ratchet validate` with what was printed.
  int validated(const std::string& printed) {
    return cli_testing::run_ratchet(root_.path(), {"validate", "-c", file("sniffed.yaml", printed)}).status;
  }
  support::temporary_directory root_;
};

std::string payment(int i) {
  return R"({"id":"018f2b7c-1234-7abc-89ab-00000000000)" + std::to_string(i) + R"(","seq":)" +
         std::to_string(i / 3 + 1) + R"(,"payment":{"id":"p-)" + std::to_string(i % 3) + "\"}}";
}

TEST_F(sniffing, a_file_prints_a_config) {
  std::string lines;
  for (int i = 0; i < 9; ++i) lines += payment(i) + "\n";
  const auto ended = run({file("payments.ndjson", lines)});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("aggregate: /payment/id"));
  EXPECT_THAT(ended.out, HasSubstr("sequence: /seq"));
  EXPECT_THAT(ended.out, Not(HasSubstr("topics:")));
  EXPECT_EQ(validated(ended.out), 0) << ended.out;
}

TEST_F(sniffing, lines_of_kcat_are_records) {
  const std::string line =
      R"({"topic":"shop.public.t","partition":1,"offset":7,"tstype":"create","ts":1767225600000,"key":"{\"id\":1}",)"
      R"("payload":"{\"op\":\"c\",\"after\":{\"id\":1},\"source\":{\"connector\":\"postgresql\",\"lsn\":1}}"})";
  const auto ended = run({file("records", line + "\n")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("connectors: postgresql 1"));
  EXPECT_THAT(ended.out, HasSubstr("topics: [\"shop.public.t\"]"));
  EXPECT_EQ(validated(ended.out), 0) << ended.out;
}

TEST_F(sniffing, an_array_is_looked_into) {
  const auto ended = run({file("all.json", "[" + payment(0) + ", " + payment(3) + " ]\n")});
  EXPECT_THAT(ended.out, HasSubstr("2 records looked at"));
  EXPECT_THAT(ended.out, HasSubstr("jq -c '.[]'"));
  EXPECT_EQ(validated(ended.out), 0) << ended.out;
  EXPECT_THAT(run({file("none.json", "[]\n")}).status, 1);
}

TEST_F(sniffing, nothing_is_said_so) {
  EXPECT_EQ(run({file("empty", "")}).status, 1);
  const auto missing = run({"no-such-topic"});
  EXPECT_EQ(missing.status, 64);
  EXPECT_THAT(missing.err, HasSubstr("--brokers"));
  EXPECT_EQ(run({}).status, 64);
}

TEST_F(sniffing, a_config_is_judged_by_the_records) {
  const std::string config =
      file("r.yaml",
           "version: 1\nstate: {path: state}\nstreams:\n"
           "  - {name: a, dedup: off, envelope: {aggregate: /payment/id, sequence: /version}}\n");
  const std::string lines = file("payments.ndjson", payment(0) + "\n" + payment(1) + "\n");
  const auto ended = run({"-c", config, lines});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("reject 2 (100 %):"));
  EXPECT_THAT(ended.out, HasSubstr("missing_field /version, first at line 1"));
  EXPECT_EQ(run({"-c", config, "--stream", "b", lines}).status, 64);
}

TEST_F(sniffing, a_topic_reads_the_last_records_of_each_partition) {
  auto broker = embedded_broker::start().value();
  ASSERT_TRUE(broker->create_topic("payments", 2));
  auto made = record_producer::make(broker->bootstrap());
  ASSERT_TRUE(made) << to_text(made.error());
  const std::vector<header> headers{{"traceparent", "00-1"}};
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE((*made)->send("payments", partition_id{i % 2}, "p-" + std::to_string(i % 3), payment(i), {},
                              headers));
  }
  ASSERT_TRUE((*made)->flush(std::chrono::seconds{30}));
  const auto all = run({"--brokers", broker->bootstrap(), "payments"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out,
              StartsWith("# payments: 9 records looked at, of 2 partitions, payments[0]@0 to payments[1]@3"));
  EXPECT_THAT(all.out, HasSubstr("traceparent"));
  EXPECT_THAT(all.out, HasSubstr("aggregate: key"));
  EXPECT_EQ(validated(all.out), 0) << all.out;
  const auto few = run({"--brokers", broker->bootstrap(), "--records", "2", "payments"});
  EXPECT_THAT(few.out,
              StartsWith("# payments: 2 records looked at, of 2 partitions, payments[0]@4 to payments[1]@3"));
  EXPECT_EQ(run({"--brokers", broker->bootstrap(), "no-such-topic"}).status, 1);
}

/// Changes of 40 payments as the event router writes them, in an order that is not theirs, as kcat prints
/// them.
std::string late_outbox() {
  constexpr int k_payments = 40;
  constexpr int k_each = 7;
  std::vector<int> places;
  for (int i = 0; i < k_payments * k_each; ++i) places.push_back(i);
  for (std::size_t i = 0; i + 100 < places.size(); i += 3) std::swap(places[i], places[i + 90]);
  std::string lines;
  int offset = 0;
  for (const int i : places) {
    const int version = i / k_payments + 1;
    const std::string part = version % 2 == 0 ? R"(\"note\":)" : R"(\"status\":)";
    lines += R"({"topic":"outbox","partition":0,"offset":)" + std::to_string(offset++) +
             R"(,"ts":1767225600000,"headers":["id","018f2b7c-1234-7abc-89ab-)" +
             std::to_string(100'000'000'000 + i) + R"(","eventType","Changed","version",")" +
             std::to_string(version) + R"("],"key":"p-)" + std::to_string(i % k_payments) +
             R"(","payload":"{)" + part + std::to_string(version) + "}\"}\n";
  }
  return lines;
}

TEST_F(sniffing, changes_of_an_outbox_that_come_late_come_to_the_right_states) {
  const std::string lines = file("outbox.kcat", late_outbox());
  const auto sniffed = run({lines});
  EXPECT_THAT(sniffed.out, HasSubstr(" of 280 events have a lower number"));
  std::string config = sniffed.out;
  const std::string state{"path: ratchet-state"};
  config.replace(config.find(state), state.size(), "path: " + (root_.path() / "state").string());
  const std::string at = file("outbox.yaml", config);
  const auto applied = cli_testing::run_ratchet(root_.path(), {"apply", "-c", at, lines, "--records"});
  EXPECT_EQ(applied.status, 0) << applied.err;
  const auto scanned = cli_testing::run_ratchet(root_.path(), {"scan", "-c", at, "outbox"});
  std::size_t right = 0;
  for (std::size_t from = 0; (from = scanned.out.find(R"("snapshot":)", from)) != std::string::npos; ++from) {
    const std::string snapshot = scanned.out.substr(from, scanned.out.find('}', from) - from);
    if (snapshot.find(R"("note":6)") != std::string::npos &&
        snapshot.find(R"("status":7)") != std::string::npos)
      ++right;
  }
  EXPECT_EQ(right, 40U) << sniffed.out << scanned.out;
}

/// How many states are wrong of a made-up stream, by the config that is proposed for it.
std::string wrong_states(const std::filesystem::path& at, const std::vector<std::string>& dials,
                         const std::string& looked_at) {
  const auto ratchet = [&](std::vector<std::string> arguments) {
    return cli_testing::run_ratchet(at, std::move(arguments));
  };
  const std::string events = at / "events";
  const std::string oracle = at / "oracle";
  const std::string config = at / "sniffed.yaml";
  std::vector<std::string> gen{"gen", "--events", "4000", "-o", events, "--oracle", oracle};
  gen.insert(gen.end(), dials.begin(), dials.end());
  if (ratchet(gen).status != 0) return "gen failed";
  const bool of_kcat = !dials.empty() && dials.front() == "--records";
  const std::string sniffed = ratchet({"sniff", "--records", looked_at, events}).out;
  std::string absolute = sniffed;
  const std::string state{"path: ratchet-state"};
  absolute.replace(absolute.find(state), state.size(), "path: " + (at / "state").string());
  std::ofstream{config} << absolute;
  std::vector<std::string> apply{"apply", "-c", config, events};
  if (of_kcat) apply.emplace_back("--records");
  ratchet(apply);
  const std::string scanned = ratchet({"scan", "-c", config, of_kcat ? "payment-status" : "events"}).out;
  const std::string marker{"\"snapshot\":"};
  std::ifstream right{oracle};
  std::size_t all = 0;
  std::size_t wrong = 0;
  for (std::string line; std::getline(right, line); ++all) {
    const std::string aggregate = line.substr(0, line.find(marker));
    const std::string snapshot = line.substr(line.find(marker) + marker.size());
    const std::size_t begin = scanned.find(aggregate);
    const std::string found =
        begin == std::string::npos ? "" : scanned.substr(begin, scanned.find('\n', begin) - begin);
    if (found.find("\"payment\":" + snapshot) == std::string::npos) ++wrong;
  }
  return wrong == 0 && all > 10 ? "" : std::to_string(wrong) + " of " + std::to_string(all) + "\n" + sniffed;
}

TEST_F(sniffing, what_gen_makes_comes_to_the_right_states) {
  const std::vector<std::vector<std::string>> streams{
      {},
      {"--records"},
      {"--aggregates", "40"},
      {"--records", "--aggregates", "40", "--late", "0.5", "--duplicates", "0.5", "--delay", "300"},
      {"--records", "--zipf", "0", "--late", "1"},
      {"--conflicts", "0.05", "--aggregates", "40"},
      {"--withhold", "--aggregates", "100"}};
  int n = 0;
  for (const std::vector<std::string>& dials : streams) {
    for (const char* looked_at : {"300", "3000"}) {
      const std::filesystem::path at = root_.path() / std::to_string(n++);
      std::filesystem::create_directory(at);
      EXPECT_EQ(wrong_states(at, dials, looked_at), "") << "stream " << n / 2;
    }
  }
}

}  // namespace
}  // namespace ratchet
