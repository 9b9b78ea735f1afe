// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/bounds_asker.hpp"

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

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

  void ask(const kafka_clients& of, const std::vector<question>& questions) {
    // Error reports that were queued meanwhile are dropped: nobody polls this client.
    if (of.uncommitted != nullptr) rd_kafka_poll(of.uncommitted->get(), 0);
    for (const question& q : questions) {
      if (stopped) break;
      const auto found = ask(of, q);
      const std::scoped_lock lock{mutex};
      if (found) {
        answers.push_back({q.where, found.value(), {}});
      } else {
        answers.push_back({q.where, {}, found.error()});
      }
    }
  }

 private:
  /// The higher end first: see log_bounds::high.
  [[nodiscard]] static result<log_bounds> ask(const kafka_clients& of, const question& q) {
    std::int64_t high = q.high.value_or(0);
    if (!q.high && of.uncommitted != nullptr) {
      RATCHET_TRY(const log_bounds all, query_bounds(of.uncommitted, q.where, k_patience));
      high = all.end;
    }
    RATCHET_TRY(log_bounds found, query_bounds(of.committed, q.where, k_patience));
    found.high = high;
    return found;
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
