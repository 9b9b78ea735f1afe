// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/session_timeout.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace ratchet {

namespace {

using std::chrono::milliseconds;

/// librdkafka's default, and ours.
constexpr milliseconds k_default_session{45'000};
/// Behind its session a killed member is gone within this.
constexpr milliseconds k_expiry_slack{2'000};

/// `otherwise`: where the config has set nothing else.
[[nodiscard]] milliseconds session_timeout(const kafka_config& of, milliseconds otherwise) {
  const auto set = of.properties.find("session.timeout.ms");
  if (set == of.properties.end()) return otherwise;
  const std::string& text = set->second;
  milliseconds::rep count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  return code == std::errc{} ? milliseconds{count} : otherwise;
}

}  // namespace

milliseconds session_timeout(const config& of) {
  return session_timeout(of.kafka, of.replicate ? k_pair_session : k_default_session);
}

milliseconds longest_absence(const config& of) {
  return session_timeout(of) + k_expiry_slack;
}

milliseconds longest_absence_in_pair(const kafka_config& of) {
  return session_timeout(of, k_pair_session) + k_expiry_slack;
}

}  // namespace ratchet
