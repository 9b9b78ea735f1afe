// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of the public API.
#include "ratchet/app.hpp"          // IWYU pragma: export
#include "ratchet/config.hpp"       // IWYU pragma: export
#include "ratchet/effects.hpp"      // IWYU pragma: export
#include "ratchet/error.hpp"        // IWYU pragma: export
#include "ratchet/event.hpp"        // IWYU pragma: export
#include "ratchet/export.hpp"       // IWYU pragma: export
#include "ratchet/gate.hpp"         // IWYU pragma: export
#include "ratchet/log.hpp"          // IWYU pragma: export
#include "ratchet/reducer.hpp"      // IWYU pragma: export
#include "ratchet/resume.hpp"       // IWYU pragma: export
#include "ratchet/sinks.hpp"        // IWYU pragma: export
#include "ratchet/table.hpp"        // IWYU pragma: export
#include "ratchet/test_driver.hpp"  // IWYU pragma: export
#include "ratchet/types.hpp"        // IWYU pragma: export
