// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/pointer_tree.hpp"

#include <charconv>

namespace ratchet::json {

std::optional<std::uint64_t> as_index(const std::string& token) {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return std::nullopt;
  std::uint64_t index = 0;
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, index);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return index;
}

pointer_tree::pointer_tree() : nodes_(1) {}

node_index pointer_tree::add(const std::vector<std::string>& tokens) {
  node_index at = k_root;
  for (const std::string& token : tokens) {
    node_index next = member(at, token.data(), token.size());
    if (next == k_no_node) {
      next = static_cast<node_index>(nodes_.size());
      nodes_[at].children.push_back({token, as_index(token), next});
      nodes_[at].key_sizes |= std::uint64_t{1} << (token.size() & 63U);
      nodes_.emplace_back().parent = at;
    }
    at = next;
  }
  return at;
}

}  // namespace ratchet::json
