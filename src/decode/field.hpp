// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/field_source.hpp"
#include "decode/pointer_tree.hpp"

namespace ratchet {

/// One field of an envelope, made ready for reading.
struct field {
  bool mapped{false};
  field_source source;
  json::node_index node{json::k_no_node};  ///< of a pointer

  [[nodiscard]] bool in_value() const noexcept {
    return mapped && (source.from == field_source::place::pointer || is_outside());
  }
  /// In the value, beside the list that the event is of: its node is one of field_map::outside.
  [[nodiscard]] bool is_outside() const noexcept {
    return mapped && source.from == field_source::place::record;
  }
};

}  // namespace ratchet
