// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ratchet {

/// What a reducer wants to be published.
struct output {
  std::string_view topic;
  std::string_view key;
  std::string_view payload;
};

/// What a reducer asks for beyond its own aggregate's state. Lives for one call of apply().
/// This version has neither an outbox nor read-model tables: any use fails the event with
/// errc::not_built_yet, and its partition stops before it. Nothing is dropped in silence.
class effects {
 public:
  void publish(const output&) noexcept { used_ = "publish"; }
  void put(std::string_view /*table*/, std::string_view /*key*/, std::string_view /*value*/) noexcept {
    used_ = "put";
  }
  void erase(std::string_view /*table*/, std::string_view /*key*/) noexcept { used_ = "erase"; }

  /// The name of the last effect asked for, or nullptr.
  [[nodiscard]] const char* used() const noexcept { return used_; }

 private:
  const char* used_{nullptr};
};

}  // namespace ratchet
