// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "fuzz/fuzz_input.hpp"
#include "replicate/log_reader.hpp"
#include "replicate/row_buffer.hpp"
#include "support/replicate_plain_reader.hpp"
#include "support/replicate_records.hpp"

/// The log of a slot. Its records are made of the input, most of them nearly right; some are then changed, or
/// are bytes of the input as they are. What becomes of each is what a reader says that shares no code with
/// Ratchet's. A reader that comes back at the last position says it of the rest as well. A record that can be
/// read is written again as the same bytes.
///
/// Input: what the reader expects, then records: a byte of what to do, and what that takes.

using namespace ratchet;
using namespace ratchet::replicate;
using fuzz::fuzz_input;
using replicate::testing::author;

namespace {

constexpr hash128 k_lineages[] = {replicate::testing::k_lineage, replicate::testing::k_other_lineage};
constexpr hash128 k_meanings[] = {replicate::testing::k_meaning, {5, 5}};

struct expectations {
  reader_options ours;
  plain_log::options plain;
};

expectations read_expectations(fuzz_input& in) {
  expectations out;
  const unsigned what = in.u8();
  out.ours.slot = out.plain.slot = what & 1U;
  out.ours.newest_layout = replicate::testing::k_layout;
  out.plain.newest_layout = replicate::testing::k_layout;
  if ((what & 6U) == 6) out.ours.lineage = out.plain.lineage = k_lineages[what >> 3U & 1U];
  if ((what & 0x30U) == 0x30) out.ours.meaning = out.plain.meaning = k_meanings[what >> 6U & 1U];
  return out;
}

std::string rows_for(std::uint64_t step, bool broken) {
  std::string rows = replicate::testing::rows_of(step);
  if (broken) rows.pop_back();
  return rows;
}

/// The next record, as seen from a reader that has come to `at` with a step of that chain.
std::string make_record(fuzz_input& in, const log_position& at, std::uint32_t slot) {
  const unsigned what = in.u8();
  if ((what & 0xF0U) == 0xF0) return std::string{in.text()};
  const unsigned who = in.u8();
  author by;
  by.epoch = (who & 0x80U) != 0 ? at.epoch : log_epoch{1 + (who & 3U), who >> 2U & 1U};
  if (by.epoch == log_epoch{}) by.epoch = {1, 0};
  by.writer = (who & 0x40U) != 0 ? at.writer : who >> 3U & 1U;
  by.lineage = k_lineages[(who & 0x30U) == 0x30 ? 1 : 0];
  std::string record;
  if ((what & 3U) == 3) {
    record = by.fence(at.step - std::min<std::uint64_t>(at.step, 1) + (what >> 2U & 3U) % 3,
                      k_meanings[(what & 0xE0U) == 0xE0 ? 1 : 0]);
  } else {
    const unsigned which = in.u8();
    const std::uint64_t step = std::max<std::uint64_t>(at.step + (which & 3U), 1);
    const std::string rows = rows_for(step, (what & 0xC0U) == 0xC0);
    const hash128 before = at.lineage ? at.chain : founding_chain(by.lineage, slot);
    hash128 chain = next_chain(before, rows);
    if ((which & 0x60U) == 0x60) ++chain.low;
    const std::uint64_t parts = 1 + step % 3;
    const auto part = static_cast<std::uint16_t>(which >> 2U & 3U);
    const std::size_t size = rows.size() / parts;
    const std::uint64_t confirmed = std::min(step - 1, at.step + (which >> 7U));
    if (part + 1U < parts) {
      record = by.part(step, part, std::string_view{rows}.substr(part * size, size), confirmed);
    } else {
      record = by.last(step, part, std::string_view{rows}.substr(std::min((parts - 1) * size, rows.size())),
                       chain, confirmed);
    }
  }
  if ((what & 0x0CU) == 0x0C && (what & 0x10U) != 0) {
    const std::size_t where = in.u8() % record.size();
    const unsigned how = in.u8();
    if (how == 0) {
      record.resize(where);
    } else {
      record[where] = static_cast<char>(static_cast<unsigned char>(record[where]) ^ how);
    }
  }
  return record;
}

void check_codec(const std::string& bytes) {
  const fuzz::exact_copy copy{bytes};
  log_record record;
  if (decode_record(copy.view(), record) != record_fault::none) return;
  std::string again;
  if (record.head.kind == record_kind::fence) {
    append_fence(again, record.head, record.fence);
  } else {
    append_chunk(again, record.head, record.chunk);
  }
  RATCHET_FUZZ_CHECK(again == bytes);
}

std::string word_of(const log_reader& reader, fate f) {
  return f == fate::refused ? name_of(*reader.refused()) : name_of(f);
}

void check_rows_of(std::string_view bytes) {
  row_buffer again;
  row_cursor rows{bytes};
  for (row each; rows.next(each);) {
    if (each.op == row_op::put) again.put(each.family, each.key, each.value);
    if (each.op == row_op::erase) again.erase(each.family, each.key);
    if (each.op == row_op::erase_range) again.erase_range(each.family, each.key, each.value);
  }
  RATCHET_FUZZ_CHECK((rows.fault() == row_fault::none) == plain_log::are_rows(bytes));
  if (rows.fault() == row_fault::none) RATCHET_FUZZ_CHECK(again.bytes() == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_input in{data, size};
  const expectations expected = read_expectations(in);
  log_reader ours{expected.ours};
  plain_log::reader plain{expected.plain};
  std::vector<std::string> log;
  std::vector<std::string> words;
  while (in.left() > 0) {
    const auto offset = static_cast<std::int64_t>(log.size());
    log.push_back(make_record(in, ours.position(), expected.ours.slot));
    const std::string& record = log.back();
    check_codec(record);
    check_rows_of(record);
    const fuzz::exact_copy bytes{record};
    const fate f = ours.take(offset, bytes.view());
    words.push_back(word_of(ours, f));
    RATCHET_FUZZ_CHECK(words.back() == plain.take(offset, record));
    const log_position& at = ours.position();
    RATCHET_FUZZ_CHECK(at.step == plain.last_step());
    if (f != fate::step) continue;
    const plain_log::step& step = plain.steps().at(at.step);
    RATCHET_FUZZ_CHECK(ours.rows() == step.rows && plain_log::hash_bytes(at.chain) == step.chain &&
                       at.offset == offset);
  }
  const log_position from = ours.position();
  if (from.offset < 0) return 0;
  log_reader back{expected.ours, from};
  for (auto at = static_cast<std::size_t>(from.offset); at < log.size(); ++at) {
    const std::string word = word_of(back, back.take(static_cast<std::int64_t>(at), log[at]));
    RATCHET_FUZZ_CHECK(word == (static_cast<std::int64_t>(at) == from.offset ? "resumed" : words[at]));
  }
  RATCHET_FUZZ_CHECK(back.position() == from);
  return 0;
}
