// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "kafka/secret_mask.hpp"

#include <algorithm>

#include "kafka/properties.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_shortest = 4;
/// Of a key in PEM each line of its own, as lines are what logs are made of; short ones are no secret.
constexpr std::size_t k_shortest_line = 16;

}  // namespace

secret_mask::secret_mask(const std::map<std::string, std::string>& properties) {
  for (const auto& [name, value] : properties) {
    if (!is_secret_property(name) || value.size() < k_shortest) continue;
    secrets_.push_back(value);
    for (std::size_t from = 0; value.find('\n') != std::string::npos && from < value.size();) {
      const std::size_t end = std::min(value.find('\n', from), value.size());
      const std::string line = value.substr(from, end - from);
      if (line.size() >= k_shortest_line && !line.starts_with("-----")) secrets_.push_back(line);
      from = end + 1;
    }
  }
  std::stable_sort(secrets_.begin(), secrets_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string secret_mask::operator()(std::string_view text) const {
  std::string out{text};
  for (const std::string& secret : secrets_) {
    constexpr std::string_view k_stars = "***";
    for (auto at = out.find(secret); at != std::string::npos; at = out.find(secret, at + k_stars.size())) {
      out.replace(at, secret.size(), k_stars);
    }
  }
  return out;
}

}  // namespace ratchet
