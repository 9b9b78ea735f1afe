// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// /livez, /readyz and /metrics of the real binary on a real broker.
#include "broker/workload_main_job.hpp"
#include "kafka/record_producer.hpp"
#include "support/http_client.hpp"
#include "support/metrics_reader.hpp"

namespace ratchet::testing {
namespace {

/// A daemon that listens on a port of its own choice, and its pages.
class watched_daemon {
 public:
  explicit watched_daemon(const main_job& job)
      : log_{job.log()},
        before_{read_whole(log_).size()},
        process_{job.start({"run", "--set", "http.listen=127.0.0.1:0", "--log-format", "json"}, log_)} {
    const std::string mark = "on http://127.0.0.1:";
    const bool listens = eventually([&] {
      const std::string said = read_whole(log_).substr(before_);
      const auto at = said.find(mark);
      if (at != std::string::npos)
        port_ = static_cast<std::uint16_t>(std::atoi(said.c_str() + at + mark.size()));
      return port_ != 0;
    });
    if (!listens) throw std::runtime_error{"it does not listen: " + read_whole(log_)};
  }
  [[nodiscard]] http_result get(const std::string& path) const { return http_get(port_, path); }
  [[nodiscard]] std::map<std::string, double> metrics() const { return read_metrics(get("/metrics").body); }
  [[nodiscard]] double consumed() const {
    return metrics().at(R"(ratchet_consumed_records_total{stream="payments"})");
  }
  [[nodiscard]] bool becomes_ready() const {
    return eventually([this] { return get("/readyz").status == 200; });
  }
  workload_process& process() { return process_; }

 private:
  std::filesystem::path log_;
  std::size_t before_;
  workload_process process_;
  std::uint16_t port_{0};
};

/// Empty where every counter of /metrics is what `status` says; else the first that is not.
std::string difference(const std::map<std::string, double>& metrics, const json_tree& status) {
  const auto& payments = status.get_child("streams.payments");
  const auto compare = [&](const std::string& name, const std::string& said) -> std::string {
    if (said == "null") return name + " is not known yet\n";  // right after a start
    const auto at = metrics.find(name);
    if (at != metrics.end() && at->second == std::stod(said)) return "";
    return name + " is not " + said + "\n";
  };
  std::string all;
  for (const auto& [verdict, count] : payments.get_child("verdicts")) {
    all += compare("ratchet_records_total{stream=\"payments\",verdict=\"" + verdict + "\"}", count.data());
  }
  for (const auto& [reason, count] : payments.get_child("rejected")) {
    all += compare("ratchet_rejected_records_total{stream=\"payments\",reason=\"" + reason + "\"}",
                   count.data());
  }
  all +=
      compare("ratchet_consumed_records_total{stream=\"payments\"}", payments.get<std::string>("consumed"));
  for (const auto& [unused, p] : payments.get_child("partitions")) {
    const std::string labels = "{stream=\"payments\",topic=\"" + p.get<std::string>("topic") +
                               "\",partition=\"" + p.get<std::string>("partition") + "\"}";
    all += compare("ratchet_partition_next_offset" + labels, p.get<std::string>("next_offset"));
    all += compare("ratchet_partition_committed_offset" + labels, p.get<std::string>("committed"));
    all += compare("ratchet_partition_lag" + labels, p.get<std::string>("lag"));
    all += compare("ratchet_partition_assigned" + labels, "1");
    all += compare("ratchet_partition_stopped" + labels, p.count("stopped") == 0 ? "0" : "1");
  }
  return all;
}

/// Every line is one JSON object, and each that speaks of a place names it.
void expect_json_lines(const std::string& log) {
  std::size_t places = 0;
  std::istringstream lines{log};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text{line};
    json_tree object;
    ASSERT_NO_THROW(boost::property_tree::read_json(text, object)) << line;
    EXPECT_FALSE(object.get<std::string>("message", "").empty()) << line;
    if (object.count("offset") == 1 && object.count("partition") == 1 && object.count("topic") == 1) ++places;
  }
  EXPECT_GE(places, main_job::k_partitions) << "it says where it resumes";
}

TEST(main_job_health, counts_what_status_counts_also_over_a_restart) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(20'000, 31)};
  feed.send_in_background(15'000);
  double seen = 0;
  {
    watched_daemon daemon{job};
    ASSERT_TRUE(daemon.becomes_ready()) << read_whole(job.log());
    for (int i = 0; i < 20; ++i) {
      const double now = daemon.consumed();
      EXPECT_GE(now, seen);
      seen = now;
      EXPECT_EQ(daemon.get("/livez").status, 200);
    }
    feed.wait();
    ASSERT_TRUE(job.comes_to(15'000)) << read_whole(job.log());
    std::string last;
    EXPECT_TRUE(eventually([&] { return (last = difference(daemon.metrics(), job.status())).empty(); }))
        << last;
    const auto page = daemon.get("/metrics");
    if (has_promtool()) {
      EXPECT_EQ(promtool_findings(page.body), "");
    }
    EXPECT_EQ(page.body.find("p000"), std::string::npos) << "no aggregate is named";
    const auto metrics = daemon.metrics();
    EXPECT_GT(metrics.at("ratchet_state_free_bytes"), 0);
    EXPECT_GT(metrics.at("ratchet_step_duration_seconds_count"), 0);
    EXPECT_GE(metrics.at("ratchet_step_records_sum"), 15'000);
    ASSERT_TRUE(daemon.process().signal(SIGTERM));
    EXPECT_EQ(daemon.process().wait(k_patience), 0) << read_whole(job.log());
  }
  watched_daemon daemon{job};
  EXPECT_GE(daemon.consumed(), 15'000) << "from its first answer on, before any broker was asked";
  feed.send();
  ASSERT_TRUE(job.comes_to(20'000)) << read_whole(job.log());
  std::string last;
  EXPECT_TRUE(eventually([&] { return (last = difference(daemon.metrics(), job.status())).empty(); }))
      << last;
  daemon.process().kill();
  watched_daemon third{job};
  EXPECT_GE(third.consumed(), 20'000) << "nothing that was shown is lost in a kill";
  ASSERT_TRUE(third.process().signal(SIGTERM));
  EXPECT_EQ(third.process().wait(k_patience), 0);
  expect_json_lines(read_whole(job.log()));
}

TEST(main_job_health, is_not_ready_with_a_stopped_partition_and_says_which) {
  main_job job;
  payment_feed feed{job.target(), main_job::dials(4'000, 32)};
  feed.send();
  watched_daemon daemon{job};
  ASSERT_TRUE(job.comes_to(4'000)) << read_whole(job.log());
  ASSERT_TRUE(daemon.becomes_ready());
  auto producer = must(record_producer::make(job.target().brokers));
  for (int i = 0; i < 150; ++i) {
    const auto sent = producer->send(job.target().topic, partition_id{2}, "k", "not json\n");
    ASSERT_TRUE(sent) << sent.error().message();
  }
  ASSERT_TRUE(producer->flush(k_patience));
  ASSERT_TRUE(eventually([&] { return daemon.get("/readyz").status == 503; })) << read_whole(job.log());
  const std::string why = daemon.get("/readyz").body;
  EXPECT_NE(why.find("not ready: " + job.target().topic + "/2 at offset "), std::string::npos) << why;
  EXPECT_NE(why.find("too many records in a row are malformed"), std::string::npos) << why;
  EXPECT_EQ(daemon.get("/livez").status, 200) << "a restart would not help";
  std::string last;
  EXPECT_TRUE(eventually([&] { return (last = difference(daemon.metrics(), job.status())).empty(); }))
      << last;
  EXPECT_EQ(daemon.metrics().at("ratchet_ready"), 0);
  ASSERT_TRUE(daemon.process().signal(SIGTERM));
  EXPECT_EQ(daemon.process().wait(k_patience), 1) << read_whole(job.log());
  expect_json_lines(read_whole(job.log()));
}

TEST(main_job_health, answers_until_the_end_of_a_drain) {
  if (std::getenv("RATCHET_TEST_BROKERS") != nullptr) {
    GTEST_SKIP() << "RATCHET_TEST_BROKERS names a cluster that is not ours to hold up";
  }
  local_broker broker;
  main_job job{broker.bootstrap()};
  payment_feed feed{job.target(), main_job::dials(4'000, 33)};
  feed.send();
  watched_daemon daemon{job};
  ASSERT_TRUE(job.comes_to(4'000)) << read_whole(job.log());
  ASSERT_TRUE(daemon.becomes_ready());
  broker.pause();  // so that leaving the group takes its time
  ASSERT_TRUE(daemon.process().signal(SIGTERM));
  EXPECT_TRUE(eventually([&] { return daemon.get("/readyz").body == "not ready: stopping\n"; }));
  EXPECT_EQ(daemon.get("/livez").status, 200);
  EXPECT_EQ(daemon.metrics().at("ratchet_ready"), 0);
  EXPECT_EQ(daemon.process().ended(), std::nullopt) << "it was asked while it was stopping";
  broker.resume();
  EXPECT_EQ(daemon.process().wait(k_patience), 0) << read_whole(job.log());
  EXPECT_EQ(daemon.get("/livez").status, 0) << "nobody listens any more";
}

}  // namespace
}  // namespace ratchet::testing
