// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that does the transactions of other threads, and lives where no stream has
// topics.
#include <map>
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "pipeline/audit_rows.hpp"

namespace ratchet {

namespace {

/// Transactions of one turn at most, so that records have theirs.
constexpr std::size_t k_transactions_of_a_turn = 1024;
/// Nothing but transactions feeds such an instance, and they can go on without brokers.
constexpr std::chrono::milliseconds k_topics_patience{5'000};

}  // namespace

void consumer_session::listen_for_transactions() {
  if (around_.transactions == nullptr) return;
  around_.transactions->on_asked([this] { around_.from.wake(); });
}

turn_result<> consumer_session::transact() {
  if (around_.transactions == nullptr) return go_on();
  transaction_queue& queue = *around_.transactions;
  queue.answer(around_.to.durable_step());  // also those of the session before
  // Before the claim the state may be another's to change.
  if (!assigned_once_) return go_on();
  const std::vector<transaction_queue::ticket_ptr> taken = queue.take(k_transactions_of_a_turn);
  if (taken.empty()) return go_on();
  if (flow_.holds_all()) {
    queue.refuse(taken, make_error_code(errc::held_back), flow_.why_all());
    return go_on();
  }
  std::map<std::size_t, std::vector<transaction_queue::ticket_ptr>> by_stream;
  for (const auto& t : taken) by_stream[t->what.stream].push_back(t);
  for (auto at = by_stream.begin(); at != by_stream.end(); ++at) {
    if (flow_.holds(around_.streams[at->first]->id)) {
      queue.refuse(at->second, make_error_code(errc::held_back),
                   "more than outbox.bytes waits for a sink that the stream publishes to");
      continue;
    }
    std::vector<transaction_request> requests;
    requests.reserve(at->second.size());
    for (const auto& t : at->second)
      requests.push_back({t->what.aggregate, t->what.id, t->what.fingerprint, t->what.function});
    const auto put_back_the_rest = [&] {
      for (; at != by_stream.end(); ++at) queue.put_back(at->second);
    };
    auto done = [&] {
      try {
        return pipeline_.transact(*around_.streams[at->first], requests);
      } catch (...) {  // NOLINT: whoever waits for them is answered, whatever ends this run
        put_back_the_rest();
        throw;
      }
    }();
    if (!done) {
      put_back_the_rest();
      return store_failed(done.error());
    }
    // Also one that changed nothing: what it was told rests on the steps before it.
    queue.written(at->second, std::move(done.value()), around_.to.last_step());
  }
  if (around_.settings.state.sync == sync_mode::every_step) {
    RATCHET_TRY(stored(around_.to.sync()));
  } else if (around_.to.last_step() > around_.to.durable_step()) {
    around_.to.request_sync();
  }
  queue.answer(around_.to.durable_step());
  return go_on();
}

turn_result<> consumer_session::start_alone() {
  if (const std::vector<std::string> wanted = output_topics(around_.streams); !wanted.empty()) {
    const auto found = around_.from.partitions(wanted, k_topics_patience);
    if (!found && found.error() == make_error_code(errc::source_unavailable)) {
      tell(around_.log, log_kind::brokers_away,
           "the topics that are published to could not be checked: {}; what is published waits "
           "until the brokers are there",
           found.error().message());
    } else if (!found) {
      return topics_failed(found.error(), wanted, topic_use::written);
    }
  }
  RATCHET_TRY(draw(0));
  RATCHET_TRY(accept_start());
  const auto copy = around_.to.copy();
  if (copy || around_.to.has_unwritten_start()) {
    store_change change;
    change.lift_copy_mark = copy.has_value();
    std::vector<audit_row> audits;
    if (copy) audits.push_back(audit_of_copy(*copy, false, around_.clock.now()));
    if (const auto entered = pipeline_.enter_positions({}, {}, std::move(audits), std::move(change));
        !entered) {
      return store_failed(entered.error());
    }
    RATCHET_TRY(stored(around_.to.sync()));
  }
  RATCHET_TRY(stored(pipeline_.leave_out_unread(pipeline::plain_files::are_not_read)));
  for (const auto& s : around_.streams) around_.board.set_assigned(s->config.name, {});
  around_.board.set_ready(true);
  tell(around_.log, log_kind::waiting_for_transactions,
       "no stream has topics, nothing is read: what waits is sent and tried again, and a program's "
       "transactions are taken");
  if (options_.resume.option != resume_option::none && !options_.resume.was_used) {
    tell(around_.log, log_kind::resume_option_unused,
         "`--resume {}` had nothing to do: it says where topics are read on, and no stream has any",
         name_of(options_.resume.option));
  }
  assigned_once_ = true;
  assigned_at_ = around_.clock.steady();
  around_.meter.assigned();
  return go_on();
}

}  // namespace ratchet
