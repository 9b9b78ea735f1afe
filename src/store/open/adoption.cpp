// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/adoption.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/reducers.hpp"
#include "core/typed_command.hpp"
#include "ports/foreign_group.hpp"
#include "store/engine/rocksdb_error.hpp"
#include "store/layout/meaning.hpp"
#include "store/layout/slot_row.hpp"
#include "store/layout/tables.hpp"
#include "store/open/holdings.hpp"
#include "store/open/left_behind.hpp"

namespace ratchet {

namespace {

/// A stream whose state a program's own reducer has made, while the config names one of Ratchet's.
struct forgotten_reducer {
  std::string stream;
  std::string name;
  std::string version;
};

/// The streams that hold something, and mean something else in the config.
struct changed_streams {
  std::vector<diagnostic> lines;
  std::set<std::string> names;
  std::string held;  ///< what they hold, for people
  std::vector<forgotten_reducer> forgotten;
  bool own{false};  ///< the config has one of them handled by a program's own reducer
};

[[nodiscard]] std::string line_of(const std::vector<std::pair<std::string, std::string>>& lines,
                                  std::string_view key) {
  const auto at =
      std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == key; });
  return at == lines.end() ? std::string{} : at->second;
}

[[nodiscard]] bool is_own(const std::string& reducer) {
  return !reducer.empty() && !is_built_in(reducer);
}

void note_changed(changed_streams& changed, const layout::stream_record& stored,
                  const stream_meaning& configured, const holdings& holds) {
  auto lines = meaning_differences(stored, configured);
  std::move(lines.begin(), lines.end(), std::back_inserter(changed.lines));
  changed.names.insert(configured.name);
  changed.held +=
      (changed.held.empty() ? "stream \"" : "; stream \"") + configured.name + "\" holds " + describe(holds);
  const std::string made_by = line_of(stored.lines, k_reducer_name_line);
  const bool own = is_own(line_of(configured.lines, k_reducer_name_line));
  changed.own = changed.own || own;
  if (is_own(made_by) && !own) {
    changed.forgotten.push_back({configured.name, made_by, line_of(stored.lines, k_reducer_version_line)});
  }
}

/// To build it anew with another reducer, as is advised elsewhere, would be no answer here.
[[nodiscard]] std::string hint_of(const std::vector<forgotten_reducer>& forgotten) {
  std::string hint;
  for (const forgotten_reducer& f : forgotten) {
    hint += "the state of stream \"" + f.stream +
            "\" was made by a program's own reducer: set `reducer: {kind: own, name: " + f.name +
            ", version: " + f.version +
            "}` in the config, with `from` as it was, and let that program run it; `ratchet` can then read "
            "the state. ";
  }
  return hint +
         "Change back the other listed settings. Another reducer needs a `state.path` and a `kafka.group` of "
         "its own";
}

[[nodiscard]] std::string how_to_rebuild(bool own) {
  return own ? "with `resume_option::rebuild`, which the program that has the reducer gives to app::open()"
             : "with " + typed_command("run", "--resume rebuild");
}

problem changed_meaning(const store_options& options, changed_streams changed) {
  problem refused{
      make_error_code(errc::state_foreign),
      "the state in " + options.path.string() +
          " was made with other settings; the stored data would mean something else: " + changed.held +
          "; no file was changed",
      (options.replicated
           ? std::string{}
           : "rebuild the state with the new settings: from Kafka " + how_to_rebuild(changed.own) +
                 ", from files by moving the directory away and applying them again; or ") +
          "change the settings back (a fixed reducer whose state means the same keeps its name and version: "
          "then `ratchet waiting replay` tries the waiting events again); or keep this state and give the "
          "new settings a `state.path` and a `kafka.group` of their own" +
          (options.replicated ? ", and a log topic" : "") + ". Windows, limits, intervals, outputs" +
          (options.replicated ? "" : " and new tables") +
          " may change at any time: see `Change the config` in docs/operating/upgrading.md",
      std::move(changed.lines)};
  if (!changed.forgotten.empty()) refused.hint = hint_of(changed.forgotten);
  if (!options.replicated) ask_to_rebuild(refused, changed.names);
  return refused;
}

problem taken_table(const store_options& options, const std::string& table, const std::string& of,
                    const std::string& wanted_by) {
  diagnostic difference;
  difference.path = wanted_by + "." + std::string{k_table_line} + table;
  difference.message = "stream \"" + of + "\" has it";
  problem refused{
      make_error_code(errc::state_foreign),
      "the table \"" + table + "\" of stream \"" + wanted_by + "\" is one of stream \"" + of +
          "\" in the state directory " + options.path.string() + "; no file was changed",
      "give it another name: a table belongs to one stream, also after the config dropped that "
      "stream" +
          (options.replicated ? std::string{}
                              : "; or rebuild the state with " + typed_command("run", "--resume rebuild")),
      {std::move(difference)}};
  if (!options.replicated) ask_to_rebuild(refused, {wanted_by});
  return refused;
}

/// A table is asked for by its name alone, so that no two streams may have it.
std::optional<problem> find_taken_table(const store_options& options, const catalog& known) {
  std::map<std::string, std::string> streams_by_table;
  for (const auto& [name, record] : known.streams) {
    for (const table_config& t : tables_in(record.lines)) {
      const auto [at, is_new] = streams_by_table.try_emplace(t.name, name);
      if (is_new) continue;
      const std::string& first = at->second;
      const bool first_is_configured = std::any_of(options.streams.begin(), options.streams.end(),
                                                   [&](const stream_meaning& s) { return s.name == first; });
      return first_is_configured ? taken_table(options, t.name, name, first)
                                 : taken_table(options, t.name, first, name);
    }
  }
  return std::nullopt;
}

}  // namespace

reported<adoption> adopt(const store_options& options, const inspected& found) {
  adoption out;
  out.known = found.catalog;
  if (found.is_new) {
    out.known.identity = layout::identity{layout::k_schema_version, draw_uuid(), options.group, ""};
    out.changed = true;
  } else if (out.known.identity->group.empty() && !options.group.empty()) {
    // Nothing was read or claimed by it, as that wants a group: it takes its first one.
    out.known.identity->group = options.group;
    out.changed = true;
  } else if (auto foreign = foreign_group(options.path, out.known.identity->group, options.group)) {
    return std::move(*foreign);
  }
  if (!found.is_new) {
    if (auto left = find_left_behind(options, *found.db, found.catalog)) return std::move(*left);
  }
  std::uint32_t highest = 0;
  for (const auto& [name, record] : out.known.streams) {
    highest = std::max(highest, static_cast<std::uint32_t>(record.id));
  }
  changed_streams changed;
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
    const auto holds = holdings_of(*found.db, state.assume_value(), at->second.id);
    if (!holds) return failed_read(options.path, holds.error());
    const bool holds_nothing = holds.assume_value().none();
    if (const auto added = only_tables_added(at->second, configured)) {
      for (const std::string& table : *added) {
        if (!holds_nothing) out.added_tables.push_back({configured.name, table});
      }
    } else if (holds_nothing) {
      out.restarted.push_back({configured.name, state.assume_value().counters});
    } else {
      note_changed(changed, at->second, configured, holds.assume_value());
      continue;
    }
    at->second = {at->second.id, hash, configured.lines};
    out.changed = true;
  }
  if (!changed.lines.empty()) return changed_meaning(options, std::move(changed));
  if (auto taken = find_taken_table(options, out.known)) return std::move(*taken);
  return out;
}

namespace {

/// Removes every row of a stream that holds nothing else.
result<void> start_over(rocksdb::WriteBatch& batch, const database& db, rejected_index& rejected,
                        stream_id stream) {
  row_sink to{db, batch};
  rejected.clear(to, stream);
  const auto erase_all = [&](const std::string& prefix) {
    return db.for_each({}, family::standard, prefix,
                       [&](std::string_view key, std::string_view) -> result<bool> {
                         batch.Delete(db.handle(family::standard), key).PermitUncheckedError();
                         return true;
                       });
  };
  RATCHET_TRY(erase_all(layout::stream_state_key(stream)));
  RATCHET_TRY(erase_all(layout::prefix_of(layout::kind::partition, stream)));
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace

result<void> put_adoption(rocksdb::WriteBatch& batch, const database& db, const adoption& wanted,
                          rejected_index& rejected) {
  rocksdb::ColumnFamilyHandle* family = db.handle(family::standard);
  batch.Put(family, layout::identity_key(), layout::encode_identity(*wanted.known.identity))
      .PermitUncheckedError();
  for (const auto& [name, record] : wanted.known.streams) {
    batch.Put(family, layout::stream_key(name), layout::encode_stream(record)).PermitUncheckedError();
  }
  if (const auto& at = wanted.known.position; at && at->is_before_log())
    batch.Put(family, layout::slot_key(k_instance_slot), layout::encode_slot(*at)).PermitUncheckedError();
  for (const restarted_stream& r : wanted.restarted) {
    RATCHET_TRY(start_over(batch, db, rejected, wanted.known.streams.at(r.stream).id));
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

replicate::log_position place_before_log(const layout::identity& identity, std::uint64_t step) {
  return replicate::position_before_log(bits_of_uuid(identity.uuid),
                                        static_cast<std::uint32_t>(k_instance_slot), step,
                                        bits_of_uuid(draw_uuid()));
}

result<void> write_adoption(const database& db, const adoption& wanted, rejected_index& rejected) {
  rocksdb::WriteBatch batch;
  RATCHET_TRY(put_adoption(batch, db, wanted, rejected));
  rocksdb::WriteOptions synced;
  synced.sync = true;
  if (const rocksdb::Status s = db.db().Write(synced, &batch); !s.ok()) return to_error_code(s);
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
