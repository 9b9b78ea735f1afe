// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/result_size.hpp"

#include <string>

#include "core/folded_state.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

void refuse(reducer_call& call, const std::string& what, std::uint64_t size, std::uint64_t most) {
  call.thrown =
      what + " has " + std::to_string(size) + " bytes, and state.snapshot_bytes is " + std::to_string(most);
  call.how = ending::give_up;
  call.cause = make_error_code(errc::snapshot_too_large);
}

}  // namespace

void limit_results(reducer_call& call, std::uint64_t most, const state& s, const effects& fx) {
  if (const std::size_t size = size_of(s); size > most) return refuse(call, "its snapshot", size, most);
  for (const owned_table_change& c : fx.table_changes()) {
    if (c.value && c.value->size() > most)
      return refuse(call, "its row of the table `" + c.table + "`", c.value->size(), most);
  }
}

std::size_t size_of_results(const reducer_call& call) noexcept {
  constexpr std::size_t k_rest = 128;  // as output_row::bytes() has it
  std::size_t bytes = call.reply ? call.reply->size() : 0;
  for (const owned_output& o : call.outputs) {
    bytes += k_rest + o.topic.size() + o.type.size() + o.content_type.size();
    bytes += (o.key ? o.key->size() : 0) + (o.payload ? o.payload->size() : 0);
  }
  for (const owned_table_change& c : call.tables)
    bytes += k_rest + c.table.size() + c.key.size() + (c.value ? c.value->size() : 0);
  return bytes;
}

}  // namespace ratchet
