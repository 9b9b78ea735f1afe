// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

/// A YAML document as plain values: every scalar as the text that was written, every node with its place.
/// What a YAML library would decide by itself (that `no` is false, that 0123 is 83, that the first of two
/// equal keys wins) is left to the schema.
namespace ratchet {

/// Of one config, that are told.
inline constexpr std::size_t k_most_findings = 100;

/// Where something was written. Lines and columns start at 1; 0 where it has none, as on the command line.
struct config_place {
  std::shared_ptr<const std::string> file;
  int line{0};
  int column{0};
};

struct config_node {
  enum class kind_of : std::uint8_t {
    null,  ///< nothing, `~` or `null`
    scalar,
    list,
    map,
    refused,  ///< an alias: reported already, and looked at no further
  };
  kind_of kind{kind_of::null};
  std::string text;   ///< of a scalar
  bool plain{false};  ///< a scalar without quotes
  config_place at;
  std::vector<config_node> keys;   ///< of a map; keys[i] belongs to items[i]
  std::vector<config_node> items;  ///< of a map or a list

  /// The value of the first key of that name; nullptr where this is no map or has no such key.
  [[nodiscard]] const config_node* find(std::string_view key) const noexcept;
  [[nodiscard]] config_node* find(std::string_view key) noexcept;
};

/// Builds the tree of the one document in `text`. Syntax errors, anchors, aliases, tags and further documents
/// are added to `findings`; what could be read is returned all the same.
[[nodiscard]] config_node parse_tree(const std::string& text, const std::string& file,
                                     std::vector<diagnostic>& findings);

/// Puts the values of `--set` and `-X` into the tree, in the order given. Paths that lead nowhere are added
/// to `findings`. A value never appears in a message: it may be a secret.
void apply_overrides(config_node& root, const config_overrides&, std::vector<diagnostic>& findings);

/// A finding at a place.
[[nodiscard]] diagnostic finding_at(const config_place&, std::string path, std::string message,
                                    std::string hint = {});

}  // namespace ratchet
