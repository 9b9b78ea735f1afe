// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "ports/step_batch.hpp"
#include "process/log.hpp"
#include "streams/stream_definition.hpp"

namespace ratchet {

/// Lets a few lines through in a while, and counts the others until the while is over.
class log_burst {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  enum class answer : std::uint8_t { first, another, none };
  [[nodiscard]] answer take(time_point now);
  [[nodiscard]] bool is_over(time_point now) const;
  [[nodiscard]] std::uint64_t suppressed() const noexcept { return suppressed_; }

 private:
  time_point begin_;
  std::uint64_t shown_{0};
  std::uint64_t suppressed_{0};
};

/// Says in the log which record's time is odd among those around it: once of a stream for each kind, as a
/// wrong clock does not get right by itself, and status counts the records.
class odd_time_lines {
 public:
  odd_time_lines(log_ptr log, const stream_list& streams) : log_{std::move(log)}, streams_{streams} {}
  /// A part of a step that was written.
  void tell(const step_part&);
  [[nodiscard]] static bool are_in(const stream_change&);

 private:
  log_ptr log_;
  const stream_list& streams_;
  std::set<std::pair<stream_id, log_kind>> told_;
};

/// Says in the log what came of events that were not simply handled, behind the step that did it: dead ones,
/// rejected ones, gaps that were skipped, aggregates that are held, and what operators decided. Of each kind
/// and stream a few in a while, and how many more there were when it is over. One thread, the owner's.
class step_lines {
 public:
  using time_point = log_burst::time_point;
  step_lines(log_ptr, const stream_list&);
  /// A step that was written.
  void tell(const step_batch&, time_point now);
  /// To be called now and then: says how many more there were.
  void turn(time_point now);
  /// Says it at once.
  void end();

 private:
  using key = std::pair<log_kind, std::string>;  ///< and the stream's name
  void tell_rejected(std::string_view stream, const rejected_row&, time_point now);
  void tell_dead(std::string_view stream, std::string_view aggregate, const waiting_event&, time_point now);
  void tell_audit(const audit_row&, time_point now);
  [[nodiscard]] std::string number_text(std::string_view stream, sequence) const;
  [[nodiscard]] log_burst::answer take(log_kind, std::string_view stream, time_point now);
  void tell_of_more(const key&, std::uint64_t) const;

  log_ptr log_;
  const stream_list& streams_;
  std::map<key, log_burst> bursts_;
  odd_time_lines odd_times_;
};

}  // namespace ratchet
