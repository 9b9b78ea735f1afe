// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/replicated_store.hpp"

#include <utility>

#include "core/assert.hpp"
#include "core/success.hpp"
#include "core/uuid_text.hpp"

namespace ratchet {

namespace {

/// Brokers that confirm nothing for so long: the group may have another owner by now, and waits for this one
/// in a rebalance.
constexpr std::chrono::seconds k_patience{5};
constexpr std::chrono::milliseconds k_confirm_slice{20};
constexpr std::chrono::seconds k_sync_interval{30};

}  // namespace

replicated_store::replicated_store(dependencies of, const replicate::owner_options& options)
    : under_{std::move(of.under)},
      rows_{of.of},
      log_{std::move(of.log)},
      bases_{std::move(of.bases)},
      clock_{of.clock},
      is_alone_{of.bases_on == std::launch::deferred},
      slot_{{*log_, *bases_, of.of, clock_, of.draw, {of.topic, partition_id{0}}}, with_notes(options)},
      digests_{{slot_, of.of, clock_, of.draw, of.digests, of.rules.rate, of.log_lines, of.bases_on}},
      keeper_{{slot_,
               digests_,
               of.of,
               *log_,
               *bases_,
               clock_,
               of.draw,
               {{}, options.layout, options.meaning, 0},
               of.rules,
               of.topic,
               {of.bases_topic, partition_id{0}},
               std::move(of.log_lines),
               of.bases_on}},
      reporter_{{slot_, keeper_, digests_, of.of, clock_, of.status, of.topic, options.instance,
                 options.advertise}},
      confirmed_{under_->durable_step()} {}

replicate::owner_options replicated_store::with_notes(replicate::owner_options of) {
  of.noted = [this](const replicate::counted_note& note) { digests_.take(note); };
  return of;
}

void replicated_store::show() {
  if (attempt_ && !is_leading()) return;  // numbers of dropped steps may be given anew
  const std::uint64_t confirmed = under_->durable_step();
  if (confirmed_.exchange(confirmed, std::memory_order_acq_rel) != confirmed) durable().moved();
}

result<void> replicated_store::turn() {
  jobs_.run_next();
  return advance();
}

result<void> replicated_store::advance() {
  const auto done = slot_.turn();
  digests_.turn();
  keeper_.turn();
  // Nothing waits for it. But floors move, and so ids go, only with what is synced, and a power cut costs
  // less.
  if (const auto now = clock_.steady(); now - synced_at_ >= k_sync_interval) {
    synced_at_ = now;
    if (is_alone_) {
      RATCHET_TRY(under_->sync());
    } else {
      under_->request_sync();
    }
  }
  show();
  reporter_.turn(is_leading());
  return done;
}

result<void> replicated_store::lead() {
  RATCHET_ASSERT(slot_.leads());
  RATCHET_TRY(slot_.reload());
  attempt_ = slot_.attempt();
  why_lost_.clear();
  show();
  reporter_.turn(true);
  return success();
}

void replicated_store::end_lead() {
  slot_.drop_unconfirmed();
  attempt_.reset();
  show();
  reporter_.turn(false);
}

std::error_code replicated_store::lost(const char* why) {
  if (why_lost_.empty()) why_lost_ = why;
  return errc::write_indeterminate;
}

result<void> replicated_store::write(const step_batch& step) {
  if (!is_leading()) return lost("another instance has the lead");
  const auto deadline = clock_.steady() + k_patience;
  while (!slot_.has_room()) {
    RATCHET_TRY(advance());
    if (!is_leading()) return lost("another instance took the lead");
    if (slot_.has_room()) break;
    if (clock_.steady() >= deadline) return lost("the log's topic takes no more records");
    slot_.wait(k_confirm_slice);
  }
  RATCHET_TRY(under_->write(step));
  RATCHET_TRY(slot_.publish(step.step));
  RATCHET_TRY(advance());
  if (!is_leading()) return lost("another instance took the lead");
  return success();
}

result<void> replicated_store::sync() {
  const std::uint64_t wanted = last_step();
  const auto deadline = clock_.steady() + k_patience;
  for (;;) {
    if (!is_leading()) return lost("another instance took the lead");
    if (durable_step() >= wanted) return success();
    RATCHET_TRY(advance());
    if (!is_leading() || durable_step() >= wanted) continue;
    if (clock_.steady() >= deadline) return lost("the log's topic confirms nothing");
    slot_.wait(k_confirm_slice);
  }
}

std::string replicated_store::failure() const {
  std::string why = under_->failure();
  return why.empty() ? why_lost_ : why;
}

std::string replicated_store::uuid() const {
  const auto& lineage = slot_.position().lineage;
  if (!lineage) return under_->uuid();
  return to_uuid(*lineage);
}

}  // namespace ratchet
