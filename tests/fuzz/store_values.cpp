// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_input.hpp"
#include "fuzz/row_kinds.hpp"

/// Every value that the store reads back from disk. The first byte names the kind of row; the second says
/// where the bytes come from: the input as it is, or a row made of the input, which is then damaged in one of
/// a few ways. Bytes are refused, or are a row that is written and read back the same; a row that was made is
/// read back as it was, and is damaged by one byte less or more.

using namespace ratchet;
using namespace ratchet::fuzz;

namespace {

template <class Row>
std::optional<Row> decode(const row_kind<Row>& kind, std::string_view bytes) {
  const fuzz::exact_copy copy{bytes};
  auto read = kind.decode(copy.view());
  if (!read) {
    RATCHET_FUZZ_CHECK(read.error() == errc::state_damaged);
    return std::nullopt;
  }
  return std::move(read.value());
}

template <class Row>
void check_bytes(const row_kind<Row>& kind, std::string_view bytes) {
  const std::optional<Row> row = decode(kind, bytes);
  if (row) RATCHET_FUZZ_CHECK(decode(kind, kind.encode(*row)) == row);
}

template <class Row>
void check_made(const row_kind<Row>& kind, fuzz_input& in, unsigned damage) {
  const std::uint32_t at = in.u32();
  const auto bit = static_cast<char>(1U << in.u8() % 8U);
  const Row row = kind.make(in);
  std::string bytes = kind.encode(row);
  RATCHET_FUZZ_CHECK(decode(kind, bytes) == row);
  switch (damage % 4U) {
    case 0:
      bytes[at % bytes.size()] = static_cast<char>(bytes[at % bytes.size()] ^ bit);
      return check_bytes(kind, bytes);
    case 1:
      if (kind.open_ended) return check_bytes(kind, bytes.substr(0, at % bytes.size()));
      RATCHET_FUZZ_CHECK(!decode(kind, bytes.substr(0, at % bytes.size())));
      return;
    case 2:
      if (!kind.open_ended) RATCHET_FUZZ_CHECK(!decode(kind, bytes + bit));
      return;
    default:
      bytes.insert(at % bytes.size(), 1, bit);
      return check_bytes(kind, bytes);
  }
}

template <class Row>
void check(const row_kind<Row>& kind, fuzz_input& in) {
  const unsigned how = in.u8();
  if (how % 2U == 0) {
    check_bytes(kind, in.rest());
  } else {
    check_made(kind, in, how / 2U);
  }
}

/// Values without members of their own.
void check_plain(std::string_view bytes) {
  const fuzz::exact_copy copy{bytes};
  RATCHET_FUZZ_CHECK(layout::decode_presence(copy.view()).has_value() ==
                     (bytes == layout::encode_presence()));
  const auto snapshot = layout::decode_snapshot(copy.view());
  RATCHET_FUZZ_CHECK(snapshot.has_value() == bytes.starts_with(layout::k_format));
  if (snapshot) RATCHET_FUZZ_CHECK(snapshot.value() == bytes.substr(1));
}

/// Another version's identity says its version, whatever else stands there.
void check_other_identity(fuzz_input& in) {
  layout::identity other;
  other.schema_version = in.u32();
  std::string bytes = layout::encode_identity(other);
  bytes[0] = static_cast<char>(in.u8());
  bytes.replace(5, std::string::npos, in.rest());
  if (other.schema_version == layout::k_schema_version) return check_bytes(k_identity, bytes);
  const auto read = decode(k_identity, bytes);
  RATCHET_FUZZ_CHECK(read && read->schema_version == other.schema_version && read->uuid.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_input in{data, size};
  switch (in.u8() % 19U) {
    case 0:
      check(k_step, in);
      break;
    case 1:
      check(k_identity, in);
      break;
    case 2:
      check(k_copy_mark, in);
      break;
    case 3:
      check(k_stream, in);
      break;
    case 4:
      check(k_stream_state, in);
      break;
    case 5:
      check(k_partition, in);
      break;
    case 6:
    case 7:
      check(k_rejected, in);
      break;
    case 8:
      check(k_audit, in);
      break;
    case 9:
      check(k_aggregate, in);
      break;
    case 10:
      check_other_identity(in);
      break;
    case 11:
      check(k_id_run, in);
      break;
    case 13:
      check(k_waiting, in);
      break;
    case 14:
      check(k_backlog, in);
      break;
    case 15:
      check(k_sequence, in);
      break;
    case 16:
      check(k_output, in);
      break;
    case 17:
      check(k_outbox, in);
      break;
    case 18:
      check(k_filed_time, in);
      check(k_answered_id, in);
      break;
    default:
      check_plain(in.rest());
  }
  return 0;
}
