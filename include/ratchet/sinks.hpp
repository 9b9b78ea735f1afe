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

/// Sinks that a program brings itself: `callback: true` in the config.
namespace ratchet {

/// One message, as a sink is told of it. Borrowed until the callback returns.
struct sink_message {
  std::string_view sink;
  std::string_view id;  ///< a UUIDv7 as text, made from the message's cause: a repeat has the same one
  std::string_view stream;
  std::string_view aggregate;
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;  ///< none: a tombstone
  std::string_view type;
  std::string_view content_type;
  std::optional<timestamp> time;  ///< of its event's record
  /// {outbox epoch, place among the sink's messages}: only grows, of the sink as a whole.
  ratchet::sequence sequence;
};

/// What a callback says of a message.
struct sink_answer {
  enum class how : std::uint8_t {
    delivered,  ///< it is forgotten
    again,      ///< a failure that may pass: the same message comes again, after a pause
    refused,    ///< for good: it is kept, tried again seldom, and its aggregate waits behind it
  };
  how ended{how::delivered};
  std::string why{};  ///< for people
};

/// Takes a message. Called on a thread of Ratchet's own, one message at a time, those of one aggregate in
/// their order; at least once each, the same id with the same bytes. An exception counts as `again`. It may
/// take its time: nothing but its own sink waits for it, but for the end of a run. It may read the app, but
/// not call its transact(), which refuses it (errc::usage): another thread can.
using callback_sink = std::function<sink_answer(const sink_message&)>;

/// The callbacks of a program by sink name.
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
