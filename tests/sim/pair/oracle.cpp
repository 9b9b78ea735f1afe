// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/pair/oracle.hpp"

#include "store/layout/layout.hpp"

namespace ratchet::pair_sim {

namespace {

const stream_id k_id{1};

}  // namespace

std::string folded(const std::string& before, const std::string& payload) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (const char c : before + ":" + payload)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  return std::to_string(hash);
}

plain_oracle::plain_oracle(const cluster& of) {
  for (std::size_t p = 0; p < of.inputs.size(); ++p) {
    ends_[of.partition(p)] = static_cast<std::int64_t>(of.inputs[p].size());
    for (const input_event& e : of.inputs[p]) {
      aggregate& at = all_[e.name()];
      ++consumed_;
      if (e.number == at.last) ++duplicate_;
      if (e.number < at.last) ++stale_;
      if (e.number <= at.last) continue;
      ++applied_;
      at.last = e.number;
      at.state = folded(at.state, e.payload());
      messages_[e.name()].push_back(at.state);
    }
  }
}

void plain_oracle::compare(const plain_rows::map& rows) const {
  std::map<std::string, aggregate> found;
  for (const auto& [at, value] : rows) {
    if (at.first != "sequences") continue;
    const auto key = layout::parse_aggregate_key(at.second);
    const auto row = layout::decode_aggregate(value);
    if (!key || !row) throw broken("the row of an aggregate is damaged");
    found[std::string{key.value().aggregate}] = {static_cast<std::uint32_t>(row.value().last.number),
                                                 std::string{row.value().snapshot}};
  }
  if (found.size() != all_.size()) throw broken("there are other aggregates than in the input");
  for (const auto& [name, want] : all_) {
    const auto at = found.find(name);
    if (at == found.end() || at->second.last != want.last || at->second.state != want.state)
      throw broken(name + " has another state than the oracle's");
  }
  const auto state = rows.find({"default", layout::stream_state_key(k_id)});
  if (state == rows.end()) {
    if (consumed_ > 0) throw broken("the stream has no state");
    return;
  }
  const auto ledger = layout::decode_stream_state(state->second);
  if (!ledger) throw broken("the row of a stream is damaged");
  const counters& c = ledger.value().counters;
  if (c.consumed != consumed_ || c.applied != applied_ || c.duplicate != duplicate_ || c.stale != stale_ ||
      c.accounted() != consumed_)
    throw broken("the ledger is another one: " + std::to_string(c.consumed) + " consumed, " +
                 std::to_string(c.applied) + " applied, " + std::to_string(c.duplicate) + " duplicate, " +
                 std::to_string(c.stale) + " stale; the input has " + std::to_string(consumed_) + ", " +
                 std::to_string(applied_) + ", " + std::to_string(duplicate_) + ", " +
                 std::to_string(stale_));
  for (const auto& [where, end] : ends_) {
    const auto at = rows.find({"default", layout::partition_key(k_id, where)});
    if (at == rows.end() && end == 0) continue;
    if (at == rows.end() || layout::decode_partition(at->second).value().next_offset != end)
      throw broken("the input was not read to its end");
  }
}

}  // namespace ratchet::pair_sim
