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

owner_requests::owner_requests(surroundings around) : around_{around} {
  if (around_.transactions != nullptr) around_.transactions->on_asked([this] { around_.wakes.wake(); });
}

owner_requests::~owner_requests() {
  if (around_.transactions != nullptr) around_.transactions->on_asked({});
}

bool owner_requests::await_sync() const {
  return around_.transactions != nullptr && around_.transactions->awaits_sync();
}

void owner_requests::answer() {
  if (around_.transactions != nullptr) around_.transactions->answer(around_.of.durable_step());
}

result<void> owner_requests::transact() {
  if (around_.transactions == nullptr) return success();
  const tickets taken = around_.transactions->take(k_transactions_of_a_turn);
  if (taken.empty()) return success();
  if (around_.flow.holds_all()) {
    around_.transactions->refuse(taken, make_error_code(errc::held_back), around_.flow.why_all());
    return success();
  }
  RATCHET_TRY(take(taken));
  if (around_.settings.state.sync == sync_mode::every_step) {
    RATCHET_TRY(around_.of.sync());
  } else if (around_.of.last_step() > around_.of.durable_step()) {
    around_.of.request_sync();
  }
  answer();
  return success();
}

result<void> owner_requests::take(const tickets& taken) {
  transaction_queue& queue = *around_.transactions;
  std::map<std::size_t, tickets> by_stream;
  for (const auto& t : taken) by_stream[t->what.stream].push_back(t);
  for (auto at = by_stream.begin(); at != by_stream.end(); ++at) {
    if (around_.flow.holds(around_.tasks[at->first]->stream.id)) {
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
        return around_.steps.transact(*around_.tasks[at->first], requests);
      } catch (...) {  // NOLINT: whoever waits for them is answered, whatever ends this run
        put_back_the_rest();
        throw;
      }
    }();
    if (!done) {
      put_back_the_rest();
      return done.error();
    }
    // Also one that changed nothing: what it was told rests on the steps before it.
    queue.written(at->second, std::move(done.value()), around_.of.last_step());
  }
  return success();
}

result<void> owner_requests::serve(bool claimed) {
  if (around_.errands != nullptr) {
    const run_meter::long_work serving{around_.meter, "taking a checkpoint"};  // flushes everything
    around_.errands->serve({around_.of, around_.steps, around_.delivery.refusals(), claimed});
  }
  // Whoever asked was told, and goes; here nobody may go on with a store of which nothing is known.
  if (const std::error_code code = around_.steps.failed()) return code;
  return success();
}

}  // namespace ratchet
