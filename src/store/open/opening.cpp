// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/opening.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "store/engine/rocksdb_error.hpp"
#include "store/files/file_problem.hpp"
#include "store/files/store_files.hpp"
#include "store/files/synced_file.hpp"

namespace ratchet {

namespace {

/// Names that a fresh directory may hold: of the file system, of ours before the store is made.
bool may_precede_a_store(const std::string& name) {
  return name == "lost+found" || name == "control.sock" || name == synced_file::k_unfinished_name;
}

enum class content : unsigned char { nothing, database, ours_without_database, foreign };

/// `in_creation`: the file SYNCED says that no step was synced yet.
reported<content> look_into(const std::filesystem::path& path, bool in_creation) {
  std::error_code code;
  bool anything = false;
  bool has_current = false;
  for (std::filesystem::directory_iterator at{path, code}, end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    has_current |= name == "CURRENT";
    anything |= !may_precede_a_store(name);
  }
  if (code) return failed_read(path, code);
  if (has_current) return content::database;
  if (!anything) return content::nothing;
  return in_creation ? content::ours_without_database : content::foreign;
}

problem foreign_directory(const std::filesystem::path& path) {
  return {make_error_code(errc::state_foreign),
          "the directory " + path.string() + " is not empty and is not a state directory of Ratchet's",
          "name another, or an empty one, as state.path",
          {}};
}

/// Written before the first release: from then on each version reads what the ones before it wrote.
problem older_schema(const std::filesystem::path& path, std::uint32_t version) {
  diagnostic difference;
  difference.path = "schema version";
  difference.message = "was " + std::to_string(version) + ", is " + std::to_string(layout::k_schema_version);
  return {make_error_code(errc::state_foreign),
          "the state directory " + path.string() + " has schema version " + std::to_string(version) +
              ", and this program reads version " + std::to_string(layout::k_schema_version) + " alone",
          "use the version of Ratchet that wrote it, or start with --resume rebuild: the directory is moved "
          "aside, and the topics are handled from their beginning",
          {std::move(difference)}};
}

problem newer_schema(const std::filesystem::path& path, std::uint32_t version) {
  return {make_error_code(errc::state_newer_schema),
          "the state directory " + path.string() + " has schema version " + std::to_string(version) +
              ", this program reads versions up to " + std::to_string(layout::k_schema_version),
          "use the version of Ratchet that wrote it, or a newer one",
          {}};
}

std::string name_of(family f) {
  return k_family_names[static_cast<std::size_t>(f)];
}

/// Compares what recovery would give with what it must give. Empty: sound.
result<std::string> find_inconsistency(const inspected& found) {
  const recovery_filter& filter = found.db->filter();
  const std::string at_step = "step " + std::to_string(found.step);
  for (const family f : k_step_families) {
    RATCHET_TRY(const std::uint64_t step, read_step(*found.db, {}, f));
    if (step == found.step) continue;
    return "the column family " + name_of(f) + " is at step " + std::to_string(step) + " and " +
           name_of(family::standard) + " at " + at_step + ": the write-ahead log has a hole";
  }
  if (filter.last_passed() && *filter.last_passed() != found.step) {
    return "the write-ahead log can be read up to step " + std::to_string(*filter.last_passed()) +
           " only, and the table files hold " + at_step;
  }
  if (found.step < found.synced) {
    return "steps that were synced are missing: " + at_step + " is the last one that can be recovered, and " +
           std::to_string(found.synced) + " was synced";
  }
  return std::string{};
}

/// The lowest step that any column family has in its table files.
reported<std::uint64_t> step_in_files(const database_settings& settings) {
  std::unique_ptr<database> db;
  if (const auto s = database::open_read_only(settings, recovery_filter{}, db); !s.ok()) {
    return failed_open(settings.path, s);
  }
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const family f : k_step_families) {
    const auto step = read_step(*db, {}, f);
    if (!step) return failed_read(settings.path, step.error());
    lowest = std::min(lowest, step.assume_value());
  }
  return lowest;
}

/// RocksDB keeps the system's reason in its text alone.
std::string hint_of(const std::filesystem::path& path, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  for (const std::errc reason :
       {std::errc::permission_denied, std::errc::read_only_file_system, std::errc::no_space_on_device}) {
    const std::error_code code = std::make_error_code(reason);
    if (text.find(code.message()) != std::string::npos) return hint_for_file(path, code);
  }
  return {};
}

}  // namespace

problem damaged_directory(const std::filesystem::path& path, const std::string& what) {
  return {make_error_code(errc::state_damaged),
          "the state directory " + path.string() + " is damaged: " + what + "; no file was changed",
          "keep a copy of the directory; then restore a checkpoint, or rebuild the state from the log with "
          "--resume rebuild",
          {}};
}

problem failed_open(const std::filesystem::path& path, const rocksdb::Status& status) {
  // A file that another one names and that is not there: CURRENT or the manifest is damaged, or the file
  // gone.
  if (status.IsCorruption() || status.IsPathNotFound()) return damaged_directory(path, status.ToString());
  return {to_error_code(status),
          "cannot open the state directory " + path.string() + ": " + status.ToString(),
          hint_of(path, status),
          {}};
}

problem failed_read(const std::filesystem::path& path, const std::error_code& code) {
  if (code == make_error_code(errc::state_damaged))
    return damaged_directory(path, "a value cannot be decoded");
  return file_problem("read the state directory", path, code);
}

reported<inspected> inspect_directory(const database_settings& settings) {
  inspected found;
  const auto irregular = find_irregular_file(settings.path);
  if (!irregular) return failed_read(settings.path, irregular.error());
  if (!irregular.assume_value().empty()) return damaged_directory(settings.path, irregular.assume_value());
  const auto synced = synced_file::read(settings.path);
  if (!synced && synced.error() != make_error_code(errc::not_found) &&
      synced.error() != make_error_code(errc::state_damaged)) {
    return failed_read(settings.path, synced.error());
  }
  // A creation that was cut short left SYNCED at step 0 and no identity.
  const bool in_creation = synced && synced.assume_value() == 0;
  RATCHET_TRY(const content what, look_into(settings.path, in_creation));
  if (what == content::foreign) {
    // Nobody else makes such a file: what it stands in is, or was, a state.
    const bool is_ours = synced || synced.error() == make_error_code(errc::state_damaged);
    return is_ours ? damaged_directory(settings.path, "the file CURRENT is missing")
                   : foreign_directory(settings.path);
  }
  if (what != content::database) {
    found.is_new = true;
    return found;
  }
  // Twice: once for what lies in the table files alone, once with the log, whose first step must follow on
  // from it.
  RATCHET_TRY(found.in_files, step_in_files(settings));
  if (const auto s = database::open_read_only(settings, recovery_filter{found.in_files}, found.db); !s.ok()) {
    return failed_open(settings.path, s);
  }
  auto read = read_catalog(*found.db, {});
  if (!read) return failed_read(settings.path, read.error());
  found.catalog = std::move(read).assume_value();
  if (!found.catalog.identity) {
    if (!in_creation) return foreign_directory(settings.path);
    found.db.reset();
    found.is_new = true;
    return found;
  }
  if (const auto version = found.catalog.identity->schema_version; version > layout::k_schema_version) {
    return newer_schema(settings.path, version);
  } else if (version < layout::k_schema_version) {
    return older_schema(settings.path, version);
  }
  if (!found.db->complete())
    return damaged_directory(settings.path, "its column families are not the known ones");
  if (!synced) {
    return damaged_directory(settings.path, synced.error() == make_error_code(errc::not_found)
                                                ? "the file SYNCED is missing"
                                                : "the file SYNCED cannot be read");
  }
  found.synced = synced.assume_value();
  const auto step = read_step(*found.db, {}, family::standard);
  if (!step) return failed_read(settings.path, step.error());
  found.step = step.assume_value();
  const auto inconsistency = find_inconsistency(found);
  if (!inconsistency) return failed_read(settings.path, inconsistency.error());
  if (!inconsistency.assume_value().empty())
    return damaged_directory(settings.path, inconsistency.assume_value());
  return found;
}

}  // namespace ratchet
