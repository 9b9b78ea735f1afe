// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "fuzz/fuzz_input.hpp"
#include "replicate/log_reader.hpp"
#include "replicate/row_buffer.hpp"
#include "support/replicate_plain_reader.hpp"
#include "support/replicate_random_record.hpp"
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

namespace {

using replicate::testing::k_lineages;
using replicate::testing::k_meanings;
using replicate::testing::make_record;

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

void check_codec(const std::string& bytes) {
  const fuzz::exact_copy copy{bytes};
  log_record record;
  if (decode_record(copy.view(), record) != record_fault::none) return;
  std::string again;
  append_record(again, record);
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
