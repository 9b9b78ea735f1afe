// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/outbox_unwrapper.hpp"

#include <algorithm>

#include "core/json_scan.hpp"
#include "decode/json_scan.hpp"
#include "decode/json_text.hpp"

namespace ratchet {
namespace {

std::string_view text_of(const json::found& here) noexcept {
  return {here.begin, static_cast<std::size_t>(here.end - here.begin)};
}

/// The characters of a string. None where they have a lone surrogate.
std::optional<std::string_view> characters_of(const json::found& here, text_arena& texts) {
  const std::string_view inside = text_of(here).substr(1, text_of(here).size() - 2);
  if (!here.escaped) return inside;
  char* const room = texts.room(inside.size());
  const json::unescaped plain = json::unescape(inside, room);
  if (plain.lone_surrogate != nullptr) return std::nullopt;
  texts.keep(room, plain.size);
  return std::string_view{room, plain.size};
}

/// A converter writes the schema first.
bool is_likely(std::string_view text) noexcept {
  constexpr std::string_view k_schema{"\"schema\""};
  text = text.substr(json_scan::skip_space(text, 0));
  if (text.starts_with('"')) return true;
  if (!text.starts_with('{')) return false;
  return text.substr(json_scan::skip_space(text, 1)).starts_with(k_schema);
}

/// Spares most texts the look.
bool begins_wrapped(char c) noexcept {
  return c == '"' || c == '{' || json::is_space(c);
}

/// Text that is no JSON container is a payload that is a text.
bool may_be_json(std::string_view text) noexcept {
  text = text.substr(json_scan::skip_space(text, 0));
  return text.starts_with('{') || text.starts_with('[');
}

}  // namespace

outbox_unwrapper::outbox_unwrapper()
    : schema_{tree_.add({"schema"})}, payload_{tree_.add({"payload"})}, walker_{tree_} {}

bool outbox_unwrapper::may_be_wrapped(const record& r) noexcept {
  const auto may_be = [](const std::optional<std::string_view>& text) {
    return text && !text->empty() && begins_wrapped(text->front()) && is_likely(*text);
  };
  return may_be(r.key) || may_be(r.value) ||
         std::any_of(r.headers.begin(), r.headers.end(), [&](const header& h) { return may_be(h.value); });
}

record outbox_unwrapper::unwrap(const record& r, text_arena& texts) {
  record plain = r;
  if (plain.key && is_likely(*plain.key)) {
    if (const auto name = unwrapped_name(*plain.key, texts)) plain.key = name;
  }
  if (plain.value && is_likely(*plain.value)) plain.value = unwrapped_value(*plain.value, texts);
  const auto is_wrapped = [](const header& h) { return h.value && is_likely(*h.value); };
  if (std::any_of(plain.headers.begin(), plain.headers.end(), is_wrapped)) unwrap_headers(plain, texts);
  return plain;
}

/// What stands beside a schema, or the whole; null where it is no JSON.
const json::found* outbox_unwrapper::inner_of(std::string_view text) {
  if (walker_.walk(text).reason != malformed_reason::none || walker_.any_duplicate()) return nullptr;
  const bool has_schema = walker_.at(schema_).what != json::kind::none;
  const json::found& payload = walker_.at(payload_);
  return has_schema && payload.what != json::kind::none ? &payload : &walker_.at(json::k_root);
}

/// None: it is null beside its schema, as a deleted row.
std::optional<std::string_view> outbox_unwrapper::unwrapped_value(std::string_view text, text_arena& texts) {
  const json::found* inner = inner_of(text);
  if (inner == nullptr) return text;
  if (inner->what == json::kind::null) return std::nullopt;
  if (inner->what != json::kind::string) return text_of(*inner);
  const auto characters = characters_of(*inner, texts);
  return characters && may_be_json(*characters) ? *characters : text_of(*inner);
}

/// Of keys and headers. None: it is taken as it is.
std::optional<std::string_view> outbox_unwrapper::unwrapped_name(std::string_view text, text_arena& texts) {
  const json::found* inner = inner_of(text);
  if (inner == nullptr || inner->what == json::kind::null) return std::nullopt;
  return inner->what == json::kind::string ? characters_of(*inner, texts) : text_of(*inner);
}

void outbox_unwrapper::unwrap_headers(record& r, text_arena& texts) {
  headers_.assign(r.headers.begin(), r.headers.end());
  for (header& h : headers_) {
    if (!h.value || !is_likely(*h.value)) continue;
    if (const auto name = unwrapped_name(*h.value, texts)) h.value = name;
  }
  r.headers = headers_;
}

}  // namespace ratchet
