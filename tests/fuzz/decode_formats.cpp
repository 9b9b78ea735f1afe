// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cctype>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/event_id_text.hpp"
#include "decode/record_hash.hpp"
#include "decode/registry_frame.hpp"
#include "fuzz/format_reference.hpp"
#include "fuzz/fuzz_input.hpp"

/// A record of any key, headers and value, read as CloudEvents or as row changes: the decoder and the
/// reference agree on what it is, and on every field.
///
/// Input: the rules, what is null (bits: 1 key, 2 value, 4 the last header's value), which attributes have a
/// good header (bits), the names of two more headers, key, their values (each behind its length), and the
/// value.

using namespace ratchet;
using fuzz::json_node;

namespace {

decode_rules make(envelope_format format, order o, id_kind ids, const char* from, bool bytes) {
  decode_rules rules;
  rules.envelope.format = format;
  rules.order = o;
  rules.ids = ids;
  rules.payload_from = from;
  rules.bytes_allowed = bytes;
  return rules;
}

std::vector<decode_rules> make_rules() {
  std::vector<decode_rules> all;
  all.push_back(make(envelope_format::cloudevents, order::latest, id_kind::uuidv7, "", true));
  // The reference knows numbers; ranks of text are compared with each other by unit tests.
  all.back().envelope.sequence_as = sequence_kind::integer;
  all.push_back(make(envelope_format::cloudevents, order::arrival, id_kind::ulid, "/p", true));
  all.push_back(make(envelope_format::cloudevents, order::strict, id_kind::none, "", false));
  all.back().envelope.epoch = "attribute:era";
  all.push_back(make(envelope_format::cloudevents, order::arrival, id_kind::opaque, "", true));
  for (const envelope_format format : {envelope_format::debezium_cdc, envelope_format::ydb_changefeed}) {
    all.push_back(make(format, order::latest, id_kind::none, "", true));
    all.push_back(make(format, order::latest, id_kind::none, "/v", false));
  }
  return all;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> k_good{
    {{"ce_specversion", "1.0"},
     {"ce_source", "/a"},
     {"ce_id", "018f2b7c-1234-7abc-89ab-0123456789ab"},
     {"ce_type", "paid"},
     {"ce_subject", "p1"},
     {"ce_sequence", "7"},
     {"ce_era", "1"}}};
constexpr std::array<std::string_view, 10> k_names{
    "content-type", "ce_specversion", "ce_source", "ce_id",   "ce_type",
    "ce_subject",   "ce_sequence",    "ce_era",    "ce_time", ""};

struct whole_record {
  explicit whole_record(fuzz::fuzz_input& in) {
    const unsigned null = in.u8();
    const unsigned good = in.u8();
    for (std::size_t i = 0; i < k_good.size(); ++i) {
      if ((good >> i & 1U) != 0) headers.push_back({k_good[i].first, k_good[i].second});
    }
    std::array<header, 2> more;
    for (header& h : more) h.name = k_names[in.u8() % k_names.size()];
    key = in.text();
    for (header& h : more) h.value = in.text();
    if ((null & 4U) != 0) more[1].value.reset();
    headers.insert(headers.end(), more.begin(), more.end());
    exact.emplace(in.rest());
    if ((null & 1U) == 0) r.key = key;
    if ((null & 2U) == 0) r.value = exact->view();
    r.headers = headers;
  }
  std::string_view key;
  std::vector<header> headers;
  std::optional<fuzz::exact_copy> exact;
  record r;
};

enum class mode : std::uint8_t { structured, unsaid, binary, bytes, batch, refused };

mode mode_of(const decode_rules& rules, const record& r) {
  bool binary = false;
  const header* content = nullptr;
  for (const header& h : r.headers) {
    if (h.name == "content-type" && h.value) {
      const std::string type = fuzz::media_type(*h.value);
      if (type == "application/cloudevents" || type == "application/cloudevents+json")
        return mode::structured;
      if (type == "application/cloudevents-batch+json") return mode::batch;
      if (type.starts_with("application/cloudevents")) return mode::refused;
    }
    if (h.name == "content-type" && content == nullptr) content = &h;
    binary = binary || h.name == "ce_specversion";
  }
  if (!binary) return mode::unsaid;
  if (!rules.bytes_allowed || !rules.payload_from.empty() || content == nullptr || !content->value)
    return mode::binary;
  return fuzz::is_json(fuzz::media_type(*content->value)) ? mode::binary : mode::bytes;
}

void check_fields(const decode_rules& rules, const decoded_event& got, const fuzz::read_format& want,
                  const record& r) {
  RATCHET_FUZZ_CHECK(got.has_sequence == want.sequence.has_value());
  if (want.sequence) RATCHET_FUZZ_CHECK(got.sequence == *want.sequence);
  RATCHET_FUZZ_CHECK(got.type == want.type);
  RATCHET_FUZZ_CHECK(got.has_id == !want.id.empty());
  if (got.has_id) {
    if (rules.ids == id_kind::opaque) {
      RATCHET_FUZZ_CHECK(got.id_text == want.id);
      RATCHET_FUZZ_CHECK(got.id == id_of_source(rules.ids, *hash_opaque_id(want.id), want.source));
    } else {
      // What is mixed in goes out again.
      const event_id plain = id_of_source(rules.ids, got.id, want.source);
      RATCHET_FUZZ_CHECK(plain == parse_event_id(rules.ids, want.id));
    }
  }
  if (rules.envelope.format == envelope_format::cloudevents) {
    RATCHET_FUZZ_CHECK(got.aggregate == want.aggregate);
  } else {
    const std::string_view bytes = rules.envelope.format == envelope_format::debezium_cdc ? *r.key : *r.value;
    RATCHET_FUZZ_CHECK(got.aggregate.data() >= bytes.data());
    RATCHET_FUZZ_CHECK(got.aggregate.data() + got.aggregate.size() <= bytes.data() + bytes.size());
    RATCHET_FUZZ_CHECK(fuzz::read_json(got.aggregate).has_value());
  }
  if (got.kind == decoded_kind::tombstone) {
    RATCHET_FUZZ_CHECK(got.payload.empty() && got.payload_hash == hash128{});
    return;
  }
  if (want.bytes) RATCHET_FUZZ_CHECK(got.payload == *want.bytes);
  if (want.payload) RATCHET_FUZZ_CHECK(fuzz::read_json(got.payload) == want.payload);
  if (!want.bytes && !want.payload) RATCHET_FUZZ_CHECK(got.payload == *r.value);
  RATCHET_FUZZ_CHECK(got.payload_hash == payload_hash(got.payload));
}

/// An event of a batch is what it is in a record of its own, in structured mode.
void check_alone(decoder& reader, const record& whole, const decoded_event& got) {
  static const std::array headers{header{"content-type", "application/cloudevents+json"}};
  static decoded_batch again;
  record one = whole;
  one.headers = headers;
  one.value = got.from->value;
  reader.decode({&one, 1}, again);
  RATCHET_FUZZ_CHECK(again.events.size() == 1);
  const decoded_event& want = again.events.front();
  RATCHET_FUZZ_CHECK(got.kind == want.kind && got.malformed.reason == want.malformed.reason);
  RATCHET_FUZZ_CHECK(got.aggregate == want.aggregate && got.sequence == want.sequence && got.id == want.id);
  RATCHET_FUZZ_CHECK(got.type == want.type && got.source == want.source && got.id_text == want.id_text);
  RATCHET_FUZZ_CHECK(got.payload == want.payload && got.payload_hash == want.payload_hash);
}

/// A batch: taken apart where the judge takes it apart.
void check_batch(decoder& reader, const record& r, const std::vector<decoded_event>& events) {
  const auto is_whole = [&](decoded_kind kind) {
    return events.size() == 1 && events[0].kind == kind && events[0].from == &r;
  };
  if (!fuzz::accepts(*r.value)) return;  // too deep for the judge, or malformed
  const auto document = fuzz::read_json(*r.value);
  if (!document) return;
  if (document->children.empty()) {
    RATCHET_FUZZ_CHECK(is_whole(decoded_kind::ignored));
    return;
  }
  RATCHET_FUZZ_CHECK(document->children.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    RATCHET_FUZZ_CHECK(fuzz::read_json(*events[i].from->value) == document->children[i]);
    check_alone(reader, r, events[i]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<decode_rules> all = make_rules();
  static std::vector<decoder> decoders{all.begin(), all.end()};
  static decoded_batch batch;
  fuzz::fuzz_input in{data, size};
  const std::size_t which = in.u8() % all.size();
  const decode_rules& rules = all[which];
  const whole_record whole{in};
  const record& r = whole.r;
  decoders[which].decode({&r, 1}, batch);
  const decoded_event& got = batch.events.at(0);
  RATCHET_FUZZ_CHECK(&whole_of(*got.from) == &r);
  const bool malformed = got.kind == decoded_kind::malformed;
  RATCHET_FUZZ_CHECK(malformed == (got.malformed.reason != malformed_reason::none));
  if (malformed)
    RATCHET_FUZZ_CHECK(got.aggregate.empty() && got.payload.empty() && !got.has_id && !got.has_sequence);

  const bool is_cloudevent = rules.envelope.format == envelope_format::cloudevents;
  mode how = is_cloudevent ? mode_of(rules, r) : mode::structured;
  if (r.value && (how == mode::unsaid || how == mode::batch)) {
    const std::size_t begin = r.value->find_first_not_of(" \t\r\n");
    if (begin != std::string_view::npos && (*r.value)[begin] == '[') {
      check_batch(decoders[which], r, batch.events);
      return 0;
    }
  }
  if (how == mode::unsaid) how = mode::structured;
  if (how == mode::refused || how == mode::batch) {
    if (r.value && json_behind_frame(*r.value)) return 0;  // its units pin it
    RATCHET_FUZZ_CHECK(got.malformed.reason == malformed_reason::event_format);
    return 0;
  }
  if (!r.value && how == mode::structured && rules.envelope.format != envelope_format::debezium_cdc) {
    RATCHET_FUZZ_CHECK(got.malformed.reason == malformed_reason::null_value);
    return 0;
  }
  if (r.key && json_behind_frame(*r.key)) return 0;
  std::optional<json_node> document;
  if (r.value && how != mode::bytes) {
    if (read_frame(*r.value)) return 0;  // its units pin it
    if (!fuzz::accepts(*r.value)) {
      RATCHET_FUZZ_CHECK(malformed);
      return 0;
    }
    document = fuzz::read_json(*r.value);
    if (!document) return 0;  // the judge has no answer
    if (document->kind == json_node::kind_of::null) {
      RATCHET_FUZZ_CHECK(got.malformed.reason == malformed_reason::null_value);
      return 0;
    }
  }
  if (r.value && r.value->empty()) {
    RATCHET_FUZZ_CHECK(malformed);
    return 0;
  }
  const fuzz::format_reference reference{rules, r, document};
  fuzz::read_format want = is_cloudevent ? reference.cloudevent(how == mode::structured) : reference.change();
  if (!reference.has_answer()) return 0;
  if (!want.id.empty() && !parse_event_id(rules.ids, want.id)) want = {};
  // The aggregate of a row change has a limit, and its bytes are not modelled: a key of more is malformed.
  const bool large = got.malformed.reason == malformed_reason::aggregate_size && !is_cloudevent;
  if (large) return 0;
  RATCHET_FUZZ_CHECK(got.kind == want.kind);
  if (got.kind != decoded_kind::malformed && got.kind != decoded_kind::ignored)
    check_fields(rules, got, want, r);
  return 0;
}
