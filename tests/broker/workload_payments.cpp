// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Two services that exchange events: an HTTP server that embeds Ratchet (tests/install/payments_server) takes
// commands and publishes, and the real command consumes; both are killed at random.
//   RATCHET_PAYMENT_KILLS  how often (default 10)
//   RATCHET_CRASH_SEED     of victims and pauses (default: the clock)
#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <set>

#include "broker/topic_reader.hpp"
#include "broker/workload_matrix.hpp"
#include "support/http_client.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_threads = 6;
constexpr int k_payments = 3;  // of each thread; and one that all of them share
constexpr const char* k_shared = "shared";

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string after_captures(int n) {
  return R"({"authorized":1000000,"captured":)" + std::to_string(n) + "}";
}

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets API
  if (::bind(fd, at, size) != 0 || ::getsockname(fd, at, &size) != 0)
    throw std::runtime_error{"no free port"};
  ::close(fd);
  return ntohs(address.sin_port);
}

struct http_answer {
  int status{0};  ///< 0: none
  bool replayed{false};
  std::string body;
};

/// The server that embeds Ratchet, with a state of its own.
class payments_service {
 public:
  explicit payments_service(const main_job& consumer)
      : directory_{consumer.directory() / "server"}, port_{free_port()} {
    std::filesystem::create_directory(directory_);
    std::ofstream file{directory_ / "payments.yaml"};
    file << "version: 1\nkafka: {brokers: [\"" << consumer.target().brokers
         << "\"], group: " << consumer.group()
         << "-server, properties: {reconnect.backoff.max.ms: 500}}\nstate: {path: \"" << state().string()
         << "\"}\nstreams:\n  - name: payments\n    order: arrival\n    dedup: {ids: opaque, window: 24h}\n"
         << "    outputs: [" << consumer.target().topic << "]\n";
  }
  [[nodiscard]] workload_process start() const {
    const auto program = std::filesystem::path{RATCHET_BINARY}.parent_path() / "payments_server";
    return must(workload_process::start(
        {program.string(), (directory_ / "payments.yaml").string(), std::to_string(port_)}, {}, log()));
  }
  [[nodiscard]] http_answer ask(const std::string& method, const std::string& path,
                                const std::string& key = {}, const std::string& body = {}) const {
    const http_connection to{port_};
    if (!to.connected()) return {};
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    if (!key.empty()) text += "Idempotency-Key: " + key + "\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    if (!to.send(text)) return {};
    const std::string all = to.read_all();
    const auto end = all.find("\r\n\r\n");
    if (!all.starts_with("HTTP/1.1 ") || end == std::string::npos) return {};
    return {std::stoi(all.substr(9, 3)), all.find("Idempotent-Replayed: true") < end, all.substr(end + 4)};
  }
  /// As a client that has to know: with the same key until it is told.
  [[nodiscard]] http_answer command(const std::string& payment, const std::string& verb,
                                    const std::string& key, int amount) const {
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    for (;;) {
      http_answer got = ask("POST", "/payments/" + payment + "/" + verb, key, std::to_string(amount));
      if ((got.status != 0 && got.status != 503) || std::chrono::steady_clock::now() > deadline) return got;
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
  }
  [[nodiscard]] std::filesystem::path state() const { return directory_ / "state"; }
  [[nodiscard]] std::filesystem::path log() const { return directory_ / "server.log"; }

 private:
  std::filesystem::path directory_;
  std::uint16_t port_;
};

/// Commands without end, from several threads, each asked until it is answered.
class clients {
 public:
  explicit clients(const payments_service& service) : service_{service} {
    for (int t = 0; t < k_threads; ++t) threads_.emplace_back([this, t] { work(t); });
  }
  /// How often each payment was captured.
  [[nodiscard]] std::map<std::string, int> finish() {
    is_on_ = false;
    for (std::thread& t : threads_) t.join();
    threads_.clear();
    return captures_;
  }
  ~clients() {
    if (!threads_.empty()) (void)finish();
  }
  clients(const clients&) = delete;
  clients& operator=(const clients&) = delete;
  [[nodiscard]] int answered() const { return answered_; }
  [[nodiscard]] int replayed() const { return replayed_; }

 private:
  void work(int thread) {
    std::array<int, k_payments> captured{};
    for (int p = 0; p < k_payments; ++p) {
      const auto got = service_.command(name(thread, p), "authorize", "a-" + name(thread, p), 1'000'000);
      EXPECT_EQ(got.status, 200) << got.body;
    }
    const auto shared = service_.command(k_shared, "authorize", "a-shared", 1'000'000);
    EXPECT_EQ(shared.status, 200) << "the same request of all threads: " << shared.body;
    int of_shared = 0;
    for (int i = 0; is_on_; ++i) {
      const int p = i % k_payments;
      const std::string payment = name(thread, p);
      const std::string key = payment + "-" + std::to_string(++captured.at(static_cast<std::size_t>(p)));
      const auto got = service_.command(payment, "capture", key, 1);
      EXPECT_EQ(got.status, 200) << key << " " << got.body;
      EXPECT_EQ(got.body, after_captures(captured.at(static_cast<std::size_t>(p)))) << key;
      if (got.status != 200) break;
      note(got);
      if (i % 4 == 0) {
        const auto again = service_.command(payment, "capture", key, 1);
        EXPECT_EQ(again.body, got.body) << "the same reply again: " << key;
        EXPECT_TRUE(again.replayed);
        EXPECT_EQ(service_.command(payment, "capture", key, 2).status, 422) << "another request";
      }
      if (i % 2 != 0) continue;
      const auto one = service_.command(k_shared, "capture",
                                        "s-" + std::to_string(thread) + "-" + std::to_string(++of_shared), 1);
      EXPECT_EQ(one.status, 200) << one.body;
      note(one);
      const std::lock_guard lock{mutex_};
      EXPECT_TRUE(of_shared_.insert(one.body).second) << "two captures made one: " << one.body;
    }
    const std::lock_guard lock{mutex_};
    for (int p = 0; p < k_payments; ++p)
      captures_[name(thread, p)] = captured.at(static_cast<std::size_t>(p));
    captures_[k_shared] += of_shared;
  }
  static std::string name(int thread, int payment) {
    return "p" + std::to_string(thread) + "-" + std::to_string(payment);
  }
  void note(const http_answer& got) {
    ++answered_;
    if (got.replayed) ++replayed_;
  }

  const payments_service& service_;
  std::atomic<bool> is_on_{true};
  std::atomic<int> answered_{0};
  std::atomic<int> replayed_{0};
  std::mutex mutex_;
  std::map<std::string, int> captures_;
  std::set<std::string> of_shared_;
  std::vector<std::thread> threads_;
};

/// Every event once or more with the same bytes, for the first time in the order of its payment, none
/// missing.
void expect_events(const main_job& consumer, const std::map<std::string, int>& captures) {
  std::map<std::string, read_record> by_id;
  std::map<std::string, int> seen;
  for (int p = 0; p < static_cast<int>(main_job::k_partitions); ++p) {
    for (const read_record& r : read_partition(consumer.target().brokers, at(consumer.target().topic, p))) {
      const auto [first, fresh] = by_id.emplace(r.header("ce_id"), r);
      EXPECT_TRUE(fresh || (first->second.value == r.value && first->second.headers == r.headers &&
                            first->second.key == r.key && first->second.time == r.time));
      if (!fresh) continue;
      const int number = seen[r.key.value_or("")]++;
      EXPECT_EQ(r.header("ce_type"), number == 0 ? "authorized" : "captured") << *r.key;
      EXPECT_EQ(r.value, after_captures(number)) << *r.key;
    }
  }
  for (const auto& [payment, count] : captures) EXPECT_EQ(seen[payment], count + 1) << payment;
  EXPECT_EQ(seen.size(), captures.size());
}

TEST(payments, lose_repeat_and_swap_nothing_between_two_services_that_are_killed) {
  main_job consumer;
  consumer.write_config(
      "    envelope: {format: cloudevents}\n    order: arrival\n"
      "    dedup: {ids: uuidv7, window: 24h}\n    reducer: {kind: replace}\n");
  const payments_service service{consumer};
  const std::uint64_t kills = number_from("RATCHET_PAYMENT_KILLS", 10);
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t seed = number_from("RATCHET_CRASH_SEED", static_cast<std::uint64_t>(now) % 1'000'000);
  SCOPED_TRACE("RATCHET_CRASH_SEED=" + std::to_string(seed));
  std::mt19937_64 dice{seed};
  workload_process server = service.start();
  std::optional<workload_process> daemon{consumer.start_daemon()};
  clients all{service};
  for (std::uint64_t kill = 0; kill < kills && !::testing::Test::HasFailure(); ++kill) {
    const int before = all.answered();
    ASSERT_TRUE(eventually([&] { return all.answered() > before + 20; })) << read_whole(service.log());
    std::this_thread::sleep_for(std::chrono::milliseconds{dice() % 200});
    const bool is_server = dice() % 3 != 0;
    if (is_server || kill % 5 == 4) {
      ASSERT_TRUE(server.kill()) << read_whole(service.log());
      std::destroy_at(&server);
      std::construct_at(&server, service.start());
    }
    if (!is_server || kill % 5 == 4) {
      ASSERT_TRUE(daemon->kill()) << read_whole(consumer.log());
      daemon.emplace(consumer.start_daemon());
    }
  }
  const auto captures = all.finish();
  int events = 0;
  for (const auto& [payment, count] : captures) {
    events += count + 1;
    EXPECT_EQ(service.ask("GET", "/payments/" + payment).body, after_captures(count));
  }
  ASSERT_TRUE(server.signal(SIGTERM));
  EXPECT_EQ(server.wait(k_patience), 0) << read_whole(service.log());
  daemon->kill();
  const auto done = consumer.run_until_end();
  EXPECT_EQ(done.code, 0) << done.output;
  const auto found = consumer.run({"status", "--output", "json"}).json();
  EXPECT_EQ(found.get<int>("streams.payments.verdicts.applied"), events);
  EXPECT_EQ(found.get<int>("streams.payments.verdicts.rejected"), 0);
  for (const auto& [payment, count] : captures) {
    const auto got = consumer.run({"get", "payments", payment});
    EXPECT_EQ(got.output.substr(0, got.output.find('\n')), after_captures(count)) << payment;
  }
  expect_events(consumer, captures);
  std::printf("seed %llu: %llu kills, %d commands, %d answered by their key alone\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(kills), all.answered(),
              all.replayed());
}

}  // namespace
}  // namespace ratchet::testing
