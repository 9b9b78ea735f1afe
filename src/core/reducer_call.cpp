// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/reducer_call.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "ratchet/error.hpp"

namespace ratchet {

namespace {

void stop(reducer_call& call, errc why) {
  call.how = ending::stop;
  call.cause = make_error_code(why);
}

/// About what a broker counts of the message.
std::uint64_t bytes_of(const owned_output& o, const event& e) {
  constexpr std::uint64_t k_rest = 512;  // names of headers, and those that are of one length
  const std::uint64_t key = o.key ? o.key->size() : 0;
  return k_rest + 2 * key + (o.payload ? o.payload->size() : 0) + o.type.size() + o.content_type.size() +
         e.aggregate.size() + e.stream.size();
}

/// What it published must have been announced: superseding goes by the traits, and what the brokers and
/// their rights are checked for at the start, by the config. A message that no broker would take is better
/// met here, where its event can wait, than behind the write.
void take_outputs(reducer_call& call, const reducer& reduce, const output_rules& rules, const event& e,
                  effects&& fx) {
  if (call.how != ending::done || fx.outputs().empty()) return;
  if (!reduce.traits().has_effects) {
    call.thrown =
        "it published to `" + fx.outputs().front().topic + "`, and its traits say has_effects = false";
    return stop(call, errc::output_undeclared);
  }
  const auto& topics = rules.topics;
  for (const owned_output& o : fx.outputs()) {
    if (topics && std::find(topics->begin(), topics->end(), o.topic) == topics->end()) {
      call.thrown = "it published to `" + o.topic + "`, which is not among the `outputs` of its stream";
      return stop(call, errc::output_undeclared);
    }
    const std::uint64_t bytes = bytes_of(o, e);
    if (bytes <= rules.message_bytes) continue;
    call.thrown = "its message to `" + o.topic + "` has " + std::to_string(bytes) +
                  " bytes, and outbox.message_bytes is " + std::to_string(rules.message_bytes);
    call.how = ending::give_up;
    call.cause = make_error_code(errc::output_too_large);
    return;
  }
  call.outputs = std::move(fx).take_outputs();
}

}  // namespace

std::string reducer_call::error() const {
  return thrown.empty() ? cause.message() : thrown;
}

reducer_call call_reducer(const reducer& reduce, const output_rules& rules, const event& e, state& s) {
  effects fx;
  reducer_call out;
  try {
    const outcome ended = reduce.apply(e, s, fx);
    out.how = ended.how;
    out.cause = ended.code;
  } catch (const std::exception& failure) {
    out.thrown = failure.what();
  } catch (...) {
    out.thrown = "an exception that is not a std::exception";
  }
  if (!out.thrown.empty()) {
    out.how = ending::retry;
    out.cause = make_error_code(errc::reducer_failed);
  }
  if (fx.refused() != nullptr) {
    out.effect = fx.refused();
    stop(out, errc::not_built_yet);
  }
  take_outputs(out, reduce, rules, e, std::move(fx));
  return out;
}

}  // namespace ratchet
