// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/session_loop.hpp"

#include "ports/error_class.hpp"

namespace ratchet {

namespace {

/// Stores that were opened again without one event more in them: the disk is not coming back by itself. Steps
/// do not tell: each session writes a small one before it reads, which may fit where no larger one does.
constexpr int k_reopen_limit = 5;
/// Clients lost in a row, none of which came to read, though brokers answered: whatever it is, it does not
/// pass.
constexpr int k_lost_limit = 10;

}  // namespace

next_move session_loop::after(const session_result& ended, bool was_assigned, std::uint64_t handled) {
  has_consumed_ = has_consumed_ || was_assigned;
  const bool lost = ended.end == session_end::client_lost && !was_assigned &&
                    classify(ended.why->code) != error_class::away;
  lost_in_a_row_ = lost ? lost_in_a_row_ + 1 : 0;
  switch (ended.end) {
    case session_end::drained:
    case session_end::caught_up:
      return next_move::end;
    case session_end::refused:
      return has_consumed_ && is_sat_out(classify(ended.why->code)) ? next_move::ride_out
                                                                    : next_move::give_up;
    case session_end::rebuild:
      return next_move::rebuild;
    case session_end::left:
    case session_end::client_lost:
      return lost_in_a_row_ >= k_lost_limit ? next_move::give_up : next_move::make_client;
    case session_end::store_lost:
      break;
  }
  reopened_in_a_row_ = handled > handled_at_reopen_ ? 1 : reopened_in_a_row_ + 1;
  handled_at_reopen_ = handled;
  return reopened_in_a_row_ > k_reopen_limit ? next_move::give_up : next_move::open_store;
}

}  // namespace ratchet
