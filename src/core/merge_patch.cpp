// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/merge_patch.hpp"

#include "core/folded_state.hpp"
#include "core/merge_document.hpp"
#include "core/reducers.hpp"

namespace ratchet {

std::string merge_patch(std::string_view target, std::string_view patch) {
  if (!json_scan::is_object(json_scan::trimmed(target))) return merge_document::of_new(patch);
  merge_document document{target};
  document.apply(patch);
  return document.text();
}

outcome merge_patch_reducer::apply(const event& e, state& s, effects&) const {
  if (folded_state* folded = folded_state::of(s); folded != nullptr && folded->patch(e.payload))
    return done();
  s = state{merge_patch(s.exists() ? s.value() : std::string_view{}, e.payload)};
  return done();
}

}  // namespace ratchet
