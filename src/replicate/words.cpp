// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_owner.hpp"
#include "replicate/log_reader.hpp"
#include "replicate/row_buffer.hpp"

namespace ratchet::replicate {

const char* name_of(row_fault fault) noexcept {
  switch (fault) {
    case row_fault::none:
      return "none";
    case row_fault::cut_off:
      return "cut_off";
    case row_fault::unknown_op:
      return "unknown_op";
    case row_fault::wrong_order:
      return "wrong_order";
  }
  return "?";
}

const char* name_of(record_fault fault) noexcept {
  switch (fault) {
    case record_fault::none:
      return "none";
    case record_fault::not_a_record:
      return "not_a_record";
    case record_fault::head_cut_off:
      return "head_cut_off";
    case record_fault::newer_version:
      return "newer_version";
    case record_fault::unknown_kind:
      return "unknown_kind";
    case record_fault::unknown_flags:
      return "unknown_flags";
    case record_fault::no_epoch:
      return "no_epoch";
    case record_fault::cut_off:
      return "cut_off";
    case record_fault::long_name:
      return "long_name";
    case record_fault::left_over:
      return "left_over";
    case record_fault::step_zero:
      return "step_zero";
    case record_fault::confirmed_itself:
      return "confirmed_itself";
    case record_fault::long_chunk:
      return "long_chunk";
    case record_fault::long_key:
      return "long_key";
  }
  return "?";
}

const char* name_of(fate f) noexcept {
  switch (f) {
    case fate::resumed:
      return "resumed";
    case fate::fence:
      return "fence";
    case fate::chunk:
      return "chunk";
    case fate::step:
      return "step";
    case fate::point:
      return "point";
    case fate::digest:
      return "digest";
    case fate::again:
      return "again";
    case fate::zombie:
      return "zombie";
    case fate::rival:
      return "rival";
    case fate::gap:
      return "gap";
    case fate::foreign:
      return "foreign";
    case fate::unreadable:
      return "unreadable";
    case fate::refused:
      return "refused";
  }
  return "?";
}

const char* name_of(refusal why) noexcept {
  switch (why) {
    case refusal::begins_later:
      return "begins_later";
    case refusal::ends_earlier:
      return "ends_earlier";
    case refusal::other_record:
      return "other_record";
    case refusal::offset_back:
      return "offset_back";
    case refusal::fence_missing:
      return "fence_missing";
    case refusal::other_lineage:
      return "other_lineage";
    case refusal::other_meaning:
      return "other_meaning";
    case refusal::newer_version:
      return "newer_version";
    case refusal::newer_layout:
      return "newer_layout";
    case refusal::steps_lost:
      return "steps_lost";
    case refusal::other_begin:
      return "other_begin";
    case refusal::steps_missing:
      return "steps_missing";
    case refusal::other_chain:
      return "other_chain";
    case refusal::damaged:
      return "damaged";
    case refusal::epochs_used_up:
      return "epochs_used_up";
  }
  return "?";
}

const char* words_of(refusal why) noexcept {
  switch (why) {
    case refusal::begins_later:
      return "the log begins behind what this instance has read: older records were deleted";
    case refusal::ends_earlier:
      return "the log ends before what this instance has read: it is another log, or the brokers lost "
             "records";
    case refusal::other_record:
      return "the log has another record where this instance stopped reading: it is another log, or the "
             "brokers lost records";
    case refusal::offset_back:
      return "the brokers lost records that they had acknowledged";
    case refusal::fence_missing:
      return "the log lost the fence of the instance that wrote a step";
    case refusal::other_lineage:
      return "the log belongs to another history than the state directory";
    case refusal::other_meaning:
      return "the owner's config gives the streams another meaning; start this instance with the same config";
    case refusal::newer_version:
      return "the owner runs a later version; update this instance";
    case refusal::newer_layout:
      return "the owner writes a later layout of the state; update this instance";
    case refusal::steps_lost:
      return "the log lost steps that this instance has";
    case refusal::other_begin:
      return "another copy of this state has begun the log, at another step";
    case refusal::steps_missing:
      return "the log lost steps that its owner had confirmed";
    case refusal::other_chain:
      return "a step in the log does not follow the history before it";
    case refusal::damaged:
      return "a record of the owner cannot be read";
    case refusal::epochs_used_up:
      return "a record of the last epoch that there can be stands in the log, so no instance can own it "
             "behind "
             "that; no Ratchet writes one";
  }
  return "?";
}

const char* name_of(owner_phase phase) noexcept {
  switch (phase) {
    case owner_phase::standby:
      return "standby";
    case owner_phase::claiming:
      return "claiming";
    case owner_phase::must_fence:
      return "must_fence";
    case owner_phase::fencing:
      return "fencing";
    case owner_phase::leading:
      return "leading";
    case owner_phase::late:
      return "late";
    case owner_phase::stopped:
      return "stopped";
  }
  return "?";
}

}  // namespace ratchet::replicate
