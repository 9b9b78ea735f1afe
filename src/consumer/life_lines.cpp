// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/life_lines.hpp"

#include <cstddef>
#include <string>

#include "pipeline/pipeline.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

/// A line that names more partitions is not read.
constexpr std::size_t k_most_partitions = 8;

/// ": t/0 up to 17, t/1 up to 9 and 3 more", or nothing.
std::string partitions_text(const task_list& tasks) {
  std::string text;
  std::size_t count = 0;
  for (const auto& s : tasks) {
    for (const auto& [where, state] : s->state.partitions) {
      if (where.topic.empty() || !state.has_position() || ++count > k_most_partitions) continue;
      text += (text.empty() ? ": " : ", ") + to_string(where) + " up to " + std::to_string(state.next_offset);
    }
  }
  return count <= k_most_partitions ? text
                                    : text + " and " + std::to_string(count - k_most_partitions) + " more";
}

}  // namespace

void tell_start(const log_ptr& log, const config& c, const store_lineage& to) {
  tell(log, log_kind::run_started, "ratchet " RATCHET_VERSION "{}{}, state {}, store {} at step {}",
       c.file.empty() ? "" : ", config ", c.file.string(), c.state.path.string(), to.uuid(), to.last_step());
}

void tell_end(const log_ptr& log, const store_lineage& to, const task_list& tasks) {
  const bool all = to.durable_step() >= to.last_step();
  tell(log, log_kind::run_ended, "the run has ended; store {} is durable to step {}{}", to.uuid(),
       to.durable_step(), all ? partitions_text(tasks) : " of " + std::to_string(to.last_step()));
}

}  // namespace ratchet
