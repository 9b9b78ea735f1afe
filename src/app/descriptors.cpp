// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/descriptors.hpp"

#include <string>

#include "store/engine/open_files.hpp"

namespace ratchet {

std::optional<problem> refusal_of_descriptors(std::uint64_t limit) {
  if (limit >= k_least_descriptors) return std::nullopt;
  return problem{std::make_error_code(std::errc::too_many_files_open),
                 "this process may open " + std::to_string(limit) + " files, and at least " +
                     std::to_string(k_least_descriptors) +
                     " are needed for table files, logs and connections; nothing was changed",
                 "in a shell: ulimit -n 4096; in a systemd unit: LimitNOFILE=4096; then start again",
                 {}};
}

}  // namespace ratchet
