// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What an operator sees of two instances that share a replicated log.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "control/checkpoint_request.hpp"
#include "control/client.hpp"
#include "control/sink_request.hpp"
#include "control/waiting_request.hpp"
#include "store/open/read_only.hpp"
#include "store/open/verify.hpp"
#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::expected;
using pair_support::make_many_bases;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;
using testing::memory_slot_log;

/// Goes on each time that it is asked, so that what is shown now and then is shown often.
class ticking_clock final : public clock_port {
 public:
  [[nodiscard]] timestamp now() const override { return k_noon_time + passed(); }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point{} + passed();
  }

 private:
  [[nodiscard]] std::chrono::milliseconds passed() const { return std::chrono::milliseconds{20} * ++asked_; }
  mutable std::atomic<int> asked_{0};
};

class pair_status : public pair {
 protected:
  void SetUp() override {
    first.clock = second.clock = &clock;
    first.change = [](config& of) { of.replicate->advertise = "first:9187"; };
  }
  /// What the instance says of itself at its last poll.
  slot_status last_of(pair_support::instance& of, int polls) {
    slot_status seen;
    const auto failed = of.run([&, left = polls](pair_source&, std::atomic<bool>& stop) mutable {
      if (const auto slot = of.shown().slot) seen = *slot;
      if (left-- == 0) stop = true;
    });
    EXPECT_FALSE(failed) << failed->message;
    return seen;
  }

  ticking_clock clock;
};

TEST_F(pair_status, of_an_owner_names_itself_and_the_log) {
  produce(c, 20);
  const slot_status s = last_of(first, 40);
  EXPECT_EQ(s.role, slot_role::owner);
  EXPECT_EQ(s.log, pair_support::k_log_topic);
  EXPECT_EQ(s.instance, "ratchet-0");
  ASSERT_TRUE(s.owner);
  EXPECT_EQ(s.owner->instance, "ratchet-0");
  EXPECT_EQ(s.owner->epoch.generation, 1U);
  EXPECT_EQ(s.step, first.step());
  EXPECT_EQ(s.log_first, 0);
  EXPECT_EQ(s.log_end, c.log.end());
  EXPECT_EQ(s.leads, 1U);
  EXPECT_EQ(s.fences, 1U);
  EXPECT_FALSE(s.behind);
  EXPECT_EQ(s.log_since_base, s.log_bytes) << "there is no base";
}

TEST_F(pair_status, of_a_standby_names_the_owner_and_has_all_of_the_log) {
  let_first_read(20);
  c.owner = &c;
  const slot_status s = last_of(second, 40);
  EXPECT_EQ(s.role, slot_role::standby);
  ASSERT_TRUE(s.owner);
  EXPECT_EQ(s.owner->instance, "ratchet-0");
  EXPECT_EQ(s.owner->advertise, "first:9187");
  EXPECT_EQ(s.step, first.step());
  EXPECT_EQ(s.records_behind, 0U);
  ASSERT_TRUE(s.behind);
  EXPECT_LT(*s.behind, std::chrono::minutes{1});
  EXPECT_FALSE(s.log_since_base) << "the owner knows";
}

TEST_F(pair_status, of_a_standby_names_the_owner_behind_a_restart_too) {
  let_first_read(20);
  c.owner = &c;
  (void)last_of(second, 40);
  const auto opened = open_store_read_only(second.settings().state.path);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(opened.value()->replica());
  EXPECT_EQ(opened.value()->replica()->position.step, second.step());
  EXPECT_EQ(opened.value()->replica()->owner->instance, "ratchet-0") << "at rest";
  const slot_status s = last_of(second, 20);
  ASSERT_TRUE(s.owner) << "its fence lies before what is read";
  EXPECT_EQ(s.owner->instance, "ratchet-0");
}

TEST_F(pair_status, of_a_standby_says_how_far_it_is_behind) {
  let_first_read(60);
  c.owner = &c;
  std::vector<std::uint64_t> behind;
  std::vector<slot_role> roles;
  const auto failed = second.run(
      [&, left = 60](pair_source&, std::atomic<bool>& stop) mutable {
        if (const auto slot = second.shown().slot) {
          if (slot->log_end) behind.push_back(slot->records_behind);
          roles.push_back(slot->role);
        }
        if (left-- == 0) stop = true;
      },
      [](memory_slot_log& log) { log.most_entries = 2; });
  ASSERT_FALSE(failed) << failed->message;
  ASSERT_GT(behind.size(), 5U);
  EXPECT_GT(behind.front(), 4U);
  EXPECT_EQ(behind.back(), 0U);
  EXPECT_EQ(roles.front(), slot_role::following);
  EXPECT_EQ(roles.back(), slot_role::standby);
}

TEST_F(pair_status, of_a_standby_grows_old_while_the_log_does_not_answer) {
  let_first_read(20);
  c.owner = &c;
  std::vector<std::chrono::milliseconds> ages;
  const auto failed = second.run([&, left = 60](pair_source&, std::atomic<bool>& stop) mutable {
    if (left == 30) c.log.set_led(false);
    const auto slot = second.shown().slot;
    if (slot && slot->behind) ages.push_back(*slot->behind);
    if (left-- == 0) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  ASSERT_GT(ages.size(), 30U);
  EXPECT_GT(ages.back(), ages[ages.size() - 31] + std::chrono::seconds{1});
}

TEST_F(pair_status, of_an_owner_tells_of_its_bases) {
  first.change = make_many_bases;
  produce(c, 60);
  const slot_status s = last_of(first, 80);
  ASSERT_TRUE(s.bases.newest);
  EXPECT_GT(s.bases.newest->step, 0U);
  EXPECT_GT(s.bases.newest->bytes, 0U);
  EXPECT_GT(s.bases.written, 0U);
  EXPECT_EQ(s.bases.failures, 0U);
  EXPECT_EQ(s.log_first, c.log.first());
  EXPECT_LT(*s.log_since_base, s.log_bytes);
}

TEST_F(pair_status, of_an_owner_tells_why_no_base_is_written) {
  first.change = make_many_bases;
  c.bases.set_missing(true);
  produce(c, 60);
  const slot_status s = last_of(first, 80);
  EXPECT_FALSE(s.bases.newest);
  EXPECT_GT(s.bases.failures, 0U);
  EXPECT_NE(s.bases.trouble.find("a topic does not exist"), std::string::npos) << s.bases.trouble;
}

TEST_F(pair_status, of_an_owner_tells_no_more_why_its_first_base_was_put_off_once_it_is_written) {
  first.change = [](config& of) { of.replicate.reset(); };
  let_first_read(20);
  first.change = nullptr;
  c.bases.set_missing(true);
  slot_status put_off;
  slot_status seen;
  const auto failed = first.run([&, left = 1'000](pair_source&, std::atomic<bool>& stop) mutable {
    if (const auto slot = first.shown().slot) seen = *slot;
    if (left == 900) {
      put_off = seen;
      c.bases.set_missing(false);
    }
    if (left-- == 0 || seen.bases.written > 0) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_NE(put_off.bases.trouble, "");
  EXPECT_EQ(put_off.bases.written, 0U);
  EXPECT_EQ(seen.bases.written, 1U);
  EXPECT_EQ(seen.bases.trouble, "");
}

TEST_F(pair_status, of_an_instance_that_began_at_a_base_names_the_owner) {
  first.change = make_many_bases;
  let_first_read(60);
  ASSERT_GT(c.log.first(), 0) << "its fence is gone";
  c.owner = &c;
  const slot_status s = last_of(second, 60);
  EXPECT_EQ(s.role, slot_role::standby);
  ASSERT_TRUE(s.owner) << "it was repeated behind the base";
  EXPECT_EQ(s.owner->instance, "ratchet-0");
}

TEST_F(pair_status, of_an_owner_that_lost_the_lead_is_that_of_a_standby) {
  produce(c, 20);
  bool was_owner = false;
  status_snapshot seen;
  const auto failed = first.run([&, left = 80](pair_source& s, std::atomic<bool>& stop) mutable {
    seen = first.shown();
    was_owner = was_owner || (seen.slot && seen.slot->role == slot_role::owner);
    if (left == 40) {
      s.lose();
      c.owner = &c;
    }
    if (left-- == 0) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(was_owner);
  ASSERT_TRUE(seen.slot);
  EXPECT_NE(seen.slot->role, slot_role::owner);
  EXPECT_EQ(seen.slot->owner->instance, "ratchet-0") << "nobody has fenced yet";
  EXPECT_FALSE(seen.streams.at("payments").at(pair_support::k_input).assigned);
}

TEST_F(pair_status, of_an_instance_that_reads_a_base_says_so) {
  first.change = make_many_bases;
  let_first_read(60);
  c.owner = &c;
  ASSERT_GT(c.log.first(), 0);
  bool has_restored = false;
  const auto failed = second.run([&, left = 60](pair_source&, std::atomic<bool>& stop) mutable {
    const auto slot = second.shown().slot;
    has_restored = has_restored || (slot && slot->role == slot_role::restoring && slot->restored);
    if (left-- == 0) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(has_restored);
}

/// Asks the instance that runs on this thread, from another one.
class pair_control : public pair_status {
 protected:
  struct answered {
    std::string text;
    std::optional<problem> refused;
  };
  /// While the instance runs; it ends when all words are answered.
  std::vector<answered> ask(pair_support::instance& of, const std::vector<std::vector<std::string>>& all) {
    std::vector<answered> out;
    std::atomic<bool> done{false};
    std::thread asking;
    const auto failed = of.run([&, left = 40](pair_source&, std::atomic<bool>& stop) mutable {
      if (--left == 0) {
        asking = std::thread{[&] {
          for (const auto& words : all) out.push_back(ask_one(of, words));
          done = true;
        }};
      }
      if (left < 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
      stop = done.load();
    });
    if (asking.joinable()) asking.join();
    EXPECT_FALSE(failed) << failed->message;
    return out;
  }
  static answered ask_one(pair_support::instance& of, const std::vector<std::string>& words) {
    auto client = control_client::connect(of.settings().state.path);
    if (!client || !client.value()) return {"nobody listens", {}};
    answered one;
    const auto asked = client.value()->ask(words, [&](std::string_view piece) {
      one.text += piece;
      return true;
    });
    if (!asked) one.refused = asked.error();
    return one;
  }
  static std::vector<std::string> decision() {
    waiting_request r;
    r.verb = waiting_verb::skip;
    r.stream = "payments";
    r.act = true;
    return to_words(r);
  }
  static std::vector<std::string> get(const std::string& aggregate) {
    read_request r;
    r.kind = read_request::kind_of::get;
    r.stream = "payments";
    r.aggregate = aggregate;
    return to_words(r);
  }
};

TEST_F(pair_control, decisions_at_a_standby_are_refused_with_the_owners_name) {
  let_first_read(20);
  c.owner = &c;
  sink_request retry;
  retry.verb = sink_verb::retry;
  const auto all = ask(second, {decision(), to_words(retry)});
  ASSERT_EQ(all.size(), 2U);
  for (const answered& each : all) {
    ASSERT_TRUE(each.refused);
    EXPECT_EQ(each.refused->code, errc::not_owner);
    EXPECT_EQ(each.refused->message,
              "this instance, `ratchet-1`, is a standby, so nothing was done; `ratchet-0` at first:9187 owns "
              "the state");
    EXPECT_EQ(each.refused->hint, "type it on the machine of `ratchet-0`");
  }
}

TEST_F(pair_control, decisions_at_an_owner_are_taken) {
  let_first_read(20);
  const auto all = ask(first, {decision()});
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all[0].refused);
  EXPECT_EQ(all[0].refused->code, errc::not_found) << "nothing waits: " << all[0].refused->message;
}

TEST_F(pair_control, reads_at_a_standby_are_answered_and_their_age_is_told) {
  let_first_read(20);
  c.owner = &c;
  const auto all = ask(second, {get("a0"), {k_standby_note}, to_words(read_request{})});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].text, expected(c).at("a0"));
  EXPECT_TRUE(
      all[1].text.starts_with("this instance is a standby of `ratchet-0` at first:9187; its state may "
                              "be "))
      << all[1].text;
  EXPECT_NE(all[2].text.find("standby: `ratchet-1`, with the log payments.ratchet\n"), std::string::npos)
      << all[2].text;
  produce(c, 1);
  c.owner = nullptr;
  EXPECT_EQ(ask(first, {{k_standby_note}}).at(0).text, "") << "an owner's state is what there is";
}

TEST_F(pair_control, status_alone_is_answered_while_a_base_is_read) {
  first.change = make_many_bases;
  let_first_read(60);
  c.owner = &c;
  const auto is_cut_short = [&] {
    const auto opened = open_store_read_only(second.settings().state.path);
    return !opened && opened.error().code == errc::state_restoring;
  };
  for (int killed_at = 1; killed_at < 12 && !is_cut_short(); ++killed_at) {
    ASSERT_FALSE(second.run([left = killed_at](pair_source& s, std::atomic<bool>& stop) mutable {
      if (--left > 0) return;
      s.kill();
      stop = true;
    }));
  }
  ASSERT_TRUE(is_cut_short());
  c.bases.set_led(false);  // so that it stays so
  const auto all = ask(second, {get("a0"), to_words(read_request{}), decision()});
  ASSERT_EQ(all.size(), 3U);
  ASSERT_TRUE(all[0].refused);
  EXPECT_EQ(all[0].refused->code, errc::state_restoring);
  EXPECT_FALSE(all[1].refused);
  EXPECT_NE(all[1].text.find("standby, reading a copy of the state: `ratchet-1`"), std::string::npos)
      << all[1].text;
  ASSERT_TRUE(all[2].refused);
  EXPECT_EQ(all[2].refused->code, errc::not_owner) << all[2].refused->message;
}

TEST_F(pair_control, checkpoints_are_taken_on_both_and_are_clean) {
  let_first_read(20);
  const support::temporary_directory to;
  const auto taken = ask(first, {to_words(checkpoint_request{to.path() / "first", false})});
  ASSERT_FALSE(taken.at(0).refused) << taken.at(0).refused->message;
  c.owner = &c;
  const auto followed = ask(second, {to_words(checkpoint_request{to.path() / "second", false})});
  ASSERT_FALSE(followed.at(0).refused) << followed.at(0).refused->message;
  for (const char* name : {"first", "second"}) {
    const auto path = to.path() / name;
    EXPECT_EQ(verify_store(path).value(), std::vector<std::string>{});
    const auto opened = open_store_read_only(path);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened.value()->replica()->position.step, first.step());
  }
  EXPECT_NE(taken[0].text.find("of step " + std::to_string(first.step()) + ","), std::string::npos)
      << "the log's number: " << taken[0].text;
}

TEST_F(pair_control, a_checkpoint_goes_on_as_the_directory_of_another_instance) {
  let_first_read(20);
  const support::temporary_directory to;
  const auto copy = to.path() / "copy";
  c.owner = &c;
  const auto taken = ask(second, {to_words(checkpoint_request{copy, false})});
  ASSERT_FALSE(taken.at(0).refused) << taken.at(0).refused->message;
  c.owner = nullptr;
  let_first_read(10);
  c.owner = &c;
  pair_support::instance third{c, "ratchet-2"};
  third.change = [&](config& of) { of.state.path = copy; };
  ASSERT_FALSE(third.run(until_polled(40)));
  EXPECT_EQ(third.seen(), expected(c));
  EXPECT_EQ(third.step(), first.step());
  const auto opened = open_store_read_only(copy);
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened.value()->view().value()->identity().value().copy) << "it goes its own way";
}

}  // namespace
}  // namespace ratchet
