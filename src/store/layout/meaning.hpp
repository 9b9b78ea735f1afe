// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ports/stream_meaning.hpp"
#include "ratchet/error.hpp"
#include "store/layout/layout.hpp"

namespace ratchet {

/// "sha256:" and 64 hex digits, of layout::encode_lines().
[[nodiscard]] std::string meaning_hash(const std::vector<std::pair<std::string, std::string>>& lines);

/// Every line that differs, as "key: stored -> configured"; a side that lacks the key reads "(absent)".
[[nodiscard]] std::vector<diagnostic> meaning_differences(const layout::stream_record& stored,
                                                          const stream_meaning& configured);

/// The tables that the config has and the store has not, where nothing else differs; none: something does.
[[nodiscard]] std::optional<std::vector<std::string>> only_tables_added(const layout::stream_record& stored,
                                                                        const stream_meaning& configured);

/// Adds the question whether the state is to be built anew, once for each of these streams.
void ask_to_rebuild(problem&, const std::set<std::string>& streams);

/// A random version 4 UUID (RFC 9562, section 5.4) from std::random_device.
[[nodiscard]] std::string draw_uuid();
/// The bits of such a uuid.
[[nodiscard]] hash128 bits_of_uuid(std::string_view uuid);

}  // namespace ratchet
