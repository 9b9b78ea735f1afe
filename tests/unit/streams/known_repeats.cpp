// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/known_repeats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/reducers.hpp"

namespace ratchet::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

stream_config versions() {
  stream_config s;
  s.name = "s";
  s.topics = {"t"};
  s.envelope.aggregate = "/id";
  s.envelope.sequence = "/v";
  s.dedup.ids = id_kind::none;
  return s;
}

stream_config arrivals(id_kind ids) {
  stream_config s = versions();
  s.order = order::arrival;
  s.envelope.sequence = {};
  s.envelope.event_id = "/e";
  s.dedup.ids = ids;
  return s;
}

std::string why(const stream_config& s) {
  return why_repeats_are_not_known(stream_definition{s, replace_reducer{}});
}

TEST(known_repeats, are_told_by_sequences_and_by_ids_that_have_a_time) {
  EXPECT_THAT(why(versions()), IsEmpty());
  stream_config strict = versions();
  strict.order = order::strict;
  strict.handling = handling::deferred;
  EXPECT_THAT(why(strict), IsEmpty());
  EXPECT_THAT(why(arrivals(id_kind::uuidv7)), IsEmpty());
  EXPECT_THAT(why(arrivals(id_kind::ulid)), IsEmpty());
}

TEST(known_repeats, are_not_told_by_ids_that_are_forgotten_or_are_of_a_partition) {
  EXPECT_THAT(why(arrivals(id_kind::none)), HasSubstr("no ids"));
  EXPECT_THAT(why(arrivals(id_kind::opaque)), HasSubstr("opaque ids"));
  EXPECT_THAT(why(arrivals(id_kind::monotonic)), HasSubstr("monotonic ids"));
  stream_config parks = arrivals(id_kind::uuidv7);
  parks.too_old = too_old::park;
  EXPECT_THAT(why(parks), HasSubstr("too_old: park"));
}

TEST(known_repeats, are_not_told_where_each_old_one_would_wait) {
  stream_config s = versions();
  s.retention = std::chrono::hours{48};
  EXPECT_THAT(why(s), IsEmpty());
  s.too_old = too_old::park;
  EXPECT_THAT(why(s), HasSubstr("older than `retention`"));
}

TEST(known_repeats, are_not_told_by_a_sequence_that_the_cluster_makes) {
  stream_config s = versions();
  s.envelope.sequence = "offset";
  EXPECT_THAT(why(s), HasSubstr("place in its partition"));
  s.envelope.sequence = "timestamp";
  EXPECT_THAT(why(s), HasSubstr("the record's time"));
  s = versions();
  s.envelope.format = envelope_format::debezium_cdc;
  s.envelope.position = change_order::partition;
  EXPECT_THAT(why(s), HasSubstr("place in its partition"));
}

TEST(known_repeats, are_not_told_where_the_later_one_wins_or_a_life_may_begin_again) {
  stream_config s = versions();
  s.ties = ties::later;
  EXPECT_THAT(why(s), HasSubstr("the one that is read later wins"));
  s = versions();
  s.envelope.sequence_as = sequence_kind::time;
  EXPECT_THAT(why(s), HasSubstr("the one that is read later wins"));
  s.ties = ties::reject;
  EXPECT_THAT(why(s), IsEmpty());
  s = versions();
  s.after_delete = after_delete::restart;
  EXPECT_THAT(why(s), HasSubstr("after_delete: restart"));
}

}  // namespace
}  // namespace ratchet::testing
