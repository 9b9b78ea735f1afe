// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "core/reducers.hpp"

namespace ratchet {
namespace {

struct keeping {
  outcome apply(const event& e, state& s, effects&) const {
    s.assign(e.payload);
    return done();
  }
};

/// A name that is made while the program runs, and gone behind the call.
reducer made_for(const std::string& tenant) {
  return {{.name = "payments of a tenant called " + tenant, .version = 3}, keeping{}};
}

TEST(reducer_traits, keep_a_name_that_was_made_for_them) {
  std::optional<reducer> one{made_for("a")};
  const reducer copy{*one};
  const reducer moved{std::move(*one)};
  one.reset();
  const std::string overwriting(64, 'x');
  EXPECT_EQ(copy.traits().name, "payments of a tenant called a");
  EXPECT_EQ(moved.traits().name, "payments of a tenant called a");
  EXPECT_EQ(moved.traits().version, 3U);
  EXPECT_EQ(made_for("b").traits().name, "payments of a tenant called b");
}

TEST(reducer_traits, of_a_reducer_that_wraps_another_outlive_that) {
  const reducer wrapping = [] {
    const reducer inner = made_for("a");
    return reducer{inner.traits(), keeping{}};
  }();
  EXPECT_EQ(wrapping.traits().name, "payments of a tenant called a");
}

TEST(reducers, that_are_built_in_are_known_by_name) {
  for (const char* name : {"replace", "merge_patch", "flaky"}) EXPECT_TRUE(is_built_in(name));
  for (const char* name : {"payment_state", "", "replaces"}) EXPECT_FALSE(is_built_in(name));
}

}  // namespace
}  // namespace ratchet
