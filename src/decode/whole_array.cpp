// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/whole_array.hpp"

#include <algorithm>

#include "decode/json_scan.hpp"

namespace ratchet {
namespace {

/// What orders events is often a pair, as of a commit and a place in it.
bool may_be_part_of_tuple(field_use use) noexcept {
  switch (use) {
    case field_use::sequence:
    case field_use::epoch:
    case field_use::begin:
    case field_use::previous:
    case field_use::time:
      return true;
    case field_use::names_event:
    case field_use::names_aggregate:
    case field_use::type:
    case field_use::foreign:
    case field_use::deletes:
    case field_use::payload:
    case field_use::list:
      return false;
  }
  return false;
}

/// The pointer up to its token of this index, as it is spelt.
std::string pointer_up_to(const field& f, std::size_t token) {
  const std::string& text = f.source.text;
  std::size_t at = text.find('/');
  for (; token > 0; --token) at = text.find('/', at + 1);
  return text.substr(0, text.find('/', at + 1));
}

}  // namespace

bool whole_array::has_more(const json::walker& walked, const char* end) const noexcept {
  const json::found& here = walked.at(last.node);
  if (here.what == json::kind::none || walked.at(array).what != json::kind::array) return false;
  if (!is_all_before) return true;
  const char* behind = here.end;
  json::skip_space(behind, end);
  return behind == end || *behind != ']';
}

void array_finder::add(const json::pointer_tree& tree, const field& f, field_use use) {
  if (!f.in_value()) return;
  json::node_index node = f.node;
  for (std::size_t i = f.source.tokens.size(); i-- > 0; node = tree.parent(node)) {
    const auto index = json::as_index(f.source.tokens[i]);
    if (!index) continue;
    const bool is_scalar = i + 1 == f.source.tokens.size();
    if (is_scalar && use == field_use::foreign) continue;
    array_reads& reads = arrays_[tree.parent(node)];
    reads.elements.try_emplace(*index, element{node, pointer_up_to(f, i)});
    reads.by_use[use].insert(*index);
    if (!is_scalar) reads.of_members.insert(use);
    reads.must_be_whole = reads.must_be_whole || !is_scalar || !may_be_part_of_tuple(use);
  }
}

bool array_finder::array_reads::is_one_event() const {
  const auto have_none_in_common = [](const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
    return std::none_of(a.begin(), a.end(), [&](std::uint64_t index) { return b.contains(index); });
  };
  for (auto one = by_use.begin(); one != by_use.end(); ++one) {
    for (auto other = std::next(one); other != by_use.end(); ++other) {
      const bool are_events = of_members.contains(one->first) && of_members.contains(other->first);
      if (!are_events && have_none_in_common(one->second, other->second)) return true;
    }
  }
  return false;
}

std::vector<whole_array> array_finder::arrays() const {
  std::vector<whole_array> out;
  for (const auto& [node, reads] : arrays_) {
    if (!reads.must_be_whole || reads.is_one_event()) continue;
    const auto& [index, last] = *reads.elements.rbegin();
    whole_array& a = out.emplace_back();
    a.array = node;
    a.last.mapped = true;
    a.last.source.text = last.pointer;
    a.last.node = last.node;
    a.is_all_before = index + 1 == reads.elements.size();
    a.tells_type = reads.by_use.contains(field_use::type);
    a.tells_foreign = reads.by_use.contains(field_use::foreign);
  }
  return out;
}

std::vector<whole_array> arrays_on_way(const json::pointer_tree& tree, const field& f, field_use use) {
  array_finder finder;
  finder.add(tree, f, use);
  return finder.arrays();
}

}  // namespace ratchet
