// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/member_name.hpp"

#include <algorithm>
#include <cstddef>

namespace ratchet {

namespace {

/// Behind the names that begin with a digit.
constexpr char k_mark = 'r';
constexpr std::size_t k_epoch_digits = 10;  // of 32 bits
constexpr std::size_t k_time_digits = 13;   // of milliseconds, until the year 2286
/// A session does not last longer than the making of so many clients.
constexpr std::size_t k_names_kept = 64;

[[nodiscard]] std::string padded(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

[[nodiscard]] bool are_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string member_name(replicate::log_epoch epoch, timestamp made_at, std::string_view instance) {
  const auto milliseconds = std::max<std::int64_t>(0, made_at.time_since_epoch().count());
  return k_mark + padded(epoch.generation, k_epoch_digits) + "." + padded(epoch.attempt, k_epoch_digits) +
         "-" + padded(static_cast<std::uint64_t>(milliseconds), k_time_digits) + "-" + std::string{instance};
}

std::optional<std::string> instance_of_member(std::string_view client_id) {
  constexpr std::size_t k_dot = 1 + k_epoch_digits;
  constexpr std::size_t k_first_dash = k_dot + 1 + k_epoch_digits;
  constexpr std::size_t k_second_dash = k_first_dash + 1 + k_time_digits;
  if (client_id.size() <= k_second_dash + 1) return std::nullopt;
  const bool fits = client_id[0] == k_mark && client_id[k_dot] == '.' && client_id[k_first_dash] == '-' &&
                    client_id[k_second_dash] == '-' && are_digits(client_id.substr(1, k_epoch_digits)) &&
                    are_digits(client_id.substr(k_dot + 1, k_epoch_digits)) &&
                    are_digits(client_id.substr(k_first_dash + 1, k_time_digits));
  if (!fits) return std::nullopt;
  return std::string{client_id.substr(k_second_dash + 1)};
}

const std::string& member_names::next(replicate::log_epoch highest, timestamp now) {
  if (led_by_ == highest) return name_;
  led_by_.reset();
  name_ = member_name(highest, now, instance_);
  given_.push_back(name_);
  if (given_.size() > k_names_kept) given_.pop_front();
  return name_;
}

bool member_names::is_own(std::string_view client_id) const {
  return std::find(given_.begin(), given_.end(), client_id) != given_.end();
}

}  // namespace ratchet
