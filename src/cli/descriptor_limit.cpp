// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "cli/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace ratchet::cli {

void lift_descriptor_limit() noexcept {
  constexpr rlim_t k_wanted = 32'768;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= k_wanted) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(k_wanted, limit.rlim_max));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // where it is refused, the old one holds
}

}  // namespace ratchet::cli
