// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/resume.hpp"

/// How the tables of resume tests write a row.
namespace ratchet {

using option = resume_option;
using owner = commit_owner;
using row = resume_row;
using action = resume_action;
using last = resume_facts::last_record;
constexpr std::nullopt_t none = std::nullopt;

constexpr resume_decision go(resume_row r, std::int64_t offset, bool audit = false) {
  return {.row = r, .action = action::resume, .offset = offset, .audit = audit};
}
constexpr resume_decision skip(resume_row r, std::int64_t offset, std::int64_t from, std::int64_t to) {
  return {
      .row = r, .action = action::resume, .offset = offset, .audit = true, .lost_from = from, .lost_to = to};
}
constexpr resume_decision end(resume_row r, resume_action a, std::int64_t from = 0, std::int64_t to = 0) {
  return {.row = r, .action = a, .audit = a == action::rebuild, .lost_from = from, .lost_to = to};
}
constexpr resume_decision taken(resume_decision d) {
  d.audit = true;
  d.new_identity = true;
  return d;
}

// The log is [100, 900] in every row.
inline constexpr std::int64_t k_start = 100;
inline constexpr std::int64_t k_end = 900;

}  // namespace ratchet
