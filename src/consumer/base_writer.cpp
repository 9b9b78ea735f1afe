// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/base_writer.hpp"

#include <string>
#include <utility>

#include "core/success.hpp"
#include "replicate/chain.hpp"

namespace ratchet {

using replicate::base_kind;

namespace {

/// Read at once: a few records.
constexpr std::size_t k_read_bytes = 4 * replicate::k_chunk_bytes;

}  // namespace

base_writer::base_writer(slot_log& to, std::unique_ptr<replica_copy> of, std::uint64_t base,
                         replicate::base_content what)
    : to_{to}, of_{std::move(of)}, base_{base} {
  end_.of = what;
  end_.of.at = of_->position();
  std::string record;
  append_base_begin(record, head(base_kind::begin), end_.of);
  append(std::move(record));
}

replicate::base_head base_writer::head(base_kind kind) const {
  return {kind, *end_.of.at.lineage, base_};
}

void base_writer::append(std::string record) {
  to_.append({{base_, appended_++, 0}, std::move(record)});
}

/// False: there is nothing left.
result<bool> base_writer::append_part() {
  if (rows_.size() - cut_ < replicate::k_chunk_bytes) {
    replicate::row_buffer more;
    RATCHET_TRY(of_->next(k_read_bytes, more));
    rows_.erase(0, std::exchange(cut_, 0));
    rows_ += more.bytes();
  }
  if (cut_ == rows_.size()) return false;
  const std::string_view piece = std::string_view{rows_}.substr(cut_, replicate::k_chunk_bytes);
  std::string record;
  append_base_part(record, head(base_kind::part), {end_.parts, piece});
  append(std::move(record));
  ++end_.parts;
  end_.bytes += piece.size();
  end_.hash = replicate::next_chain(end_.hash, piece);
  cut_ += piece.size();
  return true;
}

result<bool> base_writer::turn(std::size_t most_bytes) {
  const std::uint64_t until = bytes() + most_bytes;
  while (!is_ended_ && bytes() < until && to_.has_room()) {
    RATCHET_TRY(const bool has_more, append_part());
    if (has_more) continue;
    std::string record;
    append_base_end(record, head(base_kind::end), end_);
    append(std::move(record));
    is_ended_ = true;
  }
  for (const append_report& each : to_.reports()) {
    if (each.ticket.writer != base_) continue;
    if (each.failed) {
      to_.give_up();
      return each.failed;
    }
    if (each.ticket.step == 0) begun_at_ = each.offset;
    ++reported_;
  }
  return is_ended_ && reported_ == appended_;
}

}  // namespace ratchet
