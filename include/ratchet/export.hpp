// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what the shared library shows. Everything else in it is hidden.
#define RATCHET_EXPORT __attribute__((visibility("default")))
