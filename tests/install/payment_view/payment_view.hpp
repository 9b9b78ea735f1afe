// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ratchet/ratchet.hpp>

/// The newest event of a payment is its view.
struct payment_view {
  static constexpr ratchet::reducer_traits traits{.name = "payment_view", .version = 1};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects&) const {
    s.assign(e.payload);     // borrowed until return
    return ratchet::done();  // or retry(ec), give_up(ec), stop(ec)
  }
};
