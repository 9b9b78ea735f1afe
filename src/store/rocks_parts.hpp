// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "store/engine/column_families.hpp"
#include "store/engine/store_options.hpp"
#include "store/files/directory_lock.hpp"
#include "store/files/synced_file.hpp"
#include "store/open/adoption.hpp"
#include "store/open/new_directory.hpp"
#include "store/open/start.hpp"
#include "store/step/rejected_index.hpp"
#include "store/step/row_lookup.hpp"

namespace ratchet {

/// What opening a directory has made for the store in it.
struct store_parts {
  directory_lock lock;
  new_directory directory;
  std::unique_ptr<database> db;
  /// Written already, or, without store_options::adopts_at_once, with the first step.
  adoption start;
  rejected_index rejected;
  memory_by_slot memory;
  std::shared_ptr<durable_floors> floors;
  synced_file synced;
  std::uint64_t step{0};  ///< that was recovered
};

[[nodiscard]] std::unique_ptr<store> make_rocks_store(store_parts, const store_options&);

}  // namespace ratchet
