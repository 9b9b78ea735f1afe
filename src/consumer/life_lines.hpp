// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ports/store_lineage.hpp"
#include "process/log.hpp"
#include "ratchet/config.hpp"
#include "streams/partition_task.hpp"

/// What the log says when a run begins and when it ends: which version did what to which state, up to where.
namespace ratchet {

void tell_start(const log_ptr&, const config&, const store_lineage&);

/// `to` is synced as far as it will be by this run.
void tell_end(const log_ptr&, const store_lineage& to, const task_list&);

}  // namespace ratchet
