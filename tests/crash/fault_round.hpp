// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "broker/foreign_member.hpp"
#include "broker/kafka_fixture.hpp"
#include "crash/fault_plan.hpp"
#include "crash/offset_watch.hpp"
#include "crash/steady_feed.hpp"

namespace ratchet::testing {

/// One topic, one group and one state directory under fault after fault, while records are produced. Every
/// few faults, and at the end, the records stop, and it must come to the end of the topic and have the
/// oracle's state. What is wrong is thrown, as std::runtime_error.
class fault_round {
 public:
  struct figures {
    std::uint64_t records{0};
    std::uint64_t looks{0};                ///< at what is committed, beside what is durable
    std::uint64_t checks{0};               ///< of the whole state against the oracle
    std::uint64_t starts{0};               ///< of the binary
    std::chrono::seconds longest_wait{0};  ///< for more records to be handled, or all
  };

  fault_round(local_broker& broker, std::uint64_t seed);
  /// Strikes so many. `tell` gets the name of each before it strikes.
  void run(std::size_t faults, const std::function<void(fault_kind)>& tell);
  /// What was done, with the milliseconds since the beginning.
  [[nodiscard]] const std::string& trace() const { return trace_; }
  [[nodiscard]] figures result() const;
  [[nodiscard]] std::filesystem::path directory() const { return job_.directory(); }

 private:
  using clock = std::chrono::steady_clock;
  /// The least that tools/kafka's brokers accept: all that waits for a session's end is quick.
  static constexpr std::chrono::milliseconds k_session{1'000};
  static constexpr std::chrono::milliseconds k_longer_than_session{1'300};
  /// A join that the group never answers is given up after 5 minutes, and a new client joins.
  static constexpr std::chrono::minutes k_no_progress{7};
  static constexpr std::chrono::seconds k_slow{10};
  static constexpr std::size_t k_faults_between_checks = 9;

  static workload_dials dials_of(std::uint64_t seed);
  void say(const std::string& what);
  [[noreturn]] void fail(const std::string& what) const;
  std::chrono::milliseconds up_to(std::uint64_t ms) {
    return std::chrono::milliseconds{random_.below(ms + 1)};
  }

  // The binary.
  void start();
  void kill();
  void must_run();
  void await(const std::string& what, const std::function<bool(const json_tree&)>& done);
  void await_progress();

  // The faults.
  void strike(fault_kind);
  void stand_still(fault_kind);
  void be_overtaken();
  void terminate(bool twice);
  void kill_broker(bool both);
  void pause_broker();
  void rebalance();
  void grow();

  // The checks.
  void look();
  void check();

  local_broker& broker_;
  workload_random random_;
  main_job job_;
  steady_feed feed_;
  std::atomic<std::uint32_t> partitions_;
  committed_reader reader_;
  offset_watch watch_;
  std::optional<workload_process> daemon_;
  partition_offsets last_stored_;
  clock::time_point begun_{clock::now()};
  std::string trace_;
  figures figures_;
};

inline workload_dials fault_round::dials_of(std::uint64_t seed) {
  workload_dials dials;
  dials.events = 2'000'000;  // more than a round can send
  dials.aggregates = 3'000;
  dials.zipf = 0.7;
  dials.delay = 2'000;
  dials.late = 0.15;
  dials.malformed = 0.005;
  dials.seed = seed;
  dials.rate = 1'000.0;
  dials.start = start_for_end_now(dials);
  return dials;
}

inline fault_round::fault_round(local_broker& broker, std::uint64_t seed)
    : broker_{broker},
      random_{seed},
      job_{broker.bootstrap()},
      feed_{job_.target(), dials_of(seed)},
      partitions_{feed_.partitions()},
      reader_{job_.target().brokers, job_.group(), job_.target().topic},
      watch_{job_, partitions_} {}

inline fault_round::figures fault_round::result() const {
  figures all = figures_;
  all.looks += watch_.looks();
  return all;
}

inline void fault_round::say(const std::string& what) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begun_).count();
  trace_ += "  " + std::to_string(ms) + " ms: " + what + "\n";
}

inline void fault_round::fail(const std::string& what) const {
  std::error_code ignored;
  std::filesystem::copy_file(broker_.dir() + "/log", job_.directory() / "broker.log",
                             std::filesystem::copy_options::overwrite_existing, ignored);
  throw std::runtime_error{what + "\nthe end of its log:\n" + tail_of(job_.log(), 4000)};
}

inline void fault_round::run(std::size_t faults, const std::function<void(fault_kind)>& tell) {
  start();
  await_progress();
  std::size_t since_check = 0;
  for (const fault_kind kind : draw_faults(random_, faults)) {
    tell(kind);
    say(name_of(kind));
    strike(kind);
    // Half of them fall on a job that is not yet over the one before.
    if (random_.chance(0.5)) await_progress();
    std::this_thread::sleep_for(up_to(300));
    must_run();
    if (const auto wrong = watch_.fault(); !wrong.empty()) fail(wrong);
    if (++since_check < k_faults_between_checks) continue;
    since_check = 0;
    check();
    feed_.start();
    start();
  }
  check();
}

inline void fault_round::start() {
  ++figures_.starts;
  daemon_.emplace(job_.start({"run", "-X", "session.timeout.ms=" + std::to_string(k_session.count()), "-X",
                              "heartbeat.interval.ms=200", "-X", "topic.metadata.refresh.interval.ms=500"},
                             job_.log()));
}

inline void fault_round::kill() {
  must_run();
  daemon_->kill();
  daemon_.reset();
}

inline void fault_round::must_run() {
  if (const auto code = daemon_->ended())
    fail("ratchet run ended by itself with exit code " + std::to_string(*code));
}

inline void fault_round::await(const std::string& what, const std::function<bool(const json_tree&)>& done) {
  const auto begin = clock::now();
  std::optional<json_tree> last;
  for (;;) {
    must_run();
    feed_.must_send();
    if (auto status = ask_status(job_.state())) {
      last = std::move(status);
      if (done(*last)) break;
    }
    if (clock::now() > begin + k_no_progress) break;
    std::this_thread::sleep_for(20ms);
  }
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - begin);
  figures_.longest_wait = std::max(figures_.longest_wait, waited);
  if (waited > k_slow) say("waited " + std::to_string(waited.count()) + " s to " + what);
  if (waited < k_no_progress) return;
  std::ostringstream text;
  if (last) boost::property_tree::write_json(text, *last, false);
  fail("it does not " + what + "; its status is " + text.str());
}

inline void fault_round::await_progress() {
  std::optional<std::uint64_t> before;
  await("handle more records", [&before](const json_tree& status) {
    const auto now = status.get<std::uint64_t>("streams.payments.consumed", 0);
    if (!before) before = now;
    return now > *before;
  });
}

inline void fault_round::strike(fault_kind kind) {
  switch (kind) {
    case fault_kind::kill:
      kill();
      look();
      return start();
    case fault_kind::kill_starting:
      for (auto again = 1 + random_.below(2); again > 0; --again) {
        kill();
        start();
        std::this_thread::sleep_for(up_to(400));
      }
      kill();
      look();
      return start();
    case fault_kind::zombie:
    case fault_kind::zombie_killed:
      return stand_still(kind);
    case fault_kind::zombie_overtaken:
      return be_overtaken();
    case fault_kind::drain:
      return terminate(false);
    case fault_kind::drain_aborted:
      return terminate(true);
    case fault_kind::broker_kill:
      return kill_broker(false);
    case fault_kind::both_killed:
      return kill_broker(true);
    case fault_kind::broker_pause:
      return pause_broker();
    case fault_kind::rebalance:
      return rebalance();
    case fault_kind::more_partitions:
      return grow();
  }
}

inline void fault_round::stand_still(fault_kind kind) {
  daemon_->signal(SIGSTOP);
  std::this_thread::sleep_for(k_longer_than_session + up_to(600));
  if (kind == fault_kind::zombie_killed) {
    kill();
    look();
    return start();
  }
  daemon_->signal(SIGCONT);
}

/// While another member holds the partitions, nothing that the waking one commits may be taken.
inline void fault_round::be_overtaken() {
  await_progress();
  daemon_->signal(SIGSTOP);
  foreign_member other{job_};
  if (!other.comes_to_hold(partitions_)) fail("nobody can take the partitions of one that stands still");
  const auto text = [](const std::optional<std::vector<committed_offset>>& offsets) {
    std::string all;
    for (const auto& c : offsets.value_or(std::vector<committed_offset>{}))
      all += std::to_string(c.offset.value_or(-1)) + " " + c.metadata + "\n";
    return all;
  };
  const auto before = text(reader_.read(partitions_));
  // Its directory is its own, even now.
  const auto second = job_.run({"run"});
  if (second.code == 0 || second.output.find("is in use") == std::string::npos)
    fail("a second process was let in: " + second.output);
  daemon_->signal(SIGCONT);
  // The other one does not answer now, so that the group stays as it is.
  const auto until = clock::now() + 500ms + up_to(500);
  while (clock::now() < until) {
    if (const auto now = text(reader_.read(partitions_)); now != before)
      fail("a commit of a member that was given up was taken: before\n" + before + "after\n" + now);
  }
  other.leave();
}

inline void fault_round::terminate(bool twice) {
  constexpr int k_exit_at_once = 69;
  must_run();
  daemon_->signal(SIGTERM);
  if (twice) {
    std::this_thread::sleep_for(up_to(30));
    daemon_->signal(SIGTERM);
  }
  const auto code = daemon_->wait(k_patience);
  if (!code) fail("ratchet run does not end at SIGTERM");
  // Before it takes signals it is the system that ends it.
  const bool early = *code == 128 + SIGTERM && ask_status(job_.state()) == std::nullopt;
  if (*code != 0 && !early && !(twice && *code == k_exit_at_once))
    fail("ratchet run ended at SIGTERM with exit code " + std::to_string(*code));
  daemon_.reset();
  look();
  start();
}

inline void fault_round::kill_broker(bool both) {
  broker_.kill();
  std::this_thread::sleep_for(up_to(500));
  if (both) {
    kill();
    start();
    std::this_thread::sleep_for(up_to(500));
  }
  broker_.start();
}

inline void fault_round::pause_broker() {
  broker_.pause();
  std::this_thread::sleep_for(k_longer_than_session + up_to(600));
  broker_.resume();
}

inline void fault_round::rebalance() {
  foreign_member other{job_};
  const auto until = clock::now() + up_to(800);
  while (clock::now() < until) other.turn();
  other.leave();
}

inline void fault_round::grow() {
  feed_.stop();
  const auto count = partitions_ + 1;
  const auto grown = add_partitions(job_.target().brokers, job_.target().topic, static_cast<int>(count));
  if (!grown) throw std::system_error{grown.error()};
  feed_.use_partitions(count);
  partitions_ = count;
  feed_.start();
}

/// While the binary is gone its directory can be read, and has what a killed process had written.
inline void fault_round::look() {
  const auto committed = reader_.read(partitions_);
  const auto stored = must(read_stored(job_.state(), "payments")).next_offsets;
  for (const auto& [partition, before] : last_stored_) {
    const auto now = stored.find(partition);
    if (now == stored.end() || now->second < before)
      fail("the stored offset of partition " + std::to_string(partition) + " went back from " +
           std::to_string(before));
  }
  last_stored_ = stored;
  const auto synced = synced_file::read(job_.state());
  if (!committed || !synced) return;
  if (const auto wrong = beyond_the_durable(*committed, stored, synced.value()); !wrong.empty()) fail(wrong);
  ++figures_.looks;
}

/// The faults and the records stop: it comes to the end of the topic, and everything is right.
inline void fault_round::check() {
  feed_.stop();
  const auto sent = feed_.oracle().records();
  say("check after " + std::to_string(sent) + " records");
  await("come to the end of the topic", [this, sent](const json_tree& status) {
    const auto* stream = &status.get_child("streams.payments");
    const auto consumed = stream->get<std::uint64_t>("consumed");
    if (consumed > sent) fail("it counts " + std::to_string(consumed) + " records: some twice");
    if (consumed != sent || !status.get<bool>("ready")) return false;
    for (const auto& [unused, p] : stream->get_child("partitions")) {
      if (p.get<std::string>("lag") != "0" ||
          p.get<std::string>("committed") != p.get<std::string>("next_offset"))
        return false;
      if (p.count("stopped") != 0) return false;
    }
    return true;
  });
  daemon_->signal(SIGTERM);
  const auto code = daemon_->wait(k_patience);
  if (code != 0) fail("ratchet run does not drain: exit code " + std::to_string(code.value_or(-1)));
  daemon_.reset();
  if (const auto verified = job_.run({"verify"}); verified.code != 0) fail(verified.output);
  if (const auto wrong = job_.fault(feed_.oracle()); !wrong.empty()) fail(wrong);
  if (const auto wrong = job_.commit_fault(); !wrong.empty()) fail(wrong);
  look();
  if (const auto wrong = watch_.fault(); !wrong.empty()) fail(wrong);
  figures_.records = sent;
  ++figures_.checks;
}

}  // namespace ratchet::testing
