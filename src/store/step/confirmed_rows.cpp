// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "store/step/confirmed_rows.hpp"

#include "core/assert.hpp"
#include "replicate/chain.hpp"
#include "replicate/row_buffer.hpp"
#include "store/layout/layout.hpp"
#include "store/layout/slot_row.hpp"

namespace ratchet {

namespace {

using replicate::log_position;
using replicate::row;
using replicate::row_op;

/// No earlier layout was ever replicated.
constexpr std::uint32_t k_first_replicated_layout = 6;

/// Whether a step follows what the store has.
std::optional<apply_fault> check_position(slot s, const std::optional<log_position>& from,
                                          const confirmed_rows& step) {
  const log_position& to = step.position;
  if (to.step != (from ? from->step : 0) + 1) return apply_fault::wrong_step;
  if (to.at_fence || !to.lineage || to.offset < 0 || to.fenced_step >= to.step) return apply_fault::at_fence;
  if (from && to.lineage != from->lineage) return apply_fault::other_lineage;
  if (from && (to.epoch < from->epoch || (to.epoch == from->epoch && to.writer != from->writer)))
    return apply_fault::older_epoch;
  if (from && to.offset <= from->offset) return apply_fault::offset_back;
  if (step.layout > layout::k_schema_version) return apply_fault::newer_layout;
  if (step.layout < k_first_replicated_layout) return apply_fault::older_layout;
  const hash128 before =
      from ? from->chain : replicate::founding_chain(*to.lineage, static_cast<std::uint32_t>(s));
  if (replicate::next_chain(before, step.rows) != to.chain) return apply_fault::other_chain;
  return std::nullopt;
}

std::optional<apply_fault> check_row(const row& r) {
  if (r.family >= k_family_names.size()) return apply_fault::unknown_family;
  const bool in_default = static_cast<family>(r.family) == family::standard;
  const bool is_local = r.op == row_op::erase_range ? layout::may_cover_local_key(in_default, r.key, r.value)
                                                    : layout::is_local_key(in_default, r.key);
  if (is_local) return apply_fault::local_row;
  return std::nullopt;
}

/// A floor that the row has: that of a stream's state.
void note_floor(const row& r, std::vector<applied_floor>& floors) {
  const bool is_state = static_cast<family>(r.family) == family::standard && r.op == row_op::put &&
                        r.key.front() == static_cast<char>(layout::kind::stream_state);
  if (!is_state) return;
  // What cannot be decoded is found by whoever reads it.
  const auto stream = layout::parse_stream_state_key(r.key);
  const auto state = layout::decode_stream_state(r.value);
  if (stream && state && state.assume_value().floor)
    floors.push_back({stream.assume_value(), *state.assume_value().floor});
}

}  // namespace

std::optional<apply_fault> put_rows(row_sink& to, std::string_view rows, std::vector<applied_floor>& floors) {
  replicate::row_cursor cursor{rows};
  for (row r; cursor.next(r);) {
    if (const auto fault = check_row(r)) return fault;
    const auto in = static_cast<family>(r.family);
    switch (r.op) {
      case row_op::put:
        to.put(in, r.key, r.value);
        note_floor(r, floors);
        break;
      case row_op::erase:
        to.erase(in, r.key);
        break;
      case row_op::erase_range:
        to.erase_range(in, r.key, r.value);
        break;
    }
  }
  if (cursor.fault() != replicate::row_fault::none) return apply_fault::damaged_rows;
  return std::nullopt;
}

std::optional<apply_refusal> put_confirmed(row_sink& to, slot s, const std::optional<log_position>& from,
                                           std::span<const confirmed_rows> steps,
                                           std::vector<applied_floor>& floors) {
  RATCHET_ASSERT(!steps.empty());
  std::optional<log_position> at = from;
  for (const confirmed_rows& step : steps) {
    auto fault = check_position(s, at, step);
    if (!fault) fault = put_rows(to, step.rows, floors);
    if (fault) return apply_refusal{*fault, step.position.step};
    at = step.position;
  }
  if (!from) to.erase(family::standard, layout::restore_key());  // the log has all of it
  to.put(family::standard, layout::slot_key(s), layout::encode_slot(*at));
  return std::nullopt;
}

std::optional<apply_refusal> other_decision_of(std::span<const confirmed_rows> steps,
                                               const pending_rows& pending) {
  for (const confirmed_rows& step : steps) {
    const auto decided = pending.rows_of(step.position.step);
    if (decided && *decided != step.rows)
      return apply_refusal{apply_fault::other_decision, step.position.step};
  }
  return std::nullopt;
}

}  // namespace ratchet
