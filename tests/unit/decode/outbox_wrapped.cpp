// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What Debezium's outbox event router writes with other converters than its documentation shows: JSON in
// place of text for keys and headers, schemas, and payloads that are JSON within a string.
#include <gtest/gtest.h>

#include <string>

#include "unit/decode/support.hpp"

namespace ratchet {
namespace {

decoded read(const std::string& key, const std::optional<std::string>& value,
             const std::string& id = k_id_text, const std::string& type = "PaymentPaid") {
  return {outbox_rules(), {key, value, {{"id", id}, {"eventType", type}}, std::nullopt}};
}
std::string with_schema(const std::string& payload) {
  return R"({"schema":{"type":"string","optional":false},"payload":)" + payload + "}";
}

TEST(debezium_outbox, takes_keys_out_of_quotes_and_schemas) {
  for (const std::string& key : {std::string{"p-1001"}, std::string{"\"p-1001\""}, with_schema("\"p-1001\""),
                                 std::string{R"("p\u002d1001")"}}) {
    const decoded e = read(key, R"({"amount": 12})");
    ASSERT_EQ(e.verdict(), "event") << key;
    EXPECT_EQ(e->aggregate, "p-1001") << key;
  }
  EXPECT_EQ(read(with_schema("1001"), "{}")->aggregate, "1001");
  EXPECT_EQ(read("1001", "{}")->aggregate, "1001");
  for (const std::string as_it_is : {R"({"id":7})", R"("p)", R"({"schema":1})", R"("\ud800")"}) {
    EXPECT_EQ(read(as_it_is, "{}")->aggregate, as_it_is);
  }
}

TEST(debezium_outbox, takes_payloads_out_of_strings_and_schemas) {
  for (const std::string& value : {std::string{R"({"amount": 12})"}, std::string{R"("{\"amount\": 12}")"},
                                   with_schema(R"({"amount": 12})"), with_schema(R"("{\"amount\": 12}")")}) {
    const decoded e = read("p", value);
    ASSERT_EQ(e.verdict(), "event") << value;
    EXPECT_EQ(e->payload, R"({"amount": 12})") << value;
  }
  EXPECT_EQ(read("p", R"("[1]")")->payload, "[1]");
  EXPECT_EQ(read("p", R"("paid")")->payload, R"("paid")");
  EXPECT_EQ(read("p", with_schema(R"("paid")"))->payload, R"("paid")");
  EXPECT_EQ(read("p", with_schema("null")).verdict(), "tombstone");
  EXPECT_EQ(read("p", R"({"schema":"v1","amount":12})")->payload, R"({"schema":"v1","amount":12})");
  EXPECT_EQ(read("p", R"("{\"amount\": }")").verdict().substr(0, 12), "invalid_json");
  EXPECT_EQ(read("p", R"({"schema":)").verdict().substr(0, 12), "invalid_json");
}

TEST(debezium_outbox, takes_ids_and_types_out_of_quotes) {
  const decoded e = read("p", "{}", std::string{"\""} + k_id_text + "\"", with_schema("\"PaymentPaid\""));
  ASSERT_EQ(e.verdict(), "event");
  EXPECT_EQ(e->id, k_id);
  EXPECT_EQ(e->type, "PaymentPaid");
}

TEST(debezium_outbox, leaves_what_is_deleted_deleted) {
  EXPECT_EQ(read("\"p\"", std::nullopt).verdict(), "tombstone");
  EXPECT_EQ(read("\"p\"", std::nullopt)->aggregate, "p");
}

}  // namespace
}  // namespace ratchet
