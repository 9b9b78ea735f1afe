// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What a session tells others of records that were not handled: dead letters and rejections, behind the sync.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_publisher.hpp"
#include "support/session_world.hpp"

namespace ratchet::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Gives up on events of the aggregate "bad".
struct picky {
  static constexpr reducer_traits traits{
      .name = "picky", .version = 1, .full_state = true, .has_effects = false};
  outcome apply(const ratchet::event& e, state& s, effects&) const {
    if (e.aggregate == "bad") return give_up(make_error_code(errc::internal));
    s.assign(e.payload);
    return done();
  }
};

stream_config told() {
  stream_config s = payments();
  s.order = order::strict;
  s.dead_letter = "dlq";
  s.rejections = "answers";
  return s;
}

struct session_outbox : ::testing::Test {
  explicit session_outbox(stream_config stream = told())
      : w{{std::move(stream)}, reducers{}.add("payments", picky{})} {
    w.source.logs[at("dlq", 0)] = {};
    w.source.logs[at("answers", 0)] = {};
    w.source.held_at_join = {k_p0};
    w.source.logs[k_p0] = {};
    w.publish_to = &to;
  }
  [[nodiscard]] std::vector<std::string> topics() const {
    std::vector<std::string> out;
    for (const output_row& row : to.sent) out.push_back(row.topic);
    return out;
  }
  [[nodiscard]] static std::string header_of(const output_row& row, const std::string& name) {
    for (const auto& [known, value] : row.headers) {
      if (known == name) return value.value_or("null");
    }
    return "absent";
  }
  session_world w;
  fake_publisher to;
};

TEST_F(session_outbox, tells_of_a_rejected_record_and_answers_its_sender) {
  to.answers = true;
  w.source.produce(k_p0, "nonsense", w.clock.now());
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  ASSERT_THAT(topics(), ElementsAre("dlq", "answers"));
  const output_row& letter = to.sent[0];
  EXPECT_EQ(letter.value, "nonsense") << "as it came";
  EXPECT_EQ(letter.time, w.state_of(k_p0).highest_time);
  EXPECT_EQ(header_of(letter, "kafka_dlt-original-topic"), "t");
  EXPECT_EQ(header_of(letter, "kafka_dlt-original-partition"), std::string(4, '\0'));
  EXPECT_EQ(header_of(letter, "kafka_dlt-original-offset"), std::string(8, '\0'));
  EXPECT_EQ(header_of(letter, "kafka_dlt-original-timestamp-type"), "CreateTime");
  EXPECT_EQ(header_of(letter, "kafka_dlt-original-timestamp"), std::string("\0\0\x01\x8b\xcf\xe5\x68\0", 8));
  EXPECT_EQ(header_of(letter, "kafka_dlt-original-consumer-group"), "group-1");
  EXPECT_EQ(header_of(letter, "kafka_dlt-exception-fqcn"), "ratchet.rejected.malformed");
  EXPECT_EQ(header_of(letter, "kafka_dlt-exception-message"), "malformed: invalid_json, byte 1");
  const output_row& answer = to.sent[1];
  EXPECT_EQ(header_of(answer, "content-type"), "application/cloudevents+json; charset=UTF-8");
  EXPECT_THAT(*answer.value, HasSubstr(R"("specversion":"1.0")"));
  EXPECT_THAT(*answer.value, HasSubstr(R"("source":"/ratchet/group-1/payments")"));
  EXPECT_THAT(*answer.value, HasSubstr(R"("reason":"malformed")"));
  EXPECT_THAT(*answer.value, HasSubstr(R"("topic":"t","partition":0,"offset":0)"));
  EXPECT_NE(letter.id, answer.id);
  EXPECT_EQ(w.store.outbox().rows(), 0U) << "what was delivered is gone";
}

TEST_F(session_outbox, tells_of_a_dead_event_once) {
  to.answers = true;
  w.source.produce(k_p0, event("bad", 1));
  w.source.produce(k_p0, event("bad", 2));
  w.source.produce(k_p0, event("good", 1));
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  ASSERT_THAT(to.values(), ElementsAre(event("bad", 1))) << "the second only waits";
  EXPECT_EQ(header_of(to.sent[0], "kafka_dlt-exception-fqcn"), "ratchet.dead");
  EXPECT_EQ(header_of(to.sent[0], "ratchet-aggregate"), "bad");
  EXPECT_EQ(header_of(to.sent[0], "ratchet-attempts"), "1");
  w.source.produce(k_p0, event("bad", 3));
  w.stop = false;
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_THAT(to.values(), IsEmpty());
}

TEST_F(session_outbox, answers_with_what_is_known_of_the_event) {
  to.answers = true;
  w.source.produce(k_p0, event("a", 1));
  w.source.produce(k_p0, R"({"p":"a","n":1,"v":2})");
  w.source.produce(k_p0, R"({"p":"a","n":"x","v":2})");
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  ASSERT_THAT(topics(), ElementsAre("dlq", "answers", "dlq", "answers"));
  EXPECT_THAT(*to.sent[1].value, HasSubstr(R"("reason":"conflict")")) << "one number, two payloads, no ids";
  EXPECT_THAT(*to.sent[1].value, HasSubstr(R"("aggregate":"a","sequence":)"));
  EXPECT_THAT(*to.sent[3].value, HasSubstr(R"("event_id":null,"aggregate":null,"sequence":null)"));
  EXPECT_THAT(*to.sent[3].value, HasSubstr("sequence_invalid at /n"));
}

struct session_outbox_of_cloudevents : session_outbox {
  static stream_config cloudevents() {
    stream_config s = told();
    s.order = order::arrival;
    s.envelope = {};
    s.envelope.format = envelope_format::cloudevents;
    s.dedup.ids = id_kind::uuidv7;
    s.reducer.from = "";
    return s;
  }
  session_outbox_of_cloudevents() : session_outbox{cloudevents()} {}
};

TEST_F(session_outbox_of_cloudevents, answers_with_the_id_and_the_source_that_were_sent) {
  to.answers = true;
  // Time goes on, and then one comes that is older than the window.
  w.source.produce(k_p0,
                   R"({"specversion":"1.0","id":"018bcfe5-6800-7000-8000-000000000001","source":"/a",)"
                   R"("type":"t","subject":"p","data":1})",
                   timestamp{std::chrono::milliseconds{1'700'000'000'000}});
  w.source.produce(k_p0,
                   R"({"specversion":"1.0","id":"00000000-6800-7000-8000-000000000002","source":"/b",)"
                   R"("type":"t","subject":"p","data":2})",
                   timestamp{std::chrono::milliseconds{1'700'000'000'000}});
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  ASSERT_EQ(to.sent.size(), 2U);
  EXPECT_THAT(*to.sent[1].value, HasSubstr(R"("reason":"too_old")"));
  EXPECT_THAT(*to.sent[1].value, HasSubstr(R"("subject":"p")"));
  EXPECT_THAT(
      *to.sent[1].value,
      HasSubstr(R"("event_id":"00000000-6800-7000-8000-000000000002","source":"/b","aggregate":"p")"));
}

class session_outbox_of_opaque_ids : public session_outbox {
 protected:
  static stream_config opaque() {
    stream_config s = told();
    s.order = order::arrival;
    s.envelope = {};
    s.envelope.aggregate = "/a";
    s.envelope.event_id = "/id";
    s.dedup.ids = id_kind::opaque;
    s.reducer.from = "";
    return s;
  }
  session_outbox_of_opaque_ids() : session_outbox{opaque()} {}
};

TEST_F(session_outbox_of_opaque_ids, answers_with_the_id_as_it_was_sent) {
  to.answers = true;
  const auto sent_at = [](std::int64_t ms) { return timestamp{std::chrono::milliseconds{ms}}; };
  w.source.produce(k_p0, R"({"a":"p","id":"evt 1"})", sent_at(1'700'000'000'000));
  w.source.produce(k_p0, R"({"a":"p","id":"evt \u0032"})", sent_at(1'600'000'000'000));
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  ASSERT_EQ(to.sent.size(), 2U);
  EXPECT_THAT(*to.sent[1].value, HasSubstr(R"("reason":"too_old")"));
  EXPECT_THAT(*to.sent[1].value, HasSubstr(R"("event_id":"evt 2","aggregate":"p")"));
}

TEST_F(session_outbox, sends_nothing_that_a_power_cut_can_take_back) {
  to.answers = true;
  w.store.holds_syncs = true;
  w.source.produce(k_p0, "nonsense");
  w.source.script.push_back([&] {
    EXPECT_THAT(to.values(), IsEmpty());
    EXPECT_EQ(w.store.outbox().rows(), 2U);
    w.store.holds_syncs = false;
  });
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(to.sent.size(), 2U);
}

TEST_F(session_outbox, sends_again_what_was_not_acknowledged_with_the_same_id_and_bytes) {
  w.source.produce(k_p0, "nonsense");
  to.on_wait = [&] { w.clock.advance(std::chrono::seconds{1}); };
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_THAT(w.logged(), HasSubstr("2 messages of the outbox not sent yet; the next start sends them"));
  ASSERT_EQ(to.sent.size(), 2U);
  const std::vector<output_row> first = to.sent;
  to.sent.clear();
  to.under_way.clear();
  to.answers = true;
  w.stop = false;
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  EXPECT_EQ(to.sent, first);
  EXPECT_EQ(w.store.outbox().rows(), 0U);
}

TEST_F(session_outbox, keeps_nobody_waiting_who_stops_it_while_nothing_gets_through) {
  w.source.produce(k_p0, "nonsense");
  w.source.script.push_back([&] { w.clock.advance(std::chrono::seconds{3}); });
  std::chrono::milliseconds waited{0};
  to.on_wait = [&] {
    w.clock.advance(std::chrono::milliseconds{50});
    waited += std::chrono::milliseconds{50};
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_LE(waited, std::chrono::milliseconds{600});
  EXPECT_THAT(w.logged(), HasSubstr("2 messages of the outbox not sent yet; the next start sends them"));
}

/// Its client needs some time before it can send.
TEST_F(session_outbox, that_is_stopped_behind_its_start_waits_for_the_first_message) {
  w.source.produce(k_p0, "nonsense");
  std::chrono::milliseconds waited{0};
  to.on_wait = [&] {
    w.clock.advance(std::chrono::milliseconds{50});
    waited += std::chrono::milliseconds{50};
    if (waited == std::chrono::milliseconds{1'500}) to.end_all(delivery::how::done);
  };
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.store.outbox().rows(), 0U);
}

TEST_F(session_outbox, says_why_messages_do_not_get_through_for_as_long_as_they_do_not) {
  w.source.produce(k_p0, "nonsense");
  w.source.script.push_back([&] { to.end_all(delivery::how::again); });
  w.source.script.push_back([&] {
    EXPECT_THAT(w.status.snapshot().outbox_trouble, HasSubstr("` takes no messages: because"));
    EXPECT_TRUE(w.status.snapshot().ready) << "records are handled on";
    w.clock.advance(std::chrono::seconds{1});
    to.answers = true;
  });
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_EQ(w.store.outbox().rows(), 0U);
  EXPECT_EQ(w.status.snapshot().outbox_trouble, "");
}

TEST_F(session_outbox, reads_no_more_while_too_much_waits_to_be_sent) {
  w.settings.outbox.bytes = 2000;
  w.source.most_per_poll = 1;
  for (int n = 0; n < 20; ++n) w.source.produce(k_p0, "nonsense" + std::to_string(n));
  bool was_full = false;
  w.source.script.push_back([&] {
    EXPECT_LT(w.state_of(k_p0).next_offset, 20);
    const std::uint64_t bytes = w.store.outbox().bytes;
    was_full = bytes > 2000;
    const std::uint64_t of_one = bytes / static_cast<std::uint64_t>(w.state_of(k_p0).next_offset);
    EXPECT_LE(bytes, 2000 + of_one + 16) << "what was fetched before it was full waits as well";
    EXPECT_FALSE(w.status.snapshot().ready);
    EXPECT_THAT(w.status.snapshot().ready_reason, HasSubstr("outbox.bytes"));
    to.answers = true;
    to.end_all();
  });
  ASSERT_EQ(w.run().end, session_end::drained);
  EXPECT_TRUE(was_full);
  EXPECT_EQ(w.state_of(k_p0).next_offset, 20) << "and goes on behind that";
  EXPECT_TRUE(w.live_at_stop.ready);
  EXPECT_EQ(to.sent.size(), 40U);
}

TEST_F(session_outbox, keeps_an_audit_row_of_what_nobody_takes) {
  w.source.produce(k_p0, "nonsense");
  int waits = 0;
  to.on_wait = [&] {
    if (++waits > 20) w.clock.advance(std::chrono::seconds{1});
    to.end_all(delivery::how::refused);
  };
  ASSERT_EQ(w.run_until_end().end, session_end::caught_up);
  const auto audits = w.store.audits();
  ASSERT_EQ(std::count_if(audits.begin(), audits.end(),
                          [](const audit_row& row) { return row.kind == "output_given_up"; }),
            2);
  EXPECT_THAT(audits.back().text, HasSubstr("because"));
  EXPECT_EQ(w.store.outbox().rows(), 0U);
  EXPECT_EQ(w.logged("does not take the"), 1U) << "what an outage repeats is said once in ten seconds";
}

TEST_F(session_outbox, refuses_to_start_where_a_topic_is_missing) {
  w.source.logs.erase(at("dlq", 0));
  w.source.logs.erase(at("answers", 0));
  const session_result ended = w.run_until_end();
  EXPECT_EQ(ended.end, session_end::refused);
  EXPECT_EQ(ended.why->code, make_error_code(errc::topic_missing));
  EXPECT_THAT(ended.why->hint, HasSubstr("dead_letter"));
  EXPECT_THAT(ended.why->hint, HasSubstr("--create --topic answers && kafka-topics.sh"));
  EXPECT_THAT(ended.why->hint, HasSubstr("--create --topic dlq"));
}

}  // namespace
}  // namespace ratchet::testing
