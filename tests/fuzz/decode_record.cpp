// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "decode/json_grammar.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/json_judge.hpp"

/// Any bytes as a record's value: the walker and Boost.JSON agree on what is valid, and every fault is placed
/// at the first byte that no valid document can have there.

using namespace ratchet;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static json::pointer_tree nothing_named;
  static json::walker used{nothing_named};  // remembers the sizes of the keys of the document before
  const fuzz::exact_copy copy{{reinterpret_cast<const char*>(data), size}};
  const std::string_view text = copy.view();
  const json::fault fault = json::check_json(text);
  RATCHET_FUZZ_CHECK(used.walk(text) == fault);
  RATCHET_FUZZ_CHECK((fault.reason == malformed_reason::none) == fuzz::accepts(text));
  RATCHET_FUZZ_CHECK((json::first_bad_utf8(text) == size) == fuzz::is_utf8(text));
  if (fault.reason == malformed_reason::none) return 0;

  RATCHET_FUZZ_CHECK(fault.offset <= size);
  RATCHET_FUZZ_CHECK(fuzz::may_begin(text.substr(0, fault.offset)));
  if (fault.reason == malformed_reason::invalid_utf8) {
    RATCHET_FUZZ_CHECK(fault.offset == json::first_bad_utf8(text));
    return 0;
  }
  // A document that ends too early is at fault behind its last byte.
  if (fault.offset < size) RATCHET_FUZZ_CHECK(!fuzz::may_begin(text.substr(0, fault.offset + 1)));
  const bool mark = text.starts_with("\xEF\xBB\xBF");
  RATCHET_FUZZ_CHECK((fault.reason == malformed_reason::byte_order_mark) == mark);
  return 0;
}
