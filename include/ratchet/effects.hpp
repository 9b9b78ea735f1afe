// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ratchet {

/// One text names where a message goes: a topic, or this prefix and a sink. No topic has a colon.
inline constexpr std::string_view k_sink_prefix = "sink:";

/// A message that a reducer publishes. Borrowed until publish() returns.
struct output {
  std::string_view topic{};                   ///< one of the stream's `outputs`
  std::optional<std::string_view> key{};      ///< none: the client spreads such messages over partitions
  std::optional<std::string_view> payload{};  ///< none: a tombstone
  std::string_view type{};                    ///< empty: that of the event
  std::string_view content_type{};            ///< empty: application/json
  /// A sink of the config instead of a topic. The stream's `outputs` name it as sink:NAME.
  std::string_view sink{};
};

/// An output that owns its bytes.
struct owned_output {
  std::string topic;  ///< or sink:NAME
  std::optional<std::string> key;
  std::optional<std::string> payload;
  std::string type;
  std::string content_type;
};

/// A change of a table that owns its bytes.
struct owned_table_change {
  std::string table;
  std::string key;
  std::optional<std::string> value;  ///< none: the row is erased
};

/// The effects of a reducer beside the state of its aggregate. Lives for one call of apply(). Effects count
/// only if apply() ends with done().
///
/// publish() puts a message into the outbox, in the same atomic write as the state. Ratchet sends it when
/// that write is durable: at least once, with the same id and bytes each time, and in order for each
/// aggregate (docs/guides/publishing.md). A topic or sink that is not among the stream's `outputs` stops the
/// partition before the event. So does any effect of a reducer whose traits have `has_effects = false`.
///
/// put() and erase() change a row of a read-model table in the same write (docs/guides/read-models.md). If a
/// reducer changes one key several times, the last change counts. A table that is not among the stream's
/// `tables` stops the partition before the event. So does a key that does not fit the encoding of its
/// table.
///
/// reply() answers the caller of app::transact(). In a reducer of events it stops the partition, because such
/// an event has no caller. Thread-safety: none.
class effects {
 public:
  void publish(const output& o) {
    const auto own = [](const auto& bytes) {
      return bytes ? std::optional{std::string{*bytes}} : std::nullopt;
    };
    // With both a topic and a sink the name is one that no stream can announce.
    std::string to{o.topic};
    if (!o.sink.empty()) to.append(k_sink_prefix).append(o.sink);
    outputs_.push_back(
        {std::move(to), own(o.key), own(o.payload), std::string{o.type}, std::string{o.content_type}});
  }
  /// Copies the bytes. The last call counts.
  void reply(std::string_view bytes) { reply_.emplace(bytes); }
  /// Sets the row of this key to `value`.
  void put(std::string_view table, std::string_view key, std::string_view value) {
    changes_.push_back({std::string{table}, std::string{key}, std::string{value}});
  }
  /// As above, with a number as the key.
  void put(std::string_view table, std::uint64_t key, std::string_view value) {
    put(table, std::to_string(key), value);
  }
  /// Erases the row of this key, if there is one.
  void erase(std::string_view table, std::string_view key) {
    changes_.push_back({std::string{table}, std::string{key}, std::nullopt});
  }
  void erase(std::string_view table, std::uint64_t key) { erase(table, std::to_string(key)); }

  /// The published messages so far, in order.
  [[nodiscard]] const std::vector<owned_output>& outputs() const noexcept { return outputs_; }
  [[nodiscard]] std::vector<owned_output> take_outputs() && noexcept { return std::move(outputs_); }
  /// The changes of tables so far, in order.
  [[nodiscard]] const std::vector<owned_table_change>& table_changes() const noexcept { return changes_; }
  [[nodiscard]] std::vector<owned_table_change> take_table_changes() && noexcept {
    return std::move(changes_);
  }
  /// The reply, if there is one.
  [[nodiscard]] const std::optional<std::string>& replied() const noexcept { return reply_; }

 private:
  std::vector<owned_output> outputs_;
  std::vector<owned_table_change> changes_;
  std::optional<std::string> reply_;
};

}  // namespace ratchet
