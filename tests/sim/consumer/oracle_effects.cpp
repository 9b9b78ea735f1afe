// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// What reducers and transactions make of an aggregate, and say beside it.
#include <algorithm>
#include <functional>

#include "sim/consumer/plain_oracle.hpp"

namespace ratchet::sim {

std::string fold(const std::string& before, const std::string& payload) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (const std::string* part : {&before, &payload}) {
    for (const char c : *part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  }
  return std::to_string(hash);
}

std::vector<table_entry> tabled(const std::string& aggregate, const std::string& payload) {
  const std::size_t n = std::hash<std::string>{}(payload);
  std::vector<table_entry> out{
      {"own", aggregate + "/" + std::to_string(n % 4), payload},
      {"shared", std::to_string(n % 3), "to be put again"},
      {"shared", std::to_string(n % 3), aggregate + payload},
  };
  if (n % 5 == 0) out.push_back({"own", aggregate + "/" + std::to_string(n / 5 % 4), std::nullopt});
  if (n % 7 == 0) out.push_back({"shared", std::to_string(n / 7 % 3), std::nullopt});
  return out;
}

void tell(effects& fx, const std::string& aggregate, const std::string& stream, const std::string& payload) {
  const bool to_the_side = !aggregate.empty() && aggregate.back() % 2 != 0;
  fx.publish({.topic = to_the_side ? "" : "out",
              .key = aggregate,
              .payload = payload,
              .sink = to_the_side ? "side" : ""});
  for (const table_entry& t : tabled(aggregate, payload)) {
    const std::string table = std::string{t.table} + "-" + stream;
    t.value ? fx.put(table, t.key, *t.value) : fx.erase(table, t.key);
  }
}

/// What the folding reducer publishes and puts into tables.
void plain_oracle::publish(std::uint32_t which, const std::string& payload) {
  published_.emplace_back(which, payload);
  for (table_entry& e : tabled("a" + std::to_string(which), payload)) {
    if (e.value) {
      tables_.insert_or_assign({e.table, e.key}, *e.value);
    } else {
      tables_.erase({e.table, e.key});
    }
  }
}

/// Its key is kept for a window, by the clock and by the stream's time.
transacted plain_oracle::transact(const request& r, std::int64_t now) {
  const auto of = std::pair{r.id, r.aggregate};
  aggregate& a = aggregates_[r.aggregate];
  const auto filed = ids_.find(of);
  const bool is_filed = filed != ids_.end() && !a.reopened.contains(r.id);
  if (is_filed && (!floor_ || filed->second >= *floor_)) {
    const auto known = answers_.find(of);
    if (known != answers_.end() && known->second.fingerprint && r.fingerprint &&
        *known->second.fingerprint != *r.fingerprint)
      return {.code = make_error_code(errc::key_reused)};
    ++taken_;
    ++counts_[static_cast<std::size_t>(fate::repeated)];
    if (known == answers_.end()) return {.repeated = true, .number = handled(a).last.second};
    return {.repeated = true, .number = known->second.number, .reply = known->second.reply};
  }
  if (!a.waiting.empty() || !a.accepted.empty()) return {.code = make_error_code(errc::aggregate_blocked)};
  if (r.fails) return {.code = make_error_code(errc::reducer_failed)};
  ++taken_;
  ++counts_[static_cast<std::size_t>(fate::applied)];
  if (is_over(a, forgets_before_)) begin_anew(r.aggregate);
  touch(a, std::max(time(), std::optional{floor_ ? std::max(now, *floor_) : now}));
  a.last = next_number(a);
  a.exists = true;
  a.id = r.id;
  a.reopened.erase(r.id);
  if (setup_->deferred) catch_up(a);
  a.deleted = r.payload.empty();
  a.snapshot = transacted_state(*setup_, a.snapshot, r.payload);
  if (setup_->folds && !a.deleted) publish(r.aggregate, r.payload);
  ids_[of] = std::max(now + setup_->skew, floor_ ? *floor_ + setup_->window : now);
  const transacted done{.number = a.last.second, .reply = reply_to(r, a.snapshot)};
  answers_[of] = {done.number, r.fingerprint, *done.reply};
  return done;
}

std::string transacted_state(const stream_setup& setup, const std::string& before,
                             const std::string& payload) {
  return payload.empty() || !setup.folds ? payload : fold(before, payload);
}

std::string reply_to(const request& r, const std::string& after) {
  return r.key + ": " + after;
}

}  // namespace ratchet::sim
