// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/sink_sender.hpp"

#include <algorithm>

#include "app/published_rows.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_page = 500;
constexpr std::uint64_t k_page_bytes = std::uint64_t{1} << 20U;

/// first, 2 first, 4 first, … up to `most`, behind the first, second, third, … failure.
std::chrono::milliseconds pause_behind(std::uint32_t failures, std::chrono::milliseconds first,
                                       std::chrono::milliseconds most) {
  constexpr std::uint32_t k_enough = 20;
  return std::min(most, first * (std::int64_t{1} << std::min(failures - 1, k_enough)));
}

}  // namespace

sink_sender::sink_sender(sink_outlet outlet, const store& from, log_ptr log)
    : outlet_{std::move(outlet)},
      store_{from},
      log_{std::move(log)},
      lane_{outlet_.name, store_.outboxes().of(outlet_.name), store_.last_step()},
      read_{lane_.first()} {}

bool sink_sender::idle() const noexcept {
  return !waits_for_sync() && entries_.empty() && read_ == lane_.durable_next();
}

result<void> sink_sender::turn(time_point now) {
  lane_.note_durable(store_.durable_step());
  for (const delivery& d : outlet_.to->delivered()) ended(d, now);
  pop_delivered();
  wake_waiting(now);
  RATCHET_TRY(read_more());
  return send_ready(now);
}

sink_sender::chains::iterator sink_sender::chain_of(const output_row& row) {
  return chains_.find(aggregate{row.stream, row.aggregate});
}

void sink_sender::ended(const delivery& d, time_point now) {
  if (d.position < lane_.first() || d.position >= lane_.first() + entries_.size()) return;
  entry& e = at(d.position);
  if (!e.under_way) return;
  e.under_way = false;
  --under_way_;
  const auto of = chain_of(*e.row);
  if (d.ended != delivery::how::done) return failed(of->second, *e.row, d, now);
  sink_answers();
  clear_failures(of->second);
  ++sent_total_;
  let_go(e);
  e.delivered = true;
  next_of(of);
}

/// Its first message is out of the way.
void sink_sender::next_of(chains::iterator of) {
  of->second.positions.pop_front();
  if (of->second.positions.empty()) {
    chains_.erase(of);
  } else {
    ready_.insert(of->second.positions.front());
  }
}

void sink_sender::failed(chain& of, const output_row& row, const delivery& d, time_point now) {
  const bool refused = d.ended == delivery::how::refused;
  if (++of.failures == 1) ++failing_;
  if (refused && !of.refused) ++refused_;
  if (!refused && of.refused) --refused_;
  of.refused = refused;
  of.why = refused ? d.text : std::string{};
  // It may take long, and others need the room.
  for (auto behind = of.positions.begin() + 1; behind != of.positions.end(); ++behind) let_go(at(*behind));
  of.until = now + (refused ? pause_behind(of.failures, k_stuck_pause, k_longest_stuck_pause)
                            : pause_behind(of.failures, outlet_.first_pause, outlet_.most_pause));
  waiting_.emplace(*of.until, row.position);
  if (refused) {
    sink_answers();  // it is there, and knows what it does not want
  } else {
    ++failures_in_a_row_;
    if (failures_in_a_row_ >= k_failures_in_a_row && (!paused_until_ || now >= *paused_until_))
      pause_sink(now + pause_behind(++pauses_in_a_row_, outlet_.first_pause, outlet_.most_pause));
    if (d.pause) pause_sink(now + std::min(*d.pause, k_longest_asked_pause));
  }
  trouble_ = "the sink `" + outlet_.name + "` " +
             (refused ? "does not take a message of `" + row.aggregate + "`: " : "takes no messages: ") +
             d.text;
  if (!troubles_.due(now)) return;
  log_->error("{}; {}{}", *trouble_,
              refused ? "it is kept and tried again, and what its aggregate published there behind it waits"
                      : "they are kept, and sent again",
              troubles_.held_back());
}

const sink_sender::chain* sink_sender::refused_at(std::uint64_t position) const {
  const auto of = std::find_if(chains_.begin(), chains_.end(), [position](const auto& known) {
    return known.second.refused && known.second.positions.front() == position;
  });
  return of == chains_.end() ? nullptr : &of->second;
}

std::vector<refused_message> sink_sender::refused(time_point now, std::size_t limit) const {
  std::vector<refused_message> out;
  for (const auto& [who, of] : chains_) {
    if (out.size() == limit) break;
    if (!of.refused) continue;
    const entry& e = at(of.positions.front());
    const auto rest = of.until ? *of.until - now : time_point::duration{0};
    out.push_back(
        {*e.row, of.failures,
         std::max(std::chrono::duration_cast<std::chrono::milliseconds>(rest), std::chrono::milliseconds{0}),
         of.why});
  }
  return out;
}

bool sink_sender::retry(std::uint64_t position) {
  if (refused_at(position) == nullptr) return false;
  chain& of = chain_of(*at(position).row)->second;
  if (!of.until) return true;  // it is about to be
  waiting_.erase({*of.until, position});
  of.until.reset();
  ready_.insert(position);
  return true;
}

std::optional<skipped_output> sink_sender::skip(std::uint64_t position) const {
  if (refused_at(position) == nullptr) return std::nullopt;
  const entry& e = at(position);
  if (e.under_way) return std::nullopt;
  return skipped_output{skipped_row(*e.row), e.bytes};
}

void sink_sender::skipped(const skipped_output& of) {
  entry& e = at(of.row.position);
  const auto own = chain_of(*e.row);
  if (own->second.until) waiting_.erase({*own->second.until, of.row.position});
  ready_.erase(of.row.position);
  clear_failures(own->second);
  let_go(e);
  e.bytes = of.row.bytes();
  e.delivered = true;
  next_of(own);
}

/// As long as any failure in a row goes on, only one message at a time is tried behind the pause.
void sink_sender::pause_sink(time_point until) {
  failures_in_a_row_ = std::max(failures_in_a_row_, k_failures_in_a_row);
  paused_until_ = std::max(until, paused_until_.value_or(until));
}

/// What waits for its turn after failures of the whole sink need wait no longer; what was refused, or fails
/// while others come through, keeps its own time.
void sink_sender::sink_answers() {
  const bool was_away = failures_in_a_row_ >= k_failures_in_a_row;
  failures_in_a_row_ = 0;
  pauses_in_a_row_ = 0;
  paused_until_.reset();
  if (!was_away) return;
  for (auto& [who, of] : chains_) {
    if (!of.until || of.refused) continue;
    waiting_.erase({*of.until, of.positions.front()});
    of.until.reset();
    ready_.insert(of.positions.front());
  }
}

void sink_sender::clear_failures(chain& of) {
  if (of.failures == 0) return;
  of.failures = 0;
  if (of.refused) --refused_;
  of.refused = false;
  of.why.clear();
  of.until.reset();
  if (--failing_ > 0) return;
  trouble_.reset();
  log_->info("the messages of the sink `{}` get through again", outlet_.name);
}

void sink_sender::pop_delivered() {
  while (!entries_.empty() && entries_.front().delivered) {
    lane_.delivered(entries_.front().bytes);
    entries_.pop_front();
  }
}

void sink_sender::wake_waiting(time_point now) {
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    const std::uint64_t position = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    chain_of(*at(position).row)->second.until.reset();
    ready_.insert(position);
  }
}

result<void> sink_sender::send_ready(time_point now) {
  if (paused_until_ && now < *paused_until_) return BOOST_OUTCOME_V2_NAMESPACE::success();
  while (!ready_.empty()) {
    const bool is_away = failures_in_a_row_ >= k_failures_in_a_row;
    if (is_away && under_way_ > 0) break;
    const std::uint64_t position = *ready_.begin();
    entry& e = at(position);
    if (!e.row) {
      RATCHET_TRY(auto again, store_.outputs(outlet_.name, position, position + 1, 1, e.bytes));
      hold(e, std::move(again.front()));
    }
    if (!outlet_.to->send(*e.row)) break;
    e.under_way = true;
    ++under_way_;
    ready_.erase(ready_.begin());
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void sink_sender::hold(entry& e, output_row&& row) {
  write_event_headers(row, row.headers);
  e.row = std::make_unique<output_row>(std::move(row));
  held_bytes_ += e.bytes;
}

void sink_sender::let_go(entry& e) {
  if (!e.row) return;
  e.row.reset();
  held_bytes_ -= e.bytes;
}

result<void> sink_sender::read_more() {
  while (read_ != lane_.durable_next() && entries_.size() < k_most_positions && held_bytes_ < k_most_bytes) {
    RATCHET_TRY(auto page, store_.outputs(outlet_.name, read_, lane_.durable_next(), k_page, k_page_bytes));
    if (page.empty()) break;
    for (output_row& row : page) {
      const std::uint64_t bytes = row.bytes();
      if (row.kind == output_kind::skipped) {
        entries_.push_back(entry{.row = nullptr, .bytes = bytes, .delivered = true});
        continue;
      }
      chain& of = chains_[aggregate{row.stream, row.aggregate}];
      if (of.positions.empty()) ready_.insert(row.position);
      of.positions.push_back(row.position);
      entry& e = entries_.emplace_back(entry{nullptr, bytes});
      if (of.failures == 0) hold(e, std::move(row));
    }
    read_ += page.size();
    pop_delivered();
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
