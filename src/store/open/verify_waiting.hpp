// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "store/layout/waiting.hpp"
#include "store/open/opening.hpp"

namespace ratchet {

/// What waits in a stream, as its counters should say it.
struct waiting_totals {
  std::uint64_t parked{0};
  std::uint64_t retrying{0};
  std::uint64_t dead{0};
  std::uint64_t bytes{0};
};

/// Judges each row of `waiting`, and what must hold between them and the rows of aggregates. Sums up what it
/// saw. Each function returns what is wrong; empty: nothing. Thread-safety: one thread.
class waiting_check {
 public:
  waiting_check(const inspected&, rocksdb::ReadOptions);
  [[nodiscard]] std::string check(std::string_view key, std::string_view value);
  /// A row of `sequences`: it waits if and only if there is a backlog.
  [[nodiscard]] std::string check_row(const layout::parsed_aggregate_key&,
                                      const layout::aggregate_value&) const;
  /// Of all rows that were checked.
  [[nodiscard]] waiting_totals totals_of(stream_id) const;

 private:
  struct stream_facts {
    bool has_ids{false};  ///< its events are indexed by id
    bool is_latest{false};
    waiting_totals totals;
  };
  struct events_seen {
    waiting_totals by_state;
    std::optional<sequence> lowest;
    std::optional<sequence> highest;
    std::uint64_t accepted{0};
    std::uint64_t too_old{0};  ///< counted where the backlog has some
  };

  std::string check_event(std::string_view key, std::string_view value);
  std::string check_backlog(std::string_view key, std::string_view value);
  std::string check_due(layout::waiting_kind, std::string_view key, std::string_view value) const;
  std::string check_id(std::string_view key, std::string_view value) const;
  [[nodiscard]] std::string check_owner(const layout::parsed_aggregate_key&, const backlog&,
                                        const events_seen&) const;
  [[nodiscard]] result<std::optional<backlog>> backlog_of(stream_id, slot, std::string_view aggregate) const;
  [[nodiscard]] result<events_seen> events_of(const layout::parsed_aggregate_key&, const backlog&) const;
  [[nodiscard]] bool is_indexed(layout::waiting_kind, const layout::parsed_aggregate_key&, timestamp) const;
  stream_facts* stream_of(stream_id);

  const database* db_;
  rocksdb::ReadOptions options_;
  std::map<stream_id, stream_facts> streams_;
  std::string last_owner_;  ///< the key of the backlog that was last looked for by an event
  bool last_owner_exists_{false};
  std::optional<sequence> last_accepted_;  ///< of that backlog
};

}  // namespace ratchet
