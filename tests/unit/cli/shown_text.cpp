// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Whatever text producers, partners and callers choose: no command, log or page of the real program steers a
// terminal with it, or has a line more than it would have with any other.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/utf8.hpp"
#include "decode/json_grammar.hpp"
#include "kafka/embedded_broker.hpp"
#include "kafka/record_producer.hpp"
#include "support/harmful_text.hpp"
#include "support/http_client.hpp"
#include "support/temporary_directory.hpp"
#include "text/json_writer.hpp"
#include "unit/cli/command.hpp"
#include "workload/workload_process.hpp"

namespace ratchet {
namespace {

using namespace std::chrono_literals;
using cli_testing::ended;
using cli_testing::run_ratchet;
using testing::http_get;
using testing::random_text;
using testing::what_harms;

/// Answers whatever it is asked with a refusal whose body is this text.
class refusing_partner {
 public:
  explicit refusing_partner(const std::string& body)
      : answer_{"HTTP/1.1 400 no\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body} {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);  // NOLINT: the sockets API
    if (::bind(listener_, address, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, address, &size) != 0) {
      throw std::runtime_error{"no port to listen on"};
    }
    port = ntohs(at.sin_port);
    thread_ = std::thread{[this] { answer(); }};
  }
  ~refusing_partner() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  refusing_partner(const refusing_partner&) = delete;
  refusing_partner& operator=(const refusing_partner&) = delete;
  std::uint16_t port{0};

 private:
  void answer() const {
    for (int fd = -1; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ::close(fd)) {
      std::array<char, 65'536> request{};
      (void)::recv(fd, request.data(), request.size(), 0);
      (void)::send(fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      ::shutdown(fd, SHUT_WR);
      while (::recv(fd, request.data(), request.size(), 0) > 0) {
      }
    }
  }

  std::string answer_;
  int listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::thread thread_;
};

/// As JSON has to have it: what is no UTF-8 is left out of what an event says.
std::string quoted(const std::string& text) {
  std::string out;
  append_json_string(out, is_utf8(text) ? text : "a\xE2\x80\xAE" + std::to_string(text.size()));
  return out;
}

/// One text in every place that somebody else fills, and each command run with it.
class foreign_text {
 public:
  explicit foreign_text(std::string text) : text_{std::move(text)}, partner_{text_} {
    write_config("");
    std::ofstream{dir_ / "events", std::ios::binary} << events() << "\"" << text_ << "\n" << text_ << "\n";
    std::ofstream{dir_ / "told", std::ios::binary} << told();
  }
  foreign_text(const foreign_text&) = delete;
  foreign_text& operator=(const foreign_text&) = delete;

  struct output {
    std::string name;
    int status{0};
    std::string text;
    bool has_fields{false};  ///< with tabs between them
  };

  /// Without a running instance. The bytes of a snapshot alone are printed as they are.
  [[nodiscard]] std::vector<output> of_commands() const {
    std::vector<output> all;
    const auto add = [&](std::vector<std::string> words) {
      const bool takes_config = words[0] != "apply" && words[0] != "bench" && words[1] != "--state";
      if (takes_config) words.insert(words.end(), {"-c", config()});
      const ended text = run_ratchet(dir_, words);
      const bool is_table = words.back() == "--explain";
      const bool is_raw = words[0] == "get" && text.status == 0;
      all.push_back({words[0] + " " + words[1] + " as text", text.status,
                     is_raw ? text.err : text.out + text.err, is_table});
      words.insert(words.end(), {"--output", "json"});
      const ended json = run_ratchet(dir_, words);
      for (std::istringstream in{json.out}; !in.eof();) {
        std::string line;
        std::getline(in, line);
        if (line.empty()) continue;
        EXPECT_EQ(json::check_json(line).reason, malformed_reason::none) << line;
      }
      all.push_back({words[0] + " " + words[1] + " as json", json.status, json.out + json.err});
    };
    const std::string file = (dir_ / "events").string();
    add({"apply", "-c", config(), "-S", "payments", file, "--log-level", "debug"});
    add({"apply", "-c", config(), "-S", "payments", file, "--explain"});
    add({"apply", "-c", config(), "-S", "told", (dir_ / "told").string(), "--log-format", "json"});
    add({"status", "--rejected", "--audit"});
    add({"scan", "payments"});
    add({"waiting", "list"});
    add({"waiting", "list", "--state-is", "rejected"});
    if (id_.find('\0') == std::string::npos) {
      add({"get", "payments", id_});
      add({"get", "payments", id_ + "none"});
      add({"get", id_, id_});
      add({"explain", "payments", "--aggregate", id_});
      add({"explain", "payments", "--aggregate", id_ + "none"});
      add({"explain", "payments", "--event", id_ + "1"});
      add({"explain", "told", "--event", id_, "--source", id_});
      add({"waiting", "show", "payments", id_, "2"});
      add({"waiting", "show", "payments", id_, id_});
      add({"waiting", "list", "--state-is", id_});
      add({"waiting", "replay", "payments", "--aggregate", id_});
      add({"waiting", "skip", "payments", "--aggregate", id_ + "c", "--yes"});
      add({"waiting", "discard", "payments", "--aggregate", id_, "--yes"});
      add({"validate", "--set", "kafka.group=" + id_});
      add({"validate", "-X", "no.such.property=" + id_});
      add({"status", id_});
      add({id_, id_});
      add({"checkpoint", (dir_ / "none" / ("x" + std::to_string(id_.size()))).string()});
      add({"verify", "--state", (dir_ / id_).string()});
      for (const char* option : {"--events", "--order", "--only", "--runs", "--size"})
        add({"bench", option, id_});
    }
    add({"verify", "--set", "memory_limit=1GiB"});
    spoil_copy();
    add({"verify", "--state", (dir_ / "spoilt").string()});
    add({"status", "--audit"});
    write_config(quoted(id_) + ": 1\n");
    add({"validate", "--set", "memory_limit=1GiB"});
    write_config("");
    return all;
  }

  /// A running instance that stops at an event, and whose partner refuses a message: its log, its pages, and
  /// what is asked of it.
  [[nodiscard]] std::vector<output> of_instance(const std::string& log_format) const {
    auto broker = embedded_broker::start();
    EXPECT_TRUE(broker && broker.value()->create_topic("t", 1) && broker.value()->create_topic("u", 1));
    write_config("", broker.value()->bootstrap());
    produce(broker.value()->bootstrap());
    const auto log = dir_ / ("log-" + log_format);
    auto started =
        workload_process::start({RATCHET_BINARY, "run", "-c", config(), "--set", "http.listen=127.0.0.1:0",
                                 "--log-format", log_format, "--log-level", "debug"},
                                {"NO_COLOR=1"}, log);
    EXPECT_TRUE(started);
    const auto has = [&](const std::string& part) {
      return cli_testing::content_of(log).find(part) != std::string::npos;
    };
    std::vector<output> all;
    EXPECT_TRUE(eventually([&] { return has("stopped before this event") && has("400"); })) << tail_of(log);
    const std::string said = cli_testing::content_of(log);
    const std::string before = "on http://127.0.0.1:";
    const auto port = static_cast<std::uint16_t>(std::atoi(said.c_str() + said.find(before) + before.size()));
    for (const char* page : {"/readyz", "/livez", "/metrics"})
      all.push_back({page, 0, http_get(port, page).body});
    EXPECT_EQ(http_get(port, "/readyz").status, 503);
    for (const std::string form : {"text", "json"}) {
      for (const std::vector<std::string>& words : {std::vector<std::string>{"sinks", "list"},
                                                    {"status", "--audit", "--rejected"},
                                                    {"waiting", "list"}}) {
        std::vector<std::string> command = words;
        command.insert(command.end(), {"-c", config(), "--output", form});
        const ended got = run_ratchet(dir_, command);
        all.push_back({words[0] + " of an instance as " + form, got.status, got.out + got.err});
      }
    }
    if (id_.find('\0') == std::string::npos) {
      const ended got = run_ratchet(dir_, {"bench", "--only", "fill", "--brokers",
                                           broker.value()->bootstrap(), "--topic", id_, "--events", "10"});
      EXPECT_NE(got.status, 0) << "it is no topic's name";
      all.push_back({"bench with brokers", got.status, got.out + got.err});
    }
    (void)started.value().signal(SIGTERM);
    EXPECT_TRUE(started.value().wait(60s));
    all.push_back({"log as " + log_format, 0, cli_testing::content_of(log)});
    return all;
  }

 private:
  [[nodiscard]] std::string config() const { return (dir_ / "r.yaml").string(); }

  /// A state whose files hold the text where the database looks for names of its own.
  void spoil_copy() const {
    std::filesystem::copy(dir_ / "state", dir_ / "spoilt", std::filesystem::copy_options::recursive);
    std::ofstream{dir_ / "spoilt" / "CURRENT", std::ios::binary} << "MANIFEST-" << text_ << "\n";
    std::ofstream{dir_ / "spoilt" / "SYNCED", std::ios::binary} << text_;
  }

  void write_config(const std::string& more, const std::string& brokers = "") const {
    const bool live = !brokers.empty();
    std::ofstream{dir_ / "r.yaml", std::ios::binary}
        << "version: 1\nstate: {path: " << (dir_ / (live ? "live" : "state")).string() << "}\n"
        << (live ? "kafka: {brokers: ['" + brokers + "'], group: g}\n" : "")
        << "sinks: [{name: partner, http: {url: 'http://127.0.0.1:" << partner_.port << "/'}}]\n"
        << "streams:\n  - name: payments\n    order: strict\n    dedup: {ids: opaque}\n"
        << (live ? "    topics: [t]\n    start: earliest\n" : "")
        << "    envelope: {event_id: /id, aggregate: /a, sequence: /s, type: /type}\n"
           "    reducer: {kind: flaky, fail: [{contains: dies, how: give_up}, {contains: stops, how: "
           "stop}]}\n"
           "  - name: told\n    order: arrival\n    dedup: {ids: opaque}\n"
        << (live ? "    topics: [u]\n    start: earliest\n" : "")
        << "    envelope: {format: cloudevents}\n    emit: {sink: partner}\n"
        << more;
  }
  [[nodiscard]] std::string event(const char* id, const char* of, int number, const char* more = "") const {
    std::string line =
        "{\"id\":" + quoted(id_ + id) + ",\"a\":" + quoted(id_ + of) + ",\"type\":" + quoted(id_);
    return line + ",\"s\":" + std::to_string(number) + ",\"text\":" + quoted(id_) + more + "}\n";
  }
  /// Applied, dead, too early, in conflict; a type that is none.
  [[nodiscard]] std::string events() const {
    return event("1", "", 1) + event("2", "", 2, ",\"x\":\"dies\"") + event("4", "", 4) + event("5", "b", 1) +
           event("6", "b", 1, ",\"x\":2") + event("7", "c", 3) + "{\"a\":" + quoted(id_) + "}\n";
  }
  [[nodiscard]] std::string told() const {
    const std::string q = quoted(id_);
    return "{\"specversion\":\"1.0\",\"id\":" + q + ",\"source\":" + q + ",\"subject\":" + q +
           ",\"type\":" + q + ",\"data\":{\"k\":" + q + "}}\n";
  }
  void produce(const std::string& brokers) const {
    auto producer = record_producer::make(brokers, {});
    ASSERT_TRUE(producer);
    const auto send = [&](const char* topic, const std::string& lines) {
      std::istringstream in{lines};
      for (std::string line; std::getline(in, line);)
        EXPECT_TRUE(producer.value()->send(topic, partition_id{0}, text_, line));
    };
    send("t", events() + "\"" + text_);
    send("u", told());
    send("t", event("8", "d", 1, ",\"x\":\"stops\""));
    EXPECT_TRUE(producer.value()->flush(60s));
  }
  [[nodiscard]] static bool eventually(const std::function<bool()>& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!is_done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }

  std::string text_;
  std::string id_{is_utf8(text_) ? text_
                                 : "a\xE2\x80\xAE\x1b[2J\nFORGED LINE" + std::to_string(text_.size())};
  refusing_partner partner_;
  support::temporary_directory files_;
  const std::filesystem::path& dir_{files_.path()};
};

constexpr const char* k_forged = "FORGED LINE";

void expect_harmless(const std::vector<foreign_text::output>& all) {
  for (const foreign_text::output& o : all) {
    std::string text = o.text;
    if (o.has_fields) std::erase(text, '\t');
    EXPECT_EQ(what_harms(text), "") << o.name << " (" << o.status << "): " << text;
    EXPECT_EQ(("\n" + text).find(std::string{"\n"} + k_forged), std::string::npos) << o.name << ": " << text;
  }
}

/// Fresh texts each time; the seed is printed.
class text_from_outside : public ::testing::Test {
 protected:
  text_from_outside() { RecordProperty("seed", static_cast<int>(seed_)); }
  [[nodiscard]] std::string next() { return random_text(random_) + "\n" + k_forged; }

 private:
  unsigned seed_{std::random_device{}()};
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937 random_{seed_};
};

TEST_F(text_from_outside, harms_nobody_who_runs_a_command) {
  expect_harmless(foreign_text{next()}.of_commands());
}

TEST_F(text_from_outside, harms_nobody_who_looks_at_an_instance_or_its_log) {
  for (const char* format : {"text", "json"}) {
    const auto all = foreign_text{next()}.of_instance(format);
    expect_harmless(all);
    if (format != std::string{"json"}) continue;
    std::istringstream log{all.back().text};
    for (std::string line; std::getline(log, line);)
      EXPECT_EQ(json::check_json(line).reason, malformed_reason::none) << line;
  }
}

}  // namespace
}  // namespace ratchet
