// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/base_voucher.hpp"

#include <optional>

#include "core/success.hpp"

namespace ratchet {

using replicate::fate;
using replicate::refusal;

namespace {

/// What the log has there is of no base like that. What else it may be refused for, its reader finds itself.
[[nodiscard]] bool belies(refusal why) {
  switch (why) {
    case refusal::begins_later:
    case refusal::ends_earlier:
    case refusal::other_record:
    case refusal::other_lineage:
    case refusal::other_begin:
    case refusal::steps_missing:
    case refusal::steps_lost:
    case refusal::other_chain:
      return true;
    default:
      return false;
  }
}

}  // namespace

base_voucher::answer base_voucher::take(const slot_record& each) {
  reader_.skip_to(each.offset);
  switch (reader_.take(each.offset, each.bytes)) {
    case fate::resumed:
    case fate::step:
      return answer::yes;
    case fate::fence:
      has_begun_ = true;
      return answer::asking;
    case fate::refused:
      return belies(*reader_.refused()) ? answer::no : answer::yes;
    default:
      return answer::asking;
  }
}

result<base_voucher::answer> base_voucher::turn() {
  const std::int64_t first = reader_.next_offset();
  const auto last = is_before_log_ ? std::nullopt : std::optional{first};
  RATCHET_TRY(const auto got, log_.read({first, last}));
  for (const slot_record& each : got.entries) {
    const answer said = take(each);
    if (said != answer::asking) return said;
  }
  if (got.at == log_read::state::out_of_range) return answer::no;
  if (got.through >= first) reader_.skip_to(got.through + 1);
  if (reader_.refused()) return answer::no;
  if (got.at != log_read::state::at_end) return answer::asking;
  return is_before_log_ && has_begun_ ? answer::yes : answer::no;
}

}  // namespace ratchet
