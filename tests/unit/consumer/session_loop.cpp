// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What follows a session, row by row.
#include "consumer/session_loop.hpp"

#include <gtest/gtest.h>

namespace ratchet {
namespace {

session_result ended(session_end how, errc why = errc::internal) {
  return {how, problem{make_error_code(why), "why", "", {}}};
}

TEST(session_loop, ends_where_all_is_done) {
  session_loop loop;
  EXPECT_EQ(loop.after({session_end::drained, std::nullopt}, true, 1), next_move::end);
  EXPECT_EQ(loop.after({session_end::caught_up, std::nullopt}, true, 1), next_move::end);
  EXPECT_EQ(loop.after({session_end::rebuild, std::nullopt}, false, 1), next_move::rebuild);
}

TEST(session_loop, rides_out_only_what_passes_and_only_once_it_has_claimed) {
  for (const errc passing : {errc::source_unavailable, errc::access_denied, errc::topic_missing}) {
    session_loop loop;
    EXPECT_EQ(loop.after(ended(session_end::refused, passing), false, 1), next_move::give_up);
    EXPECT_EQ(loop.after(ended(session_end::client_lost), true, 1), next_move::make_client);
    EXPECT_EQ(loop.after(ended(session_end::refused, passing), false, 1), next_move::ride_out);
    EXPECT_EQ(loop.after(ended(session_end::refused, errc::resume_refused), false, 1), next_move::give_up);
  }
}

TEST(session_loop, gives_up_on_clients_that_never_come_to_read) {
  session_loop loop;
  for (int i = 1; i < 10; ++i) {
    ASSERT_EQ(loop.after(ended(session_end::client_lost), false, 1), next_move::make_client) << i;
  }
  EXPECT_EQ(loop.after(ended(session_end::client_lost), false, 1), next_move::give_up);
}

TEST(session_loop, counts_no_client_that_came_to_read_and_none_that_brokers_were_away_for) {
  session_loop loop;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(loop.after(ended(session_end::client_lost), i % 9 == 0, 1), next_move::make_client) << i;
    ASSERT_EQ(loop.after(ended(session_end::client_lost, errc::source_unavailable), false, 1),
              next_move::make_client);
  }
}

TEST(session_loop, opens_a_store_five_times_without_one_event_more_in_it) {
  session_loop loop;
  for (std::uint64_t handled : {7U, 8U, 8U, 8U, 8U, 8U}) {
    ASSERT_EQ(loop.after(ended(session_end::store_lost), true, handled), next_move::open_store);
  }
  EXPECT_EQ(loop.after(ended(session_end::store_lost), true, 8), next_move::give_up);
}

TEST(session_loop, counts_anew_behind_an_event) {
  session_loop loop;
  for (std::uint64_t handled = 1; handled < 100; ++handled) {
    ASSERT_EQ(loop.after(ended(session_end::store_lost), true, handled / 4), next_move::open_store)
        << handled;
  }
}

}  // namespace
}  // namespace ratchet
