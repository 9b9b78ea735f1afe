// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "decode/decoder.hpp"
#include "fuzz/fuzz_input.hpp"

/// Two row changes of one database, at any places of its log: each has a sequence where the reference says
/// so, the same in each form of the record, and both have the order that their places have in the log.
///
/// Input: the connector, and of each change whether it is a row of a snapshot, and its numbers.

using namespace ratchet;

namespace {

enum class database : std::uint8_t { postgresql, mysql, sqlserver, oracle, mongodb };
constexpr std::array k_names{"postgresql", "mysql", "sqlserver", "oracle", "mongodb"};

/// Where a change stands, in the words of its database; places compare as these do.
struct log_place {
  std::vector<std::uint64_t> key;
  bool fits{true};
  /// Members of `source`: a name, and a value as JSON.
  std::vector<std::pair<std::string, std::string>> fields;
  bool is_snapshot{false};
};

std::string lsn_text(std::uint64_t file, std::uint64_t block, std::uint64_t slot) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "\"%08llx:%08llx:%04llx\"", static_cast<unsigned long long>(file),
                static_cast<unsigned long long>(block), static_cast<unsigned long long>(slot));
  return text.data();
}

std::string quoted(std::uint64_t number) {
  return "\"" + std::to_string(number) + "\"";
}

/// Mostly near each other, so that all digits decide in their turn.
std::uint64_t number(fuzz::fuzz_input& in, unsigned bits) {
  const unsigned shift = in.u8() % 64;
  const std::uint64_t value = static_cast<std::uint64_t>(in.u8()) << shift;
  return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

log_place of_postgresql(fuzz::fuzz_input& in) {
  const std::uint64_t commit = number(in, 64);
  const std::uint64_t lsn = number(in, 64);
  log_place out{.key = {commit, lsn}, .fields = {}};
  out.fields.emplace_back("sequence",
                          R"("[\")" + std::to_string(commit) + R"(\",\")" + std::to_string(lsn) + R"(\"]")");
  out.fields.emplace_back("lsn", std::to_string(lsn));
  return out;
}

log_place of_mysql(fuzz::fuzz_input& in) {
  const std::uint64_t file = number(in, 32);
  const std::uint64_t position = number(in, 44);
  const std::uint64_t row = number(in, 26);
  log_place out{.key = {file, position, row}, .fields = {}};
  out.fits = position < std::uint64_t{1} << 40U && row < std::uint64_t{1} << 24U;
  out.fields.emplace_back("file", "\"bin.log." + std::to_string(1'000'000'000'000 + file).substr(1) + "\"");
  out.fields.emplace_back("pos", std::to_string(position));
  if (row != 0) out.fields.emplace_back("row", std::to_string(row));
  return out;
}

/// A change lies in the file of its commit or before it; those 15 files before it, or more, are equal.
log_place of_sqlserver(fuzz::fuzz_input& in, bool is_snapshot) {
  const std::uint64_t file = number(in, 32);
  const std::uint64_t block = number(in, 32);
  const std::uint64_t slot = number(in, 16);
  log_place out{.key = {file, block, slot}, .fields = {}};
  out.fields.emplace_back("commit_lsn", lsn_text(file, block, slot));
  if (is_snapshot) {
    out.key.push_back(0);
    return out;
  }
  const std::uint64_t file_of_change = file - std::min<std::uint64_t>(file, in.u8() % 20U);
  const std::uint64_t block_of_change = number(in, 30);
  const std::uint64_t slot_of_change = number(in, 16);
  const bool is_far = file - file_of_change >= 15;
  out.key.push_back(is_far ? 1 : 2);
  if (!is_far) out.key.insert(out.key.end(), {file_of_change, block_of_change, slot_of_change});
  out.fits = block_of_change < std::uint64_t{1} << 28U;
  out.fields.emplace_back("change_lsn", lsn_text(file_of_change, block_of_change, slot_of_change));
  return out;
}

/// A row of a snapshot shows all that was committed up to its number.
log_place of_oracle(fuzz::fuzz_input& in, bool is_snapshot) {
  const std::uint64_t commit = number(in, 64);
  const std::uint64_t change = number(in, 64) >> 1U;
  log_place out{.key = {commit, is_snapshot ? ~std::uint64_t{0} : change}, .fields = {}};
  if (!is_snapshot) out.fields.emplace_back("commit_scn", quoted(commit));
  out.fields.emplace_back("scn", quoted(is_snapshot ? commit : change));
  return out;
}

log_place read_place(database from, fuzz::fuzz_input& in) {
  const bool is_snapshot = in.flag();
  log_place out;
  if (from == database::postgresql) out = of_postgresql(in);
  if (from == database::mysql) out = of_mysql(in);
  if (from == database::sqlserver) out = of_sqlserver(in, is_snapshot);
  if (from == database::oracle) out = of_oracle(in, is_snapshot);
  if (from == database::mongodb) out.fields.emplace_back("ord", std::to_string(number(in, 31)));
  out.is_snapshot = is_snapshot;
  return out;
}

std::string envelope_of(database from, const log_place& at) {
  std::string text = R"({"op":")" + std::string{at.is_snapshot ? "r" : "u"} + R"(","source":{"connector":")" +
                     k_names.at(static_cast<std::size_t>(from)) + "\"";
  text += std::string{R"(,"snapshot":)"} + (at.is_snapshot ? R"("true")" : R"("false")");
  for (const auto& [name, value] : at.fields) text += ",\"" + name + "\":" + value;
  const char* const after = from == database::mongodb ? R"("{\"id\": 1}")" : R"({"id":1})";
  return text + R"(},"before":null,"after":)" + after + "}";
}

/// As ExtractNewRecordState leaves it, with fields that it was told to add.
std::string row_of(database from, const log_place& at, const std::string& prefix) {
  std::string text = R"({"id":1,"__op":")" + std::string{at.is_snapshot ? "r" : "u"} + "\",\"" + prefix +
                     R"(connector":")" + k_names.at(static_cast<std::size_t>(from)) + "\",\"" + prefix +
                     R"(snapshot":)" + (at.is_snapshot ? R"("true")" : R"("false")");
  for (const auto& [name, value] : at.fields) text += ",\"" + prefix + name + "\":" + value;
  return text + "}";
}

decoded_event read_one(const std::string& value, decoded_batch& into) {
  static const topic_partition where{"t", partition_id{0}};
  static decoder reader{[] {
    decode_rules rules;
    rules.envelope.format = envelope_format::debezium_cdc;
    rules.order = order::latest;
    rules.ids = id_kind::none;
    return rules;
  }()};
  record r;
  r.where = &where;
  r.key = R"({"id":1})";
  r.value = value;
  reader.decode({&r, 1}, into);
  RATCHET_FUZZ_CHECK(into.events.size() == 1);
  return into.events.front();
}

/// None: it has no place that Ratchet could keep.
std::optional<sequence> sequence_of(database from, const log_place& at) {
  const std::string plain = envelope_of(from, at);
  decoded_batch batch;
  const decoded_event got = read_one(plain, batch);
  RATCHET_FUZZ_CHECK((got.kind == decoded_kind::event) == at.fits);
  if (!at.fits) RATCHET_FUZZ_CHECK(got.malformed.reason == malformed_reason::sequence_invalid);
  if (at.fits) RATCHET_FUZZ_CHECK(got.has_sequence);
  std::vector<std::string> others{R"({"schema":{"type":"struct"},"payload":)" + plain + "}",
                                  R"({"payload":)" + plain + "}"};
  // What a document was, and how the pair of PostgreSQL is spelt, no row says.
  if (from != database::mongodb)
    others.insert(others.end(), {row_of(from, at, "__"), row_of(from, at, "__source_")});
  for (const std::string& text : others) {
    decoded_batch other;
    const decoded_event same = read_one(text, other);
    RATCHET_FUZZ_CHECK(same.kind == got.kind && same.malformed.reason == got.malformed.reason);
    RATCHET_FUZZ_CHECK(same.sequence == got.sequence);
  }
  return at.fits ? std::optional{got.sequence} : std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::fuzz_input in{data, size};
  const auto from = static_cast<database>(in.u8() % k_names.size());
  const log_place a = read_place(from, in);
  const log_place b = read_place(from, in);
  const auto of_a = sequence_of(from, a);
  const auto of_b = sequence_of(from, b);
  if (!of_a || !of_b) return 0;
  RATCHET_FUZZ_CHECK((*of_a < *of_b) == (a.key < b.key));
  RATCHET_FUZZ_CHECK((*of_a == *of_b) == (a.key == b.key));
  return 0;
}
