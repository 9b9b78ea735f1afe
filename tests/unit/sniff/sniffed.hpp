// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ratchet/config.hpp"
#include "sniff/sniff_report.hpp"

/// Records to look at, and what is made of them.
namespace ratchet::sniff {

inline sniffed_record record_of(std::optional<std::string> key, std::optional<std::string> value) {
  sniffed_record r;
  r.where = {"orders.v1", partition_id{2}};
  r.time = timestamp{std::chrono::milliseconds{1'767'225'600'000}};
  r.key = std::move(key);
  r.value = std::move(value);
  return r;
}

inline std::vector<sniffed_record> numbered(std::vector<sniffed_record> records) {
  for (std::size_t i = 0; i < records.size(); ++i) records[i].offset = static_cast<std::int64_t>(i) + 40;
  return records;
}

inline std::string report(const std::vector<sniffed_record>& records, const std::string& topic = "orders.v1",
                          std::vector<config_share> shares = {}) {
  sniff_request request;
  request.name = topic.empty() ? "orders.ndjson" : topic;
  request.topic = topic;
  return report_on(request, records, shares);
}

/// The one stream of a report, which must be a config as a whole.
inline stream_config stream_in(const std::string& text) {
  const auto c = parse_config(text, "sniffed.yaml");
  EXPECT_TRUE(c.has_value()) << (c.has_value() ? "" : to_text(c.error())) << text;
  if (!c.has_value() || c.value().streams.empty()) return {};
  return c.value().streams.front();
}

inline std::string digits(int number, int size) {
  std::string text = std::to_string(number);
  return std::string(static_cast<std::size_t>(size) - text.size(), '0') + text;
}

inline std::string uuid_of(int i) {
  return "018f2b7c-1234-7abc-89ab-" + digits(i, 12);
}

/// Events of a producer's own: ten payments, each with its numbers.
inline std::vector<sniffed_record> payments(const std::string& created = "") {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i) {
    records.push_back(record_of(
        std::nullopt, R"({"id":")" + uuid_of(i) + R"(","type":"payment.)" + (i % 2 == 0 ? "paid" : "made") +
                          R"(","sequence":)" + std::to_string(i / 10 + 1) + R"(,"occurred_at":)" +
                          (created.empty() ? "\"2026-01-01T00:0" + std::to_string(i % 10) + ":00Z\""
                                           : created + digits(i, 3)) +
                          R"(,"payment":{"id":"p-)" + std::to_string(i % 10) + R"(","amount":12.50}})"));
  }
  return numbered(std::move(records));
}

/// As serializers write a number.
inline std::string big_endian(std::uint64_t number, int bytes) {
  std::string out;
  for (int i = bytes; i-- > 0;) out += static_cast<char>(number >> (8U * static_cast<unsigned>(i)) & 0xFFU);
  return out;
}

}  // namespace ratchet::sniff
