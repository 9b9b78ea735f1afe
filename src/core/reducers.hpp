// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ratchet/reducer.hpp"

namespace ratchet {

/// The payload becomes the snapshot.
struct replace_reducer {
  static constexpr reducer_traits traits{
      .name = "replace", .version = 1, .full_state = true, .has_effects = false};
  [[nodiscard]] outcome apply(const event& e, state& s, effects&) const {
    s.assign_payload(e);
    return done();
  }
};

/// The payload is a JSON Merge Patch (RFC 7396) of the snapshot; without a snapshot, of nothing. Only
/// tombstones delete: a patch that is `null` as a whole makes the snapshot `null`.
struct merge_patch_reducer {
  static constexpr reducer_traits traits{
      .name = "merge_patch", .version = 1, .full_state = false, .has_effects = false};
  [[nodiscard]] outcome apply(const event& e, state& s, effects&) const;
};

}  // namespace ratchet
