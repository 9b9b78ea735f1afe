// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/base_keeper.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "consumer/base_writer.hpp"
#include "core/success.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_look_timeout{5'000};
constexpr milliseconds k_slice{50};
/// Behind a failure.
constexpr std::chrono::seconds k_pause{60};
/// A log is cut where it is longer than so many bases.
constexpr std::uint64_t k_bases_of_log = 2;

[[nodiscard]] std::int64_t to_ms(timestamp t) {
  return t.time_since_epoch().count();
}

}  // namespace

base_keeper::base_keeper(dependencies of) : of_{std::move(of)} {}

template <class T>
std::optional<T> base_keeper::take(std::future<T>& of) {
  if (of.wait_for(std::chrono::seconds{0}) == std::future_status::timeout) return std::nullopt;
  return of.get();  // ready, or deferred to now
}

/// What is under way ends within a slice.
void base_keeper::stop() {
  stop_ = true;
  if (look_.valid()) look_.wait();
  if (write_.valid()) write_.wait();
  if (cut_.valid()) cut_.wait();
  look_ = {};
  write_ = {};
  cut_ = {};
  stop_ = false;
  doing_ = doing::nothing;
}

void base_keeper::turn() {
  const bool goes_on = attempt_ && of_.slot.leads() && of_.slot.attempt() == *attempt_;
  if (!goes_on) {
    if (doing_ != doing::nothing) stop();
    attempt_.reset();
    has_looked_ = false;
    if (!of_.slot.leads()) return;
    attempt_ = of_.slot.attempt();
  }
  switch (doing_) {
    case doing::nothing:
      return begin();
    case doing::looking:
      if (auto seen = take(look_)) {
        doing_ = doing::nothing;
        if (!*seen) return put_off("the newest base cannot be looked for", seen->error());
        has_looked_ = true;
        newest_ = std::move(*seen).value();
      }
      return;
    case doing::writing:
      if (auto done = take(write_)) {
        doing_ = doing::nothing;
        if (!*done) return put_off("a base cannot be written", done->error());
        made_ = std::move(*done).value();
        doing_ = doing::proving;
        of_.slot.prove_lead();
      }
      return;
    case doing::proving:
      if (of_.slot.is_proven() && of_.clock.steady() >= not_before_) cut();
      return;
    case doing::cutting:
      if (auto done = take(cut_)) {
        newest_ = made_.end;
        const bool is_cut = done->has_value();
        // A right that is missing comes with a person: the next base is written all the same.
        doing_ = is_cut || classify(done->error()) == error_class::denied ? doing::nothing : doing::proving;
        if (!is_cut) return put_off("the log cannot be cut", done->error());
        tell(of_.log_lines, log_kind::base_written,
             "wrote a base of step {}: {} bytes in {} records; the log begins at it now",
             made_.end.of.at.step, made_.end.bytes, made_.end.parts + 2);
      }
      return;
  }
}

void base_keeper::put_off(const char* what, std::error_code why) {
  not_before_ = of_.clock.steady() + k_pause;
  if (failures_.due(of_.clock.steady()))
    tell(of_.log_lines, log_kind::base_put_off, "{}: {}; the log grows meanwhile, and it is tried again{}",
         what, why.message(), failures_.suppressed());
}

void base_keeper::begin() {
  if (of_.clock.steady() < not_before_) return;
  if (!has_looked_) {
    doing_ = doing::looking;
    look_ = std::async(of_.on, [this] { return newest_base(of_.bases, k_look_timeout, stop_); });
  } else if (is_due()) {
    write();
  }
}

bool base_keeper::is_due() const {
  const replicate::log_position& at = of_.slot.position();
  const bool is_ours = newest_ && newest_->of.at.lineage == at.lineage;
  const std::uint64_t size = is_ours ? newest_->bytes : 0;
  const std::uint64_t before = is_ours ? newest_->of.at.bytes : 0;
  if (at.bytes <= before) return false;
  if (at.bytes - before >= std::max(k_bases_of_log * size, of_.rules.at_least)) return true;
  return is_ours && milliseconds{to_ms(of_.clock.now()) - newest_->of.made} >= of_.rules.every;
}

void base_keeper::write() {
  auto copy = of_.store.copy();
  if (!copy) return put_off("the state cannot be read for a base", copy.error());
  replicate::base_content what = of_.what;
  what.made = to_ms(of_.clock.now());
  doing_ = doing::writing;
  write_ = std::async(of_.on, [this, what, base = of_.draw(), from = std::move(copy).value()]() mutable {
    return write_base(std::move(from), base, what);
  });
}

result<base_keeper::written> base_keeper::write_base(std::unique_ptr<replica_copy> from, std::uint64_t base,
                                                     const replicate::base_content& what) {
  base_writer writer{of_.bases, std::move(from), base, what};
  const auto begun = std::chrono::steady_clock::now();
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
    if (done) return written{writer.end(), writer.begun_at()};
    of_.bases.wait(k_slice);
    if (is_paced) std::this_thread::sleep_for(k_slice / 5);
  }
}

/// No later base than this one can be there, nor be begun before this one: this instance led when it was
/// whole, and whoever leads later begins behind it.
void base_keeper::cut() {
  doing_ = doing::cutting;
  cut_ = std::async(of_.on, [this]() -> result<void> {
    RATCHET_TRY(of_.log.delete_before(made_.end.of.at.offset));
    if (made_.begun_at) {
      RATCHET_TRY(of_.bases.delete_before(*made_.begun_at));
    }
    return success();
  });
}

}  // namespace ratchet
