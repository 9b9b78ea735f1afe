// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "decode/sequence_kinds.hpp"
#include "ports/store_view.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// How people write the event ids of a stored stream, told by what the store remembers of its meaning.
struct id_spelling {
  id_kind kind{id_kind::uuidv7};
  /// An id counts together with its source: what is stored is both in one (id_of_source()).
  bool has_source{false};
  sequence_spelling numbers{};  ///< and the sequences

  [[nodiscard]] static id_spelling of(const named_stream&);
  /// The stored id. With a source it is not the one that the event carries, but of the same time and kind. An
  /// opaque one is the hash that is stored in its place, as `xxh3:` and its digits.
  [[nodiscard]] std::string text(event_id) const;
};

/// What a person asks for: an id as it stands in events or as the outputs show it. Where ids have a source it
/// may stand before it: as ids have no spaces, up to the last one, and before an opaque id, which may have
/// some, up to the first. None where it is no id of this spelling.
struct asked_id {
  event_id stored;
  std::string text;  ///< the id alone, as it was given
};
[[nodiscard]] std::optional<asked_id> read_asked_id(const id_spelling&, const std::string& text);

/// What an id of the kind looks like.
[[nodiscard]] const char* shape_of(id_kind) noexcept;

}  // namespace ratchet
