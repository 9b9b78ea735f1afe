// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/dead_letters.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/byte_io.hpp"
#include "decode/event_id_text.hpp"
#include "decode/sequence_text.hpp"
#include "outbox/output_id.hpp"
#include "text/json_writer.hpp"
#include "text/partition_name.hpp"
#include "text/rejected_messages.hpp"
#include "text/sequence_text.hpp"

namespace ratchet {

namespace {

/// Numbers as Java's ByteBuffer writes them, which is what readers of these headers expect.
std::string as_int(std::int32_t number) {
  std::string bytes;
  layout::byte_writer{bytes}.i32(number);
  return bytes;
}
std::string as_long(std::int64_t number) {
  std::string bytes;
  layout::byte_writer{bytes}.i64(number);
  return bytes;
}

/// A record that was not handled, wherever it is kept.
struct failed_record {
  const topic_partition* where;
  event_place place;
  std::optional<timestamp> time;
  std::string_view aggregate;
  std::string exception;  ///< as the name of a class
  std::string message;
};

/// What a letter's reader takes for our word. Of two headers with one name some take the first, others the
/// last.
bool is_our_word(std::string_view header) {
  constexpr std::string_view k_ours[] = {"ratchet-id",       "ratchet-stream",         "ratchet-aggregate",
                                         "ratchet-attempts", "ratchet-value-left-out", "ratchet-index"};
  return header.starts_with("kafka_dlt-") ||
         std::find(std::begin(k_ours), std::end(k_ours), header) != std::end(k_ours);
}

/// Behind the record's own, of which none may speak in our name.
/// The names are those of Spring Kafka's DeadLetterPublishingRecoverer, so that what reads its topics reads
/// ours. Numbers are four and eight bytes, big-endian.
void add_headers(output_row& row, const stream_definition& stream, const failed_record& failed) {
  std::erase_if(row.headers, [](const auto& own) { return is_our_word(own.first); });
  const auto add = [&row](const char* name, std::string value) {
    row.headers.emplace_back(name, std::move(value));
  };
  if (!failed.where->topic.empty()) {
    add("kafka_dlt-original-topic", failed.where->topic);
    add("kafka_dlt-original-partition", as_int(static_cast<std::int32_t>(failed.where->partition)));
    add("kafka_dlt-original-offset", as_long(failed.place.offset));
    if (failed.place.index != 0) add("ratchet-index", std::to_string(failed.place.index));
  }
  if (failed.time) {
    add("kafka_dlt-original-timestamp", as_long(failed.time->time_since_epoch().count()));
    add("kafka_dlt-original-timestamp-type", "CreateTime");
  }
  add("kafka_dlt-original-consumer-group", stream.group);
  add("kafka_dlt-exception-fqcn", failed.exception);
  add("kafka_dlt-exception-message", failed.message);
  add("ratchet-id", to_text(row.id));
  add("ratchet-stream", stream.config.name);
  if (!failed.aggregate.empty()) add("ratchet-aggregate", std::string{failed.aggregate});
}

output_row begin_row(const stream_definition& stream, output_kind kind, const output_cause& cause,
                     const std::string& topic) {
  output_row row;
  row.kind = kind;
  row.stream = stream.id;
  row.id = output_id(cause);
  row.aggregate = std::string{cause.aggregate};
  row.topic = topic;
  row.time = cause.time;
  return row;
}

std::string detail_of(const rejected_row& row) {
  const std::string fault = fault_text(row);
  return name_of(row.reason) + (fault.empty() ? "" : ": " + fault);
}

const char* advice_on(reject_reason reason) {
  switch (reason) {
    case reject_reason::none:
      break;
    case reject_reason::malformed:
      return "Fix the producer, and send the event again in the form that the stream expects.";
    case reject_reason::conflict:
      return "Another event has this sequence number already. Send this event under a new number.";
    case reject_reason::too_old:
      return "Ratchet can no longer tell whether the event was handled. Check the state, and send the event "
             "again under a fresh id if it is missing.";
    case reject_reason::late:
      return "Its number was skipped meanwhile. Check the state, and send missing changes under a new "
             "number.";
    case reject_reason::id_reused:
      return "Another event had this id before. Send this event under a new id.";
    case reject_reason::below_first:
      return "The stream's first number is higher. Check where the producer begins to count, and what its "
             "config names as the first.";
    case reject_reason::sequence_mixed:
      return "Its sequence has no order among those of the aggregate: one of them is a number and the other "
             "text, or both are digits as text, of two lengths. Send all of them as one kind, and digits "
             "with "
             "leading zeros.";
  }
  return "";
}

/// As the sender spelt it; mixing an id with its source once more undoes that.
std::string sent_id(id_kind kind, const decoded_event& e) {
  if (!e.id_text.empty()) return std::string{e.id_text};
  return to_text(kind, e.source.empty() ? e.id : id_of_source(kind, e.id, e.source));
}

/// The answer to the sender, as a structured CloudEvent (specification 1.0, JSON format).
std::string answer_to(const stream_definition& stream, const decoded_event& e, const rejected_row& rejected,
                      std::optional<timestamp> floor, event_id id) {
  const record& from = *e.from;
  const bool known = e.kind != decoded_kind::malformed;
  json_writer json;
  json.begin_object().key("specversion").string("1.0");
  json.key("id").string(to_text(id));
  json.key("source").string("/ratchet/" + stream.group + "/" + stream.config.name);
  json.key("type").string("ratchet.event.rejected");
  if (known) json.key("subject").string(e.aggregate);
  if (e.record_time) json.key("time").time(e.record_time);
  json.key("datacontenttype").string("application/json");
  json.key("data").begin_object();
  json.key("reason").string(name_of(rejected.reason));
  json.key("detail").string(detail_of(rejected));
  json.key("advice").string(advice_on(rejected.reason));
  json.key("event_id");
  if (known && e.has_id) {
    json.string(sent_id(stream.config.dedup.ids, e));
  } else {
    json.null();
  }
  if (!e.source.empty()) json.key("source").string(e.source);
  json.key("aggregate");
  known ? json.string(e.aggregate) : json.null();
  json.key("sequence");
  known&& e.has_sequence
      ? write_sequence(json, sequence_spelling::of(stream.config.envelope, stream.config.order), e.sequence)
      : json.null();
  json.key("floor").time(floor);
  json.place(*from.where, from.place()).end_object().end_object();
  return json.take();
}

}  // namespace

void tell_of_rejected(const stream_definition& stream, const decoded_event& e, const rejected_row& rejected,
                      std::optional<timestamp> floor, std::vector<output_row>& out) {
  const stream_config& config = stream.config;
  if (config.dead_letter.empty() && config.rejections.empty()) return;
  const record& from = *e.from;
  const bool known = e.kind != decoded_kind::malformed;
  output_cause cause{.group = stream.group,
                     .stream = config.name,
                     .aggregate = known ? e.aggregate : std::string_view{},
                     .id = {},
                     .id_has_time = false,
                     .sequence = {},
                     .where = from.where,
                     .offset = rejected.offset,
                     .index = rejected.index,
                     .time = e.record_time,
                     .purpose = "dead_letter"};
  // By its position: two rejected records of one id or sequence are two facts.
  if (!config.dead_letter.empty()) {
    output_row row = begin_row(stream, output_kind::dead_letter, cause, config.dead_letter);
    row.key = rejected.key;
    row.value = value_alone(from);
    for (const header& h : from.headers) row.headers.emplace_back(h.name, h.value);
    add_headers(row, stream,
                {from.where, from.place(), from.time, cause.aggregate,
                 std::string{"ratchet.rejected."} + name_of(rejected.reason), detail_of(rejected)});
    out.push_back(std::move(row));
  }
  if (!config.rejections.empty()) {
    cause.purpose = "rejection";
    output_row row = begin_row(stream, output_kind::rejection, cause, config.rejections);
    row.key = rejected.key;
    row.value = answer_to(stream, e, rejected, floor, row.id);
    row.headers.emplace_back("content-type", "application/cloudevents+json; charset=UTF-8");
    out.push_back(std::move(row));
  }
}

namespace {

/// Tells the letters of two events with one id apart: under another number, or in another record, which may
/// be a better one behind a discarded one. In arrival order the number is ours, and another one in a rebuild.
/// And it tells two deaths of one event apart, which an operator let be tried again: by all that their
/// letters do not have in common, so that one id always has the same bytes. Ids are hashes of it: its words
/// never change.
std::string purpose_of(const stream_definition& stream, const waiting_event& event) {
  const kept_record& from = event.record;
  std::string text = "dead_letter";
  if (stream.config.order != order::arrival) text += "@" + to_decimal(event.head.sequence);
  text += " of " + to_string(from.where, from.place());
  return text + " behind " + std::to_string(event.attempts) + " attempts: " + event.error;
}

void tell_of_dead(const stream_definition& stream, std::string_view aggregate, const waiting_event& event,
                  std::vector<output_row>& out) {
  const kept_record& from = event.record;
  const std::string purpose = purpose_of(stream, event);
  const output_cause cause{.group = stream.group,
                           .stream = stream.config.name,
                           .aggregate = aggregate,
                           .id = event.head.id,
                           .id_has_time = has_own_time(stream.config.dedup.ids),
                           .sequence = {},
                           .where = &from.where,
                           .offset = from.offset,
                           .index = from.index,
                           .time = from.time,
                           .purpose = purpose};
  output_row row = begin_row(stream, output_kind::dead_letter, cause, stream.config.dead_letter);
  row.key = from.key;
  row.value = from.value;
  row.headers = from.headers;
  add_headers(row, stream, {&from.where, from.place(), from.time, aggregate, "ratchet.dead", event.error});
  row.headers.emplace_back("ratchet-attempts", std::to_string(event.attempts));
  out.push_back(std::move(row));
}

}  // namespace

void tell_of_dead_ones(const stream_definition& stream, const step_plan& plan, const stream_change& change,
                       std::vector<output_row>& out) {
  if (stream.config.dead_letter.empty()) return;
  for (const backlog_change& b : change.backlogs) {
    // A dead event is written when it dies, and not touched after that until somebody decides.
    for (const waiting_event& event : b.puts) {
      if (event.head.state == waiting_state::dead)
        tell_of_dead(stream, plan.aggregates[b.aggregate], event, out);
    }
  }
}

std::optional<output_row> without_value(const output_row& row) {
  if (row.kind != output_kind::dead_letter || !row.value) return std::nullopt;
  output_row smaller = row;
  smaller.headers.emplace_back("ratchet-value-left-out", std::to_string(row.value->size()) + " bytes");
  smaller.value.reset();
  return smaller;
}

}  // namespace ratchet
