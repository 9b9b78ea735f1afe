// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/bounds_asker.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "kafka/bounds_query.hpp"

namespace ratchet {

namespace {

constexpr std::chrono::milliseconds k_patience{1'000};

}  // namespace

/// What the owner and the thread of a round share; the last of them frees it.
struct bounds_asker::round {
  struct kafka_clients {
    std::shared_ptr<kafka_client> committed;
    std::shared_ptr<kafka_client> uncommitted;
  };
  std::mutex mutex;
  std::vector<notice::bounds_told> answers;
  std::atomic<bool> is_under_way{false};
  std::atomic<bool> stopped{false};

  /// The higher ends first: see log_bounds::high.
  void ask(const kafka_clients& of, const std::vector<question>& questions) {
    // Error reports that were queued meanwhile are dropped: nobody polls this client.
    if (of.uncommitted != nullptr) rd_kafka_poll(of.uncommitted->get(), 0);
    std::vector<topic_partition> all;
    std::vector<topic_partition> without_high;
    for (const question& q : questions) {
      all.push_back(q.where);
      if (!q.high && of.uncommitted != nullptr) without_high.push_back(q.where);
    }
    std::map<topic_partition, result<log_bounds>> high;
    if (!without_high.empty()) {
      auto found = query_bounds(of.uncommitted, without_high, k_patience);
      for (std::size_t i = 0; i < found.size(); ++i) high.emplace(without_high[i], std::move(found[i]));
    }
    if (stopped) return;
    const auto found = query_bounds(of.committed, all, k_patience);
    const std::scoped_lock lock{mutex};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto asked = high.find(all[i]);
      const bool failed = asked != high.end() && !asked->second;
      if (failed || !found[i]) {
        answers.push_back({all[i], {}, failed ? asked->second.error() : found[i].error()});
        continue;
      }
      log_bounds told = found[i].value();
      told.high = asked != high.end() ? asked->second.value().end : questions[i].high.value_or(0);
      answers.push_back({all[i], told, {}});
    }
  }
};

bounds_asker::bounds_asker() : round_{std::make_shared<round>()} {}

bool bounds_asker::ask(std::shared_ptr<kafka_client> client, std::shared_ptr<kafka_client> uncommitted,
                       std::vector<question> questions) {
  if (questions.empty() || round_->is_under_way.exchange(true)) return false;
  try {
    std::thread{[shared = round_, of = round::kafka_clients{std::move(client), std::move(uncommitted)},
                 wanted = std::move(questions)]() mutable {
      try {
        shared->ask(of, wanted);
      } catch (...) {  // NOLINT: no memory; whoever wants to know asks again
      }
      of = {};
      shared->is_under_way = false;
    }}.detach();
    return true;
  } catch (const std::system_error&) {
    round_->is_under_way = false;  // no thread to be had
    return false;
  }
}

std::vector<notice::bounds_told> bounds_asker::take() {
  const std::scoped_lock lock{round_->mutex};
  return std::exchange(round_->answers, {});
}

void bounds_asker::stop() noexcept {
  round_->stopped = true;
}

}  // namespace ratchet
