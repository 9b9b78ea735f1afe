// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <ratchet/ratchet.hpp>
#include <string>
#include <string_view>

/// What happens to a payment: `authorize`, then any number of times `capture`, as far as it was authorized.
namespace payments {

struct command {
  std::string verb;
  std::uint64_t amount{0};  ///< in cents
};

/// A payment as it is stored, and as JSON text.
struct payment {
  std::uint64_t authorized{0};
  std::uint64_t captured{0};

  [[nodiscard]] std::string to_json() const {
    return R"({"authorized":)" + std::to_string(authorized) + R"(,"captured":)" + std::to_string(captured) +
           "}";
  }
  /// Reads what to_json() wrote.
  [[nodiscard]] static payment from_json(std::string_view text) {
    payment p;
    for (std::uint64_t* field : {&p.authorized, &p.captured}) {
      text.remove_prefix(text.find(':') + 1);
      std::from_chars(text.data(), text.data() + text.size(), *field);
    }
    return p;
  }
};

/// Not allowed as things stand: the caller is told so, and nothing is changed.
inline ratchet::outcome refuse() {
  return ratchet::give_up(std::make_error_code(std::errc::operation_not_permitted));
}

/// Does the command: what is stored, what others are told, and what the caller is answered change together.
inline ratchet::outcome apply(const command& c, std::string_view id, std::string_view topic,
                              ratchet::state& s, ratchet::effects& fx) {
  payment p = s.exists() ? payment::from_json(s.value()) : payment{};
  std::string_view event;
  if (c.verb == "authorize") {
    if (s.exists()) return refuse();
    p.authorized = c.amount;
    event = "authorized";
  } else if (c.verb == "capture") {
    if (!s.exists() || c.amount > p.authorized - p.captured) return refuse();
    p.captured += c.amount;
    event = "captured";
  } else {
    return refuse();
  }
  s.assign(p.to_json());
  fx.publish({.topic = topic, .key = id, .payload = s.value(), .type = event});
  fx.reply(s.value());
  return ratchet::done();
}

}  // namespace payments
