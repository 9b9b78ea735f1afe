// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "kafka/client.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// The settings of the group consumer: the user's, over defaults sized for `memory_bytes` of prefetched
/// records, under what Ratchet owns. Errors: config_invalid, one diagnostic for each property that may not be
/// set.
[[nodiscard]] reported<kafka_properties> consumer_settings(const kafka_config&, std::size_t memory_bytes);

/// The settings of a client beside the group (reads of single records, raw consumption): the user's, without
/// what makes sense for a group only.
[[nodiscard]] kafka_properties groupless_settings(const kafka_config&);

/// The settings of the producer that publishes: the user's, without what only consumers know, over defaults,
/// under what Ratchet owns.
[[nodiscard]] kafka_properties producer_settings(const kafka_config&);

/// The settings of the clients that append to a slot's log and read it. `compression`: none, lz4 or zstd.
[[nodiscard]] kafka_properties log_writer_settings(const kafka_config&, const std::string& compression);
[[nodiscard]] kafka_properties log_reader_settings(const kafka_config&);

/// Asks librdkafka whether the settings go together, and whether the files that they name can be used, by
/// making a client that knows no broker. Errors: config_invalid, with its words.
[[nodiscard]] reported<void> check_settings(const kafka_config&, std::size_t memory_bytes);

}  // namespace ratchet
