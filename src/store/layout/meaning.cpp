// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/layout/meaning.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "core/tables.hpp"

namespace ratchet {

namespace {

void append_hex(std::string& out, unsigned byte) {
  constexpr const char* k_digits = "0123456789abcdef";
  out.push_back(k_digits[(byte >> 4U) & 0xFU]);
  out.push_back(k_digits[byte & 0xFU]);
}

using line_list = std::vector<std::pair<std::string, std::string>>;

const std::string* find(const line_list& lines, const std::string& key) {
  const auto at =
      std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == key; });
  return at == lines.end() ? nullptr : &at->second;
}

std::string shown(const std::string* value) {
  return value ? "\"" + *value + "\"" : "(absent)";
}

}  // namespace

std::string meaning_hash(const line_list& lines) {
  const std::string bytes = layout::encode_lines(lines);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text = "sha256:";
  for (const unsigned char byte : digest) append_hex(text, byte);
  return text;
}

std::vector<diagnostic> meaning_differences(const layout::stream_record& stored,
                                            const stream_meaning& configured) {
  std::vector<diagnostic> out;
  const auto differs = [&](const std::string& key) {
    const std::string* before = find(stored.lines, key);
    const std::string* now = find(configured.lines, key);
    if (before && now && *before == *now) return;
    diagnostic d;
    d.path = configured.name + "." + key;
    d.message = "the state was made with " + shown(before) + ", the config has " + shown(now);
    out.push_back(std::move(d));
  };
  for (const auto& [key, value] : stored.lines) differs(key);
  for (const auto& [key, value] : configured.lines) {
    if (!find(stored.lines, key)) differs(key);
  }
  return out;
}

std::optional<std::vector<std::string>> only_tables_added(const layout::stream_record& stored,
                                                          const stream_meaning& configured) {
  for (const auto& [key, value] : stored.lines) {
    const std::string* now = find(configured.lines, key);
    if (now == nullptr || *now != value) return std::nullopt;
  }
  std::vector<std::string> added;
  for (const auto& [key, value] : configured.lines) {
    if (find(stored.lines, key)) continue;
    if (!key.starts_with(k_table_line)) return std::nullopt;
    added.push_back(key.substr(k_table_line.size()));
  }
  return added;
}

void ask_to_rebuild(problem& p, const std::set<std::string>& streams) {
  for (const std::string& stream : streams) {
    question& asked = p.questions.emplace_back();
    asked.kind = question_kind::changed_meaning;
    asked.stream = stream;
    asked.message = p.message;
    asked.hint = p.hint;
    asked.choices.push_back({resume_option::rebuild});
  }
}

hash128 bits_of_uuid(std::string_view uuid) {
  std::uint64_t halves[2]{};
  std::size_t digits = 0;
  for (const char c : uuid) {
    if (c == '-') continue;
    const auto digit = static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    halves[digits / 16 % 2] = halves[digits / 16 % 2] << 4U | digit;
    ++digits;
  }
  return {halves[0], halves[1]};
}

std::string draw_uuid() {
  std::random_device device;
  std::string text;
  for (int i = 0; i < 16; ++i) {
    unsigned byte = device() & 0xFFU;
    if (i == 6) byte = (byte & 0x0FU) | 0x40U;  // version 4
    if (i == 8) byte = (byte & 0x3FU) | 0x80U;  // the variant of RFC 9562
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    append_hex(text, byte);
  }
  return text;
}

}  // namespace ratchet
