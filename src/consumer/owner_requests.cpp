// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/owner_requests.hpp"

#include <cstddef>
#include <map>
#include <system_error>
#include <utility>

#include "core/success.hpp"

namespace ratchet {

namespace {

/// Transactions of one turn at most, so that records have theirs.
constexpr std::size_t k_transactions_of_a_turn = 1024;

}  // namespace

owner_requests::owner_requests(dependencies deps) : deps_{deps} {
  if (deps_.inbox != nullptr) deps_.inbox->on_post([this] { deps_.wakes.wake(); });
}

owner_requests::~owner_requests() {
  if (deps_.inbox != nullptr) deps_.inbox->on_post({});
}

bool owner_requests::await_sync() const {
  return deps_.inbox != nullptr && deps_.inbox->transactions.awaits_sync();
}

void owner_requests::answer() {
  if (deps_.inbox != nullptr) deps_.inbox->transactions.answer(deps_.store.durable_step());
}

result<void> owner_requests::transact() {
  if (deps_.inbox == nullptr) return success();
  const tickets taken = deps_.inbox->transactions.take(k_transactions_of_a_turn);
  if (taken.empty()) return success();
  if (deps_.flow.holds_all()) {
    deps_.inbox->transactions.refuse(taken, make_error_code(errc::held_back), deps_.flow.why_all());
    return success();
  }
  RATCHET_TRY(take(taken));
  if (deps_.settings.state.sync == sync_mode::every_step) {
    RATCHET_TRY(deps_.store.sync());
  } else if (deps_.store.last_step() > deps_.store.durable_step()) {
    deps_.store.request_sync();
  }
  answer();
  return success();
}

result<void> owner_requests::take(const tickets& taken) {
  posted_transactions& queue = deps_.inbox->transactions;
  std::map<std::size_t, tickets> by_stream;
  for (const auto& t : taken) by_stream[t->what.stream].push_back(t);
  for (auto at = by_stream.begin(); at != by_stream.end(); ++at) {
    if (deps_.flow.holds(deps_.tasks[at->first]->stream.id)) {
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
        return deps_.steps.transact(*deps_.tasks[at->first], requests);
      } catch (...) {  // NOLINT: whoever waits for them is answered, whatever ends this run
        put_back_the_rest();
        throw;
      }
    }();
    if (!done) {
      put_back_the_rest();
      return done.error();
    }
    // What one step could not take is for the next turn, before all that came later.
    const auto begun = at->second.begin() + static_cast<std::ptrdiff_t>(done.value().size());
    const tickets left{begun, at->second.end()};
    at->second.erase(begun, at->second.end());
    // Also one that changed nothing: what it was told rests on the steps before it.
    queue.written(at->second, std::move(done.value()), deps_.store.last_step());
    if (left.empty()) continue;
    queue.put_back(left);
    deps_.wakes.wake();
  }
  return success();
}

result<void> owner_requests::serve(bool claimed) {
  if (deps_.inbox != nullptr) {
    const run_meter::long_work serving{deps_.meter, "taking a checkpoint"};  // flushes everything
    deps_.inbox->tasks.run_next({deps_.store, deps_.steps, deps_.delivery.refusals(), claimed});
  }
  // The asker has its answer, and goes; here nobody may go on with a store of which nothing is known.
  if (const std::error_code code = deps_.steps.failed()) return code;
  return success();
}

}  // namespace ratchet
