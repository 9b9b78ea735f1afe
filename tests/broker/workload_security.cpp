// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The main job on brokers that want TLS and a login and grant rights: that it works, what is said where it
// may not, and what becomes of rights that are taken away.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <librdkafka/rdkafka.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "broker/secure_broker.hpp"
#include "broker/workload_main_job.hpp"

namespace ratchet::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A port that takes connections and never says a word.
class mute_port {
 public:
  mute_port() : fd_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    auto* address = reinterpret_cast<sockaddr*>(&where);
    if (bind(fd_, address, size) != 0 || listen(fd_, 8) != 0 || getsockname(fd_, address, &size) != 0) {
      throw std::runtime_error{"no port"};
    }
    port_ = ntohs(where.sin_port);
  }
  ~mute_port() { close(fd_); }
  mute_port(const mute_port&) = delete;
  mute_port& operator=(const mute_port&) = delete;
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_;
  int port_{0};
};

class on_secure_brokers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { broker_ = new secure_broker; }
  static void TearDownTestSuite() { delete std::exchange(broker_, nullptr); }

  on_secure_brokers() {
    secret_ = (job_.directory() / "password").string();
    write_secret(secret_, secure_broker::k_password);
  }

  static void write_secret(const std::string& path, const std::string& text) {
    std::ofstream{path} << text << "\n";
    chmod(path.c_str(), 0600);
  }
  static std::vector<std::string> set(const std::string& brokers, const std::string& properties) {
    return {"--set", "kafka.brokers=['" + brokers + "']", "--set",
            "kafka.properties={session.timeout.ms: 2000, heartbeat.interval.ms: 300" +
                (properties.empty() ? "" : ", " + properties) + "}"};
  }
  [[nodiscard]] std::string tls() const {
    return "ssl.ca.location: " + broker_->certificates().path("ca.pem");
  }
  [[nodiscard]] std::string login(const std::string& protocol) const {
    return "security.protocol: " + protocol +
           ", sasl.mechanisms: PLAIN, sasl.username: " + secure_broker::k_user + ", sasl.password: {file: '" +
           secret_ + "'}";
  }
  [[nodiscard]] std::vector<std::string> safe() const {
    return set(broker_->address("SAFE"), login("sasl_ssl") + ", " + tls());
  }
  [[nodiscard]] std::vector<std::string> logged_in() const {
    return set(broker_->address("LOGIN"), login("sasl_plaintext"));
  }
  [[nodiscard]] acl_rule on_topic(acl_rule::may operation = acl_rule::may::read) const {
    return {acl_rule::on::topic, job_.target().topic, std::string{"User:"} + secure_broker::k_user,
            operation};
  }
  [[nodiscard]] acl_rule on_group(acl_rule::may operation = acl_rule::may::read) const {
    return {acl_rule::on::group, job_.group(), std::string{"User:"} + secure_broker::k_user, operation};
  }
  static void allow(const acl_rule& rule) {
    if (const auto done = grant(broker_->plain(), rule); !done) throw std::system_error{done.error()};
  }
  static void forbid(const acl_rule& rule) {
    if (const auto done = revoke(broker_->plain(), rule); !done) throw std::system_error{done.error()};
  }
  static std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] std::string not_ready() { return job_.status().get<std::string>("ready_reason", ""); }

  static inline secure_broker* broker_{nullptr};
  main_job job_{broker_->plain()};
  std::string secret_;
};

TEST_F(on_secure_brokers, with_tls_and_a_login_the_state_is_right_and_the_password_is_nowhere) {
  allow(on_topic());
  allow(on_group());
  payment_feed feed{job_.target(), main_job::dials(5'000, 41)};
  feed.send();
  std::string shown;
  const auto ran =
      job_.run_until_end(with(safe(), {"--log-level", "debug", "-X", "debug=security,broker,conf"}));
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(job_.fault(feed.oracle()), "");
  EXPECT_EQ(job_.commit_fault(), "");
  shown += ran.output;
  EXPECT_THAT(ran.output, HasSubstr("sasl.password = [redacted]"))
      << "the lines that could hold it are there";
  for (const std::string command : {"validate", "status"}) shown += job_.run(with({command}, safe())).output;
  for (const std::string command : {"validate", "status"}) {
    shown += job_.run(with({command, "--output", "json"}, safe())).output;
  }
  EXPECT_THAT(shown, Not(HasSubstr(secure_broker::k_password)));
}

TEST_F(on_secure_brokers, what_they_refuse_is_said_with_what_to_do) {
  const std::string topic = job_.target().topic;
  const mute_port mute;
  const std::string bad = (job_.directory() / "bad-password").string();
  write_secret(bad, "wrong-4712");
  struct refused {
    const char* name;
    std::vector<std::string> settings;
    int code;
    std::vector<std::string> said;
  };
  const std::string wrong_host = "localhost" + broker_->address("TLS").substr(9);
  std::string wrong_login = login("sasl_plaintext");
  wrong_login.replace(wrong_login.find(secret_), secret_.size(), bad);
  const std::string closes = "a port with TLS or a login closes the connections";
  // librdkafka 2.0 takes a handshake that is broken off for a refusal, 2.12 for trouble of the network; and
  // only 2.0 guesses at what a closed connection means.
  const bool newer = rd_kafka_version() >= 0x020c0000;
  const auto guess = [&](const std::string& of_the_older) { return newer ? closes : of_the_older; };
  const refused cases[] = {
      {"wrong password",
       set(broker_->address("LOGIN"), wrong_login),
       78,
       {"refuse the login of user `alice` (SASL PLAIN)", "Invalid username or password", "`sasl.password`"}},
      {"unknown mechanism",
       with(logged_in(), {"-X", "sasl.mechanisms=SCRAM-SHA-256"}),
       78,
       {"refuse the login of user `alice` (SASL SCRAM-SHA-256)", "broker's supported mechanisms: PLAIN"}},
      {"wrong CA",
       set(broker_->address("TLS"),
           "security.protocol: ssl, ssl.ca.location: " + broker_->certificates().path("other-ca.pem")),
       78,
       {"no TLS connection to 127.0.0.1:", "certificate verify failed",
        "either `ssl.ca.location` does not name"}},
      {"wrong host name",
       set(wrong_host, "security.protocol: ssl, " + tls()),
       78,
       {"no TLS connection to localhost:", "certificate verify failed", "or `kafka.brokers` names hosts"}},
      {"TLS to a plain port", set(broker_->plain(), "security.protocol: ssl, " + tls()), newer ? 69 : 78,
       newer ? std::vector<std::string>{"answered within 4s", "connecting to a PLAINTEXT broker listener?"}
             : std::vector<std::string>{"no TLS connection to ", "the port seems to have no TLS"}},
      {"plain text to a TLS port",
       set(broker_->address("TLS"), ""),
       69,
       {"answered within 4s",
        guess("incorrect security.protocol configuration (connecting to a SSL listener?)"),
        "`security.protocol`", closes}},
      {"no login where one is wanted",
       set(broker_->address("LOGIN"), ""),
       69,
       {"answered within 4s", guess("broker might require SASL authentication"), closes}},
      {"nobody listens",
       set("127.0.0.1:1", ""),
       69,
       {"no broker of 127.0.0.1:1 answered", "Connection refused"}},
      {"no such host",
       set("no-such-host.invalid:9092", ""),
       69,
       {"Failed to resolve 'no-such-host.invalid:9092'"}},
      {"nobody answers",
       set(mute.address(), ""),
       69,
       {"no broker of " + mute.address() + " answered within 4s"}},
      {"a topic that is not there",
       with(set(broker_->plain(), ""), {"--set", "streams[0].topics=[" + topic + ", no-such-topic]"}),
       78,
       {"the topic `no-such-topic` does not exist", "--create --topic no-such-topic"}},
      {"a forbidden topic",
       logged_in(),
       78,
       {"user `alice` may not read the topic `" + topic + "`", "kafka-acls.sh --bootstrap-server",
        "--allow-principal User:alice --operation Read --topic " + topic}},
  };
  std::vector<workload_process> running;
  int number = 0;
  for (const refused& c : cases) {  // side by side: most of the time is waiting
    const std::string n = std::to_string(number++);
    running.push_back(job_.start(with({"run", "--until-end", "--set", "kafka.connect_timeout=4s", "--set",
                                       "state.path=" + (job_.directory() / ("state" + n)).string()},
                                      c.settings),
                                 job_.directory() / ("out" + n)));
  }
  number = 0;
  for (const refused& c : cases) {
    const auto code = running[static_cast<std::size_t>(number)].wait(k_patience);
    const std::string output = read_whole(job_.directory() / ("out" + std::to_string(number++)));
    EXPECT_EQ(code, c.code) << c.name << ": " << output;
    for (const std::string& said : c.said) EXPECT_THAT(output, HasSubstr(said)) << c.name;
    EXPECT_THAT(output, Not(HasSubstr("wrong-4712"))) << c.name;
  }
}

TEST_F(on_secure_brokers, a_group_or_a_topic_that_may_not_be_read_ends_the_start_and_claims_nothing) {
  const std::string acl = "--allow-principal User:alice --operation Read ";
  allow(on_topic(acl_rule::may::describe));
  const auto no_group = job_.run_until_end(logged_in());
  EXPECT_EQ(no_group.code, 78);
  EXPECT_THAT(no_group.output,
              AllOf(HasSubstr("user `alice` may not use the consumer group `" + job_.group() + "`"),
                    HasSubstr(acl + "--group " + job_.group())));
  allow(on_group(acl_rule::may::describe));
  const auto not_joined = job_.run_until_end(logged_in());
  EXPECT_EQ(not_joined.code, 78);
  EXPECT_THAT(not_joined.output, HasSubstr("may not use the consumer group `" + job_.group() + "`"));
  allow(on_group());
  const auto not_read = job_.run_until_end(logged_in());
  EXPECT_EQ(not_read.code, 78);
  EXPECT_THAT(not_read.output,
              AllOf(HasSubstr("user `alice` may not read the topic `" + job_.target().topic + "`"),
                    HasSubstr(acl + "--topic " + job_.target().topic)));
  for (const committed_offset& c : job_.committed()) EXPECT_EQ(c.offset, std::nullopt);
  allow(on_topic());
  EXPECT_EQ(job_.run_until_end(logged_in()).code, 0) << "the refused starts left nothing in the way";
}

TEST_F(on_secure_brokers, rights_that_are_taken_away_stop_it_until_they_are_back_and_nothing_is_lost) {
  allow(on_topic());
  allow(on_group());
  payment_feed feed{job_.target(), main_job::dials(3'000, 42)};
  feed.send(1'000);
  auto daemon = job_.start(with({"run"}, logged_in()), job_.log());
  ASSERT_TRUE(job_.comes_to(1'000)) << read_whole(job_.log());
  std::uint64_t sent = 1'000;
  for (const acl_rule& right : {on_topic(), on_group()}) {
    forbid(right);
    feed.send(1'000);
    sent += 1'000;
    ASSERT_TRUE(eventually([&] { return not_ready().find("user `alice` may not") != std::string::npos; }))
        << read_whole(job_.log());
    EXPECT_EQ(daemon.ended(), std::nullopt) << "who has claimed never leaves by itself";
    allow(right);
    ASSERT_TRUE(job_.comes_to(sent)) << read_whole(job_.log());
    ASSERT_TRUE(eventually([&] { return job_.status().get<bool>("ready", false); })) << not_ready();
  }
  const std::string log = read_whole(job_.log());
  EXPECT_THAT(log, HasSubstr("--operation Read --topic " + job_.target().topic));
  EXPECT_LT(occurrences(log, "\n"), 80U) << "no line is said again and again: " << log;
  ASSERT_TRUE(daemon.signal(SIGTERM));
  EXPECT_EQ(daemon.wait(k_patience), 0) << log;
  EXPECT_EQ(job_.fault(feed.oracle()), "");
  EXPECT_EQ(job_.commit_fault(), "");
}

}  // namespace
}  // namespace ratchet::testing
