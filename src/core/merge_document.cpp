// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/merge_document.hpp"

#include <algorithm>

#include "core/aggregate_hash.hpp"

namespace ratchet {

namespace {

using json_scan::is_object;
using json_scan::long_values;

/// Of so many members one is found faster by looking at each.
constexpr std::size_t k_few = 8;

[[nodiscard]] bool is_escaped(std::string_view spelt) noexcept {
  return spelt.find('\\') != std::string_view::npos;
}

[[nodiscard]] bool same_name(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (!is_escaped(a) && !is_escaped(b)) return false;
  return json_scan::unescaped(a) == json_scan::unescaped(b);
}

[[nodiscard]] std::uint32_t hash_of(std::string_view spelt) {
  if (is_escaped(spelt)) return static_cast<std::uint32_t>(seeded_hash{}(json_scan::unescaped(spelt)));
  return static_cast<std::uint32_t>(seeded_hash{}(spelt.substr(1, spelt.size() - 2)));
}

}  // namespace

/// Of members with one name the last counts, at the place of the first.
void merge_document::read(object& into, std::string_view text, const long_values& known) {
  constexpr std::size_t k_sample = 1024;
  std::size_t at = json_scan::skip_space(text, 1);
  while (at < text.size() && text[at] == '"') {  // not covered: valid JSON closes what it opens
    const std::size_t name_end = json_scan::end_of_string(text, at);
    const std::size_t colon = json_scan::skip_space(text, name_end);
    const std::size_t value = json_scan::skip_space(text, colon + 1);
    if (value >= text.size()) break;  // not covered: as above
    const std::size_t value_end = json_scan::end_of_value(text, value, known);
    if (value_end > text.size()) break;  // not covered: as above
    const member found{text.data() + at, text.data() + value, static_cast<std::uint32_t>(name_end - at),
                       static_cast<std::uint32_t>(value_end - value)};
    const std::uint32_t hash = hash_for(into, found.name());
    if (const std::uint32_t same = find(into, found.name(), hash); same == k_none) {
      add(into, found, hash);
      if (into.list.size() == k_sample) make_room(into, k_sample * (text.size() / at + 1));
    } else {
      into.bytes = into.bytes - into.list[same].size + found.size;
      into.list[same].value = found.value;
      into.list[same].size = found.size;
    }
    const std::size_t comma = json_scan::skip_space(text, value_end);
    if (comma >= text.size() || text[comma] != ',') break;  // not covered: as above
    at = json_scan::skip_space(text, comma + 1);
  }
}

/// Where it is asked for.
std::uint32_t merge_document::hash_for(const object& of, std::string_view spelt) {
  return of.list.size() < k_few ? 0 : hash_of(spelt);
}

void merge_document::add(object& to, const member& m, std::uint32_t hash) {
  to.list.push_back(m);
  ++to.live;
  to.bytes += std::size_t{m.spelt_size} + 1 + m.size;
  if (to.list.size() <= k_few) return;
  const auto last = static_cast<std::uint32_t>(to.list.size() - 1);
  const bool is_new = to.index.empty();
  if (4 * to.list.size() > 3 * to.index.size()) grow_index(to, 2 * to.list.size());
  for (std::uint32_t i = 0; is_new && i < last; ++i) {
    if (to.list[i].spelt != nullptr) enter(to, {hash_of(to.list[i].name()), i});
  }
  enter(to, {hash, last});
}

/// For so many as there will be if the rest is like the beginning: growing costs half as much again.
void merge_document::make_room(object& of, std::size_t likely) {
  of.list.reserve(likely);
  grow_index(of, likely);
}

/// So that so many members have their place in it.
void merge_document::grow_index(object& of, std::size_t members) {
  std::size_t slots = 2 * k_few;
  while (4 * members > 3 * slots) slots *= 2;
  const std::vector<slot> old = std::exchange(of.index, std::vector<slot>(slots, slot{0, k_none}));
  for (const slot& s : old) {
    if (s.at != k_none && of.list[s.at].spelt != nullptr) enter(of, s);
  }
}

void merge_document::enter(object& in, slot s) {
  const std::size_t mask = in.index.size() - 1;
  std::size_t place = s.hash & mask;
  while (in.index[place].at != k_none) place = (place + 1) & mask;
  in.index[place] = s;
}

std::uint32_t merge_document::find(const object& in, std::string_view spelt, std::uint32_t hash) {
  if (in.index.empty()) {
    for (std::uint32_t i = 0; i < in.list.size(); ++i) {
      if (in.list[i].spelt != nullptr && same_name(in.list[i].name(), spelt)) return i;
    }
    return k_none;
  }
  const std::size_t mask = in.index.size() - 1;
  for (std::size_t place = hash & mask; in.index[place].at != k_none; place = (place + 1) & mask) {
    const slot& s = in.index[place];
    if (s.hash == hash && in.list[s.at].spelt != nullptr && same_name(in.list[s.at].name(), spelt))
      return s.at;
  }
  return k_none;
}

/// What the patch comes to where nothing was, or nothing that can be merged with.
void merge_document::write_new(std::string& out, std::string_view patch, const long_values& known) {
  if (!is_object(patch)) {
    out.append(patch);
    return;
  }
  object changes;
  read(changes, patch, known);
  out.push_back('{');
  for (const member& m : changes.list) {
    if (m.text() == "null") continue;
    if (out.back() != '{') out.push_back(',');
    out.append(m.name());
    out.push_back(':');
    write_new(out, m.text(), known);
  }
  out.push_back('}');
}

std::string_view merge_document::own_new(std::string_view patch, const long_values& known) {
  std::string& text = *written_.emplace_back(std::make_unique<std::string>());
  text.reserve(patch.size());
  write_new(text, patch, known);
  memory_ += text.capacity() + sizeof text;
  return text;
}

/// RFC 7396, section 2: MergePatch(Target, Patch), where both are objects.
void merge_document::merge(object& target, std::string_view patch, const long_values& known) {
  object changes;
  read(changes, patch, known);
  for (const member& c : changes.list) {
    const std::uint32_t hash = hash_for(target, c.name());
    const std::uint32_t at = find(target, c.name(), hash);
    const bool removes = c.text() == "null";
    if (at != k_none) {
      member& old = target.list[at];
      target.bytes -= std::size_t{old.spelt_size} + 1 + size_of(old);
      if (removes) {
        old.spelt = nullptr;
        --target.live;
        continue;
      }
      change(old, c.text(), known);
      target.bytes += std::size_t{old.spelt_size} + 1 + size_of(old);
    } else if (!removes) {
      member added = c;
      if (is_object(c.text())) {
        const std::string_view text = own_new(c.text(), known);
        added.value = text.data();
        added.size = static_cast<std::uint32_t>(text.size());
      }
      add(target, added, hash);
      memory_ += sizeof(member) + 2 * sizeof(slot);
    }
  }
}

void merge_document::change(member& old, std::string_view patch, const long_values& known) {
  if (!is_object(patch)) {
    old.value = patch.data();
    old.size = static_cast<std::uint32_t>(patch.size());
    return;
  }
  if (old.value != nullptr && is_object(old.text())) {
    old.size = take_apart(old.text());
    old.value = nullptr;
  }
  if (old.value == nullptr) return merge(*objects_[old.size], patch, known);
  const std::string_view text = own_new(patch, known);
  old.value = text.data();
  old.size = static_cast<std::uint32_t>(text.size());
}

std::uint32_t merge_document::take_apart(std::string_view text) {
  auto apart = std::make_unique<object>();
  if (text.size() < json_scan::k_long || objects_.empty()) {
    read(*apart, text, long_values{});
  } else {
    read(*apart, text, ends_in(text));
  }
  memory_ +=
      sizeof(object) + apart->list.capacity() * sizeof(member) + apart->index.capacity() * sizeof(slot);
  objects_.push_back(std::move(apart));
  return static_cast<std::uint32_t>(objects_.size() - 1);
}

/// The outermost level of a text needs none; from there on each byte would be read once a level.
const long_values& merge_document::ends_in(std::string_view text) {
  const auto at = ends_.lower_bound(text.data());
  if (at != ends_.end() && text.data() + text.size() <= at->second.first) return at->second.second;
  const auto made =
      ends_.insert_or_assign(text.data(), std::pair{text.data() + text.size(), long_values{text}}).first;
  memory_ += made->second.second.memory();
  return made->second.second;
}

std::string merge_document::of_new(std::string_view patch) {
  patch = json_scan::trimmed(patch);
  std::string out;
  out.reserve(patch.size());
  write_new(out, patch, long_values{patch});
  return out;
}

void merge_document::apply(std::string_view patch) {
  patch = json_scan::trimmed(patch);
  if (!is_object(patch)) {
    text_ = patch;
    apart_ = false;
    return;
  }
  const long_values known{patch};
  if (!apart_ && !is_object(text_)) {
    text_ = own_new(patch, known);
    return;
  }
  if (!apart_) {
    objects_.clear();
    ends_.clear();
    (void)take_apart(text_);
    apart_ = true;
  }
  merge(*objects_.front(), patch, known);
}

std::size_t merge_document::size_of(const member& m) const noexcept {
  return m.value == nullptr ? objects_[m.size]->size() : m.size;
}

std::size_t merge_document::size() const noexcept {
  return apart_ ? objects_.front()->size() : text_.size();
}

void merge_document::write(std::string& out, const object& o) const {
  out.push_back('{');
  for (const member& m : o.list) {
    if (m.spelt == nullptr) continue;
    if (out.back() != '{') out.push_back(',');
    out.append(m.name());
    out.push_back(':');
    if (m.value == nullptr) {
      write(out, *objects_[m.size]);
    } else {
      out.append(m.text());
    }
  }
  out.push_back('}');
}

std::string merge_document::text() const {
  std::string out;
  out.reserve(size());
  if (apart_) {
    write(out, *objects_.front());
  } else {
    out.append(text_);
  }
  return out;
}

}  // namespace ratchet
