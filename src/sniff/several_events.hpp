// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ratchet/config.hpp"
#include "sniff/sniffed_record.hpp"

namespace ratchet::sniff {

/// Records that hold several events each, as it seems: how, and the events, each as a record of its own. Of a
/// topic with some batches of CloudEvents among single ones, `each` names nothing: their format sees to it.
struct several_events {
  each_config each;
  std::vector<sniffed_record> events;
};

/// None where records seem to be one event each. An array of objects among other members is taken for a list
/// of events by its name alone: that of an order's items is none. Pure.
[[nodiscard]] std::optional<several_events> find_several(std::span<const sniffed_record>);

}  // namespace ratchet::sniff
