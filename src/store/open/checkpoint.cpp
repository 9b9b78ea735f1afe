// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/checkpoint.hpp"

#include <rocksdb/utilities/checkpoint.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "core/success.hpp"
#include "store/engine/catalog.hpp"
#include "store/engine/column_families.hpp"
#include "store/engine/rocksdb_error.hpp"
#include "store/files/directory_lock.hpp"
#include "store/files/durable_files.hpp"
#include "store/files/synced_file.hpp"
#include "store/open/opening.hpp"

namespace ratchet {

namespace {

namespace fs = std::filesystem;

/// In the state directory, while a checkpoint of a running store is made.
constexpr const char* k_scaffold_name = "CHECKPOINT.new";
/// Beside the target, while it is made there.
constexpr const char* k_partial_suffix = ".partial";
/// Inside either of them; nobody else can look into those.
constexpr const char* k_linked_name = "db";
constexpr std::uint64_t k_brief_memory = std::uint64_t{32} << 20U;

problem failed(std::error_code code, const std::string& what) {
  return {code, what + ": " + code.message(), "", {}};
}

std::error_code last_error() {
  return {errno, std::system_category()};
}

/// Without a slash at its end.
fs::path tidy(const fs::path& path) {
  fs::path out = path.lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

database_settings brief_settings(const fs::path& path, rocksdb::Env* env) {
  database_settings settings;
  settings.path = path;
  settings.env = env;
  settings.memory_bytes = k_brief_memory;
  settings.brief = true;
  return settings;
}

/// A directory that is made for its owner's eyes alone.
reported<void> make_private_directory(const fs::path& path, const char* hint_if_there) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0) return success();
  const std::error_code code = last_error();
  problem p = failed(code, "cannot make " + path.string());
  if (code.value() == EEXIST) p.hint = hint_if_there;
  return p;
}

/// Makes a store of what RocksDB linked: the mark first, and SYNCED last, without which nothing opens it.
reported<void> make_store_of(const fs::path& linked, std::uint64_t in_files, const copy_mark& mark,
                             rocksdb::Env* env) {
  std::unique_ptr<database> db;
  if (const auto s = database::open(brief_settings(linked, env), recovery_filter{in_files}, false, db);
      !s.ok()) {
    return failed_open(linked, s);
  }
  const auto step = read_step(*db, {}, family::standard);
  if (!step) return failed_read(linked, step.error());
  if (step.assume_value() != mark.step) {
    return problem{make_error_code(errc::internal),
                   "the checkpoint is at step " + std::to_string(step.assume_value()) + ", and not at " +
                       std::to_string(mark.step),
                   "please report it",
                   {}};
  }
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const auto s = db->db().Put(synced, db->handle(family::standard), layout::copy_mark_key(),
                              layout::encode_copy_mark(mark));
  if (!s.ok()) return failed(to_error_code(s), "cannot mark the checkpoint");
  db.reset();
  auto file = synced_file::open(linked);
  if (!file) return failed_read(linked, file.error());
  if (const auto written = file.assume_value().write(mark.step); !written) {
    return failed_read(linked, written.error());
  }
  return success();
}

/// Opens it as a start would, read-only, and tells what it holds.
reported<checkpoint_taken> examine(const fs::path& path, const copy_mark& mark, rocksdb::Env* env) {
  RATCHET_TRY(const inspected found, inspect_directory(brief_settings(path, env)));
  if (found.is_new || found.step != mark.step || found.catalog.copy != mark) {
    return damaged_directory(path, "it is not the checkpoint that was made");
  }
  checkpoint_taken taken;
  taken.uuid = found.catalog.identity->uuid;
  // People know a replica's steps by the numbers of its log.
  taken.step = found.catalog.position ? found.catalog.position->step : found.step;
  taken.taken_at = mark.taken_at;
  for (const auto& [name, record] : found.catalog.streams) {
    const auto state = read_stream_state(*found.db, {}, record.id);
    if (!state) return failed_read(path, state.error());
    checkpointed_stream& stream = taken.streams.emplace_back();
    stream.name = name;
    for (const auto& [where, partition] : state.assume_value().partitions) {
      if (!where.topic.empty() && partition.has_position())
        stream.next_offsets.emplace_back(where, partition.next_offset);
    }
  }
  return taken;
}

/// Gives a finished checkpoint its name, for good. Errors: EXDEV, where that is on another file system.
reported<void> give_name(const fs::path& made, const fs::path& target) {
  if (::rename(made.c_str(), target.c_str()) != 0) {
    const std::error_code code = last_error();
    problem p = failed(code, "cannot name the checkpoint " + target.string());
    if (code.value() == EBUSY) p.hint = "a mount point cannot be replaced: name a directory inside it";
    return p;
  }
  if (const auto synced = sync_directory(target.parent_path()); !synced) {
    return failed(synced.error(), "cannot sync " + target.parent_path().string());
  }
  return success();
}

/// The directory in which a checkpoint is made, removed at the end with whatever is still in it.
class scaffold_guard {
 public:
  explicit scaffold_guard(fs::path path) : path_{std::move(path)} {}
  ~scaffold_guard() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  scaffold_guard(const scaffold_guard&) = delete;
  scaffold_guard& operator=(const scaffold_guard&) = delete;

 private:
  fs::path path_;
};

fs::path partial_of(const fs::path& target) {
  return fs::path{target}.concat(k_partial_suffix);
}

constexpr const char* k_partial_hint =
    "an interrupted checkpoint left it, or a checkpoint is being made there now; if none is, remove it";

/// The target is on another file system: the bytes are copied, and examined once more.
reported<void> copy_over(const fs::path& made, const fs::path& target, const copy_mark& mark,
                         const cancel_check& cancelled, rocksdb::Env* env) {
  const fs::path partial = partial_of(target);
  RATCHET_TRY(make_private_directory(partial, k_partial_hint));
  const scaffold_guard guard{partial};
  const fs::path copy = partial / k_linked_name;
  RATCHET_TRY(make_private_directory(copy, ""));
  if (const auto done = copy_files(made, copy, cancelled); !done) {
    return failed(done.error(), "cannot copy the checkpoint to " + partial.string());
  }
  RATCHET_TRY(examine(copy, mark, env));
  return give_name(copy, target);
}

/// From what RocksDB linked to a checkpoint with its name.
reported<checkpoint_taken> finish_linked(const fs::path& linked, const fs::path& target,
                                         std::uint64_t in_files, const copy_mark& mark,
                                         const cancel_check& cancelled, rocksdb::Env* env) {
  if (::chmod(linked.c_str(), S_IRWXU) != 0) {
    return failed(last_error(), "cannot set the mode of " + linked.string());
  }
  RATCHET_TRY(make_store_of(linked, in_files, mark, env));
  RATCHET_TRY(auto taken, examine(linked, mark, env));
  const auto size = sync_files(linked);
  if (!size) return failed(size.error(), "cannot sync " + linked.string());
  taken.files = size.assume_value().files;
  taken.bytes = size.assume_value().bytes;
  taken.path = target;
  if (cancelled && cancelled()) {
    return problem{make_error_code(errc::aborted), "the checkpoint was abandoned", "take it again", {}};
  }
  const reported<void> named = give_name(linked, target);
  if (named) return taken;
  if (named.error().code != std::error_code{EXDEV, std::system_category()}) return named.error();
  RATCHET_TRY(copy_over(linked, target, mark, cancelled, env));
  return taken;
}

/// RocksDB 11 leaves every log out where the database is open read-only, and says nothing of it. What is
/// older than the table files is passed over when the copy is opened.
result<void> add_logs(const fs::path& state, const fs::path& linked) {
  const auto is_log = [](const fs::directory_entry& entry) { return entry.path().extension() == ".log"; };
  std::error_code code;
  const fs::directory_iterator there{linked, code};
  if (code) return code;
  if (std::any_of(begin(there), end(there), is_log)) return success();
  for (fs::directory_iterator at{state, code}, end; !code && at != end; at.increment(code)) {
    if (is_log(*at)) fs::copy_file(at->path(), linked / at->path().filename(), code);
    if (code) break;
  }
  if (code) return code;
  return success();
}

}  // namespace

result<void> link_checkpoint(const database& db, const fs::path& directory) {
  rocksdb::Checkpoint* made = nullptr;
  if (const auto s = rocksdb::Checkpoint::Create(&db.db(), &made); !s.ok()) return to_error_code(s);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint{made};
  constexpr std::uint64_t k_always_flush = 0;
  if (const auto s = checkpoint->CreateCheckpoint(directory.string(), k_always_flush); !s.ok()) {
    return to_error_code(s);
  }
  return success();
}

reported<void> check_checkpoint_target(const fs::path& wanted, const fs::path& state) {
  const fs::path target = tidy(wanted);
  const auto refuse = [](std::string message, std::string hint) {
    return problem{make_error_code(errc::usage), std::move(message), std::move(hint), {}};
  };
  std::error_code code;
  const fs::file_status there = fs::symlink_status(target, code);
  if (fs::exists(there)) {
    const bool is_empty = fs::is_directory(there) && fs::is_empty(target, code);
    if (!is_empty) {
      return refuse(target.string() + " exists already, and is not an empty directory",
                    "name a directory that does not exist");
    }
  }
  const fs::path parent = fs::weakly_canonical(target.parent_path(), code);
  if (code || !fs::is_directory(parent, code)) {
    return refuse("there is no directory " + target.parent_path().string(), "make it first");
  }
  const fs::path home = fs::weakly_canonical(tidy(state), code);
  const auto [at, unused] = std::mismatch(home.begin(), home.end(), parent.begin(), parent.end());
  if (at == home.end()) {
    return refuse(target.string() + " lies inside the state directory",
                  "name a directory outside of it, best on another disk");
  }
  return success();
}

checkpoint_in_progress::checkpoint_in_progress(fs::path scaffold, fs::path target)
    : scaffold_{std::move(scaffold)}, target_{std::move(target)} {}

checkpoint_in_progress::checkpoint_in_progress(checkpoint_in_progress&& other) noexcept
    : scaffold_{std::exchange(other.scaffold_, {})}, target_{std::move(other.target_)}, env_{other.env_} {}

checkpoint_in_progress::~checkpoint_in_progress() {
  std::error_code ignored;
  if (!scaffold_.empty()) fs::remove_all(scaffold_, ignored);
}

reported<checkpoint_in_progress> checkpoint_in_progress::begin(const fs::path& state,
                                                               const fs::path& target) {
  RATCHET_TRY(check_checkpoint_target(target, state));
  remove_unfinished_checkpoint(state);
  fs::path scaffold = fs::absolute(state) / k_scaffold_name;
  RATCHET_TRY(make_private_directory(scaffold, "remove it"));
  return checkpoint_in_progress{std::move(scaffold), tidy(target)};
}

fs::path checkpoint_in_progress::linked() const {
  return scaffold_ / k_linked_name;
}

reported<checkpoint_taken> checkpoint_in_progress::finish(std::uint64_t step, timestamp taken_at,
                                                          const cancel_check& cancelled) {
  // Everything was flushed, so that all of the steps lie in table files.
  return finish_linked(linked(), target_, step, {step, taken_at, false}, cancelled, env_);
}

reported<checkpoint_taken> checkpoint_directory(const fs::path& state, const fs::path& wanted,
                                                timestamp taken_at) {
  RATCHET_TRY(check_checkpoint_target(wanted, state));
  const fs::path target = tidy(fs::absolute(wanted));
  // Held to the end: a writer would remove files that are to be linked.
  RATCHET_TRY(const directory_lock lock, directory_lock::take(state, directory_lock::mode::shared));
  RATCHET_TRY(const inspected found, inspect_directory(brief_settings(fs::absolute(state), nullptr)));
  if (found.is_new) {
    return problem{make_error_code(errc::state_missing),
                   "the directory " + state.string() + " holds no state",
                   "run first, or name another",
                   {}};
  }
  const fs::path partial = partial_of(target);
  RATCHET_TRY(make_private_directory(partial, k_partial_hint));
  const scaffold_guard guard{partial};
  const fs::path linked = partial / k_linked_name;
  if (const auto done = link_checkpoint(*found.db, linked); !done) {
    return failed(done.error(), "cannot make a checkpoint of " + state.string());
  }
  if (const auto done = add_logs(state, linked); !done) {
    return failed(done.error(), "cannot copy the logs of " + state.string());
  }
  return finish_linked(linked, target, found.in_files, {found.step, taken_at, false}, {}, nullptr);
}

void remove_unfinished_checkpoint(const fs::path& state) noexcept {
  std::error_code ignored;
  fs::remove_all(state / k_scaffold_name, ignored);
}

}  // namespace ratchet
