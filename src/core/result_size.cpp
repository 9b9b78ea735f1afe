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

}  // namespace ratchet
