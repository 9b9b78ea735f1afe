// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/reader.hpp"
#include "ratchet/config.hpp"

namespace ratchet {

/// Reads every section of the tree into `out`, and adds what is wrong with each value by itself.
void read_schema(const config_node& root, config& out, config_findings&);

/// Adds what is wrong between values: choices that exclude or demand each other. Rules about a value that has
/// a finding of its own are passed over.
void check_rules(const config_node& root, const config&, config_findings&);

}  // namespace ratchet
