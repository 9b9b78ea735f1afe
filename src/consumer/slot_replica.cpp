// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_replica.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/success.hpp"

namespace ratchet {

namespace {

using replicate::owner_phase;

/// So an owner without work learns of another's fence, and each learns of records that were lost.
constexpr std::chrono::seconds k_look_interval{2};

[[nodiscard]] replicate::owner_options with(replicate::owner_options options,
                                            std::function<void(const replicate::confirmed_step&)> apply,
                                            std::function<void()> dropped) {
  options.apply = std::move(apply);
  options.dropped = [dropped = std::move(dropped)](std::uint64_t, std::uint64_t) { dropped(); };
  return options;
}

}  // namespace

slot_replica::slot_replica(const dependencies& of, replicate::owner_options options)
    : of_{of},
      options_{with(
          std::move(options), [this](const replicate::confirmed_step& step) { apply(step); },
          [this] { drop(); })},
      owner_{options_, of.store.position().value_or(replicate::log_position{})} {}

result<void> slot_replica::turn() {
  if (restore_) return go_on_restoring();
  take_reports();
  RATCHET_TRY(take_bounds());
  if (restore_) return success();
  if (owner_.phase() == owner_phase::must_fence && !failed_ && !unfit_) {
    ++attempts_;
    of_.log.append(owner_.make_fence(of_.draw_writer()));
  }
  if (!looked_at_ || of_.clock.steady() - *looked_at_ >= k_look_interval) look();
  if (has_bounds_ && !failed_ && !unfit_) {
    RATCHET_TRY(read());
  }
  if (proof_ == proof::told && owner_.reader().next_offset() > proof_end_) proof_ = proof::given;
  if (failed_) return failed_;
  return success();
}

void slot_replica::take_reports() {
  for (const append_report& each : of_.log.reports()) {
    if (each.failed) {
      owner_.failed(each.ticket);
    } else {
      owner_.acknowledged(each.ticket, each.offset);
    }
  }
}

result<void> slot_replica::take_bounds() {
  const auto told = of_.log.take_bounds();
  if (!told) return success();
  is_asking_ = false;
  if (!*told) return success();  // it is asked again
  const told_bounds& bounds = told->value();
  const bool leads_on = bounds.first <= owner_.reader().next_offset();
  if (!leads_on || (of_.store.is_restoring() && bounds.first > 0)) return begin_restore(bounds.first);
  // Half a copy is of no use where the log has everything.
  if (of_.store.is_restoring() && !has_bounds_) {
    RATCHET_TRY(of_.store.begin_restore());
  }
  owner_.look(bounds.known, bounds.first, bounds.end);
  has_bounds_ = true;
  end_ = bounds.end;
  take_proof(bounds);
  return success();
}

void slot_replica::look() {
  looked_at_ = of_.clock.steady();
  if (proof_ == proof::wanted && !is_asking_) proof_ = proof::asked;
  is_asking_ = true;
  of_.log.ask_bounds(owner_.reader().known_offset());
}

void slot_replica::prove_lead() {
  proof_ = proof::wanted;
  proves_ = attempts_;
  looked_at_.reset();
}

/// What was asked before does not count: another instance may have fenced since.
void slot_replica::take_proof(const told_bounds& bounds) {
  if (proof_ == proof::wanted) looked_at_.reset();
  if (proof_ != proof::asked) return;
  proof_ = proof::told;
  proof_end_ = bounds.end - 1;
}

/// Whatever this instance was about to do: somebody else has cut the log, so it has another owner.
result<void> slot_replica::begin_restore(std::int64_t log_first) {
  owner_.unassigned();
  RATCHET_TRY(of_.store.drop_pending());
  of_.log.stop_reading();
  const auto& reading = options_.reading;
  const auto lineage = owner_.reader().position().lineage;
  restore_.emplace(of_.bases, of_.store,
                   replicate::base_reader_options{reading.newest_layout, lineage ? lineage : reading.lineage,
                                                  reading.meaning, log_first});
  is_at_end_ = has_bounds_ = false;
  end_.reset();
  return success();
}

result<void> slot_replica::go_on_restoring() {
  RATCHET_TRY(const auto done, restore_->turn());
  has_more_ = restore_->is_under_way();
  if (done == slot_restore::progress::reading) return success();
  const auto why = restore_->refused();
  restore_.reset();
  if (done == slot_restore::progress::none) {
    owner_.refuse(why.value_or(replicate::refusal::begins_later));
    return success();
  }
  owner_ = replicate::log_owner{options_, *of_.store.position()};
  if (generation_) owner_.assigned(*generation_);
  looked_at_.reset();
  return success();
}

void slot_replica::assigned(std::uint32_t generation) {
  generation_ = generation;
  if (!restore_) owner_.assigned(generation);
}

void slot_replica::unassigned() {
  generation_.reset();
  if (!restore_) owner_.unassigned();
}

result<void> slot_replica::read() {
  has_more_ = false;
  const auto wanted = owner_.wants();
  if (!wanted) {
    of_.log.stop_reading();
    return success();
  }
  const auto got = of_.log.read(*wanted);
  if (!got) {
    if (got.error() == errc::topic_missing) owner_.read_again();
    return got.error();
  }
  has_more_ = !got.value().entries.empty();
  std::int64_t next = wanted->first;
  for (const slot_record& each : got.value().entries) {
    owner_.read_through(next, each.offset - 1);
    if (!owner_.read(each.offset, each.bytes)) return success();  // it goes on elsewhere, or nowhere
    if (failed_ || unfit_) return success();
    next = each.offset + 1;
  }
  owner_.read_through(next, got.value().through);
  // While another instance appends all the time, no read finds the end.
  const bool has_told_end = end_ && owner_.reader().next_offset() >= *end_;
  is_at_end_ = is_at_end_ || got.value().at == log_read::state::at_end || has_told_end;
  if (got.value().at == log_read::state::out_of_range) look();
  return success();
}

void slot_replica::apply(const replicate::confirmed_step& step) {
  if (failed_ || unfit_) return;
  const confirmed_rows rows{step.position, step.rows, step.layout};
  const auto applied = of_.store.apply(std::span{&rows, 1});
  if (!applied) {
    failed_ = applied.error();
  } else {
    unfit_ = applied.value();
  }
}

/// What was decided and not confirmed is no step of this store: the log may go on with others.
void slot_replica::drop() {
  if (const auto dropped = of_.store.drop_pending(); !dropped && !failed_) failed_ = dropped.error();
}

result<void> slot_replica::publish(std::uint64_t step) {
  const auto rows = of_.store.rows_of(step);
  std::vector<replicate::append_request> records;
  if (!leads() || rows == nullptr || owner_.made_step() + 1 != step || !owner_.append_step(*rows, records)) {
    owner_.read_again();
    drop();  // the step itself, of which the owner knows nothing
    return errc::write_indeterminate;
  }
  for (replicate::append_request& each : records) of_.log.append(std::move(each));
  return success();
}

void slot_replica::drop_unconfirmed() {
  if (of_.store.pending().steps == 0) return;
  owner_.read_again();
  drop();
}

std::optional<problem> slot_replica::refused() const {
  const std::string at = " at step " + std::to_string(position().step);
  if (const auto why = owner_.reader().refused()) {
    return problem{make_error_code(errc::state_foreign),
                   std::string{"the replicated log cannot be followed"} + at + ": " +
                       replicate::words_of(*why) + " (" + replicate::name_of(*why) + ")",
                   "nothing was changed; see docs/operating/high-availability.md for this refusal",
                   {}};
  }
  if (unfit_) {
    return problem{make_error_code(errc::state_foreign),
                   "step " + std::to_string(unfit_->step) +
                       " of the replicated log does not go into this state (" + name_of(unfit_->fault) + ")",
                   "nothing was changed; see docs/operating/high-availability.md for this refusal",
                   {}};
  }
  return std::nullopt;
}

}  // namespace ratchet
