// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rocksdb/env.h>

#include "store/rocks_store.hpp"

namespace ratchet {

/// open_store() over a file system of the caller's, so that tests can let it fail.
[[nodiscard]] reported<std::unique_ptr<store>> open_store(const store_options&, rocksdb::Env*);

}  // namespace ratchet
