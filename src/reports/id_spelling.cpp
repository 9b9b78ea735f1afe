// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/id_spelling.hpp"

#include <algorithm>
#include <string_view>

#include "decode/envelope_preset.hpp"
#include "decode/event_id_text.hpp"

namespace ratchet {

id_spelling id_spelling::of(const named_stream& stream) {
  const auto is = [&](std::string_view key, std::string_view value) {
    return std::any_of(stream.meaning.begin(), stream.meaning.end(),
                       [&](const auto& line) { return line.first == key && line.second == value; });
  };
  id_spelling spelling;
  for (const id_kind kind : {id_kind::ulid, id_kind::opaque, id_kind::monotonic}) {
    if (is("dedup.ids", name_of(kind))) spelling.kind = kind;
  }
  spelling.has_source = is("envelope.format", name_of(envelope_format::cloudevents));
  for (int kind = 1; kind <= static_cast<int>(sequence_kind::text); ++kind) {
    const auto as = static_cast<sequence_kind>(kind);
    if (is("envelope.sequence.as", word_of(as))) spelling.numbers.kind = as;
  }
  spelling.numbers.wide = is("envelope.sequence.bits", "128");
  spelling.numbers.hex = is("envelope.sequence.base", "16");
  return spelling;
}

std::string id_spelling::text(event_id id) const {
  return to_text(kind, id);
}

std::optional<asked_id> read_asked_id(const id_spelling& spelling, const std::string& text) {
  if (spelling.kind == id_kind::monotonic) {
    const auto shown = parse_hashed_id(text);
    return shown ? std::optional{asked_id{*shown, text}} : std::nullopt;
  }
  const bool is_opaque = spelling.kind == id_kind::opaque;
  const std::size_t space = is_opaque ? text.find(' ') : text.rfind(' ');
  const bool with_source = space != std::string::npos && (spelling.has_source || !is_opaque);
  if (with_source && !spelling.has_source) return std::nullopt;
  asked_id asked{{}, with_source ? text.substr(space + 1) : text};
  if (is_opaque && !with_source) {
    // No sender has an id that looks like this but by intent.
    if (const auto shown = parse_hashed_id(asked.text)) return asked_id{*shown, asked.text};
  }
  const auto id = parse_event_id(spelling.kind, asked.text);
  if (!id) return std::nullopt;
  asked.stored = with_source ? id_of_source(spelling.kind, *id, text.substr(0, space)) : *id;
  return asked;
}

const char* shape_of(id_kind kind) noexcept {
  if (kind == id_kind::opaque) return "opaque ids have 1 to 1024 bytes";
  if (kind == id_kind::monotonic) return "of ids that grow, the stream keeps the last one of each partition";
  if (kind == id_kind::ulid)
    return "ULIDs are 26 characters of 0-9 and A-Z but I, L, O and U, the first at most 7";
  return "UUIDv7 are 36 characters, hexadecimal digits in groups of 8, 4, 4, 4 and 12 with dashes between "
         "them, of version 7 and the variant 8, 9, a or b";
}

}  // namespace ratchet
