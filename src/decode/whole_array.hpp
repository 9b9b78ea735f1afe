// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "decode/field.hpp"
#include "decode/json_grammar.hpp"

namespace ratchet {

/// What a field is for, as far as arrays are concerned.
enum class field_use : std::uint8_t {
  names_event,
  names_aggregate,
  sequence,
  epoch,
  begin,
  previous,
  type,
  time,
  foreign,  ///< says that the event is not the stream's
  deletes,
  payload,
  list,  ///< of several events
};

/// An array of which the config reads some elements as if they were all: a record that has more of them is
/// malformed, or the others would be lost.
struct whole_array {
  json::node_index array{json::k_no_node};
  field last;                ///< the last element that is read, as /records/0
  bool is_all_before{true};  ///< every element before it is read, too
  bool tells_type{false};    ///< the type is one of the fields that are read there
  bool tells_foreign{false};

  /// Whether the array that was walked has elements that are not read. `end` is that of the document.
  [[nodiscard]] bool has_more(const json::walker&, const char* end) const noexcept;
};

/// Finds such arrays among the fields of one tree. Elements of one array may be the parts of one event: they
/// are where different fields read different elements, and not both lead into their members, or where one
/// that orders events, or is a time, takes one that has no members. Whether there is any element says the
/// same of all.
class array_finder {
 public:
  /// A field of the tree; one that is not in the value is passed over.
  void add(const json::pointer_tree&, const field&, field_use);
  [[nodiscard]] std::vector<whole_array> arrays() const;

 private:
  struct element {
    json::node_index node;
    std::string pointer;
  };
  struct array_reads {
    std::map<std::uint64_t, element> elements;            ///< that are read
    std::map<field_use, std::set<std::uint64_t>> by_use;  ///< and what for
    std::set<field_use> of_members;                       ///< of these, those that lead into an element
    bool must_be_whole{false};

    [[nodiscard]] bool is_one_event() const;
  };
  std::map<json::node_index, array_reads> arrays_;
};

/// Those on the way to one field, which alone is read.
[[nodiscard]] std::vector<whole_array> arrays_on_way(const json::pointer_tree&, const field&, field_use);

}  // namespace ratchet
