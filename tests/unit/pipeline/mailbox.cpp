// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/mailbox.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "decode/event_id_text.hpp"
#include "support/session_world.hpp"

namespace ratchet {
namespace {

using namespace testing;

/// The asker would wait for ever, and with it the end of the run that joins its thread.
TEST(a_mailbox, whose_task_throws_lets_the_asker_go_and_ends_the_owners_turn) {
  session_world w;
  mailbox inbox;
  w.inbox = &inbox;
  w.source.logs[at("t", 0)] = {};
  inbox.tasks.open();
  task_end end = task_end::closed;
  std::thread asker{[&] {
    end = inbox.tasks.run([](posted_tasks::access) { throw std::runtime_error{"no memory"}; },
                          std::chrono::seconds{60});
  }};
  w.source.at_end = [] {};  // it is the task that ends the run
  EXPECT_THROW(w.run(), std::runtime_error);
  asker.join();
  EXPECT_EQ(end, task_end::done);
  EXPECT_TRUE(inbox.tasks.post([](posted_tasks::access) {})) << "the next one has its place";
}

TEST(a_mailbox, wakes_the_owner_for_either_kind) {
  mailbox inbox;
  int woken = 0;
  inbox.tasks.open();
  inbox.transactions.open();
  inbox.on_post([&] { ++woken; });
  ASSERT_TRUE(inbox.tasks.post([](posted_tasks::access) {}));
  const transaction_function nothing = [](state&, effects&) { return done(); };
  const auto t = inbox.transactions.post({0, "a", *hash_opaque_id("1"), std::nullopt, &nothing});
  EXPECT_EQ(woken, 2);
  EXPECT_FALSE(inbox.transactions.is_answered(t)) << "tasks take none of the room of transactions";
}

}  // namespace
}  // namespace ratchet
