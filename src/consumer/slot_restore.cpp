// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_restore.hpp"

#include <utility>

#include "core/success.hpp"

namespace ratchet {

using replicate::base_fate;

namespace {

[[nodiscard]] result<slot_restore::progress> reading_behind(const result<void>& done) {
  if (!done) return done.error();
  return slot_restore::progress::reading;
}

}  // namespace

result<slot_restore::progress> slot_restore::turn() {
  has_more_ = false;
  if (voucher_) {
    RATCHET_TRY(vouch());
    return progress::reading;
  }
  if (!next_) {
    bases_.ask_bounds(-1);  // again and again: a question may get lost
    const auto told = bases_.take_bounds();
    if (!told) return progress::reading;
    if (!*told) return told->error();
    next_ = told->value().first;
  }
  const auto got = bases_.read({*next_, std::nullopt});
  if (!got) return got.error();
  if (got.value().at == log_read::state::out_of_range) {  // the owner has a newer base, and has cut the topic
    reader_.give_up();
    next_.reset();
    return progress::reading;
  }
  has_more_ = !got.value().entries.empty();
  for (const slot_record& each : got.value().entries) {
    const std::int64_t behind = each.offset + 1;
    next_ = behind;
    RATCHET_TRY(const progress done, take(each));
    if (done != progress::reading) return done;
    if (*next_ != behind || voucher_) return progress::reading;
  }
  if (got.value().through >= *next_) next_ = got.value().through + 1;
  if (got.value().at != log_read::state::at_end) return progress::reading;
  if (!reader_.is_reading()) return progress::none;
  begin_again(reader_.begun_at() + 1);  // its writer died, or is at it now: no log rests on it
  return progress::reading;
}

result<slot_restore::progress> slot_restore::take(const slot_record& record) {
  switch (reader_.take(record.offset, record.bytes)) {
    case base_fate::begun:
      bytes_ = 0;
      if (vouched_ == content().at) return reading_behind(begin());
      voucher_.emplace(log_, rules_, content().at);
      has_more_ = true;
      return progress::reading;
    case base_fate::rows:
      return put(reader_.rows());
    case base_fate::complete:
      return complete();
    case base_fate::broken:
      begin_again(reader_.begun_at() + 1);
      return progress::reading;
    case base_fate::refused:
      return progress::none;
    case base_fate::passed:
    case base_fate::false_end:  // of somebody else; the true one may follow
      return progress::reading;
  }
  return progress::reading;
}

/// Nothing is erased, nor read on, for a base that the log does not go on from.
result<void> slot_restore::vouch() {
  RATCHET_TRY(const auto said, voucher_->turn());
  if (said == base_voucher::answer::asking) return success();
  voucher_.reset();
  log_.stop_reading();
  has_more_ = true;
  if (said == base_voucher::answer::no) {
    begin_again(reader_.begun_at() + 1);
    return success();
  }
  vouched_ = content().at;
  return begin();
}

result<void> slot_restore::begin() {
  if (is_trial_) return success();
  return store_.begin_restore();
}

result<slot_restore::progress> slot_restore::put(std::string_view rows) {
  if (is_trial_) return progress::reading;
  bytes_ += rows.size();
  RATCHET_TRY(const auto fault, store_.restore(rows));
  if (fault) begin_again(reader_.begun_at() + 1);
  return progress::reading;
}

result<slot_restore::progress> slot_restore::complete() {
  if (std::exchange(is_trial_, false)) {
    const std::int64_t begun_at = reader_.begun_at();
    reader_ = replicate::base_reader{options_};
    begin_again(begun_at);
    return progress::reading;
  }
  bases_.stop_reading();
  RATCHET_TRY(store_.end_restore(content().at));
  return progress::complete;
}

void slot_restore::begin_again(std::int64_t offset) {
  reader_.give_up();
  next_ = offset;
  has_more_ = true;
}

}  // namespace ratchet
