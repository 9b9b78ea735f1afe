// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/rocks_open.hpp"
#include "store/rocks_store.hpp"
#include "support/temporary_directory.hpp"

/// What the tests of the store share.
namespace ratchet::store_support {

/// The value, or an abort with the error's text: for what a test takes for granted.
template <class T>
T must(result<T> r) {
  if (!r) {
    std::fprintf(stderr, "unexpected error: %s\n", r.error().message().c_str());
    std::abort();
  }
  return std::move(r).assume_value();
}
inline void must(result<void> r) {
  if (r) return;
  std::fprintf(stderr, "unexpected error: %s\n", r.error().message().c_str());
  std::abort();
}
template <class T>
T must(reported<T> r) {
  if (!r) {
    report(r.error());
    std::abort();
  }
  return std::move(r).assume_value();
}

using support::temporary_directory;

inline event_id id_for(const std::string& aggregate, std::uint64_t number) {
  constexpr std::uint64_t k_milliseconds = 1'700'000'000'000;
  return {(k_milliseconds + number) << 16U | 0x7000U, std::hash<std::string>{}(aggregate)};
}

struct put_row {
  std::string aggregate;
  sequence last;
  std::string snapshot;
  bool deleted{false};
};

inline step_plan plan_of(const std::vector<std::string_view>& aggregates) {
  step_plan plan;
  for (const std::string_view aggregate : aggregates) plan.add(aggregate);
  return plan;
}

class fixture : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return directory_.path() / "state"; }
  [[nodiscard]] store_options options() const {
    store_options o;
    o.path = path();
    o.group = "group-1";
    o.streams = {{"payments", {{"order", "latest"}, {"dedup.ids", "uuidv7"}}}};
    o.database_bytes = std::uint64_t{24} << 20U;
    o.remembered_bytes = std::uint64_t{8} << 20U;
    return o;
  }
  [[nodiscard]] std::unique_ptr<store> open() const { return must(open_store(options())); }

  /// Writes a step in which each row was applied by an event with the id id_for(aggregate, number). Returns
  /// the stream's state after it.
  static stream_state write(store& s, stream_id stream, const std::vector<put_row>& rows,
                            const std::function<void(step_batch&, stream_change&)>& edit = {}) {
    step_plan plan;
    stream_change change;
    change.after = must(s.load(stream));
    for (const put_row& r : rows) {
      const auto index = static_cast<std::uint32_t>(plan.aggregates.size());
      plan.add(r.aggregate);
      const event_id id = id_for(r.aggregate, r.last.number);
      aggregate_row row;
      row.last = r.last;
      row.id = id;
      row.snapshot = r.snapshot;
      row.deleted = r.deleted;
      change.rows.push_back({index, row});
      change.ids.push_back({index, id});
      change.after.counters.applied += 1;
      change.after.counters.consumed += 1;
    }
    const topic_partition where{"payment-status", partition_id{0}};
    change.after.partitions[where].next_offset += static_cast<std::int64_t>(rows.size());
    change.touched = {where};
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.parts.push_back({stream, &plan, &change, {}});
    if (edit) edit(batch, change);
    must(s.write(batch));
    return change.after;
  }

 private:
  temporary_directory directory_;
};

}  // namespace ratchet::store_support
