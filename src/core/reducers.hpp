// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

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

/// The keys of a stream's meaning (store) that say which reducer made its state.
inline constexpr std::string_view k_reducer_name_line = "reducer.name";
inline constexpr std::string_view k_reducer_version_line = "reducer.version";

/// Whether a reducer of this name is part of every Ratchet. What another one made, its program alone goes on
/// with.
[[nodiscard]] bool is_built_in(std::string_view reducer_name) noexcept;

}  // namespace ratchet
