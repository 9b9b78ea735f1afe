// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/waiting.hpp"

#include <algorithm>

namespace ratchet {

std::string_view waiting_event::payload() const {
  if (own_payload) return *own_payload;
  if (!record.value) return {};
  return std::string_view{*record.value}.substr(payload_begin, payload_size);
}

std::uint64_t waiting_event::bytes() const {
  constexpr std::uint64_t k_fixed = 256;
  std::uint64_t sum = k_fixed + type.size() + error.size() + record.where.topic.size();
  if (record.key) sum += record.key->size();
  if (record.value) sum += record.value->size();
  if (own_payload) sum += own_payload->size();
  for (const auto& [name, value] : record.headers) sum += name.size() + (value ? value->size() : 0);
  return sum;
}

waiting_counts backlog::counted() const noexcept {
  if (!held) return {parked, retrying, dead};
  if (!accepted) return {0, 0, events()};
  return {parked - not_accepted(), retrying, dead + not_accepted()};  // none of these was tried yet
}

bool backlog::was_skipped(sequence s) const noexcept {
  return std::any_of(skipped.begin(), skipped.end(), [s](const sequence_range& r) { return r.holds(s); });
}

const char* name_of(waiting_end end) noexcept {
  switch (end) {
    case waiting_end::released:
      return "released";
    case waiting_end::superseded:
      return "superseded";
    case waiting_end::skipped:
      return "skipped";
    case waiting_end::discarded:
      return "discarded";
    case waiting_end::dead:
      return "dead";
    case waiting_end::stale:
      return "stale";
  }
  return "?";
}

const char* name_of(waiting_verb verb) noexcept {
  switch (verb) {
    case waiting_verb::replay:
      return "replay";
    case waiting_verb::skip:
      return "skip";
    case waiting_verb::discard:
      return "discard";
  }
  return "replay";
}

const char* name_of(waiting_state state) noexcept {
  switch (state) {
    case waiting_state::parked:
      return "parked";
    case waiting_state::retrying:
      return "retrying";
    case waiting_state::dead:
      return "dead";
  }
  return "parked";
}

const char* name_of(wait_reason reason) noexcept {
  switch (reason) {
    case wait_reason::gap:
      return "gap";
    case wait_reason::epoch:
      return "epoch";
    case wait_reason::behind:
      return "behind";
    case wait_reason::ready:
      return "ready";
    case wait_reason::limit:
      return "limit";
    case wait_reason::reducer:
      return "reducer";
    case wait_reason::too_old:
      return "too_old";
  }
  return "?";
}

}  // namespace ratchet
