// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include "decode/kcat_line.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/json_judge.hpp"
#include "fuzz/text_reference.hpp"

/// Any line as one of `kcat -C -J` or `rpk topic consume`: the reader and a reading of Boost.JSON's tree
/// agree on the record, or on the member that is at fault. Bytes in strings need not be UTF-8, as kcat prints
/// them as they are.

using namespace ratchet;
using fuzz::json_node;
using kind_of = json_node::kind_of;

namespace {

constexpr std::array<const char*, 13> k_members{
    "topic",   "partition", "offset",        "tstype", "ts",        "key",       "headers",
    "payload", "key_error", "payload_error", "value",  "timestamp", "value_size"};

/// Null where it is not there.
const json_node* find(const json_node& line, std::string_view name) {
  if (line.kind != kind_of::object) return nullptr;
  for (std::size_t i = 0; i < line.names.size(); ++i) {
    if (line.names[i] == name) return &line.children[i];
  }
  return nullptr;
}

bool twice(const json_node& line, std::string_view name) {
  return line.kind == kind_of::object && std::count(line.names.begin(), line.names.end(), name) > 1;
}

std::optional<std::int64_t> integer(const json_node* node, std::int64_t least, std::string_view most) {
  if (node->kind != kind_of::number) return std::nullopt;
  const bool minus = node->text.starts_with('-');
  if (!fuzz::is_decimal_up_to(std::string_view{node->text}.substr(minus ? 1 : 0), most)) return std::nullopt;
  const std::int64_t value = std::atoll(node->text.c_str());
  if (value < least) return std::nullopt;
  return value;
}

bool text_or_null(const json_node& node, std::optional<std::string>& to) {
  if (node.kind == kind_of::null) return true;
  if (node.kind == kind_of::string) to = node.text;
  return node.kind == kind_of::string;
}

/// Text, or JSON as it stands in the line: `got` must be that.
bool text_or_json(const json_node* node, const std::optional<std::string>& got,
                  std::optional<std::string>& to) {
  if (node == nullptr || node->kind == kind_of::null) return true;
  if (node->kind == kind_of::string) return text_or_null(*node, to);
  if (got && fuzz::read_json(*got, fuzz::text_encoding::unchecked) == *node) to = got;
  return true;
}

/// {"key": name, "value": text} of rpk.
bool read_pair(const json_node& node, kcat_record& to) {
  std::optional<std::string> name;
  std::optional<std::string> text;
  for (std::size_t i = 0; i < node.names.size(); ++i) {
    if (node.names[i] != "key" && node.names[i] != "value") return false;
    std::optional<std::string> read;
    if (!text_or_null(node.children[i], read)) return false;
    if (read) (node.names[i] == "key" ? name : text) = read;
  }
  if (name) to.headers.emplace_back(*name, text);
  return name.has_value();
}

bool read_headers(const json_node& node, kcat_record& to, bool of_rpk) {
  if (node.kind == kind_of::null) return true;
  if (node.kind == kind_of::array) {
    for (std::size_t i = 0; i < node.children.size(); i += 2) {
      if (of_rpk && node.children[i].kind == kind_of::object) {
        if (!read_pair(node.children[i], to)) return false;
        --i;  // one, not two
        continue;
      }
      if (node.children[i].kind != kind_of::string || i + 1 == node.children.size()) return false;
      auto& added = to.headers.emplace_back(node.children[i].text, std::nullopt);
      if (!text_or_null(node.children[i + 1], added.second)) return false;
    }
    return true;
  }
  if (node.kind != kind_of::object) return false;
  for (std::size_t i = 0; i < node.names.size(); ++i) {
    const json_node& value = node.children[i];
    const bool several = value.kind == kind_of::array;
    for (std::size_t n = 0; n < (several ? value.children.size() : 1); ++n) {
      auto& added = to.headers.emplace_back(node.names[i], std::nullopt);
      if (!text_or_null(several ? value.children[n] : value, added.second)) return false;
    }
  }
  return true;
}

/// The member at fault, or null; in the order in which they are looked at.
const char* read(const json_node& line, const kcat_record& got, kcat_record& to) {
  for (const char* name : k_members) {
    if (twice(line, name)) return name;
  }
  for (const char* name : {"key_error", "payload_error"}) {
    if (find(line, name) != nullptr) return name;
  }
  const bool of_rpk =
      find(line, "timestamp") != nullptr && find(line, "ts") == nullptr && find(line, "payload") == nullptr;
  if (of_rpk && find(line, "value_size") != nullptr) return "value_size";
  for (const char* name : {"topic", "partition", "offset", "key", "payload"}) {
    if (of_rpk && (std::string_view{name} == "key" || std::string_view{name} == "payload")) continue;
    if (find(line, name) == nullptr) return name;
  }
  to.topic = find(line, "topic")->text;
  if (find(line, "topic")->kind != kind_of::string || to.topic.empty()) return "topic";
  const auto partition = integer(find(line, "partition"), 0, "2147483647");
  if (!partition) return "partition";
  to.partition = partition_id{static_cast<std::int32_t>(*partition)};
  const auto offset = integer(find(line, "offset"), 0, "9223372036854775806");
  if (!offset) return "offset";
  to.offset = *offset;
  const char* const stamp = of_rpk ? "timestamp" : "ts";
  const json_node* ts = find(line, stamp);
  if (ts != nullptr && ts->kind != kind_of::null) {
    const auto time = integer(ts, -1, "9223372036854775807");
    if (!time) return stamp;
    const json_node* type = find(line, "tstype");
    const bool unknown = type != nullptr && type->kind == kind_of::string && type->text == "unknown";
    if (*time != -1 && !unknown) to.time = timestamp{std::chrono::milliseconds{*time}};
  }
  if (!text_or_json(find(line, "key"), got.key, to.key)) return "key";
  const json_node* headers = find(line, "headers");
  if (headers != nullptr && !read_headers(*headers, to, of_rpk)) return "headers";
  const char* const value = of_rpk ? "value" : "payload";
  return text_or_json(find(line, value), got.payload, to.payload) ? nullptr : value;
}

bool equal(const kcat_record& a, const kcat_record& b) {
  return a.topic == b.topic && a.partition == b.partition && a.offset == b.offset && a.time == b.time &&
         a.key == b.key && a.headers == b.headers && a.payload == b.payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static kcat_line_reader reader;
  const fuzz::exact_copy copy{{reinterpret_cast<const char*>(data), size}};
  kcat_record got;
  const malformed_detail fault = reader.read(copy.view(), got);
  RATCHET_FUZZ_CHECK(fault.byte_offset <= size);
  const bool is_document = fuzz::accepts(copy.view(), fuzz::text_encoding::unchecked);
  const bool fits =
      fault.reason == malformed_reason::none || fault.reason == malformed_reason::position_invalid;
  RATCHET_FUZZ_CHECK(fits == is_document);
  if (!is_document) return 0;
  const auto line = fuzz::read_json(copy.view(), fuzz::text_encoding::unchecked);
  if (!line) return 0;  // see json_judge.hpp
  kcat_record want;
  const char* wrong = read(*line, got, want);
  RATCHET_FUZZ_CHECK((fault.reason == malformed_reason::none) == (wrong == nullptr));
  if (wrong != nullptr) {
    RATCHET_FUZZ_CHECK(fault.pointer == "/" + std::string{wrong});
  } else {
    RATCHET_FUZZ_CHECK(equal(got, want));
  }
  return 0;
}
