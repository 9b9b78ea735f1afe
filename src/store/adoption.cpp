// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/adoption.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/layout_waiting.hpp"
#include "store/meaning.hpp"
#include "store/rocksdb_error.hpp"

namespace ratchet {

namespace {

problem other_group(const store_options& options, const std::string& stored) {
  return {make_error_code(errc::state_foreign),
          "the state directory " + options.path.string() + " belongs to the consumer group \"" + stored +
              "\", the config says \"" + options.group + "\". No file was changed.",
          "change kafka.group back, or name another state.path",
          {}};
}

problem changed_meaning(const store_options& options, std::vector<diagnostic> lines) {
  return {
      make_error_code(errc::state_foreign),
      "the state in " + options.path.string() +
          " was made with other settings; what is stored would not mean the same. No file was changed.",
      "change the settings back; or keep this state and give the new settings a `state.path` and a "
      "`kafka.group` of their own; or build it anew: from Kafka with `ratchet run --resume rebuild`, from "
      "files by moving the directory away and applying them again. What may change at any time: "
      "`dedup.window`, `dedup.max_skew`, `gap`, `waiting`, `retry`, `reducer.timeout`, `dead_letter`, "
      "`rejections`, `emit`, `outputs`, `outbox`, `rejected`, `poison`, `step`, `memory_limit`, "
      "`state.sync`, "
      "`state.commit_interval`, `kafka.brokers` of the same cluster, `kafka.properties`",
      std::move(lines)};
}

}  // namespace

reported<adoption> adopt(const store_options& options, const inspected& found) {
  adoption out;
  out.known = found.catalog;
  if (found.is_new) {
    out.known.identity = layout::identity{layout::k_schema_version, draw_uuid(), options.group, ""};
    out.changed = true;
  } else if (out.known.identity->group != options.group) {
    return other_group(options, out.known.identity->group);
  }
  std::uint32_t highest = 0;
  for (const auto& [name, record] : out.known.streams) {
    highest = std::max(highest, static_cast<std::uint32_t>(record.id));
  }
  std::vector<diagnostic> differences;
  for (const stream_meaning& configured : options.streams) {
    const std::string hash = meaning_hash(configured.lines);
    const auto at = out.known.streams.find(configured.name);
    if (at == out.known.streams.end()) {
      out.known.streams.emplace(configured.name,
                                layout::stream_record{stream_id{++highest}, hash, configured.lines});
      out.changed = true;
      continue;
    }
    if (at->second.hash == hash) continue;
    const auto state = read_stream_state(*found.db, {}, at->second.id);
    if (!state) return failed_read(options.path, state.error());
    if (!never_applied(state.assume_value().counters)) {
      auto lines = meaning_differences(at->second, configured);
      std::move(lines.begin(), lines.end(), std::back_inserter(differences));
      continue;
    }
    out.starting_over.push_back(at->second.id);
    at->second = {at->second.id, hash, configured.lines};
    out.changed = true;
  }
  if (!differences.empty()) return changed_meaning(options, std::move(differences));
  return out;
}

namespace {

/// Removes every row of a stream that never applied anything.
result<void> start_over(rocksdb::WriteBatch& batch, const database& db, rejected_index& rejected,
                        stream_id stream) {
  rejected.clear(batch, db.handle(family::standard), stream);
  const auto erase_all = [&](family f, const std::string& prefix) {
    return db.for_each({}, f, prefix, [&](std::string_view key, std::string_view) -> result<bool> {
      batch.Delete(db.handle(f), key).PermitUncheckedError();
      return true;
    });
  };
  RATCHET_TRY(erase_all(family::standard, layout::stream_state_key(stream)));
  RATCHET_TRY(erase_all(family::standard, layout::prefix_of(layout::kind::partition, stream)));
  for (const family f : {family::sequences, family::snapshots, family::dedup}) {
    RATCHET_TRY(erase_all(f, layout::stream_prefix(stream)));
  }
  RATCHET_TRY(erase_all(family::dedup, layout::opaque_ids_prefix(stream)));
  using layout::waiting_kind;
  for (const waiting_kind kind : {waiting_kind::event, waiting_kind::backlog, waiting_kind::wake,
                                  waiting_kind::gap, waiting_kind::id}) {
    RATCHET_TRY(erase_all(family::waiting, layout::waiting_prefix(kind, stream)));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

result<void> write_adoption(const database& db, const adoption& wanted, rejected_index& rejected) {
  rocksdb::WriteBatch batch;
  rocksdb::ColumnFamilyHandle* family = db.handle(family::standard);
  batch.Put(family, layout::identity_key(), layout::encode_identity(*wanted.known.identity))
      .PermitUncheckedError();
  for (const auto& [name, record] : wanted.known.streams) {
    batch.Put(family, layout::stream_key(name), layout::encode_stream(record)).PermitUncheckedError();
  }
  for (const stream_id stream : wanted.starting_over) {
    RATCHET_TRY(start_over(batch, db, rejected, stream));
  }
  rocksdb::WriteOptions synced;
  synced.sync = true;
  if (const rocksdb::Status s = db.db().Write(synced, &batch); !s.ok()) return to_error_code(s);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
