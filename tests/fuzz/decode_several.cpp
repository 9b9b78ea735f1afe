// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/registry_frame.hpp"
#include "fuzz/fuzz_input.hpp"
#include "fuzz/json_judge.hpp"
#include "fuzz/plain_rules.hpp"

/// Any value as a record that holds several events, in an array or on lines: it is taken apart where the
/// reference takes it apart, and each event is what it would be in a record of its own.
///
/// Input: what the list is, and the value.

using namespace ratchet;
using fuzz::json_node;
using fuzz::plain_rules;

namespace {

const topic_partition k_place{"t", partition_id{0}};

constexpr std::array<std::string_view, 4> k_lists{"", "/r", "/r/0/q", "lines"};

decode_rules rules_for(std::string_view list) {
  decode_rules rules = plain_rules();
  const bool lines = list == "lines";
  rules.envelope.each = {lines ? each_kind::lines : each_kind::array, lines ? "" : std::string{list}};
  return rules;
}

/// The node at the pointer, which has no escapes; null where it is not there, not once, or in one element of
/// an array that has more.
const json_node* node_at(const json_node& root, std::string_view pointer, bool& once) {
  const json_node* here = &root;
  while (!pointer.empty() && here != nullptr) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string_view token = pointer.substr(1, end - 1);
    pointer.remove_prefix(end);
    const json_node* next = nullptr;
    if (here->kind == json_node::kind_of::object) {
      for (std::size_t i = 0; i < here->names.size(); ++i) {
        if (here->names[i] != token) continue;
        if (next != nullptr) once = false;
        if (next == nullptr) next = &here->children[i];
      }
    } else if (here->kind == json_node::kind_of::array && token == "0" && here->children.size() == 1) {
      next = &here->children[0];
    }
    here = next;
  }
  return here;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  constexpr std::string_view k_space{" \t\r"};
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t first = line.find_first_not_of(k_space);
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(k_space) - first + 1);
    lines.emplace_back(line);
  }
  return lines;
}

/// The event is what it is in a record of its own; places in the value are those in the event.
void check_alone(const decoded_event& got) {
  static decoder alone{plain_rules()};
  static decoded_batch batch;
  record r;
  r.where = &k_place;
  r.value = got.from->value;
  if (static_cast<unsigned char>(r.value->front()) <= k_highest_frame_byte) return;  // a frame, there
  alone.decode({&r, 1}, batch);
  const decoded_event& want = batch.events.at(0);
  RATCHET_FUZZ_CHECK(got.kind == want.kind && got.malformed.reason == want.malformed.reason);
  RATCHET_FUZZ_CHECK(got.malformed.pointer == want.malformed.pointer);
  RATCHET_FUZZ_CHECK(got.malformed.byte_offset == want.malformed.byte_offset);
  RATCHET_FUZZ_CHECK(got.aggregate == want.aggregate && got.sequence == want.sequence && got.id == want.id);
  RATCHET_FUZZ_CHECK(got.type == want.type && got.payload == want.payload);
  RATCHET_FUZZ_CHECK(got.payload_hash == want.payload_hash);
}

void check_places(const std::vector<decoded_event>& events, const record& whole) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const record& part = *events[i].from;
    RATCHET_FUZZ_CHECK(part.index == i && part.more == (i + 1 < events.size()));
    RATCHET_FUZZ_CHECK(part.part_of != nullptr && &whole_of(part) == &whole);
    RATCHET_FUZZ_CHECK(part.value->data() >= whole.value->data());
    RATCHET_FUZZ_CHECK(part.value->data() + part.value->size() <= whole.value->data() + whole.value->size());
    check_alone(events[i]);
  }
}

/// What is kept of an event is a record that holds it alone, which is read as it was.
void check_kept(const decode_rules& rules, const decoded_event& got) {
  static decoded_batch batch;
  const std::string value = value_alone(*got.from).value();
  record r;
  r.where = &k_place;
  r.value = value;
  decoder again{rules};
  again.decode({&r, 1}, batch);
  RATCHET_FUZZ_CHECK(batch.events.size() == 1);
  RATCHET_FUZZ_CHECK(batch.events[0].kind == got.kind && batch.events[0].payload == got.payload);
}

using decoded_events = std::vector<decoded_event>;

/// The record became one event, which is all of it.
bool is_whole(const decoded_events& events, const record& r, decoded_kind kind) {
  return events.size() == 1 && events[0].kind == kind && events[0].from == &r;
}

void check_lines(const decoded_events& events, const record& r) {
  const std::vector<std::string> lines = lines_of(*r.value);
  if (lines.empty()) {
    RATCHET_FUZZ_CHECK(is_whole(events, r, decoded_kind::ignored));
    return;
  }
  RATCHET_FUZZ_CHECK(lines.size() == events.size());
  for (std::size_t i = 0; i < lines.size(); ++i) RATCHET_FUZZ_CHECK(events[i].from->value == lines[i]);
  check_places(events, r);
}

void check_list(const decode_rules& rules, std::string_view pointer, const decoded_events& events,
                const record& r) {
  if (!fuzz::accepts(*r.value)) {
    // The depth of an event is its own, so that what is too deep for the judge need not be so here.
    const bool is_deep = std::count(r.value->begin(), r.value->end(), '[') +
                             std::count(r.value->begin(), r.value->end(), '{') >
                         1000;
    RATCHET_FUZZ_CHECK(is_deep || is_whole(events, r, decoded_kind::malformed));
    return;
  }
  const auto document = fuzz::read_json(*r.value);
  if (!document) return;  // the judge has no answer
  bool once = true;
  const json_node* list = node_at(*document, pointer, once);
  if (!once || list == nullptr || list->kind != json_node::kind_of::array) {
    RATCHET_FUZZ_CHECK(is_whole(events, r, decoded_kind::malformed));
    return;
  }
  if (list->children.empty()) {
    RATCHET_FUZZ_CHECK(is_whole(events, r, decoded_kind::ignored));
    return;
  }
  RATCHET_FUZZ_CHECK(list->children.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i)
    RATCHET_FUZZ_CHECK(fuzz::read_json(*events[i].from->value) == list->children[i]);
  check_places(events, r);
  check_kept(rules, events.back());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<decode_rules> all = [] {
    std::vector<decode_rules> rules;
    for (const std::string_view list : k_lists) rules.push_back(rules_for(list));
    return rules;
  }();
  static std::vector<decoder> decoders{all.begin(), all.end()};
  static decoded_batch batch;
  fuzz::fuzz_input in{data, size};
  const std::size_t which = in.u8() % all.size();
  const fuzz::exact_copy value{in.rest()};
  record r;
  r.where = &k_place;
  r.value = value.view();
  RATCHET_FUZZ_CHECK(decoders[which].decode({&r, 1}, batch) == 1);
  const decoded_events& events = batch.events;
  RATCHET_FUZZ_CHECK(!events.empty());
  if (r.value->empty()) {
    RATCHET_FUZZ_CHECK(events[0].malformed.reason == malformed_reason::empty_value);
    return 0;
  }
  if (read_frame(*r.value)) return 0;  // its units pin it
  if (k_lists[which] == "lines") {
    check_lines(events, r);
  } else {
    check_list(all[which], k_lists[which], events, r);
  }
  return 0;
}
