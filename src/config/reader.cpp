// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/reader.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "streams/config_rules.hpp"
#include "text/units.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

using kind_of = config_node::kind_of;

const char* name_of_kind(const config_node& node) noexcept {
  switch (node.kind) {
    case kind_of::null:
      return "empty";
    case kind_of::scalar:
      return "text";
    case kind_of::list:
      return "a list";
    case kind_of::map:
      return "a map";
    case kind_of::refused:
      return "refused";
  }
  return "?";
}

// Keys and items are looked for one by one; nobody writes so many by hand.
constexpr std::size_t k_most_keys = 1'000;
constexpr std::size_t k_most_items = 10'000;

/// A scalar as it may be shown: short and on one line.
std::string shown(const config_node& node) {
  constexpr std::size_t k_longest = 60;
  std::string text = node.text.substr(0, k_longest);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return "\"" + text + (node.text.size() > k_longest ? "..." : "") + "\"";
}

/// "a, b or c".
std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

void config_findings::add(const config_place& at, std::string path, std::string message, std::string hint) {
  full_ = full_ || list.size() >= k_most_findings;
  if (!full_) list.push_back(finding_at(at, std::move(path), std::move(message), std::move(hint)));
}

void config_findings::drop_surplus() {
  if (list.size() <= k_most_findings) return;
  list.resize(k_most_findings);
  full_ = true;
}

void config_findings::warn(const config_place& at, std::string path, std::string message, std::string hint) {
  if (warnings.size() >= k_most_findings) return;
  warnings.push_back(finding_at(at, std::move(path), std::move(message), std::move(hint)));
}

bool config_findings::clean(const std::string& path) const {
  return std::none_of(list.begin(), list.end(), [&](const diagnostic& d) {
    return is_at_or_below(d.path, path) || (!d.path.empty() && is_at_or_below(path, d.path));
  });
}

bool config_findings::usable(const std::string& path) const {
  return clean(path) && std::none_of(guessed_.begin(), guessed_.end(),
                                     [&](const std::string& meant) { return is_at_or_below(path, meant); });
}

void config_findings::sort(const std::string& file) {
  std::stable_sort(list.begin(), list.end(), [&](const diagnostic& a, const diagnostic& b) {
    return std::tuple{a.file != file, a.line, a.column} < std::tuple{b.file != file, b.line, b.column};
  });
}

std::string not_built(std::string_view what) {
  return std::string{what} + " is not built yet in this version";
}

void config_value::error(std::string message, std::string hint) const {
  findings_->add(node_->at, path_, std::move(message), std::move(hint));
}

void config_value::warn(std::string message, std::string hint) const {
  findings_->warn(node_->at, path_, std::move(message), std::move(hint));
}

bool config_value::expect(kind_of kind, std::string_view what) const {
  if (node_->kind == kind) return true;
  if (node_->kind == kind_of::null) {
    error("has no value", "it must be " + std::string{what});
  } else if (node_->kind != kind_of::refused) {
    error("is " + std::string{name_of_kind(*node_)}, "it must be " + std::string{what});
  }
  return false;
}

bool config_value::is_word(std::string_view word) const noexcept {
  return node_->kind == kind_of::scalar && node_->text == word;
}

bool config_value::text(std::string& out) const {
  if (!expect(kind_of::scalar, "text")) return false;
  out = node_->text;
  return true;
}

bool config_value::number(std::uint64_t& out, std::uint64_t least, std::uint64_t most) const {
  if (!expect(kind_of::scalar, "a whole number")) return false;
  const auto parsed = parse_whole_number(node_->text);
  const std::string range = "from " + std::to_string(least) + " to " + std::to_string(most);
  if (!node_->plain || !parsed) {
    error(shown(*node_) + " is not a plain whole number",
          "digits without quotes, sign or leading zeros, " + range);
    return false;
  }
  if (*parsed < least || *parsed > most) {
    error(node_->text + " is out of range", "it goes " + range);
    return false;
  }
  out = *parsed;
  return true;
}

bool config_value::limit(std::uint64_t& out, std::uint64_t most) const {
  if (!is_word("0") || !node_->plain) return number(out, 1, most);
  out = 0;
  return true;
}

bool config_value::duration(std::chrono::milliseconds& out) const {
  if (!expect(kind_of::scalar, "a duration such as 100ms, 5s, 15m, 24h or 7d")) return false;
  const auto parsed = parse_duration(node_->text);
  if (!parsed) {
    error(shown(*node_) + " is not a duration", "a whole number and ms, s, m, h or d, as in 100ms or 24h");
    return false;
  }
  out = *parsed;
  return true;
}

bool config_value::size(std::uint64_t& out) const {
  if (!expect(kind_of::scalar, "a size such as 512MiB or 1GiB")) return false;
  const auto parsed = parse_size(node_->text);
  if (!parsed) {
    error(shown(*node_) + " is not a size",
          "a whole number and B, KiB, MiB, GiB or TiB, as in 512MiB or 1GiB");
    return false;
  }
  out = *parsed;
  return true;
}

int config_value::word(std::span<const std::string_view> words) const {
  if (!expect(kind_of::scalar, joined(words))) return -1;
  if (const auto at = std::find(words.begin(), words.end(), node_->text); at != words.end()) {
    return static_cast<int>(at - words.begin());
  }
  const std::string_view guess = did_you_mean(node_->text, words);
  error(shown(*node_) + " is not allowed here",
        guess.empty() ? "it is " + joined(words) : "did you mean \"" + std::string{guess} + "\"?");
  return -1;
}

std::vector<config_value> config_value::list(std::string_view of) const {
  std::vector<config_value> values;
  if (!expect(kind_of::list, "a list of " + std::string{of} + ", as in [a, b]")) return values;
  if (node_->items.size() > k_most_items) {
    error("has " + std::to_string(node_->items.size()) + " items",
          "it takes " + std::to_string(k_most_items) + " at most");
    return values;
  }
  for (std::size_t i = 0; i < node_->items.size(); ++i) {
    values.emplace_back(node_->items[i], path_ + "[" + std::to_string(i) + "]", *findings_);
  }
  return values;
}

config_map::config_map(const config_value& value, std::span<const known_key> keys)
    : value_{value}, valid_{value.expect(kind_of::map, "a map of keys and values")} {
  if (!valid_) return;
  const config_node& node = value.node();
  if (node.keys.size() > k_most_keys) {
    value.error("has " + std::to_string(node.keys.size()) + " keys",
                "it takes " + std::to_string(k_most_keys) + " at most");
    valid_ = false;
    return;
  }
  std::map<std::string_view, const config_node*> firsts;
  for (const config_node& key : node.keys) {
    if (key.kind != kind_of::scalar) continue;
    const auto [first, fresh] = firsts.emplace(key.text, &key);
    if (!fresh) {
      findings().add(key.at, path_of(key.text), "is set twice",
                     "first on line " + std::to_string(first->second->at.line) + "; keep one of them");
    } else if (!keys.empty()) {
      check_key(key, keys);
    }
  }
}

void config_map::check_key(const config_node& key, std::span<const known_key> keys) {
  std::vector<std::string_view> names;
  for (const known_key& known : keys) {
    if (known.name == key.text) {
      if (!known.later.empty()) {
        findings().add(key.at, path_of(key.text), not_built(key.text), std::string{known.later});
      }
      return;
    }
    if (known.later.empty()) names.push_back(known.name);
  }
  // {path:/var} is one key in YAML, with nothing behind it.
  const std::size_t colon = key.text.find(':');
  const auto glued = std::find(names.begin(), names.end(), std::string_view{key.text}.substr(0, colon));
  std::string hint = "known here: " + joined(names);
  if (key.text == "<<") {
    hint = "merging maps is not supported: write the values out";
    for (const std::string_view name : names) findings().guess(path_of(name));
  } else if (colon != std::string::npos && glued != names.end()) {
    hint = "YAML needs a space after the colon of \"" + std::string{*glued} + ":\"";
    findings().guess(path_of(*glued));
  } else if (const std::string_view guess = did_you_mean(key.text, names); !guess.empty()) {
    hint = "did you mean \"" + std::string{guess} + "\"?";
    findings().guess(path_of(guess));
  }
  findings().add(key.at, path_of(key.text), "is not a known key", std::move(hint));
}

bool config_map::has(std::string_view key) const noexcept {
  return value_.node().find(key) != nullptr;
}

std::string config_map::path_of(std::string_view key) const {
  return value_.path().empty() ? std::string{key} : value_.path() + "." + std::string{key};
}

std::optional<config_value> config_map::get(std::string_view key) const {
  const config_node* node = value_.node().find(key);
  if (node == nullptr) return std::nullopt;
  return config_value{*node, path_of(key), *value_.findings_};
}

std::optional<config_value> config_map::require(std::string_view key, std::string hint) const {
  auto value = get(key);
  if (!value && !findings().guessed(path_of(key))) error_at(key, "is missing", std::move(hint));
  return value;
}

void config_map::error_at(std::string_view key, std::string message, std::string hint) const {
  const config_node* node = value_.node().find(key);
  findings().add(node != nullptr ? node->at : value_.node().at, path_of(key), std::move(message),
                 std::move(hint));
}

}  // namespace ratchet
