// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "sim/store/disk.hpp"

/// What a power cut leaves of a disk.
namespace ratchet::store_sim {

namespace fs = std::filesystem;

constexpr std::size_t k_page = 4096;

/// All but a few pages in a row, which are as they were: as from a disk that writes in no order. Often they
/// are the first ones that a sync has not reached, where a reader begins again behind what was synced.
std::string faulty_disk::without_some_pages(const node& file, std::string all, std::mt19937_64& random) {
  std::uint64_t first_written = all.size();
  for (const pending_write& w : file.pending) first_written = std::min(first_written, w.offset);
  const std::uint64_t first = first_written / k_page;
  const std::uint64_t pages = (all.size() + k_page - 1) / k_page;
  if (first >= pages) return all;
  const std::uint64_t begin = random() % 2 == 0 ? first : first + random() % (pages - first);
  const std::uint64_t end = begin + 1 + random() % 8;
  for (std::size_t at = begin * k_page; at < std::min<std::uint64_t>(end * k_page, all.size()); ++at) {
    all[at] = at < file.safe.size() ? file.safe[at] : '\0';
  }
  return all;
}

std::string faulty_disk::left_of(const node& file, std::mt19937_64* random) const {
  std::string left = file.safe;
  if (!random || file.pending.empty()) return left;
  std::uint64_t bytes = 0;
  for (const pending_write& w : file.pending) bytes += w.bytes.size() + 1;
  const std::uint64_t way = (*random)() % 10;
  if (way < 2) return left;  // nothing came
  if (way < 6) {             // in order: all of it, or torn
    std::uint64_t rest = way < 4 ? bytes : (*random)() % bytes;
    for (const pending_write& w : file.pending) {
      if (rest == 0) break;
      --rest;
      pending_write part = w;
      part.bytes.resize(std::min<std::uint64_t>(rest, part.bytes.size()));
      rest -= part.bytes.size();
      write(left, part);
    }
    return left;
  }
  std::string all = file.safe;
  for (const pending_write& w : file.pending) write(all, w);
  if (way < 8) return without_some_pages(file, std::move(all), *random);
  // Page by page. The size may have come without the last pages, which are zero then.
  const bool size_came = (*random)() % 2 == 0;
  std::string out = left;
  if (size_came) out.resize(all.size());
  for (std::size_t at = 0; at < all.size(); at += k_page) {
    if ((*random)() % 3 == 0) continue;
    const std::string_view page = std::string_view{all}.substr(at, k_page);
    if (out.size() < at + page.size()) out.resize(at + page.size());
    out.replace(at, page.size(), page);
  }
  return out;
}

void faulty_disk::settle_names(std::mt19937_64* random) {
  const bool one_order = random && (*random)() % 2 == 0;
  std::size_t first = random ? (*random)() % (pending_names_.size() + 1) : 0;
  if (random && (*random)() % 3 == 0) first = pending_names_.size();
  std::set<node_id> ended;  // directories of which no later change came
  for (std::size_t i = 0; random && i < pending_names_.size(); ++i) {
    const name_change& c = pending_names_[i];
    const node_id here = c.to ? c.to->directory : c.from->directory;
    const node_id there = c.from ? c.from->directory : here;
    const bool comes = one_order ? i < first : (*random)() % 5 != 0;
    if (comes && !ended.contains(here) && !ended.contains(there)) {
      make_safe(c);
      continue;
    }
    ended.insert(here);
    ended.insert(there);
  }
  pending_names_.clear();
}

void faulty_disk::settle(std::mt19937_64* random) {
  const unobserved here;
  settle_names(random);
  for (const auto& entry : fs::directory_iterator{root_}) fs::remove_all(entry.path());
  std::vector<node> before = std::exchange(nodes_, {});
  last_paths_.clear();
  std::map<node_id, node_id> moved;
  rebuild(before, k_root, root_, moved, random);
  revive();
}

node_id faulty_disk::rebuild(std::vector<node>& before, node_id old, const fs::path& path,
                             std::map<node_id, node_id>& moved, std::mt19937_64* random) {
  const auto [known, is_new] = moved.try_emplace(old, static_cast<node_id>(nodes_.size()));
  const node_id id = known->second;
  if (is_new) {
    nodes_.push_back({});
    nodes_[id].is_directory = before[old].is_directory;
    if (!before[old].is_directory) nodes_[id].safe = left_of(before[old], random);
    nodes_[id].size = nodes_[id].safe.size();
  }
  if (!before[old].is_directory) {
    std::ofstream{path, std::ios::binary} << nodes_[id].safe;  // two names of one file become two files
    return id;
  }
  if (path != root_) {
    fs::create_directory(path);
    fs::permissions(path, fs::perms::owner_all);
  }
  for (const auto& [name, child] : before[old].safe_names) {
    const node_id now = rebuild(before, child, path / name, moved, random);
    nodes_[id].names.emplace(name, now);
    nodes_[id].safe_names.emplace(name, now);
  }
  return id;
}

void faulty_disk::cut_power(std::mt19937_64& random) {
  const std::scoped_lock lock{mutex_};
  settle(&random);
}

void faulty_disk::lose_everything_unsafe() {
  const std::scoped_lock lock{mutex_};
  settle(nullptr);
}

}  // namespace ratchet::store_sim
