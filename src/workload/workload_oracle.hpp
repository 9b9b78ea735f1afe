// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload_stream.hpp"

namespace ratchet {

/// What the state must be after a made-up stream, in order `latest` with the reducer `replace` from /payment:
/// of each payment the member `payment` of its highest number. Told from the events as they were drawn;
/// shares no code with what reads, decides and stores them. Thread-safety: one thread at a time.
class workload_oracle {
 public:
  explicit workload_oracle(const workload_stream&);

  /// To be called with every record, in the order drawn. Where two events claim the highest number of a
  /// payment, the one that came first holds it.
  void observe(const workload_record&);

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }
  /// Payments that had a well-formed event.
  [[nodiscard]] std::uint64_t aggregates() const noexcept { return aggregates_; }
  /// The final snapshots, in byte order of the aggregate ids.
  void each(const std::function<void(std::string_view aggregate, std::string_view snapshot)>&) const;

 private:
  friend class workload_comparison;
  workload_stream stream_;               // for its dials: renders, draws nothing
  std::vector<workload_event> highest_;  // by payment; number 0: none
  std::uint64_t records_{0};
  std::uint64_t malformed_{0};
  std::uint64_t aggregates_{0};
};

/// Compares a stored state with the oracle's, row by row. Thread-safety: one thread at a time; must not
/// outlive the oracle.
class workload_comparison {
 public:
  explicit workload_comparison(const workload_oracle&);

  /// One stored row, in any order.
  void row(std::string_view aggregate, std::string_view snapshot);
  /// To be called after the last row.
  void finish();

  [[nodiscard]] bool right() const noexcept { return wrong_ + missing_ + unexpected_ == 0; }
  [[nodiscard]] std::uint64_t matching() const noexcept { return matching_; }
  /// "state is right: 20000 of 20000 aggregates", or what differs, with the first examples.
  [[nodiscard]] std::string text() const;

 private:
  void example(std::string text);

  const workload_oracle& oracle_;
  std::vector<bool> seen_;
  std::uint64_t matching_{0};
  std::uint64_t wrong_{0};
  std::uint64_t missing_{0};
  std::uint64_t unexpected_{0};
  std::vector<std::string> examples_;
};

/// Counters as a run reported them.
struct workload_ledger {
  std::uint64_t applied{0};
  std::uint64_t superseded{0};
  std::uint64_t duplicate{0};
  std::uint64_t stale{0};
  std::uint64_t rejected{0};
  std::uint64_t malformed{0};  ///< part of `rejected`
  [[nodiscard]] std::uint64_t sum() const noexcept {
    return applied + superseded + duplicate + stale + rejected;
  }
};

/// Empty where the ledger adds up to what the oracle saw; else what does not.
[[nodiscard]] std::string ledger_fault(const workload_oracle&, const workload_ledger&);

}  // namespace ratchet
