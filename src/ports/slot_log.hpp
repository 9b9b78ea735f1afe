// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "ports/source.hpp"
#include "ratchet/error.hpp"
#include "replicate/log_request.hpp"

namespace ratchet {

/// What became of a record that was appended.
struct append_report {
  replicate::append_ticket ticket;
  std::optional<std::int64_t> offset;  ///< kept there; none: the brokers do not say where, or it failed
  /// It failed for good, and is not known to be there: topic_missing; the client's own, as for a record that
  /// is too large, or without access. None: the brokers keep it.
  std::error_code failed;
};

struct slot_record {
  std::int64_t offset{0};
  std::string_view bytes;           ///< empty where the record has no value
  std::optional<timestamp> time{};  ///< when it was appended, as its producer or the brokers say
};

/// What was at hand of a log.
struct log_read {
  enum class state : std::uint8_t {
    going_on,
    at_end,  ///< the log ended there when the brokers were asked last; what is appended later comes later
    out_of_range,  ///< the log does not have the offset that was asked for: ask_bounds() says what it has
  };
  std::span<const slot_record> entries;  ///< views until the next read() or stop_reading()
  /// From the offset that was asked for up to this one, and with it, there are no other records. Below that
  /// offset: nothing is known.
  std::int64_t through{-1};
  state at{state::going_on};
};

/// The bounds of a log, [first, end), which it had when the caller knew it up to `known`.
struct told_bounds {
  std::int64_t known{0};
  std::int64_t first{0};
  std::int64_t end{0};  ///< behind the last record of all: whoever reads them sees those of open transactions
};

/// The log of one slot, which is a partition of a topic: what replicate::log_owner asks for is done here, and
/// what is told here goes to it as it is. Whether the topic is there and has the right settings is for others
/// to see to. Thread-safety: one owner thread. No call waits, but for wait() and
/// delete_before().
class slot_log {
 public:
  virtual ~slot_log() = default;

  /// Takes a record. Records of one writer are sent in this order, and sent again in this order where that is
  /// needed, so that a record may be there twice. A record of another writer than the one before begins with
  /// give_up(). A whole step is taken, however full it is.
  virtual void append(replicate::append_request) = 0;
  /// False: no further step is to be made before reports have come.
  [[nodiscard]] virtual bool has_room() const = 0;
  /// Nothing that was appended is sent any more, nor reported. What is under way may still get there, now or
  /// much later.
  virtual void give_up() = 0;
  /// What came to its end since the last call, in the order of append(). Brokers that are away or without a
  /// leader end nothing: it goes on trying.
  [[nodiscard]] virtual std::vector<append_report> reports() = 0;

  /// Records that are at hand, from the first offset of the range on and not beyond its last. Going on where
  /// the read before has ended costs nothing; another first offset begins anew, and looks at the log anew.
  /// Leaders that are lost pass: there is nothing at hand meanwhile. Errors: topic_missing, where behind it
  /// another topic may have the name; the client's own, where nothing can be made of what lies there. Behind
  /// an error, and behind out_of_range, the next read begins anew.
  [[nodiscard]] virtual result<log_read> read(const replicate::read_range&) = 0;
  /// Nothing is to be fetched for now.
  virtual void stop_reading() = 0;

  /// Asks for the bounds of the log. Passed over while an earlier question is under way.
  virtual void ask_bounds(std::int64_t known) = 0;
  /// The answer, once. Errors: source_unavailable; topic_missing; the client's own.
  [[nodiscard]] virtual std::optional<result<told_bounds>> take_bounds() = 0;

  /// Has the brokers delete the records below that offset, and waits for it, some seconds at most. Any
  /// thread. Errors: source_unavailable; topic_missing; access_denied; of the client.
  [[nodiscard]] virtual result<void> delete_before(std::int64_t offset) = 0;

  /// Why it does not go on, in the words of the client; none where it did not complain since the last call.
  [[nodiscard]] virtual std::optional<complaint> take_complaint() = 0;
  /// Waits until there may be more to report or to read, at most so long.
  virtual void wait(std::chrono::milliseconds) = 0;
  /// Has `told` called, on any thread, when there may be more to report or to read. Empty: no more, and no
  /// call is under way when this returns.
  virtual void on_progress(std::function<void()> told) = 0;
};

}  // namespace ratchet
