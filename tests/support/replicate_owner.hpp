// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "replicate/log_owner.hpp"
#include "support/replicate_records.hpp"

namespace ratchet::replicate::testing {

/// A log in memory, and an owner that is told what becomes of its records.
class an_owner : public ::testing::Test {
 protected:
  using steps = std::vector<std::uint64_t>;

  owner_options options() {
    owner_options with;
    with.reading.slot = k_slot;
    with.reading.newest_layout = k_layout;
    with.layout = k_layout;
    with.meaning = k_meaning;
    with.new_lineage = k_lineage;
    with.instance = "one";
    with.chunk_bytes = 16;
    with.apply = [this](const confirmed_step& step) {
      confirmed_.push_back(step.position.step);
      own_.push_back(step.own);
      rows_ = step.rows;
    };
    with.dropped = [this](std::uint64_t first, std::uint64_t last) {
      for (; first <= last; ++first) dropped_.push_back(first);
    };
    return with;
  }

  /// Appends to the log, and gives the offset.
  std::int64_t append(const std::string& record) {
    log_.push_back(record);
    return static_cast<std::int64_t>(log_.size()) - 1;
  }
  std::int64_t append_acknowledged(const append_request& request) {
    const std::int64_t offset = append(request.record);
    owner_.acknowledged(request.ticket, offset);
    return offset;
  }
  /// Reads what is asked for, as far as the log goes.
  void read() {
    while (const auto wanted = owner_.wants()) {
      const auto at = static_cast<std::size_t>(wanted->first);
      if (at >= log_.size() || (wanted->last && wanted->first > *wanted->last)) return;
      ASSERT_TRUE(owner_.read(wanted->first, log_[at]));
    }
  }
  append_request make_fence() {
    EXPECT_STREQ(name_of(owner_.phase()), "must_fence");
    return owner_.make_fence(++writer_);
  }
  void lead(std::uint32_t generation = 1) {
    owner_.assigned(generation);
    append_acknowledged(make_fence());
    read();
    ASSERT_STREQ(name_of(owner_.phase()), "leading");
  }
  std::vector<append_request> make(std::string rows) {
    std::vector<append_request> out;
    EXPECT_TRUE(owner_.append_step(std::move(rows), out));
    return out;
  }
  append_request make_one() {
    auto out = make(put_row("k", ""));
    EXPECT_EQ(out.size(), 1U);
    return out.empty() ? append_request{} : out.front();
  }
  std::string phase() const { return name_of(owner_.phase()); }
  std::string refused() const {
    return owner_.reader().refused() ? name_of(*owner_.reader().refused()) : "no";
  }

  std::vector<std::string> log_;
  std::uint64_t writer_{100};
  steps confirmed_;
  std::vector<bool> own_;
  std::string rows_;
  steps dropped_;
  log_owner owner_{options()};
};

}  // namespace ratchet::replicate::testing
