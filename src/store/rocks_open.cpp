// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/rocks_open.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/assert.hpp"
#include "store/files/durable_files.hpp"
#include "store/files/file_problem.hpp"
#include "store/files/private_directory.hpp"
#include "store/open/checkpoint.hpp"
#include "store/rocks_parts.hpp"

// Opening, in the order in which it happens.
namespace ratchet {

namespace {

/// The directory, made durable in its parent. True: it was not there.
reported<bool> make_directory(const store_options& options) {
  std::error_code code;
  if (!options.create && !std::filesystem::exists(options.path, code)) {
    return problem{make_error_code(errc::state_missing),
                   "there is no state directory " + options.path.string(),
                   "run first, or name another",
                   {}};
  }
  RATCHET_TRY(const bool is_new, make_private_directory(options.path));
  if (!is_new) return false;
  const std::filesystem::path parent = std::filesystem::absolute(options.path).parent_path();
  if (const auto synced = sync_directory(parent); !synced) return failed_read(parent, synced.error());
  return true;
}

/// It has steps, and no log has them: a log is to go on from them.
bool begins_log(const store_options& options, const inspected& found) {
  return options.replicated && !found.catalog.position && !found.catalog.is_restoring && found.step > 0;
}

/// A directory goes on as what it was: a replica, or a store of its own.
reported<void> check_replica(const store_options& options, const inspected& found) {
  RATCHET_ASSERT(!options.replicated || options.adopts_at_once);
  const auto& position = found.catalog.position;
  if (found.catalog.is_restoring && !options.replicated) {
    return problem{make_error_code(errc::state_foreign),
                   "a copy of a replicated state is being read into the directory " + options.path.string() +
                       ", and the config has no `replicate`; no file was changed",
                   "add `replicate` as it was, or name another directory as state.path",
                   {}};
  }
  if (position && !options.replicated) {
    return problem{make_error_code(errc::state_foreign),
                   "the state directory " + options.path.string() + " is a replica at step " +
                       std::to_string(position->step) +
                       " of a replicated log, and the config has no `replicate`; no file was changed",
                   "add `replicate` as it was, or name another directory as state.path",
                   {}};
  }
  if (begins_log(options, found) && found.catalog.copy) {
    return problem{make_error_code(errc::state_foreign),
                   "the state directory " + options.path.string() +
                       " is a checkpoint that was never started; no replicated log can begin with it, and no "
                       "file was changed",
                   "start it once without `replicate`, or name an empty directory as state.path",
                   {}};
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

/// An empty directory numbers the streams in the order of the config. It could not read rows that have other
/// numbers.
std::optional<problem> refusal_of_numbers(const store_options& options, const catalog& known) {
  std::map<stream_id, std::string> by_number;
  for (const auto& [name, record] : known.streams) by_number[record.id] = name;
  bool is_in_order = true;
  std::uint32_t next = 0;
  for (const stream_meaning& s : options.streams) {
    const auto at = known.streams.find(s.name);
    is_in_order = is_in_order && at != known.streams.end() && at->second.id == stream_id{++next};
  }
  if (is_in_order && by_number.size() == options.streams.size()) return std::nullopt;
  const bool is_whole = !by_number.empty() &&
                        by_number.rbegin()->first == stream_id{static_cast<std::uint32_t>(by_number.size())};
  std::string names;
  for (const auto& [number, name] : by_number) names += (names.empty() ? "" : ", ") + name;
  return problem{make_error_code(errc::state_foreign),
                 "the state directory " + options.path.string() +
                     " numbers its streams in another order than the config, so no other instance could read "
                     "its rows; no file was changed",
                 is_whole ? "name the streams in this order in the config, on all machines: " + names
                          : "a stream was removed from it; begin the log with an empty directory and another "
                            "`kafka.group`",
                 {}};
}

/// What a start changes goes past the log: other replicas would not know of it.
reported<void> check_adoption(const store_options& options, const inspected& found, const adoption& wanted) {
  if (!options.replicated || !found.catalog.position || !wanted.changed)
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  return problem{make_error_code(errc::state_foreign),
                 "the config would change the streams or tables of the state directory " +
                     options.path.string() + ", which follows a replicated log; no file was changed",
                 "change the config back, or give it a topic, a group and a directory of its own",
                 {}};
}

/// Everything behind the inspection: from here on files change.
reported<std::unique_ptr<store>> open_inspected(const store_options& options,
                                                const database_settings& settings, directory_lock lock,
                                                new_directory directory, const inspected& found,
                                                adoption wanted, rejected_index rejected) {
  remove_unfinished_checkpoint(options.path);
  auto synced = synced_file::open(options.path);  // before the database: it marks a directory as ours
  if (!synced) return failed_read(options.path, synced.error());
  std::unique_ptr<database> db;
  if (const auto s = database::open(settings, recovery_filter{found.in_files}, found.is_new, db); !s.ok()) {
    return failed_open(options.path, s);
  }
  const auto step = read_step(*db, {}, family::standard);
  if (!step) return failed_read(options.path, step.error());
  if (step.assume_value() != found.step) {
    return problem{make_error_code(errc::internal),
                   "recovery gave step " + std::to_string(step.assume_value()) +
                       " where its inspection had found " + std::to_string(found.step),
                   "please report it",
                   {}};
  }
  if (begins_log(options, found)) {
    wanted.known.position = place_before_log(*wanted.known.identity, found.step);
    wanted.changed = true;
  }
  result<void> done = BOOST_OUTCOME_V2_NAMESPACE::success();
  if (wanted.changed && options.adopts_at_once) done = write_adoption(*db, wanted, rejected);
  if (done && wanted.changed) done = sync_directory(options.path);
  if (done) done = retire_spoilt_logs(*db, *wanted.known.identity);
  if (done) done = publish_recovered_floors(*db, wanted, *settings.floors);
  if (done && found.step != synced.assume_value().step()) {
    // What was recovered lies in synced table files now.
    done = synced.assume_value().write(found.step);
  }
  if (!done) return failed_read(options.path, done.error());
  auto memory = make_memory(*db, slots_of(wanted.known), options.remembered_bytes);
  if (!memory) return failed_read(options.path, memory.error());
  return make_rocks_store(
      {std::move(lock), std::move(directory), std::move(db), std::move(wanted), std::move(rejected),
       std::move(memory).assume_value(), settings.floors, std::move(synced).assume_value(), found.step},
      options);
}

}  // namespace

reported<std::unique_ptr<store>> open_store(const store_options& options, rocksdb::Env* env) {
  RATCHET_TRY(const bool is_made, make_directory(options));
  RATCHET_TRY(directory_lock lock, directory_lock::take(options.path, directory_lock::mode::exclusive));
  new_directory directory{options.path, is_made};
  if (options.adopts_at_once) directory.keep();
  RATCHET_TRY(check_writable(options.path));
  RATCHET_TRY(check_owner(options.path));
  database_settings settings;
  settings.path = options.path;
  settings.memory_bytes = options.database_bytes;
  settings.env = env;
  RATCHET_TRY(inspected found, inspect_directory(settings));
  if (found.is_new && !options.create) {
    return problem{make_error_code(errc::state_missing),
                   "the directory " + options.path.string() + " holds no state",
                   "run first, or name another",
                   {}};
  }
  RATCHET_TRY(check_replica(options, found));
  if (found.is_new) directory.note_new_store();
  RATCHET_TRY(adoption wanted, adopt(options, found));
  RATCHET_TRY(check_adoption(options, found, wanted));
  if (begins_log(options, found)) {
    if (auto refused = refusal_of_numbers(options, wanted.known)) return std::move(*refused);
  }
  RATCHET_TRY(rejected_index rejected, rehearse_reads(options, found));
  found.db.reset();
  RATCHET_TRY(close_to_others(options.path));  // not before it is known to be ours: it may be anybody's home
  return open_inspected(options, settings, std::move(lock), std::move(directory), found, std::move(wanted),
                        std::move(rejected));
}

reported<std::unique_ptr<store>> open_store(const store_options& options) {
  return open_store(options, nullptr);
}

}  // namespace ratchet
