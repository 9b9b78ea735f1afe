// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "streams/emitting_reducer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/reducers.hpp"
#include "ratchet/error.hpp"

namespace ratchet::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What is published of one event, as "topic key payload type".
struct emitted {
  outcome ended;
  std::vector<std::string> messages;
};

emitted emit(const std::vector<emit_config>& emits, std::string_view payload, std::string_view type = "paid",
             const reducer& wrapped = replace_reducer{}) {
  const reducer r = with_emits(wrapped, emits);
  state s;
  effects fx;
  event e;
  e.aggregate = "p1";
  e.type = type;
  e.payload = payload;
  emitted out{r.apply(e, s, fx), {}};
  for (const owned_output& o : fx.outputs()) {
    out.messages.push_back(o.topic + " " + o.key.value_or("-") + " " + o.payload.value_or("-") + " " +
                           o.type);
  }
  return out;
}

TEST(emitting_reducer, publishes_the_whole_payload_under_the_aggregate) {
  const auto done = emit({{.topic = "out"}}, R"({ "a": 1 })");
  EXPECT_EQ(done.ended.how, ending::done);
  EXPECT_THAT(done.messages, ElementsAre(R"(out p1 { "a": 1 } )"));
}

TEST(emitting_reducer, looks_at_the_type) {
  const std::vector<emit_config> emits{{.types = {"paid", "refunded"}, .topic = "money", .as = "moved"},
                                       {.topic = "all"}};
  EXPECT_THAT(emit(emits, "1").messages, ElementsAre("money p1 1 moved", "all p1 1 "));
  EXPECT_THAT(emit(emits, "1", "refunded").messages, ElementsAre("money p1 1 moved", "all p1 1 "));
  EXPECT_THAT(emit(emits, "1", "queued").messages, ElementsAre("all p1 1 "));
}

TEST(emitting_reducer, takes_key_and_payload_from_inside) {
  const std::string payload = R"({"customer":{"id":"c\u00e4\n1"},"amount":12.50,"list":[{"n":7}]})";
  EXPECT_THAT(emit({{.topic = "o", .key = "/customer/id", .payload = "/amount"}}, payload).messages,
              ElementsAre("o c\xc3\xa4\n1 12.50 "));
  EXPECT_THAT(emit({{.topic = "o", .key = "/list/0/n", .payload = "/customer"}}, payload).messages,
              ElementsAre(R"(o 7 {"id":"c\u00e4\n1"} )"));
  EXPECT_THAT(emit({{.topic = "o", .key = "none"}}, "[]").messages, ElementsAre("o - [] "));
}

TEST(emitting_reducer, gives_up_on_an_event_that_lacks_what_it_takes) {
  for (const char* payload : {R"({})", R"({"k":null})", R"({"k":1.5})", R"({"k":{}})", R"({"k":"\ud800"})",
                              R"({"k":"a","k":"b"})", "no json"}) {
    const auto done = emit({{.topic = "o", .key = "/k"}}, payload);
    EXPECT_EQ(done.ended.how, ending::give_up) << payload;
    EXPECT_EQ(done.ended.code, make_error_code(errc::output_lacking)) << payload;
  }
  EXPECT_EQ(emit({{.topic = "o", .payload = "/v"}}, R"({"w":1})").ended.how, ending::give_up);
  EXPECT_EQ(emit({{.topic = "o", .payload = "/v"}}, R"({"v":null})").messages.front(), "o p1 null ");
  EXPECT_EQ(emit({{.types = {"other"}, .topic = "o", .payload = "/v"}}, "{}").ended.how, ending::done)
      << "of another type nothing is taken";
}

TEST(emitting_reducer, names_the_rule_and_the_field_that_is_lacking) {
  const std::string lacks = make_error_code(errc::output_lacking).message() + ": ";
  EXPECT_EQ(emit({{.topic = "o", .key = "/k"}}, "{}").ended.text, lacks + "/k as the key of emit, to o");
  const std::vector<emit_config> two{{.topic = "o"}, {.topic = "sink:r", .key = "/k", .payload = "/v"}};
  EXPECT_EQ(emit(two, R"({"k":"x"})").ended.text, lacks + "/v as the payload of emit[1], to sink:r");
  EXPECT_EQ(emit(two, R"({"v":1})").ended.text, lacks + "/k as the key of emit[1], to sink:r");
  EXPECT_EQ(emit(two, "bytes").ended.text,
            lacks + "/k as the key of emit[1], to sink:r (the payload is not JSON)");
}

struct publishing_and_failing {
  static constexpr reducer_traits traits{.name = "own", .version = 4, .full_state = true};
  outcome apply(const event& e, state& s, effects& fx) const {
    s.assign(e.payload);
    fx.publish({.topic = "own"});
    return e.payload == "bad" ? retry(make_error_code(errc::internal)) : done();
  }
};

TEST(emitting_reducer, comes_behind_what_the_reducer_publishes_itself) {
  EXPECT_THAT(emit({{.topic = "o"}}, "1", "", publishing_and_failing{}).messages,
              ElementsAre("own - - ", "o p1 1 "));
  const auto failed = emit({{.topic = "o"}}, "bad", "", publishing_and_failing{});
  EXPECT_EQ(failed.ended.how, ending::retry);
  EXPECT_THAT(failed.messages, ElementsAre("own - - ")) << "which does not count";
}

TEST(emitting_reducer, has_the_name_of_the_wrapped_one_and_effects) {
  const reducer r = with_emits(replace_reducer{}, {{.topic = "o"}});
  EXPECT_EQ(r.traits().name, "replace") << "what is published is no part of the state's meaning";
  EXPECT_TRUE(r.traits().full_state);
  EXPECT_TRUE(r.traits().has_effects) << "so that no event is superseded unseen";
}

}  // namespace
}  // namespace ratchet::testing
