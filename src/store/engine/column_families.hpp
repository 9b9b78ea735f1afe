// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/error.hpp"
#include "store/engine/id_filter.hpp"
#include "store/engine/recovery.hpp"

namespace ratchet {

/// The numbers are those of the families in a replicated log.
enum class family : std::uint8_t { standard, sequences, snapshots, dedup, waiting, outbox, tables };
inline constexpr std::array<const char*, 7> k_family_names{"default", "sequences", "snapshots", "dedup",
                                                           "waiting", "outbox",    "tables"};
/// Those that every step writes its number into.
inline constexpr std::array k_step_families{family::standard, family::sequences, family::snapshots,
                                            family::dedup,    family::waiting,   family::outbox,
                                            family::tables};

/// What several column families share, and what outlives them.
struct database_settings {
  std::filesystem::path path;
  /// Memtables and block cache together.
  std::uint64_t memory_bytes{std::uint64_t{256} << 20U};
  rocksdb::Env* env{nullptr};  ///< none: the default one
  /// Opened for a moment beside the work of others: holds few files open, and compacts nothing.
  bool brief{false};
  std::shared_ptr<durable_floors> floors{std::make_shared<durable_floors>()};
};

/// An open RocksDB with its column families; closes them in the right order.
/// Thread-safety: as rocksdb::DB's.
class database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  ~database();

  /// Opens all column families for writing, and creates what is missing where `create`.
  static rocksdb::Status open(const database_settings&, recovery_filter, bool create,
                              std::unique_ptr<database>& out);
  /// Opens those of our column families that are there; changes no file and takes no lock.
  static rocksdb::Status open_read_only(const database_settings&, recovery_filter,
                                        std::unique_ptr<database>& out);

  [[nodiscard]] rocksdb::DB& db() const { return *db_; }
  /// Null for a column family that a read-only open did not find.
  [[nodiscard]] rocksdb::ColumnFamilyHandle* handle(family f) const {
    return handles_[static_cast<std::size_t>(f)];
  }
  /// What happened to the write-ahead log at open.
  [[nodiscard]] const recovery_filter& filter() const { return filter_; }
  /// Whether there are exactly our column families.
  [[nodiscard]] bool complete() const { return complete_; }
  /// The first error after which RocksDB takes no more writes, in its words: also of a flush in the
  /// background, and of the sync of a log that such a flush begins with. Empty: none. Any thread.
  [[nodiscard]] std::string stopped_by() const;

  /// None where the key is absent. Errors: of RocksDB.
  [[nodiscard]] result<std::optional<std::string>> get(const rocksdb::ReadOptions&, family,
                                                       std::string_view key) const;
  /// Visits the keys with this prefix in order, from `from` on where that is given, until `visit` returns
  /// false. Errors: visit's; of RocksDB.
  [[nodiscard]] result<void> for_each(
      const rocksdb::ReadOptions&, family, const std::string& prefix,
      const std::function<result<bool>(std::string_view key, std::string_view value)>& visit,
      std::string_view from = {}) const;

 private:
  void keep(const std::vector<std::string>& names, const std::vector<rocksdb::ColumnFamilyHandle*>& handles);
  class error_watch;
  recovery_filter filter_;
  std::shared_ptr<error_watch> errors_;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, k_family_names.size()> handles_{};
  bool complete_{false};
};

/// What database::for_each() does, over the iterator that `iterate` makes with the options of the walk.
[[nodiscard]] result<void> visit_prefix(
    const rocksdb::ReadOptions&, const std::string& prefix, std::string_view from,
    const std::function<std::unique_ptr<rocksdb::Iterator>(const rocksdb::ReadOptions&)>& iterate,
    const std::function<result<bool>(std::string_view, std::string_view)>& visit);

/// state_damaged for a corruption, else the code of RocksDB.
[[nodiscard]] std::error_code read_error(const rocksdb::Status&) noexcept;

}  // namespace ratchet
