// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/start.hpp"

#include <cstdint>
#include <set>

#include "store/engine/rocksdb_error.hpp"
#include "store/layout/layout.hpp"
#include "store/step/row_lookup.hpp"

namespace ratchet {

namespace {

std::vector<stream_id> ids_of(const catalog& known) {
  std::vector<stream_id> ids;
  for (const auto& [name, record] : known.streams) ids.push_back(record.id);
  return ids;
}

}  // namespace

std::vector<stream_slot> slots_of(const catalog& known) {
  const std::vector<stream_id> ids = ids_of(known);
  return {ids.begin(), ids.end()};
}

reported<rejected_index> rehearse_reads(const store_options& options, const inspected& found) {
  rejected_index rejected;
  if (!found.db) return rejected;
  if (const auto done = rejected.load(*found.db, ids_of(found.catalog)); !done) {
    return failed_read(options.path, done.error());
  }
  constexpr std::uint64_t k_kept_of_it = 0;
  if (const auto memory = make_memory(*found.db, slots_of(found.catalog), k_kept_of_it); !memory) {
    return failed_read(options.path, memory.error());
  }
  return rejected;
}

result<void> retire_spoilt_logs(const database& db, const layout::identity& identity) {
  rocksdb::VectorLogPtr logs;
  const rocksdb::Status read = db.db().GetSortedWalFiles(logs);
  if (read.ok()) return BOOST_OUTCOME_V2_NAMESPACE::success();
  if (!read.IsCorruption()) return to_error_code(read);
  rocksdb::ColumnFamilyHandle* family = db.handle(family::standard);
  rocksdb::WriteOptions synced;
  synced.sync = true;
  rocksdb::Status s = db.db().Put(synced, family, layout::identity_key(), layout::encode_identity(identity));
  if (s.ok()) s = db.db().Flush({}, family);
  if (s.ok()) s = db.db().DisableFileDeletions();
  if (s.ok()) s = db.db().EnableFileDeletions();
  if (!s.ok()) return to_error_code(s);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> publish_recovered_floors(const database& db, const adoption& wanted, durable_floors& floors) {
  std::set<stream_id> anew;
  for (const restarted_stream& r : wanted.restarted) anew.insert(wanted.known.streams.at(r.stream).id);
  for (const stream_id stream : ids_of(wanted.known)) {
    if (anew.contains(stream)) continue;
    RATCHET_TRY(const stream_state state, read_stream_state(db, {}, stream));
    if (state.floor) floors.raise(stream, *state.floor);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
