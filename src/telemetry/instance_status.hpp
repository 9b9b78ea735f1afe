// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/resume.hpp"
#include "ratchet/types.hpp"
#include "telemetry/slot_status.hpp"

namespace ratchet {

/// What a running instance knows of a partition beside its stored state.
struct live_partition {
  bool assigned{false};
  std::optional<std::int64_t> committed;  ///< the group's offset in Kafka, as last confirmed
  std::optional<std::int64_t> log_end;    ///< the offset after the last record, as last seen; see log_bounds
  std::optional<std::string> stopped;     ///< why, with nothing foreign that begins a line; "\n"; what to do
  std::optional<question> asked{};        ///< where it is stopped until somebody decides
  /// All below this offset was read, and an open transaction that began at it holds back what follows.
  std::optional<std::int64_t> held_back{};
  friend bool operator==(const live_partition&, const live_partition&) = default;
};

/// The two parts of live_partition::stopped. Many partitions stop for one cause: what to do is said once.
struct stop_message {
  std::string_view what;
  std::string_view to_do;  ///< may be empty
};
[[nodiscard]] stop_message message_of_stop(std::string_view stopped) noexcept;
/// Adds what is new of what to do.
void add_new(std::vector<std::string>& to_do, std::string_view stopped);
/// As one text.
[[nodiscard]] std::string joined(const std::vector<std::string>& to_do);

using live_partitions = std::map<topic_partition, live_partition>;

/// How sending to one sink goes.
struct live_sink {
  std::uint64_t sent{0};     ///< by this process
  std::string trouble;       ///< why messages do not get through now; empty: they do, or there are none
  std::uint64_t refused{0};  ///< messages that it does not take, see `ratchet sinks`
  friend bool operator==(const live_sink&, const live_sink&) = default;
};

/// A field of a stream's envelope, and in how many events it was found.
struct live_field {
  std::string name;
  std::string from;  ///< as the config says
  std::uint64_t found{0};
  friend bool operator==(const live_field&, const live_field&) = default;
};

/// Of the events that this process has read; none of tombstones, and of malformed records.
struct live_fields {
  std::uint64_t events{0};
  std::vector<live_field> fields;
  std::string unlikely_times{};  ///< what is odd about their times, for people; mostly empty
  friend bool operator==(const live_fields&, const live_fields&) = default;
};

/// The condition under which it is said that no broker answers: it causes most others, and is told first.
constexpr const char* k_brokers_condition = "brokers";

/// What a running instance says of itself; a copy.
struct status_snapshot {
  timestamp started_at;
  bool ready{false};
  std::string ready_reason;    ///< why it is not ready, everything that stands against it; may be empty
  std::string outbox_trouble;  ///< why messages do not get through now; empty: they do, or there are none
  std::map<std::string, live_partitions, std::less<>> streams;
  std::map<std::string, live_sink, std::less<>> sinks;     ///< those of the config
  std::map<std::string, live_fields, std::less<>> fields;  ///< by stream; of those that have read an event
  std::optional<slot_status> slot;  ///< of an instance whose steps go through a replicated log
};

/// Where the owner thread of a running instance leaves what status asks for. Nothing here decides anything.
/// Thread-safety: every call from any thread; each holds one lock briefly.
/// Lifetime: outlives the control server that reads it.
class instance_status {
 public:
  explicit instance_status(timestamp started_at);

  /// `reason` says why it is not ready. A partition that is stopped makes it not ready by itself.
  void set_ready(bool ready, std::string_view reason = {});
  /// Something else that stands against being ready, under a name, until it is cleared: a disk that is nearly
  /// full, for one.
  void raise_condition(std::string_view name, std::string_view reason);
  void clear_condition(std::string_view name);
  /// What keeps the outbox's messages from their topics, until it is cleared by an empty text. No reason not
  /// to be ready: records are handled on.
  void set_outbox_trouble(std::string_view text);
  void set_sink(std::string_view name, live_sink);
  void set_fields(std::string_view stream, live_fields);
  /// An instance that follows and is ready is shown as a standby.
  void set_slot(slot_status);
  /// The instance holds exactly these partitions of the stream now; what is known of the others' offsets
  /// stays, but they are no longer assigned, and no longer stopped: whoever holds them says so.
  void set_assigned(std::string_view stream, std::span<const topic_partition>);
  void set_committed(std::string_view stream, const topic_partition&, std::int64_t offset);
  void set_log_end(std::string_view stream, const topic_partition&, std::int64_t offset);
  void set_held_back(std::string_view stream, const topic_partition&, std::optional<std::int64_t> offset);
  void set_stopped(std::string_view stream, const topic_partition&, std::string_view reason);
  /// Beside set_stopped(), and gone with it: what somebody must decide. Ignored where it names no partition.
  void ask(const question&);
  void clear_stopped(std::string_view stream, const topic_partition&);
  /// The instance decides nothing any more: what stood against being ready, and what did not get through, is
  /// another's to say now. What is known of offsets stays.
  void forget_session();
  /// What the run before asked is asked no more: the next one finds out anew.
  void forget_questions();

  [[nodiscard]] status_snapshot snapshot() const;

 private:
  live_partition& at(std::string_view stream, const topic_partition&);

  mutable std::mutex mutex_;
  status_snapshot status_;  ///< its readiness is what set_ready() said
  std::map<std::string, std::string, std::less<>> conditions_;
};

}  // namespace ratchet
