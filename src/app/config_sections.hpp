// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/config_reader.hpp"
#include "ratchet/config.hpp"

/// Sections of the schema that have a file of their own.
namespace ratchet {

/// `kafka`: brokers, group, properties. Secrets are read where they are referred to.
void read_kafka(const config_value&, kafka_config& out);

}  // namespace ratchet
