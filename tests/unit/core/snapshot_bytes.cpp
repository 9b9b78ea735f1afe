// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "ratchet/snapshot_bytes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/reducers.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet {
namespace {

/// Whether the bytes lie where they lay.
bool lies_in(const std::string& lender, std::string_view bytes) {
  return bytes.data() == lender.data();
}

TEST(core_snapshot_bytes, are_lent_as_far_as_they_are_moved) {
  const std::string lender = "lent by somebody, and longer than a short string";
  snapshot_bytes first = snapshot_bytes::lent(lender);
  EXPECT_TRUE(lies_in(lender, first.view()));
  snapshot_bytes second = std::move(first);
  EXPECT_TRUE(lies_in(lender, second.view()));
  snapshot_bytes third;
  third = std::move(second);
  EXPECT_TRUE(lies_in(lender, third.view()));
}

TEST(core_snapshot_bytes, are_its_own_in_a_copy) {
  std::string lender = "before";
  const snapshot_bytes lent = snapshot_bytes::lent(lender);
  const snapshot_bytes copied{lent};  // NOLINT(performance-unnecessary-copy-initialization): that is the test
  snapshot_bytes assigned{"something that goes"};
  assigned = lent;
  lender = "behind";
  EXPECT_EQ(lent, "behind");
  EXPECT_EQ(copied, "before");
  EXPECT_EQ(assigned, "before");
}

TEST(core_snapshot_bytes, are_its_own_behind_keep) {
  std::string lender = "before";
  snapshot_bytes bytes = snapshot_bytes::lent(lender);
  bytes.keep();
  lender = "behind";
  EXPECT_EQ(bytes, "before");
  bytes.keep();
  EXPECT_EQ(bytes, "before");
}

TEST(core_snapshot_bytes, forget_what_was_lent) {
  const std::string lender = "lent";
  snapshot_bytes bytes = snapshot_bytes::lent(lender);
  bytes.assign("own");
  EXPECT_EQ(bytes, "own");
  bytes = snapshot_bytes::lent(lender);
  bytes.clear();
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(bytes.size(), 0U);
}

TEST(core_snapshot_bytes, of_the_replace_reducer_are_the_payload) {
  std::string payload = R"({"status":"captured"})";
  event e;
  e.payload = payload;
  state s;
  effects fx;
  EXPECT_EQ(replace_reducer{}.apply(e, s, fx).how, ending::done);
  EXPECT_TRUE(s.exists());
  EXPECT_TRUE(lies_in(payload, s.value()));
  const state before = s;
  s.keep();
  payload = "overwritten by the next batch";
  EXPECT_EQ(s.value(), R"({"status":"captured"})");
  EXPECT_EQ(before.value(), R"({"status":"captured"})");
}

}  // namespace
}  // namespace ratchet
