// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "json_judge.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

namespace ratchet::fuzz {
namespace {

namespace json = boost::json;
using boost::json::error_code;

/// Builds the tree, or nothing where only the verdict is wanted. Every call answers "go on".
class tree_builder {
 public:
  explicit tree_builder(bool wanted) : wanted_{wanted} {}
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return open(json_node::kind_of::object); }
  bool on_object_end(std::size_t, error_code&) { return close(); }
  bool on_array_begin(error_code&) { return open(json_node::kind_of::array); }
  bool on_array_end(std::size_t, error_code&) { return close(); }
  bool on_key_part(json::string_view s, std::size_t, error_code&) { return part(s); }
  bool on_key(json::string_view s, std::size_t, error_code&) {
    part(s);
    if (wanted_) open_.back().names.push_back(std::move(text_));
    text_.clear();
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, error_code&) { return part(s); }
  bool on_string(json::string_view s, std::size_t, error_code&) {
    part(s);
    return leaf(json_node::kind_of::string);
  }
  bool on_number_part(json::string_view s, error_code&) { return part(s); }
  bool on_int64(std::int64_t, json::string_view s, error_code&) { return number(s); }
  bool on_uint64(std::uint64_t, json::string_view s, error_code&) { return number(s); }
  bool on_double(double, json::string_view s, error_code&) { return number(s); }
  bool on_bool(bool b, error_code&) {
    part(b ? "true" : "false");
    return leaf(json_node::kind_of::boolean);
  }
  bool on_null(error_code&) { return leaf(json_node::kind_of::null); }
  bool on_comment_part(json::string_view, error_code&) { return false; }
  bool on_comment(json::string_view, error_code&) { return false; }

  json_node root;

 private:
  bool part(json::string_view s) {
    if (wanted_) text_.append(s.data(), s.size());
    return true;
  }
  bool number(json::string_view s) {
    part(s);
    return leaf(json_node::kind_of::number);
  }
  bool leaf(json_node::kind_of kind) {
    if (wanted_) put({kind, std::move(text_), {}, {}});
    text_.clear();
    return true;
  }
  bool open(json_node::kind_of kind) {
    if (wanted_) open_.push_back({kind, {}, {}, {}});
    return true;
  }
  bool close() {
    if (!wanted_) return true;
    json_node done = std::move(open_.back());
    open_.pop_back();
    put(std::move(done));
    return true;
  }
  void put(json_node node) {
    if (open_.empty()) {
      root = std::move(node);
    } else {
      open_.back().children.push_back(std::move(node));
    }
  }

  bool wanted_;
  std::string text_;
  std::vector<json_node> open_;
};

using parser = json::basic_parser<tree_builder>;

json::parse_options options(text_encoding encoding) {
  json::parse_options o;
  o.max_depth = 1000;
  o.allow_invalid_utf8 = encoding == text_encoding::unchecked;
  return o;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// See the head of the header: neither the verdict nor the place of a fault changes.
std::string without_known_differences(std::string_view text) {
  std::string out{text};
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (out[i] == '\\' && out[i + 1] == 'u' && i + 2 < out.size() &&
        (out[i + 2] == 'd' || out[i + 2] == 'D')) {
      out[i + 2] = '0';
    }
    if (out[i] != 'e' && out[i] != 'E') continue;
    std::size_t at = i + 1;
    if (out[at] == '+' || out[at] == '-') ++at;
    for (; at < out.size() && is_digit(out[at]); ++at) out[at] = '0';
  }
  return out;
}

/// Feeds the text; false where Boost.JSON finds a fault.
bool feed(parser& p, std::string_view text, bool more) {
  error_code error;
  const std::size_t read = p.write_some(more, text.data(), text.size(), error);
  return !error && read == text.size();
}

}  // namespace

bool accepts(std::string_view text, text_encoding encoding) {
  parser p{options(encoding), false};
  return feed(p, without_known_differences(text), false);
}

bool may_begin(std::string_view text, text_encoding encoding) {
  parser p{options(encoding), false};
  return feed(p, without_known_differences(text), true);
}

std::optional<json_node> read_json(std::string_view text, text_encoding encoding) {
  parser p{options(encoding), true};
  if (!feed(p, text, false)) return std::nullopt;
  return std::move(p.handler().root);
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t n) -> unsigned {
      return i + n < text.size() ? static_cast<unsigned char>(text[i + n]) : 0U;
    };
    const auto follows = [&](std::size_t n) { return byte(n) >> 6U == 2U; };
    const unsigned first = byte(0);
    if (first < 0x80) {
      i += 1;
    } else if (first >= 0xC2 && first <= 0xDF && follows(1)) {
      i += 2;
    } else if (first >> 4U == 0xEU && follows(1) && follows(2)) {
      const unsigned code = (first & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
      if (code < 0x800 || (code >= 0xD800 && code <= 0xDFFF)) return false;
      i += 3;
    } else if (first >> 3U == 0x1EU && follows(1) && follows(2) && follows(3)) {
      const unsigned code =
          (first & 7U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU);
      if (code < 0x10000 || code > 0x10FFFF) return false;
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace ratchet::fuzz
