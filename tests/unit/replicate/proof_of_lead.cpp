// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/replicate_owner.hpp"
#include "support/replicate_records.hpp"

/// An owner asks by a record that changes nothing whether it still leads.
namespace ratchet::replicate {
namespace {

using testing::an_owner;
using testing::author;

TEST_F(an_owner, proves_its_lead_by_a_record_that_counts) {
  lead();
  EXPECT_FALSE(owner_.proved_lead());
  const auto proof = owner_.make_proof();
  EXPECT_FALSE(owner_.proved_lead()) << "it is only appended";
  append_acknowledged(proof);
  EXPECT_TRUE(owner_.proved_lead());
  EXPECT_EQ(phase(), "leading");
  const auto first = make_one();
  append_acknowledged(first);
  EXPECT_EQ(confirmed_, steps{1}) << "steps go on behind it";
  (void)owner_.make_proof();
  EXPECT_FALSE(owner_.proved_lead()) << "another one was asked for";
}

TEST_F(an_owner, proves_nothing_behind_anothers_fence) {
  lead(3);
  const auto proof = owner_.make_proof();
  append(author{{4, 0}, 9}.fence());
  append_acknowledged(proof);
  EXPECT_FALSE(owner_.proved_lead());
  read();
  EXPECT_FALSE(owner_.proved_lead());
  EXPECT_EQ(phase(), "claiming");
}

TEST_F(an_owner, proves_its_lead_between_steps_and_behind_a_zombie) {
  lead(3);
  const auto first = make_one();
  const auto proof = owner_.make_proof();
  const auto second = make_one();
  append_acknowledged(first);
  append(author{{2, 0}, 9}.fence());
  append_acknowledged(proof);
  EXPECT_FALSE(owner_.proved_lead()) << "what is before it is not read yet";
  read();
  EXPECT_TRUE(owner_.proved_lead());
  append_acknowledged(second);
  read();
  EXPECT_EQ(confirmed_, (steps{1, 2}));
}

TEST_F(an_owner, has_no_proof_without_an_offset) {
  lead();
  const auto proof = owner_.make_proof();
  append(proof.record);
  owner_.acknowledged(proof.ticket, std::nullopt);
  read();
  EXPECT_FALSE(owner_.proved_lead());
  append_acknowledged(make_one());
  EXPECT_EQ(confirmed_, steps{1});
}

TEST_F(an_owner, has_no_proof_of_an_attempt_that_is_over) {
  lead(3);
  append_acknowledged(owner_.make_proof());
  EXPECT_TRUE(owner_.proved_lead());
  owner_.unassigned();
  EXPECT_FALSE(owner_.proved_lead());
}

TEST_F(an_owner, fences_again_where_its_proof_fails) {
  lead();
  owner_.failed(owner_.make_proof().ticket);
  EXPECT_NE(phase(), "leading");
}

}  // namespace
}  // namespace ratchet::replicate
