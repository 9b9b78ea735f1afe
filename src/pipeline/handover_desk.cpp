// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/handover_desk.hpp"

#include <utility>

namespace ratchet {

namespace {

using std::chrono::steady_clock;

/// The owner answers long before.
constexpr std::chrono::seconds k_longest{60};
/// So often it is asked whether who asks is still there.
constexpr std::chrono::milliseconds k_slice{50};

[[nodiscard]] problem not_answered() {
  return {errc::timed_out,
          "the instance has not said within " + std::to_string(k_longest.count()) +
              " s what the hand-over came to",
          "see its log",
          {}};
}

}  // namespace

std::shared_ptr<handover_desk::asked> handover_desk::put() {
  if (under_way_) return nullptr;
  under_way_ = std::make_shared<asked>();
  is_asked_ = true;
  return under_way_;
}

bool handover_desk::post() {
  const std::scoped_lock lock{mutex_};
  return put() != nullptr;
}

reported<handed_over> handover_desk::ask(const still_wanted& wanted) {
  std::unique_lock lock{mutex_};
  const auto mine = put();
  if (!mine)
    return problem{
        errc::source_unavailable, "another hand-over is under way", "try again when it is done", {}};
  const auto until = steady_clock::now() + k_longest;
  while (!mine->answer) {
    answered_.wait_for(lock, k_slice);
    if (mine->answer) break;
    if (steady_clock::now() >= until) return not_answered();
    lock.unlock();
    const bool stays = !wanted || wanted();
    lock.lock();
    if (!stays && !mine->answer) return not_answered();
  }
  return std::move(*mine->answer);
}

void handover_desk::begin() {
  is_asked_ = false;
}

void handover_desk::answer(reported<handed_over> what) {
  const std::scoped_lock lock{mutex_};
  is_asked_ = false;
  if (!under_way_) return;
  std::exchange(under_way_, nullptr)->answer.emplace(std::move(what));
  answered_.notify_all();
}

}  // namespace ratchet
