// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ports/stream_meaning.hpp"

namespace ratchet {

/// Where a step is written to the database.
enum class write_on : std::uint8_t {
  own_thread,    ///< while the owner goes on with the next step; an error is told by the call after it
  owner_thread,  ///< before write() returns: one thread does everything, in one order, as a simulation wants
                 ///< it
};

struct store_options {
  std::filesystem::path path;
  std::string group;
  /// The streams of the config. One that the store has and the config has not is refused where it holds
  /// anything, and so is a topic that another stream has read.
  std::vector<stream_meaning> streams;
  /// For memtables and block cache together.
  std::uint64_t database_bytes{std::uint64_t{256} << 20U};
  /// For what is remembered of recent ids and rows, all streams together.
  std::uint64_t remembered_bytes{std::uint64_t{256} << 20U};
  bool create{true};
  /// True: what the config changes is written while the store is opened. False: with the first step, so that
  /// whoever finds that it may not start leaves no trace. Then a directory that was made for it goes again.
  bool adopts_at_once{true};
  write_on writes{write_on::own_thread};
  /// The store's steps go through a replicated log: see replica. Needs adopts_at_once. No config sets it.
  bool replicated{false};
  /// A replica becomes a store of its own, at the step that it has. To the consumer group it is the store of
  /// the whole history, and a copy of it, as the other replicas are. Ignored with `replicated`.
  bool leaves_log{false};
};

}  // namespace ratchet
