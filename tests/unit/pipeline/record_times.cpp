// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a config says of record times, and what comes of it.
#include <gtest/gtest.h>

#include <string>

#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

constexpr std::int64_t k_records = 30;  // of which the twelfth is a year ahead

stream_config with_ids(record_times times) {
  stream_config s = payments();
  s.order = order::arrival;
  s.envelope.sequence.clear();
  s.envelope.event_id = "/id";
  s.dedup.ids = id_kind::opaque;
  s.record_times = times;
  return s;
}

std::uint64_t too_old_with(record_times times) {
  session_world w{{with_ids(times)}};
  w.clock.advance(std::chrono::hours{24 * 800});  // long behind the records, as where a state is built anew
  const timestamp begin = w.clock.now() - std::chrono::hours{24 * 700};
  for (std::int64_t n = 0; n < k_records; ++n) {
    const std::string value = R"({"p":"a","id":"e)" + std::to_string(n) + R"(","v":1})";
    const timestamp time = begin + std::chrono::minutes{n};
    w.source.produce(at("t", 0), value, n == 11 ? time + std::chrono::hours{24 * 365} : time);
  }
  (void)w.run();
  EXPECT_EQ(w.counted().consumed, static_cast<std::uint64_t>(k_records));
  return w.counted().rejected_too_old;
}

TEST(record_times, are_checked_unless_the_config_says_otherwise) {
  EXPECT_EQ(stream_config{}.record_times, record_times::checked);
  EXPECT_EQ(too_old_with(record_times::checked), 0U);
  EXPECT_EQ(too_old_with(record_times::trusted), 18U) << "all behind the one";
}

}  // namespace
}  // namespace ratchet::testing
