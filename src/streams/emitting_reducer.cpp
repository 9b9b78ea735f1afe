// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/emitting_reducer.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "decode/field_source.hpp"
#include "decode/json_grammar.hpp"
#include "decode/json_text.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

/// One `emit`, with its pointers as nodes of the tree.
struct rule {
  emit_config says;
  std::string name;  ///< as the config has it: "emit", or "emit[1]" of several
  json::node_index key{json::k_no_node};
  json::node_index payload{json::k_no_node};

  [[nodiscard]] bool fits(const event& e) const {
    return says.types.empty() || std::find(says.types.begin(), says.types.end(), e.type) != says.types.end();
  }
  [[nodiscard]] bool looks_inside() const { return key != json::k_no_node || payload != json::k_no_node; }
};

class emitting_reducer {
 public:
  emitting_reducer(reducer wrapped, const std::vector<emit_config>& emits)
      : wrapped_{std::move(wrapped)}, tree_{std::make_shared<json::pointer_tree>()} {
    for (const emit_config& says : emits) {
      rule r{says, emits.size() == 1 ? "emit" : "emit[" + std::to_string(rules_.size()) + "]"};
      if (says.key.starts_with('/')) r.key = tree_->add(parse_json_pointer(says.key).value());
      if (!says.payload.empty()) r.payload = tree_->add(parse_json_pointer(says.payload).value());
      rules_.push_back(std::move(r));
    }
    walker_ = std::make_shared<json::walker>(*tree_);
  }

  [[nodiscard]] outcome apply(const event& e, state& s, effects& fx) const {
    outcome said = wrapped_.apply(e, s, fx);
    if (said.how != ending::done) return said;
    bool walked = false;
    for (const rule& r : rules_) {
      if (!r.fits(e)) continue;
      if (r.looks_inside() && !walked) {
        walked = true;
        if (walker_->walk(e.payload).reason != malformed_reason::none) {
          return lacking(r, r.key != json::k_no_node ? "key" : "payload", " (the payload is not JSON)");
        }
      }
      if (const char* missing = emit(r, e, fx)) return lacking(r, missing);
    }
    return said;
  }

 private:
  /// Names the rule and the field, for whoever looks at the dead event.
  static outcome lacking(const rule& r, const std::string& what, const char* why = "") {
    const std::error_code code = make_error_code(errc::output_lacking);
    const std::string& from = what == "key" ? r.says.key : r.says.payload;
    return give_up(code, code.message() + ": " + from + " as the " + what + " of " + r.name + ", to " +
                             r.says.topic + why);
  }

  /// What it takes and the event lacks; null where it was published.
  [[nodiscard]] const char* emit(const rule& r, const event& e, effects& fx) const {
    output out{.topic = r.says.topic, .key = e.aggregate, .payload = e.payload, .type = r.says.as};
    std::string text;
    if (r.says.key == "none") out.key.reset();
    if (r.key != json::k_no_node) {
      if (!read_key(walker_->at(r.key), text)) return "key";
      out.key = text;
    }
    if (r.payload != json::k_no_node) {
      const json::found& part = walker_->at(r.payload);
      if (part.what == json::kind::none || part.duplicate != nullptr) return "payload";
      out.payload = std::string_view{part.begin, static_cast<std::size_t>(part.end - part.begin)};
    }
    fx.publish(out);
    return nullptr;
  }

  /// A string's text, or an integer's digits.
  [[nodiscard]] static bool read_key(const json::found& part, std::string& out) {
    if (part.duplicate != nullptr) return false;
    const std::string_view token{part.begin, static_cast<std::size_t>(part.end - part.begin)};
    if (part.what == json::kind::number) {
      out = token;
      return token.find_first_of(".eE") == std::string_view::npos;
    }
    if (part.what != json::kind::string) return false;
    const std::string_view inner = token.substr(1, token.size() - 2);
    out = inner;
    if (!part.escaped) return true;
    const json::unescaped done = json::unescape(inner, out.data());
    out.resize(done.size);
    return done.lone_surrogate == nullptr;
  }

  reducer wrapped_;
  std::vector<rule> rules_;
  // Shared by copies of the reducer, of which one is called at a time.
  std::shared_ptr<json::pointer_tree> tree_;
  std::shared_ptr<json::walker> walker_;
};

}  // namespace

reducer with_emits(reducer wrapped, const std::vector<emit_config>& emits) {
  reducer_traits traits = wrapped.traits();
  traits.has_effects = true;  // or an event that a newer one supersedes in its step would publish nothing
  return {traits, emitting_reducer{std::move(wrapped), emits}};
}

}  // namespace ratchet
