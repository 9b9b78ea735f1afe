// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What librdkafka itself says of its properties: which there are, and which values they take.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include "kafka/handles.hpp"
#include "kafka/properties.hpp"

namespace ratchet {

namespace {

struct catalog_entry {
  bool for_consumers{true};
  bool for_producers{true};
  bool is_integer{false};
};

/// Names and kinds, taken from the table that librdkafka prints: it has no other way to list them.
class property_catalog {
 public:
  property_catalog() {
    char* text = nullptr;
    std::size_t size = 0;
    if (std::FILE* out = ::open_memstream(&text, &size)) {
      rd_kafka_conf_properties_show(out);
      std::fclose(out);
    }
    const std::unique_ptr<char, decltype(&std::free)> owned{text, &std::free};
    std::istringstream lines{std::string{text != nullptr ? text : "", size}};
    for (std::string line; std::getline(lines, line);) take(line);
  }
  [[nodiscard]] const catalog_entry* find(std::string_view name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] const std::vector<std::string_view>& settable() const noexcept { return settable_; }

 private:
  /// "name | C/P | range | default | importance | description *Type: integer*"
  void take(const std::string& line) {
    const std::size_t bar = line.find('|');
    const std::size_t end = line.find(' ');
    if (bar == std::string::npos || end == std::string::npos || end >= bar || line.starts_with("Property")) {
      return;
    }
    const std::size_t kind = line.find_first_not_of(' ', bar + 1);
    catalog_entry entry;
    entry.for_consumers = kind == std::string::npos || line[kind] != 'P';
    entry.for_producers = kind == std::string::npos || line[kind] != 'C';
    entry.is_integer = line.find("*Type: integer*") != std::string::npos;
    const auto [at, fresh] = entries_.emplace(line.substr(0, end), entry);
    // Listed twice where it is both a client's and a topic's: it is for consumers if one of them is.
    if (!fresh) at->second.for_consumers |= entry.for_consumers;
    if (!fresh) at->second.for_producers |= entry.for_producers;
    const bool ours = refused_property(at->first, "").has_value();
    if (fresh && entry.for_consumers && !ours) settable_.push_back(at->first);
  }

  std::map<std::string, catalog_entry, std::less<>> entries_;
  std::vector<std::string_view> settable_;  // into the keys of entries_
};

const property_catalog& catalog() {
  static const property_catalog known;
  return known;
}

/// librdkafka reads 45s as 45: it looks at the digits alone.
bool has_tail_behind_digits(std::string_view value) {
  if (value.starts_with('-') || value.starts_with('+')) value.remove_prefix(1);
  const bool hex = value.starts_with("0x") || value.starts_with("0X");
  if (hex) value.remove_prefix(2);
  if (value.empty() || value.front() < '0' || value.front() > '9') return false;  // it says so by itself
  return value.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") != std::string_view::npos;
}

}  // namespace

bool is_consumer_only(const std::string& name) {
  const catalog_entry* entry = catalog().find(name);
  return entry != nullptr && !entry->for_producers;
}

bool is_secret_property(std::string_view name) noexcept {
  constexpr std::string_view k_parts[] = {"password", "secret", "passphrase", "token.value"};
  constexpr std::string_view k_names[] = {"ssl.key.pem", "ssl_key", "sasl.oauthbearer.config"};
  return std::any_of(std::begin(k_parts), std::end(k_parts),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; }) ||
         std::find(std::begin(k_names), std::end(k_names), name) != std::end(k_names);
}

property_check check_property(const std::string& name, const std::string& value) {
  const kafka_handle<rd_kafka_conf_t> scratch{rd_kafka_conf_new()};
  std::array<char, 512> text{};
  const auto said = rd_kafka_conf_set(scratch.get(), name.c_str(), value.c_str(), text.data(), text.size());
  if (said == RD_KAFKA_CONF_UNKNOWN) return {property_verdict::unknown, {}};
  const catalog_entry* entry = catalog().find(name);
  if (said != RD_KAFKA_CONF_OK) {
    if (is_secret_property(name)) return {property_verdict::bad_value, "librdkafka does not take this value"};
    std::string why = text.data();
    while (why.ends_with('\n')) why.pop_back();
    return {property_verdict::bad_value, why};
  }
  if (entry != nullptr && entry->is_integer && has_tail_behind_digits(value)) {
    return {property_verdict::bad_value, "\"" + value + "\" is not a whole number"};
  }
  if (entry != nullptr && !entry->for_consumers) return {property_verdict::no_consumer, {}};
  return {};
}

const std::vector<std::string_view>& settable_properties() {
  return catalog().settable();
}

}  // namespace ratchet
