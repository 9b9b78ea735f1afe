// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ratchet {

/// The generation in what rd_kafka_consumer_group_metadata_write() writes: "CGMDv2:", the number as an int32
/// of this machine, and texts. librdkafka has an accessor since 2.8 alone; these bytes are the same
/// from 2.0.2 to 2.14.2. None: it is no member, or the bytes are others. Pure.
[[nodiscard]] std::optional<std::uint32_t> generation_in(std::string_view written) noexcept;

}  // namespace ratchet
