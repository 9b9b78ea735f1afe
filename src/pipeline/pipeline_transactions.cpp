// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The pipeline's step of local transactions.
#include "outbox/published_rows.hpp"
#include "pipeline/pipeline.hpp"

namespace ratchet {

result<std::vector<transaction_answer>> pipeline::transact(partition_task& task,
                                                           std::span<const transaction_request> requests) {
  const step_plan plan = plan_transactions(task.rules, requests);
  step_rows rows;
  RATCHET_TRY(store_.lookup(task.place(), plan, rows));
  std::vector<transaction_answer> answers;
  stream_change change =
      run_transactions(task.rules, task.state, requests, plan, rows, clock_.now(), answers);
  if (change.after.counters == task.state.counters) return answers;
  RATCHET_TRY(take_change(task, plan, change));
  return answers;
}

}  // namespace ratchet
