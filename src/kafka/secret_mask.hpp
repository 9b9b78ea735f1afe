// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

/// Takes the values of secret properties out of texts that come from elsewhere (librdkafka's log lines, a
/// broker's answer). A second line of defence: librdkafka does not print them by itself.
class secret_mask {
 public:
  secret_mask() = default;
  explicit secret_mask(const std::map<std::string, std::string>& properties);
  /// The text with "***" for each secret. Secrets of less than four characters are left: every line would
  /// be full of them.
  [[nodiscard]] std::string operator()(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;  // the longest first
};

}  // namespace ratchet
