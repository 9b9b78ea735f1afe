// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/open/read_only.hpp"

#include "store/engine/catalog.hpp"
#include "store/files/directory_lock.hpp"
#include "store/open/opening.hpp"
#include "store/open/rocks_view.hpp"

namespace ratchet {

namespace {

class rocks_read_only_store final : public read_only_store {
 public:
  explicit rocks_read_only_store(inspected found) : found_{std::move(found)} {}

  [[nodiscard]] std::string uuid() const override { return identity().uuid; }
  [[nodiscard]] std::string group() const override { return identity().group; }
  [[nodiscard]] std::string cluster_id() const override { return identity().cluster_id; }
  [[nodiscard]] std::vector<incarnation> incarnations() const override { return found_.catalog.incarnations; }
  [[nodiscard]] std::vector<stored_stream> streams() const override {
    std::vector<stored_stream> out;
    for (const auto& [name, record] : found_.catalog.streams) {
      out.push_back({name, record.id, record.hash, record.lines});
    }
    return out;
  }
  [[nodiscard]] std::optional<replica_at_rest> replica() const override {
    if (!found_.catalog.position) return std::nullopt;
    return replica_at_rest{*found_.catalog.position, found_.catalog.owner};
  }
  [[nodiscard]] result<std::unique_ptr<store_view>> view() const override {
    constexpr bool k_with_snapshot = false;  // it stands still by itself
    RATCHET_TRY(auto view, rocks_view::open(*found_.db, k_with_snapshot));
    return std::unique_ptr<store_view>{std::move(view)};
  }

 private:
  [[nodiscard]] const layout::identity& identity() const { return *found_.catalog.identity; }
  inspected found_;
};

}  // namespace

reported<std::unique_ptr<read_only_store>> open_store_read_only(const std::filesystem::path& path) {
  // The lock is let go on return: the files that were opened stay readable, whatever a writer does to their
  // names.
  RATCHET_TRY(const directory_lock lock, directory_lock::take(path, directory_lock::mode::shared));
  database_settings settings;
  settings.path = path;
  RATCHET_TRY(inspected found, inspect_directory(settings));
  if (found.is_new) {
    return problem{make_error_code(errc::state_missing),
                   "the directory " + path.string() + " holds no state",
                   "run first, or name another",
                   {}};
  }
  if (found.catalog.is_restoring) {
    return problem{make_error_code(errc::state_restoring),
                   "a copy of the state is being read into the directory " + path.string() +
                       ", and not all of it is there",
                   "start the instance again, and wait until it is ready",
                   {}};
  }
  return std::unique_ptr<read_only_store>{std::make_unique<rocks_read_only_store>(std::move(found))};
}

}  // namespace ratchet
