// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/offset_commits.hpp"

#include <utility>

#include "consumer/access.hpp"
#include "core/assert.hpp"
#include "core/success.hpp"

namespace ratchet {

namespace {

constexpr const char* k_access_condition = "access";
/// While the brokers refuse this user, it is found out so often whether they still do.
constexpr std::chrono::seconds k_commit_pause{5};
constexpr std::chrono::milliseconds k_claim_timeout{10'000};

}  // namespace

offset_commits::offset_commits(dependencies deps) : deps_{std::move(deps)}, last_{deps_.clock.steady()} {}

void offset_commits::sign(std::string store_uuid, incarnation drawn) {
  offsets_.emplace(std::move(store_uuid), drawn);
}

result<std::size_t> offset_commits::claim(std::span<const position> positions) {
  // Whoever reads the claim relies on what it says being there after a power cut.
  RATCHET_ASSERT(offsets_ && deps_.store.durable_step() == deps_.store.last_step());
  const std::vector<commit_request> claim = offsets_->claim(positions, deps_.store.durable_step());
  RATCHET_TRY(deps_.source.commit_and_wait(claim, k_claim_timeout));
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
  if (now - last_ < deps_.settings.state.commit_interval) return;
  if (denied_ && now - last_ < k_commit_pause) return;  // each attempt is a question whether it may again
  RATCHET_ASSERT(offsets_);
  const std::uint64_t durable = deps_.store.durable_step();
  const auto requests = denied_ ? offsets_->again(durable) : offsets_->due(durable);
  if (requests.empty()) return;
  last_ = now;
  const auto begun = deps_.source.commit(requests);
  if (begun) return offsets_->started();
  deps_.meter.commit_ended(false);
  if (failures_.due(now)) {
    tell(deps_.log, log_kind::commit_failed, "offsets were not committed and will be tried again: {}{}",
         begun.error().message(), failures_.suppressed());
  }
}

void offset_commits::ended(const notice::commit_done& c) {
  offsets_->finished(c.offsets, !c.code);
  deps_.meter.commit_ended(!c.code);
  if (c.access) return note_denied(*c.access, c.code.message(), c.topic);
  if (c.code) {
    if (failures_.due(deps_.clock.steady()))
      tell(deps_.log, log_kind::commit_failed, "a commit of offsets failed and will be tried again: {}{}",
           c.code.message(), failures_.suppressed());
    return;
  }
  note_allowed();
  for (const committed_offset& o : c.offsets) {
    if (o.offset) deps_.status.set_committed(deps_.stream_of(o.where), o.where, *o.offset);
  }
}

result<void> offset_commits::commit_all(std::chrono::milliseconds timeout) {
  const auto requests = offsets_->all_due(deps_.store.durable_step());
  if (requests.empty()) return success();
  RATCHET_TRY(deps_.source.commit_and_wait(requests, timeout));
  tell_committed(requests);
  return success();
}

void offset_commits::tell_committed(std::span<const commit_request> requests) {
  for (const commit_request& r : requests)
    deps_.status.set_committed(deps_.stream_of(r.where), r.where, r.next_offset);
}

void offset_commits::note_denied(access_kind kind, const std::string& text, const std::string& topic) {
  const problem why = describe_refusal(kind, text, deps_.settings.kafka, deps_.topics, topic);
  denied_ = why.message;
  deps_.status.raise_condition(k_access_condition, why.message);
  if (!denials_.due(deps_.clock.steady())) return;
  tell(deps_.log, log_kind::access_denied,
       "{} -> {}; nothing is lost, and commits go on once they are allowed{}", why.message, why.hint,
       denials_.suppressed());
}

void offset_commits::note_allowed() {
  deps_.status.clear_condition(k_access_condition);  // also what an earlier session met
  if (!denied_) return;
  denied_.reset();
  tell(deps_.log, log_kind::access_given, "the brokers accept this user's commits again");
}

}  // namespace ratchet
