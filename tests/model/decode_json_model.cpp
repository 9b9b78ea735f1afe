// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <simdjson.h>

#include <cctype>
#include <memory>
#include <string>
#include <string_view>

#include "decode/event_id_text.hpp"
#include "decode/json_grammar.hpp"
#include "decode/json_scan.hpp"
#include "decode/json_text.hpp"
#include "decode/sequence_text.hpp"
#include "decode/time_text.hpp"

/// The walker against two judges that share no code with it: simdjson's DOM parser, and a plain recursive
/// descent through the grammar of RFC 8259 that also says where the first fault is.
namespace ratchet::json {
namespace {

/// Recursive descent, one function a rule; `at` ends at the first byte that cannot be there.
class oracle {
 public:
  explicit oracle(std::string_view text) : text_{text} {}
  bool accepts() {
    space();
    if (!value()) return false;
    space();
    return at == text_.size();
  }
  std::size_t at{0};

 private:
  [[nodiscard]] bool is(char c) const { return at < text_.size() && text_[at] == c; }
  bool take(char c) { return is(c) && (++at, true); }
  void space() {
    while (is(' ') || is('\t') || is('\n') || is('\r')) ++at;
  }
  [[nodiscard]] bool is_digit() const { return at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; }
  bool digits() {
    if (!is_digit()) return false;
    while (is_digit()) ++at;
    return true;
  }
  bool word(std::string_view w) {
    for (const char c : w) {
      if (!take(c)) return false;
    }
    return true;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  bool string() {
    if (!take('"')) return false;
    while (at < text_.size()) {
      if (take('"')) return true;
      if (static_cast<unsigned char>(text_[at]) < 0x20) return false;
      if (!take('\\')) {
        ++at;
        continue;
      }
      if (take('u')) {
        for (int i = 0; i < 4; ++i, ++at) {
          if (at == text_.size() || std::isxdigit(static_cast<unsigned char>(text_[at])) == 0) return false;
        }
        continue;
      }
      if (at == text_.size() || std::string_view{"\"\\/bfnrt"}.find(text_[at]) == std::string_view::npos)
        return false;
      ++at;
    }
    return false;
  }
  bool array() {
    take('[');
    space();
    if (take(']')) return true;
    do {
      space();
      if (!value()) return false;
      space();
    } while (take(','));
    return take(']');
  }
  bool object() {
    take('{');
    space();
    if (take('}')) return true;
    do {
      space();
      if (!string()) return false;
      space();
      if (!take(':')) return false;
      space();
      if (!value()) return false;
      space();
    } while (take(','));
    return take('}');
  }
  bool value() {
    if (is('{')) return object();
    if (is('[')) return array();
    if (is('"')) return string();
    if (is('t')) return word("true");
    if (is('f')) return word("false");
    if (is('n')) return word("null");
    return number();
  }

  std::string_view text_;
};

rc::Gen<std::string> pieces(std::vector<std::string> from) {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(std::move(from))),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts) text += part;
                        return text;
                      });
}

rc::Gen<std::string> string_body() {
  return pieces({"a", "bc", "0123456789abcdef", "\\n", "\\\\", "\\\"", "\\/", "\\u00e4", "\\uD83D\\uDE00",
                 "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", " ", "{", "]"});
}

std::string random_value(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 9 : 6);
  const std::string gap = *rc::gen::element<std::string>("", "", "", " ", "\r\n", "\t");
  switch (kind) {
    case 0:
      return gap + "\"" + *string_body() + "\"";
    case 1:
      return *rc::gen::element<std::string>("true", "false", "null");
    case 2:
      return std::to_string(*rc::gen::arbitrary<std::int64_t>());
    case 3:
      return *rc::gen::element<std::string>("0", "-0", "1.5", "-1.25e10", "1E+5", "2e-7", "0.0", "10");
    case 4:
      return "[]";
    case 5:
      return "{" + gap + "}";
    default:
      break;
  }
  const bool is_object = kind == 8;
  std::string text = is_object ? "{" : "[";
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    if (is_object) text += gap + "\"" + *string_body() + "\"" + gap + ":";
    text += gap + random_value(depth - 1) + gap;
  }
  return text + (is_object ? "}" : "]");
}

/// Cuts, swaps, drops or puts in a few bytes.
std::string mutate(std::string text) {
  const int count = *rc::gen::inRange(0, 3);
  for (int i = 0; i < count && !text.empty(); ++i) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
    const std::string put = *rc::gen::element<std::string>(
        "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", "t", "null", " ", "\n", "\x01",
        "\x7F", "\xFF", "\xC3", "\x80", "\xED\xA0\x80", "\\u", "\\q", std::string(1, '\0'));
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        text.insert(at, put);
        break;
      case 1:
        text.erase(at, 1);
        break;
      case 2:
        text.replace(at, 1, put);
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

/// A copy that ends where its memory ends, so that a sanitizer sees any read behind it.
/// A fresh walker and one that remembers other documents must say the same.
fault check_exact(std::string_view text) {
  static const pointer_tree nothing_named;
  static walker used{nothing_named};
  const auto exact = std::make_unique<char[]>(text.size());
  text.copy(exact.get(), text.size());
  const fault fresh = check_json({exact.get(), text.size()});
  RC_ASSERT(used.walk({exact.get(), text.size()}) == fresh);
  RC_ASSERT(used.walk({exact.get(), text.size()}) == fresh);  // now it has seen this very document
  return fresh;
}

/// Where the DOM parser differs by design: it turns numbers into u64 and doubles and refuses what does not
/// fit, and it decodes every string, so that a surrogate alone is an error to it.
bool is_known_difference(simdjson::error_code error, std::string_view text) {
  if (error == simdjson::NUMBER_ERROR) return true;
  return error == simdjson::STRING_ERROR && text.find("\\u") != std::string_view::npos;
}

RC_GTEST_PROP(json_walker_model, agrees_with_simdjson_and_a_recursive_descent, ()) {
  const std::string text = mutate(random_value(4));
  const fault got = check_exact(text);
  const bool valid = got.reason == malformed_reason::none;

  oracle judge{text};
  const bool fits = judge.accepts();
  const bool utf8 = simdjson::validate_utf8(text);
  RC_ASSERT(valid == (fits && utf8));
  if (got.reason == malformed_reason::invalid_json) RC_ASSERT(got.offset == judge.at);
  if (got.reason == malformed_reason::invalid_utf8) {
    RC_ASSERT(!utf8);
    RC_ASSERT(simdjson::validate_utf8(text.substr(0, got.offset)));
    RC_ASSERT(fits || got.offset <= judge.at);
  }
  RC_CLASSIFY(valid);

  simdjson::dom::parser parser;
  const simdjson::error_code error = parser.parse(text).error();
  if (valid) {
    RC_ASSERT(error == simdjson::SUCCESS || is_known_difference(error, text));
  } else {
    RC_ASSERT(error != simdjson::SUCCESS);
  }
}

RC_GTEST_PROP(json_walker_model, finds_what_simdjson_finds, ()) {
  const std::vector<std::string> keys{"a", "b", "\xC3\xA4", "x/y"};
  std::string text = "{";
  int count = 0;
  for (const std::string& key : keys) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    text += (count++ > 0 ? ", \"" : "\"") + (key == "x/y" ? std::string{"x\\/y"} : key) +
            "\" : " + random_value(2);
  }
  text += "}";
  pointer_tree tree;
  std::vector<node_index> nodes;
  for (const std::string& key : keys) nodes.push_back(tree.add({key}));
  walker w{tree};
  RC_ASSERT(w.walk(text).reason == malformed_reason::none);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) RC_DISCARD("a number out of range");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    simdjson::dom::element want;
    const bool there = root.at_key(keys[i]).get(want) == simdjson::SUCCESS;
    const found& here = w.at(nodes[i]);
    RC_ASSERT(there == (here.what != kind::none));
    if (!there) continue;
    const std::string raw{here.begin, here.end};
    simdjson::dom::parser again;
    RC_ASSERT(simdjson::minify(again.parse(raw).value()) == simdjson::minify(want));
    if (here.what == kind::string) {
      std::string plain(raw.size(), '\0');
      plain.resize(unescape(std::string_view{raw}.substr(1, raw.size() - 2), plain.data()).size);
      RC_ASSERT(plain == std::string{want.get_string().value()});
    }
  }
}

RC_GTEST_PROP(uuidv7_model, is_printed_and_read_back, (std::uint64_t high, std::uint64_t low)) {
  const event_id id{(high & ~std::uint64_t{0xF000}) | 0x7000, low >> 2 | std::uint64_t{2} << 62};
  std::string text = to_text(id);
  RC_ASSERT(parse_uuidv7(text) == id);
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  RC_ASSERT(parse_uuidv7(text) == id);
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
  const char c = *rc::gen::elementOf(std::string{"gG_ {\xC3"});
  text[at] = c;
  RC_ASSERT(!parse_uuidv7(text));
}

RC_GTEST_PROP(rfc3339_model, is_printed_and_read_back, ()) {
  const timestamp t{
      std::chrono::milliseconds{*rc::gen::inRange<std::int64_t>(-62167219200000, 253402300800000)}};
  const std::string text = to_rfc3339(t);
  RC_ASSERT(text.size() == 24U);
  RC_ASSERT(parse_rfc3339(text) == t);
  RC_ASSERT(parse_milliseconds(std::to_string(t.time_since_epoch().count())) == t);
  // the calendar of the standard library says the same
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date{day};
  char want[16];
  std::snprintf(want, sizeof want, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  RC_ASSERT(text.substr(0, 10) == want);
}

RC_GTEST_PROP(sequence_model, reads_what_is_printed, (std::uint64_t high, std::uint64_t low)) {
  RC_ASSERT(parse_u64(std::to_string(low)) == low);
  __extension__ using u128 = unsigned __int128;
  u128 rest = static_cast<u128>(high) << 64 | low;
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  RC_ASSERT(parse_u128(digits) == seq(high, low));
}

}  // namespace
}  // namespace ratchet::json
