// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/base_keeper.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "consumer/base_writer.hpp"
#include "consumer/side_job.hpp"
#include "core/success.hpp"
#include "ports/error_class.hpp"
#include "text/partition_name.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_look_patience{5'000};
constexpr milliseconds k_slice{50};
/// Behind a failure.
constexpr std::chrono::seconds k_pause{60};
/// The same before there is a first base: nothing is read meanwhile.
constexpr std::chrono::seconds k_pause_of_begin{5};
/// A right that is missing comes with a person.
constexpr std::chrono::seconds k_denied_pause{600};
constexpr std::chrono::seconds k_pause_behind_half_a_base{600};
constexpr int k_turns_of_one_thread = 100;
constexpr std::size_t k_most_ignored = 10'000;
/// The topic may be another one by now.
constexpr std::chrono::hours k_log_look_again{1};
/// Whether the log has the record at a base's position is a question of two turns, if the brokers answer.
constexpr std::chrono::seconds k_vouch_patience{60};
/// A log is cut where it is longer than so many bases.
constexpr std::uint64_t k_bases_of_log = 2;

[[nodiscard]] std::int64_t to_ms(timestamp t) {
  return t.time_since_epoch().count();
}

}  // namespace

base_keeper::base_keeper(dependencies of) : of_{std::move(of)} {}

base_progress base_keeper::progress() const {
  base_progress p;
  if (newest_)
    p.newest = base_status{newest_->end.of.at.step, timestamp{milliseconds{newest_->end.of.made}},
                           newest_->end.bytes};
  if (doing_ == doing::writing) p.writes = bytes_written_.load(std::memory_order_relaxed);
  p.written = bases_written_;
  p.failures = base_failures_;
  p.trouble = trouble_;
  return p;
}

std::uint64_t base_keeper::log_since_base() const {
  const std::uint64_t all = of_.slot.position().bytes;
  const std::uint64_t before = newest_ ? newest_->end.of.at.bytes : 0;
  return all > before ? all - before : 0;
}

void base_keeper::stop() {
  const bool drops_base = doing_ == doing::writing;
  stop_ = true;
  // Waits for a job that runs; one that was put off is never done.
  look_ = {};
  write_ = {};
  cut_ = {};
  asked_.clear();
  stop_ = false;
  doing_ = doing::nothing;
  // Half a base stays where it is until the next one is whole. They must not pile up where leads are short.
  if (drops_base) not_before_ = of_.clock.steady() + k_pause_behind_half_a_base;
}

void base_keeper::turn() {
  const bool goes_on = attempt_ && of_.slot.leads() && of_.slot.attempt() == *attempt_;
  if (!goes_on) {
    if (must_wait() && !of_.slot.restored_bytes()) return write_begin();
    if (doing_ != doing::nothing) stop();
    attempt_.reset();
    looked_at_.reset();
    if (!of_.slot.leads()) return;
    attempt_ = of_.slot.attempt();
  }
  switch (doing_) {
    case doing::nothing:
      return begin();
    case doing::looking:
      if (auto seen = looked(k_pause)) take_newest(std::move(*seen));
      return;
    case doing::vouching:
      return take_vouched();
    case doing::writing:
      if (const auto done = wrote("a base cannot be written", k_pause)) {
        made_ = *done;
        check();
      }
      return;
    case doing::checking:
      return turn_of_check();
    case doing::proving:
      if (of_.clock.steady() < not_before_) return;
      if (of_.slot.is_proven()) return cut();
      if (of_.clock.steady() - proves_since_ >= k_pause) prove();
      return;
    case doing::cutting:
      if (const auto done = take_side_job(cut_)) note_cut(*done);
      return;
  }
}

/// Of a log that is to go on from a state: its first base. Nothing is cut, as nothing is there.
void base_keeper::write_begin() {
  switch (doing_) {
    case doing::looking:
      if (const auto seen = looked(k_pause_of_begin)) take_begin(*seen);
      return;
    case doing::writing:
      if (const auto done = wrote("the first base cannot be written", k_pause_of_begin)) {
        is_own_begin_ = true;
        look_for_newest();
      }
      return;
    case doing::nothing:
    case doing::vouching:
    case doing::checking:
    case doing::proving:
    case doing::cutting:
      if (of_.clock.steady() >= not_before_) look_for_newest();
      return;
  }
}

/// The newest base, once it was looked for; none: not yet, or that failed and is put off.
std::optional<bases_found> base_keeper::looked(std::chrono::seconds pause) {
  auto seen = take_side_job(look_);
  if (!seen) return std::nullopt;
  doing_ = doing::nothing;
  if (*seen) {
    for (const std::int64_t offset : seen->value().false_ends) ignore(offset, "is not whole");
    return std::move(*seen).value();
  }
  put_off("the newest base cannot be looked for", seen->error(), pause);
  return std::nullopt;
}

/// Each is told of once.
void base_keeper::ignore(std::int64_t offset, std::string_view why) {
  if (ignored_.size() >= k_most_ignored || !ignored_.insert(offset).second) return;
  ++base_failures_;
  trouble_ = "offset " + std::to_string(offset) + " of " + to_string(of_.bases_slot) +
             " says that it ends a base, which " + std::string{why};
  if (ignored_lines_.due(of_.clock.steady()))
    tell_of(of_.log_lines, log_kind::base_ignored, {.where = &of_.bases_slot, .offset = offset},
            trouble_ +
                ": it is skipped as if it were not there, and nothing is cut for it. Check who may write to "
                "that topic" +
                ignored_lines_.suppressed());
}

/// A base, once it is written; none: not yet, or that failed and is put off.
std::optional<base_keeper::written> base_keeper::wrote(std::string_view trouble, std::chrono::seconds pause) {
  auto done = take_side_job(write_);
  if (!done) return std::nullopt;
  doing_ = doing::nothing;
  if (*done) return done->value();
  put_off(trouble, done->error(), pause);
  return std::nullopt;
}

void base_keeper::note_cut(const result<void>& done) {
  if (!done) {
    doing_ = doing::proving;  // until it is cut no further base is written: they would pile up
    const bool is_denied = classify(done.error()) == error_class::denied;
    return put_off("the log `" + of_.topic + "` and its bases cannot be cut", done.error(),
                   is_denied ? k_denied_pause : k_pause);
  }
  doing_ = doing::nothing;
  ++bases_written_;
  trouble_.clear();
  tell(of_.log_lines, log_kind::base_written,
       "wrote a base of step {}: {} bytes in {} records; the log begins at it now", made_.end.of.at.step,
       made_.end.bytes, made_.end.parts + 2);
}

void base_keeper::know(const replicate::found_base& found) {
  if (newest_ != found) newest_since_ = of_.clock.steady();
  newest_ = found;
}

/// Another owner's base says how much the log has grown since. Nothing is cut for it: only who has written a
/// base knows what must be in it.
void base_keeper::take_newest(bases_found&& seen) {
  looked_at_ = of_.clock.steady();
  asked_ = std::move(seen.whole);
  if (asked_.empty()) return newest_.reset();
  if (asked_.back() == newest_) return;
  newest_.reset();
  ask_for_newest();
}

void base_keeper::ask_for_newest() {
  for (; !asked_.empty(); asked_.pop_back()) {
    const replicate::log_position& base = asked_.back().end.of.at;
    const replicate::log_position& here = of_.slot.position();
    if (base.step <= here.step && base.bytes <= here.bytes && base.offset <= here.offset) {
      asked_since_ = of_.clock.steady();
      doing_ = doing::vouching;
      return of_.slot.vouch_for(base);
    }
    ignore(asked_.back().ended_at, "is of a step that the log does not have");
  }
}

void base_keeper::take_vouched() {
  const auto said = of_.slot.vouched();
  if (!said && of_.clock.steady() - asked_since_ < k_vouch_patience) return;
  doing_ = doing::nothing;
  if (!said) {
    looked_at_.reset();
    return put_off("the log cannot be asked for the newest base", make_error_code(errc::timed_out), k_pause);
  }
  if (*said) return know(asked_.back());
  ignore(asked_.back().ended_at, "is of a step that the log does not have");
  asked_.pop_back();
  ask_for_newest();
}

/// Of a log that is to go on from this state. A base of just this position is what it goes on from.
void base_keeper::take_begin(const bases_found& seen) {
  for (const replicate::found_base& each : seen.whole) {
    if (each.end.of.at != of_.slot.position()) continue;
    has_begin_ = true;
    know(each);
  }
  if (!has_begin_ && std::exchange(is_own_begin_, false))
    return put_off("the first base that was written is another one in its topic",
                   make_error_code(errc::state_damaged), k_pause_of_begin);
  if (!has_begin_) return write();
  if (!is_own_begin_) return;
  ++bases_written_;
  trouble_.clear();
  tell(of_.log_lines, log_kind::base_written,
       "wrote the first base, of step {}: {} bytes in {} records; the log `{}` goes on from it",
       newest_->end.of.at.step, newest_->end.bytes, newest_->end.parts + 2, of_.topic);
}

/// What the brokers say they keep is read back before anything is deleted for it.
void base_keeper::check() {
  base_wish wish;
  wish.from = made_.begun_at;
  look(wish);
  doing_ = doing::checking;
}

/// Until it can be read, no further one is written: they would pile up.
void base_keeper::turn_of_check() {
  if (!look_.valid()) {
    if (of_.clock.steady() >= not_before_) check();
  } else if (const auto seen = looked(k_pause)) {
    take_checked(*seen);
  } else {
    doing_ = doing::checking;
  }
}

void base_keeper::take_checked(const bases_found& seen) {
  const auto own = std::find_if(seen.whole.begin(), seen.whole.end(),
                                [this](const replicate::found_base& each) { return each.end == made_.end; });
  if (own == seen.whole.end())
    return put_off("the base that was written is another one in its topic",
                   make_error_code(errc::state_damaged), k_pause_behind_half_a_base);
  made_.begun_at = own->begun_at;
  looked_at_ = of_.clock.steady();
  know(*own);
  prove();
}

void base_keeper::prove() {
  doing_ = doing::proving;
  proves_since_ = of_.clock.steady();
  of_.slot.prove_lead();
}

void base_keeper::put_off(std::string_view what, std::error_code why, std::chrono::seconds pause) {
  not_before_ = of_.clock.steady() + pause;
  ++base_failures_;
  trouble_ = std::string{what} + ": " + why.message();
  if (failures_.due(of_.clock.steady()))
    tell(of_.log_lines, log_kind::base_put_off, "{}: {}; both grow meanwhile, and it is tried again{}", what,
         why.message(), failures_.suppressed());
}

void base_keeper::begin() {
  if (of_.clock.steady() < not_before_) return;
  if (!looked_at_ || of_.clock.steady() - *looked_at_ >= k_log_look_again) {
    look_for_newest();
  } else if (is_due()) {
    write();
  }
}

void base_keeper::look_for_newest() {
  doing_ = doing::looking;
  base_wish wish;
  if (attempt_ && looked_at_) wish.known = newest_;
  look(wish);
}

void base_keeper::look(base_wish wish) {
  const replicate::log_position& at = of_.slot.position();
  wish.which = {of_.what.layout, at.lineage, of_.what.meaning, of_.slot.log_first().value_or(0)};
  if (of_.on == std::launch::async) {
    wish.rate = of_.rules.rate;
    wish.patience = k_look_patience;
  }
  look_ = start_side_job<bases_found>(of_.on, [this, wish] { return look_at_bases(of_.bases, wish, stop_); });
}

bool base_keeper::is_due() const {
  const replicate::log_position& at = of_.slot.position();
  if (!newest_ && of_.slot.log_first().value_or(0) > 0) return true;  // nobody could begin anew
  const std::uint64_t size = newest_ ? newest_->end.bytes : 0;
  const std::uint64_t before = newest_ ? newest_->end.of.at.bytes : 0;
  if (at.bytes <= before) return false;
  if (at.bytes - before >= std::max(k_bases_of_log * size, of_.rules.at_least)) return true;
  return newest_ && is_old();
}

/// Another machine's clock may be wrong by years, in both directions.
bool base_keeper::is_old() const {
  const std::int64_t now = to_ms(of_.clock.now());
  const std::int64_t made = newest_->end.of.made;
  if (now >= made && milliseconds{now - made} >= of_.rules.every) return true;
  return of_.clock.steady() - newest_since_ >= of_.rules.every;
}

void base_keeper::write() {
  auto copy = of_.store.copy();
  if (!copy) return put_off("the state cannot be read for a base", copy.error(), k_pause);
  replicate::base_content what = of_.what;
  what.made = to_ms(of_.clock.now());
  doing_ = doing::writing;
  of_.digests.ask_for_all();
  bytes_written_ = 0;
  write_ = start_side_job<written>(of_.on,
                                   [this, what, base = of_.draw(), from = std::move(copy).value()]() mutable {
                                     return write_base(std::move(from), base, what);
                                   });
}

result<base_keeper::written> base_keeper::write_base(std::unique_ptr<replica_copy> from, std::uint64_t base,
                                                     const replicate::base_content& what) {
  base_writer writer{of_.bases, std::move(from), base, what};
  const auto begun = std::chrono::steady_clock::now();
  int turns_left = k_turns_of_one_thread;
  for (;;) {
    if (stop_.load(std::memory_order_relaxed)) {
      of_.bases.give_up();
      return make_error_code(errc::aborted);
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun + k_slice;
    const bool is_paced = of_.on == std::launch::async;
    const auto allowed =
        is_paced ? static_cast<std::uint64_t>(passed.count() * static_cast<double>(of_.rules.rate))
                 : UINT64_MAX;
    RATCHET_TRY(const bool done, writer.turn(allowed > writer.bytes() ? allowed - writer.bytes() : 0));
    bytes_written_.store(writer.bytes(), std::memory_order_relaxed);
    if (done) return written{writer.end(), writer.begun_at()};
    of_.bases.wait(k_slice);
    if (is_paced) {
      std::this_thread::sleep_for(k_slice / 5);
    } else if (--turns_left == 0) {  // whoever has one thread cannot be told to stop
      of_.bases.give_up();
      return make_error_code(errc::timed_out);
    }
  }
}

/// No newer base than this one can be before it in its topic: a record that was appended behind it counts, so
/// each later owner has fenced behind that.
void base_keeper::cut() {
  doing_ = doing::cutting;
  cut_ = start_side_job<void>(of_.on, [this] { return cut_both(); });
}

result<void> base_keeper::cut_both() {
  RATCHET_TRY(of_.log.delete_before(made_.end.of.at.offset));
  if (made_.begun_at && !stop_.load(std::memory_order_relaxed)) {
    RATCHET_TRY(of_.bases.delete_before(*made_.begun_at));
  }
  return success();
}

}  // namespace ratchet
