// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
/// What it costs to turn a record into an event: the whole value checked, the fields read, the payload
/// hashed.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/event_id_text.hpp"
#include "decode/json_grammar.hpp"
#include "decode/record_hash.hpp"
#include "decode/time_text.hpp"
#include "made_ids.hpp"

namespace {

using namespace ratchet;

/// Payment events of about `bytes` bytes, no two alike in their texts' lengths, so that the branch predictor
/// meets what it meets in life.
std::vector<std::string> make_events(std::size_t count, std::size_t bytes, std::string_view filler) {
  constexpr std::array<const char*, 5> k_states{"queued", "authorised", "paid", "refunded", "charged_back"};
  std::vector<std::string> events;
  made_ids drawn;
  for (std::size_t i = 0; i < count; ++i) {
    const timestamp time{std::chrono::milliseconds{1'767'225'600'000 + static_cast<std::int64_t>(i)}};
    const event_id id = drawn.id_at(time);
    const char* state = k_states[drawn.draw() % k_states.size()];
    char head[400];
    std::snprintf(
        head, sizeof head,
        R"({"id":"%s","type":"payment.%s","occurred_at":"%s","sequence":%u,"payment":{"id":"p%08u",)"
        R"("status":"%s","amount":%u.%02u,"currency":"EUR","captured":%s,"attempts":%u,"note":")",
        to_text(id).c_str(), state, to_rfc3339(time).c_str(), static_cast<unsigned>(drawn.draw() % 500),
        static_cast<unsigned>(drawn.draw() % 200'000), state, static_cast<unsigned>(drawn.draw() % 100'000),
        static_cast<unsigned>(drawn.draw() % 100), drawn.draw() % 2 == 0 ? "true" : "false",
        static_cast<unsigned>(drawn.draw() % 4));
    std::string event = head;
    constexpr std::string_view k_tail{
        R"(","tags":["web","returning"],"refs":{"order":"o-1234567","shop":17}}})"};
    const std::size_t wanted = bytes - drawn.draw() % 32;
    while (event.size() + k_tail.size() < wanted) event += filler;
    event += k_tail;
    events.push_back(std::move(event));
  }
  return events;
}

decode_rules payment_rules() {
  decode_rules rules;
  rules.envelope.event_id = "/id";
  rules.envelope.aggregate = "/payment/id";
  rules.envelope.sequence = "/sequence";
  rules.envelope.type = "/type";
  rules.envelope.time = "/occurred_at";
  rules.payload_from = "/payment";
  return rules;
}

void run_decoder(benchmark::State& state, std::string_view filler) {
  const auto values = make_events(4096, static_cast<std::size_t>(state.range(0)), filler);
  const topic_partition where{"payment-status", partition_id{0}};
  std::vector<record> records;
  std::size_t bytes = 0;
  for (const std::string& value : values) {
    record r;
    r.where = &where;
    r.value = value;
    bytes += value.size();
    records.push_back(r);
  }
  decoder d{payment_rules()};
  decoded_batch batch;
  for (auto _ : state) {
    d.decode(records, batch);
    benchmark::DoNotOptimize(batch.events.data());
  }
  for (const decoded_event& event : batch.events) {
    if (event.kind != decoded_kind::event) state.SkipWithError("an event was not decoded");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records.size()));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void bm_decode_event(benchmark::State& state) {
  run_decoder(state, "lorem ipsum ");
}
BENCHMARK(bm_decode_event)->ArgName("bytes")->Arg(420)->Arg(4096);

void bm_decode_event_beyond_ascii(benchmark::State& state) {
  run_decoder(state, "Grüße, 支払い ");
}
BENCHMARK(bm_decode_event_beyond_ascii)->ArgName("bytes")->Arg(420)->Arg(4096);

/// Every byte checked, nothing read.
void bm_check_json(benchmark::State& state) {
  const auto values = make_events(4096, 420, "lorem ipsum ");
  const json::pointer_tree nothing;
  json::walker walker{nothing};
  for (auto _ : state) {
    for (const std::string& value : values) benchmark::DoNotOptimize(walker.walk(value));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(values.size()));
}
BENCHMARK(bm_check_json);

void bm_payload_hash(benchmark::State& state) {
  const std::string payload(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(payload_hash(payload));
}
BENCHMARK(bm_payload_hash)->ArgName("bytes")->Arg(250)->Arg(4096);

void bm_parse_uuidv7(benchmark::State& state) {
  const std::string text{"018f2b7c-1234-7abc-89ab-0123456789ab"};
  for (auto _ : state) benchmark::DoNotOptimize(parse_uuidv7(text));
}
BENCHMARK(bm_parse_uuidv7);

void bm_parse_rfc3339(benchmark::State& state) {
  const std::string text{"2026-01-01T00:00:00.000Z"};
  for (auto _ : state) benchmark::DoNotOptimize(parse_rfc3339(text));
}
BENCHMARK(bm_parse_rfc3339);

}  // namespace
