// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/decoded_event.hpp"

namespace ratchet {

/// What stands behind the frame that the serializers of a schema registry write.
enum class framed_kind : std::uint8_t { json, avro, protobuf, zlib };

/// A value with its frame: Confluent's (a byte 0, and 4 bytes of a schema's id), which most registries write;
/// Apicurio's older one (8 bytes of an id); AWS Glue's (a byte 3, one that says whether zlib compressed what
/// follows, and a UUID).
struct framed_value {
  std::size_t header{0};  ///< bytes of the frame
  framed_kind kind{framed_kind::json};
  std::string schema;  ///< its id: a number, or a UUID
};

/// No frame begins with a higher byte, and no JSON with one of these.
constexpr unsigned char k_highest_frame_byte = 3;

/// Where JSON begins behind the frame; none where the bytes have no frame, or something else behind it.
[[nodiscard]] std::optional<std::size_t> json_behind_frame(std::string_view bytes) noexcept;

/// What the frame says, and what most likely stands behind it; none where the bytes have no frame. Avro and
/// Protobuf do not say which of them they are: what can be read as Protobuf to its end is that.
[[nodiscard]] std::optional<framed_value> read_frame(std::string_view bytes);

/// Takes off what a schema registry's serializers put before JSON: it says nothing that is needed. Returns
/// none, also where there is no frame; avro or protobuf, most likely, where something else stands behind it;
/// zlib where the frame says so.
[[nodiscard]] malformed_reason take_off_frame(std::string_view& bytes);

}  // namespace ratchet
