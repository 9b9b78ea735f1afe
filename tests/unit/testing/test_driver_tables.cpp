// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Read models in the test driver, as users of a reducer see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install/payment_view/payments_by_customer.hpp"
#include "ratchet/test_driver.hpp"

namespace ratchet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string of(const std::string& customer) {
  return R"({"customer":")" + customer + R"("})";
}

TEST(tables_of_a_test_driver, show_what_the_reducer_put_in_the_order_of_keys) {
  test_driver t{{.order = order::strict}, payments_by_customer{}};
  EXPECT_THAT(t.table("by-customer"), IsEmpty());
  EXPECT_THAT(
      t.pipe_all({ev("p2", 1, "", of("c-7")), ev("p1", 1, "", of("c-7")), ev("p3", 1, "", of("c-1"))}),
      ElementsAre(verdict::applied, verdict::applied, verdict::applied));
  EXPECT_THAT(t.table("by-customer"),
              ElementsAre(table_row{"c-1/p3", of("c-1")}, table_row{"c-7/p1", of("c-7")},
                          table_row{"c-7/p2", of("c-7")}));
  EXPECT_EQ(t.read(table_key{"by-customer", "c-7/p1"}), of("c-7"));
  EXPECT_FALSE(t.read(table_key{"by-customer", "c-7/p9"}));
  EXPECT_FALSE(t.read(table_key{"others", "c-7/p1"}));
  EXPECT_FALSE(t.read(table_key{"by-customer", ""})) << "no key";
}

TEST(tables_of_a_test_driver, follow_parked_events_and_a_crash) {
  test_driver t{{.order = order::strict}, payments_by_customer{}};
  t.pipe(ev("p1", 1, "", of("c-1")));
  t.sync();
  EXPECT_EQ(t.pipe(ev("p1", 3, "", of("c-3"))), verdict::parked);
  EXPECT_THAT(t.table("by-customer"), ElementsAre(table_row{"c-1/p1", of("c-1")}));
  t.pipe(ev("p1", 2, "", of("c-2")));
  EXPECT_THAT(t.table("by-customer"), ElementsAre(table_row{"c-3/p1", of("c-3")}));
  t.crash_and_reopen();
  EXPECT_THAT(t.table("by-customer"), ElementsAre(table_row{"c-3/p1", of("c-3")}));
}

TEST(tables_of_a_test_driver, hold_the_reducer_to_what_is_declared) {
  test_driver t{{.order = order::strict, .tables = {{{"by-customer", key_encoding::u64}}}},
                payments_by_customer{}};
  EXPECT_EQ(t.pipe(ev("p1", 1, "", of("c-1"))), verdict::unhandled);
  ASSERT_TRUE(t.last_stop());
  EXPECT_EQ(t.last_stop()->cause, make_error_code(errc::table_key_invalid));
  EXPECT_EQ(t.last_stop()->text,
            "its key `c-1/p1` does not fit the table `by-customer`, whose keys are u64: a whole number below "
            "2^64, in decimal digits without leading zeros");
  EXPECT_THAT(t.table("by-customer"), IsEmpty());
}

struct counting {
  static constexpr reducer_traits traits{.name = "counting", .version = 1};
  outcome apply(const event& e, state&, effects& fx) const {
    fx.put("n", e.sequence.number, e.type);
    if (e.type == "erase") fx.erase("n", e.sequence.number - 1);
    return done();
  }
};

TEST(tables_of_a_test_driver, have_numbers_as_keys_where_that_is_declared) {
  test_driver t{{.tables = {{{"n", key_encoding::u64}}}}, counting{}};
  for (const std::uint64_t number : {9U, 10U, 100U}) t.pipe(ev("p1", number, "put"));
  t.pipe(ev("p1", 101, "erase"));
  EXPECT_THAT(t.table("n"),
              ElementsAre(table_row{"9", "put"}, table_row{"10", "put"}, table_row{"101", "erase"}));
  EXPECT_EQ(t.read(table_key{"n", "10"}), "put");
}

}  // namespace
}  // namespace ratchet
