// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

/// xxHash compiled into the caller: a call would cost as much as a short hash.

#ifndef NDEBUG
/// GCC cannot inline as much as the header asks for where it optimises for debugging.
#define XXH_NO_INLINE_HINTS 1
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>
