// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What `ratchet sniff` finds in streams as brokers deliver them: twice, late, malformed in part, and of keys
// that are not what a version counts within.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "unit/sniff/disordered.hpp"

namespace ratchet::sniff {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(sniffed_disorder, leaves_a_version_what_it_is) {
  const auto records = disordered(payments(), 60);
  const std::string text = report(records);
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.envelope.aggregate, "/payment/id") << text;
  EXPECT_EQ(s.envelope.event_id, "/id");
  EXPECT_EQ(s.envelope.sequence, "/sequence") << text;
  EXPECT_EQ(s.order, order::latest);
  EXPECT_THAT(text, HasSubstr("a lower number"));
  EXPECT_THAT(text, HasSubstr("set order: strict")) << "late or not, no number is missing";
}

TEST(sniffed_disorder, is_told_by_the_times_of_events) {
  const auto records = disordered(made_of(
                                      240, [](int i) { return "o" + std::to_string(i % 12); },
                                      [](int i) {
                                        return R"({"rev":)" + std::to_string(i / 12 + 1) +
                                               R"(,"updatedAt":")" + moment_of(i) + R"("})";
                                      }),
                                  200);
  const std::string text = report(records);
  EXPECT_EQ(stream_in(text).envelope.sequence, "/rev") << text;
  EXPECT_THAT(text, HasSubstr("54 of 240 events have a lower number than an event of the same aggregate "
                              "that came before, the first at orders.v1[2]@93 (2 behind 6)"));
  EXPECT_THAT(text, HasSubstr("sorted by /updatedAt it never falls"));
}

TEST(sniffed_disorder, of_records_in_any_order_hides_no_version) {
  numbers_by_chance chance;
  std::vector<sniffed_record> records = made_of(
      200, [](int i) { return "o" + std::to_string(i % 40); },
      [](int i) {
        return R"({"eventId":"9a9a80fd-ea7b-4bf5-9eb5-)" + digits(i, 12) + R"(","version":)" +
               std::to_string(i / 40 + 1) + "}";
      });
  for (std::size_t i = records.size(); i > 1; --i) std::swap(records[i - 1], records[chance.below(i)]);
  const std::string text = report(numbered(std::move(records)));
  EXPECT_EQ(stream_in(text).envelope.sequence, "/version") << text;
  EXPECT_EQ(stream_in(text).envelope.event_id, "/eventId");
  EXPECT_THAT(text, HasSubstr("order: latest keeps the newest one, however late the others come"));
}

TEST(sniffed_disorder, makes_no_version_of_a_place_that_goes_up_and_down) {
  const auto of = [](bool with_time) {
    numbers_by_chance chance;
    return report(numbered(made_of(
        200, [](int i) { return "task-" + std::to_string(i % 20); },
        [&](int i) {
          return R"({"position":)" + std::to_string(chance.below(1000)) +
                 (with_time ? R"(,"at":")" + moment_of(i) + R"("})" : "}");
        })));
  };
  EXPECT_NE(stream_in(of(true)).envelope.sequence, "/position");
  const std::string text = of(false);
  EXPECT_NE(stream_in(text).envelope.sequence, "/position");
  EXPECT_THAT(text, HasSubstr("/position is called like a sequence, but 138 of 200 events have a lower"));
}

TEST(sniffed_disorder, applies_late_whole_states_by_their_time_where_nothing_else_tells) {
  const auto of = [](const char* id) {
    return disordered(made_of(
                          240, [](int i) { return "c" + std::to_string(i % 12); },
                          [id](int i) {
                            return "{" + (*id == '\0' ? "" : std::string{id} + ":\"" + uuid_of(i) + "\",") +
                                   R"("updated_at":")" + moment_of(i) + R"("})";
                          }),
                      100);
  };
  const std::string none = report(of(""));
  EXPECT_EQ(stream_in(none).envelope.sequence, "/updated_at") << none;
  EXPECT_EQ(stream_in(none).order, order::latest);
  const std::string with_ids = report(of("\"event_id\""));
  EXPECT_EQ(stream_in(with_ids).order, order::latest) << with_ids;
  EXPECT_EQ(stream_in(with_ids).envelope.sequence_as, sequence_kind::time);
  EXPECT_EQ(stream_in(with_ids).ties, ties::later);
  EXPECT_EQ(stream_in(with_ids).dedup.ids, id_kind::uuidv7);
}

/// First events alone, as of a stream that has just begun; every fourth comes again, byte for byte.
std::vector<sniffed_record> first_events(const std::string& field) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 200; ++i) {
    records.push_back(record_of("p" + std::to_string(i), R"({"id":")" + uuid_of(i) + R"(",")" + field +
                                                             R"(,"payment":{"id":"p)" + std::to_string(i) +
                                                             R"("}})"));
    if (i % 2 == 0) records.push_back(records.back());
  }
  return numbered(std::move(records));
}

TEST(sniffed_disorder, of_repeats_alone_takes_a_sequence_by_its_name_and_says_so) {
  const std::string text = report(first_events("sequence\":1"));
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.envelope.event_id, "/id") << "its repeats are the same bytes" << text;
  EXPECT_EQ(s.envelope.sequence, "/sequence") << text;
  EXPECT_EQ(s.order, order::latest);
  EXPECT_THAT(text,
              HasSubstr("/sequence was taken for the sequence by its name: no aggregate has two events"));
  EXPECT_THAT(text, HasSubstr("--records"));
}

TEST(sniffed_disorder, takes_an_object_that_is_told_again_and_again_for_no_event) {
  const auto records = made_of(
      120, [](int) { return "all"; },
      [](int i) { return R"({"id":")" + uuid_of(i % 6) + R"(","state":"up"})"; });
  const stream_config s = stream_in(report(numbered(records)));
  EXPECT_EQ(s.envelope.event_id, "");
}

TEST(sniffed_disorder, takes_the_version_of_a_schema_for_none) {
  EXPECT_NE(stream_in(report(first_events("schemaVersion\":1"))).envelope.sequence, "/schemaVersion");
  EXPECT_NE(stream_in(report(first_events("version\":7"))).envelope.sequence, "/version");
  EXPECT_EQ(stream_in(report(first_events("version\":1"))).envelope.sequence, "/version");
}

TEST(sniffed_disorder, takes_what_an_object_is_called_for_no_id_of_events) {
  const auto records = disordered(made_of(
                                      120, [](int i) { return uuid_of(i % 60); },
                                      [](int i) {
                                        return R"({"id":")" + uuid_of(i % 60) + R"(","version":)" +
                                               std::to_string(i / 60 + 1) + "}";
                                      }),
                                  30);
  const stream_config s = stream_in(report(records));
  EXPECT_EQ(s.envelope.event_id, "");
  EXPECT_EQ(s.envelope.sequence, "/version");
  EXPECT_EQ(s.dedup.ids, id_kind::none);
}

TEST(sniffed_parts, that_are_malformed_hide_neither_id_nor_version) {
  std::vector<sniffed_record> records = payments();
  for (std::size_t i = 0; i < records.size(); i += 10) {
    std::string& value = *records[i].value;
    if (i % 30 == 0)
      value = "payment=p-1;status=queued";
    else if (i % 30 == 10)
      value.replace(value.find("\"sequence\":"), 11, "\"sequence\":\"x\",\"n\":");
    else
      value.replace(value.find("\"id\""), 4, "\"xx\"");
  }
  const std::string text = report(records);
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.envelope.event_id, "/id") << text;
  EXPECT_EQ(s.envelope.sequence, "/sequence") << text;
  EXPECT_THAT(text, HasSubstr("/sequence is missing in 4 records, or is something else there"));
}

TEST(sniffed_parts, that_share_a_word_for_want_of_an_id_hide_no_id) {
  std::vector<sniffed_record> records = disordered(payments(), 60);
  for (std::size_t i = 0; i < records.size(); i += 20) {
    std::string& value = *records[i].value;
    value.replace(value.find("018f2b7c"), 36, "unknown");
  }
  const stream_config s = stream_in(report(records));
  EXPECT_EQ(s.envelope.event_id, "/id");
  EXPECT_EQ(s.envelope.aggregate, "/payment/id");
  EXPECT_EQ(s.dedup.ids, id_kind::uuidv7);
}

TEST(sniffed_parts, of_a_stream_that_have_a_version_are_told_of) {
  const auto with_version_in = [](int one_of) {
    return report(numbered(made_of(
        240, [](int i) { return "k" + std::to_string(i % 6); },
        [one_of](int i) {
          return R"({"id":")" + uuid_of(i) + "\"" +
                 (i / 6 % one_of == 0 ? R"(,"version":)" + std::to_string(i) : std::string{}) + "}";
        })));
  };
  const std::string seldom = with_version_in(4);
  EXPECT_EQ(stream_in(seldom).order, order::arrival) << seldom;
  EXPECT_THAT(seldom, HasSubstr("/version is called like a sequence, but most records are without it"));
  const std::string often = with_version_in(2);
  EXPECT_EQ(stream_in(often).envelope.sequence, "/version") << often;
  EXPECT_THAT(often, HasSubstr("/version is missing in 120 records"));
}

TEST(sniffed_aggregates, are_what_the_version_counts_within) {
  const std::string text = report(numbered(made_of(
      240, [](int i) { return "customer-" + std::to_string(i % 4); },
      [](int i) {
        return R"({"eventId":")" + uuid_of(i) + R"(","orderId":"o-)" + std::to_string(i % 24) +
               R"(","version":)" + std::to_string(i / 24 + 1) + "}";
      })));
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.envelope.aggregate, "/orderId") << text;
  EXPECT_EQ(s.envelope.sequence, "/version");
  EXPECT_THAT(text, HasSubstr("the sequence grows within /orderId and not within key"));
}

TEST(sniffed_cloudevents, are_known_in_both_modes_and_in_batches) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 100; ++i)
    records.push_back(i % 2 == 0 ? structured(i, std::to_string(i / 10 + 1))
                                 : binary(i, std::to_string(i / 10 + 1)));
  sniffed_record batch = structured(100, "11");
  batch.value = "[" + *batch.value + "," + *structured(101, "11").value + "]";
  batch.headers = {{"content-type", "application/cloudevents-batch+json"}};
  for (const bool with_batch : {false, true}) {
    if (with_batch) records.push_back(batch);
    const std::string text = report(numbered(records));
    const stream_config s = stream_in(text);
    EXPECT_EQ(s.envelope.format, envelope_format::cloudevents) << text;
    EXPECT_EQ(s.envelope.each.kind, each_kind::none);
    EXPECT_EQ(s.order, order::latest);
    EXPECT_EQ(s.envelope.sequence_as, sequence_kind::integer) << "of digits that are not padded";
    EXPECT_EQ(s.dedup.ids, id_kind::uuidv7);
    EXPECT_THAT(text, HasSubstr(with_batch ? "CloudEvents; format: cloudevents (102 of 102)"
                                           : "CloudEvents; format: cloudevents (100 of 100)"));
    EXPECT_THAT(text, Not(HasSubstr("some records hold several")));
  }
}

TEST(sniffed_cloudevents, without_subjects_take_the_key) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 100; ++i) {
    records.push_back(structured(i, std::to_string(i)));
    std::string& value = *records.back().value;
    value.replace(value.find("\"subject\""), 9, "\"object\"");
    records.back().key = "k" + std::to_string(i % 10);
  }
  EXPECT_EQ(stream_in(report(numbered(std::move(records)))).envelope.aggregate, "key");
}

TEST(sniffed_cloudevents, tell_of_a_version_in_their_data) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 100; ++i) {
    records.push_back(structured(i, ""));
    std::string& value = *records.back().value;
    value.replace(value.find("\"sequence\":\"\","), 14, "");
    value.replace(value.find("\"balance\""), 9, "\"version\"");
  }
  const std::string text = report(numbered(std::move(records)));
  EXPECT_EQ(stream_in(text).order, order::arrival);
  EXPECT_THAT(text, HasSubstr("/data/version is called like a sequence, but CloudEvents are ordered by an"));
}

}  // namespace
}  // namespace ratchet::sniff
