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
  std::mutex mutex;
  std::vector<notice::bounds_told> answers;
  std::atomic<bool> is_under_way{false};
  std::atomic<bool> stopped{false};

  void ask(const std::shared_ptr<kafka_client>& client, const std::vector<topic_partition>& of) {
    for (const topic_partition& where : of) {
      if (stopped) break;
      const auto found = query_bounds(client, where, k_patience);
      const std::scoped_lock lock{mutex};
      if (found) {
        answers.push_back({where, found.value(), {}});
      } else {
        answers.push_back({where, {}, found.error()});
      }
    }
  }
};

bounds_asker::bounds_asker() : round_{std::make_shared<round>()} {}

void bounds_asker::ask(std::shared_ptr<kafka_client> client, std::span<const topic_partition> of) {
  if (of.empty() || round_->is_under_way.exchange(true)) return;
  try {
    std::thread{[shared = round_, client = std::move(client),
                 wanted = std::vector<topic_partition>(of.begin(), of.end())]() mutable {
      try {
        shared->ask(client, wanted);
      } catch (...) {  // NOLINT: no memory; whoever wants to know asks again
      }
      client.reset();
      shared->is_under_way = false;
    }}.detach();
  } catch (const std::system_error&) {
    round_->is_under_way = false;  // no thread to be had
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
