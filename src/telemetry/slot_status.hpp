// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ports/replica.hpp"
#include "ratchet/types.hpp"

/// What an instance whose steps go through a replicated log says of itself.
namespace ratchet {

enum class slot_role : std::uint8_t {
  owner,        ///< it decides
  standby,      ///< it has all of the log, and the group may give it the slot
  following,    ///< it reads the log, and is not ready to take over
  restoring,    ///< it reads a base into its store
  taking_over,  ///< the group gave it the slot, and its fence does not count yet
};
inline constexpr slot_role k_slot_roles[] = {slot_role::owner, slot_role::standby, slot_role::following,
                                             slot_role::restoring, slot_role::taking_over};

/// The stable name, as `taking_over`.
[[nodiscard]] constexpr std::string_view name_of(slot_role role) noexcept {
  switch (role) {
    case slot_role::owner:
      return "owner";
    case slot_role::standby:
      return "standby";
    case slot_role::following:
      return "following";
    case slot_role::restoring:
      return "restoring";
    case slot_role::taking_over:
      return "taking_over";
  }
  return "unknown";
}

/// A whole copy of the state that the brokers keep.
struct base_status {
  std::uint64_t step{0};
  timestamp made;          ///< when it was begun
  std::uint64_t bytes{0};  ///< of its rows, before compression
  friend bool operator==(const base_status&, const base_status&) = default;
};

/// What an owner does about bases. Counted since the process began.
struct base_progress {
  std::optional<base_status> newest;    ///< none: there is none, or it was not looked at yet
  std::optional<std::uint64_t> writes;  ///< bytes of the one that is being written, so far
  std::uint64_t written{0};             ///< how many
  std::uint64_t failures{0};            ///< to write one, or to cut the log before it
  std::string trouble;                  ///< the last of them, until one is written; empty: all is well
  friend bool operator==(const base_progress&, const base_progress&) = default;
};

/// How this instance's state compared with the owner's, piece by piece. Counted since the process began.
struct digest_findings {
  std::uint64_t same{0};
  std::uint64_t different{0};
  std::optional<std::uint64_t> last_step;         ///< that was compared; none: none was
  std::optional<std::uint64_t> first_difference;  ///< the step at which it was found first
  friend bool operator==(const digest_findings&, const digest_findings&) = default;
};

/// As of one turn of the owner thread.
struct slot_status {
  std::string log;  ///< its topic
  std::string instance;
  std::string advertise;  ///< may be empty
  slot_role role{slot_role::following};
  std::optional<slot_owner> owner;  ///< as the log's last fence says; none: it is not known yet
  std::uint64_t step{0};            ///< the last confirmed one that is here
  std::uint64_t log_bytes{0};       ///< of the rows of all steps since the history began
  /// Bounds of the log; none: they were not told yet.
  std::optional<std::int64_t> log_first;
  std::optional<std::int64_t> log_end;
  std::uint64_t records_behind{0};  ///< of the log as its end was told last
  /// How old what is here may be: for so long it was not known to have all of the log. None: not known yet.
  std::optional<std::chrono::milliseconds> behind;
  std::uint64_t pending_steps{0};               ///< of an owner: decided, and not confirmed
  std::uint64_t pending_bytes{0};               ///< of their rows
  std::optional<std::uint64_t> log_since_base;  ///< of an owner: bytes of rows since the newest base
  base_progress bases;                          ///< of an owner
  std::optional<std::uint64_t> restored;        ///< bytes of a base that is being read, so far
  digest_findings digests;                      ///< of an instance that does not own the state
  std::uint64_t leads{0};                       ///< how often this process became the owner
  std::uint64_t fences{0};                      ///< how many it has made
  std::uint64_t ignored_records{0};             ///< of owners that had lost the lead
  std::uint64_t gaps{0};                        ///< records behind one that was never written
  friend bool operator==(const slot_status&, const slot_status&) = default;
};

/// An instance for people: "`ratchet-0` at ratchet-0:9187". The address may be empty.
[[nodiscard]] std::string instance_text(std::string_view instance, std::string_view advertise);

}  // namespace ratchet
