// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_stream.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace ratchet {
namespace {

constexpr std::uint64_t k_jitter_ms = 200;  // how long before its record an event occurred, at most
constexpr double k_most_shares = 0.95;      // the rest are new events, without which nothing moves
constexpr std::uint8_t k_defects = 6;       // see workload_text.cpp
constexpr std::uint32_t k_most_payments = 99'999'999;  // eight digits

bool is_share(double x) {
  return x >= 0.0 && x <= 1.0;  // false for NaN
}

const char* out_of_range(const workload_dials& d) {
  if (d.events == 0) return "events must be at least 1";
  if (d.aggregates == 0 || d.aggregates > k_most_payments) return "aggregates must be 1 to 99999999";
  if (!is_share(d.introduction) || d.introduction == 0.0)
    return "introduction must be more than 0, and at most 1";
  if (!(d.zipf >= 0.0 && d.zipf <= 5.0)) return "zipf must be 0 to 5";
  if (!is_share(d.duplicates) || !is_share(d.late) || !is_share(d.conflicts)) {
    return "duplicates, late and conflicts are shares: 0 to 1";
  }
  // More, and a hundred malformed records in a row, which stop a partition, would come up by chance.
  if (!is_share(d.malformed) || d.malformed > 0.5) return "malformed must be 0 to 0.5";
  if (d.duplicates + d.malformed + d.conflicts > k_most_shares) {
    return "duplicates, malformed and conflicts must leave 5 % for new events";
  }
  if (d.delay == 0 || d.delay > 10'000'000) return "delay must be 1 to 10000000";
  if (d.size > 1'000'000) return "size must be at most 1000000";
  if (!(d.rate >= 0.001 && d.rate <= 1e9)) return "rate must be 0.001 to 1000000000";
  return nullptr;
}

}  // namespace

reported<workload_stream> workload_stream::make(const workload_dials& dials) {
  if (const char* text = out_of_range(dials)) {
    return problem{errc::usage, text, "see `ratchet gen --help` for the dials", {}};
  }
  return workload_stream{dials};
}

workload_stream::workload_stream(const workload_dials& dials)
    : dials_{dials}, random_{dials.seed}, last_number_(dials.aggregates, 0) {
  recent_.reserve(dials.delay);
}

bool workload_stream::next(workload_record& out) {
  if (drawn_ == dials_.events) return false;
  const auto elapsed_ms = std::floor(static_cast<double>(drawn_) * 1000.0 / dials_.rate);
  out.time = dials_.start + std::chrono::milliseconds{static_cast<std::int64_t>(elapsed_ms)};
  const bool only_held_fit = dials_.events - drawn_ <= held_.size();
  double roll = random_.unit();
  if (only_held_fit) {  // NOLINT(bugprone-branch-clone): the order of the branches is the order of the dice
    release_held(out);
  } else if ((roll -= dials_.malformed) < 0) {
    spoil(out);
  } else if ((roll -= dials_.duplicates) < 0 && !recent_.empty()) {
    out.kind = workload_kind::repeat;
    out.event = earlier();
  } else if (roll >= 0 && roll < dials_.conflicts && !recent_.empty()) {
    conflict_with_earlier(out);
  } else if (!held_.empty() && held_.front().due <= drawn_) {
    release_held(out);
  } else {
    draw_new(out);
  }
  ++drawn_;
  return true;
}

void workload_stream::draw_new(workload_record& out) {
  const auto payment = choose_payment();
  out.kind = workload_kind::fresh;
  out.event = new_event(payment, out.time);
  // The late event needs a slot of its own before the end, after the one that its successor takes here.
  const bool room = dials_.events - drawn_ > held_.size() + 1;
  if (room && dials_.withhold && out.event.number == 1) {
    held_.push_back({dials_.events + payment, out.event});
    std::push_heap(held_.begin(), held_.end());
    out.event = new_event(payment, out.time);
  } else if (room && random_.chance(dials_.late)) {
    auto late = out.event;
    late.occurred_at -= std::chrono::milliseconds{k_jitter_ms};
    out.event = new_event(payment, out.time);
    held_.push_back({drawn_ + 1 + random_.below(dials_.delay), late});
    std::push_heap(held_.begin(), held_.end());
  }
  remember(out.event);
}

void workload_stream::release_held(workload_record& out) {
  std::pop_heap(held_.begin(), held_.end());
  out.kind = workload_kind::late;
  out.event = held_.back().event;
  held_.pop_back();
  remember(out.event);
}

void workload_stream::conflict_with_earlier(workload_record& out) {
  out.kind = workload_kind::conflict;
  const auto first = earlier();
  out.event = first;
  const auto id = new_event(first.payment, out.time).id;
  --last_number_[first.payment];  // only the id was wanted
  out.event.id = id;
}

/// A malformed record claims the next number of its payment: if it were taken for an event, the state would
/// differ from the oracle's.
void workload_stream::spoil(workload_record& out) {
  out.kind = workload_kind::malformed;
  const auto payment = static_cast<std::uint32_t>(random_.below(std::max(introduced_, 1U)));
  out.event = new_event(payment, out.time);
  --last_number_[payment];
  out.event.defect = static_cast<std::uint8_t>(1 + random_.below(k_defects));
}

workload_event workload_stream::new_event(std::uint32_t payment, timestamp now) {
  const auto age = std::chrono::milliseconds{static_cast<std::int64_t>(random_.below(k_jitter_ms))};
  workload_event event;
  event.payment = payment;
  event.number = ++last_number_[payment];
  event.occurred_at = now - age;
  // RFC 9562, section 5.7: 48 bits of milliseconds, version 7, 12 random bits; variant 2, 62 random bits.
  const auto ms = static_cast<std::uint64_t>(event.occurred_at.time_since_epoch().count());
  event.id.high = (ms << 16) | 0x7000U | (random_.next() >> 52);
  event.id.low = (std::uint64_t{2} << 62) | (random_.next() >> 2);
  return event;
}

std::uint32_t workload_stream::choose_payment() {
  const double part =
      static_cast<double>(drawn_ + 1) / (static_cast<double>(dials_.events) * dials_.introduction);
  const auto wanted = static_cast<double>(dials_.aggregates) * std::min(part, 1.0);
  if (introduced_ < dials_.aggregates && (introduced_ == 0 || introduced_ < wanted)) return introduced_++;
  return static_cast<std::uint32_t>(random_.zipf(introduced_, dials_.zipf));
}

/// Most repeats follow soon, a few only after the whole delay: the distance is uniform in its logarithm.
const workload_event& workload_stream::earlier() {
  const auto size = recent_.size();
  const auto distance = static_cast<std::size_t>(std::pow(static_cast<double>(size), random_.unit())) - 1;
  return recent_[(recent_next_ + size - 1 - std::min(distance, size - 1)) % size];
}

void workload_stream::remember(const workload_event& event) {
  if (recent_.size() < dials_.delay) {
    recent_.push_back(event);
    recent_next_ = recent_.size() % dials_.delay;
    return;
  }
  recent_[recent_next_] = event;
  recent_next_ = (recent_next_ + 1) % recent_.size();
}

std::uint32_t workload_partition(std::string_view key, std::uint32_t partitions) noexcept {
  constexpr std::uint32_t m = 0x5bd1e995;
  const auto at = [key](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(key[i])}; };
  auto h = 0x9747b28cU ^ static_cast<std::uint32_t>(key.size());
  std::size_t i = 0;
  for (; i + 4 <= key.size(); i += 4) {
    auto k = (at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24) * m;
    h = (h * m) ^ ((k ^ (k >> 24)) * m);
  }
  if (key.size() - i >= 3) h ^= at(i + 2) << 16;
  if (key.size() - i >= 2) h ^= at(i + 1) << 8;
  if (key.size() - i >= 1) h = (h ^ at(i)) * m;
  h = (h ^ (h >> 13)) * m;
  return ((h ^ (h >> 15)) & 0x7fffffffU) % partitions;
}

}  // namespace ratchet
