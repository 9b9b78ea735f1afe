// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Who of a pair is in the group, and when: planned hand-overs, members that the group went on without, and
// instances that could not lead.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "control/client.hpp"
#include "control/handover_request.hpp"
#include "replicate/log_record.hpp"
#include "support/fake_disk_space.hpp"
#include "unit/app/pair_fixture.hpp"

namespace ratchet {
namespace {

using pair_support::cluster;
using pair_support::expected;
using pair_support::instance;
using pair_support::make_many_bases;
using pair_support::pair;
using pair_support::pair_source;
using pair_support::patient_clock;
using pair_support::produce;
using pair_support::until_all_is_read;
using pair_support::until_polled;
using testing::memory_slot_log;

/// Another instance takes the lead, of which nothing but its fence is seen.
void fence_as_another(cluster& c, std::uint32_t generation) {
  replicate::log_record fence;
  ASSERT_EQ(decode_record(*c.log.at(0), fence), replicate::record_fault::none);
  fence.head.epoch = {generation, 0};
  fence.head.writer = 99;
  std::string bytes;
  append_fence(bytes, fence.head, fence.fence);
  c.log.append(bytes);
}

class pair_handover : public pair {
 protected:
  /// Types `ratchet handover` at the instance.
  void ask(const instance& of) {
    answer = std::async(std::launch::async, [path = of.settings().state.path] {
      std::string text;
      const auto fail = [](const problem& p) { return p.code.message() + ": " + p.message; };
      auto client = control_client::connect(path);
      if (!client) return fail(client.error());
      if (!client.value()) return std::string{"nobody listens"};
      const auto done = (*client.value()).ask(to_words(handover_request{}), [&](std::string_view piece) {
        text += piece;
        return true;
      });
      return done ? text : fail(done.error());
    });
  }
  [[nodiscard]] bool is_answered() const {
    return answer.valid() && answer.wait_for(std::chrono::milliseconds{1}) == std::future_status::ready;
  }
  void add_standby(const std::string& name) {
    const std::string member = member_name({7, 0}, k_noon_time, name);
    c.others.push_back({member + "-uuid", member, "host", false});
  }
  /// It is typed once, when the instance has read everything.
  void ask_when_all_is_read(const instance& of, const pair_source& s) {
    if (s.has_read_all() && !answer.valid()) ask(of);
  }
  void use_clock() { first.clock = &clock; }
  void use_clock_and_disk() {
    use_clock();
    first.space = &space;
  }
  void pass() { clock.waited += std::chrono::milliseconds{500}; }
  [[nodiscard]] bool lasts_too_long() const { return clock.waited > std::chrono::minutes{1}; }
  patient_clock clock;
  testing::fake_disk_space space;
  std::future<std::string> answer;
};

TEST_F(pair_handover, without_a_standby_is_refused_and_the_owner_goes_on) {
  produce(c, 20);
  c.others.push_back({"kcat-uuid", "kcat", "host", false});
  const auto failed =
      first.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (s.has_read_all() && !answer.valid()) {
          ask(first);
          produce(c, 5);
        }
        if (is_answered()) until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  const std::string said = answer.get();
  EXPECT_TRUE(said.starts_with("no other instance could own the state: ")) << said;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(first.clients(), 1);
}

TEST_F(pair_handover, confirms_all_and_leaves_the_group_until_the_standby_has_fenced) {
  produce(c, 20);
  add_standby("ratchet-1");
  int polls_outside = 0;
  const auto failed = first.run([&](pair_source& s, std::atomic<bool>& stop) {
    if (first.clients() == 1) {
      ask_when_all_is_read(first, s);
      return;
    }
    if (polls_outside == 0) {
      EXPECT_EQ(c.owner, nullptr) << "it left the group";
      EXPECT_EQ(c.committed.at(pair_support::k_input).offset, 20) << "what was handled is committed";
      c.owner = &c;  // the group gives the slot to the other one
    }
    if (++polls_outside < 20) {
      EXPECT_FALSE(s.has_joined()) << "it does not come before its successor";
      EXPECT_EQ(first.why_not_ready(),
                polls_outside == 1 ? "stopping" : "waiting until `ratchet-1` owns the state");
      return;
    }
    if (polls_outside == 20) fence_as_another(c, 9);
    if (s.has_joined() && is_answered()) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  const std::string said = answer.get();
  EXPECT_TRUE(said.starts_with("`ratchet-1` owns the state; it took ")) << said;
  EXPECT_EQ(first.seen(), expected(c));
  EXPECT_EQ(first.clients(), 3) << "the last one is named by the fence of its successor";
}

/// Its disk gets full in the middle of it, so it stays out of the group, and does not read who has the state.
TEST_F(pair_handover, is_answered_though_the_old_owner_cannot_come_back) {
  produce(c, 20);
  add_standby("ratchet-1");
  use_clock_and_disk();
  const auto failed = first.run([&](pair_source& s, std::atomic<bool>& stop) {
    if (first.clients() == 1) {
      ask_when_all_is_read(first, s);
      return;
    }
    space.free = 0;
    pass();
    EXPECT_FALSE(s.has_joined());
    if (is_answered() || lasts_too_long()) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_LT(clock.waited, std::chrono::seconds{15});
  const std::string said = answer.get();
  EXPECT_TRUE(said.starts_with("no answer came in time: ")) << said;
}

TEST_F(pair_handover, is_seen_by_an_owner_whose_disk_is_low) {
  produce(c, 20);
  add_standby("ratchet-1");
  use_clock_and_disk();
  bool has_fenced = false;
  const auto failed = first.run([&](pair_source& s, std::atomic<bool>& stop) {
    if (first.clients() == 1) {
      ask_when_all_is_read(first, s);
      return;
    }
    space.free = 0;
    pass();
    if (clock.waited > std::chrono::seconds{3} && !std::exchange(has_fenced, true)) fence_as_another(c, 9);
    if (is_answered() || lasts_too_long()) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  const std::string said = answer.get();
  EXPECT_NE(said.find("`ratchet-1` owns the state"), std::string::npos) << said;
}

TEST_F(pair_handover, is_begun_by_an_owner_whose_disk_stays_low) {
  produce(c, 20);
  add_standby("ratchet-1");
  use_clock_and_disk();
  const auto failed = first.run([&](pair_source& s, std::atomic<bool>& stop) {
    pass();
    if (first.clients() == 1 && s.has_read_all()) space.free = 0;
    EXPECT_FALSE(first.clients() > 1 && s.has_joined());
    if (first.clients() > 1 || lasts_too_long()) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_GT(first.clients(), 1);
  EXPECT_LT(clock.waited, std::chrono::minutes{1});
}

TEST_F(pair_handover, to_an_instance_that_died_gives_the_state_back) {
  produce(c, 20);
  add_standby("ratchet-1");
  use_clock();
  const auto failed =
      first.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (first.clients() == 1) {
          ask_when_all_is_read(first, s);
          return;
        }
        if (!s.has_joined()) {
          pass();
          if (c.records.size() == 20) produce(c, 5);
          return;
        }
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  const std::string said = answer.get();
  EXPECT_TRUE(
      said.starts_with("no answer came in time: this instance has not read of `ratchet-1` owning the state"))
      << said;
  EXPECT_EQ(first.seen(), expected(c)) << "it owns the state again";
}

TEST_F(pair_handover, is_given_up_where_the_log_confirms_nothing) {
  produce(c, 20);
  add_standby("ratchet-1");
  use_clock();
  memory_slot_log* log = nullptr;
  const auto failed = first.run(
      [&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        if (s.has_read_all() && !answer.valid()) {
          log->lands = false;
          produce(c, 3);
          ask(first);
        }
        if (is_answered()) until(s, stop);
      },
      [&](memory_slot_log& made) {
        log = &made;
        made.on_wait = [&] {
          pass();
          if (clock.waited > std::chrono::seconds{8}) log->lands = true;
        };
      });
  ASSERT_FALSE(failed) << failed->message;
  const std::string said = answer.get();
  EXPECT_NE(said.find("could not end its work, and keeps the state"), std::string::npos) << said;
  EXPECT_EQ(first.seen(), expected(c)) << "it goes on";
  EXPECT_EQ(first.clients(), 1) << "it did not leave the group";
}

TEST_F(pair_handover, at_a_standby_is_refused_and_the_owner_named) {
  let_first_read(20);
  add_standby("ratchet-0");
  c.others.front().id = "r0";  // it comes first
  c.owner = &c;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    if (s.has_joined() && !answer.valid()) ask(second);
    if (is_answered()) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(answer.get(),
            "this instance does not own the state: this instance does not own the state: `ratchet-0` does");
}

TEST_F(pair, an_instance_with_the_name_of_another_one_is_refused) {
  let_first_read(20);
  c.owner = &c;
  const std::string member = member_name({1, 0}, k_noon_time, "ratchet-1");
  c.others.push_back({member + "-uuid", member, "/10.0.0.7", false});
  patient_clock clock;
  second.clock = &clock;
  std::string shown;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    clock.waited += std::chrono::milliseconds{500};
    if (s.has_joined() && !second.why_not_ready().empty()) shown = second.why_not_ready();
    if (clock.waited > std::chrono::minutes{1}) stop = true;
  });
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, errc::group_taken);
  EXPECT_EQ(exit_code(failed->code), 78);
  EXPECT_EQ(failed->message, "another instance with the name `ratchet-1` is in the group `g`, at /10.0.0.7");
  EXPECT_EQ(failed->hint, "give each instance a `replicate.instance` of its own");
  EXPECT_TRUE(shown.starts_with("another member of the group has the name of this instance, at /10.0.0.7"))
      << shown;
}

TEST_F(pair, an_instance_that_was_killed_comes_back_as_soon_as_its_session_is_over) {
  let_first_read(20);
  c.owner = &c;
  const std::string member = member_name({1, 0}, k_noon_time, "ratchet-1");
  c.others.push_back({member + "-uuid", member, "/10.0.0.7", false});
  patient_clock clock;
  second.clock = &clock;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    clock.waited += std::chrono::milliseconds{500};
    if (clock.waited > std::chrono::seconds{6}) c.others.clear();
    if (clock.waited < std::chrono::seconds{20}) return;
    EXPECT_TRUE(s.has_joined());
    EXPECT_EQ(second.why_not_ready(), "");
    stop = true;
  });
  EXPECT_FALSE(failed) << failed->message;
}

TEST_F(pair, a_member_that_the_group_went_on_without_makes_a_new_client) {
  produce(c, 20);
  int lost_at = 0;
  const auto failed = first.run([&](pair_source& s, std::atomic<bool>& stop) {
    if (first.clients() == 1) {
      if (s.has_read_all()) {
        s.lose();
        c.owner = &c;  // the other one has it
        fence_as_another(c, 9);
      }
      return;
    }
    if (++lost_at > 40 && s.has_joined()) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.clients(), 3) << "one to follow, and one that is named by the new owner's fence";
  EXPECT_EQ(c.owner, &c) << "the other one keeps it";
}

TEST_F(pair, an_owner_that_stood_still_reads_what_others_appended_before_it_joins) {
  produce(c, 20);
  int polls = 0;
  const auto failed = first.run(
      [&](pair_source& s, std::atomic<bool>& stop) {
        if (first.clients() == 1) {
          if (!s.has_read_all() || ++polls < 20) return;
          s.lose();
          c.owner = &c;
          fence_as_another(c, 9);
          return;
        }
        EXPECT_FALSE(first.clients() == 2 && s.has_joined()) << "by a name that comes before the new owner's";
        if (s.has_joined()) stop = true;
      },
      [](memory_slot_log& log) { log.reads_late = 4; });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(first.clients(), 3);
}

TEST_F(pair, an_instance_that_has_to_read_a_base_leaves_the_group_meanwhile) {
  first.change = second.change = make_many_bases;
  let_first_read(20);
  c.owner = &c;
  instance writer{c, "ratchet-2"};
  writer.change = make_many_bases;
  bool has_left = false;
  int clients_before = 0;
  const auto failed = second.run([&](pair_source& s, std::atomic<bool>& stop) {
    if (clients_before == 0 && s.has_joined()) {
      clients_before = second.clients();
      // It hears of nothing while the owner goes on and cuts the log.
      c.owner = nullptr;
      produce(c, 100);
      EXPECT_FALSE(writer.run(until_all_is_read()));
      c.owner = &c;
      return;
    }
    if (clients_before == 0) return;
    if (second.clients() > clients_before && !s.has_joined()) has_left = true;
    if (has_left && s.has_joined()) stop = true;
  });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_TRUE(has_left);
  EXPECT_EQ(second.seen(), expected(c));
}

TEST_F(pair, an_owner_that_is_lost_while_the_other_one_reads_a_base_is_followed_when_that_is_read) {
  first.change = second.change = make_many_bases;
  let_first_read(60);
  ASSERT_GT(c.log.first(), 0);
  produce(c, 10);
  bool was_member_before = false;
  const auto failed =
      second.run([&, until = until_all_is_read()](pair_source& s, std::atomic<bool>& stop) mutable {
        const bool is_restoring = second.why_not_ready().starts_with("reading a copy");
        was_member_before = was_member_before || (is_restoring && (s.has_joined() || c.owner != nullptr));
        until(s, stop);
      });
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_FALSE(was_member_before) << "it cannot lead";
  EXPECT_EQ(second.seen(), expected(c));
}

}  // namespace
}  // namespace ratchet
