// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ratchet/ratchet.hpp>
#include <string>
#include <string_view>

/// A read model: which payments a customer has, beside the state of each payment. Wants in the config
///     tables: [{name: by-customer, key: text}]
struct payments_by_customer {
  static constexpr ratchet::reducer_traits traits{.name = "payments_by_customer", .version = 1};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects& fx) const {
    const std::string place = customer_of(e.payload) + "/" + std::string{e.aggregate};
    if (s.exists()) {  // it may have been another customer's
      const std::string before = customer_of(s.value()) + "/" + std::string{e.aggregate};
      if (before != place) fx.erase("by-customer", before);
    }
    fx.put("by-customer", place, e.payload);
    s.assign(e.payload);
    return ratchet::done();
  }

  /// With the JSON library of your choice; this much does for the example.
  static std::string customer_of(std::string_view payload) {
    constexpr std::string_view k_field = R"("customer":")";
    const std::size_t at = payload.find(k_field);
    if (at == std::string_view::npos) return "nobody";
    payload.remove_prefix(at + k_field.size());
    return std::string{payload.substr(0, payload.find('"'))};
  }
};

/// The payments of a customer, from any thread.
inline ratchet::reported<ratchet::table_page> payments_of(const ratchet::app& app,
                                                          const std::string& customer) {
  return app.scan({.table = "by-customer", .prefix = customer + "/"});
}
