// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/slot_report.hpp"
#include "reports/status_report.hpp"
#include "support/slot_statuses.hpp"

namespace ratchet {
namespace {

using ::testing::HasSubstr;
using testing::k_noon;
using ::testing::Not;
using testing::status_of_owner;
using testing::status_of_standby;

std::string slot_json(const slot_status& s) {
  json_writer json;
  write_slot(json, s);
  return json.take();
}

std::string slot_text(const slot_status& s) {
  std::string text;
  append_slot(text, s);
  return text;
}

status_report live_report(slot_status s) {
  status_report report;
  report.source = report_source::instance;
  report.live.ready = true;
  report.live.started_at = k_noon;
  report.live.slot = std::move(s);
  return report;
}

TEST(slot_json, of_an_owner_has_its_bases_and_what_is_pending) {
  EXPECT_EQ(
      slot_json(status_of_owner()),
      R"({"log":"payments.ratchet","instance":"ratchet-0","advertise":"ratchet-0:9187","role":"owner",)"
      R"("owner":{"instance":"ratchet-0","advertise":"ratchet-0:9187","generation":5,"attempt":1},)"
      R"("step":1234,"behind":{"records":0,"ms":null},"log_first":120,"log_end":4512,"log_bytes":90000,)"
      R"("log_bytes_since_base":5000,"pending":{"steps":2,"bytes":4096},)"
      R"("base":{"step":900,"made_at":"2026-01-01T12:00:00.000Z","bytes":70000},"base_writing_bytes":300,)"
      R"("base_trouble":"the log cannot be cut: access denied","base_restoring_bytes":null,)"
      R"("leads":2,"fences":4,"bases_written":3,"base_failures":1,)"
      R"("digests":{"same":0,"different":0,"last_step":null,"differs_since":null}})");
}

TEST(slot_json, of_a_standby_has_the_owner_and_how_far_it_is_behind) {
  EXPECT_EQ(
      slot_json(status_of_standby()),
      R"({"log":"payments.ratchet","instance":"ratchet-1","advertise":null,"role":"standby",)"
      R"("owner":{"instance":"ratchet-0","advertise":"ratchet-0:9187","generation":5,"attempt":1},)"
      R"("step":1230,"behind":{"records":4,"ms":1500},"log_first":120,"log_end":4512,"log_bytes":89000,)"
      R"("log_bytes_since_base":null,"pending":{"steps":0,"bytes":0},)"
      R"("base":null,"base_writing_bytes":null,"base_trouble":null,"base_restoring_bytes":null,)"
      R"("leads":0,"fences":0,"bases_written":0,"base_failures":0,)"
      R"("digests":{"same":11,"different":0,"last_step":1200,"differs_since":null}})");
}

TEST(slot_text, of_a_copy_that_differs_says_so) {
  slot_status s = status_of_standby();
  s.digests.first_difference = 1100;
  EXPECT_THAT(slot_text(s), HasSubstr("digests     NOT the owner's since step 1100"));
}

TEST(slot_json, of_what_is_not_known_is_null) {
  EXPECT_THAT(slot_json({}), HasSubstr(R"("owner":null,"step":0,"behind":{"records":0,"ms":null},)"
                                       R"("log_first":null,"log_end":null)"));
}

TEST(slot_text, of_an_owner_is_what_it_does_for_the_others) {
  EXPECT_EQ(slot_text(status_of_owner()),
            "owner of the state: `ratchet-0` at ratchet-0:9187, with the log payments.ratchet\n"
            "  step        1234 of epoch 5.1\n"
            "  pending     2 steps, 4096 bytes, decided and not confirmed yet\n"
            "  log         offsets 120 to 4512, 5000 bytes since the last base\n"
            "  base        of step 900, made at 2026-01-01T12:00:00.000Z, 70000 bytes; the next one is being "
            "written: 300 bytes so far\n"
            "              the log cannot be cut: access denied\n");
}

TEST(slot_text, of_an_instance_that_cannot_write_its_first_base_says_why) {
  slot_status s = status_of_standby();
  s.role = slot_role::following;
  s.bases.trouble = "the first base cannot be written: access denied";
  std::string text;
  append_slot(text, s);
  EXPECT_NE(
      text.find("  base        none yet\n              the first base cannot be written: access denied\n"),
      std::string::npos)
      << text;
}

TEST(slot_text, of_a_standby_is_whom_it_follows_and_how_far_it_is) {
  slot_status s = status_of_standby();
  EXPECT_EQ(slot_text(s),
            "standby: `ratchet-1`, with the log payments.ratchet\n"
            "  owner       `ratchet-0` at ratchet-0:9187, epoch 5.1\n"
            "  step        1230\n"
            "  behind      4 records of the log; what is here may be 1s old\n"
            "  digests     the owner's, last at step 1200\n"
            "  log         offsets 120 to 4512\n");
  s.records_behind = 0;
  EXPECT_THAT(slot_text(s), HasSubstr("behind      nothing; what is here may be 1s old"));
  s.role = slot_role::following;
  EXPECT_THAT(slot_text(s), HasSubstr("standby, not ready to take over: `ratchet-1`"));
  s.owner.reset();
  EXPECT_THAT(slot_text(s), HasSubstr("owner       not known yet"));
  s.role = slot_role::restoring;
  s.restored = 77;
  EXPECT_THAT(slot_text(s), HasSubstr("standby, reading a copy of the state: `ratchet-1`"));
  EXPECT_THAT(slot_text(s), HasSubstr("copy        77 bytes read so far"));
  EXPECT_THAT(slot_text(s), Not(HasSubstr("behind")));
}

TEST(slot_text, shows_no_byte_that_steers_a_terminal) {
  slot_status s = status_of_standby();
  s.owner->instance = "a\x1b[31m\n";
  EXPECT_THAT(slot_text(s), Not(HasSubstr("\x1b")));
  EXPECT_THAT(standby_note(s) + "", HasSubstr("a standby of"));
}

TEST(status, of_an_instance_with_a_log_says_its_role_first) {
  EXPECT_TRUE(status_text(live_report(status_of_standby()))
                  .starts_with("ready; running since 2026-01-01T12:00:00.000Z\n"
                               "standby: `ratchet-1`, with the log payments.ratchet\n"));
  EXPECT_THAT(status_json(live_report(status_of_standby())),
              HasSubstr(R"("slot":{"log":"payments.ratchet")"));
}

TEST(status, of_an_instance_that_reads_a_copy_has_no_streams) {
  slot_status s = status_of_standby();
  s.role = slot_role::restoring;
  EXPECT_THAT(status_text(live_report(s)), Not(HasSubstr("no streams")));
}

TEST(status, of_a_replica_at_rest_says_how_far_it_is_and_whose_the_log_was) {
  status_report report;
  report.source = report_source::directory;
  replicate::log_position at;
  at.step = 17;
  at.offset = 99;
  at.bytes = 1000;
  report.replica = replica_at_rest{at, slot_owner{{5, 1}, "ratchet-0", ""}};
  EXPECT_THAT(
      status_text(report),
      HasSubstr("a replica, at step 17 of a replicated log; its last owner was `ratchet-0`, epoch 5.1\n"));
  EXPECT_THAT(
      status_json(report),
      HasSubstr(
          R"("slot":{"role":null,"owner":{"instance":"ratchet-0","advertise":null,"generation":5,"attempt":1},)"
          R"("step":17,"log_offset":99,"log_bytes":1000})"));
}

}  // namespace
}  // namespace ratchet
