// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "workload/workload_oracle.hpp"
#include "workload/workload_stream.hpp"
#include "workload/workload_text.hpp"

namespace ratchet {
namespace {

timestamp at(const char* text) {
  timestamp time{};
  EXPECT_TRUE(parse_rfc3339(text, time));
  return time;
}

workload_dials dials(std::uint64_t events = 20'000) {
  workload_dials d;
  d.events = events;
  d.aggregates = 1'000;
  d.delay = 500;
  d.malformed = 0.01;
  d.conflicts = 0.01;
  d.start = at("2026-01-01T00:00:00Z");
  return d;
}

std::vector<workload_record> all(const workload_dials& d) {
  auto stream = workload_stream::make(d).value();
  std::vector<workload_record> records;
  for (workload_record r; stream.next(r);) records.push_back(r);
  return records;
}

std::string text_of(const workload_dials& d) {
  auto stream = workload_stream::make(d).value();
  std::string text;
  for (workload_record r; stream.next(r); text += '\n') stream.render(r.event, text);
  return text;
}

std::size_t count(const std::vector<workload_record>& records, workload_kind kind) {
  std::size_t n = 0;
  for (const auto& r : records) n += r.kind == kind ? 1 : 0;
  return n;
}

TEST(workload_stream, gives_the_same_bytes_for_the_same_seed_and_others_for_another) {
  auto d = dials();
  const auto first = text_of(d);
  EXPECT_EQ(first, text_of(d));
  ++d.seed;
  EXPECT_NE(first, text_of(d));
}

TEST(workload_stream, withholds_each_first_event_until_all_others_came) {
  auto d = dials(1'000);
  d.withhold = true;
  d.aggregates = 50;
  d.zipf = d.malformed = d.conflicts = d.duplicates = d.late = 0;
  const auto records = all(d);
  ASSERT_EQ(records.size(), 1'000U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].event.number == 1, i >= 950) << i;
  }
}

TEST(workload_stream, introduces_all_payments_in_the_share_that_is_asked_for) {
  for (const double share : {0.1, 0.5, 1.0}) {
    auto d = dials(10'000);
    d.introduction = share;
    d.aggregates = 500;
    d.malformed = d.conflicts = d.duplicates = d.late = 0;
    std::set<std::uint32_t> introduced;
    std::size_t last = 0;
    const auto records = all(d);
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (introduced.insert(records[i].event.payment).second) last = i;
    }
    EXPECT_EQ(introduced.size(), d.aggregates) << share;
    EXPECT_NEAR(static_cast<double>(last), 10'000 * share, 25) << share;
  }
}

TEST(workload_stream, gives_exactly_as_many_records_as_asked_for_and_forgets_no_held_event) {
  for (std::uint64_t events = 1; events < 200; ++events) {
    auto d = dials(events);
    d.late = 0.9;
    d.aggregates = 5;
    const auto records = all(d);
    ASSERT_EQ(records.size(), events);
    std::map<std::uint32_t, std::set<std::uint64_t>> numbers;
    for (const auto& r : records) {
      if (r.kind != workload_kind::malformed) numbers[r.event.payment].insert(r.event.number);
    }
    for (const auto& [payment, seen] : numbers) {
      EXPECT_EQ(*seen.begin(), 1U) << payment;
      EXPECT_EQ(*seen.rbegin(), seen.size()) << payment;
    }
  }
}

TEST(workload_stream, keeps_to_the_shares_of_its_dials) {
  const auto records = all(dials(100'000));
  EXPECT_NEAR(static_cast<double>(count(records, workload_kind::repeat)), 20'000, 1'000);
  EXPECT_NEAR(static_cast<double>(count(records, workload_kind::malformed)), 1'000, 150);
  EXPECT_NEAR(static_cast<double>(count(records, workload_kind::conflict)), 1'000, 150);
  // A tenth of the new payments' events are late; each brings its successor with it: 78,000 / 11.
  EXPECT_NEAR(static_cast<double>(count(records, workload_kind::late)), 7'090, 500);
}

TEST(workload_stream, sends_late_events_after_a_newer_one_of_their_payment) {
  std::map<std::uint32_t, std::uint64_t> highest;
  std::size_t late = 0;
  for (const auto& r : all(dials())) {
    if (r.kind == workload_kind::malformed) continue;
    auto& last = highest[r.event.payment];
    if (r.kind == workload_kind::late) {
      ++late;
      EXPECT_LT(r.event.number, last);
    }
    EXPECT_TRUE(r.kind != workload_kind::fresh || r.event.number > last);
    last = std::max(last, r.event.number);
  }
  EXPECT_GT(late, 1'000U);
}

TEST(workload_stream, repeats_bytes_exactly_and_uses_no_id_twice_otherwise) {
  auto stream = workload_stream::make(dials()).value();
  std::map<event_id, std::string> sent;
  std::string value;
  for (workload_record r; stream.next(r);) {
    if (r.kind == workload_kind::malformed) continue;
    value.clear();
    stream.render(r.event, value);
    const auto [entry, fresh] = sent.try_emplace(r.event.id, value);
    EXPECT_EQ(fresh, r.kind != workload_kind::repeat);
    EXPECT_EQ(entry->second, value);
  }
}

TEST(workload_stream, gives_every_payment_an_event_and_some_many_more) {
  std::map<std::uint32_t, std::size_t> events;
  for (const auto& r : all(dials())) ++events[r.event.payment];
  EXPECT_EQ(events.size(), 1'000U);
  std::size_t most = 0;
  for (const auto& [payment, n] : events) most = std::max(most, n);
  EXPECT_GT(most, 200U);  // evenly it would be 20
}

TEST(workload_stream, moves_its_record_times_forward_and_keeps_ids_near_them) {
  timestamp last{};
  for (const auto& r : all(dials())) {
    EXPECT_GE(r.time, last);
    last = r.time;
    EXPECT_LE(r.event.id.time(), r.time);
    EXPECT_LT(r.time - r.event.id.time(), std::chrono::hours{1});
  }
  EXPECT_GE(last, at("2026-01-01T00:03:19.000Z"));  // 20,000 at 100 a second
}

TEST(workload_stream, writes_values_of_the_size_asked_for) {
  for (const std::uint32_t size : {420U, 2'000U}) {
    auto d = dials(1'000);
    d.malformed = 0;
    d.size = size;
    auto stream = workload_stream::make(d).value();
    for (workload_record r; stream.next(r);) {
      std::string value;
      stream.render(r.event, value);
      EXPECT_EQ(value.size(), size);
    }
  }
}

TEST(workload_stream, writes_the_events_fields_as_json_and_malformed_ones_so_that_no_event_can_be_read) {
  auto stream = workload_stream::make(dials()).value();
  simdjson::dom::parser parser;
  std::set<int> defects;
  for (workload_record r; stream.next(r);) {
    std::string value;
    std::string payment;
    std::string id;
    stream.render(r.event, value);
    stream.render_payment(r.event, payment);
    append_uuid(r.event.id, id);
    simdjson::dom::element doc;
    const bool json = parser.parse(value).get(doc) == simdjson::SUCCESS;
    std::string_view text;
    std::uint64_t number = 0;
    const bool readable = json && doc.at_pointer("/payment/id").get(text) == simdjson::SUCCESS &&
                          text == workload_stream::key(r.event) &&
                          doc.at_pointer("/sequence").get(number) == simdjson::SUCCESS &&
                          number == r.event.number && doc["id"].get(text) == simdjson::SUCCESS && text == id;
    EXPECT_EQ(readable, r.kind != workload_kind::malformed) << value;
    EXPECT_TRUE(!readable || value.ends_with(",\"payment\":" + payment + "}")) << value;
    defects.insert(r.event.defect);
  }
  EXPECT_EQ(defects, (std::set<int>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(workload_stream, refuses_dials_that_are_out_of_range) {
  const auto refused = [](auto change) {
    auto d = dials();
    change(d);
    const auto stream = workload_stream::make(d);
    return !stream && stream.error().code == errc::usage && !stream.error().message.empty();
  };
  EXPECT_TRUE(refused([](auto& d) { d.events = 0; }));
  EXPECT_TRUE(refused([](auto& d) { d.aggregates = 0; }));
  EXPECT_TRUE(refused([](auto& d) { d.duplicates = 1.1; }));
  EXPECT_TRUE(refused([](auto& d) { d.duplicates = -0.1; }));
  EXPECT_TRUE(refused([](auto& d) { d.malformed = 0.6; }));
  EXPECT_TRUE(refused([](auto& d) { d.delay = 0; }));
  EXPECT_TRUE(refused([](auto& d) { d.introduction = 0; }));
  EXPECT_TRUE(refused([](auto& d) { d.introduction = 1.1; }));
  EXPECT_TRUE(refused([](auto& d) { d.rate = 0; }));
  EXPECT_FALSE(refused([](auto& d) { d.zipf = 0; }));
}

TEST(workload_partition, is_the_one_of_kafkas_own_client) {
  // org.apache.kafka.common.utils.Utils.murmur2 of the same keys, from that class's own unit test.
  const auto murmur2 = [](std::string_view key) { return workload_partition(key, 0x80000000U); };
  EXPECT_EQ(murmur2("21"), static_cast<std::uint32_t>(-973932308) & 0x7fffffffU);
  EXPECT_EQ(murmur2("foobar"), static_cast<std::uint32_t>(-790332482) & 0x7fffffffU);
  EXPECT_EQ(murmur2("a-little-bit-long-string"), static_cast<std::uint32_t>(-985981536) & 0x7fffffffU);
  EXPECT_EQ(murmur2("abc"), 479470107U);
}

TEST(workload_text, reads_the_times_that_it_writes_and_nothing_else) {
  for (const char* text :
       {"2026-02-28T23:59:59.999Z", "1970-01-01T00:00:00.000Z", "2024-02-29T12:30:00.007Z"}) {
    std::string written;
    append_rfc3339(at(text), written);
    EXPECT_EQ(written, text);
  }
  timestamp time{};
  for (const char* text : {"", "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z",
                           "2026-01-01T00:00:00", "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00.1234Z"}) {
    EXPECT_FALSE(parse_rfc3339(text, time)) << text;
  }
}

}  // namespace
}  // namespace ratchet
