// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
/// What it costs to decode a record of each format, beside one of `json`: records of about the same size, key
/// and headers counted in, with the same ids and numbers in them.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/decoder.hpp"
#include "decode/event_id_text.hpp"
#include "decode/time_text.hpp"
#include "made_ids.hpp"

namespace {

using namespace ratchet;

enum class shape : std::uint8_t {
  json,
  structured,
  binary,
  outbox,
  cdc,
  cdc_with_schema,
  ydb,
  framed,
  chosen,
  several_fields,
  number_key,
  cdc_of_mysql,
  unwrapped,
  list,
  lines,
  batch
};

constexpr std::array<const char*, 16> k_names{"json",
                                              "cloudevents structured",
                                              "cloudevents binary",
                                              "debezium-outbox",
                                              "debezium-cdc",
                                              "debezium-cdc with its schema",
                                              "ydb-changefeed",
                                              "json behind a schema registry's frame",
                                              "json, of types that are chosen, with deletions",
                                              "json, aggregate and id of several fields",
                                              "json, the key a number of 8 bytes",
                                              "debezium-cdc of MySQL",
                                              "debezium-cdc, unwrapped",
                                              "json, 16 events in an array",
                                              "json, 16 events on lines",
                                              "cloudevents, 16 events in a batch"};

constexpr std::size_t k_bytes = 420;

struct sample {
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// What all shapes are made of.
struct facts {
  std::string id;
  std::string time;
  long long ms;
  unsigned sequence;
  unsigned payment;
};

std::string filled(std::string head, const char* tail, std::size_t outside) {
  while (head.size() + std::string_view{tail}.size() + outside < k_bytes) head += "lorem ipsum ";
  return head + tail;
}

template <class... Args>
std::string print(const char* format, Args... args) {
  char text[1200];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

constexpr const char* k_schema =
    R"({"schema":{"type":"struct","fields":[{"type":"struct","fields":[{"type":"string","optional":false,"field":"id"},)"
    R"({"type":"string","optional":true,"field":"note"}],"optional":true,"name":"pay.payments.Value","field":"after"},)"
    R"({"type":"string","optional":false,"field":"op"}],"optional":false,"name":"pay.payments.Envelope"},"payload":)";

std::string change_of(const facts& f, std::size_t outside) {
  const std::string head = print(R"({"before":null,"after":{"id":"p%08u","note":")", f.payment);
  const std::string tail = print(
      R"("},"source":{"connector":"postgresql","ts_ms":%lld,"sequence":"[\"%u\",\"%u\"]","table":"payments",)"
      R"("txId":556,"lsn":%u,"xmin":null},"op":"u","ts_ms":%lld})",
      f.ms, f.sequence + 1000, f.sequence + 2000, f.sequence + 2000, f.ms);
  return filled(head, tail.c_str(), outside);
}

// NOLINTNEXTLINE(readability-function-size): a table of shapes
sample make(shape s, const facts& f) {
  sample out;
  const char* id = f.id.c_str();
  const char* time = f.time.c_str();
  switch (s) {
    case shape::framed:
      out.value.assign("\0\0\0\0\x2A", 5);
      [[fallthrough]];
    case shape::chosen:
    case shape::several_fields:
    case shape::number_key:
      for (unsigned shift = 64; s == shape::number_key && shift > 0; shift -= 8)
        out.key += static_cast<char>(std::uint64_t{f.payment} >> (shift - 8) & 0xFFU);
      [[fallthrough]];
    case shape::json:
    case shape::list:
    case shape::lines:
      out.value += filled(
          print(
              R"({"id":"%s","type":"payment.paid","occurred_at":"%s","sequence":%u,"payment":{"id":"p%08u","note":")",
              id, time, f.sequence, f.payment),
          "\"}}", 0);
      break;
    case shape::structured:
    case shape::batch:
      out.headers = {{"content-type", "application/cloudevents+json"}};
      out.value = filled(
          print(
              R"({"specversion":"1.0","type":"payment.paid","source":"https://pay.example/7","subject":"p%08u",)"
              R"("id":"%s","time":"%s","sequence":"%u","data":{"note":")",
              f.payment, id, time, f.sequence),
          "\"}}", 40);
      break;
    case shape::binary:
      out.headers = {{"ce_specversion", "1.0"},
                     {"ce_type", "payment.paid"},
                     {"ce_source", "https://pay.example/7"},
                     {"ce_subject", print("p%08u", f.payment)},
                     {"ce_id", f.id},
                     {"ce_time", f.time},
                     {"ce_sequence", print("%u", f.sequence)},
                     {"content-type", "application/json"}};
      out.value = filled("{\"note\":\"", "\"}", 210);
      break;
    case shape::outbox:
      out.key = print("p%08u", f.payment);
      out.headers = {{"id", f.id}, {"eventType", "payment.paid"}, {"version", print("%u", f.sequence)}};
      out.value = filled("{\"note\":\"", "\"}", 80);
      break;
    case shape::cdc:
      out.key = print(R"({"id":"p%08u"})", f.payment);
      out.value = change_of(f, out.key.size());
      break;
    case shape::cdc_with_schema:
      out.key = print(R"({"schema":{"type":"struct"},"payload":{"id":"p%08u"}})", f.payment);
      out.value = k_schema + change_of(f, out.key.size()) + "}";
      break;
    case shape::cdc_of_mysql:
      out.key = print(R"({"id":"p%08u"})", f.payment);
      out.value = filled(
          print(R"({"before":null,"after":{"id":"p%08u","note":")", f.payment),
          print(
              R"("},"source":{"connector":"mysql","ts_ms":%lld,"snapshot":"false","table":"payments","server_id":1,)"
              R"("gtid":null,"file":"binlog.000003","pos":%u,"row":0,"thread":7},"op":"u","ts_ms":%lld})",
              f.ms, f.sequence + 2000, f.ms)
              .c_str(),
          out.key.size());
      break;
    case shape::unwrapped:
      out.key = print(R"({"id":"p%08u"})", f.payment);
      out.value =
          filled(print(R"({"id":"p%08u","note":")", f.payment),
                 print(R"(","__deleted":"false","__op":"u","__lsn":%u,"__source_sequence":"[\"%u\",\"%u\"]",)"
                       R"("__source_ts_ms":%lld})",
                       f.sequence + 2000, f.sequence + 1000, f.sequence + 2000, f.ms)
                     .c_str(),
                 out.key.size());
      break;
    case shape::ydb:
      out.value = filled(print(R"({"key":["p%08u"],"update":{},"newImage":{"note":")", f.payment),
                         print(R"("},"ts":[%lld,%u]})", f.ms, f.sequence).c_str(), 0);
      break;
  }
  return out;
}

decode_rules rules_of(shape s) {
  decode_rules rules;
  switch (s) {
    case shape::json:
      rules.envelope = {"/id", "/payment/id", "/sequence",    64,
                        {},    "/type",       "/occurred_at", envelope_format::json};
      rules.payload_from = "/payment";
      break;
    case shape::framed:
      return rules_of(shape::json);
    case shape::chosen:
      rules = rules_of(shape::json);
      rules.types = {"payment.paid", "payment.placed", "payment.returned"};
      rules.envelope.deletes = {{"payment.removed"}, "/payment/deleted", {"true"}};
      break;
    case shape::several_fields:
      rules = rules_of(shape::json);
      rules.ids = id_kind::opaque;
      rules.envelope.aggregate_more = {"/type"};
      rules.envelope.event_id_more = {"/type"};
      break;
    case shape::number_key:
      rules = rules_of(shape::json);
      rules.envelope.aggregate = "key";
      rules.envelope.key = key_kind::i64;
      break;
    case shape::list:
    case shape::lines:
      rules = rules_of(shape::json);
      rules.envelope.each =
          s == shape::list ? each_config{each_kind::array, "/records"} : each_config{each_kind::lines, {}};
      break;
    case shape::structured:
    case shape::binary:
    case shape::batch:
      rules.envelope.format = envelope_format::cloudevents;
      break;
    case shape::outbox:
      rules.envelope.format = envelope_format::debezium_outbox;
      rules.envelope.sequence = "header:version";
      break;
    case shape::cdc:
    case shape::cdc_with_schema:
    case shape::cdc_of_mysql:
    case shape::unwrapped:
      rules.keeps_columns = true;
      rules.envelope.format = envelope_format::debezium_cdc;
      rules.ids = id_kind::none;
      break;
    case shape::ydb:
      rules.envelope.format = envelope_format::ydb_changefeed;
      rules.ids = id_kind::none;
      break;
  }
  rules.bytes_allowed = true;
  return rules;
}

std::vector<sample> make_samples(shape s) {
  constexpr std::size_t k_count = 4096;
  std::vector<sample> samples;
  made_ids drawn;
  for (std::size_t i = 0; i < k_count; ++i) {
    const long long ms = 1'767'225'600'000 + static_cast<long long>(i);
    const timestamp time{std::chrono::milliseconds{ms}};
    samples.push_back(
        make(s, {to_text(drawn.id_at(time)), to_rfc3339(time), ms, static_cast<unsigned>(drawn.draw() % 500),
                 static_cast<unsigned>(drawn.draw() % 200'000)}));
  }
  return samples;
}

/// Several of the samples in one.
std::vector<sample> in_records(shape s, std::vector<sample> events) {
  constexpr std::size_t k_events = 16;
  const bool lines = s == shape::lines;
  std::vector<sample> records;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i % k_events == 0) {
      records.push_back({events[i].key, s == shape::list ? R"({"records":[)" : lines ? "" : "[", {}});
      if (s == shape::batch)
        records.back().headers.emplace_back("content-type", "application/cloudevents-batch+json");
    } else {
      records.back().value += lines ? "\n" : ",";
    }
    records.back().value += events[i].value;
    if (i % k_events == k_events - 1) records.back().value += s == shape::list ? "]}" : lines ? "\n" : "]";
  }
  return records;
}

void bm_decode(benchmark::State& state) {
  const auto s = static_cast<shape>(state.range(0));
  const bool are_several = s == shape::list || s == shape::lines || s == shape::batch;
  const shape one = s == shape::batch ? shape::structured : are_several ? shape::json : s;
  std::vector<sample> samples = make_samples(one);
  if (are_several) samples = in_records(s, std::move(samples));
  const topic_partition where{"payment-status", partition_id{0}};
  std::vector<std::vector<header>> headers(samples.size());
  std::vector<record> records(samples.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const sample& from = samples[i];
    for (const auto& [name, value] : from.headers) {
      headers[i].push_back({name, value});
      bytes += name.size() + value.size();
    }
    records[i].where = &where;
    records[i].key = from.key;
    records[i].value = from.value;
    records[i].headers = headers[i];
    bytes += from.key.size() + from.value.size();
  }
  decoder d{rules_of(s)};
  decoded_batch batch;
  for (auto _ : state) {
    d.decode(records, batch);
    benchmark::DoNotOptimize(batch.events.data());
  }
  for (const decoded_event& event : batch.events) {
    if (event.kind != decoded_kind::event) state.SkipWithError("an event was not decoded");
  }
  state.SetLabel(k_names[static_cast<std::size_t>(s)]);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch.events.size()));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}
BENCHMARK(bm_decode)->ArgName("format")->DenseRange(0, static_cast<int>(k_names.size()) - 1);

}  // namespace
