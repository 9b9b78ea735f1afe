// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// A pointer of the envelope that never fits: what status and the log say of it.
#include "pipeline/field_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/status_report.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

stream_config with_fields() {
  stream_config s = payments();
  s.envelope.type = "/evtType";  // a slip: it is /type
  s.envelope.time = "/at";
  return s;
}

struct field_world : session_world {
  field_world() : session_world{{with_fields()}} {}
  void produce(int from, int to, const std::string& more = R"(,"type":"paid","at":1700000000000)") {
    for (int n = from; n <= to; ++n)
      source.produce(k_p0, R"({"p":"a","n":)" + std::to_string(n) + R"(,"v":1)" + more + "}");
  }
  [[nodiscard]] live_fields shown() const { return status.snapshot().fields.at("payments"); }
};

TEST(field_counts, are_shown_of_each_field_that_the_config_names) {
  field_world w;
  EXPECT_THAT(w.status.snapshot().fields, IsEmpty());
  w.produce(1, 40);
  w.produce(41, 42, "");
  w.source.produce(k_p0, "malformed");
  w.source.produce(k_p0, R"({"n":43,"v":1,"evtType":"its aggregate is missing"})");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.shown().events, 42U);
  EXPECT_THAT(w.shown().fields,
              ElementsAre(live_field{"aggregate", "/p", 42}, live_field{"sequence", "/n", 42},
                          live_field{"type", "/evtType", 0}, live_field{"time", "/at", 40}));
  w.produce(43, 50);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.shown().events, 50U) << "of the process, over its sessions";
  EXPECT_EQ(w.logged("evtType"), 0U) << "too few to say anything";
}

TEST(field_counts, are_told_once_of_fields_that_a_thousand_events_lack) {
  field_world w;
  w.produce(1, 999);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("none of the first"), 0U);
  w.produce(1000, 2100);
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("none of the first"), 1U) << w.logged();
  EXPECT_THAT(w.logged(), HasSubstr("has `type`, which envelope.type takes from /evtType"));
  EXPECT_EQ(w.shown().events, 2100U);
}

TEST(field_counts, are_not_told_of_a_field_that_one_event_had) {
  field_world w;
  w.produce(1, 1, R"(,"evtType":"paid")");
  w.produce(2, 2000, "");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("has `type`"), 0U);
  EXPECT_EQ(w.logged("has `time`"), 1U);
}

TEST(field_counts, tell_once_of_times_decades_away_and_of_the_unit_that_fits) {
  field_world w;
  w.produce(1, 7, R"(,"type":"paid","at":1700000000)");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("decades away"), 0U) << "too few to say anything";
  w.produce(8, 60, R"(,"type":"paid","at":1700000000)");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("decades away"), 1U) << w.logged();
  EXPECT_THAT(w.logged(), HasSubstr("such as 1970-01-20T16:13:20.000Z; as numbers of the unit s they are of "
                                    "2023-11-14: set `time: {from: /at, unit: s}`"));
  EXPECT_THAT(w.shown().unlikely_times, HasSubstr("unit: s"));
}

TEST(field_counts, say_nothing_of_a_single_time_decades_away) {
  field_world w;
  w.produce(1, 40);
  w.produce(41, 44, R"(,"type":"paid","at":1700000000)");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(w.logged("decades away"), 0U);
  EXPECT_EQ(w.shown().unlikely_times, "");
}

TEST(field_counts, leave_out_what_is_not_read_and_what_has_no_value) {
  stream_config s = payments();
  s.order = order::arrival;
  s.envelope.event_id = "/i";
  s.envelope.epoch = "/e";
  EXPECT_THAT(fields_of(s, {5, 1, 2, 0, {}}).fields,
              ElementsAre(live_field{"event_id", "/i", 5}, live_field{"aggregate", "/p", 5}));
  std::vector<decoded_event> events(4);
  events[0].kind = decoded_kind::tombstone;
  events[1].kind = decoded_kind::malformed;
  events[2].kind = decoded_kind::ignored;
  events[3].kind = decoded_kind::event;
  for (decoded_event& e : events) e.type = "paid";
  EXPECT_EQ(count_fields(events), (field_counts{1, 1, 0, 0, {}}));
}

TEST(field_counts, stand_in_both_forms_of_a_report) {
  status_report report;
  report.source = report_source::instance;
  stream_report& s = report.streams.emplace_back();
  s.name = "payments";
  s.fields = live_fields{3073, {{"aggregate", "/p", 3073}, {"time", "/at", 12}, {"type", "/evtType", 0}}};
  EXPECT_THAT(status_text(report),
              HasSubstr("\n  of 3073 events since the start (deletions, ignored and malformed records left "
                        "out) all have aggregate; 12 have time; none has type "
                        "(/evtType)\n"));
  EXPECT_THAT(status_json(report),
              HasSubstr(R"("fields":{"events":3073,"found":{"aggregate":3073,"time":12,"type":0}})"));
  s.fields.reset();
  EXPECT_THAT(status_json(report), Not(HasSubstr("fields")));
  EXPECT_THAT(status_text(report), Not(HasSubstr("since the start")));
}

}  // namespace
}  // namespace ratchet::testing
