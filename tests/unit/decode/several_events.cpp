// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Records that hold several events: arrays inside of a value, arrays that are it, lines, and CloudEvents'
// batches.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "decode/record_splitter.hpp"
#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

using headers = std::vector<std::pair<std::string, std::optional<std::string>>>;

decode_rules list_rules(each_kind kind = each_kind::array, std::string pointer = "/records") {
  decode_rules rules = plain_rules();
  rules.envelope.each = {kind, std::move(pointer)};
  rules.bytes_allowed = true;
  return rules;
}

std::string word_of(const decoded_event& e) {
  switch (e.kind) {
    case decoded_kind::event:
      return std::string{e.aggregate} + "/" + std::to_string(e.sequence.number);
    case decoded_kind::tombstone:
      return "-" + std::string{e.aggregate};
    case decoded_kind::ignored:
      return "ignored";
    case decoded_kind::malformed:
      break;
  }
  return std::string{name_of(e.malformed.reason)} + " " + std::string{e.malformed.pointer} + "@" +
         std::to_string(e.malformed.byte_offset);
}

/// Decodes records of one partition.
class decoded_all {
 public:
  decoded_all(const decode_rules& rules, std::vector<test_record> sources)
      : sources_{std::move(sources)}, decoder_{rules}, headers_(sources_.size()) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      record& r = records_.emplace_back();
      r.where = &where_;
      r.offset = static_cast<std::int64_t>(i);
      r.time = sources_[i].time;
      if (sources_[i].key) r.key = *sources_[i].key;
      if (sources_[i].value) r.value = *sources_[i].value;
      for (const auto& [name, value] : sources_[i].headers)
        headers_[i].push_back({name, value ? std::optional<std::string_view>{*value} : std::nullopt});
      r.headers = headers_[i];
    }
    taken_ = decoder_.decode(records_, batch_);
  }
  decoded_all(const decode_rules& rules, const std::string& value)
      : decoded_all{rules, std::vector<test_record>{{std::nullopt, value, {}, std::nullopt}}} {}

  [[nodiscard]] const std::vector<decoded_event>& events() const { return batch_.events; }
  [[nodiscard]] std::string words() const {
    std::string text;
    for (const decoded_event& e : batch_.events) text += (text.empty() ? "" : ", ") + word_of(e);
    return text;
  }
  std::size_t again(std::size_t from, std::size_t most) {
    return decoder_.decode(std::span<const record>{records_}.subspan(from), batch_, most);
  }
  [[nodiscard]] const record& whole(std::size_t i) const { return records_.at(i); }
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  topic_partition where_{"t", partition_id{0}};
  std::vector<test_record> sources_;
  decoder decoder_;
  std::vector<std::vector<header>> headers_;
  std::vector<record> records_;
  decoded_batch batch_;
  std::size_t taken_{0};
};

std::string words(const decode_rules& rules, const std::string& value) {
  return decoded_all{rules, value}.words();
}

const std::string k_two = R"({"records":[{"a":"x","s":1}, {"a":"y","s":2} ],"n":2})";

TEST(several_events, are_the_elements_of_an_array_each_with_a_place_of_its_own) {
  const decoded_all all{list_rules(), {{"k", k_two, {{"h", "v"}}, timestamp{std::chrono::milliseconds{5}}}}};
  ASSERT_EQ(all.words(), "x/1, y/2");
  ASSERT_EQ(all.taken(), 1U);
  const record& first = *all.events()[0].from;
  const record& second = *all.events()[1].from;
  EXPECT_EQ(first.index, 0U);
  EXPECT_TRUE(first.more);
  EXPECT_EQ(second.index, 1U);
  EXPECT_FALSE(second.more);
  EXPECT_EQ(second.value, R"({"a":"y","s":2})");
  EXPECT_EQ(all.events()[1].payload, R"({"a":"y","s":2})");
  EXPECT_EQ(second.key, "k");
  EXPECT_EQ(second.offset, 0);
  ASSERT_EQ(second.headers.size(), 1U);
  EXPECT_EQ(all.events()[1].record_time, timestamp{std::chrono::milliseconds{5}});
  EXPECT_EQ(&whole_of(second), &all.whole(0));
}

TEST(several_events, are_each_kept_as_a_record_that_holds_it_alone) {
  const decoded_all all{list_rules(), k_two};
  ASSERT_EQ(all.events().size(), 2U);
  EXPECT_EQ(value_alone(*all.events()[1].from), R"({"records":[{"a":"y","s":2}],"n":2})");
  const std::string much =
      R"({"records":[{"a":"x","s":1},{"a":"y","s":2}],"n":")" + std::string(20'000, 'z') + "\"}";
  const decoded_all with_much{list_rules(), much};
  ASSERT_EQ(with_much.events().size(), 2U);
  EXPECT_EQ(value_alone(*with_much.events()[1].from), R"({"records":[{"a":"y","s":2}]})")
      << "what stands beside the list is long, and would be kept with each of them";
  const decoded_all lines{list_rules(each_kind::lines, {}), "{\"a\":\"x\",\"s\":1}\n{\"a\":\"y\",\"s\":2}"};
  ASSERT_EQ(lines.events().size(), 2U);
  EXPECT_EQ(value_alone(*lines.events()[1].from), R"({"a":"y","s":2})");
  const decoded_all whole{list_rules(), "{"};
  ASSERT_EQ(whole.events().size(), 1U);
  EXPECT_EQ(value_alone(*whole.events()[0].from), "{");
  decode_rules odd = list_rules(each_kind::array, "/a~1\"\n/b");
  const decoded_all named{
      odd, "{\"a/\\\"\\n\":{\"b\":[{\"a\":\"x\",\"s\":1}]},\"n\":\"" + std::string(20'000, 'z') + "\"}"};
  ASSERT_EQ(named.words(), "x/1");
  EXPECT_EQ(value_alone(*named.events()[0].from), "{\"a/\\\"\\u000a\":{\"b\":[{\"a\":\"x\",\"s\":1}]}}");
}

TEST(several_events, come_of_values_that_are_arrays) {
  const decode_rules rules = list_rules(each_kind::array, {});
  EXPECT_EQ(words(rules, R"( [ {"a":"x","s":1},{"a":"y","s":2}] )"), "x/1, y/2");
  EXPECT_EQ(words(rules, "[]"), "ignored");
  EXPECT_EQ(words(rules, " [ ] "), "ignored");
  EXPECT_EQ(words(rules, R"({"a":"x","s":1})"), "wrong_type @0");
  EXPECT_EQ(words(rules, "null"), "null_value @0");
}

TEST(several_events, come_of_lines) {
  const decode_rules rules = list_rules(each_kind::lines, {});
  EXPECT_EQ(words(rules, "{\"a\":\"x\",\"s\":1}\r\n\n \t\n{\"a\":\"y\",\"s\":2}\r\n"), "x/1, y/2");
  EXPECT_EQ(words(rules, "{\"a\":\"x\",\"s\":1}"), "x/1");
  EXPECT_EQ(words(rules, "\n \r\n"), "ignored");
  EXPECT_EQ(words(rules, ""), "empty_value @0");
  EXPECT_EQ(words(rules, "{\"a\":\"x\",\"s\":1}\n{\"a\":\nnull\n{\"a\":\"y\",\"s\":2}"),
            "x/1, invalid_json @5, null_value @0, y/2")
      << "each line stands for itself";
  const decoded_all all{rules, " {\"a\":\"x\",\"s\":1} \r\n"};
  ASSERT_EQ(all.events().size(), 1U);
  EXPECT_EQ(all.events()[0].payload, R"({"a":"x","s":1})");
}

TEST(several_events, are_one_malformed_event_where_the_record_is_no_list) {
  const decode_rules rules = list_rules();
  EXPECT_EQ(words(rules, "{}"), "missing_field /records@0");
  EXPECT_EQ(words(rules, R"({"records":null})"), "missing_field /records@11");
  EXPECT_EQ(words(rules, R"({"records":{"0":1}})"), "wrong_type /records@11");
  EXPECT_EQ(words(rules, R"({"records":[],"records":[]})"), "duplicate_field /records@14");
  EXPECT_EQ(words(rules, "7"), "missing_field /records@0");
  EXPECT_EQ(words(rules, "null"), "null_value @0");
  EXPECT_EQ(words(rules, ""), "empty_value @0");
  EXPECT_EQ(words(rules, "x"), "invalid_json @0");
  const decoded_all null{rules, {{"k", std::nullopt, {}, std::nullopt}}};
  EXPECT_EQ(null.words(), "null_value /a@0");
}

TEST(several_events, are_none_where_any_byte_of_their_record_is_no_json) {
  const decode_rules rules = list_rules();
  const auto in_list = [&](const std::string& list) { return words(rules, R"({"records":[)" + list + "]}"); };
  const std::string good = R"({"a":"x","s":1})";  // 15 bytes, from byte 12 on
  EXPECT_EQ(in_list(good + ",{\"a\":}"), "invalid_json @33");
  EXPECT_EQ(in_list("{\"a\":}," + good), "invalid_json @17");
  EXPECT_EQ(in_list(good + ","), "invalid_json @28");
  EXPECT_EQ(in_list("," + good), "invalid_json @12");
  EXPECT_EQ(in_list(good + good), "invalid_json @27");
  EXPECT_EQ(in_list("{\"a\":1]"), "invalid_json @18") << "brackets of two kinds";
  EXPECT_EQ(in_list("tru"), "invalid_json @15");
  EXPECT_EQ(in_list("1 2"), "invalid_json @14");
  EXPECT_EQ(in_list("{\"a\":\"\xFF\"}"), "invalid_utf8 @18");
  EXPECT_EQ(in_list(std::string{"\0\0\0\0\1", 5} + good), "invalid_json @12") << "no frame stands in a list";
  EXPECT_EQ(in_list("\xEF\xBB\xBF" + good), "invalid_json @12");
  EXPECT_EQ(words(rules, R"({"records":[{"a":"x","s":1}])"), "invalid_json @28");
  EXPECT_EQ(words(rules, R"({"records":[{"a":"x","s":1}],)"), "invalid_json @29");
  EXPECT_EQ(words(rules, R"({"records":[{"a":"x","s":1)"), "invalid_json @26");
  EXPECT_EQ(words(rules, "{\"records\":[],\"n\":\"\xFF\"}"), "invalid_utf8 @19");
  EXPECT_EQ(in_list(std::string(1001, '[') + std::string(1001, ']')), "too_deep @1010");
  EXPECT_EQ(in_list(good + "," + std::string(999, '[') + std::string(999, ']')), "x/1, missing_field /a@0")
      << "what lies around an event is no part of its depth";
}

/// Wherever the bytes lie in the blocks in which the value is searched.
TEST(several_events, of_a_record_that_is_no_json_are_none_before_its_list_is_judged) {
  for (std::size_t spaces = 0; spaces < 80; ++spaces) {
    const std::string before = std::string(spaces, ' ') + R"({"records":[{"a":")";
    const std::string place = std::to_string(before.size());
    EXPECT_EQ(words(list_rules(), before + "\xFF" + R"("}],"records":7})"), "invalid_utf8 @" + place);
    EXPECT_EQ(words(list_rules(), before + "\xFF" + R"("}],"records":[]})"), "invalid_utf8 @" + place);
  }
}

TEST(several_events, are_rejected_one_by_one) {
  EXPECT_EQ(
      words(list_rules(), R"({"records":[{"a":"x","s":1},{"a":"y"},7,null,[],"t",{"a":"z","s":3}]})"),
      "x/1, missing_field /s@0, missing_field /a@0, null_value @0, missing_field /a@0, missing_field /a@0, "
      "z/3");
}

TEST(several_events, have_fields_that_stand_beside_their_list) {
  decode_rules rules = list_rules();
  rules.envelope.aggregate = "record:/account/id";
  rules.envelope.time = "record:/at";
  rules.envelope.type = "record:/kind";
  const std::string list = R"("records":[{"s":1},{"s":2}])";
  const decoded_all all{rules, R"({"account":{"id":"\u0061b"},"at":7,)" + list + R"(,"kind":"paid"})"};
  ASSERT_EQ(all.words(), "ab/1, ab/2");
  EXPECT_EQ(all.events()[1].time, timestamp{std::chrono::milliseconds{7}});
  EXPECT_EQ(all.events()[1].type, "paid");
  EXPECT_EQ(words(rules, "{" + list + R"(,"account":{}})"),
            "missing_field record:/account/id@39, missing_field record:/account/id@39");
  EXPECT_EQ(words(rules, "{" + list + R"(,"account":{"id":[]}})"),
            "wrong_type record:/account/id@45, wrong_type record:/account/id@45");
  EXPECT_EQ(words(rules, R"({"account":{"id":"a"},"account":{"id":"b"},)" + list + "}"),
            "duplicate_field record:/account/id@22, duplicate_field record:/account/id@22");
  EXPECT_EQ(words(rules, R"({"account":{"id":"\ud800"},)" + list + "}"),
            "lone_surrogate record:/account/id@18, lone_surrogate record:/account/id@18");
  const decoded_all null{rules, {{"k", std::nullopt, {}, std::nullopt}}};
  EXPECT_EQ(null.words(), "null_value record:/account/id@0");
  rules.envelope.aggregate_more = {"/s"};
  EXPECT_EQ(words(rules, R"({"account":{"id":"a"},)" + list + "}"), "a/1/1, a/2/2");
}

TEST(several_events, are_none_of_the_streams_where_the_type_of_the_record_says_so) {
  decode_rules rules = list_rules();
  rules.types = {"paid"};
  rules.envelope.type = "header:type";
  EXPECT_EQ((decoded_all{rules, {{{}, "{\"alive\":true}", {{"type", "heartbeat"}}, {}}}}.words()), "ignored");
  EXPECT_EQ((decoded_all{rules, {{{}, "{\"alive\":true}", {{"type", "paid"}}, {}}}}.words()),
            "missing_field /records@0");
  EXPECT_EQ((decoded_all{rules, {{{}, k_two, {{"type", "heartbeat"}}, {}}}}.words()), "ignored, ignored");
  EXPECT_EQ((decoded_all{rules, {{{}, "x", {{"type", "heartbeat"}}, {}}}}.words()), "invalid_json @0");
  rules.envelope.type = "record:/type";
  EXPECT_EQ(words(rules, R"({"type":"heartbeat"})"), "ignored");
  EXPECT_EQ(words(rules, R"({"type":"paid"})"), "missing_field /records@0");
  rules.envelope.type = "/type";
  EXPECT_EQ(words(rules, R"({"records":[{"type":"paid","a":"x","s":1},{"type":"tick"}]})"), "x/1, ignored");
  EXPECT_EQ(words(rules, R"({"type":"heartbeat"})"), "missing_field /records@0") << "that is no event's type";
}

TEST(several_events, lie_behind_the_frame_of_a_schema_registry) {
  const std::string frame{"\0\0\0\0\7", 5};
  EXPECT_EQ(words(list_rules(), frame + k_two), "x/1, y/2");
  EXPECT_EQ(words(list_rules(each_kind::lines, {}), frame + "{\"a\":\"x\",\"s\":1}\n{\"a\":\"y\",\"s\":2}"),
            "x/1, y/2");
  EXPECT_EQ(words(list_rules(), frame + R"({"n":1})"), "missing_field /records@5");
  EXPECT_EQ(
      words(list_rules(each_kind::lines, {}), "{\"a\":\"x\",\"s\":1}\n" + frame + "{\"a\":\"y\",\"s\":2}"),
      "x/1, invalid_json @0")
      << "a record has one, and its events have none";
  EXPECT_EQ(words(list_rules(), frame + "\x02\x01"), "avro @0");
  const decoded_all all{list_rules(), frame + k_two};
  ASSERT_EQ(all.events().size(), 2U);
  EXPECT_EQ(value_alone(*all.events()[0].from), frame + R"({"records":[{"a":"x","s":1}],"n":2})");
}

TEST(several_events, are_json_whatever_a_header_says) {
  decode_rules rules = list_rules();
  rules.envelope.aggregate = "key";
  rules.envelope.sequence = "offset";
  const decoded_all all{rules, {{"k", R"({"records":[1,{"a":}]})", {{"content-type", "text/plain"}}, {}}}};
  EXPECT_EQ(all.words(), "invalid_json @19");
}

TEST(several_events, of_one_record_are_bounded) {
  const auto ones = [](std::size_t count) {
    std::string text = R"({"records":[1)";
    for (std::size_t i = 1; i < count; ++i) text += ",1";
    return text + "]}";
  };
  EXPECT_EQ((decoded_all{list_rules(), ones(k_most_events_of_record)}.events().size()),
            k_most_events_of_record);
  EXPECT_EQ(words(list_rules(), ones(k_most_events_of_record + 1)), "too_many_events /records@100012");
  std::string lines;
  for (std::size_t i = 0; i < k_most_events_of_record; ++i) lines += "1\n";
  const decode_rules by_line = list_rules(each_kind::lines, {});
  EXPECT_EQ((decoded_all{by_line, lines + "\n"}.events().size()), k_most_events_of_record);
  EXPECT_EQ(words(by_line, lines + "1"), "too_many_events @100000");
}

TEST(several_events, of_one_record_repeat_its_key_and_headers_up_to_a_bound) {
  const auto decoded = [](std::size_t events, std::size_t key) {
    std::string text = R"({"records":[1)";
    for (std::size_t i = 1; i < events; ++i) text += ",1";
    const std::string long_key(key, 'k');
    return decoded_all{list_rules(), {{long_key, text + "]}", {}, {}}}}.events().size();
  };
  EXPECT_EQ(decoded(1'000, 32'000), 1'000U);
  EXPECT_EQ(decoded(4'000, 420'000), 1U) << "the record as a whole is rejected";
  EXPECT_EQ(decoded(40'000, 420'000), 1U);
  EXPECT_EQ(decoded(40'000, 36), 40'000U);
  EXPECT_EQ(decoded(1, 40'000'000), 1U);
}

TEST(several_events, are_decoded_up_to_a_number_and_then_the_rest) {
  const auto r = [](const std::string& value) { return test_record{std::nullopt, value, {}, std::nullopt}; };
  decoded_all all{list_rules(), {r(k_two), r("{}"), r(k_two), r(k_two)}};
  ASSERT_EQ(all.taken(), 4U);
  EXPECT_EQ(all.words(), "x/1, y/2, missing_field /records@0, x/1, y/2, x/1, y/2");
  EXPECT_EQ(all.again(0, 1), 1U) << "a record is never cut";
  EXPECT_EQ(all.words(), "x/1, y/2");
  EXPECT_EQ(all.again(1, 2), 2U);
  EXPECT_EQ(all.words(), "missing_field /records@0, x/1, y/2");
  EXPECT_EQ(all.again(3, 2), 1U);
  EXPECT_EQ(all.words(), "x/1, y/2");
  EXPECT_EQ(all.again(4, 2), 0U);
  EXPECT_TRUE(all.events().empty());
}

std::string cloud_event(const std::string& subject, int sequence) {
  return R"({"specversion":"1.0","type":"t","source":"s","id":")" + subject + R"(","subject":")" + subject +
         R"(","sequence":")" + std::to_string(sequence) + R"(","data":{}})";
}

TEST(several_events, are_a_batch_of_cloudevents) {
  decode_rules rules;
  rules.envelope.format = envelope_format::cloudevents;
  rules.envelope.sequence_as = sequence_kind::integer;
  rules.ids = id_kind::opaque;
  const std::string batch = "[" + cloud_event("x", 1) + "," + cloud_event("y", 2) + "]";
  const auto of_type = [&](const char* type, const std::string& value) {
    return decoded_all{rules, {{{}, value, {{"content-type", type}}, {}}}}.words();
  };
  EXPECT_EQ(of_type("application/cloudevents-batch+json", batch), "x/1, y/2");
  EXPECT_EQ(of_type("Application/CloudEvents-Batch+JSON; charset=utf-8", "\n" + batch), "x/1, y/2");
  EXPECT_EQ(of_type("application/cloudevents-batch+json", "[]"), "ignored");
  EXPECT_EQ(of_type("application/cloudevents-batch+json", "[{}]"), "missing_field /specversion@0");
  EXPECT_EQ(of_type("application/cloudevents-batch+json", "[{]"), "invalid_json @2");
  EXPECT_EQ(of_type("application/cloudevents-batch+json", cloud_event("x", 1)),
            "event_format header:content-type@0");
  EXPECT_EQ(of_type("application/cloudevents-batch+avro", batch), "event_format header:content-type@0");
  EXPECT_EQ(of_type("application/cloudevents+json", batch), "missing_field /specversion@0");
  EXPECT_EQ(words(rules, batch), "x/1, y/2") << "no event is an array: a line of a file";
  const headers binary{{"ce_specversion", "1.0"}, {"ce_type", "t"},    {"ce_source", "s"}, {"ce_id", "i"},
                       {"ce_subject", "z"},       {"ce_sequence", "3"}};
  EXPECT_EQ((decoded_all{rules, {{{}, "[1,2]", binary, {}}}}.words()), "z/3") << "the data of one event";
  const decoded_all all{rules, {{{}, batch, {{"content-type", "application/cloudevents-batch+json"}}, {}}}};
  ASSERT_EQ(all.events().size(), 2U);
  EXPECT_EQ(value_alone(*all.events()[1].from), "[" + cloud_event("y", 2) + "]");
}

/// Null is a value beside the list, too.
TEST(several_events, may_be_deleted_by_a_null_beside_them) {
  decode_rules rules = list_rules();
  rules.envelope.deletes = {{}, "record:/after", {"null"}};
  EXPECT_EQ(words(rules, R"({"after":null,"records":[{"a":"x","s":1}]})"), "-x");
  EXPECT_EQ(words(rules, R"({"after":{},"records":[{"a":"x","s":1}]})"), "x/1");
  EXPECT_EQ(words(rules, R"({"records":[{"a":"x","s":1}]})"), "x/1");
}

}  // namespace
}  // namespace ratchet
