// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of outbox_sender that takes rows in: as they are offered, and from the store.
#include <algorithm>
#include <utility>

#include "outbox/outbox_sender.hpp"

namespace ratchet {

namespace {

/// So much is held in memory at most: sent and not acknowledged, or read and not sent.
constexpr std::size_t k_most_entries = 20'000;
constexpr std::uint64_t k_most_bytes = std::uint64_t{32} << 20U;
constexpr std::uint64_t k_most_offered_bytes = std::uint64_t{24} << 20U;
constexpr std::size_t k_page = 1'000;
constexpr std::uint64_t k_page_bytes = std::uint64_t{4} << 20U;
/// Others have their turn behind so much reading.
constexpr std::size_t k_pages_a_turn = 20;
constexpr std::size_t k_read_again_a_turn = 200;

}  // namespace

void outbox_sender::offer(std::vector<output_row>&& rows) {
  for (output_row& row : rows) {
    const std::uint64_t next = offered_.empty() ? row.position : offered_.back().position + 1;
    const std::uint64_t bytes = row.bytes();
    // Behind a row that found no room the others are of no use until that one was read.
    if (row.position != next || row.position < read_ || offered_.size() >= k_most_entries ||
        offered_bytes_ + bytes > k_most_offered_bytes)
      return;
    offered_bytes_ += bytes;
    offered_.push_back(std::move(row));
  }
}

bool outbox_sender::is_behind() const noexcept {
  return offered_bytes_ > k_most_offered_bytes / 3 || offered_.size() > k_most_entries / 2;
}

/// What waited behind a message that is out of the way.
result<void> outbox_sender::take_held() {
  for (std::size_t n = 0; held_.next() && has_room(); ++n) {
    if (n == k_read_again_a_turn) {
      reads_on_ = true;
      break;
    }
    const std::uint64_t position = *held_.next();
    RATCHET_TRY(output_row row, read_again(position));
    held_.take();
    const std::uint64_t bytes = row.bytes();
    entries_.emplace(position, entry{std::move(row), bytes, step_of::queued, true});
    held_bytes_ += bytes;
    next_ = std::min(next_, position);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> outbox_sender::send_new(time_point now) {
  for (std::size_t pages = 0; pages < k_pages_a_turn; ++pages) {
    RATCHET_TRY(const bool more, read_more());
    if (!more || !send_queued(read_, now)) return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  reads_on_ = true;
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

bool outbox_sender::has_room() const noexcept {
  return entries_.size() < k_most_entries && held_bytes_ < k_most_bytes;
}

result<bool> outbox_sender::read_more() {
  if (read_ == lane_.durable_next() || !has_room()) return false;
  if (take_offered()) return true;
  const std::uint64_t offered = offered_.empty() ? lane_.durable_next() : offered_.front().position;
  const std::uint64_t until = std::min(offered, lane_.durable_next());
  RATCHET_TRY(auto page, store_.outputs({}, read_, until, k_page, k_page_bytes));
  if (page.empty()) {
    RATCHET_TRY(lane_.missing({read_, until}));
    read_ = until;
  }
  for (output_row& row : page) {
    RATCHET_TRY(lane_.missing({read_, row.position}));
    take(std::move(row));
  }
  return true;
}

/// A page of what is next, where that was offered.
bool outbox_sender::take_offered() {
  std::size_t taken = 0;
  while (!offered_.empty() && offered_.front().position == read_ && read_ < lane_.durable_next() &&
         taken < k_page) {
    offered_bytes_ -= offered_.front().bytes();
    take(std::move(offered_.front()));
    offered_.pop_front();
    ++taken;
  }
  return taken > 0;
}

result<output_row> outbox_sender::read_again(std::uint64_t position) const {
  RATCHET_TRY(auto rows, store_.outputs({}, position, position + 1, 1, k_page_bytes));
  if (rows.empty()) return make_error_code(errc::state_damaged);
  return std::move(rows.front());
}

void outbox_sender::take(output_row&& row) {
  const std::uint64_t position = row.position;
  const std::uint64_t bytes = row.bytes();
  read_ = position + 1;
  if (row.kind == output_kind::skipped) return lane_.delivered(position, bytes);
  if (held_.holds(row)) return held_.push(row);
  entries_.emplace_hint(entries_.end(), position, entry{std::move(row), bytes});
  held_bytes_ += bytes;
}

}  // namespace ratchet
