// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ports/replica.hpp"
#include "replicate/log_reader.hpp"
#include "store/engine/column_families.hpp"
#include "store/engine/pending_rows.hpp"
#include "store/step/row_sink.hpp"

/// The one way in which a replica changes its rows: by the confirmed steps of a log, in their order.
namespace ratchet {

/// A floor that the steps move; the database may forget ids below it once they are written.
struct applied_floor {
  stream_id stream{0};
  timestamp floor;
};

/// Puts rows of a log, or of a base. Adds the floors that they move to `floors`. Where a fault is returned,
/// what was put must not be written.
[[nodiscard]] std::optional<apply_fault> put_rows(row_sink& to, std::string_view rows,
                                                  std::vector<applied_floor>& floors);

/// Puts the rows of confirmed steps, and then how far the store is in the log: in one batch they are in the
/// database together, or not at all. `from`: how far it is; none: it has no step of a log. Adds the floors
/// that the steps move to `floors`. Where a refusal is returned, what was put must not be written. Keeps
/// nothing.
[[nodiscard]] std::optional<apply_refusal> put_confirmed(row_sink& to, slot,
                                                         const std::optional<replicate::log_position>& from,
                                                         std::span<const confirmed_rows>,
                                                         std::vector<applied_floor>& floors);

/// The first of these steps of which other rows are pending here.
[[nodiscard]] std::optional<apply_refusal> other_decision_of(std::span<const confirmed_rows>,
                                                             const pending_rows&);

}  // namespace ratchet
