// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/store/disk.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

namespace ratchet::store_sim {

namespace fs = std::filesystem;

const char* name_of(io kind) noexcept {
  switch (kind) {
    case io::create:
      return "create";
    case io::append:
      return "append";
    case io::overwrite:
      return "overwrite";
    case io::truncate:
      return "truncate";
    case io::sync:
      return "sync";
    case io::sync_directory:
      return "sync directory";
    case io::rename:
      return "rename";
    case io::link:
      return "link";
    case io::remove:
      return "remove";
    case io::make_directory:
      return "make directory";
    case io::read:
      return "read";
  }
  return "";
}

const char* name_of(fault_kind kind) noexcept {
  switch (kind) {
    case fault_kind::io_error:
      return "EIO";
    case fault_kind::no_space:
      return "ENOSPC";
    case fault_kind::unknown:
      return "unknown outcome";
    case fault_kind::power_cut:
      return "power cut";
  }
  return "";
}

faulty_disk::faulty_disk(fs::path root) : root_{std::move(root)} {
  nodes_.emplace_back().is_directory = true;
}

bool faulty_disk::holds(std::string_view path) const {
  const std::string& root = root_.native();
  return path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/';
}

std::string faulty_disk::short_name(const std::string& path) const {
  return holds(path) ? path.substr(root_.native().size() + 1) : path;
}

// Which calls fail.

order faulty_disk::ask(io kind, const std::string& path, std::size_t size) {
  const std::scoped_lock lock{mutex_};
  return answer(kind, short_name(path), size);
}

order faulty_disk::ask(io kind, node_id file, std::size_t size) {
  const std::scoped_lock lock{mutex_};
  const auto at = last_paths_.find(file);
  return answer(kind, at == last_paths_.end() ? "?" : at->second, size);
}

order faulty_disk::answer(io kind, const std::string& what, std::size_t size) {
  const bool is_read = kind == io::read;
  const bool was_dead = dead_;
  std::uint64_t& count = is_read ? reads_ : calls_;
  order given{true, size, 0};
  if (dead_) {
    given = is_read ? given : order{false, 0, EIO};
  } else {
    ++count;
    const bool due = fault_ && fault_->of_reads == is_read &&
                     (count == fault_counts_from_ + fault_->at ||
                      (fault_->lasting && count > fault_counts_from_ + fault_->at));
    if (due) given = strike(kind, size);
  }
  if (trace_ && !was_dead && (!is_read || given.error != 0)) {
    std::string line = std::to_string(count) + ' ' + name_of(kind) + ' ' + what;
    if (size > 0) line += ' ' + std::to_string(size);
    if (given.error != 0) {
      line += std::string{" -> "} + (dead_ ? "no power" : given.error == ENOSPC ? "ENOSPC" : "EIO");
      if (given.perform) line += size > 0 ? ", " + std::to_string(given.bytes) + " bytes done" : ", done";
    }
    trace_->add("    " + line);
  }
  return given;
}

order faulty_disk::strike(io kind, std::size_t size) {
  struck_ = true;
  const bool writes = kind == io::append || kind == io::overwrite;
  const auto some = [&] {
    return size == 0 ? std::size_t{0} : static_cast<std::size_t>(fault_random_() % size);
  };
  switch (fault_->kind) {
    case fault_kind::io_error:
      return {false, 0, EIO};
    case fault_kind::no_space:
      return {writes, writes ? some() : 0, ENOSPC};
    case fault_kind::unknown:
      return {kind != io::read, fault_random_() % 2 == 0 ? size : some(), EIO};
    case fault_kind::power_cut:
      dead_ = true;
      return {fault_random_() % 2 == 0, fault_random_() % 2 == 0 ? size : some(), EIO};
  }
  return {};
}

void faulty_disk::arm(const fault& f) {
  const std::scoped_lock lock{mutex_};
  fault_ = f;
  fault_counts_from_ = f.of_reads ? reads_ : calls_;
  fault_random_.seed(f.seed);
  struck_ = false;
}

void faulty_disk::heal() {
  const std::scoped_lock lock{mutex_};
  revive();
}

void faulty_disk::revive() {
  if (struck_) fault_.reset();
  struck_ = false;
  dead_ = false;
}

void faulty_disk::disarm() {
  const std::scoped_lock lock{mutex_};
  fault_.reset();
}

bool faulty_disk::struck() const {
  const std::scoped_lock lock{mutex_};
  return struck_;
}

bool faulty_disk::is_dead() const {
  const std::scoped_lock lock{mutex_};
  return dead_;
}

void faulty_disk::kill() {
  const std::scoped_lock lock{mutex_};
  dead_ = true;
}

std::uint64_t faulty_disk::calls() const {
  const std::scoped_lock lock{mutex_};
  return calls_;
}

std::uint64_t faulty_disk::reads() const {
  const std::scoped_lock lock{mutex_};
  return reads_;
}

void faulty_disk::trace_into(trace_lines* lines) {
  const std::scoped_lock lock{mutex_};
  trace_ = lines;
}

void faulty_disk::at_next_log_sync(std::function<void()> what) {
  const std::scoped_lock lock{mutex_};
  at_log_sync_ = std::move(what);
}

void faulty_disk::log_sync_begins() {
  std::function<void()> what;
  {
    const std::scoped_lock lock{mutex_};
    what = std::exchange(at_log_sync_, nullptr);
  }
  if (what) what();
}

// Bytes.

void faulty_disk::appended(node_id id, std::string_view bytes) {
  const std::scoped_lock lock{mutex_};
  if (bytes.empty()) return;
  node& file = nodes_[id];
  file.pending.push_back({file.size, std::string{bytes}, false, false});
  file.size += bytes.size();
}

void faulty_disk::overwrote(node_id id, std::uint64_t offset, std::string_view bytes) {
  const std::scoped_lock lock{mutex_};
  if (bytes.empty()) return;
  node& file = nodes_[id];
  file.pending.push_back({offset, std::string{bytes}, false, false});
  file.size = std::max(file.size, offset + bytes.size());
}

void faulty_disk::resized(node_id id, std::uint64_t size) {
  const std::scoped_lock lock{mutex_};
  node& file = nodes_[id];
  if (size == file.size) return;
  file.pending.push_back({size, {}, true, false});
  file.size = size;
}

void faulty_disk::write(std::string& content, const pending_write& w) {
  if (w.resizes) {
    content.resize(w.offset);
    return;
  }
  if (content.size() < w.offset + w.bytes.size()) content.resize(w.offset + w.bytes.size());
  content.replace(w.offset, w.bytes.size(), w.bytes);
}

void faulty_disk::synced(node_id id) {
  const std::scoped_lock lock{mutex_};
  node& file = nodes_[id];
  for (const pending_write& w : file.pending) {
    if (!w.doomed) write(file.safe, w);
  }
  std::erase_if(file.pending, [](const pending_write& w) { return !w.doomed; });
}

void faulty_disk::sync_failed(node_id id) {
  const std::scoped_lock lock{mutex_};
  if (dead_) return;
  for (pending_write& w : nodes_[id].pending) w.doomed = true;
}

// Names.

faulty_disk::place faulty_disk::place_of(const std::string& path) const {
  place at{k_root, {}};
  const fs::path below = fs::path{short_name(path)}.lexically_normal();
  for (auto part = below.begin(); part != below.end(); ++part) {
    if (part->empty() || *part == ".") continue;
    if (!at.name.empty()) {
      const node_id next = node_at(at);
      if (next == k_no_node) return {};
      at.directory = next;
    }
    at.name = part->string();
  }
  return at;
}

node_id faulty_disk::node_at(const place& at) const {
  if (at.directory == k_no_node) return k_no_node;
  if (at.name.empty()) return at.directory;
  const auto& names = nodes_[at.directory].names;
  const auto found = names.find(at.name);
  return found == names.end() ? k_no_node : found->second;
}

node_id faulty_disk::make_node(const place& at, bool is_directory) {
  const auto id = static_cast<node_id>(nodes_.size());
  nodes_.emplace_back().is_directory = is_directory;
  change({std::nullopt, at, id});
  return id;
}

void faulty_disk::change(name_change c) {
  if (c.from) nodes_[c.from->directory].names.erase(c.from->name);
  if (c.to) nodes_[c.to->directory].names[c.to->name] = c.what;
  pending_names_.push_back(std::move(c));
}

void faulty_disk::make_safe(const name_change& c) {
  if (c.from) nodes_[c.from->directory].safe_names.erase(c.from->name);
  if (c.to) nodes_[c.to->directory].safe_names[c.to->name] = c.what;
}

node_id faulty_disk::opened(const std::string& path, bool truncated) {
  const std::scoped_lock lock{mutex_};
  const place at = place_of(path);
  node_id id = node_at(at);
  if (id == k_no_node) id = make_node(at, false);
  node& file = nodes_[id];
  if (truncated && file.size > 0) {
    file.pending.push_back({0, {}, true, false});
    file.size = 0;
  }
  last_paths_[id] = short_name(path);
  return id;
}

node_id faulty_disk::find(const std::string& path) {
  const std::scoped_lock lock{mutex_};
  if (path == root_.native()) return k_root;
  const node_id id = node_at(place_of(path));
  if (id != k_no_node) last_paths_[id] = short_name(path);
  return id;
}

void faulty_disk::renamed(const std::string& from, const std::string& to) {
  const std::scoped_lock lock{mutex_};
  const place source = place_of(from);
  const node_id what = node_at(source);
  if (what != k_no_node) change({source, place_of(to), what});
}

void faulty_disk::linked(const std::string& from, const std::string& to) {
  const std::scoped_lock lock{mutex_};
  const node_id what = node_at(place_of(from));
  if (what != k_no_node) change({std::nullopt, place_of(to), what});
}

void faulty_disk::removed(const std::string& path) {
  const std::scoped_lock lock{mutex_};
  const place at = place_of(path);
  if (node_at(at) != k_no_node) change({at, std::nullopt, k_no_node});
}

void faulty_disk::made_directory(const std::string& path) {
  const std::scoped_lock lock{mutex_};
  const place at = place_of(path);
  if (at.directory != k_no_node && node_at(at) == k_no_node) make_node(at, true);
}

void faulty_disk::directory_synced(const std::string& path) {
  const std::scoped_lock lock{mutex_};
  const node_id directory = path == root_.native() ? k_root : node_at(place_of(path));
  // A change of this directory, and before it whatever it builds on: earlier changes of the same names.
  std::vector<bool> safe(pending_names_.size(), false);
  std::set<place> touched;
  for (std::size_t i = pending_names_.size(); i-- > 0;) {
    const name_change& c = pending_names_[i];
    const place& where = c.to ? *c.to : *c.from;
    const bool builds = (c.to && touched.contains(*c.to)) || (c.from && touched.contains(*c.from));
    if (where.directory != directory && !builds) continue;
    safe[i] = true;
    if (c.to) touched.insert(*c.to);
    if (c.from) touched.insert(*c.from);
  }
  std::vector<name_change> left;
  for (std::size_t i = 0; i < pending_names_.size(); ++i) {
    if (safe[i]) {
      make_safe(pending_names_[i]);
    } else {
      left.push_back(std::move(pending_names_[i]));
    }
  }
  pending_names_ = std::move(left);
}

}  // namespace ratchet::store_sim
