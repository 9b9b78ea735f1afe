// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "config/tree.hpp"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>

namespace ratchet {

namespace {

using kind_of = config_node::kind_of;

/// Takes yaml-cpp's events, which show what its node tree hides: repeated keys, anchors, tags.
class tree_builder final : public YAML::EventHandler {
 public:
  tree_builder(std::shared_ptr<const std::string> file, std::vector<diagnostic>& findings)
      : file_{std::move(file)}, findings_{findings} {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    attach(make(kind_of::null, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "an alias is not supported", "write the value out");
    attach(make(kind_of::refused, mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    config_node node = make(kind_of::scalar, mark);
    node.text = value;
    node.plain = tag == "?";
    attach(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(kind_of::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(kind_of::map, mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

  /// The document, as far as it was read.
  config_node take() {
    broken_ = !open_.empty();
    while (!open_.empty()) {  // a syntax error left them open
      if (open_.back().keys.size() > open_.back().items.size()) open_.back().items.emplace_back();
      end();
    }
    return std::move(root_);
  }

 private:
  [[nodiscard]] config_place place(const YAML::Mark& mark) const {
    return {file_, mark.line + 1, mark.column + 1};
  }
  [[nodiscard]] config_node make(kind_of kind, const YAML::Mark& mark) const {
    config_node node;
    node.kind = kind;
    node.at = place(mark);
    return node;
  }
  void refuse(const YAML::Mark& mark, std::string message, std::string hint) {
    if (findings_.size() > k_most_findings) return;  // one more tells that there are more
    findings_.push_back(finding_at(place(mark), {}, std::move(message), std::move(hint)));
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) refuse(mark, "an anchor (&name) is not supported", "write the value out");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse(mark, "a tag (" + tag + ") is not supported", "leave it out: the key decides the type");
    }
  }
  void start(kind_of kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    open_.push_back(make(kind, mark));
  }
  void end() {
    config_node done = std::move(open_.back());
    open_.pop_back();
    attach(std::move(done));
  }
  void attach(config_node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    config_node& parent = open_.back();
    if (parent.kind == kind_of::map && parent.keys.size() == parent.items.size()) {
      if (node.kind != kind_of::scalar && node.kind != kind_of::refused) {
        if (!broken_ && findings_.size() <= k_most_findings)
          findings_.push_back(finding_at(node.at, {}, "a key must be a word"));
        node.kind = kind_of::refused;
      }
      parent.keys.push_back(std::move(node));
    } else {
      // Nothing has no place of its own: the library names the next token's.
      if (parent.kind == kind_of::map && node.kind == kind_of::null) node.at = parent.keys.back().at;
      parent.items.push_back(std::move(node));
    }
  }

  std::shared_ptr<const std::string> file_;
  std::vector<diagnostic>& findings_;
  std::vector<config_node> open_;
  config_node root_;
  bool broken_{false};
};

/// Notes where a second document begins, and takes nothing from it.
class second_document final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}
  YAML::Mark start;
};

}  // namespace

const config_node* config_node::find(std::string_view key) const noexcept {
  for (std::size_t i = 0; i < keys.size() && i < items.size(); ++i) {
    if (keys[i].kind == kind_of::scalar && keys[i].text == key) return &items[i];
  }
  return nullptr;
}

config_node* config_node::find(std::string_view key) noexcept {
  return const_cast<config_node*>(std::as_const(*this).find(key));
}

diagnostic finding_at(const config_place& at, std::string path, std::string message, std::string hint) {
  return {at.file ? *at.file : std::string{},
          at.line,
          at.column,
          std::move(path),
          std::move(message),
          std::move(hint)};
}

namespace {

/// How many bytes the UTF-8 sequence at the front has; 0 where it is none (RFC 3629, without its finer
/// rules).
std::size_t length_of_utf8(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80U   ? 1
                             : lead < 0xC2U ? 0
                             : lead < 0xE0U ? 2
                             : lead < 0xF0U ? 3
                             : lead < 0xF5U ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

/// A byte that no text has: then this is some other kind of file, and nothing else that is said of it helps.
std::optional<diagnostic> fault_of_text(std::string_view text, const config_place& file) {
  config_place at{file.file, 1, 1};
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = length_of_utf8(text.substr(i));
    const bool control = (byte < 0x20U && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7FU;
    if (length == 0 || control) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02X", byte);
      return finding_at(at, {}, std::string{"not YAML: the byte "} + hex + " is not text",
                        "a config is text in UTF-8");
    }
    if (byte == '\n') {
      ++at.line;
      at.column = 1;
    } else {
      ++at.column;
    }
    i += length;
  }
  return std::nullopt;
}

/// Tabs in front of a line are the usual cause of what YAML parsers explain badly.
std::string hint_of_syntax(const std::string& text, int line) {
  std::istringstream lines{text};
  int number = 0;
  for (std::string one; std::getline(lines, one) && ++number <= line;) {
    const std::size_t indent = one.find_first_not_of(" \t");
    if (one.substr(0, indent).find('\t') == std::string::npos) continue;
    return "line " + std::to_string(number) + " is indented with a tab: YAML needs spaces";
  }
  return {};
}

}  // namespace

config_node parse_tree(const std::string& text, const std::string& file, std::vector<diagnostic>& findings) {
  const auto name = std::make_shared<const std::string>(file);
  if (auto fault = fault_of_text(text, {name, 0, 0})) {
    findings.push_back(std::move(*fault));
    return {};
  }
  tree_builder builder{name, findings};
  try {
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    parser.HandleNextDocument(builder);
    second_document second;
    if (parser.HandleNextDocument(second)) {
      findings.push_back(finding_at({name, second.start.line + 1, second.start.column + 1}, {},
                                    "a second YAML document begins here", "a config is one document"));
    }
  } catch (const YAML::Exception& e) {
    findings.push_back(finding_at({name, e.mark.line + 1, e.mark.column + 1}, {}, "not YAML: " + e.msg,
                                  hint_of_syntax(text, e.mark.line + 1)));
  }
  return builder.take();
}

}  // namespace ratchet
