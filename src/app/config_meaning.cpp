// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/config_meaning.hpp"

#include <string>

namespace ratchet {

namespace {

const char* name_of_ids(id_kind kind) noexcept {
  switch (kind) {
    case id_kind::none:
      return "none";
    case id_kind::uuidv7:
      return "uuidv7";
  }
  return "?";
}

}  // namespace

stream_meaning meaning_of(const stream_config& stream, std::string_view reducer_name,
                          std::uint32_t reducer_version) {
  const envelope_config& e = stream.envelope;
  return {stream.name,
          {{"order", name_of(stream.order)},
           {"dedup.ids", name_of_ids(stream.dedup.ids)},
           {"envelope.format", "json"},
           {"envelope.event_id", e.event_id},
           {"envelope.aggregate", e.aggregate},
           {"envelope.sequence", e.sequence},
           {"envelope.sequence.bits", std::to_string(e.sequence_bits)},
           {"envelope.epoch", e.epoch},
           {"envelope.type", e.type},
           {"envelope.time", e.time},
           {"reducer.from", stream.reducer.from},
           {"reducer.name", std::string{reducer_name}},
           {"reducer.version", std::to_string(reducer_version)}}};
}

}  // namespace ratchet
