// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of the schema that tells of Kafka: brokers, the group, and librdkafka's properties with their
// secrets.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "config/secret.hpp"
#include "config/sections.hpp"
#include "kafka/properties.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

constexpr known_key k_kafka_keys[] = {{"brokers"}, {"group"}, {"properties"}, {"connect_timeout"}};

void read_brokers(const config_value& brokers, std::vector<std::string>& out) {
  for (const config_value& item : brokers.list("broker addresses")) {
    std::string address;
    if (!item.text(address)) continue;
    if (!is_broker_address(address)) item.error("is not a broker's address", "as in localhost:9092");
    out.push_back(std::move(address));
  }
  if (brokers.node().kind == config_node::kind_of::list && brokers.node().items.empty()) {
    brokers.error("names no broker", "as in brokers: [localhost:9092]");
  }
}

/// What was meant by a name that librdkafka does not know.
std::string hint_for_unknown(const std::string& name) {
  const auto& known = settable_properties();
  if (const std::string_view guess = did_you_mean(name, known); !guess.empty()) {
    return "did you mean \"" + std::string{guess} + "\"?";
  }
  constexpr std::size_t k_most = 6;
  std::string list;
  std::size_t count = 0;
  for (const std::string_view property : known) {
    if (!property.starts_with(name + ".") || ++count > k_most) continue;
    list += (list.empty() ? "" : ", ") + std::string{property};
  }
  if (list.empty()) return "its CONFIGURATION.md lists them";
  return "there is " + list + (count > k_most ? ", ..." : "");
}

/// Files that librdkafka is to read: its own words for one that it cannot open are OpenSSL's.
void check_file(const config_value& property, const std::string& name, const std::string& path) {
  constexpr std::string_view k_files[] = {"ssl.ca.location", "ssl.key.location", "ssl.certificate.location",
                                          "ssl.crl.location", "ssl.keystore.location"};
  if (std::find(std::begin(k_files), std::end(k_files), name) == std::end(k_files)) return;
  if (path.empty() || (name == "ssl.ca.location" && path == "probe")) return;
  if (::access(path.c_str(), R_OK) == 0) return;
  property.error("cannot read " + path + ": " + std::generic_category().message(errno),
                 "name a file that this user can read");
}

/// What librdkafka says of the name and the value. `hidden`: the value must not be shown, whatever its name.
void check_with_librdkafka(const config_value& property, const config_node& key, const std::string& value,
                           bool hidden) {
  const std::string& name = key.text;
  const property_check check = check_property(name, value);
  switch (check.verdict) {
    case property_verdict::fine:
      return;
    case property_verdict::unknown:
      return property.findings().add(key.at, property.path(), "is not a property of librdkafka",
                                     hint_for_unknown(name));
    case property_verdict::bad_value:
      return property.error(hidden ? "librdkafka does not take this value" : check.why,
                            "see librdkafka's CONFIGURATION.md for its values");
    case property_verdict::no_consumer:
      return property.warn("is a producer's property: it applies to published messages only",
                           "remove it if nothing is published");
  }
}

void read_property(const config_value& property, const config_node& key, kafka_config& out) {
  const std::string& name = key.text;
  std::string text;
  const bool referred = property.node().kind == config_node::kind_of::map;
  if (referred) {
    if (!read_secret(property, text)) return;
  } else {
    if (!property.text(text)) return;
    const bool on_command_line = property.node().at.line == 0;
    if (is_secret_property(name) && !on_command_line)
      property.findings().plain_secrets.push_back(property.path());
    if (is_secret_property(name) && on_command_line) {
      return property.error("is a secret, and every user of this machine can read a command line",
                            "name a file or a variable: --set 'kafka.properties." + name +
                                "={env: NAME}', or {file: PATH}; or write it into the config");
    }
  }
  if (const auto why = refused_property(name, text)) {
    property.error("cannot be set here", *why);
  } else {
    check_with_librdkafka(property, key, text, referred || is_secret_property(name));
    if (property.findings().reads_secrets) check_file(property, name, text);
  }
  out.properties.emplace(name, std::move(text));
}

}  // namespace

void read_kafka(const config_value& value, kafka_config& out) {
  const config_map map{value, k_kafka_keys};
  if (!map.valid()) return;
  if (const auto brokers = map.require("brokers", "as in brokers: [localhost:9092]")) {
    read_brokers(*brokers, out.brokers);
  }
  if (const auto group =
          map.require("group", "the consumer group; it belongs to this state directory alone")) {
    constexpr std::size_t k_longest = 249;
    if (group->text(out.group) && (out.group.empty() || out.group.size() > k_longest)) {
      group->error("has " + std::to_string(out.group.size()) + " characters", "a group's name has 1 to 249");
    }
  }
  if (const auto timeout = map.get("connect_timeout")) {
    constexpr std::chrono::milliseconds k_least{std::chrono::seconds{1}};
    constexpr std::chrono::milliseconds k_most{std::chrono::hours{1}};
    if (timeout->duration(out.connect_timeout) &&
        (out.connect_timeout < k_least || out.connect_timeout > k_most)) {
      timeout->error(timeout->node().text + " is out of range", "it goes from 1s to 1h");
    }
  }
  if (const auto properties = map.get("properties")) {
    const config_map given{*properties, {}};
    if (!given.valid()) return;
    for (const config_node& key : properties->node().keys) {
      if (const auto property = given.get(key.text)) read_property(*property, key, out);
    }
  }
}

}  // namespace ratchet
