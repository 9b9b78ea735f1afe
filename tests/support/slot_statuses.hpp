// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/noon.hpp"
#include "telemetry/slot_status.hpp"

/// What instances of a pair may say of themselves.
namespace ratchet::testing {

inline slot_status status_of_owner() {
  slot_status s;
  s.log = "payments.ratchet";
  s.instance = "ratchet-0";
  s.advertise = "ratchet-0:9187";
  s.role = slot_role::owner;
  s.owner = slot_owner{{5, 1}, "ratchet-0", "ratchet-0:9187"};
  s.step = 1234;
  s.log_bytes = 90'000;
  s.log_first = 120;
  s.log_end = 4512;
  s.pending_steps = 2;
  s.pending_bytes = 4096;
  s.log_since_base = 5000;
  s.bases.newest = base_status{900, k_noon, 70'000};
  s.bases.writes = 300;
  s.bases.written = 3;
  s.bases.failures = 1;
  s.bases.trouble = "the log cannot be cut: access denied";
  s.leads = 2;
  s.fences = 4;
  s.ignored_records = 6;
  s.gaps = 7;
  return s;
}

inline slot_status status_of_standby() {
  slot_status s;
  s.log = "payments.ratchet";
  s.instance = "ratchet-1";
  s.role = slot_role::standby;
  s.owner = slot_owner{{5, 1}, "ratchet-0", "ratchet-0:9187"};
  s.step = 1230;
  s.log_bytes = 89'000;
  s.log_first = 120;
  s.log_end = 4512;
  s.records_behind = 4;
  s.behind = std::chrono::milliseconds{1500};
  s.digests = {11, 0, 1200, {}};
  return s;
}

}  // namespace ratchet::testing
