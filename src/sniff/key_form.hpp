// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ratchet/config.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// What the keys of a topic are, by all of them: bytes of a number can be text by chance.
struct key_form {
  key_kind kind{key_kind::automatic};  ///< what `envelope.key` has to say
  std::string what;                    ///< for people; empty: they are text, or there are none
  bool readable{true};                 ///< some kind reads them
  bool any{true};                      ///< there are some
};

/// Pure.
[[nodiscard]] key_form form_of_keys(std::span<const sniffed_record>);

}  // namespace ratchet::sniff
