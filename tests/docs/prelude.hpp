// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

// What C++ on the pages takes for granted: the rest of the reader's program. tests/docs/check compiles each
// block that has no #include of its own behind this; nothing here is ever linked.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <ratchet/ratchet.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using namespace std::chrono_literals;
using ratchet::ev;

#ifndef DOCS_OWN_payment_view
struct payment_view {
  static constexpr ratchet::reducer_traits traits{.name = "payment_view", .version = 1};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects&) const {
    s.assign(e.payload);
    return ratchet::done();
  }
};
#endif

std::string customer_of(std::string_view payload);
bool may_capture(const ratchet::state&, std::int64_t amount);
std::string captured(const ratchet::state&, std::int64_t amount);
void answer(std::string_view reply, bool repeated);

struct docs_audit {
  bool write(std::string_view id, std::optional<std::string_view> payload);
};

/// The variables that a part of a function may use, as the parameters of that function.
#define DOCS_NAMES                                                                                           \
  [[maybe_unused]] ratchet::app *app, [[maybe_unused]] const ratchet::config *config,                        \
      [[maybe_unused]] docs_audit &audit, [[maybe_unused]] const std::string &payment_id,                    \
      [[maybe_unused]] const std::string &idempotency_key, [[maybe_unused]] const std::string &request_body, \
      [[maybe_unused]] std::int64_t amount
