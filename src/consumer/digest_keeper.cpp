// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/digest_keeper.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "consumer/side_job.hpp"
#include "core/hex.hpp"
#include "core/success.hpp"
#include "core/typed_command.hpp"
#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"

namespace ratchet {

namespace {

/// Rows are hashed in blocks of so many bytes. Replicas that cut them elsewhere do not agree.
constexpr std::size_t k_block = std::size_t{256} << 10U;

/// A log may have a point twice, with steps between.
[[nodiscard]] bool is_of_one_moment(const replicate::digest_body& a, const replicate::digest_body& b) {
  return a.point == b.point && a.step == b.step;
}

}  // namespace

void digest_keeper::take(const replicate::counted_note& note) {
  if (note.record.head.kind == replicate::record_kind::point) return take_point(note);
  if (note.own) return;
  const replicate::digest_body& told = note.record.digest;
  if (here_ && is_of_one_moment(*here_, told)) {
    compare(*std::exchange(here_, std::nullopt), told);
  } else if (reading_.valid() && met_ == told.point) {
    there_ = told;
  }
}

/// The store has the steps before the point, and none behind it, so this is the moment to take a snapshot. A
/// replica that reads what was missed has other things to do, and one that is late leaves a point out.
void digest_keeper::take_point(const replicate::counted_note& note) {
  const replicate::point_body& point = note.record.point;
  const bool is_current = note.own || of_.slot.is_at_end();
  const bool is_new = note.offset > met_at_ && point.number != met_;
  if (!is_current || reading_.valid() || !is_new) return;
  met_ = point.number;
  met_at_ = note.offset;
  here_.reset();
  there_.reset();
  auto copy = of_.store.copy({point.part, std::string{point.key}});
  if (!copy || copy.value()->position().step != note.step) return;  // none yet, or damaged: others tell of it
  own_in_ = note.own ? std::optional{of_.slot.attempt()} : std::nullopt;
  replicate::digest_body begun;
  begun.point = point.number;
  begun.step = note.step;
  reading_ = start_side_job<piece>(of_.on, [this, from = std::move(copy).value(), begun, most = point.most] {
    return read(*from, begun, most);
  });
}

result<digest_keeper::piece> digest_keeper::read(replica_copy& from, const replicate::digest_body& begun,
                                                 std::uint64_t most) {
  piece made{begun, {}};
  const auto begun_at = std::chrono::steady_clock::now();
  replicate::row_buffer rows;
  while (made.body.bytes < most) {
    if (stop_.load(std::memory_order_relaxed)) return make_error_code(errc::aborted);
    rows.clear();
    RATCHET_TRY(from.next(std::min<std::uint64_t>(k_block, most - made.body.bytes), rows));
    if (rows.empty()) break;
    made.body.hash = replicate::next_chain(made.body.hash, rows.bytes());
    made.body.bytes += rows.bytes().size();
    if (of_.on == std::launch::async) {
      const std::chrono::duration<double> due{static_cast<double>(made.body.bytes) /
                                              static_cast<double>(of_.rate)};
      std::this_thread::sleep_until(begun_at +
                                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
    }
  }
  made.behind = from.place().value_or(row_place{});
  return made;
}

void digest_keeper::turn() {
  if (reading_.valid()) {
    if (const auto read = take_side_job(reading_)) {
      if (*read) finish(read->value());
      there_.reset();
    }
  }
  if (of_.slot.leads()) make_point();
}

void digest_keeper::finish(const piece& read) {
  next_ = read.behind;
  if (!own_in_) {
    here_ = read.body;
    if (there_ && is_of_one_moment(*here_, *there_)) compare(*std::exchange(here_, std::nullopt), *there_);
  } else if (of_.slot.leads() && of_.slot.attempt() == *own_in_) {
    replicate::log_record told;
    told.head.kind = replicate::record_kind::digest;
    told.digest = read.body;
    of_.slot.append_note(told);
  }
}

void digest_keeper::make_point() {
  const auto now = of_.clock.steady();
  if (reading_.valid() || (pointed_at_ && now - *pointed_at_ < of_.rules.every)) return;
  pointed_at_ = now;
  replicate::log_record made;
  made.head.kind = replicate::record_kind::point;
  made.point.number = of_.draw();
  made.point.most = of_.rules.bytes;
  if (std::exchange(wants_all_, false)) {
    made.point.most = UINT64_MAX;
  } else if (next_.key.size() <= replicate::k_chunk_bytes) {
    made.point.part = next_.part;
    made.point.key = next_.key;
  }
  of_.slot.append_note(made);
}

void digest_keeper::compare(const replicate::digest_body& here, const replicate::digest_body& there) {
  found_.last_step = here.step;
  if (here == there) {
    ++found_.same;
    return;
  }
  ++found_.different;
  if (!found_.first_difference) found_.first_difference = here.step;
  if (lines_.due(of_.clock.steady()))
    tell(of_.log_lines, log_kind::replica_differs,
         "the state as of step {} is not the owner's: of {} bytes of rows here the digest is {}, of {} bytes "
         "there it is {}. One of the two is damaged: stop this instance, and run {} here, then on the "
         "owner's machine; see docs/operating/high-availability.md{}",
         here.step, here.bytes, to_hex(here.hash), there.bytes, to_hex(there.hash), typed_command("verify"),
         lines_.suppressed());
}

void digest_keeper::drop() {
  stop_ = true;
  reading_ = {};  // waits for one that runs
  stop_ = false;
}

}  // namespace ratchet
