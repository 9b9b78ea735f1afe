// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/media_type.hpp"

#include <algorithm>

namespace ratchet {
namespace {

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The type itself, without white space around it.
constexpr std::string_view without_parameters(std::string_view type) noexcept {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  while (!type.empty() && (type.front() == ' ' || type.front() == '\t')) type.remove_prefix(1);
  return type;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  if (a == b) return true;  // as nearly all are, and by far the cheaper question
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](char x, char y) noexcept { return lower(x) == lower(y); });
}

bool is_json_media_type(std::string_view type) noexcept {
  type = without_parameters(type);
  if (equal_ignoring_case(type, "application/json") || equal_ignoring_case(type, "text/json")) return true;
  constexpr std::string_view k_suffix{"+json"};
  return type.size() > k_suffix.size() &&
         equal_ignoring_case(type.substr(type.size() - k_suffix.size()), k_suffix);
}

bool is_content_type(const header& h) noexcept {
  return equal_ignoring_case(h.name, "content-type");
}

cloudevents_type cloudevents_type_of(std::string_view type) noexcept {
  constexpr std::string_view k_prefix{"application/cloudevents"};
  type = without_parameters(type);
  if (!equal_ignoring_case(type.substr(0, k_prefix.size()), k_prefix)) return cloudevents_type::none;
  type.remove_prefix(k_prefix.size());
  if (equal_ignoring_case(type, "-batch+json")) return cloudevents_type::batch;
  return type.empty() || equal_ignoring_case(type, "+json") ? cloudevents_type::json
                                                            : cloudevents_type::other;
}

}  // namespace ratchet
