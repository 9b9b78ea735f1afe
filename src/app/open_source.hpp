// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "ports/source.hpp"

namespace ratchet {

/// Before a new client is made in place of one that was lost.
inline constexpr std::chrono::milliseconds k_new_client_pause{1'000};
/// What a person has to change.
inline constexpr std::chrono::milliseconds k_denied_pause{10'000};

/// Ends a client with its deadline, whichever way its session ended.
class open_source_guard {
 public:
  explicit open_source_guard(std::unique_ptr<source> s) : source_{std::move(s)} {}
  ~open_source_guard() { source_->close(deadline_); }
  /// It holds partitions, which others are to get without waiting for its session to end.
  void has_joined() noexcept { deadline_ = k_close_deadline; }
  /// It was a member, and another client follows at once. What is said goes on its way meanwhile.
  void is_left() noexcept { deadline_ = std::min(deadline_, k_close_left); }
  open_source_guard(const open_source_guard&) = delete;
  open_source_guard& operator=(const open_source_guard&) = delete;
  open_source_guard(open_source_guard&&) = delete;
  open_source_guard& operator=(open_source_guard&&) = delete;
  [[nodiscard]] source& get() noexcept { return *source_; }

 private:
  static constexpr std::chrono::milliseconds k_close_deadline{10'000};
  /// While a member joins, its coordinator answers nothing else, a farewell neither, and one that hangs
  /// answers nothing at all: to wait for it is vain. What was said is on its way.
  static constexpr std::chrono::milliseconds k_close_unjoined{300};
  static constexpr std::chrono::milliseconds k_close_left{1'000};

  std::unique_ptr<source> source_;
  std::chrono::milliseconds deadline_{k_close_unjoined};
};

}  // namespace ratchet
