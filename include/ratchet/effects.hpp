// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ratchet {

/// What a reducer wants to be published. Borrowed until publish() returns.
struct output {
  std::string_view topic;                     ///< one of the stream's `outputs`
  std::optional<std::string_view> key{};      ///< none: the broker spreads the messages
  std::optional<std::string_view> payload{};  ///< none: a tombstone
  std::string_view type{};                    ///< empty: that of the event
  std::string_view content_type{};            ///< empty: application/json
};

/// An output of its own.
struct owned_output {
  std::string topic;
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::string type;
  std::string content_type;
};

/// What a reducer asks for beyond its own aggregate's state. Lives for one call of apply(); counts only where
/// that ends with done().
///
/// publish() puts a message into the outbox, in the same atomic write as the state. It is sent when that is
/// durable: at least once, each time with the same id and bytes, in order per aggregate (design of the
/// messages: README, "Publish: emit and fx.publish"). A topic that is not among the stream's `outputs`, and a
/// reducer whose traits say `has_effects = false`, stop the partition before the event.
///
/// This version has no read-model tables: put() and erase() stop it in the same way, with
/// errc::not_built_yet. Nothing is dropped in silence. Thread-safety: none.
class effects {
 public:
  void publish(const output& o) {
    const auto own = [](const auto& bytes) {
      return bytes ? std::optional{std::string{*bytes}} : std::nullopt;
    };
    outputs_.push_back(
        {std::string{o.topic}, own(o.key), own(o.payload), std::string{o.type}, std::string{o.content_type}});
  }
  void put(std::string_view /*table*/, std::string_view /*key*/, std::string_view /*value*/) noexcept {
    refused_ = "put";
  }
  void erase(std::string_view /*table*/, std::string_view /*key*/) noexcept { refused_ = "erase"; }

  /// What was published so far, in order.
  [[nodiscard]] const std::vector<owned_output>& outputs() const noexcept { return outputs_; }
  [[nodiscard]] std::vector<owned_output> take_outputs() && noexcept { return std::move(outputs_); }
  /// The name of the last effect asked for that there is not, or nullptr.
  [[nodiscard]] const char* refused() const noexcept { return refused_; }

 private:
  std::vector<owned_output> outputs_;
  const char* refused_{nullptr};
};

}  // namespace ratchet
