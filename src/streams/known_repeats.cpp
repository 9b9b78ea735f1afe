// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/known_repeats.hpp"

namespace ratchet {

namespace {

[[nodiscard]] std::string why_ids_are_not_enough(const stream_config& s) {
  switch (s.dedup.ids) {
    case id_kind::none:
      return "it has no ids (`dedup: off`)";
    case id_kind::opaque:
      return "opaque ids are remembered for the window alone, and older events would be applied again";
    case id_kind::monotonic:
      return "monotonic ids are remembered by topic and partition, and the other cluster may have other ones "
             "there";
    case id_kind::uuidv7:
    case id_kind::ulid:
      break;
  }
  if (s.too_old == too_old::park) return "with `too_old: park` each event from before the window would wait";
  return {};
}

}  // namespace

std::string why_repeats_are_not_known(const stream_definition& stream) {
  const stream_config& s = stream.config;
  if (s.order == order::arrival) return why_ids_are_not_enough(s);
  if (s.envelope.sequence == "offset" || s.envelope.position == change_order::partition)
    return "its sequence is the record's place in its partition, which is another one on another cluster";
  if (s.envelope.sequence == "timestamp")
    return "its sequence is the record's time, which the other cluster may set itself";
  if (s.too_old == too_old::park)
    return "with `too_old: park` each event that is older than `retention` would wait";
  if (stream.rules.gate.ties_by_offset)
    return "of two events with one number the one that is read later wins, so that an earlier one would win "
           "again";
  if (s.after_delete == after_delete::restart)
    return "with `after_delete: restart` the first event from before a delete would begin a new life";
  return {};
}

}  // namespace ratchet
