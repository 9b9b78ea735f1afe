// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode/time_text.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

/// Nothing is read from the value.
decode_rules header_rules() {
  decode_rules rules;
  rules.envelope.event_id = "header:id";
  rules.envelope.aggregate = "key";
  rules.envelope.sequence = "header:seq";
  rules.envelope.type = "header:type";
  rules.envelope.time = "header:time";
  return rules;
}

test_record full_record() {
  return {"p1",
          "{\"x\":1}",
          {{"id", k_id_text}, {"seq", "007"}, {"type", "paid"}, {"time", "2026-01-01T00:00:00Z"}},
          std::nullopt};
}

TEST(key_and_headers, give_every_field) {
  const decoded e{header_rules(), full_record()};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->id, k_id);
  EXPECT_EQ(e->aggregate, "p1");
  EXPECT_EQ(e->sequence, seq(7));
  EXPECT_EQ(e->type, "paid");
  EXPECT_EQ(to_rfc3339(*e->time), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(e->payload, "{\"x\":1}");
}

TEST(key_and_headers, give_time_as_text_or_milliseconds) {
  test_record r = full_record();
  r.headers[3].second = "1767225600123";
  const decoded e{header_rules(), r};
  EXPECT_EQ(to_rfc3339(*e->time), "2026-01-01T00:00:00.123Z");
}

TEST(key_and_headers, are_checked_as_the_value_is) {
  const auto verdict = [](auto change) {
    test_record r = full_record();
    change(r);
    return decoded{header_rules(), r}.verdict();
  };
  EXPECT_EQ(verdict([](test_record& r) { r.key.reset(); }), "null_key key@0");
  EXPECT_EQ(verdict([](test_record& r) { r.key = ""; }), "aggregate_size key@0");
  EXPECT_EQ(verdict([](test_record& r) { r.key = std::string(1024, 'x'); }), "event");
  EXPECT_EQ(verdict([](test_record& r) { r.key = std::string(1025, 'x'); }), "aggregate_size key@0");
  EXPECT_EQ(verdict([](test_record& r) { r.key = "p\xFF"; }), "invalid_utf8 key@1");
  EXPECT_EQ(verdict([](test_record& r) { r.key = "17.0"; }), "event");  // a key is text, not JSON
  EXPECT_EQ(verdict([](test_record& r) { r.headers[0].second = "x"; }), "id_invalid header:id@0");
  EXPECT_EQ(verdict([](test_record& r) { r.headers[0].second.reset(); }), "missing_field header:id@0");
  EXPECT_EQ(verdict([](test_record& r) { r.headers.erase(r.headers.begin()); }), "missing_field header:id@0");
  EXPECT_EQ(verdict([](test_record& r) { r.headers[0].first = "ID"; }), "event");  // in other letter case
  EXPECT_EQ(verdict([](test_record& r) { r.headers[1].second = "-1"; }), "sequence_invalid header:seq@0");
  EXPECT_EQ(verdict([](test_record& r) { r.headers[2].second = "\xFF"; }), "invalid_utf8 header:type@0");
  EXPECT_EQ(verdict([](test_record& r) { r.headers.erase(r.headers.begin() + 2); }), "event");
  using namespace std::string_literals;
  for (const auto& [at, name] : {std::pair{0U, "id"}, {1U, "seq"}, {2U, "type"}, {3U, "time"}}) {
    EXPECT_EQ(verdict([at = at](test_record& r) { r.headers[at].second = "\0\0\0\0\0\0\0A"s; }),
              "header_binary header:"s + name + "@0")
        << "a number of 8 bytes, as Axon writes them";
  }
  EXPECT_EQ(verdict([](test_record& r) { r.headers[3].second = "soon"; }), "time_invalid header:time@0");
  EXPECT_EQ(verdict([](test_record& r) {
              r.headers.push_back({"seq", "7"});
            }),
            "duplicate_header header:seq@0");
  EXPECT_EQ(verdict([](test_record& r) {
              r.headers.push_back({"seq", "007"});
            }),
            "event");  // it says the same
  EXPECT_EQ(verdict([](test_record& r) {
              r.headers.push_back({"type", std::nullopt});
            }),
            "duplicate_header header:type@0");
  EXPECT_EQ(verdict([](test_record& r) {
              r.headers.insert(r.headers.end(), {{"other", "1"}, {"other", "2"}});
            }),
            "event");
}

TEST(key_and_headers, leave_a_null_key_alone_where_nothing_is_taken_from_it) {
  decode_rules rules = header_rules();
  rules.envelope.aggregate = "header:type";
  test_record r = full_record();
  r.key.reset();
  EXPECT_EQ((decoded{rules, r}.verdict()), "event");
  rules.envelope.time = "key";
  EXPECT_EQ((decoded{rules, r}.verdict()), "null_key key@0");
}

TEST(key_and_headers, still_need_the_value_to_be_json) {
  test_record r = full_record();
  r.value = "x";
  EXPECT_EQ((decoded{header_rules(), r}.verdict()), "invalid_json @0");
}

TEST(bytes, are_taken_where_the_content_type_is_not_json_and_nothing_is_read_from_them) {
  decode_rules rules = header_rules();
  test_record r = full_record();
  r.value = "\xFF\x01 avro";
  r.headers.push_back({"Content-Type", "application/avro"});
  EXPECT_EQ((decoded{rules, r}.verdict()), "invalid_utf8 @0");
  rules.bytes_allowed = true;
  const decoded e{rules, r};
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->payload, "\xFF\x01 avro");
  r.headers.back().second = "application/json";
  EXPECT_EQ((decoded{rules, r}.verdict()), "invalid_utf8 @0");
  r.headers.pop_back();
  EXPECT_EQ((decoded{rules, r}.verdict()), "invalid_utf8 @0");
  r.headers.push_back({"content-type", "application/avro"});
  rules.envelope.type = "/type";
  EXPECT_EQ((decoded{rules, r}.verdict()), "invalid_utf8 @0");
}

TEST(tombstone, carries_key_and_headers_alone) {
  test_record r = full_record();
  r.value.reset();
  decode_rules rules = header_rules();
  rules.payload_from = "/payment";
  const decoded e{rules, r};
  ASSERT_EQ(e.verdict(), "tombstone");
  EXPECT_EQ(e->aggregate, "p1");
  EXPECT_EQ(e->id, k_id);
  EXPECT_EQ(e->sequence, seq(7));
  EXPECT_EQ(e->type, "paid");
  EXPECT_TRUE(e->time);
  EXPECT_EQ(e->payload, "");
  EXPECT_EQ(e->payload_hash, hash128{});
}

TEST(tombstone, is_malformed_where_what_it_needs_would_stand_in_the_value) {
  test_record r = full_record();
  r.value.reset();
  const auto verdict = [&](auto change) {
    decode_rules rules = header_rules();
    change(rules);
    return decoded{rules, r}.verdict();
  };
  EXPECT_EQ(verdict([](decode_rules& d) { d.envelope.event_id = "/id"; }), "null_value /id@0");
  EXPECT_EQ(verdict([](decode_rules& d) { d.envelope.aggregate = "/id"; }), "null_value /id@0");
  EXPECT_EQ(verdict([](decode_rules& d) { d.envelope.sequence = "/s"; }), "null_value /s@0");
  EXPECT_EQ(verdict([](decode_rules& d) { d.envelope.epoch = "/e"; }), "null_value /e@0");
  EXPECT_EQ(verdict([](decode_rules& d) { d.envelope.type = "/t"; }), "tombstone");
  EXPECT_EQ(verdict([](decode_rules& d) { d.envelope.time = "/t"; }), "tombstone");
  EXPECT_EQ(verdict([](decode_rules& d) { d.order = order::arrival, d.envelope.sequence.clear(); }),
            "tombstone");
  EXPECT_EQ(verdict([](decode_rules& d) { d.order = order::arrival, d.envelope.event_id = "/id"; }),
            "null_value /id@0");
  EXPECT_EQ(verdict([](decode_rules& d) { d.ids = id_kind::none, d.envelope.event_id = "/id"; }),
            "tombstone");
}

TEST(tombstone, is_malformed_without_its_header) {
  test_record r = full_record();
  r.value.reset();
  r.headers.erase(r.headers.begin() + 1);
  EXPECT_EQ((decoded{header_rules(), r}.verdict()), "missing_field header:seq@0");
}

TEST(decoder, keeps_the_order_of_a_batch_and_the_texts_of_all_its_events) {
  decode_rules rules;
  rules.order = order::arrival;
  rules.ids = id_kind::none;
  rules.envelope.aggregate = "/a";
  rules.envelope.type = "/t";
  std::vector<std::string> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back("{\"a\":\"\\u0061" + std::to_string(i) + "\",\"t\":\"\\n" +
                     std::string(i == 7 ? 200'000 : 30, 'x') + "\"}");
  }
  values[9] = "broken";
  std::vector<record> records(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) records[i].value = values[i];
  decoder d{rules};
  decoded_batch batch;
  for (int round = 0; round < 2; ++round) {
    d.decode(records, batch);
    ASSERT_EQ(batch.events.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(batch.events[i].from, &records[i]);
      if (i == 9) {
        EXPECT_EQ(batch.events[i].kind, decoded_kind::malformed);
        continue;
      }
      ASSERT_EQ(batch.events[i].aggregate, "a" + std::to_string(i));
      ASSERT_EQ(batch.events[i].type, "\n" + std::string(i == 7 ? 200'000 : 30, 'x'));
    }
  }
  d.decode({}, batch);
  EXPECT_TRUE(batch.events.empty());
}

TEST(decoder, may_be_moved) {
  decode_rules rules;
  rules.order = order::arrival;
  rules.ids = id_kind::none;
  rules.envelope.aggregate = "/a-pointer-too-long-for-a-short-string";
  decoder first{rules};
  decoder second{std::move(first)};
  record r;
  r.value = "{}";
  decoded_batch batch;
  decoded_batch other{std::move(batch)};
  second.decode({&r, 1}, batch);
  EXPECT_EQ(batch.events.at(0).malformed.pointer, "/a-pointer-too-long-for-a-short-string");
}

}  // namespace
}  // namespace ratchet
