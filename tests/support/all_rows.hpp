// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/success.hpp"
#include "ports/store.hpp"

/// Rows that only a test takes into memory all at once.
namespace ratchet::support {

inline result<std::vector<audit_row>> all_audits(const store_view& view) {
  std::vector<audit_row> all;
  RATCHET_TRY(view.each_audit(0, [&all](const audit_row& row) {
    all.push_back(row);
    return true;
  }));
  return all;
}

inline result<std::vector<rejected_row>> newest_rejected(const store_view& view, stream_id stream,
                                                         std::size_t limit) {
  std::vector<rejected_row> all;
  RATCHET_TRY(view.newest_rejected(stream, limit, [&all](const rejected_row* row) {
    if (row != nullptr) all.push_back(*row);
    return true;
  }));
  return all;
}

}  // namespace ratchet::support
