// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "ratchet/test_driver.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/step.hpp"
#include "decode/event_id_text.hpp"
#include "decode/record_hash.hpp"
#include "pipeline/pipeline.hpp"
#include "ports/clock.hpp"
#include "streams/partition_task.hpp"
#include "testing/memory_store.hpp"

namespace ratchet {

namespace {

/// A UUIDv7 (RFC 9562, section 5.7) of this time, with bits that depend on the text alone.
[[nodiscard]] event_id make_id(timestamp time, std::string_view text) {
  const hash128 bits = payload_hash(text);
  const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
  return {(ms << 16U) | 0x7000U | (bits.high & 0x0FFFU), (bits.low >> 2U) | (std::uint64_t{1} << 63U)};
}

/// What makes two test events one event: all but when and where they were sent.
[[nodiscard]] std::string identity_of(const test_event& e) {
  std::string text;
  for (const std::string& part : {e.aggregate, e.type, e.payload}) {
    text += std::to_string(part.size()) + ":" + part;
  }
  return text + std::to_string(e.sequence.epoch) + ":" + std::to_string(e.sequence.number) +
         (e.tombstone ? "-" : "+");
}

/// A record as Kafka holds it. Its address is stable, as batches borrow from it.
struct logged {
  test_event what;
  const topic_partition* where{nullptr};
  std::int64_t offset{0};
  timestamp time;
  std::optional<event_id> id;
  record as_read;
};

struct partition_log {
  topic_partition where;
  std::map<std::int64_t, const logged*> records;
};

[[nodiscard]] decoded_event decoded(const logged& from) {
  decoded_event e;
  e.from = &from.as_read;
  e.kind = from.what.tombstone ? decoded_kind::tombstone : decoded_kind::event;
  e.aggregate = from.what.aggregate;
  e.has_sequence = true;
  e.sequence = from.what.sequence;
  e.has_id = from.id.has_value();
  e.id = from.id.value_or(event_id{});
  e.type = from.what.type;
  e.time = from.time;
  e.record_time = from.time;
  if (!from.what.tombstone) {
    e.payload = from.what.payload;
    e.payload_hash = payload_hash(from.what.payload);
  }
  return e;
}

/// The driver's clock. No step takes long by it.
struct manual_clock final : clock_port {
  timestamp time;
  [[nodiscard]] timestamp now() const override { return time; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point{time.time_since_epoch()};
  }
};

/// As a file would have it. Its events come as they are: nothing of them is decoded.
[[nodiscard]] stream_config config_of(const test_options& options) {
  stream_config c;
  c.name = options.stream;
  c.topics = {options.topic};
  c.order = options.order;
  c.first = options.first;
  c.epoch_change = options.epoch_change;
  c.gap = options.gap;
  c.handling = options.handling;
  c.waiting = options.waiting;
  c.retry = options.retry;
  c.dedup.ids = !options.dedup ? id_kind::none : options.opaque_ids ? id_kind::opaque : id_kind::uuidv7;
  c.dedup.window = options.window;
  c.dedup.max_skew = options.max_skew;
  c.retention = options.retention;
  c.record_times = record_times::trusted;
  return c;
}

}  // namespace

struct test_driver::implementation {
  implementation(test_options given, reducer r) : options{std::move(given)}, store{{options.stream}} {
    clock.time = options.start;
    auto made = std::make_unique<stream_definition>(config_of(options), std::move(r));
    made->group = "test";
    made->rules.outputs.topics = options.outputs;
    made->rules.outputs.tables = options.tables;
    streams.push_back(std::move(made));
    tasks = make_tasks(streams);
    task().events_in_time = std::numeric_limits<std::size_t>::max();
    reopen();
  }

  /// As a start does: what is durable is read, and nothing else is known.
  void reopen();
  [[nodiscard]] partition_task& task() const { return *tasks.front(); }
  [[nodiscard]] std::optional<aggregate_row> row(const std::string& aggregate) const;
  [[nodiscard]] key_encoding encoding_of(std::string_view table) const;
  partition_log& log_of(partition_id);
  logged& append(const test_event&);
  std::vector<decision> handle(const std::vector<const logged*>&);
  /// What is due of the events that wait.
  void resume();
  void note_stops();

  test_options options;
  manual_clock clock;
  memory_store store;
  stream_list streams;  ///< the one
  task_list tasks;      ///< and its own
  std::optional<pipeline> steps;
  std::map<partition_id, partition_log> partitions;
  std::deque<logged> records;           ///< everything that was ever delivered
  std::vector<const logged*> in_kafka;  ///< each record once, in the order in which it was produced
  std::map<std::string, event_id> ids;  ///< by identity: an event keeps its id when it is sent again
  std::set<topic_partition> known_stops;
  std::optional<stopped> last_stop;
  reject_reason last_reason{reject_reason::none};
};

void test_driver::implementation::reopen() {
  load_tasks(streams, tasks, store).value();  // memory cannot fail, here and below
  steps.emplace(tasks, store, clock);
  known_stops.clear();
  last_stop.reset();
}

std::optional<aggregate_row> test_driver::implementation::row(const std::string& aggregate) const {
  const auto view = store.view();
  auto found = view.value()->get(task().place(), aggregate);
  return found ? std::optional{std::move(found).value()} : std::nullopt;
}

key_encoding test_driver::implementation::encoding_of(std::string_view table) const {
  const table_config* declared = options.tables ? find_table(*options.tables, table) : nullptr;
  return declared != nullptr ? declared->key : key_encoding::bytes;
}

partition_log& test_driver::implementation::log_of(partition_id partition) {
  partition_log& log = partitions[partition];
  log.where = {options.topic, partition};
  return log;
}

logged& test_driver::implementation::append(const test_event& e) {
  partition_log& log = log_of(e.partition);
  const std::int64_t end = log.records.empty() ? 0 : log.records.rbegin()->first + 1;
  logged& entry = records.emplace_back();
  entry.what = e;
  entry.where = &log.where;
  entry.offset = e.offset.value_or(end);
  entry.time = e.time.value_or(clock.time);
  if (e.id) {
    entry.id = e.id;
  } else if (!e.without_id) {
    const std::string identity = identity_of(e);
    entry.id = ids.try_emplace(identity, make_id(entry.time, identity)).first->second;
  }
  entry.as_read.where = entry.where;
  entry.as_read.offset = entry.offset;
  entry.as_read.time = entry.time;
  entry.as_read.key = entry.what.aggregate;
  if (!e.tombstone) entry.as_read.value = entry.what.payload;
  if (log.records.try_emplace(entry.offset, &entry).second) in_kafka.push_back(&entry);
  return entry;
}

/// The pipeline says of partitions that they stopped, not in which order.
void test_driver::implementation::note_stops() {
  for (const auto& [where, stop] : steps->stopped()) {
    if (!known_stops.insert(where).second) continue;
    last_stop = stopped{.partition = where.partition,
                        .offset = stop.offset,
                        .aggregate = stop.aggregate,
                        .code = stop.code,
                        .cause = stop.cause,
                        .text = stop.what};
  }
}

std::vector<decision> test_driver::implementation::handle(const std::vector<const logged*>& batch) {
  std::vector<decision> decisions(batch.size());
  decoded_input input;
  decoded_part& part = input.parts.emplace_back();
  std::map<const record*, std::size_t> place;  // of each record in the batch
  for (std::size_t i = 0; i < batch.size(); ++i) {
    part.decoded.events.push_back(decoded(*batch[i]));
    place.emplace(&batch[i]->as_read, i);
  }
  part.plan = plan_step(task().rules, task().stream.reduce.traits(), part.decoded.events);
  steps->on_record([&](const stream_definition&, const decoded_event& e, decision d, const event_wait*) {
    decisions[place.at(e.from)] = d;
  });
  steps->handle(input).value();
  steps->on_record({});
  note_stops();
  resume();
  return decisions;
}

void test_driver::implementation::resume() {
  do {
    steps->resume_waiting().value();
    note_stops();
  } while (task().next_wake && *task().next_wake <= clock.time);
}

test_event ev(std::string aggregate, std::uint64_t number, std::string type, std::string payload) {
  return {.aggregate = std::move(aggregate),
          .sequence = seq(number),
          .type = std::move(type),
          .payload = std::move(payload)};
}

test_event ev(std::string aggregate, std::uint64_t number, std::string type) {
  std::string payload = R"({"aggregate":")" + aggregate + R"(","sequence":)" + std::to_string(number) +
                        R"(,"type":")" + type + R"("})";
  return ev(std::move(aggregate), number, std::move(type), std::move(payload));
}

test_event test_event::at(timestamp when) const {
  test_event copy = *this;
  copy.time = when;
  return copy;
}

test_event test_event::with_id(event_id given) const {
  test_event copy = *this;
  copy.id = given;
  return copy;
}

test_event test_event::on(partition_id where) const {
  test_event copy = *this;
  copy.partition = where;
  return copy;
}

test_event test_event::as_tombstone() const {
  test_event copy = *this;
  copy.tombstone = true;
  copy.payload.clear();
  return copy;
}

test_driver::test_driver(test_options options, reducer r)
    : self_{std::make_unique<implementation>(std::move(options), std::move(r))} {}
test_driver::~test_driver() = default;
test_driver::test_driver(test_driver&&) noexcept = default;
test_driver& test_driver::operator=(test_driver&&) noexcept = default;

verdict test_driver::pipe(const test_event& e) {
  return pipe_all({e}).front();
}

std::vector<verdict> test_driver::pipe_all(const std::vector<test_event>& events) {
  std::vector<const logged*> batch;
  batch.reserve(events.size());
  for (const test_event& e : events) batch.push_back(&self_->append(e));
  std::vector<verdict> answers;
  for (const decision& d : self_->handle(batch)) {
    self_->last_reason = d.reason;
    answers.push_back(d.verdict);
  }
  return answers;
}

test_driver::transaction test_driver::transact(const std::string& aggregate, const std::string& key,
                                               const std::function<outcome(state&, effects&)>& function) {
  implementation& self = *self_;
  const auto id = hash_opaque_id(key);
  if (self.options.order != order::arrival || !self.options.opaque_ids || !id)
    return {.code = make_error_code(errc::usage), .text = {}, .sequence = {}, .reply = {}};
  const transaction_request wanted{aggregate, *id, std::nullopt, &function};
  auto answers = self.steps->transact(self.task(), std::span{&wanted, 1}).value();
  transaction_answer& got = answers.front();
  return {got.code, std::move(got.text), got.repeated, got.sequence, std::move(got.reply)};
}

reject_reason test_driver::last_reason() const noexcept {
  return self_->last_reason;
}

const std::optional<test_driver::stopped>& test_driver::last_stop() const noexcept {
  return self_->last_stop;
}

std::optional<test_driver::snapshot> test_driver::read(const std::string& aggregate) const {
  auto row = self_->row(aggregate);
  if (!row || row->deleted) return std::nullopt;
  return snapshot{row->last, row->id, row->time, row->snapshot.str()};
}

std::optional<sequence> test_driver::last_sequence(const std::string& aggregate) const {
  const auto row = self_->row(aggregate);
  return row ? std::optional{row->last} : std::nullopt;
}

std::vector<test_driver::message> test_driver::published() const {
  constexpr auto k_all = std::numeric_limits<std::uint64_t>::max();
  std::vector<message> all;
  for (const auto& [lane, state] : self_->store.outboxes().by_name) {
    auto rows = self_->store.outputs(lane, state.first, state.next, k_all, k_all).value();
    for (output_row& row : rows) {
      all.push_back({std::move(row.aggregate), std::move(row.topic), std::move(row.key), std::move(row.value),
                     std::move(row.type), row.id, row.time});
    }
  }
  return all;
}

std::optional<std::string> test_driver::read(const table_key& at) const {
  const auto stored = encode_table_key(self_->encoding_of(at.table), at.key);
  if (!stored) return std::nullopt;
  const auto view = self_->store.view();
  auto found = view.value()->table_row(self_->task().place(), at.table, *stored);
  return found ? std::optional{std::move(found).value()} : std::nullopt;
}

std::vector<table_row> test_driver::table(const std::string& name) const {
  const key_encoding encoding = self_->encoding_of(name);
  std::vector<table_row> rows;
  const auto view = self_->store.view();
  view.value()
      ->scan_table(self_->task().place(), name, {}, {},
                   [&](std::string_view key, std::string_view value) {
                     rows.push_back({decode_table_key(encoding, key).value(), std::string{value}});
                     return true;
                   })
      .value();  // memory cannot fail
  return rows;
}

std::uint64_t test_driver::count(verdict v) const {
  const counters c = self_->task().state.counters;
  switch (v) {
    case verdict::applied:
      return c.applied;
    case verdict::superseded:
      return c.superseded;
    case verdict::duplicate:
      return c.duplicate;
    case verdict::stale:
      return c.stale;
    case verdict::rejected:
      return c.rejected();
    case verdict::ignored:
      return c.ignored;
    case verdict::parked:
      return c.waiting_parked;
    case verdict::retrying:
      return c.waiting_retrying;
    case verdict::dead:
      return c.waiting_dead;
    case verdict::unhandled:
      return 0;
  }
  return 0;
}

std::uint64_t test_driver::count(reject_reason reason) const {
  const counters c = self_->task().state.counters;
  switch (reason) {
    case reject_reason::none:
      return 0;
    case reject_reason::malformed:
      return c.rejected_malformed;
    case reject_reason::conflict:
      return c.rejected_conflict;
    case reject_reason::too_old:
      return c.rejected_too_old;
    case reject_reason::late:
      return c.rejected_late;
    case reject_reason::id_reused:
      return c.rejected_id_reused;
    case reject_reason::below_first:
      return c.rejected_below_first;
    case reject_reason::sequence_mixed:
      return c.rejected_sequence_mixed;
  }
  return 0;
}

std::uint64_t test_driver::consumed() const {
  return self_->task().state.counters.consumed;
}

std::optional<timestamp> test_driver::floor() const {
  return self_->task().state.floor;
}

timestamp test_driver::now() const noexcept {
  return self_->clock.time;
}

void test_driver::advance(std::chrono::milliseconds by) {
  self_->clock.time += by;
  self_->resume();
}

void test_driver::sync() {
  self_->store.request_sync();
}

void test_driver::crash_and_reopen() {
  self_->store.lose_unsynced();
  self_->reopen();
  const stream_state resumed = self_->task().state;
  for (const logged* entry : self_->in_kafka) {
    const auto known = resumed.partitions.find(*entry->where);
    if (known != resumed.partitions.end() && entry->offset < known->second.next_offset) continue;
    self_->handle({entry});
  }
}

}  // namespace ratchet
