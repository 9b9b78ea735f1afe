// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/record_hash.hpp"
#include "decode/registry_frame.hpp"
#include "fuzz/envelope_reference.hpp"
#include "fuzz/fuzz_input.hpp"

/// A record of any key, headers and value under one of a dozen envelopes: the decoder and the reference agree
/// on every field, or on why and where there are none.
///
/// Input: the envelope, what is null (bits: 1 key, 2 value, 4 second header's value), the names of two
/// headers, key, two header values (each behind its length), and the value.

using namespace ratchet;
using fuzz::json_node;

namespace {

decode_rules make(envelope_config envelope, order o, const char* payload, id_kind ids = id_kind::uuidv7) {
  decode_rules rules;
  rules.envelope = std::move(envelope);
  rules.order = o;
  rules.payload_from = payload;
  rules.ids = ids;
  return rules;
}

std::vector<decode_rules> make_rules() {
  std::vector<decode_rules> all;
  const envelope_config in_value{"/id", "/a", "/s", 64, "", "/t", "/at"};
  all.push_back(make(in_value, order::latest, "/p"));
  all.push_back(make(in_value, order::arrival, ""));
  all.push_back(make({"/id", "/p/a", "/p/s", 128, "", "/p/t", "/p/at"}, order::strict, "/p"));
  all.push_back(make({"", "/a", "/s", 64, "/e", "/t", "/at"}, order::latest, "/p/0", id_kind::none));
  all.push_back(make({"/0/id", "/0/a", "/1", 64, "/2", "/3", "/4"}, order::strict, "/0"));
  all.push_back(make({"/p~1q/id", "/p~0q", "/\xC3\xA4", 64, "", "", "/a/b/c"}, order::latest, "/p~1q"));
  all.push_back(
      make({"header:id", "key", "header:seq", 64, "", "header:type", "header:at"}, order::latest, ""));
  all.push_back(all.back());
  all.back().bytes_allowed = true;
  all.push_back(make({"/id", "key", "header:seq", 128, "", "header:type", "header:at"}, order::strict, ""));
  all.push_back(make({"key", "/a", "/s", 64, "key", "key", "key"}, order::latest, "/a"));
  all.push_back(make(in_value, order::latest, "/p"));
  all.back().time_stands_for_record = true;
  all.back().max_value_bytes = 600;
  all.push_back(make({"/id", "header:id", "/s", 64, "header:seq", "/t", "header:at"}, order::strict, "/p/q"));
  all.back().time_stands_for_record = true;
  all.push_back(make(in_value, order::latest, "/p", id_kind::opaque));
  all.back().envelope.sequence_base = 16;
  all.push_back(make({"header:id", "/a", "", 64, "", "", ""}, order::arrival, "", id_kind::opaque));
  return all;
}

constexpr std::array<std::string_view, 8> k_names{"id",           "seq",          "type", "at",
                                                  "content-type", "Content-Type", "ID",   ""};

const topic_partition k_place{"t", partition_id{0}};

struct whole_record {
  explicit whole_record(fuzz::fuzz_input& in) {
    const unsigned null = in.u8();
    for (header& h : headers) h.name = k_names[in.u8() % k_names.size()];
    key = in.text();
    for (header& h : headers) h.value = in.text();
    if ((null & 4U) != 0) headers[1].value.reset();
    const std::string_view value = in.rest();
    exact.emplace(value);
    if ((null & 1U) == 0) r.key = key;
    if ((null & 2U) == 0) r.value = exact->view();
    r.where = &k_place;
    r.headers = headers;
    r.time = timestamp{std::chrono::milliseconds{1'700'000'000'000}};
  }
  std::string_view key;
  std::array<header, 2> headers{};
  std::optional<fuzz::exact_copy> exact;
  record r;
};

/// Whether the value is not looked at.
bool is_bytes(const decode_rules& rules, const record& r) {
  if (!rules.bytes_allowed) return false;  // such rules read nothing from the value
  for (const header& h : r.headers) {
    if (h.name != "content-type" && h.name != "Content-Type") continue;
    if (!h.value) return false;
    return !fuzz::is_json(fuzz::media_type(*h.value));
  }
  return false;
}

/// Faults of the value as a whole come before those of its fields. True: there is one, or the judge has no
/// answer.
bool check_whole(const decode_rules& rules, const record& r, const decoded_event& event,
                 std::optional<json_node>& document) {
  const bool malformed = event.kind == decoded_kind::malformed;
  const auto is = [&](malformed_reason reason) {
    return malformed && event.malformed.reason == reason && event.malformed.pointer.empty();
  };
  if (r.value->size() > rules.max_value_bytes) {
    RATCHET_FUZZ_CHECK(is(malformed_reason::too_large));
    return true;
  }
  if (r.value->empty()) {
    RATCHET_FUZZ_CHECK(is(malformed_reason::empty_value));
    return true;
  }
  if (is_bytes(rules, r)) return false;
  if (read_frame(*r.value)) return true;  // its units pin it
  if (!fuzz::accepts(*r.value)) {
    RATCHET_FUZZ_CHECK(is(malformed_reason::invalid_json) || is(malformed_reason::invalid_utf8) ||
                       is(malformed_reason::byte_order_mark) || is(malformed_reason::too_deep));
    return true;
  }
  document = fuzz::read_json(*r.value);
  if (!document) return true;
  if (document->kind == json_node::kind_of::null) RATCHET_FUZZ_CHECK(is(malformed_reason::null_value));
  return document->kind == json_node::kind_of::null;
}

void check_malformed(const decoded_event& got, const fuzz::read_event& want, const record& r) {
  RATCHET_FUZZ_CHECK(got.kind == decoded_kind::malformed);
  RATCHET_FUZZ_CHECK(got.malformed.reason == want.reason);
  RATCHET_FUZZ_CHECK(got.malformed.pointer == want.pointer);
  RATCHET_FUZZ_CHECK(got.record_time == want.record_time);
  RATCHET_FUZZ_CHECK(got.aggregate.empty() && got.payload.empty() && !got.has_id && !got.has_sequence);
  if (want.pointer.starts_with('/') && r.value)
    RATCHET_FUZZ_CHECK(got.malformed.byte_offset < r.value->size());
}

void check_event(const decoded_event& got, const fuzz::read_event& want, const record& r) {
  RATCHET_FUZZ_CHECK(got.kind == (r.value ? decoded_kind::event : decoded_kind::tombstone));
  RATCHET_FUZZ_CHECK(got.aggregate == want.aggregate);
  RATCHET_FUZZ_CHECK(got.has_sequence == want.sequence.has_value());
  if (want.sequence) RATCHET_FUZZ_CHECK(got.sequence == *want.sequence);
  if (!r.value && !want.id && got.has_id) {
    RATCHET_FUZZ_CHECK(got.id.time() == *r.time || got.id_text.starts_with("null/"));
    return;
  }
  RATCHET_FUZZ_CHECK(got.has_id == want.id.has_value());
  if (want.id) RATCHET_FUZZ_CHECK(got.id == *want.id);
  RATCHET_FUZZ_CHECK(got.id_text == want.id_text);
  RATCHET_FUZZ_CHECK(got.type == want.type);
  RATCHET_FUZZ_CHECK(got.time == want.time);
  RATCHET_FUZZ_CHECK(got.record_time == want.record_time);
  if (!r.value) {
    RATCHET_FUZZ_CHECK(got.payload.empty() && got.payload_hash == hash128{});
  } else if (!want.payload) {
    RATCHET_FUZZ_CHECK(got.payload.data() == r.value->data() && got.payload.size() == r.value->size());
  } else {
    // The very bytes of the value, and of the node that was asked for.
    RATCHET_FUZZ_CHECK(got.payload.data() >= r.value->data());
    RATCHET_FUZZ_CHECK(got.payload.data() + got.payload.size() <= r.value->data() + r.value->size());
    RATCHET_FUZZ_CHECK(fuzz::read_json(got.payload) == want.payload);
  }
  if (r.value) RATCHET_FUZZ_CHECK(got.payload_hash == payload_hash(got.payload));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<decode_rules> all = make_rules();
  static std::vector<decoder> decoders{all.begin(), all.end()};
  static decoded_batch batch;
  fuzz::fuzz_input in{data, size};
  const std::size_t which = in.u8() % all.size();
  const whole_record whole{in};
  const record& r = whole.r;
  decoders[which].decode({&r, 1}, batch);
  const decoded_event& got = batch.events.at(0);
  RATCHET_FUZZ_CHECK(got.from == &r);

  std::optional<json_node> document;
  if (r.value && check_whole(all[which], r, got, document)) return 0;
  const fuzz::read_event want = fuzz::envelope_reference{all[which], r, std::move(document)}.read();
  if (want.reason != malformed_reason::none) {
    check_malformed(got, want, r);
  } else {
    check_event(got, want, r);
  }
  return 0;
}
