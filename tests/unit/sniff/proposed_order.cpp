// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The proposed order is one that nothing found in the same records refutes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "unit/sniff/disordered.hpp"

namespace ratchet::sniff {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_by_arrival = "depends on the order in which they arrive";

std::string part_of_state(int i) {
  return i % 3 == 0 ? R"("status":"PAID")" : R"("note":"as you like")";
}

/// Six events of each of 20 orders, as Debezium's router writes them.
std::vector<sniffed_record> outbox(const std::function<std::string(int)>& version, bool of_parts = true,
                                   const std::string& more = {}) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i) {
    sniffed_record r = record_of("o-" + std::to_string(i % 20),
                                 "{" + (of_parts ? part_of_state(i) : R"("status":"PAID")") + more + "}");
    r.headers = {{"id", uuid_of(i)}, {"eventType", "Changed"}};
    if (version) r.headers.emplace_back("version", version(i));
    records.push_back(std::move(r));
  }
  return numbered(std::move(records));
}

std::string counted_from(int first, int i) {
  return std::to_string(i / 20 + first);
}

std::vector<sniffed_record> from_start(std::vector<sniffed_record> records) {
  for (std::size_t i = 0; i < records.size(); ++i) records[i].offset = static_cast<std::int64_t>(i);
  return records;
}

TEST(proposed_order, of_late_changes_that_count_by_one_is_strict) {
  const std::string text = report(disordered(outbox([](int i) { return counted_from(1, i); }), 60));
  const stream_config s = stream_in(text);
  EXPECT_EQ(s.order, order::strict) << text;
  EXPECT_EQ(s.envelope.format, envelope_format::debezium_outbox);
  EXPECT_EQ(s.envelope.sequence, "header:version");
  EXPECT_EQ(s.reducer.kind, reducer_config::kind_of::merge_patch);
  EXPECT_EQ(s.first, first_number::one);
  EXPECT_THAT(text, HasSubstr("order: strict applies each event in its turn"));
  EXPECT_THAT(text, HasSubstr(" events have a lower number than an event of the same aggregate that came "
                              "before, the first at orders.v1[2]@"));
  EXPECT_THAT(text, Not(HasSubstr(k_by_arrival)));
}

TEST(proposed_order, of_late_states_is_latest) {
  for (const int step : {1, 3}) {
    const std::string text =
        report(disordered(outbox([step](int i) { return std::to_string((i / 20 + 1) * step); }, false), 60));
    const stream_config s = stream_in(text);
    EXPECT_EQ(s.order, order::latest) << text;
    EXPECT_EQ(s.envelope.sequence, "header:version");
    EXPECT_EQ(s.reducer.kind, reducer_config::kind_of::replace);
    EXPECT_THAT(text, HasSubstr("order: latest keeps the newest one, however late the others come"));
  }
}

TEST(proposed_order, of_late_changes_with_numbers_that_jump_says_that_none_is_right) {
  const std::string text =
      report(disordered(outbox([](int i) { return std::to_string((i / 20 + 1) * 3); }), 60));
  EXPECT_EQ(stream_in(text).order, order::latest) << text;
  EXPECT_THAT(text, HasSubstr("the config below is right only if each record holds the whole state. If one "
                              "holds only what has changed, no order is right for these records"));
}

TEST(proposed_order, of_records_in_order_stays_that_of_arrival) {
  const std::string text = report(outbox([](int i) { return counted_from(1, i); }));
  EXPECT_EQ(stream_in(text).order, order::arrival);
  EXPECT_THAT(text, HasSubstr("header:version counts by 1 with each event of an aggregate: with `sequence: "
                              "header:version` in the envelope `order: strict` applies late events in their "
                              "place and waits for events that are missing, and `order: latest` keeps the "
                              "newest whole state, but needs `reducer: {kind: replace}`"));
  auto with_gap = outbox([](int i) { return counted_from(1, i); });
  with_gap.erase(with_gap.begin() + 50);
  EXPECT_THAT(report(with_gap), Not(HasSubstr("order: strict")));
}

TEST(proposed_order, strict_begins_where_the_aggregates_do) {
  const auto stream_from = [](int first) {
    return stream_in(
        report(from_start(disordered(outbox([first](int i) { return counted_from(first, i); }), 60))));
  };
  EXPECT_EQ(stream_from(0).first, first_number::zero);
  EXPECT_EQ(stream_from(1).first, first_number::one);
  const stream_config later = stream_from(7);
  EXPECT_EQ(later.order, order::strict);
  EXPECT_EQ(later.first, first_number::any);
  EXPECT_EQ(later.gap.policy, gap_policy::skip);
  const std::string from_middle = report(disordered(outbox([](int i) { return counted_from(7, i); }), 60));
  EXPECT_EQ(stream_in(from_middle).first, first_number::one);
  EXPECT_THAT(from_middle, HasSubstr("no aggregate begins with 0 or 1 in these records"));
}

TEST(proposed_order, excuses_what_may_be_late_at_either_end) {
  auto records = outbox([](int i) { return counted_from(1, i); });
  std::vector<sniffed_record> late;
  for (std::size_t i = 0; i < 3; ++i) {
    late.push_back(records[i]);
    records[i] = records[i + 20];
    records[i + 20] = late.back();
  }
  // Of one aggregate the number 5 comes behind the last record that was looked at.
  records.erase(records.begin() + 80 + 7);
  const std::string text = report(records);
  EXPECT_EQ(stream_in(text).order, order::strict) << text;
  EXPECT_THAT(text, HasSubstr("no number is missing but 1 near the first and the last record"));
}

TEST(proposed_order, by_a_number_of_several_events_lets_the_later_one_win) {
  const auto stream_of = [](int share) {
    return report(made_of(
        240, [](int i) { return "k" + std::to_string(i % 12); },
        [share](int i) {
          return R"({"version":)" + std::to_string(i / 12 / share + 1) + R"(,"n":)" + std::to_string(i) + "}";
        }));
  };
  EXPECT_EQ(stream_in(stream_of(1)).ties, ties::usual);
  const std::string often = stream_of(2);
  EXPECT_EQ(stream_in(often).ties, ties::later) << often;
  EXPECT_THAT(often, HasSubstr("120 events share /version with another one of their aggregate"));
  auto records = made_of(
      240, [](int i) { return "k" + std::to_string(i % 12); },
      [](int i) {
        return R"({"version":)" + std::to_string((i == 131 ? i - 12 : i) / 12 + 1) + R"(,"n":)" +
               std::to_string(i) + "}";
      });
  const std::string seldom = report(numbered(std::move(records)));
  EXPECT_EQ(stream_in(seldom).ties, ties::usual) << seldom;
  EXPECT_THAT(seldom, HasSubstr("the sequence of 1 event is that of another one of the same aggregate: each "
                                "is rejected as a conflict"));
}

TEST(proposed_order, by_a_time_keeps_late_states_and_no_changes) {
  const auto stream_of = [](bool of_parts) {
    int i = 0;
    auto records = outbox({}, of_parts);
    for (sniffed_record& r : records) r.value->insert(1, R"("updatedAt":")" + moment_of(i++) + R"(",)");
    return report(disordered(records, 60));
  };
  const std::string states = stream_of(false);
  EXPECT_EQ(stream_in(states).order, order::latest) << states;
  EXPECT_EQ(stream_in(states).envelope.sequence_as, sequence_kind::time);
  EXPECT_EQ(stream_in(states).ties, ties::later);
  const std::string changes = stream_of(true);
  EXPECT_EQ(stream_in(changes).order, order::arrival) << changes;
  EXPECT_THAT(changes, HasSubstr(" events have an earlier time than an event of the same aggregate that came "
                                 "before, the first at orders.v1[2]@"));
  EXPECT_THAT(changes, HasSubstr(k_by_arrival));
  EXPECT_THAT(changes, HasSubstr("the producer must send a number that counts by 1"));
}

TEST(proposed_order, by_a_time_says_how_many_events_share_one) {
  const std::string text = report(disordered(
      made_of(
          240, [](int i) { return "c" + std::to_string(i % 12); },
          [](int i) {
            return R"({"event_id":")" + uuid_of(i) + R"(","updated_at":")" + moment_of(i / 24 * 24) + R"("})";
          }),
      100));
  EXPECT_EQ(stream_in(text).ties, ties::later) << text;
  EXPECT_THAT(text, HasSubstr("120 events share /updated_at with another one of their aggregate"));
}

TEST(proposed_order, without_anything_that_orders_is_said_to_be_that_of_arrival) {
  EXPECT_THAT(report(outbox({})), HasSubstr(k_by_arrival));
  const auto by_key = [](int i) { return "k" + std::to_string(i % 7); };
  const std::string with_ids =
      report(numbered(made_of(120, by_key, [](int i) { return R"({"eventId":")" + uuid_of(i) + "\"}"; })));
  EXPECT_EQ(stream_in(with_ids).order, order::arrival);
  EXPECT_THAT(with_ids, HasSubstr(k_by_arrival));
  const std::string none =
      report(numbered(made_of(120, by_key, [](int) { return std::string{R"({"name":"x"})"}; })));
  EXPECT_EQ(stream_in(none).envelope.sequence, "offset");
  EXPECT_THAT(none, HasSubstr(k_by_arrival));
}

/// As their attribute or in their data.
std::vector<sniffed_record> cloudevents(sniffed_record (*make)(int, const std::string&), bool as_attribute) {
  std::vector<sniffed_record> records;
  for (int i = 0; i < 120; ++i) {
    sniffed_record r = make(i, "");
    const std::string version = std::to_string(i / 10 + 1);
    std::erase_if(r.headers, [](const auto& h) { return h.first == "ce_sequence"; });
    std::string& value = *r.value;
    if (const auto at = value.find("\"sequence\":\"\","); at != std::string::npos) {
      value.replace(at, 14, as_attribute ? R"("aggregateversion":)" + version + "," : "");
    } else if (as_attribute) {
      r.headers.emplace_back("ce_aggregateversion", version);
    }
    if (!as_attribute) value.insert(value.find("\"balance\""), R"("version":)" + version + ",");
    records.push_back(std::move(r));
  }
  return numbered(std::move(records));
}

TEST(proposed_order, of_late_cloudevents_is_by_any_attribute) {
  for (const auto make : {structured, binary}) {
    const std::string text = report(disordered(cloudevents(make, true), 60));
    const stream_config s = stream_in(text);
    EXPECT_EQ(s.envelope.format, envelope_format::cloudevents) << text;
    EXPECT_EQ(s.envelope.sequence, "attribute:aggregateversion");
    EXPECT_EQ(s.envelope.sequence_as, sequence_kind::integer);
    EXPECT_EQ(s.order, order::latest);
  }
}

TEST(proposed_order, of_late_cloudevents_with_nothing_else_is_by_their_time) {
  for (const auto make : {structured, binary}) {
    std::vector<sniffed_record> records;
    for (int i = 0; i < 120; ++i) {
      sniffed_record r = make(i, "");
      std::erase_if(r.headers, [](const auto& h) { return h.first == "ce_sequence"; });
      if (const auto at = r.value->find("\"sequence\":\"\","); at != std::string::npos)
        r.value->replace(at, 14, R"("time":")" + moment_of(i) + R"(",)");
      else
        r.headers.emplace_back("ce_time", moment_of(i));
      records.push_back(std::move(r));
    }
    EXPECT_EQ(stream_in(report(numbered(records))).order, order::arrival) << "none is late";
    const std::string text = report(disordered(records, 60));
    const stream_config s = stream_in(text);
    EXPECT_EQ(s.envelope.sequence, "attribute:time") << text;
    EXPECT_EQ(s.envelope.sequence_as, sequence_kind::time);
    EXPECT_EQ(s.ties, ties::later);
    EXPECT_EQ(s.order, order::latest);
  }
}

TEST(proposed_order, of_late_cloudevents_reads_a_version_in_their_data_as_json) {
  const std::string of_values = report(disordered(cloudevents(structured, false), 60));
  const stream_config s = stream_in(of_values);
  EXPECT_EQ(s.envelope.format, envelope_format::json) << of_values;
  EXPECT_EQ(s.envelope.aggregate, "/subject");
  EXPECT_EQ(s.envelope.sequence, "/data/version");
  EXPECT_EQ(s.reducer.from, "/data");
  EXPECT_EQ(s.order, order::latest);
  const std::string of_headers = report(disordered(cloudevents(binary, false), 60));
  const stream_config h = stream_in(of_headers);
  EXPECT_EQ(h.envelope.aggregate, "header:ce_subject") << of_headers;
  EXPECT_EQ(h.envelope.sequence, "/version");
  EXPECT_EQ(h.reducer.from, "");
  auto both = cloudevents(structured, false);
  for (std::size_t i = 0; i < both.size(); i += 2) both[i] = cloudevents(binary, false)[i];
  const std::string mixed = report(disordered(both, 60));
  EXPECT_EQ(stream_in(mixed).envelope.format, envelope_format::cloudevents);
  EXPECT_THAT(mixed, HasSubstr(k_by_arrival));
}

TEST(proposed_order, says_of_few_records_how_many_there_were) {
  auto records = outbox({});
  records.resize(9);
  EXPECT_THAT(report(records), HasSubstr("there were only 9 records: look again when there are more"));
}

}  // namespace
}  // namespace ratchet::sniff
