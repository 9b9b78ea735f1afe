// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of engine that takes what other threads want done.
#include <algorithm>
#include <utility>

#include "app/engine.hpp"
#include "decode/event_id_text.hpp"
#include "decode/record_hash.hpp"

namespace ratchet {

namespace {

[[nodiscard]] problem refusal(errc code, std::string message, std::string hint) {
  return {make_error_code(code), std::move(message), std::move(hint), {}};
}

/// Why the stream takes no transactions; none where it does.
[[nodiscard]] std::optional<problem> refuses(const stream_config& s) {
  if (s.order != order::arrival) {
    return refusal(errc::usage, "stream `" + s.name + "` takes no transactions: its order is not arrival",
                   "a transaction takes the aggregate's next number, which the other orders leave to the "
                   "sender of events");
  }
  if (s.dedup.ids != id_kind::opaque) {
    return refusal(errc::usage, "stream `" + s.name + "` takes no transactions: its ids are not opaque",
                   "the key of a transaction is its id, and has no time: set `dedup: {ids: opaque}`");
  }
  return std::nullopt;
}

/// Of which engine a callback of a sink is running on this thread.
thread_local const engine* sinks_caller = nullptr;

[[nodiscard]] std::string hint_for(const std::error_code& code) {
  if (code == make_error_code(errc::not_running) || code == make_error_code(errc::timed_out))
    return "it may have been done: ask again with the same key";
  if (code == make_error_code(errc::held_back)) return "nothing was done: ask again later";
  if (code == make_error_code(errc::key_reused)) return "take a new key for a new request";
  return "nothing was changed";
}

}  // namespace

sinks engine::note_callers(const sinks& own) const {
  sinks noted;
  for (const auto& [name, to] : own.all()) {
    noted.add(name, [this, to = to](const sink_message& m) {
      struct caller {
        explicit caller(const engine* e) { sinks_caller = e; }
        ~caller() { sinks_caller = nullptr; }
        caller(const caller&) = delete;
        caller& operator=(const caller&) = delete;
        caller(caller&&) = delete;
        caller& operator=(caller&&) = delete;
      };
      const caller here{this};
      return to(m);
    });
  }
  return noted;
}

bool engine::is_called_by_sink() const noexcept {
  return sinks_caller == this;
}

reported<transacted> engine::transact(std::string_view stream, std::string_view aggregate,
                                      std::string_view key, const transaction_function& function,
                                      const transact_options& options) {
  const auto at =
      std::find_if(streams_.begin(), streams_.end(), [&](const auto& s) { return s->config.name == stream; });
  if (at == streams_.end()) {
    return refusal(errc::not_found, "there is no stream `" + std::string{stream} + "`",
                   "add it to the config, or correct the name");
  }
  if (auto refused = refuses((*at)->config)) return std::move(*refused);
  const auto id = hash_opaque_id(key);
  if (!id || aggregate.empty() || aggregate.size() > k_most_id_bytes) {
    return refusal(errc::usage, "a transaction's aggregate and key have 1 to 1024 bytes",
                   "an idempotency key is often a UUID");
  }
  if (!function) return refusal(errc::usage, "a transaction needs a function", "");
  if (inbox_.transactions.is_owner()) {
    return refusal(errc::usage, "transact() was called on the thread of run()",
                   "call it on another thread; a reducer or a transaction publishes with fx.publish");
  }
  if (is_called_by_sink()) {
    return refusal(
        errc::usage, "transact() was called by a callback of a sink of the same app",
        "the end of a run waits for the callback, which would wait for the run: let another thread "
        "of the program call it, and answer `again` until that is done");
  }
  posted_transactions::wanted wanted{.stream = static_cast<std::size_t>(at - streams_.begin()),
                                     .aggregate = std::string{aggregate},
                                     .id = *id,
                                     .fingerprint = std::nullopt,
                                     .function = &function};
  if (options.fingerprint) wanted.fingerprint = payload_hash(*options.fingerprint);
  transaction_answer answer = inbox_.transactions.run(std::move(wanted), options.timeout);
  if (!answer.code) return transacted{std::move(answer.reply), answer.repeated, answer.sequence};
  return problem{answer.code,
                 answer.text.empty() ? answer.code.message() : std::move(answer.text),
                 hint_for(answer.code),
                 {}};
}

}  // namespace ratchet
