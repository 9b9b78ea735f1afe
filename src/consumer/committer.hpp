// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/resume.hpp"
#include "ports/source.hpp"

namespace ratchet {

/// Keeps Kafka's committed offsets behind what is durable: a position is handed out for committing only when
/// the step that carried it is synced, and only one commit is under way at a time. Pure bookkeeping; the
/// owner does the calls.
class committer {
 public:
  committer(std::string store_uuid, incarnation);

  /// A new assignment begins, at these positions; everything of the one before is forgotten, but for a commit
  /// that is still under way: its end will come, and there is one at a time.
  void assigned(std::span<const position>);
  void unassigned();
  /// These come to the assignment, or are read anew from another position.
  void also_assigned(std::span<const position>);

  /// The step moved these partitions' next offsets. Partitions that are not assigned are passed over.
  void moved(std::uint64_t step, std::span<const position>);

  /// What may be committed now; empty where nothing moved or a commit is under way. The caller then calls
  /// started().
  [[nodiscard]] std::vector<commit_request> due(std::uint64_t durable_step);
  /// The same, also where a commit is under way: for the last one, which waits.
  [[nodiscard]] std::vector<commit_request> all_due(std::uint64_t durable_step);
  /// Every assigned partition as it stands: the claim.
  [[nodiscard]] std::vector<commit_request> claim(std::span<const position>,
                                                  std::uint64_t durable_step) const;

  /// What is durable of every assigned partition, also where it is committed: to find out whether a commit is
  /// possible at all. Empty where one is under way.
  [[nodiscard]] std::vector<commit_request> again(std::uint64_t durable_step);

  void started() noexcept { under_way_ = true; }
  void finished(std::span<const committed_offset>, bool ok);

 private:
  struct moved_at {
    std::uint64_t step;
    std::vector<position> positions;
  };

  [[nodiscard]] commit_request request(const topic_partition&, std::int64_t offset, std::uint64_t step) const;

  std::string store_uuid_;
  incarnation incarnation_;
  std::deque<moved_at> waiting_;  ///< written, not yet durable; in the order of steps
  std::map<topic_partition, std::int64_t> durable_;
  std::map<topic_partition, std::int64_t> committed_;
  bool under_way_{false};
};

}  // namespace ratchet
