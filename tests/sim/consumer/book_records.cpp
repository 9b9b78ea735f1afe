// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of the book that takes records, of which each may hold several events.
#include <set>
#include <string>
#include <string_view>

#include "sim/consumer/book_messages.hpp"
#include "sim/consumer/step_book.hpp"

namespace ratchet::sim {

namespace {

/// Big-endian, as Spring's letters have numbers.
[[nodiscard]] std::int64_t number_in(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char c : bytes) out = out << 8U | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(out);
}

/// Where a letter says that its record was: its partition, offset and index.
struct origin {
  std::uint32_t partition{0};
  std::int64_t offset{0};
  std::uint32_t index{0};
};

[[nodiscard]] origin origin_of(const output_row& letter) {
  origin out;
  for (const auto& [name, value] : letter.headers) {
    if (!value) continue;
    if (name == "kafka_dlt-original-partition") out.partition = static_cast<std::uint32_t>(number_in(*value));
    if (name == "kafka_dlt-original-offset") out.offset = number_in(*value);
    if (name == "ratchet-index") out.index = static_cast<std::uint32_t>(std::stoul(*value));
  }
  return out;
}

}  // namespace

std::size_t step_book::take_record(step& s, std::uint32_t stream, const delivery& r, const cluster& c,
                                   std::int64_t now, bool unseen) {
  const partition_log& log = c.logs[r.log];
  const auto partition = static_cast<std::uint32_t>(log.where.partition);
  const plain_oracle::partition& p = oracles_[stream].partitions()[partition];
  if (r.made == log.made) check_same_topic(log, p);
  if (r.made == log.made && p.known && r.at.offset > p.next) {
    for (auto at = log.from(p.next); at != log.entries.end() && at->offset < r.at.offset; ++at) {
      if (at->what != nullptr)
        throw broken(place(log.where) + ": offset " + std::to_string(at->offset) + " was skipped");
    }
  }
  const std::uint32_t next_index = p.known && r.at.offset == p.next ? p.next_index : 0;
  const bool is_known = p.known && r.at.offset < p.next;
  if (!is_known && r.at.index > next_index)
    throw broken(place(log.where) + ": event " + std::to_string(next_index) + " of the record at offset " +
                 std::to_string(r.at.offset) + " was skipped");
  return add(s, {.what = operation::kind::take,
                 .stream = stream,
                 .partition = partition,
                 .of = r.what,
                 .at = r.at,
                 .now = now,
                 .unseen = unseen,
                 .mended = running_->mended});
}

/// What is read on from a position must be the topic that was read up to it, as far as anybody can tell.
void step_book::check_same_topic(const partition_log& log, const plain_oracle::partition& p) {
  const auto check = [&log](std::int64_t offset, const message& handled) {
    const auto at = log.from(offset);
    if (at == log.entries.end() || at->offset != offset || at->what == nullptr) return;
    if (at->what->key == handled.key && at->what->value == handled.value) return;
    throw broken(place(log.where) + " was made anew and is read on: the record at offset " +
                 std::to_string(offset) + " is another one than was handled there");
  };
  if (p.within != nullptr) {
    check(p.next, *p.within);
  } else if (p.last) {
    check(p.last->first, *p.last->second);
  }
}

/// A letter holds the event that it is about, and no other one, as a record that its stream's config reads;
/// and in one step no two rejected ones have one id. Where a topic was made anew nobody knows what it was.
void step_book::check_letters(std::uint32_t stream, const outbox_change& outbox, const cluster& c) {
  std::set<event_id> ids;
  for (const output_row& row : outbox.puts) {
    if (row.kind != output_kind::dead_letter || static_cast<std::uint32_t>(row.stream) != stream) continue;
    const origin from = origin_of(row);
    for (const partition_log& log : c.logs) {
      const bool is_it =
          log.stream == stream && static_cast<std::uint32_t>(log.where.partition) == from.partition;
      if (!is_it || log.made != 0) continue;
      must_be(ids.insert(row.id).second, "two letters of one step have one id");
      const auto at = log.from(from.offset);
      if (at == log.entries.end() || at->offset != from.offset || at->what == nullptr) continue;
      const auto events = events_of(*at->what, from.offset);
      must_be(from.index < events.size(), "a letter is about an event that its record does not hold");
      const message& m = *events[from.index].first;
      must_be(row.key == m.key && row.value == m.value, "a letter holds another event than it is about");
    }
  }
}

}  // namespace ratchet::sim
