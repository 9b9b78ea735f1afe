// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "store/replica.hpp"
#include "support/store_support.hpp"

namespace ratchet::store_support {

/// Replicas, each in a directory of its own.
class replica_fixture : public fixture {
 protected:
  /// `suffix`: of the directory's name.
  [[nodiscard]] store_options options(const std::string& suffix = "") const {
    store_options o = fixture::options();
    o.replicated = true;
    o.path += suffix;
    return o;
  }
  [[nodiscard]] std::unique_ptr<store> open(const std::string& suffix = "") const {
    return must(open_store(options(suffix)));
  }
  static replica& of(store& s) { return *replica_of(s); }

  /// The number of its last event; none: it has none.
  static std::optional<std::uint64_t> last_of(store& s, const std::string& aggregate) {
    const step_plan plan = plan_of({aggregate});
    step_rows rows;
    must(s.lookup(s.id_of("payments"), plan, rows));
    const auto& row = rows.aggregates.at(0);
    return row ? std::optional{row->last.number} : std::nullopt;
  }

  /// One step of one row. Returns its stream's state.
  static stream_state put(store& s, const std::string& aggregate, std::uint64_t number) {
    return write(s, s.id_of("payments"), {{aggregate, seq(number), "state " + std::to_string(number)}});
  }
};

}  // namespace ratchet::store_support
