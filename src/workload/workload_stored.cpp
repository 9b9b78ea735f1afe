// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_stored.hpp"

#include <functional>
#include <memory>
#include <string>

#include "store/open/read_only.hpp"

namespace ratchet {
namespace {

using visitor = std::function<result<void>(const store_view&, stream_id)>;

/// Calls `visit` with the stream, where it is known.
reported<void> with_stream(const std::filesystem::path& state, std::string_view stream,
                           const visitor& visit) {
  const auto opened = open_store_read_only(state);
  if (!opened) {
    if (opened.error().code == errc::state_missing) return BOOST_OUTCOME_V2_NAMESPACE::success();
    return opened.error();
  }
  const auto failed = [&state](std::error_code code) {
    return problem{code, "cannot read the state in " + state.string() + ": " + code.message(), {}, {}};
  };
  const auto view = opened.value()->view();
  if (!view) return failed(view.error());
  for (const auto& known : opened.value()->streams()) {
    if (known.name != stream) continue;
    if (const auto done = visit(*view.value(), known.id); !done) return failed(done.error());
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

reported<workload_state> read_stored(const std::filesystem::path& state, std::string_view stream) {
  workload_state found;
  RATCHET_TRY(with_stream(state, stream, [&found](const store_view& view, stream_id id) -> result<void> {
    RATCHET_TRY(const auto stored, view.load(id));
    for (const auto& [where, partition] : stored.partitions) {
      if (partition.has_position())
        found.next_offsets[static_cast<std::int32_t>(where.partition)] = partition.next_offset;
    }
    const auto& counted = stored.counters;
    found.ledger = {.applied = counted.applied,
                    .superseded = counted.superseded,
                    .duplicate = counted.duplicate,
                    .stale = counted.stale,
                    .rejected = counted.rejected(),
                    .malformed = counted.rejected_malformed};
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }));
  return found;
}

reported<void> compare_stored(const std::filesystem::path& state, std::string_view stream,
                              workload_comparison& comparison) {
  RATCHET_TRY(with_stream(state, stream, [&comparison](const store_view& view, stream_id id) {
    return view.scan(id, [&comparison](const scanned_row& row) {
      comparison.row(row.aggregate, row.row.deleted ? std::string{"(deleted)"} : row.row.snapshot);
      return true;
    });
  }));
  comparison.finish();
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
