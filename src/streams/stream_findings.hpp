// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "streams/config_rules.hpp"

namespace ratchet {

/// "list[3]": the item of a list, in a path.
[[nodiscard]] inline std::string item_of(std::string_view list, std::size_t i) {
  return std::string{list} + "[" + std::to_string(i) + "]";
}

/// Collects what is wrong with one stream of a config: one finding for each path.
class stream_findings {
 public:
  /// Of a config that is wrong all over so many are told.
  static constexpr std::size_t k_most = 200;
  /// The one key of `judged_by` that is not the stream's.
  static constexpr std::string_view k_sinks = "sinks";
  using paths = std::initializer_list<std::string_view>;

  /// `all` is borrowed; others' findings stand before.
  stream_findings(std::size_t stream, std::vector<config_finding>& all);

  /// `judged_by`: keys of the stream, or the sinks. A field of the envelope means what the format makes of
  /// it.
  void add(const std::string& key, std::string message, std::string hint, paths judged_by = {});
  [[nodiscard]] bool is_full() const noexcept { return all_.size() >= k_most; }
  /// Of a key of the stream.
  [[nodiscard]] std::string path_of(std::string_view key) const { return at_ + std::string{key}; }

 private:
  std::vector<config_finding>& all_;
  std::size_t begin_;  ///< of this stream's
  std::string at_;
};

}  // namespace ratchet
