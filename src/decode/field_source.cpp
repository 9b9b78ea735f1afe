// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/field_source.hpp"

namespace ratchet {
namespace {

constexpr std::string_view k_header{"header:"};

}  // namespace

result<std::vector<std::string>> parse_json_pointer(std::string_view text) {
  std::vector<std::string> tokens;
  if (!text.empty() && text.front() != '/') return errc::config_invalid;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      tokens.emplace_back();
    } else if (text[i] != '~') {
      tokens.back().push_back(text[i]);
    } else {
      ++i;
      if (i == text.size() || (text[i] != '0' && text[i] != '1')) return errc::config_invalid;
      tokens.back().push_back(text[i] == '0' ? '~' : '/');
    }
  }
  return tokens;
}

result<field_source> parse_field_source(std::string_view text) {
  field_source source;
  source.text = text;
  if (text == "key") {
    source.from = field_source::place::key;
    return source;
  }
  if (text.starts_with(k_header) && text.size() > k_header.size()) {
    source.from = field_source::place::header;
    source.header = text.substr(k_header.size());
    return source;
  }
  if (text.starts_with(k_record_source)) {
    source.from = field_source::place::record;
    text.remove_prefix(k_record_source.size());
  }
  if (!text.starts_with('/')) return errc::config_invalid;
  RATCHET_TRY(auto tokens, parse_json_pointer(text));
  source.tokens = std::move(tokens);
  return source;
}

}  // namespace ratchet
