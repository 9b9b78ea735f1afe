// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/sections.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

constexpr known_key k_table_keys[] = {{"name"}, {"key"}};

void read_one(const config_value& value, table_config& out) {
  const config_map map{value, k_table_keys};
  if (!map.valid()) return;
  if (const auto name = map.get("name")) {
    if (name->text(out.name) && !is_topic_name(out.name)) {
      name->error("is not a table's name", "1 to 249 of a-z A-Z 0-9 . _ -");
    }
  }
  if (const auto key =
          map.require("key", "the kind of its keys: text, bytes or u64; it cannot change later")) {
    constexpr std::string_view k_names[] = {"text", "bytes", "u64"};
    constexpr key_encoding k_encodings[] = {key_encoding::text, key_encoding::bytes, key_encoding::u64};
    if (const int at = key->word(k_names); at >= 0) out.key = k_encodings[at];
  }
}

}  // namespace

void read_tables(const config_value& value, std::vector<table_config>& out) {
  if (value.node().kind != config_node::kind_of::list) return read_one(value, out.emplace_back());
  for (const config_value& item : value.list("tables")) read_one(item, out.emplace_back());
}

}  // namespace ratchet
