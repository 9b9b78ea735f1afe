// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "replicate/log_reader.hpp"
#include "store/step/row_sink.hpp"

/// How a replica takes a whole copy of the rows in place of what it has: the mark that it does so, the rows,
/// and then the position in the mark's place. Each in a batch behind the store's own step number.
namespace ratchet {

/// Erases all rows that a log has, but for the names of the streams, which are the same in each replica, and
/// the position. Puts the mark. `has_rows`: false where there is nothing to erase but a mark and a position.
void put_begin_of_restore(row_sink& to, slot, bool has_rows);
/// Puts the position and erases the mark.
void put_end_of_restore(row_sink& to, slot, const replicate::log_position&);

}  // namespace ratchet
