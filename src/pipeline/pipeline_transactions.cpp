// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The pipeline's step of local transactions.
#include "outbox/published_rows.hpp"
#include "pipeline/pipeline.hpp"

namespace ratchet {

result<std::vector<transaction_answer>> pipeline::transact(stream_runtime& stream,
                                                           std::span<const transaction_request> requests) {
  const step_plan plan = plan_transactions(stream.rules, requests);
  step_rows rows;
  RATCHET_TRY(store_.lookup(stream.id, plan, rows));
  std::vector<transaction_answer> answers;
  stream_change change =
      run_transactions(stream.rules, stream.state, requests, plan, rows, clock_.now(), answers);
  if (change.after.counters == stream.state.counters) return answers;
  RATCHET_TRY(take_change(stream, plan, change));
  return answers;
}

}  // namespace ratchet
