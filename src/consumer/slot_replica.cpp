// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/slot_replica.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/success.hpp"
#include "core/typed_command.hpp"
#include "ports/error_class.hpp"
#include "replicate/log_record.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

using replicate::owner_phase;

/// So an owner without work learns of another's fence, and each learns of records that were lost.
constexpr std::chrono::seconds k_look_interval{2};
/// Of a topic that the brokers do not know.
constexpr std::chrono::seconds k_missing_pause{1};
/// For a base that the log leads on from.
constexpr std::chrono::seconds k_base_patience{2};
/// A client that gets nowhere, as without a right to begin, says nothing of its records for ever.
constexpr std::chrono::seconds k_fence_patience{20};

/// Of a topic that is of no use any more.
[[nodiscard]] std::string way_to_another_log() {
  return "stop all instances; on the one with the highest step take `replicate` out of the config and type " +
         typed_command("run", "--resume takeover") +
         ", stop it, name another topic in `replicate` and type " + typed_command("topics") + " and " +
         typed_command("run") + "; the other instances begin with an empty directory";
}

/// `table`: the page that has all of them.
[[nodiscard]] std::string what_to_do(replicate::refusal why, const std::string& table) {
  switch (why) {
    case replicate::refusal::epochs_used_up:
      return way_to_another_log() + "; " + table;
    case replicate::refusal::ends_earlier:
      return "if you have deleted the log and begun it again with another directory, move this directory "
             "away "
             "and start with an empty one; for any other cause " +
             table;
    default:
      return table;
  }
}

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
      owner_{options_, of.store.position().value_or(replicate::log_position{})},
      tries_{options_.instance} {}

result<void> slot_replica::turn() {
  has_more_ = false;
  if (restores_to_) return is_held_ ? success() : go_on_restoring();
  take_reports();
  RATCHET_TRY(take_bounds());
  if (restores_to_) return success();
  look_at_fence();
  const bool may_fence = !failed_ && !unfit_ && tries_.is_due(of_.clock.steady());
  if (owner_.phase() == owner_phase::must_fence && may_fence) {
    ++attempts_;
    fenced_at_ = of_.clock.steady();
    of_.log.append(owner_.make_fence(of_.draw_writer()));
  }
  if (!looked_at_ || of_.clock.steady() - *looked_at_ >= k_look_interval) look();
  if (bounds_ && !failed_ && !unfit_ && !is_held_) {
    RATCHET_TRY(read());
    if (leads()) tries_.led();
    // The log goes on from a state that it does not have, and neither has this store.
    const bool lacks_begin = owner_.reader().refused() == replicate::refusal::steps_missing;
    if (lacks_begin && !owner_.reader().position().lineage && bounds_->first == 0) return begin_restore(0);
  }
  if (failed_) return failed_;
  return success();
}

void slot_replica::hold(bool held) {
  if (held && !is_held_) {
    read_anew();                                 // the log goes on meanwhile
    if (restores_to_) of_.bases.stop_reading();  // else they are the keeper's, which may read them now
  }
  is_held_ = held;
}

void slot_replica::read_anew() {
  of_.log.stop_reading();
  is_at_end_ = false;
}

void slot_replica::doubt_end() {
  if (restores_to_) return;
  read_anew();
  bounds_.reset();
  bounds_at_.reset();
  looked_at_.reset();
  is_answer_old_ = is_asked_;
}

void slot_replica::take_reports() {
  for (const append_report& each : of_.log.reports()) {
    if (!each.failed) {
      owner_.acknowledged(each.ticket, each.offset);
      continue;
    }
    const bool led = leads();
    if (!owner_.failed(each.ticket)) continue;
    using kind = lead_failure::kind;
    const kind other = led ? kind::note : kind::fence;
    note_failure(each.ticket.step > 0 ? kind::step : other, each.failed, each.ticket.step);
  }
}

void slot_replica::look_at_fence() {
  if (!owner_.awaits_fence_report() || of_.clock.steady() - *fenced_at_ < k_fence_patience) return;
  owner_.read_again();
  note_failure(lead_failure::kind::silence, make_error_code(errc::source_unavailable));
}

/// What of the attempt is still under way may land: it counts for nobody.
void slot_replica::note_failure(lead_failure::kind what, std::error_code code, std::uint64_t step,
                                std::uint64_t bytes) {
  of_.log.give_up();
  tries_.failed({what, code, step, bytes, attempts_}, of_.clock.steady());
}

result<void> slot_replica::take_bounds() {
  const auto told = of_.log.take_bounds();
  if (!told) return success();
  is_asked_ = false;
  if (std::exchange(is_answer_old_, false)) {
    looked_at_.reset();
    return success();
  }
  if (!*told) {
    if (told->error() == errc::topic_missing) missing_at_ = of_.clock.steady();
    return success();  // it is asked again
  }
  missing_at_.reset();
  const told_bounds& bounds = told->value();
  const bool leads_on = bounds.first <= owner_.reader().next_offset();
  if (!leads_on || (of_.store.is_restoring() && bounds.first > 0)) return begin_restore(bounds.first);
  // Half a copy is of no use where the log has everything.
  if (of_.store.is_restoring() && !bounds_) {
    RATCHET_TRY(of_.store.begin_restore());
  }
  owner_.look(bounds.known, bounds.first, bounds.end);
  bounds_ = bounds;
  bounds_at_ = of_.clock.steady();
  note_complete();
  return success();
}

/// Behind the end that the log had at that time, so at least since then nothing was missing.
void slot_replica::note_complete() {
  if (bounds_at_ && owner_.reader().next_offset() >= bounds_->end) complete_at_ = bounds_at_;
}

void slot_replica::look() {
  looked_at_ = of_.clock.steady();
  is_asked_ = true;
  of_.log.ask_bounds(owner_.reader().known_offset());
}

/// Whatever this instance was about to do: somebody else has cut the log, or begun it, so it has another
/// owner.
result<void> slot_replica::begin_restore(std::int64_t log_first) {
  owner_.unassigned();
  RATCHET_TRY(of_.store.drop_pending());
  read_anew();
  owner_ = replicate::log_owner{options_, of_.store.position().value_or(replicate::log_position{})};
  restores_to_ = log_first;
  no_base_since_.reset();
  has_more_ = false;
  bounds_.reset();
  bounds_at_.reset();
  complete_at_.reset();
  return success();
}

/// The log's first record counts: a step where it was cut, else a fence. It says which history the bases must
/// be of.
result<void> slot_replica::open_bases() {
  const auto& reading = options_.reading;
  auto lineage = owner_.reader().position().lineage;
  if (!lineage) lineage = reading.lineage;
  if (!lineage) {
    RATCHET_TRY(const auto got, of_.log.read({*restores_to_, *restores_to_}));
    if (got.at == log_read::state::out_of_range) end_restore();  // it was cut again
    replicate::log_record first;
    if (got.entries.empty() || !has_head(decode_record(got.entries.front().bytes, first))) return success();
    lineage = first.head.lineage;
    of_.log.stop_reading();
  }
  restore_.emplace(
      of_.log, of_.bases, of_.store,
      replicate::base_reader_options{reading.newest_layout, lineage, reading.meaning, *restores_to_},
      reading);
  return success();
}

void slot_replica::end_restore() {
  restore_.reset();
  restores_to_.reset();
  owner_ = replicate::log_owner{options_, of_.store.position().value_or(replicate::log_position{})};
  if (generation_) owner_.assigned(*generation_);
  looked_at_.reset();
}

result<void> slot_replica::go_on_restoring() {
  if (!restore_) return open_bases();
  const auto done = restore_->turn();
  if (!done) {
    if (classify(done.error()) == error_class::store_lost) failed_ = done.error();
    restore_.reset();  // it begins again
    return done.error();
  }
  has_more_ = done.value() == slot_restore::progress::reading && restore_->is_under_way();
  if (done.value() == slot_restore::progress::complete) end_restore();
  if (done.value() != slot_restore::progress::none) return success();
  // A leader that is new may not know yet how far the topic goes.
  const auto now = of_.clock.steady();
  if (!no_base_since_) no_base_since_ = now;
  const auto why = restore_->refused();
  restore_.reset();
  if (!why && now - *no_base_since_ < k_base_patience) return success();
  restores_to_.reset();
  owner_.refuse(why.value_or(replicate::refusal::begins_later));
  return success();
}

void slot_replica::assigned(std::uint32_t generation) {
  generation_ = generation;
  if (!restores_to_) owner_.assigned(generation);
}

void slot_replica::unassigned() {
  generation_.reset();
  if (!restores_to_) owner_.unassigned();
}

result<void> slot_replica::read() {
  const auto wanted = owner_.wants();
  if (!wanted) return vouch();
  if (missing_at_ && of_.clock.steady() - *missing_at_ < k_missing_pause) return success();
  const auto got = of_.log.read(*wanted);
  if (!got) {
    if (got.error() == errc::topic_missing) {
      owner_.read_again();
      missing_at_ = of_.clock.steady();
    }
    return got.error();
  }
  has_more_ = !got.value().entries.empty();
  std::int64_t next = wanted->first;
  for (const slot_record& each : got.value().entries) {
    owner_.read_through(next, each.offset - 1);
    const auto fate = owner_.read(each.offset, each.bytes);
    if (!fate) return success();  // it goes on elsewhere, or nowhere
    if (*fate == replicate::fate::fence || *fate == replicate::fate::again) note_fence(each.bytes);
    if (*fate == replicate::fate::fence)
      tries_.fenced();  // one that is repeated may be read again, and is no news
    read_time_ = each.time;
    if (failed_ || unfit_) return success();
    next = each.offset + 1;
  }
  owner_.read_through(next, got.value().through);
  note_complete();
  // While another instance appends all the time, no read finds the end.
  const bool has_told_end = owner_.reader().next_offset() >= bounds_->end;
  is_at_end_ = is_at_end_ || got.value().at == log_read::state::at_end || has_told_end;
  if (got.value().at == log_read::state::out_of_range) look();
  return success();
}

/// An owner that leads reads nothing else.
result<void> slot_replica::vouch() {
  if (!voucher_) {
    of_.log.stop_reading();
    return success();
  }
  const auto said = voucher_->turn();
  if (said && said.value() == base_voucher::answer::asking) return success();
  // Without an answer whoever asked puts it off: the owner itself needs nothing of what is read there.
  if (said) vouched_ = said.value() == base_voucher::answer::yes;
  voucher_.reset();
  return success();
}

void slot_replica::vouch_for(const replicate::log_position& base) {
  voucher_.emplace(of_.log, options_.reading, base);
  vouched_.reset();
}

/// An owner repeats its fence now and then: whoever began behind the first one knows it by that.
void slot_replica::note_fence(std::string_view record) {
  replicate::log_record read;
  const auto fault = decode_record(record, read);
  if (fault != replicate::record_fault::none || read.head.kind != replicate::record_kind::fence) return;
  if (!owner_.reader().leads(read.head.epoch, read.head.writer)) return;
  of_.store.note_owner(
      {read.head.epoch, std::string{read.fence.instance}, std::string{read.fence.advertise}});
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
  tries_.confirmed(step.position.step);
}

/// What was decided and not confirmed is no step of this store: the log may go on with others.
void slot_replica::drop() {
  if (const auto dropped = of_.store.drop_pending(); !dropped && !failed_) failed_ = dropped.error();
}

result<void> slot_replica::publish(std::uint64_t step) {
  const auto rows = of_.store.rows_of(step);
  std::vector<replicate::append_request> records;
  const bool is_next = leads() && rows != nullptr && owner_.made_step() + 1 == step;
  if (!is_next || !owner_.append_step(*rows, records)) {
    const std::uint64_t bytes = is_next ? rows->size() : 0;
    owner_.read_again();
    if (is_next)
      note_failure(lead_failure::kind::too_large, make_error_code(std::errc::message_size), step, bytes);
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
  const auto refused_for = [](std::string what, const std::string& hint) {
    return problem{make_error_code(errc::state_foreign), std::move(what), "nothing was changed; " + hint, {}};
  };
  const std::string table = "docs/operating/high-availability.md has this refusal";
  if (const auto why = owner_.reader().refused()) {
    const auto at = owner_.reader().refused_at();
    const std::string record = at ? ", at offset " + std::to_string(*at) : "";
    return refused_for("the replicated log " + to_string(of_.where) + " cannot be followed behind step " +
                           std::to_string(position().step) + record + ": " + replicate::words_of(*why) +
                           " (" + replicate::name_of(*why) + ")",
                       what_to_do(*why, table));
  }
  if (unfit_) {
    return refused_for("step " + std::to_string(unfit_->step) + " of the replicated log " +
                           to_string(of_.where) + " does not go into this state (" + name_of(unfit_->fault) +
                           ")",
                       table);
  }
  return std::nullopt;
}

}  // namespace ratchet
