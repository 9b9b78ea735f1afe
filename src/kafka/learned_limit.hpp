// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

namespace ratchet {

/// How large batches and messages of one topic may be, as its refusals show. Brokers refuse a batch as a
/// whole and do not say how large one may be; to ask for that takes a right of its own. So batches get
/// smaller until they are taken, or until what is too large goes by itself. Sizes are those of keys, values
/// and headers, before they are compressed. Thread-safety: none.
class learned_limit {
 public:
  /// What a batch and its request have at least, beside its messages.
  static constexpr std::size_t k_framing = 128;
  static constexpr std::size_t k_smaller = 4;
  static constexpr std::size_t k_smallest_batch = 2 * k_framing;

  /// Nothing was refused yet.
  explicit learned_limit(std::size_t batch_bytes) : batch_{batch_bytes} {}

  /// Batches of more than one message are to be so large at most.
  [[nodiscard]] std::size_t batch_bytes() const noexcept { return batch_; }
  /// It has room for nothing else in its batch.
  [[nodiscard]] static bool goes_by_itself(std::size_t bytes, std::size_t batch_bytes) noexcept {
    return bytes + k_framing > batch_bytes;
  }
  /// One more may be sent beside so many that are under way. Of a new size of batches one is tried before
  /// others follow.
  [[nodiscard]] bool has_room(std::size_t under_way) const noexcept {
    return proven_ || under_way == 0 || tried_ < batch_;
  }
  /// One that went by itself was refused, and was not larger. To send it disturbs the others: an idempotent
  /// producer that leaves a gap begins anew behind it.
  [[nodiscard]] bool is_hopeless(std::size_t bytes) const noexcept {
    return least_refused_ && bytes >= *least_refused_;
  }
  /// The smallest that was refused by itself.
  [[nodiscard]] std::optional<std::size_t> least_refused() const noexcept { return least_refused_; }

  void sent(std::size_t bytes, std::size_t others_under_way) noexcept {
    if (others_under_way == 0) tried_ = 0;
    tried_ += bytes;
  }
  /// It was taken. True: the first one since batches are smaller. No size is needed while none was refused by
  /// itself.
  bool taken(std::size_t bytes, std::size_t batch_bytes) noexcept {
    if (is_hopeless(bytes)) least_refused_.reset();
    const bool is_first = !proven_ && batch_bytes == batch_;
    proven_ = proven_ || is_first;
    return is_first;
  }
  /// It was refused for a size, sent with batches of so many bytes. True: for its own.
  bool refused(std::size_t bytes, std::size_t batch_bytes) noexcept {
    if (goes_by_itself(bytes, batch_bytes)) {
      least_refused_ = std::min(bytes, least_refused_.value_or(bytes));
      return true;
    }
    if (batch_bytes != batch_) return false;  // others of that size were refused before
    batch_ = std::max(k_smallest_batch, batch_ / k_smaller);
    proven_ = false;
    tried_ = 0;
    return false;
  }

 private:
  std::size_t batch_;
  bool proven_{true};
  std::size_t tried_{0};  ///< bytes, since nothing was under way
  std::optional<std::size_t> least_refused_;
};

}  // namespace ratchet
