// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sniff/unwrapped_outbox.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "core/record.hpp"
#include "decode/outbox_unwrapper.hpp"
#include "decode/text_arena.hpp"

namespace ratchet::sniff {

namespace {

void take(const std::optional<std::string_view>& plain, std::optional<std::string>& out) {
  if (plain)
    out = std::string{*plain};
  else
    out.reset();
}

}  // namespace

unwrapped_outbox unwrap_outbox(std::span<const sniffed_record> records) {
  unwrapped_outbox out;
  outbox_unwrapper unwrapper;
  text_arena texts;
  for (const sniffed_record& from : records) {
    sniffed_record& one = out.records.emplace_back(from);
    std::vector<header> headers;
    for (const auto& [name, value] : from.headers) headers.push_back({name, value});
    record r;
    if (from.key) r.key = *from.key;
    if (from.value) r.value = *from.value;
    r.headers = headers;
    if (!outbox_unwrapper::may_be_wrapped(r)) continue;
    const record plain = unwrapper.unwrap(r, texts);
    take(plain.key, one.key);
    take(plain.value, one.value);
    for (std::size_t i = 0; i < plain.headers.size(); ++i)
      take(plain.headers[i].value, one.headers[i].second);
    const bool changed = one.key != from.key || one.value != from.value || one.headers != from.headers;
    out.wrapped += changed ? 1U : 0U;
    texts.clear();
  }
  return out;
}

}  // namespace ratchet::sniff
