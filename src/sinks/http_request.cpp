// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sinks/http_request.hpp"

#include <algorithm>
#include <utility>

#include "sinks/http_answers.hpp"

namespace ratchet {

namespace {

constexpr unsigned k_http_1_1 = 11;

/// RFC 9110, section 5.6.2.
[[nodiscard]] bool is_in_token(char c) noexcept {
  constexpr std::string_view k_others = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         k_others.find(c) != std::string_view::npos;
}

/// A visible character, a space, a tab, or a byte beyond ASCII.
[[nodiscard]] bool is_in_text(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

/// Takes a media type apart from its front.
class media_type_reader {
 public:
  explicit media_type_reader(std::string_view text) noexcept : left_{text} {}

  [[nodiscard]] bool take(char c) noexcept {
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool take_token() noexcept {
    const auto end = std::find_if_not(left_.begin(), left_.end(), is_in_token);
    const auto size = static_cast<std::size_t>(end - left_.begin());
    left_.remove_prefix(size);
    return size > 0;
  }
  /// RFC 9110, section 5.6.4.
  [[nodiscard]] bool take_quoted_string() noexcept {
    if (!take('"')) return false;
    while (!left_.empty() && is_in_text(left_.front())) {
      if (take('"')) return true;
      const bool is_escape = take('\\');
      if (is_escape && (left_.empty() || !is_in_text(left_.front()))) return false;
      left_.remove_prefix(1);
    }
    return false;
  }
  void skip_blanks() noexcept { left_.remove_prefix(std::min(left_.find_first_not_of(" \t"), left_.size())); }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }

 private:
  std::string_view left_;
};

/// *( OWS ";" OWS [ token "=" ( token / quoted-string ) ] )
[[nodiscard]] bool take_parameters(media_type_reader& from) noexcept {
  while (!from.at_end()) {
    from.skip_blanks();
    if (!from.take(';')) return false;
    from.skip_blanks();
    if (!from.take_token()) continue;  // a semicolon alone is allowed
    if (!from.take('=')) return false;
    if (!from.take_token() && !from.take_quoted_string()) return false;
  }
  return true;
}

/// The one way for a header into a request.
class header_writer {
 public:
  header_writer(http_request& to, std::string& why) noexcept : to_{to}, why_{why} {}

  [[nodiscard]] bool set(const std::string& name, const std::string& value) {
    if (value.size() > k_longest_http_field) {
      why_ = "its header " + name + " has " + std::to_string(value.size()) + " bytes, and " +
             std::to_string(k_longest_http_field) + " fit into one";
      return false;
    }
    const bool is_name = !name.empty() && name.size() <= k_longest_http_field &&
                         std::all_of(name.begin(), name.end(), is_in_token);
    if (!is_name || !std::all_of(value.begin(), value.end(), is_in_text)) {
      why_ = "its header `" + to_excerpt(name) + "` " +
             (is_name ? "has a control character, such as a line feed" : "has an invalid name");
      return false;
    }
    to_.set(name, value);
    return true;
  }

 private:
  http_request& to_;
  std::string& why_;
};

/// A message without a payload has no type either.
[[nodiscard]] bool set_content_type(header_writer& to, const std::string& value, std::string& why) {
  if (is_media_type(value)) return to.set("Content-Type", value);
  why = "its content type `" + to_excerpt(value) + "` is not a media type, as in application/json";
  return false;
}

[[nodiscard]] bool set_event_header(header_writer& to, std::string_view attribute, std::string_view value) {
  const std::string text = to_header_text(value);
  if (!to.set("ce-" + std::string{attribute}, text)) return false;
  // A structured field's string (RFC 8941), which is what the Idempotency-Key draft asks for.
  return attribute != "id" || to.set("Idempotency-Key", '"' + text + '"');
}

[[nodiscard]] bool set_headers(header_writer& to, const http_request_form& form, const output_row& row,
                               std::string& why) {
  if (!to.set("Host", form.url.authority()) || !to.set("User-Agent", "ratchet")) return false;
  for (const auto& [name, value] : form.headers) {
    if (!to.set(name, value)) return false;
  }
  constexpr std::string_view k_event = "ce_";
  for (const auto& [name, value] : row.headers) {
    const std::string text = value.value_or("");
    if (name == "content-type" && row.value && !set_content_type(to, text, why)) return false;
    if (name.starts_with(k_event) && !set_event_header(to, name.substr(k_event.size()), text)) return false;
  }
  return true;
}

}  // namespace

bool is_media_type(std::string_view text) noexcept {
  media_type_reader from{text};
  return from.take_token() && from.take('/') && from.take_token() && take_parameters(from);
}

std::optional<http_request> write_request(const http_request_form& form, const output_row& row,
                                          std::string& why) {
  http_request out{form.method, form.url.target, k_http_1_1};
  header_writer to{out, why};
  if (!set_headers(to, form, row, why)) return std::nullopt;
  if (row.value) out.body() = *row.value;
  out.prepare_payload();
  return out;
}

}  // namespace ratchet
