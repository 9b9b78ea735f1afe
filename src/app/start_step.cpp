// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/start_step.hpp"

namespace ratchet {

std::optional<problem> write_at_start(step_store& to, const std::filesystem::path& state, step_batch batch) {
  batch.step = to.last_step() + 1;
  for (audit_row& row : batch.audits) row.step = batch.step;
  auto written = to.write(batch);
  if (written) written = to.sync();
  if (written) return std::nullopt;
  return problem{written.error(),
                 "a write to " + state.string() + " failed: " + written.error().message(),
                 "check the disk, then start again",
                 {}};
}

}  // namespace ratchet
