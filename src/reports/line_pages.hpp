// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/shown_text.hpp"
#include "reports/waiting_list.hpp"
#include "text/byte_sink.hpp"

namespace ratchet {

/// Hands the lines of a list on in pieces of about 64 KiB, up to a limit. Borrows the sink.
class line_pages {
 public:
  line_pages(std::optional<std::uint64_t> limit, const byte_sink& sink) : limit_{limit}, sink_{sink} {}

  /// Of what does not fit: a long run of it must not keep a list alive that nobody wants. False: nobody does.
  [[nodiscard]] bool pass_over() const { return sink_({}); }
  /// There is one more, and the limit leaves it out.
  [[nodiscard]] bool is_full() {
    listed_.more = limit_ && listed_.shown >= *limit_;
    return listed_.more;
  }
  /// `place`: where a list goes on behind this line. False: no more is wanted.
  [[nodiscard]] bool add(std::string_view line, std::string place) {
    append_line(piece_, line);
    ++listed_.shown;
    listed_.last = std::move(place);
    if (piece_.size() < k_piece_bytes) return true;
    listed_.wanted = sink_(piece_);
    piece_.clear();
    return listed_.wanted;
  }
  /// Hands the rest on.
  [[nodiscard]] waiting_listed end() {
    if (listed_.wanted && !piece_.empty()) listed_.wanted = sink_(piece_);
    return std::move(listed_);
  }

 private:
  static constexpr std::size_t k_piece_bytes = std::size_t{64} << 10U;

  std::optional<std::uint64_t> limit_;
  const byte_sink& sink_;
  std::string piece_;
  waiting_listed listed_;
};

}  // namespace ratchet
