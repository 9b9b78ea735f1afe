// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ratchet {

/// Where a message goes is told by one text: a topic's name, or this and a sink's name. No topic has a colon.
inline constexpr std::string_view k_sink_prefix = "sink:";

/// What a reducer wants to be published. Borrowed until publish() returns.
struct output {
  std::string_view topic{};                   ///< one of the stream's `outputs`
  std::optional<std::string_view> key{};      ///< none: the broker spreads the messages
  std::optional<std::string_view> payload{};  ///< none: a tombstone
  std::string_view type{};                    ///< empty: that of the event
  std::string_view content_type{};            ///< empty: application/json
  /// In place of a topic: a sink of the config, among the stream's `outputs` as sink:NAME.
  std::string_view sink{};
};

/// An output of its own.
struct owned_output {
  std::string topic;  ///< or sink:NAME
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::string type;
  std::string content_type;
};

/// A change of a table, of its own.
struct owned_table_change {
  std::string table;
  std::string key;
  std::optional<std::string> value;  ///< none: the row goes
};

/// What a reducer asks for beyond its own aggregate's state. Lives for one call of apply(); counts only where
/// that ends with done().
///
/// publish() puts a message into the outbox, in the same atomic write as the state. It is sent when that is
/// durable: at least once, each time with the same id and bytes, in order per aggregate (design of the
/// messages: docs/guides/publishing.md). A topic or a sink that is not among the stream's
/// `outputs`, and a reducer whose traits say `has_effects = false`, stop the partition before the event.
///
/// put() and erase() change a row of a read-model table, in the same write (docs/guides/read-models.md). Of a
/// key that is changed more than once the last change counts. A table that is not among the stream's `tables`
/// and a key that does not fit its encoding stop the partition in the same way. Nothing is dropped in
/// silence.
///
/// reply() is the answer to the caller of app::transact(). Where nobody asked, in a reducer of events, it
/// stops the partition as an undeclared output does. Thread-safety: none.
class effects {
 public:
  void publish(const output& o) {
    const auto own = [](const auto& bytes) {
      return bytes ? std::optional{std::string{*bytes}} : std::nullopt;
    };
    // Neither where both are named: that is nothing that a stream could have announced.
    std::string to{o.topic};
    if (!o.sink.empty()) to.append(k_sink_prefix).append(o.sink);
    outputs_.push_back(
        {std::move(to), own(o.key), own(o.payload), std::string{o.type}, std::string{o.content_type}});
  }
  /// Copies the bytes. Called again, the last one counts.
  void reply(std::string_view bytes) { reply_.emplace(bytes); }
  /// The row of this key is `value` from now on.
  void put(std::string_view table, std::string_view key, std::string_view value) {
    changes_.push_back({std::string{table}, std::string{key}, std::string{value}});
  }
  /// The same with a number as key.
  void put(std::string_view table, std::uint64_t key, std::string_view value) {
    put(table, std::to_string(key), value);
  }
  /// There is no row of this key from now on; there need not have been one.
  void erase(std::string_view table, std::string_view key) {
    changes_.push_back({std::string{table}, std::string{key}, std::nullopt});
  }
  void erase(std::string_view table, std::uint64_t key) { erase(table, std::to_string(key)); }

  /// What was published so far, in order.
  [[nodiscard]] const std::vector<owned_output>& outputs() const noexcept { return outputs_; }
  [[nodiscard]] std::vector<owned_output> take_outputs() && noexcept { return std::move(outputs_); }
  /// What was put and erased so far, in order.
  [[nodiscard]] const std::vector<owned_table_change>& table_changes() const noexcept { return changes_; }
  [[nodiscard]] std::vector<owned_table_change> take_table_changes() && noexcept {
    return std::move(changes_);
  }
  /// The reply, where one was made.
  [[nodiscard]] const std::optional<std::string>& replied() const noexcept { return reply_; }

 private:
  std::vector<owned_output> outputs_;
  std::vector<owned_table_change> changes_;
  std::optional<std::string> reply_;
};

}  // namespace ratchet
