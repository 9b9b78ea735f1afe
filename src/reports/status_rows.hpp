// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/stream_state.hpp"
#include "reports/status_report.hpp"
#include "telemetry/instance_status.hpp"

/// What the two forms of a status report share.
namespace ratchet {

struct partition_report {
  topic_partition where;
  std::optional<std::int64_t> next_offset;  ///< none: nothing is stored of it yet
  std::optional<live_partition> live;
  std::optional<std::int64_t> lag;
};

/// The partitions that the state or the running instance knows, in order. Plain files have none.
[[nodiscard]] std::vector<partition_report> partitions_of(const stream_report&);

/// Of an audit list that is cut at a limit.
struct audits_listed {
  std::uint64_t shown{0};
  std::uint64_t last_step{0};
  bool more{false};
};
/// The report's walk up to its limit.
[[nodiscard]] audit_walk limited_audits(const status_report&, audits_listed&);

result<void> write_status_json(const status_report&, answer_pieces&);
result<void> write_status_text(const status_report&, answer_pieces&);

}  // namespace ratchet
