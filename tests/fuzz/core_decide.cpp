// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_input.hpp"
#include "ratchet/gate.hpp"
#include "support/core_gate_reference.hpp"

/// Any facts under any rules: decide() says what the first row of the table that fits says.

using namespace ratchet;

namespace {

/// Mostly the neighbours of `other`, where the edges are.
std::uint64_t near(fuzz::fuzz_input& in, std::uint64_t other) {
  switch (in.u8() % 8U) {
    case 0:
      return other;
    case 1:
      return other + 1;
    case 2:
      return other - 1;
    case 3:
      return 0;
    case 4:
      return 1;
    case 5:
      return ~std::uint64_t{0};
    case 6:
      return in.u8();
    default:
      return in.u64();
  }
}

gate_rules read_rules(fuzz::fuzz_input& in) {
  gate_rules rules;
  rules.order = static_cast<order>(in.u8() % 3U);
  rules.first = static_cast<first_number>(in.u8() % 3U);
  rules.epoch_change = static_cast<epoch_change>(in.u8() % 2U);
  return rules;
}

gate_facts read_facts(fuzz::fuzz_input& in) {
  gate_facts facts;
  facts.waiting = static_cast<claim>(in.u8() % 3U);
  facts.below_position = in.flag();
  facts.last_was_skipped = in.flag();
  facts.has_id = in.flag();
  facts.id_seen = in.flag();
  facts.id_below_floor = in.flag();
  facts.same_id_as_last = in.flag();
  facts.same_payload_as_last = in.flag();
  facts.in_skipped_gap = in.flag();
  facts.older_than_retention = in.flag();
  facts.blocked = in.flag();
  if (in.flag()) {
    const std::uint64_t epoch = near(in, 0);
    facts.last = sequence{epoch, near(in, 0)};
  }
  const sequence last = facts.last.value_or(sequence{});
  const std::uint64_t epoch = near(in, last.epoch);
  facts.incoming = {epoch, near(in, last.number)};
  return facts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::fuzz_input in{data, size};
  gate_rules rules = read_rules(in);
  const gate_facts facts = read_facts(in);
  rules.ties_by_offset = rules.order == order::latest && in.flag();
  rules.numbers_or_text = rules.order == order::latest && in.flag();
  const gate_reference::reference_row* row = gate_reference::k_table;
  while (!row->fits(rules, facts)) ++row;
  const decision decided = decide(rules, facts);
  RATCHET_FUZZ_CHECK(decided == row->want);
  // Whatever else it is told, the gate never lets the last one pass again, but for another one that ties with
  // it.
  const bool ties = rules.ties_by_offset && facts.last && facts.incoming == *facts.last;
  if (rules.order != order::arrival && facts.last && facts.incoming <= *facts.last && !ties) {
    RATCHET_FUZZ_CHECK(decided.verdict != verdict::applied && decided.verdict != verdict::parked);
  }
  return 0;
}
