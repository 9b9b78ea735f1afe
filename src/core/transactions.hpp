// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/step.hpp"

/// The step of local transactions: what a program asks for itself, without an event. Pure, as core/step.hpp.
namespace ratchet {

/// What a transaction does. Called once, or not at all, in each step that it is in.
using transaction_function = std::function<outcome(state&, effects&)>;

/// One transaction of a stream in `arrival` order with opaque ids. All is borrowed.
struct transaction_request {
  std::string_view aggregate;
  event_id id;  ///< of its key
  std::optional<hash128> fingerprint;
  const transaction_function* function{nullptr};
};

struct transaction_answer {
  std::error_code code;  ///< none: it is done, now or before
  std::string text;      ///< more about the error; may be empty
  bool repeated{false};  ///< it was done before, and the function was not called
  /// The number that it took; of a repeated one whose id came with an event, the aggregate's last.
  ratchet::sequence sequence;
  std::optional<std::string> reply;
};

/// Stands for the partition of transactions: without a topic, as plain files are, and apart from theirs.
extern const topic_partition k_transactions;

/// Views are borrowed from the requests.
[[nodiscard]] step_plan plan_transactions(const stream_rules&, std::span<const transaction_request>);

/// Does them in this order, each as if the ones before it were steps of their own, and answers each. One
/// whose function fails changes nothing; nor does one whose aggregate has events that wait, as its number
/// would come before theirs: errc::aggregate_blocked. One whose id is in the window is not run, and gets what
/// was answered before; with another fingerprint, errc::key_reused. Where nothing came to be changed,
/// `after.counters` are as before. Ends where they have moved as much as one step may (core/state_bytes.hpp),
/// and before the first whose aggregate or answer was not looked up: those behind have no answer, and are for
/// another step.
///
/// The time of all is `now`, or the floor where the clock was set back below it. It moves the floor only
/// where nothing else does (stream_rules::transactions_move_floor), so that a stream with topics decides on
/// its records as if there were no transactions.
[[nodiscard]] stream_change run_transactions(const stream_rules&, const stream_state& before,
                                             std::span<const transaction_request>, const step_plan&,
                                             const step_rows&, timestamp now,
                                             std::vector<transaction_answer>& answers);

}  // namespace ratchet
