// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "ratchet/types.hpp"

/// How GoogleTest shows the values of the vocabulary; found by argument-dependent look-up.
namespace ratchet {

inline void PrintTo(verdict v, std::ostream* out) {
  *out << name_of(v);
}
inline void PrintTo(reject_reason r, std::ostream* out) {
  *out << name_of(r);
}
inline void PrintTo(const decision& d, std::ostream* out) {
  *out << name_of(d.verdict);
  if (d.reason != reject_reason::none) *out << " (" << name_of(d.reason) << ")";
}
inline void PrintTo(const sequence& s, std::ostream* out) {
  *out << "{" << s.epoch << ", " << s.number << "}";
}
inline void PrintTo(const timestamp& t, std::ostream* out) {
  *out << t.time_since_epoch().count() << " ms";
}

}  // namespace ratchet
