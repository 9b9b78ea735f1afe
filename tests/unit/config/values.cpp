// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "text/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/text.hpp"
#include "streams/stream_meaning.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(config_durations, are_a_whole_number_and_a_unit) {
  EXPECT_EQ(parse_duration("0s"), milliseconds{0});
  EXPECT_EQ(parse_duration("100ms"), milliseconds{100});
  EXPECT_EQ(parse_duration("5s"), milliseconds{5000});
  EXPECT_EQ(parse_duration("2m"), milliseconds{120'000});
  EXPECT_EQ(parse_duration("1h"), milliseconds{3'600'000});
  EXPECT_EQ(parse_duration("36525d"), milliseconds{std::int64_t{36'525} * 86'400'000});
  for (const char* bad : {"", "s", "5", "05s", "1.5s", "-1s", "+1s", "5 s", "5S", "1h30m", "5s ", "1w",
                          "36526d", "18446744073709551616s", "18446744073709551615d"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

TEST(config_durations, are_told_in_the_largest_exact_unit) {
  EXPECT_EQ(format_duration(milliseconds{0}), "0ms");
  EXPECT_EQ(format_duration(milliseconds{1500}), "1500ms");
  EXPECT_EQ(format_duration(std::chrono::minutes{90}), "90m");
  EXPECT_EQ(format_duration(std::chrono::hours{24}), "24h");
  EXPECT_EQ(format_duration(std::chrono::hours{48}), "2d");
}

TEST(config_sizes, are_a_whole_number_and_a_binary_unit) {
  EXPECT_EQ(parse_size("0B"), 0U);
  EXPECT_EQ(parse_size("512MiB"), 536'870'912U);
  EXPECT_EQ(parse_size("1GiB"), 1'073'741'824U);
  EXPECT_EQ(parse_size("8388608TiB"), std::uint64_t{1} << 63);
  for (const char* bad :
       {"", "1", "1G", "1GB", "1gib", "1 GiB", "1.5GiB", "8388609TiB", "18446744073709551615KiB"}) {
    EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(format_size(std::uint64_t{1} << 30), "1GiB");
  EXPECT_EQ(format_size(1025), "1025B");
}

TEST(config_names, follow_kafkas_rule_for_topics) {
  for (const char* good : {"a", "payment-status", "a.b_c-D9", "..."})
    EXPECT_TRUE(is_topic_name(good)) << good;
  for (const char* bad : {"", ".", "..", "a b", "a/b", "^a", "\xc3\xa4"})
    EXPECT_FALSE(is_topic_name(bad)) << bad;
  EXPECT_TRUE(is_topic_name(std::string(249, 'a')));
  EXPECT_FALSE(is_topic_name(std::string(250, 'a')));
}

TEST(config_brokers, are_hosts_with_or_without_a_port) {
  for (const char* good :
       {"localhost", "localhost:9092", "10.0.0.1:1", "[::1]:9092", "SASL_SSL://b-1.example:65535"}) {
    EXPECT_TRUE(is_broker_address(good)) << good;
  }
  for (const char* bad : {"", ":9092", "a:", "a:0", "a:65536", "a:b", "a,b", "a b", "[::1", "[]:1", "::1"}) {
    EXPECT_FALSE(is_broker_address(bad)) << bad;
  }
}

TEST(config_field_sources, are_a_pointer_the_key_or_a_header) {
  for (const char* good : {"/a", "/", "/a~0b/~1", "key", "header:x"}) {
    EXPECT_EQ(fault_of_field_source(good), nullptr) << good;
  }
  for (const char* bad : {"", "a", "Key", "header:", "/a~", "/a~2", "headers:x"}) {
    EXPECT_NE(fault_of_field_source(bad), nullptr) << bad;
  }
}

TEST(config_suggestions, are_near_or_none) {
  constexpr std::string_view k_words[] = {"brokers", "group", "properties", "ids"};
  EXPECT_EQ(did_you_mean("broker", k_words), "brokers");
  EXPECT_EQ(did_you_mean("gruop", k_words), "group");
  EXPECT_EQ(did_you_mean("Properties", k_words), "properties");
  EXPECT_EQ(did_you_mean("id", k_words), "ids");
  EXPECT_EQ(did_you_mean("ppropertise", k_words), "properties");  // one too many, and two swapped
  EXPECT_EQ(did_you_mean("PRprtis", k_words), "properties");      // three are missing, the most that may be
  EXPECT_EQ(did_you_mean("propertiesxyz", k_words), "properties");
  EXPECT_EQ(did_you_mean("propertieswxyz", k_words), "");
  EXPECT_EQ(did_you_mean("xyz", k_words), "");
  EXPECT_EQ(did_you_mean("", k_words), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), k_words), "");
}

stream_config stream() {
  stream_config s;
  s.name = "payments";
  s.envelope = {
      .event_id = "/id", .aggregate = "/a", .sequence = "/s", .epoch = "", .type = "/t", .time = ""};
  return s;
}

TEST(config_meaning, is_pinned_to_the_letter_as_it_is_compared_with_what_is_on_disk) {
  const stream_meaning meaning = meaning_of(stream(), "replace", 1);
  EXPECT_EQ(meaning.name, "payments");
  const std::vector<std::pair<std::string, std::string>> want{{"order", "latest"},
                                                              {"dedup.ids", "uuidv7"},
                                                              {"envelope.format", "json"},
                                                              {"envelope.event_id", "/id"},
                                                              {"envelope.aggregate", "/a"},
                                                              {"envelope.sequence", "/s"},
                                                              {"envelope.sequence.bits", "64"},
                                                              {"envelope.epoch", ""},
                                                              {"envelope.type", "/t"},
                                                              {"envelope.time", ""},
                                                              {"reducer.from", ""},
                                                              {"reducer.name", "replace"},
                                                              {"reducer.version", "1"}};
  EXPECT_EQ(meaning.lines, want);
}

TEST(config_meaning, changes_with_everything_that_the_state_depends_on) {
  const auto base = meaning_of(stream(), "replace", 1).lines;
  std::vector<stream_config> others(16, stream());
  others[0].order = order::arrival;
  others[1].dedup.ids = id_kind::none;
  others[2].envelope.event_id = "/x";
  others[3].envelope.aggregate = "/x";
  others[4].envelope.sequence = "/x";
  others[5].envelope.sequence_bits = 128;
  others[6].envelope.epoch = "/x";
  others[7].envelope.type = "/x";
  others[8].envelope.time = "/x";
  others[9].reducer.from = "/x";
  others[10].envelope.format = envelope_format::debezium_outbox;
  others[11].dedup.ids = id_kind::ulid;
  others[12].dedup.ids = id_kind::opaque;
  others[13].envelope.sequence_base = 16;
  others[14].dedup.ids = id_kind::monotonic;
  others[15].envelope.time_unit = time_unit::seconds;
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(meaning_of(others[i], "replace", 1).lines, base) << "change " << i;
  }
  EXPECT_NE(meaning_of(stream(), "other", 1).lines, base);
  EXPECT_NE(meaning_of(stream(), "replace", 2).lines, base);
}

TEST(config_meaning, of_strict_order_says_which_number_is_the_first_and_what_a_new_epoch_is) {
  stream_config s = stream();
  s.order = order::strict;
  const auto base = meaning_of(s, "replace", 1).lines;
  EXPECT_EQ(base.size(), meaning_of(stream(), "replace", 1).lines.size() + 2);
  EXPECT_THAT(base, ::testing::Contains(::testing::Pair("order", "strict")));
  EXPECT_THAT(base, ::testing::Contains(::testing::Pair("first", "1")));
  EXPECT_THAT(base, ::testing::Contains(::testing::Pair("epoch_change", "park")));
  s.first = first_number::zero;
  EXPECT_THAT(meaning_of(s, "replace", 1).lines, ::testing::Contains(::testing::Pair("first", "0")));
  s.first = first_number::any;
  EXPECT_THAT(meaning_of(s, "replace", 1).lines, ::testing::Contains(::testing::Pair("first", "any")));
  s.epoch_change = epoch_change::accept;
  EXPECT_THAT(meaning_of(s, "replace", 1).lines,
              ::testing::Contains(::testing::Pair("epoch_change", "accept")));
  s.order = order::arrival;
  stream_config arrival = stream();
  arrival.order = order::arrival;
  EXPECT_EQ(meaning_of(s, "replace", 1).lines, meaning_of(arrival, "replace", 1).lines)
      << "nothing else looks at them, and what is stored must still fit";
}

TEST(config_meaning, stays_with_what_may_change_between_two_runs) {
  stream_config other = stream();
  other.gap = {gap_policy::stop, milliseconds{1}};
  other.waiting = {1, 1, 1};
  other.retry = {1, milliseconds{1}, milliseconds{1}};
  other.reducer.timeout = milliseconds{1};
  other.reducer.fail.emplace_back();
  other.dedup.window = std::chrono::hours{1};
  other.dedup.max_skew = milliseconds{1};
  other.poison = 0;
  other.topics = {"more"};
  other.start = start_position::latest;
  EXPECT_EQ(meaning_of(other, "replace", 1).lines, meaning_of(stream(), "replace", 1).lines);
}

TEST(config_description, says_what_a_stream_does_and_cannot_do) {
  stream_config s = stream();
  EXPECT_EQ(
      describe(s),
      "payments: fed by ratchet apply; aggregates by /a; the newest by /s wins; ids /id (uuidv7) remembered "
      "for 24h; keeps the whole value");
  s.order = order::arrival;
  s.topics = {"t"};
  s.reducer.kind = reducer_config::kind_of::merge_patch;
  EXPECT_EQ(describe(s),
            "payments: reads t; aggregates by /a; each event once, in the order of arrival; ids /id (uuidv7) "
            "remembered for 24h; merges the whole value into the snapshot");
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("more than 24h older than the stream is rejected (too_old)")));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("the sequence /s is not read")));
  EXPECT_THAT(limits_of(s), Not(Contains(HasSubstr("is applied again"))));
  s.dedup.ids = id_kind::opaque;
  EXPECT_THAT(describe(s), HasSubstr("ids /id (opaque) remembered for 24h"));
  EXPECT_THAT(limits_of(s),
              Contains("an opaque id has no time of its own: a repeat whose record is more than "
                       "24h later than the first is applied again"));
  EXPECT_THAT(limits_of(s),
              Contains(HasSubstr("an event whose record is more than 24h older than the stream")));
  s.dedup.ids = id_kind::monotonic;
  EXPECT_THAT(describe(s), HasSubstr("ids /id (monotonic), the last one of each partition remembered;"));
  EXPECT_THAT(limits_of(s), Contains("an id counts as a repeat, also of another aggregate, if its partition "
                                     "had an equal or higher one of the same source before"));
  EXPECT_THAT(limits_of(s), Not(Contains(HasSubstr("24h"))));
}

TEST(config_description, says_which_events_are_handled_and_which_delete) {
  stream_config s = stream();
  EXPECT_THAT(describe(s), Not(HasSubstr("delete")));
  s.envelope.deletes.types = {"customer.deleted", "*.erased"};
  EXPECT_THAT(describe(s), HasSubstr("; an event of type customer.deleted or *.erased deletes; keeps "));
  s.envelope.deletes = {{}, "/__deleted", {}};
  EXPECT_THAT(describe(s), HasSubstr("; an event deletes whose /__deleted is not null, false, 0 or empty;"));
  s.envelope.deletes.is = {"true", "yes"};
  EXPECT_THAT(describe(s), HasSubstr("; an event deletes whose /__deleted is true or yes;"));
  s.types = {"a", "b"};
  s.ignore = {"c"};
  s.ignore_tombstones = true;
  s.ignore_having = "/resolved";
  EXPECT_THAT(describe(s), HasSubstr("; handles the types a, b alone; ignores the types c, events with "
                                     "/resolved, null values; an event deletes "));
}

TEST(config_description, of_strict_order_says_what_becomes_of_a_gap) {
  stream_config s = stream();
  s.order = order::strict;
  s.reducer.kind = reducer_config::kind_of::flaky;
  s.reducer.timeout = milliseconds{5000};
  EXPECT_THAT(describe(s), HasSubstr("; every event in turn by /s, from 1;"));
  EXPECT_THAT(describe(s), HasSubstr("; keeps the whole value, and fails on purpose"));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("wait until an operator decides")));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("only within 24h")));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("its result after more than 5s is dropped")));
  s.first = first_number::zero;
  s.gap.policy = gap_policy::stop;
  s.topics = {"t"};
  s.start = start_position::latest;
  EXPECT_THAT(describe(s), HasSubstr("from 0;"));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("stops the whole stream")));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("first events are older than the first start")));
  s.first = first_number::any;
  s.gap = {gap_policy::skip, milliseconds{90'000}};
  EXPECT_THAT(describe(s), HasSubstr("from the lowest that comes;"));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("missing for 90s of the records' time is skipped")));
  EXPECT_THAT(limits_of(s), Contains(HasSubstr("is applied 90s after it came")));
}

}  // namespace

}  // namespace ratchet
