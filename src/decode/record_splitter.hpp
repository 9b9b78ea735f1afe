// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/decoded_event.hpp"
#include "core/record.hpp"
#include "decode/decoder.hpp"
#include "decode/json_grammar.hpp"
#include "decode/pointer_tree.hpp"
#include "decode/whole_array.hpp"

namespace ratchet {

/// So many events are taken of one record at most. In a record of 1 MiB, the most that Kafka takes where
/// nobody raised its limit, they would have to be shorter than 21 bytes each.
constexpr std::size_t k_most_events_of_record = 50'000;

/// Each event that is kept or answered by itself repeats the record's key, its headers and what is read
/// beside its list. For all events of one record that may be so much, or the letters of a record below 1 MB
/// would have gigabytes.
constexpr std::uint64_t k_most_copied_bytes = std::uint64_t{32} << 20U;

/// A batch takes no further record behind so much of that: each byte may become one of a letter, and of what
/// is written of it.
constexpr std::uint64_t k_most_copied_bytes_of_batch = std::uint64_t{4} << 20U;

/// Finds the events of records that hold several: the elements of an array, or lines.
/// Thread-safety: none. What it returns is valid until the next split().
class record_splitter {
 public:
  /// The list is at the node `list` of `outside`, which also has what is read beside it; `whole` are arrays
  /// of it of which elements are read. All borrowed.
  record_splitter(const decode_rules&, const json::pointer_tree& outside, json::node_index list,
                  std::span<const whole_array> whole = {});
  /// Takes those records apart that are for it; the list is the whole value then.
  record_splitter(const decode_rules&, bool (*holds_several)(const record&));
  record_splitter(const record_splitter&) = delete;
  record_splitter& operator=(const record_splitter&) = delete;

  enum class holds : std::uint8_t {
    one,      ///< it is an event by itself, or a null value
    several,  ///< one at least
    nothing,  ///< an empty list
    fault,    ///< it is malformed as a whole
  };
  [[nodiscard]] holds split(const record&);
  /// The quick look: split() would say that it holds one.
  [[nodiscard]] bool is_surely_one(const record& r) const noexcept {
    return holds_several_ != nullptr && r.value && !r.value->empty() && r.value->front() == '{';
  }

  /// Of a record that holds several. Elements of an array are not checked yet, beyond where they end.
  [[nodiscard]] std::span<const std::string_view> events() const noexcept { return events_; }
  [[nodiscard]] std::string_view before() const noexcept { return before_; }
  [[nodiscard]] std::string_view behind() const noexcept { return behind_; }
  /// One of the elements is no JSON: whether the record is malformed for that. Lines stand each for itself.
  [[nodiscard]] bool breaks_all();

  /// What its events repeat of it, all together.
  [[nodiscard]] std::uint64_t copied_bytes() const noexcept { return copied_bytes_; }

  [[nodiscard]] const malformed_detail& fault() const noexcept { return fault_; }
  /// An array beside the list is longer than what is read of it, and whose event this is was read in it.
  [[nodiscard]] bool is_chosen_by_one_of_many() const noexcept { return is_chosen_by_one_; }
  /// What stands beside the list.
  [[nodiscard]] const json::walker& outside() const noexcept { return outside_; }

 private:
  holds split_lines();
  holds split_array();
  holds find_list();
  holds check_arrays();
  void note_outside(const json::found& list);
  holds bound_copies(const record&, holds);
  [[nodiscard]] std::uint64_t bytes_read_outside() const;
  holds refuse(malformed_reason, std::string_view pointer, const char* at) noexcept;

  const decode_rules* rules_;
  bool (*holds_several_)(const record&){nullptr};
  json::node_index list_;
  const json::pointer_tree* outside_tree_;
  json::walker outside_;
  std::span<const whole_array> whole_;
  std::string shortest_before_;  ///< where what stands beside the list is long
  std::string shortest_behind_;
  // of the record that was split
  std::string_view value_;
  std::string_view body_;  ///< without a schema registry's frame
  std::vector<std::string_view> events_;
  std::string_view before_;
  std::string_view behind_;
  std::uint64_t copied_bytes_{0};
  bool is_chosen_by_one_{false};
  malformed_detail fault_;
};

}  // namespace ratchet
