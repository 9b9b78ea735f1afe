// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "support/core_world.hpp"

/// Histories are made of small numbers (raw_event), so that rapidcheck can shrink them; what they mean
/// is in to_specs(). On failure rapidcheck prints the history and how to run it again
/// (RC_PARAMS="reproduce=..."), which becomes a line of counterexamples.txt. More of it:
/// RC_PARAMS="max_success=100000".
namespace ratchet::testing {

constexpr std::int64_t k_base = 100'000;
constexpr std::int64_t k_now = 130'000;
constexpr int k_partitions = 3;

struct raw_event {
  int aggregate{0};
  int number{1};
  int epoch{0};
  int payload{0};
  int kind{0};
  int id{0};
  int time{0};
  int partition{0};
  int repeat{0};  ///< n > 0: the event n places before this one, sent again
  int skip{0};    ///< offsets that the log does not hold before this record
};

inline void showValue(const raw_event& e, std::ostream& out) {
  out << "{" << e.aggregate << "," << e.number << "," << e.epoch << "," << e.payload << "," << e.kind << ","
      << e.id << "," << e.time << "," << e.partition << "," << e.repeat << "," << e.skip << "}";
}

inline std::optional<event_id> id_of(const raw_event& e, std::int64_t time, std::uint64_t index) {
  switch (e.id) {
    case 0:
      return std::nullopt;
    case 1:
    case 2:
    case 3:  // one of a few: reused, for other aggregates too
      return id_at(k_base + 1500 * e.id, 1);
    case 4:  // long ago
      return id_at(1000, index + 100);
    case 5:  // ahead of its record
      return id_at(time + 3000, index + 100);
    default:
      return id_at(time, index + 100);
  }
}

inline std::optional<std::int64_t> time_of(const raw_event& e, std::int64_t time) {
  switch (e.time) {
    case 0:
      return std::nullopt;
    case 1:
      return time - 2500;
    case 2:
      return time + 5000;
    case 3:
      return 10 * k_now;  // beyond the cap
    default:
      return time;
  }
}

inline decoded_kind kind_of(int kind) {
  constexpr decoded_kind k_kinds[] = {decoded_kind::tombstone, decoded_kind::malformed,
                                      decoded_kind::malformed, decoded_kind::ignored};
  return kind < 4 ? k_kinds[kind] : decoded_kind::event;
}

inline std::vector<spec> to_specs(const std::vector<raw_event>& raw, bool may_fail) {
  std::vector<spec> out;
  std::map<int, std::int64_t> next;
  for (const raw_event& e : raw) {
    const auto index = static_cast<std::uint64_t>(out.size());
    const std::int64_t time = k_base + 200 * std::ssize(out);
    spec s;
    if (e.repeat > 0 && e.repeat <= std::ssize(out)) {
      s = out[out.size() - static_cast<std::size_t>(e.repeat)];
    } else {
      constexpr const char* k_payloads[] = {"x", "y", "~", "!", "#"};
      s.aggregate = std::string(1, static_cast<char>('a' + e.aggregate));
      s.sequence = seq(static_cast<std::uint64_t>(e.epoch), static_cast<std::uint64_t>(e.number));
      s.payload = e.payload < 2               ? k_payloads[e.payload]
                  : e.payload < 5 && may_fail ? k_payloads[e.payload]
                                              : "p" + std::to_string(index);
      s.kind = kind_of(e.kind);
      s.id = id_of(e, time, index);
    }
    s.time = time_of(e, time);
    s.partition = e.partition;
    s.offset = next[e.partition] + e.skip;
    next[e.partition] = s.offset + 1;
    out.push_back(s);
  }
  return out;
}

}  // namespace ratchet::testing

namespace rc {

template <>
struct Arbitrary<ratchet::testing::raw_event> {
  static Gen<ratchet::testing::raw_event> arbitrary() {
    using ratchet::testing::raw_event;
    return gen::build<raw_event>(
        gen::set(&raw_event::aggregate, gen::inRange(0, 3)), gen::set(&raw_event::number, gen::inRange(0, 8)),
        gen::set(&raw_event::epoch, gen::weightedElement<int>({{8, 0}, {1, 1}})),
        gen::set(&raw_event::payload, gen::inRange(0, 14)), gen::set(&raw_event::kind, gen::inRange(0, 24)),
        gen::set(&raw_event::id, gen::inRange(0, 12)), gen::set(&raw_event::time, gen::inRange(0, 16)),
        gen::set(&raw_event::partition, gen::inRange(0, ratchet::testing::k_partitions)),
        gen::set(&raw_event::repeat, gen::weightedElement<int>({{8, 0}, {1, 1}, {1, 3}, {1, 9}})),
        gen::set(&raw_event::skip, gen::weightedElement<int>({{12, 0}, {1, 1}})));
  }
};

}  // namespace rc
