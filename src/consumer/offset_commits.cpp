// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/offset_commits.hpp"

#include <utility>

#include "consumer/access.hpp"
#include "core/assert.hpp"
#include "core/success.hpp"

namespace ratchet {

namespace {

constexpr const char* k_obstacle = "access";
/// While the brokers refuse this user, it is found out so often whether they still do.
constexpr std::chrono::seconds k_denied_pause{5};
constexpr std::chrono::milliseconds k_claim_timeout{10'000};

}  // namespace

offset_commits::offset_commits(surroundings around)
    : around_{std::move(around)}, last_{around_.clock.steady()} {}

void offset_commits::sign(std::string store_uuid, incarnation drawn) {
  offsets_.emplace(std::move(store_uuid), drawn);
}

result<std::size_t> offset_commits::claim(std::span<const position> positions) {
  // Whoever reads the claim relies on what it says being there after a power cut.
  RATCHET_ASSERT(offsets_ && around_.of.durable_step() == around_.of.last_step());
  const std::vector<commit_request> claim = offsets_->claim(positions, around_.of.durable_step());
  RATCHET_TRY(around_.from.commit_and_wait(claim, k_claim_timeout));
  note_allowed();
  tell_committed(claim);
  return claim.size();
}

void offset_commits::also_assigned(std::span<const position> positions) {
  offsets_->also_assigned(positions);
}

void offset_commits::unassigned() {
  offsets_->unassigned();
}

void offset_commits::moved(std::uint64_t step, std::span<const position> positions) {
  offsets_->moved(step, positions);
}

void offset_commits::turn(time_point now) {
  if (now - last_ < around_.settings.state.commit_interval) return;
  if (denied_ && now - last_ < k_denied_pause) return;  // each attempt is a question whether it may again
  RATCHET_ASSERT(offsets_);
  const std::uint64_t durable = around_.of.durable_step();
  const auto requests = denied_ ? offsets_->again(durable) : offsets_->due(durable);
  if (requests.empty()) return;
  last_ = now;
  const auto begun = around_.from.commit(requests);
  if (begun) return offsets_->started();
  around_.meter.commit_ended(false);
  if (failures_.due(now)) {
    tell(around_.log, log_kind::commit_failed, "offsets were not committed and will be tried again: {}{}",
         begun.error().message(), failures_.held_back());
  }
}

void offset_commits::ended(const notice::commit_done& c) {
  offsets_->finished(c.offsets, !c.code);
  around_.meter.commit_ended(!c.code);
  if (c.access) return note_denied(*c.access, c.code.message());
  if (c.code) {
    if (failures_.due(around_.clock.steady()))
      tell(around_.log, log_kind::commit_failed, "a commit of offsets failed and will be tried again: {}{}",
           c.code.message(), failures_.held_back());
    return;
  }
  note_allowed();
  for (const committed_offset& o : c.offsets) {
    if (o.offset) around_.board.set_committed(around_.stream_of(o.where), o.where, *o.offset);
  }
}

result<void> offset_commits::commit_all(std::chrono::milliseconds timeout) {
  const auto requests = offsets_->all_due(around_.of.durable_step());
  if (requests.empty()) return success();
  RATCHET_TRY(around_.from.commit_and_wait(requests, timeout));
  tell_committed(requests);
  return success();
}

void offset_commits::tell_committed(std::span<const commit_request> requests) {
  for (const commit_request& r : requests)
    around_.board.set_committed(around_.stream_of(r.where), r.where, r.next_offset);
}

void offset_commits::note_denied(access_kind kind, const std::string& text) {
  const problem why = describe_refusal(kind, text, around_.settings.kafka, around_.topics);
  denied_ = why.message;
  around_.board.set_obstacle(k_obstacle, why.message);
  if (!denials_.due(around_.clock.steady())) return;
  tell(around_.log, log_kind::access_denied,
       "{} -> {}; nothing is lost, and commits go on once they are allowed{}", why.message, why.hint,
       denials_.held_back());
}

void offset_commits::note_allowed() {
  around_.board.clear_obstacle(k_obstacle);  // also what an earlier session met
  if (!denied_) return;
  denied_.reset();
  tell(around_.log, log_kind::access_given, "the brokers accept this user's commits again");
}

}  // namespace ratchet
