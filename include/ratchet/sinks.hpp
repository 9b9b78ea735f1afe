// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ratchet/types.hpp"

/// Sinks that are functions of a program: `callback: true` in the config.
namespace ratchet {

/// One message for a sink. Borrowed until the callback returns.
struct sink_message {
  std::string_view sink;
  std::string_view id;  ///< a UUIDv7 as text, made from the message's cause. A repeat has the same id
  std::string_view stream;
  std::string_view aggregate;
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;  ///< none: a tombstone
  std::string_view type;
  std::string_view content_type;
  std::optional<timestamp> time;  ///< of its event's record
  /// {outbox epoch, place among the sink's messages}. It only grows, over all messages of the sink.
  ratchet::sequence sequence;
};

/// The answer of a callback to a message.
struct sink_answer {
  enum class how : std::uint8_t {
    delivered,  ///< the message leaves the outbox
    again,      ///< a passing failure: the same message comes again, after a pause
    refused,    ///< a lasting failure: it is tried again seldom, and its aggregate waits behind it
  };
  how ended{how::delivered};
  std::string why{};  ///< for people
};

/// Takes a message. A thread of Ratchet calls it, one message at a time, in the order of each aggregate. Each
/// message comes at least once, always with the same id and bytes. An exception counts as `again`. It may be
/// slow: only its own sink and the end of a run wait for it. It may read the app. It must not call
/// transact(), which ends with errc::usage there: use another thread.
using callback_sink = std::function<sink_answer(const sink_message&)>;

/// The callbacks of a program by the names of their sinks.
class sinks {
 public:
  sinks& add(std::string name, callback_sink to) {
    by_name_.insert_or_assign(std::move(name), std::move(to));
    return *this;
  }
  [[nodiscard]] const callback_sink* find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] const std::map<std::string, callback_sink>& all() const noexcept { return by_name_; }

 private:
  std::map<std::string, callback_sink> by_name_;
};

}  // namespace ratchet
