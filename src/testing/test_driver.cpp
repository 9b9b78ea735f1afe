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
#include "core/transactions.hpp"
#include "decode/event_id_text.hpp"
#include "decode/record_hash.hpp"
#include "outbox/published_rows.hpp"
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
  std::map<std::int64_t, logged*> records;
  bool is_stopped{false};
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

}  // namespace

struct test_driver::implementation {
  implementation(test_options given, reducer r)
      : options{std::move(given)},
        reduce{std::move(r)},
        now{options.start},
        store{{options.stream}},
        stream{store.id_of(options.stream)} {
    rules.stream = options.stream;
    rules.gate = {options.order, options.first, options.epoch_change};
    rules.deferred = options.handling == handling::deferred;
    rules.gap = options.gap;
    rules.waiting = options.waiting;
    rules.retry = options.retry;
    rules.outputs.topics = options.outputs;
    rules.outputs.tables = options.tables;
    rules.dedup = options.dedup;
    rules.opaque_ids = options.opaque_ids;
    rules.window = options.window;
    rules.max_skew = options.max_skew;
  }

  [[nodiscard]] stream_state state() const { return store.load(stream).value(); }
  [[nodiscard]] std::optional<aggregate_row> row(const std::string& aggregate) const;
  [[nodiscard]] key_encoding encoding_of(std::string_view table) const;
  partition_log& log_of(partition_id);
  logged& append(const test_event&);
  std::vector<decision> handle(const std::vector<logged*>&);
  /// What is due of the events that wait.
  void resume();
  void write(std::span<const decoded_event>, const step_plan&, stream_change&);
  void note_stops(const std::vector<partition_stop>&);

  test_options options;
  reducer reduce;
  timestamp now;
  memory_store store;
  stream_id stream;
  stream_rules rules;
  std::map<partition_id, partition_log> partitions;
  std::deque<logged> records;           ///< everything that was ever delivered
  std::vector<const logged*> in_kafka;  ///< each record once, in the order in which it was produced
  std::map<std::string, event_id> ids;  ///< by identity: an event keeps its id when it is sent again
  std::optional<stopped> last_stop;
  reject_reason last_reason{reject_reason::none};
};

std::optional<aggregate_row> test_driver::implementation::row(const std::string& aggregate) const {
  const auto view = store.view();
  auto found = view.value()->get(stream, aggregate);
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
  entry.time = e.time.value_or(now);
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

void test_driver::implementation::write(std::span<const decoded_event> events, const step_plan& plan,
                                        stream_change& change) {
  step_part part{.stream = stream, .plan = &plan, .change = &change, .rejected = {}};
  for (const std::uint32_t index : change.rejected) {
    const decoded_event& e = events[index];
    rejected_row row;
    row.where = *e.from->where;
    row.offset = e.from->offset;
    row.step = store.last_step() + 1;
    row.at = now;
    row.reason = change.decisions[index].reason;
    row.detail = std::string{e.aggregate};
    row.record_time = e.record_time;
    part.rejected.push_back(std::move(row));
  }
  step_batch batch;
  batch.step = store.last_step() + 1;
  batch.parts.push_back(std::move(part));
  add_published({"test", options.stream, stream, rules.gate, !rules.opaque_ids}, plan,
                std::move(change.outputs), batch.outbox.puts);
  batch.outbox.number(store.outboxes(), store.outbox_epoch());
  store.write(batch).value();  // memory cannot fail
}

void test_driver::implementation::note_stops(const std::vector<partition_stop>& stops) {
  for (const partition_stop& stop : stops) {
    log_of(stop.where.partition).is_stopped = true;
    last_stop = stopped{.partition = stop.where.partition,
                        .offset = stop.offset,
                        .aggregate = stop.aggregate,
                        .code = stop.code,
                        .cause = stop.cause,
                        .text = stop.what};
  }
}

std::vector<decision> test_driver::implementation::handle(const std::vector<logged*>& batch) {
  std::vector<decision> decisions(batch.size());
  std::vector<decoded_event> events;
  std::vector<std::size_t> place;  // of each event in the batch
  for (std::size_t i = 0; i < batch.size();) {
    events.clear();
    place.clear();
    for (std::size_t next = i; next < batch.size(); ++next) {
      if (log_of(batch[next]->where->partition).is_stopped) continue;
      events.push_back(decoded(*batch[next]));
      place.push_back(next);
    }
    if (events.empty()) break;
    const step_plan plan = plan_step(rules, reduce.traits(), events);
    step_rows rows;
    store.lookup(stream, plan, rows).value();
    rows.oldest_gap = store.due(stream, timestamp{}, std::nullopt, 0).value().next_gap;
    stream_change change = run_step(rules, reduce, state(), events, plan, rows, now);
    write(events, plan, change);
    note_stops(change.stops);
    for (std::size_t n = 0; n < change.looked_at; ++n) decisions[place[n]] = change.decisions[n];
    i = place[change.looked_at - 1] + 1;
    resume();
  }
  return decisions;
}

void test_driver::implementation::resume() {
  constexpr std::size_t k_all = std::numeric_limits<std::size_t>::max();
  const auto gaps = rules.gap.policy == gap_policy::skip ? gaps_due(rules, state()) : std::nullopt;
  for (;;) {
    // Accepted events may be more than one look-up gives, so that all else is looked after by steps of its
    // own.
    due_aggregates due = store.due(stream, timestamp{}, gaps, k_all).value();
    const bool runs_accepted = due.names.empty();
    if (runs_accepted) due = store.due(stream, now, std::nullopt, k_all).value();
    if (due.names.empty()) break;
    step_plan plan;
    plan.order = rules.gate.order;
    plan.needs_snapshots = !reduce.traits().full_state || rules.keeps_columns;
    plan.resumes = true;
    plan.runs_accepted = runs_accepted;
    for (const std::string& name : due.names) plan.add(name);
    step_rows rows;
    store.lookup(stream, plan, rows).value();
    stream_change change = resume_waiting(rules, reduce, state(), plan, rows, now);
    write({}, plan, change);
    note_stops(change.stops);
  }
  if (rules.gap.policy != gap_policy::stop) return;
  const due_aggregates old = store.due(stream, timestamp{}, gaps_due(rules, state()), k_all).value();
  if (old.names.empty()) return;
  std::vector<partition_stop> stops;
  for (auto& [id, log] : partitions) {
    if (log.is_stopped) continue;
    partition_stop& stop = stops.emplace_back();
    stop.where = log.where;
    stop.code = make_error_code(errc::gap_too_old);
    stop.aggregate = old.names.front();
  }
  note_stops(stops);
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
  std::vector<logged*> batch;
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
  const std::span all{&wanted, 1};
  const step_plan plan = plan_transactions(self.rules, all);
  step_rows rows;
  self.store.lookup(self.stream, plan, rows).value();
  std::vector<transaction_answer> answers;
  stream_change change = run_transactions(self.rules, self.state(), all, plan, rows, self.now, answers);
  if (change.after.counters != self.state().counters) self.write({}, plan, change);
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
  auto found = view.value()->table_row(self_->stream, at.table, *stored);
  return found ? std::optional{std::move(found).value()} : std::nullopt;
}

std::vector<table_row> test_driver::table(const std::string& name) const {
  const key_encoding encoding = self_->encoding_of(name);
  std::vector<table_row> rows;
  const auto view = self_->store.view();
  view.value()
      ->scan_table(self_->stream, name, {}, {},
                   [&](std::string_view key, std::string_view value) {
                     rows.push_back({decode_table_key(encoding, key).value(), std::string{value}});
                     return true;
                   })
      .value();  // memory cannot fail
  return rows;
}

std::uint64_t test_driver::count(verdict v) const {
  const counters c = self_->state().counters;
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
  const counters c = self_->state().counters;
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
  }
  return 0;
}

std::uint64_t test_driver::consumed() const {
  return self_->state().counters.consumed;
}

std::optional<timestamp> test_driver::floor() const {
  return self_->state().floor;
}

timestamp test_driver::now() const noexcept {
  return self_->now;
}

void test_driver::advance(std::chrono::milliseconds by) {
  self_->now += by;
  self_->resume();
}

void test_driver::sync() {
  self_->store.request_sync();
}

void test_driver::crash_and_reopen() {
  self_->store.lose_unsynced();
  self_->last_stop.reset();
  for (auto& [id, log] : self_->partitions) log.is_stopped = false;
  const stream_state resumed = self_->state();
  for (const logged* entry : self_->in_kafka) {
    const auto known = resumed.partitions.find(*entry->where);
    if (known != resumed.partitions.end() && entry->offset < known->second.next_offset) continue;
    logged again = *entry;
    self_->handle({&again});
  }
}

}  // namespace ratchet
