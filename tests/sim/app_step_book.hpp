// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "app_plain_oracle.hpp"
#include "app_simulated_kafka.hpp"
#include "app_simulated_store.hpp"

namespace ratchet::sim {

/// What each step of one state directory did, as seen from outside: which records it took, in which order.
/// The oracle is fed with it, and is at every moment what the directory must hold. Checks all of what must
/// always hold, at every write. Errors: throws broken.
class step_book {
 public:
  explicit step_book(const history&);

  /// A batch was handed to the pipeline; steps take batches in the order of their delivery.
  void delivered(const cluster&, std::vector<std::pair<std::size_t, log_entry>>);
  /// What was delivered and not written is forgotten: a new session.
  void forget_deliveries() { delivered_.clear(); }

  void write(const step_batch&, const simulated_disk::contents& before, const cluster&, std::int64_t now);
  /// The directory lost what came behind this step.
  void take_back_to(std::uint64_t number);

  /// The next offset of the partition that the step of that number left; none: it does not know the
  /// partition.
  [[nodiscard]] std::optional<std::int64_t> next_offset(std::size_t log, std::uint64_t number) const;
  /// The directory equals the oracle.
  void compare(const simulated_disk::contents&, const cluster&) const;
  /// How many records met which fate.
  void count(std::array<std::uint64_t, k_fates>&) const;
  /// As long as nobody misbehaved: the state is that of all records, in whatever order.
  void compare_with_all(const history&) const;

 private:
  struct operation {
    enum class kind : std::uint8_t { take, go_on, leave_out } what{kind::take};
    std::uint32_t stream{0};
    std::uint32_t partition{0};
    std::int64_t offset{0};
    const message* of{nullptr};
    std::int64_t now{0};
    std::vector<std::uint32_t> left_out{};
  };
  struct step {
    std::uint64_t number{0};
    std::vector<operation> operations;
    std::vector<std::pair<std::size_t, std::int64_t>> nexts;
  };
  struct delivery {
    std::size_t log{0};
    log_entry entry;
    std::uint32_t made{0};
  };

  void take_records(step&, std::uint32_t stream, const stream_change&, const std::vector<delivery>&,
                    const cluster&, std::int64_t now);
  void take_record(step&, std::uint32_t stream, decision, const delivery&, const cluster&, std::int64_t now);
  void take_moves(step&, std::uint32_t stream, const stream_change&, const stream_rows& before,
                  const std::vector<audit_row>&, const cluster&);
  void check_jump(std::uint32_t stream, const partition_log&, std::optional<std::int64_t> from,
                  std::int64_t to, const std::vector<audit_row>&) const;
  void check_part(const step_part&, const stream_rows& before) const;
  fate perform(const operation&);

  const history* history_;
  std::vector<plain_oracle> oracles_;
  std::vector<step> steps_;
  std::deque<std::vector<delivery>> delivered_;
};

}  // namespace ratchet::sim
