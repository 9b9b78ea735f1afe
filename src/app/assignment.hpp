// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/pipeline.hpp"
#include "core/resume.hpp"
#include "ports/source.hpp"
#include "ports/store.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// What was decided for the partitions of an assignment, before anything is written or claimed.
struct resolved_assignment {
  std::vector<position> start;  ///< where to read on
  std::vector<audit_row> audits;
  std::vector<problem> stops;  ///< one a stopped partition, for the log
  std::vector<std::pair<topic_partition, std::string>> stopped;
  std::vector<std::string> warnings;
  std::optional<problem> refused;  ///< do not start at all; who has claimed stops that partition instead
  bool rebuild{false};             ///< put the directory aside and start over
  bool takeover{false};            ///< draw a new incarnation past `takeover_counter`
  std::uint64_t takeover_counter{0};
};

/// Looks up the facts of each partition (stored and committed offset, bounds of the log, the last record) and
/// applies the resume rules. Changes nothing. Errors: source_unavailable; topic_missing.
[[nodiscard]] result<resolved_assignment> resolve_assignment(source&, const store&, const pipeline&,
                                                             std::span<const topic_partition>, resume_option,
                                                             timestamp now);

/// The rows that refuse, judged before the group is joined, so that an incumbent sees no rebalance: needs no
/// look at the log. None where nothing stands against joining. Errors: source_unavailable.
[[nodiscard]] result<std::optional<problem>> refusal_before_joining(source&, const store&, const pipeline&,
                                                                    std::span<const topic_partition>,
                                                                    resume_option, const std::string& group);

/// True where some committed offset carries this store's own mark.
[[nodiscard]] bool has_own_claim(const store&, std::span<const committed_offset>);

/// What a person reads of a row of the table: what was found on this partition, and what can be typed.
[[nodiscard]] problem describe(resume_row, const topic_partition&, const resume_facts&,
                               const std::string& metadata);

}  // namespace ratchet
