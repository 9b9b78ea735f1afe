// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/replicate_owner.hpp"
#include "support/replicate_records.hpp"

/// Points and digests among the records of an owner.
namespace ratchet::replicate {
namespace {

using testing::an_owner;
using testing::author;

class an_owner_with_notes : public an_owner {
 protected:
  an_owner_with_notes() { owner_ = log_owner{listening()}; }
  owner_options listening() {
    owner_options with = options();
    with.noted = [this](const counted_note& note) {
      heard_.push_back(std::string{note.record.head.kind == record_kind::point ? "point " : "digest "} +
                       std::to_string(note.record.point.number + note.record.digest.point) + " at " +
                       std::to_string(note.step) + (note.own ? " own" : "") + " behind " +
                       std::to_string(confirmed_.size()));
    };
    return with;
  }
  static log_record point(std::uint64_t number) {
    log_record made;
    made.head.kind = record_kind::point;
    made.point = {number, 10, 1, "key"};
    return made;
  }
  static log_record digest(std::uint64_t of) {
    log_record made;
    made.head.kind = record_kind::digest;
    made.digest = {of, 1, {1, 2}, 3};
    return made;
  }
  using lines = std::vector<std::string>;
  lines heard_;
};

TEST_F(an_owner_with_notes, hears_of_them_behind_the_steps_before_them) {
  lead();
  const auto first = make_one();
  const auto note = owner_.make_note(point(5));
  const auto second = make_one();
  const auto told = owner_.make_note(digest(5));
  append_acknowledged(first);
  append_acknowledged(note);
  EXPECT_EQ(heard_, lines{"point 5 at 1 own behind 1"});
  append_acknowledged(second);
  append_acknowledged(told);
  EXPECT_EQ(heard_, (lines{"point 5 at 1 own behind 1", "digest 5 at 2 own behind 2"}));
  EXPECT_EQ(confirmed_, (steps{1, 2}));
  EXPECT_EQ(phase(), "leading");
}

TEST_F(an_owner_with_notes, waits_with_them_for_reports_that_come_out_of_order) {
  lead();
  const auto first = make_one();
  const auto note = owner_.make_note(point(5));
  const std::int64_t at = append(first.record);
  append_acknowledged(note);
  EXPECT_TRUE(heard_.empty());
  owner_.acknowledged(first.ticket, at);
  EXPECT_EQ(heard_.size(), 1U);
}

TEST_F(an_owner_with_notes, meets_them_in_the_log_where_a_zombie_is_between) {
  lead(3);
  const auto one = owner_.make_note(point(5));
  const auto two = owner_.make_note(point(6));
  append(author{{2, 0}, 9}.fence());
  append_acknowledged(one);
  append(one.record);  // and once more
  append_acknowledged(two);
  read();
  EXPECT_EQ(heard_,
            (lines{"point 5 at 0 own behind 0", "point 5 at 0 own behind 0", "point 6 at 0 own behind 0"}));
  const auto first = make_one();
  append_acknowledged(first);
  read();
  EXPECT_EQ(confirmed_, steps{1});
}

TEST_F(an_owner_with_notes, fences_again_where_one_is_lost) {
  lead();
  const auto note = owner_.make_note(point(5));
  owner_.failed(note.ticket);
  EXPECT_EQ(phase(), "claiming");
  EXPECT_TRUE(heard_.empty());
}

TEST_F(an_owner_with_notes, is_no_proof_of_a_lead) {
  lead();
  const auto proof = owner_.make_proof();
  const auto note = owner_.make_note(point(5));
  const std::int64_t at = append(proof.record);
  append_acknowledged(note);
  EXPECT_FALSE(owner_.proved_lead());
  owner_.acknowledged(proof.ticket, at);
  EXPECT_TRUE(owner_.proved_lead());
}

TEST_F(an_owner_with_notes, hears_of_anothers) {
  const author other{{4, 0}, 9};
  append(other.fence());
  append(other.point(7));
  append(other.digest(7, 0));
  read();
  EXPECT_EQ(heard_, (lines{"point 7 at 0 behind 0", "digest 7 at 0 behind 0"}));
}

}  // namespace
}  // namespace ratchet::replicate
