// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/step.hpp"
#include "store/engine/row_reader.hpp"
#include "store/step/due_index.hpp"
#include "store/step/id_cache.hpp"
#include "store/step/row_cache.hpp"
#include "store/step/write_thread.hpp"

namespace ratchet {

/// What is remembered of a slot of a stream in memory.
struct stream_memory {
  id_cache ids;
  row_cache rows;
  due_bounds due{};
};
using memory_by_slot = std::map<stream_slot, stream_memory>;

/// The highest id that is not ahead of the stream: an hour past the highest record time handled, which itself
/// is never far past the clock. None where no record had a time.
[[nodiscard]] std::optional<event_id> id_horizon(const stream_state&);

/// Starts with empty memories that together take at most `bytes`. Errors: state_damaged; of RocksDB.
[[nodiscard]] result<memory_by_slot> make_memory(const database&, std::span<const stream_slot>,
                                                 std::uint64_t bytes);

/// What the last look-up of a plan found, for the write that follows it.
struct looked_up {
  const step_plan* plan{nullptr};
  const void* aggregates{nullptr};  ///< guards against another plan at the same address
  std::size_t count{0};
  std::vector<std::uint8_t> is_external;  ///< per aggregate: its stored snapshot lies in `snapshots`

  [[nodiscard]] bool is_of(const step_plan& p) const noexcept {
    return plan == &p && aggregates == p.aggregates.data() && count == p.aggregates.size();
  }
};

/// Reads all rows of a step with one sorted MultiGet for each column family, and ids run by run, but for what
/// is remembered; and the backlogs of those that have one. Keeps its buffers.
/// Thread-safety: one owner thread.
class row_lookup {
 public:
  row_lookup(const row_reader& rows, const write_thread& writes, memory_by_slot& memory)
      : rows_{rows}, writes_{&writes}, memory_{&memory} {}
  /// Errors: state_damaged; of RocksDB.
  [[nodiscard]] result<void> run(stream_slot, const step_plan&, step_rows& out);
  /// As run(), of the aggregates alone and without their contents: for a write that no look-up preceded.
  [[nodiscard]] result<void> find_external(stream_slot, const step_plan&);
  /// Fills in what is stored in the aggregate's row: the snapshot, if it lies there, and what a partial row
  /// lacks. Errors: as run().
  [[nodiscard]] result<void> complete(stream_slot, std::string_view aggregate, aggregate_row&) const;
  [[nodiscard]] const looked_up& last() const noexcept { return last_; }
  /// What was found is not true any more once it was written over.
  void forget() noexcept { last_.plan = nullptr; }

 private:
  result<void> get_aggregates(stream_slot, const step_plan&, step_rows* out);
  void ask_for_equals(const step_plan&, step_rows& out);
  void remember(std::uint32_t aggregate, const row_head&, step_rows* out);
  result<void> get_snapshots(stream_slot, const step_plan&, step_rows& out);
  result<bool> take_snapshots(stream_slot, const step_plan&, std::span<const std::uint32_t> of,
                              std::uint64_t& left, step_rows& out);
  result<void> get_ids(stream_slot, const step_plan&, step_rows& out);
  result<void> get_opaque_ids(stream_slot, const step_plan&, step_rows& out);
  result<bool> take_ids(stream_slot, const step_plan&, std::span<const std::uint32_t> of, std::uint64_t& left,
                        step_rows& out);
  void prepare(std::size_t keys, std::size_t key_bytes);
  void add_key(std::size_t begin);
  result<void> multi_get(family, std::uint64_t soft_limit = k_no_limit);

  row_reader rows_;
  const write_thread* writes_;  ///< whoever reads from the database waits for the last step
  memory_by_slot* memory_;
  looked_up last_;
  std::vector<std::uint32_t> waits_;  ///< the aggregates that have a backlog
  std::string key_bytes_;
  std::vector<std::uint32_t> asked_;  ///< whose keys keys_ are
  std::vector<rocksdb::Slice> keys_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
};

}  // namespace ratchet
