// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/shown_text.hpp"
#include "core/stream_state.hpp"
#include "ratchet/error.hpp"
#include "text/byte_sink.hpp"
#include "text/json_writer.hpp"

/// Reports that have rows, of which there may be any number: they are read while they are written, so that
/// memory holds one row and one piece of the answer.
namespace ratchet {

/// Given each row, until it returns false; null stands for one that does not belong to the report.
template <class Row>
using visit_row = std::function<bool(const Row*)>;
/// Walks through rows. Empty: the report has none of them.
template <class Row>
using row_walk = std::function<result<void>(const visit_row<Row>&)>;
using rejected_walk = row_walk<rejected_row>;
using audit_walk = row_walk<audit_row>;

/// An answer on its way to the sink, in pieces of about 64 KiB. Borrows the sink.
class answer_pieces {
 public:
  explicit answer_pieces(const byte_sink& sink) : sink_{sink} {}

  /// False: no more is wanted.
  bool add(std::string_view text) {
    piece_ += text;
    return piece_.size() < k_piece_bytes || hand_on();
  }
  bool add_line(std::string_view line) {
    append_line(piece_, line);
    return piece_.size() < k_piece_bytes || hand_on();
  }
  /// Of what is not added: a long run of it must not keep an answer alive that nobody wants.
  [[nodiscard]] bool pass_over() {
    wanted_ = wanted_ && sink_({});
    return wanted_;
  }
  [[nodiscard]] bool wanted() const noexcept { return wanted_; }
  /// Hands the rest on.
  void end() {
    if (!piece_.empty()) hand_on();
  }

  /// Adds what the writer has, which ends in the beginning of an array, and the elements that `write` makes
  /// of the rows. The end of the array is the writer's again.
  template <class Row, class Write>
  result<void> add_array(json_writer& json, const row_walk<Row>& walk, Write write) {
    add(json.take());
    bool is_first = true;
    return walk_wanted<Row>(walk, [&](const Row& row) {
      json_writer one;
      write(one, row);
      const bool goes_on = is_first || add(",");
      is_first = false;
      return goes_on && add(one.text());
    });
  }
  /// Adds a line for each row, and `head` before the first; where there is none, `none`, unless it is empty.
  template <class Row, class Line>
  result<void> add_lines(std::string_view head, std::string_view none, const row_walk<Row>& walk, Line line) {
    bool is_first = true;
    RATCHET_TRY(walk_wanted<Row>(walk, [&](const Row& row) {
      if (is_first) add_line(head);
      is_first = false;
      return add_line(line(row));
    }));
    if (is_first && !none.empty()) add_line(none);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
  }

 private:
  static constexpr std::size_t k_piece_bytes = std::size_t{64} << 10U;

  template <class Row, class Visit>
  result<void> walk_wanted(const row_walk<Row>& walk, Visit visit) {
    if (!walk || !wanted_) return BOOST_OUTCOME_V2_NAMESPACE::success();
    return walk([&](const Row* row) { return row == nullptr ? pass_over() : visit(*row) && wanted_; });
  }
  bool hand_on() {
    wanted_ = wanted_ && sink_(piece_);
    piece_.clear();
    return wanted_;
  }

  const byte_sink& sink_;
  std::string piece_;
  bool wanted_{true};
};

}  // namespace ratchet
