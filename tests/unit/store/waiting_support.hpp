// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "support/store_support.hpp"

/// Stores with waiting events.
namespace ratchet::store_support {

inline timestamp at_second(std::int64_t seconds) {
  return timestamp{std::chrono::milliseconds{1'700'000'000'000 + seconds * 1000}};
}

inline event_id id_of_number(std::uint64_t number) {
  return {(std::uint64_t{1'700'000'000'000} + number) << 16U | 0x7000U, number};
}

/// An event with everything that it may have, told from others by its number.
inline waiting_event waiting_at(sequence s, waiting_state state = waiting_state::parked) {
  waiting_event e;
  e.head = {s, state, id_of_number(s.number), hash128{s.epoch, s.number}, at_second(1)};
  e.type = "paid";
  e.time = at_second(2);
  e.first_seen = at_second(3);
  e.attempts = state == waiting_state::parked ? 0 : 2;
  if (state != waiting_state::parked) e.last_attempt = at_second(4);
  if (state == waiting_state::retrying) e.due = at_second(5);
  e.error = state == waiting_state::parked ? "" : "refused";
  e.record.where = {"payment-status", partition_id{3}};
  e.record.offset = static_cast<std::int64_t>(s.number);
  e.record.time = at_second(6);
  e.record.key = "key";
  e.record.value = "{\"n\":" + std::to_string(s.number) + "}";
  e.record.headers = {{"trace", "abc"}, {"empty", ""}, {"null", std::nullopt}};
  e.payload_begin = 1;
  e.payload_size = 3;
  return e;
}

/// What a step does to one aggregate's waiting events.
struct waiting_change {
  std::string aggregate;
  std::vector<waiting_event> puts;
  std::vector<sequence> removals;
  std::function<void(backlog&)> edit{};          ///< after the counts were made right
  std::optional<sequence> last{};                ///< applied in the same step
  std::function<void(backlog_change&)> spoil{};  ///< what the store is told
  std::function<void(aggregate_row&)> spoil_row{};
};

/// Takes steps with waiting events in one stream, and keeps counts, rows and counters right.
class waiting_fixture : public fixture {
 protected:
  struct kept {
    std::map<sequence, waiting_event> events;
    std::optional<backlog> log;
    std::optional<sequence> last;
  };

  explicit waiting_fixture(ratchet::order order = order::strict) : order_{order} {}

  [[nodiscard]] store_options options() const {
    store_options o = fixture::options();
    o.streams = {{"payments", {{"order", name_of(order_)}}}};
    o.remembered_bytes = remembered_bytes_;
    return o;
  }
  [[nodiscard]] std::unique_ptr<store> open() const { return must(open_store(options())); }

  void write(store& s, const std::vector<waiting_change>& changes) {
    const stream_id stream = s.id_of("payments");
    step_plan plan;
    plan.order = order_;
    stream_change change;
    change.after = must(s.load(stream));
    counters& c = change.after.counters;
    for (const waiting_change& w : changes) {
      const auto index = static_cast<std::uint32_t>(plan.aggregates.size());
      plan.add(w.aggregate);
      kept& k = kept_[w.aggregate];
      backlog_change b;
      b.aggregate = index;
      b.before = k.log;
      count_out(c, k);
      for (const sequence r : w.removals) {
        b.removals.push_back(k.events.at(r).head);
        k.events.erase(r);
      }
      for (const waiting_event& e : w.puts) {
        k.events.insert_or_assign(e.head.sequence, e);
        b.puts.push_back(e);
      }
      if (w.last) {
        k.last = w.last;
        ++c.applied;
      }
      k.log = counted(k);
      if (w.edit) w.edit(*k.log);
      if (k.log->empty()) k.log.reset();
      b.after = k.log;
      count_in(c, k);
      if (w.spoil) w.spoil(b);
      change.backlogs.push_back(std::move(b));
      aggregate_row row = row_of(k);
      if (w.spoil_row) w.spoil_row(row);
      change.rows.push_back({index, std::move(row)});
    }
    c.consumed = c.accounted();
    step_batch batch;
    batch.step = s.last_step() + 1;
    batch.parts.push_back({stream, &plan, &change, {}});
    must(s.write(batch));
  }

  [[nodiscard]] const kept& now(const std::string& aggregate) { return kept_[aggregate]; }
  static aggregate_row row_of(const kept& k) {
    aggregate_row row;
    row.has_last = k.last.has_value();
    row.waits = k.log.has_value();
    if (!k.last) return row;
    row.last = *k.last;
    row.snapshot = "snapshot";
    return row;
  }

  ratchet::order order_;
  std::uint64_t remembered_bytes_{std::uint64_t{8} << 20U};

 private:
  static backlog counted(const kept& k) {
    backlog b = k.log.value_or(backlog{});
    b.parked = b.retrying = b.dead = 0;
    for (const auto& [s, e] : k.events) {
      b.highest = std::max(b.highest, s);
      switch (e.head.state) {
        case waiting_state::parked:
          ++b.parked;
          break;
        case waiting_state::retrying:
          ++b.retrying;
          break;
        case waiting_state::dead:
          ++b.dead;
          break;
      }
    }
    if (k.events.empty()) {
      b.wake.reset();
      b.gap_since.reset();
    }
    return b;
  }
  static void count_out(counters& c, const kept& k) { count(c, k, ~std::uint64_t{0}); }
  static void count_in(counters& c, const kept& k) { count(c, k, 1); }
  static void count(counters& c, const kept& k, std::uint64_t sign) {
    if (!k.log) return;
    const backlog& b = *k.log;
    const waiting_counts counts = b.counted();
    c.waiting_parked += sign * counts.parked;
    c.waiting_retrying += sign * counts.retrying;
    c.waiting_dead += sign * counts.dead;
    for (const auto& [s, e] : k.events) c.waiting_bytes += sign * e.bytes();
  }

  std::map<std::string, kept> kept_;
};

/// A step's plan with events, and the batch that it borrows from.
class asked_for {
 public:
  explicit asked_for(ratchet::order order) { plan.order = order; }
  /// An event of the aggregate, and the aggregate where it is new.
  asked_for& event(std::string_view aggregate, sequence s, std::optional<event_id> id = {}) {
    decoded_event e;
    e.kind = decoded_kind::event;
    e.aggregate = aggregate;
    e.has_sequence = plan.order != order::arrival;
    e.sequence = s;
    e.has_id = id.has_value();
    if (id) e.id = *id;
    events_.push_back(e);
    plan.aggregate_of.push_back(add(aggregate));
    plan.id_of.push_back(k_no_index);
    plan.events = events_;
    return *this;
  }
  std::uint32_t add(std::string_view aggregate) {
    for (std::uint32_t i = 0; i < plan.aggregates.size(); ++i) {
      if (plan.aggregates[i] == aggregate) return i;
    }
    plan.add(aggregate);
    return static_cast<std::uint32_t>(plan.aggregates.size() - 1);
  }
  [[nodiscard]] step_rows in(store& s) const {
    step_rows rows;
    must(s.lookup(s.id_of("payments"), plan, rows));
    return rows;
  }

  step_plan plan;

 private:
  std::vector<decoded_event> events_;
};

inline std::vector<std::uint64_t> numbers_of(const std::vector<waiting_event>& queue) {
  std::vector<std::uint64_t> out;
  for (const waiting_event& e : queue) out.push_back(e.head.sequence.number);
  return out;
}
inline std::vector<std::uint64_t> numbers_of(const std::vector<waiting_head>& near) {
  std::vector<std::uint64_t> out;
  for (const waiting_head& h : near) out.push_back(h.sequence.number);
  return out;
}

}  // namespace ratchet::store_support
