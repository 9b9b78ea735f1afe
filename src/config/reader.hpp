// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/tree.hpp"

/// Reads a tree by a schema and collects every finding.
namespace ratchet {

/// The findings of one config, and which paths they concern. No more than k_most_findings are kept, of a file
/// that is no config at all: each is compared with many paths.
class config_findings {
 public:
  std::vector<diagnostic> list;
  std::vector<diagnostic> warnings;        ///< what is allowed but should be looked at
  std::vector<std::string> plain_secrets;  ///< paths of secrets that stand in the file itself
  bool reads_secrets{true};                ///< else {file: …} and {env: …} are checked in form alone

  void add(const config_place&, std::string path, std::string message, std::string hint = {});
  void warn(const config_place&, std::string path, std::string message, std::string hint = {});
  /// There were more.
  [[nodiscard]] bool full() const noexcept { return full_; }
  /// What was found besides add() counts, too.
  void drop_surplus();
  /// A key that was probably meant: it is not reported as missing as well.
  void guess(std::string path) { guessed_.insert(std::move(path)); }
  [[nodiscard]] bool guessed(const std::string& path) const { return guessed_.contains(path); }
  /// True where nothing was found at the path, below it or at a map around it, so that a rule may rely on its
  /// value.
  [[nodiscard]] bool clean(const std::string& path) const;
  /// The same, and no key was probably meant for it that was not read.
  [[nodiscard]] bool usable(const std::string& path) const;
  /// In the order of the file, then of the command line.
  void sort(const std::string& file);

 private:
  std::set<std::string> guessed_;
  bool full_{false};
};

/// A key of a map. `later` is empty, or says what to do without a key that this version does not have.
struct known_key {
  std::string_view name;
  std::string_view later{};
};

/// A value together with its path, read by type. Each read reports what is wrong and leaves `out` as it was.
class config_value {
 public:
  config_value(const config_node& node, std::string path, config_findings& findings)
      : node_{&node}, path_{std::move(path)}, findings_{&findings} {}

  [[nodiscard]] const config_node& node() const noexcept { return *node_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Reports at this value.
  void error(std::string message, std::string hint = {}) const;
  void warn(std::string message, std::string hint = {}) const;
  [[nodiscard]] config_findings& findings() const noexcept { return *findings_; }

  [[nodiscard]] bool is_word(std::string_view word) const noexcept;
  bool text(std::string& out) const;
  bool number(std::uint64_t& out, std::uint64_t least, std::uint64_t most) const;
  /// From 1 on; a 0 is read as well, which the rules refuse.
  bool limit(std::uint64_t& out, std::uint64_t most) const;
  bool duration(std::chrono::milliseconds& out) const;
  bool size(std::uint64_t& out) const;
  /// Which of the words it is; -1 where none.
  int word(std::span<const std::string_view> words) const;
  /// The items of a list; empty where it is none.
  [[nodiscard]] std::vector<config_value> list(std::string_view of) const;

 private:
  friend class config_map;
  bool expect(config_node::kind_of kind, std::string_view what) const;

  const config_node* node_;
  std::string path_;
  config_findings* findings_;
};

/// A map read by its known keys. Unknown, repeated and unbuilt keys are reported at construction.
class config_map {
 public:
  config_map(const config_value& value, std::span<const known_key> keys);

  [[nodiscard]] bool valid() const noexcept { return valid_; }
  [[nodiscard]] bool has(std::string_view key) const noexcept;
  /// The value of a key; nothing where it is missing.
  [[nodiscard]] std::optional<config_value> get(std::string_view key) const;
  /// The same, and reports where it is missing.
  [[nodiscard]] std::optional<config_value> require(std::string_view key, std::string hint) const;
  /// Reports at a key's value, or at the map where the key is missing.
  void error_at(std::string_view key, std::string message, std::string hint = {}) const;
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] config_findings& findings() const noexcept { return *value_.findings_; }

 private:
  void check_key(const config_node& key, std::span<const known_key> keys);

  config_value value_;
  bool valid_;
};

/// "not built yet in this version", with the name in front.
[[nodiscard]] std::string not_built(std::string_view what);

}  // namespace ratchet
