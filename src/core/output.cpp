// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/output.hpp"

namespace ratchet {

std::uint64_t output_row::bytes() const {
  constexpr std::uint64_t k_rest = 128;
  std::uint64_t sum =
      k_rest + aggregate.size() + topic.size() + type.size() + source.size() + content_type.size();
  if (key) sum += key->size();
  if (value) sum += value->size();
  for (const auto& [name, text] : headers) sum += name.size() + (text ? text->size() : 0);
  return sum;
}

outbox_state outbox_change::after(const outbox_state& before) const {
  outbox_state state{before.first + trimmed_rows, before.next + puts.size(), before.bytes - trimmed_bytes};
  for (const output_row& row : puts) state.bytes += row.bytes();
  return state;
}

const char* name_of(output_kind kind) noexcept {
  switch (kind) {
    case output_kind::dead_letter:
      return "dead_letter";
    case output_kind::rejection:
      return "rejection";
    case output_kind::published:
      return "published";
  }
  return "";
}

}  // namespace ratchet
