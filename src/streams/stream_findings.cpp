// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/stream_findings.hpp"

#include <algorithm>
#include <utility>

namespace ratchet {

stream_findings::stream_findings(std::size_t stream, std::vector<config_finding>& all)
    : all_{all}, begin_{all.size()}, at_{item_of("streams", stream) + "."} {}

void stream_findings::add(const std::string& key, std::string message, std::string hint, paths judged_by) {
  config_finding f{path_of(key), std::move(message), std::move(hint), {}};
  for (const std::string_view other : judged_by)
    f.judged_by.push_back(other == k_sinks ? std::string{other} : path_of(other));
  if (key.starts_with("envelope.")) f.judged_by.push_back(path_of("envelope.format"));
  const auto is_known = [&](const config_finding& before) {
    return is_at_or_below(before.path, f.path) || is_at_or_below(f.path, before.path);
  };
  const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(begin_);
  if (!is_full() && std::none_of(begin, all_.end(), is_known)) all_.push_back(std::move(f));
}

}  // namespace ratchet
