// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that makes steps durable, and commits the offsets behind them.
#include <chrono>

#include "consumer/consumer_session.hpp"

namespace ratchet {

namespace {

using std::chrono::seconds;

/// While the brokers refuse this user, it is found out so often whether they still do.
constexpr seconds k_denied_pause{5};
/// Syncs in the background that bring nothing for so long are followed by one that is waited for.
constexpr seconds k_sync_patience{10};

}  // namespace

std::optional<session_result> consumer_session::keep_durable(time_point now) {
  const std::uint64_t durable = around_.to.durable_step();
  if (around_.to.last_step() <= durable || durable != durable_seen_) {
    durable_seen_ = durable;
    durable_moved_ = now;
  }
  if (around_.to.last_step() <= durable || now - last_sync_ < around_.settings.state.commit_interval) {
    return std::nullopt;
  }
  last_sync_ = now;
  if (now - durable_moved_ < k_sync_patience) {
    around_.to.request_sync();
    return std::nullopt;
  }
  // A sync in the background fails without a word; one that is waited for says so.
  if (const auto synced = around_.to.sync(); !synced) return store_failed(synced.error());
  return std::nullopt;
}

void consumer_session::commit_due(time_point now) {
  if (assigned_.empty() || now - last_commit_ < around_.settings.state.commit_interval) return;
  if (denied_ && now - last_commit_ < k_denied_pause)
    return;  // each attempt is a question whether it may again
  const auto requests =
      denied_ ? committer_->again(around_.to.durable_step()) : committer_->due(around_.to.durable_step());
  if (requests.empty()) return;
  last_commit_ = now;
  const auto begun = around_.from.commit(requests);
  if (begun) return committer_->started();
  around_.meter.commit_ended(false);
  if (commit_failures_.due(now)) {
    tell(around_.log, log_kind::commit_failed, "offsets were not committed and will be tried again: {}{}",
         begun.error().message(), commit_failures_.held_back());
  }
}

void consumer_session::on_commit_done(const notice::commit_done& c) {
  committer_->finished(c.offsets, !c.code);
  around_.meter.commit_ended(!c.code);
  if (c.access) return note_denied(*c.access, c.code.message());
  if (!c.code) note_allowed();
  if (c.code) {
    if (commit_failures_.due(around_.clock.steady()))
      tell(around_.log, log_kind::commit_failed, "a commit of offsets failed and will be tried again: {}{}",
           c.code.message(), commit_failures_.held_back());
    return;
  }
  note_answer();
  for (const committed_offset& o : c.offsets) {
    if (o.offset) around_.board.set_committed(stream_name(o.where), o.where, *o.offset);
  }
}

}  // namespace ratchet
