// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/likely_kind.hpp"

#include <algorithm>
#include <cstddef>

#include "decode/registry_frame.hpp"

namespace ratchet {

namespace {

using namespace std::string_view_literals;

constexpr const char* k_unpack =
    "have the producer send plain JSON: compression is the topic's, as in compression.type";
constexpr const char* k_encode = "have the producer write UTF-8";
constexpr const char* k_pickle = "have the producer send json.dumps() of it";
constexpr const char* k_json = "have the topic written in JSON, or turn it into JSON first";

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF"sv;  // a file may begin with it

struct known_begin {
  std::string_view bytes;
  const char* what;
  const char* of_record;
  const char* filter;
};
constexpr known_begin k_begins[] = {
    {"\x1F\x8B"sv, "gzip", k_unpack, "zcat"},
    {"\x28\xB5\x2F\xFD"sv, "Zstandard", k_unpack, "zstdcat"},
    {"\xFD\x37zXZ\0"sv, "xz", k_unpack, "xzcat"},
    {"BZh"sv, "bzip2", k_unpack, "bzcat"},
    {"\x04\x22\x4D\x18"sv, "LZ4", k_unpack, "lz4cat"},
    {"\xFF\x06\0\0sNaPpY"sv, "Snappy", k_unpack, "snzip -dc"},
    {"PK\x03\x04"sv, "a zip archive", k_unpack, "unzip -p"},
    {"PAR1"sv, "Parquet", k_json, ""},
    {"Obj\x01"sv, "an Avro file", k_json, "avro-tools tojson"},
    {"ORC"sv, "ORC", k_json, ""},
    {"SQLite format 3\0"sv, "a SQLite database", k_json, ""},
    {"\xFF\xFE\0\0"sv, "UTF-32", k_encode, "iconv -f utf-32 -t utf-8"},
    {"\0\0\xFE\xFF"sv, "UTF-32", k_encode, "iconv -f utf-32 -t utf-8"},
    {"\xFF\xFE"sv, "UTF-16", k_encode, "iconv -f utf-16 -t utf-8"},
    {"\xFE\xFF"sv, "UTF-16", k_encode, "iconv -f utf-16 -t utf-8"},
    {"{\0"sv, "UTF-16 (little-endian)", k_encode, "iconv -f utf-16le -t utf-8"},
    {"[\0"sv, "UTF-16 (little-endian)", k_encode, "iconv -f utf-16le -t utf-8"},
    {"\0{"sv, "UTF-16 (big-endian)", k_encode, "iconv -f utf-16be -t utf-8"},
    {"\0["sv, "UTF-16 (big-endian)", k_encode, "iconv -f utf-16be -t utf-8"},
    {k_byte_order_mark, "JSON behind a byte order mark", "have the producer leave out the byte order mark",
     ""},
    {"{'"sv, "what Python prints of a dict, with single quotes", "have the producer send json.dumps() of it",
     ""},
    {"Struct{"sv, "what Kafka Connect prints of a struct with StringConverter",
     "set the connector's converter to JsonConverter", ""},
    {"<"sv, "XML", k_json, ""},
    {"\x78\x9C"sv, "zlib", k_unpack, ""},
    {"\x78\xDA"sv, "zlib", k_unpack, ""},
    {"\x80\x02"sv, "a Python pickle", k_pickle, ""},
    {"\x80\x03"sv, "a Python pickle", k_pickle, ""},
    {"\x80\x04\x95"sv, "a Python pickle", k_pickle, ""},
    {"\x80\x05\x95"sv, "a Python pickle", k_pickle, ""},
    {"\xAC\xED\0\x05"sv, "a serialized Java object", "have the producer write it as JSON", ""},
    {":)\n"sv, "Smile, a binary form of JSON", k_json, ""},
    {"\x1E"sv, "a JSON text sequence (RFC 7464)", "have the producer leave out the record separators",
     "tr -d '\\036'"},
};

/// What is between braces, and no JSON: names without quotes, or several values.
[[nodiscard]] likely_kind kind_of_braces(std::string_view text) {
  const std::size_t name = text.find_first_not_of(" \t\r\n", 1);
  const std::size_t end =
      name == std::string_view::npos
          ? name
          : text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.", name);
  if (end != std::string_view::npos && end > name) {
    if (text[end] == '=')
      return {"what Java prints of a map, with = behind the names", "have the producer write it as JSON"};
    if (text[end] == ':')
      return {"an object whose names have no quotes, as in JavaScript", "have the producer write it as JSON"};
  }
  if (text.find("}{") != std::string_view::npos || text.find("} {") != std::string_view::npos) {
    return {
        "several JSON values one behind the other",
        "have the producer send one in each record, or put a line feed between them and set `each: lines`"};
  }
  return {};
}

/// Of an object or an array.
[[nodiscard]] bool is_base64_of_json(std::string_view text) noexcept {
  constexpr std::string_view k_digits{
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\r\n"};
  return (text.starts_with("eyJ") || text.starts_with("ewog") || text.starts_with("W3si")) &&
         text.find_first_not_of(k_digits) == std::string_view::npos;
}

[[nodiscard]] bool is_printable(unsigned char c) noexcept {
  return c >= ' ' && c < 0x7F;
}

}  // namespace

likely_kind kind_of_bytes(std::string_view begin) {
  if (const auto framed = read_frame(begin); framed && framed->kind != framed_kind::json) {
    if (framed->kind == framed_kind::zlib)
      return {"compressed with zlib behind the frame of AWS Glue, schema id " + framed->schema,
              "set the compression of its serializer to NONE"};
    const char* format = framed->kind == framed_kind::avro ? "Avro" : "Protobuf";
    return {format + (" behind the frame of a schema registry, schema id " + framed->schema), k_json};
  }
  for (const known_begin& known : k_begins) {
    if (begin.starts_with(known.bytes))
      return {known.what, known.of_record, known.bytes != k_byte_order_mark, known.filter};
  }
  const auto is_text = [](char c) {
    return is_printable(static_cast<unsigned char>(c)) || c == '\n' || c == '\r' || c == '\t';
  };
  const std::size_t at = begin.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos)
    return {"nothing but white space", "have the producer send null, or nothing"};
  const std::size_t last = begin.find_last_not_of(" \t\r\n");
  if (begin[at] == '{' && begin[last] == ',') {
    return {"a line of a JSON array, with the comma behind it", "have the producer leave out the comma", true,
            "sed 's/,[[:space:]]*$//'"};
  }
  if (begin[at] == '{') return kind_of_braces(begin.substr(at));
  if (begin[at] == '[') return {};
  if (is_base64_of_json(begin))
    return {"JSON in base64", "have the producer send the JSON as it is", true,
            "jq -Rc '@base64d | fromjson'"};
  if (std::all_of(begin.begin(), begin.end(), is_text)) return {"text that is not JSON", k_json};
  const bool is_binary = std::any_of(begin.begin(), begin.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
  });
  if (is_binary) return {"a binary format, as Protobuf, Avro or MessagePack", k_json};
  return {};
}

std::string escaped_beginning(std::string_view bytes) {
  constexpr std::size_t k_most = 64;
  std::string text = "\"";
  for (const char c : bytes.substr(0, k_most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (is_printable(byte)) {
      text += c;
    } else {
      constexpr std::string_view k_digits{"0123456789ABCDEF"};
      text += "\\x";
      text += k_digits[byte >> 4U];
      text += k_digits[byte & 0xFU];
    }
  }
  text += '"';
  if (bytes.size() > k_most) text += " ...";
  return text;
}

}  // namespace ratchet
