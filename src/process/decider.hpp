// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace ratchet {

/// Who decided something, and what they said of it.
struct decider {
  std::string by{};   ///< a user of this machine; empty: nobody knows
  std::string why{};  ///< in their own words; empty: they said nothing
};

/// As it stands behind the text of an audit row: "; decided by alice (uid 1000): the ledger is up".
[[nodiscard]] std::string decided_by(const decider&);

/// A user of this machine for people, as in "alice (uid 1000)": names may be given to others, numbers stay.
/// Without the name where nobody knows one.
[[nodiscard]] std::string user_name(uid_t);
/// Whoever started this process.
[[nodiscard]] std::string own_user_name();
/// Whoever is at the other end of a unix socket; empty where the kernel does not say.
[[nodiscard]] std::string peer_name(int socket);

}  // namespace ratchet
