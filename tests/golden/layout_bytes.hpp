// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "core/stream_state.hpp"
#include "ratchet/types.hpp"

/// Members of rows, and their bytes as they are on disk.
namespace ratchet::layout {

inline std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    out += two;
  }
  return out;
}

inline const stream_id k_stream{0x01020304};
inline const topic_partition k_place{std::string("t\0x", 3), partition_id{5}};
inline const std::string k_place_hex =
    "7400ff78"
    "0001"
    "00000005";
inline const event_id k_id{0x0102030405060708, 0x090a0b0c0d0e0f10};
inline const std::string k_id_hex =
    "0102030405060708"
    "090a0b0c0d0e0f10";
inline const hash128 k_hash{0x1112131415161718, 0x191a1b1c1d1e1f20};
inline const std::string k_hash_hex =
    "1112131415161718"
    "191a1b1c1d1e1f20";
inline const timestamp k_time{std::chrono::milliseconds{0x018bcfe56800}};
inline const std::string k_time_hex = "0000018bcfe56800";

}  // namespace ratchet::layout
