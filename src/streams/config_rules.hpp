// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ratchet/config.hpp"

/// The rules of a config's values, whether a file or a program says them.
namespace ratchet {

/// What is wrong with a config.
struct config_finding {
  std::string path;  ///< of the value, or of one that is missing, as in "streams[0].dedup.ids"
  std::string message;
  std::string hint;
  /// Paths of what else it was judged by: of a file where one of them is wrong by itself nothing is known.
  std::vector<std::string> judged_by;
};

/// All findings, with one for each path: none where a program may have the config. Of a config that is wrong
/// all over, the first 200. What a struct cannot tell (whether a value was given at all) is no part of it:
/// see `written_rules` in config/rules.cpp. Pure.
[[nodiscard]] std::vector<config_finding> check_config(const config&);

/// True where the path `inner` is `outer`, or lies below it.
[[nodiscard]] bool is_at_or_below(std::string_view inner, std::string_view outer) noexcept;

/// A stream without topics and without any part of an envelope: transactions alone feed it.
[[nodiscard]] bool has_transactions_alone(const stream_config&);

}  // namespace ratchet
