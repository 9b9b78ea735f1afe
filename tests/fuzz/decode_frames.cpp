// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/registry_frame.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/plain_rules.hpp"

/// Any value that begins as an object or a list, behind the frame of a schema registry: whatever the format,
/// and however many events it holds, all is as without the frame. And any bytes: a frame is taken for one
/// where a plain reading of its first bytes says so.
///
/// Input: the rules, which frame, the schema's id (4 bytes), and the value.

using namespace ratchet;
using fuzz::plain_rules;

namespace {

const topic_partition k_place{"t", partition_id{0}};

std::vector<decode_rules> make_rules() {
  std::vector<decode_rules> all;
  all.push_back(plain_rules());
  all.push_back(plain_rules());
  all.back().payload_from = "/p";
  for (const each_config& each : {each_config{each_kind::array, ""}, each_config{each_kind::array, "/r"},
                                  each_config{each_kind::lines, ""}}) {
    all.push_back(plain_rules());
    all.back().envelope.each = each;
  }
  for (const envelope_format format :
       {envelope_format::cloudevents, envelope_format::debezium_cdc, envelope_format::ydb_changefeed}) {
    decode_rules rules;
    rules.envelope.format = format;
    rules.order = order::latest;
    rules.ids = format == envelope_format::cloudevents ? id_kind::opaque : id_kind::none;
    all.push_back(rules);
  }
  return all;
}

std::string frame_of(unsigned which, std::uint32_t id) {
  std::string bytes(which == 0 ? 1 : which == 1 ? 5 : 2, '\0');
  if (which == 2) bytes[0] = '\3';
  // Of the wider one the low half begins with a byte that no JSON has.
  const std::uint32_t shown = which == 1 ? (id & 0xFFFFFFU) | 1U : id;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(shown >> shift & 0xFFU);
  if (which == 2) bytes.append(12, static_cast<char>(id));
  return bytes;
}

/// By the words of registry_frame.hpp.
void check_bytes(std::string_view bytes) {
  std::size_t header = 0;
  if (bytes.size() > 5 && bytes[0] == '\0') header = 5;
  const bool is_glue = bytes.size() > 18 && bytes[0] == '\3' && (bytes[1] == '\0' || bytes[1] == '\5');
  if (is_glue) header = 18;
  const auto found = read_frame(bytes);
  RATCHET_FUZZ_CHECK(found.has_value() == (header != 0));
  if (!found) return;
  const bool is_wide = header == 5 && found->header == 9 && bytes.size() > 9 &&
                       bytes.substr(1, 4) == std::string(4, '\0') &&
                       bytes.substr(5, 4) != std::string(4, '\0');
  RATCHET_FUZZ_CHECK(found->header == header || is_wide);
  const auto json = json_behind_frame(bytes);
  if (json) RATCHET_FUZZ_CHECK(*json == found->header);
  std::string_view rest = bytes;
  if (take_off_frame(rest) == malformed_reason::none)
    RATCHET_FUZZ_CHECK(rest.size() == bytes.size() - found->header);
}

void check_same(const decoded_event& got, const decoded_event& want) {
  RATCHET_FUZZ_CHECK(got.kind == want.kind && got.malformed.reason == want.malformed.reason);
  RATCHET_FUZZ_CHECK(got.malformed.pointer == want.malformed.pointer);
  RATCHET_FUZZ_CHECK(got.aggregate == want.aggregate && got.sequence == want.sequence && got.id == want.id);
  RATCHET_FUZZ_CHECK(got.has_id == want.has_id && got.has_sequence == want.has_sequence);
  RATCHET_FUZZ_CHECK(got.type == want.type && got.time == want.time && got.source == want.source);
  RATCHET_FUZZ_CHECK(got.payload == want.payload && got.payload_hash == want.payload_hash);
  RATCHET_FUZZ_CHECK(got.from->index == want.from->index && got.from->more == want.from->more);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<decode_rules> all = make_rules();
  static std::vector<decoder> decoders{all.begin(), all.end()};
  static decoded_batch alone;
  static decoded_batch framed;
  check_bytes({reinterpret_cast<const char*>(data), size});
  fuzz::fuzz_input in{data, size};
  const std::size_t which = in.u8() % all.size();
  const unsigned frame_kind = in.u8() % 3U;
  const std::string frame = frame_of(frame_kind, in.u32());
  const fuzz::exact_copy value{in.rest()};
  if (value.view().empty() || (value.view()[0] != '{' && value.view()[0] != '[')) return 0;
  const std::string behind = frame + std::string{value.view()};
  record plain_record;
  plain_record.where = &k_place;
  plain_record.key = R"({"id":1})";
  plain_record.value = value.view();
  record framed_record = plain_record;
  framed_record.value = behind;
  decoders[which].decode({&plain_record, 1}, alone);
  decoders[which].decode({&framed_record, 1}, framed);
  RATCHET_FUZZ_CHECK(alone.events.size() == framed.events.size());
  for (std::size_t i = 0; i < alone.events.size(); ++i) check_same(framed.events[i], alone.events[i]);
  // The place of a fault is one in the record.
  const bool is_whole = alone.events.size() == 1 && alone.events[0].from->part_of == nullptr;
  const bool is_plain = all[which].envelope.format == envelope_format::json;
  if (is_whole && is_plain && alone.events[0].kind == decoded_kind::malformed)
    RATCHET_FUZZ_CHECK(framed.events[0].malformed.byte_offset ==
                       alone.events[0].malformed.byte_offset + frame.size());
  return 0;
}
