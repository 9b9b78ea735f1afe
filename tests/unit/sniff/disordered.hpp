// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unit/sniff/sniffed.hpp"

/// Records as brokers deliver them: twice, and late.
namespace ratchet::sniff {

/// The same numbers each day.
class numbers_by_chance {
 public:
  std::size_t below(std::size_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33U) % end;
  }

 private:
  std::uint64_t state_{42};
};

/// So far from their places at most. Every fifth comes twice.
inline std::vector<sniffed_record> disordered(const std::vector<sniffed_record>& in_order, std::size_t far) {
  numbers_by_chance chance;
  std::vector<std::pair<std::size_t, sniffed_record>> placed;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    placed.emplace_back(i + (chance.below(4) == 0 ? chance.below(far) : 0), in_order[i]);
    if (i % 5 == 0) placed.emplace_back(i + chance.below(far), in_order[i]);
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<sniffed_record> out;
  for (auto& [place, record] : placed) out.push_back(std::move(record));
  return numbered(std::move(out));
}

inline std::vector<sniffed_record> made_of(int count, const std::function<std::string(int)>& key,
                                           const std::function<std::string(int)>& value) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < count; ++i) records.push_back(record_of(key(i), value(i)));
  return records;
}

inline std::string moment_of(int i) {
  return "2026-01-01T00:" + digits(i / 60, 2) + ":" + digits(i % 60, 2) + "Z";
}

inline sniffed_record structured(int i, const std::string& sequence) {
  sniffed_record r =
      record_of(std::nullopt, R"({"specversion":"1.0","id":")" + uuid_of(i) +
                                  R"(","source":"/bank","type":"acct.changed","subject":"acct/)" +
                                  std::to_string(i % 10) + R"(","sequence":")" + sequence +
                                  R"(","data":{"balance":)" + std::to_string(i) + "}}");
  r.headers = {{"content-type", "application/cloudevents+json"}};
  return r;
}

inline sniffed_record binary(int i, const std::string& sequence) {
  sniffed_record r = record_of(std::nullopt, R"({"balance":)" + std::to_string(i) + R"(,"id":"b"})");
  r.headers = {{"ce_specversion", "1.0"},
               {"ce_id", uuid_of(i)},
               {"ce_source", "/bank"},
               {"ce_type", "acct.changed"},
               {"ce_sequence", sequence},
               {"ce_subject", "acct/" + std::to_string(i % 10)},
               {"content-type", "application/json"}};
  return r;
}

}  // namespace ratchet::sniff
