// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What transactions did, and what their callers may be told.
#include <string>

#include "sim/consumer/step_book.hpp"

namespace ratchet::sim {

void step_book::transact(step& s, std::uint32_t stream, const std::vector<const request*>& asked,
                         std::int64_t now) {
  for (const request* r : asked) {
    operation o;
    o.retention = running_->retention.at(stream);
    o.what = operation::kind::transact;
    o.stream = stream;
    o.asked = r;
    o.now = now;
    oracles_[stream].set_retention(o.retention);
    s.operations.push_back(std::move(o));
    s.answers.emplace_back(r, oracles_[stream].transact(*r, now));
  }
}

std::vector<transacted> step_book::try_out(std::uint32_t stream, const std::vector<const request*>& asked,
                                           std::int64_t now) const {
  plain_oracle trial = oracles_[stream];
  trial.set_retention(running_->retention.at(stream));
  std::vector<transacted> out;
  for (const request* r : asked) out.push_back(trial.transact(*r, now));
  return out;
}

std::uint64_t step_book::step_of(const request& r, const transacted& told, std::uint64_t durable) const {
  for (const step& s : steps_) {
    if (s.number > durable) break;
    for (const auto& [asked, answer] : s.answers) {
      if (asked->wants_the_same(r) && answer == told) return s.number;
    }
  }
  throw broken("the caller of `" + r.key + "` is told number " + std::to_string(told.number) +
               (told.repeated ? " again" : "") + ", which no durable step answered");
}

}  // namespace ratchet::sim
