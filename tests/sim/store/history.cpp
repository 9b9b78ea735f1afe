// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/store/history.hpp"

#include <array>
#include <random>
#include <utility>

namespace ratchet::store_sim {

const char* name_of(op_kind kind) noexcept {
  switch (kind) {
    case op_kind::step:
      return "step";
    case op_kind::steps_at_block_end:
      return "steps_at_block_end";
    case op_kind::sync:
      return "sync";
    case op_kind::sync_with_step_inside:
      return "sync_with_step_inside";
    case op_kind::background_sync:
      return "background_sync";
    case op_kind::flush:
      return "flush";
    case op_kind::compact:
      return "compact";
    case op_kind::read:
      return "read";
    case op_kind::checkpoint:
      return "checkpoint";
    case op_kind::claim:
      return "claim";
    case op_kind::name_cluster:
      return "name_cluster";
    case op_kind::reopen:
      return "reopen";
    case op_kind::kill:
      return "kill";
    case op_kind::power_cut:
      return "power_cut";
    case op_kind::fault:
      return "fault";
    case op_kind::read_fault:
      return "read_fault";
    case op_kind::damage:
      return "damage";
  }
  return "";
}

std::string to_text(const operation& op) {
  return std::string{name_of(op.kind)} + " (" + std::to_string(op.seed) + ")";
}

history make_history(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto draw = [&](auto& table) {
    unsigned sum = 0;
    for (const auto& [kind, weight] : table) sum += weight;
    std::uint64_t at = random() % sum;
    for (const auto& [kind, weight] : table) {
      if (at < weight) return kind;
      at -= weight;
    }
    return op_kind::step;
  };
  using weighted = std::pair<op_kind, unsigned>;
  static constexpr std::array<weighted, 11> k_work{{{op_kind::step, 49},
                                                    {op_kind::steps_at_block_end, 5},
                                                    {op_kind::sync, 11},
                                                    {op_kind::sync_with_step_inside, 4},
                                                    {op_kind::background_sync, 4},
                                                    {op_kind::flush, 12},
                                                    {op_kind::compact, 3},
                                                    {op_kind::read, 3},
                                                    {op_kind::checkpoint, 3},
                                                    {op_kind::claim, 4},
                                                    {op_kind::name_cluster, 2}}};
  static constexpr std::array<weighted, 5> k_mishaps{{{op_kind::reopen, 1},
                                                      {op_kind::kill, 1},
                                                      {op_kind::power_cut, 3},
                                                      {op_kind::fault, 6},
                                                      {op_kind::read_fault, 2}}};
  history ops;
  const std::uint64_t mishaps_of_100 = 4 + random() % 16;
  for (std::uint64_t i = 12 + random() % 30; i > 0; --i) {
    const bool mishap = random() % 100 < mishaps_of_100;
    const op_kind kind = mishap ? draw(k_mishaps) : draw(k_work);
    ops.push_back({kind, random() % 1'000'000});
    if (kind == op_kind::steps_at_block_end && random() % 2 == 0)
      ops.push_back({op_kind::power_cut, random() % 1'000'000});
  }
  ops.push_back({random() % 3 == 0 ? op_kind::damage : op_kind::power_cut, random() % 1'000'000});
  return ops;
}

history plain_history() {
  using enum op_kind;
  history ops;
  std::uint64_t seed = 1;
  for (const op_kind kind : {step,
                             step,
                             sync,
                             claim,
                             step,
                             flush,
                             step,
                             sync_with_step_inside,
                             name_cluster,
                             step,
                             flush,
                             compact,
                             checkpoint,
                             step,
                             background_sync,
                             step,
                             reopen,
                             step,
                             sync,
                             flush,
                             step}) {
    ops.push_back({kind, seed++});
  }
  return ops;
}

}  // namespace ratchet::store_sim
