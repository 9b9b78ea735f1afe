// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "app/outbox_sender.hpp"

#include <algorithm>
#include <utility>

#include "app/dead_letters.hpp"
#include "app/published_rows.hpp"
#include "core/typed_command.hpp"

namespace ratchet {

namespace {

/// So much is held in memory at most: sent and not acknowledged, or read and not sent.
constexpr std::size_t k_most_entries = 20'000;
constexpr std::uint64_t k_most_bytes = std::uint64_t{32} << 20U;
constexpr std::uint64_t k_most_offered_bytes = std::uint64_t{24} << 20U;
constexpr std::size_t k_page = 1'000;
constexpr std::uint64_t k_page_bytes = std::uint64_t{4} << 20U;
constexpr std::chrono::milliseconds k_first_pause{500};
constexpr std::chrono::milliseconds k_longest_pause{30'000};
constexpr std::chrono::milliseconds k_stuck_pause{10'000};

}  // namespace

outbox_sender::outbox_sender(const store& from, publisher& to, log_ptr log)
    : store_{from},
      to_{to},
      log_{std::move(log)},
      lane_{{}, store_.outbox(), store_.last_step()},
      read_{lane_.first()} {}

void outbox_sender::offer(std::vector<output_row>&& rows) {
  for (output_row& row : rows) {
    const std::uint64_t next = offered_.empty() ? row.position : offered_.back().position + 1;
    const std::uint64_t bytes = row.bytes();
    // Behind a row that found no room the others are of no use until that one was read.
    if (row.position != next || row.position < read_ || offered_.size() >= k_most_entries ||
        offered_bytes_ + bytes > k_most_offered_bytes)
      return;
    offered_bytes_ += bytes;
    offered_.push_back(std::move(row));
  }
}

bool outbox_sender::is_behind() const noexcept {
  return offered_bytes_ > k_most_offered_bytes / 3 || offered_.size() > k_most_entries / 2;
}

bool outbox_sender::idle() const noexcept {
  return !waits_for_sync() && entries_.empty() && read_ == lane_.durable_next();
}

bool outbox_sender::settled() const {
  if (waits_for_sync() || under_way_ > 0 || read_ != lane_.durable_next()) return false;
  return std::all_of(entries_.begin(), entries_.end(), [this](const entry& e) {
    return e.at == step_of::stuck || e.at == step_of::delivered ||
           (e.at == step_of::queued && is_behind_stuck(e));
  });
}

result<void> outbox_sender::turn(time_point now) {
  lane_.note_durable(store_.durable_step());
  take_deliveries(now);
  pop_delivered();
  return send_all(now);
}

void outbox_sender::take_deliveries(time_point now) {
  for (const delivery& d : to_.delivered()) {
    if (d.position < lane_.first() || d.position >= lane_.first() + entries_.size()) continue;
    if (!at(d.position).is_on_its_way()) continue;
    --under_way_;
    ended(d, now);
  }
}

void outbox_sender::ended(const delivery& d, time_point now) {
  entry& e = at(d.position);
  switch (d.ended) {
    case delivery::how::done:
      e.at = step_of::delivered;
      refused_.erase(d.position);
      ++sent_total_;
      return;
    case delivery::how::again:
      e.at = step_of::queued;
      if (!again_at_) {
        pause_ = std::clamp(pause_ * 2, k_first_pause, k_longest_pause);
        again_at_ = now + pause_;
      }
      note_trouble(e, "takes no messages: " + d.text, "they are kept, and sent again", now);
      break;
    case delivery::how::refused:
      if (e.at == step_of::under_way) {
        e.at = step_of::refused;
      } else if (auto smaller = without_value(e.row)) {
        e.row = std::move(*smaller);
        e.at = step_of::refused;
      } else if (e.row.kind == output_kind::published) {
        hold_back(e, d.text, now);
      } else {
        e.at = step_of::delivered;
        given_up_.push_back({e.row, d.text});
      }
      break;
  }
  mending_ = true;
}

void outbox_sender::hold_back(entry& e, const std::string& why, time_point now) {
  e.at = step_of::stuck;
  if (stuck_.empty()) stuck_until_ = now + k_stuck_pause;
  stuck_.emplace(e.row.stream, e.row.aggregate);
  refusal& of = refused_[e.row.position];
  ++of.attempts;
  of.why = why;
  const std::string what_now =
      "it is kept and tried again, and what its aggregate published behind it waits: see what the topic "
      "allows "
      "(max.message.bytes), and " +
      typed_command("sinks list");
  note_trouble(e, "does not take a message of `" + e.row.aggregate + "`: " + why, what_now.c_str(), now);
}

std::vector<refused_message> outbox_sender::refused(time_point now, std::size_t limit) const {
  std::vector<refused_message> out;
  for (const auto& [position, of] : refused_) {
    if (out.size() == limit) break;
    const bool waits = at(position).at == step_of::stuck && now < stuck_until_;
    const auto rest = waits ? stuck_until_ - now : time_point::duration{0};
    out.push_back(
        {at(position).row, of.attempts, std::chrono::ceil<std::chrono::milliseconds>(rest), of.why});
  }
  return out;
}

bool outbox_sender::retry(std::uint64_t position) {
  if (!refused_.contains(position)) return false;
  entry& e = at(position);
  if (e.at != step_of::stuck) return true;  // it is about to be
  e.at = step_of::refused;
  let_aggregate_go(e.row);
  return true;
}

std::optional<skipped_output> outbox_sender::skip(std::uint64_t position) const {
  if (!refused_.contains(position) || at(position).is_on_its_way()) return std::nullopt;
  return skipped_output{skipped_row(at(position).row), at(position).bytes};
}

void outbox_sender::skipped(const skipped_output& of) {
  const std::uint64_t position = of.row.position;
  entry& e = at(position);
  e.at = step_of::delivered;
  refused_.erase(position);
  let_aggregate_go(e.row);
  e.row = of.row;
  held_bytes_ -= e.bytes;
  e.bytes = of.row.bytes();
  held_bytes_ += e.bytes;
}

/// Unless another message of it was refused.
void outbox_sender::let_aggregate_go(const output_row& of) {
  const bool has_another = std::any_of(refused_.begin(), refused_.end(), [&](const auto& other) {
    const entry& e = at(other.first);
    return e.at == step_of::stuck && e.row.stream == of.stream && e.row.aggregate == of.aggregate;
  });
  if (!has_another) stuck_.erase({of.stream, of.aggregate});
}

void outbox_sender::note_trouble(const entry& e, const std::string& why, const char* what_now,
                                 time_point now) {
  trouble_to_ = std::max(trouble_to_, e.row.position + 1);
  trouble_ = "the topic `" + e.row.topic + "` " + why;
  if (troubles_.due(now))
    tell(log_, log_kind::messages_in_trouble, "{}; {}{}", *trouble_, what_now, troubles_.held_back());
}

bool outbox_sender::is_behind_stuck(const entry& e) const {
  return !stuck_.empty() && e.row.kind == output_kind::published &&
         stuck_.contains({e.row.stream, e.row.aggregate});
}

void outbox_sender::try_stuck_again(time_point now) {
  if (stuck_.empty() || now < stuck_until_) return;
  stuck_.clear();
  for (entry& e : entries_) {
    if (e.at == step_of::stuck) e.at = step_of::refused;  // alone, as nothing says that this helps
  }
}

void outbox_sender::pop_delivered() {
  while (!entries_.empty() && entries_.front().at == step_of::delivered) {
    lane_.delivered(lane_.first(), entries_.front().bytes);
    lane_.advance(lane_.first() + 1);
    held_bytes_ -= entries_.front().bytes;
    entries_.pop_front();
  }
  if (!trouble_ || lane_.first() < trouble_to_) return;
  trouble_.reset();
  pause_ = {};
  tell(log_, log_kind::messages_get_through, "the messages of the outbox get through again");
}

bool outbox_sender::hand_over(output_row& row) {
  if (row.kind != output_kind::published) return to_.send(row);
  write_event_headers(row, headers_);
  row.headers.swap(headers_);
  const bool taken = to_.send(row);
  row.headers.swap(headers_);
  return taken;
}

bool outbox_sender::send(entry& e) {
  if (!hand_over(e.row)) return false;
  e.at = e.at == step_of::refused ? step_of::refused_alone : step_of::under_way;
  ++under_way_;
  return true;
}

result<void> outbox_sender::send_all(time_point now) {
  if (mending_ && under_way_ > 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
  if (again_at_ && now < *again_at_) return BOOST_OUTCOME_V2_NAMESPACE::success();
  again_at_.reset();
  mending_ = false;
  try_stuck_again(now);
  for (entry& e : entries_) {
    if (e.at != step_of::queued && e.at != step_of::refused) continue;
    if (e.at == step_of::queued && is_behind_stuck(e)) continue;
    const bool alone = e.at == step_of::refused;
    if (alone) mending_ = true;
    if (alone && under_way_ > 0) return BOOST_OUTCOME_V2_NAMESPACE::success();
    if (!send(e) || alone) return BOOST_OUTCOME_V2_NAMESPACE::success();
  }
  for (;;) {
    const std::size_t known = entries_.size();
    RATCHET_TRY(const bool more, read_more());
    if (!more) return BOOST_OUTCOME_V2_NAMESPACE::success();
    for (std::size_t i = known; i < entries_.size(); ++i) {
      if (entries_[i].at != step_of::queued || is_behind_stuck(entries_[i])) continue;
      if (!send(entries_[i])) return BOOST_OUTCOME_V2_NAMESPACE::success();
    }
  }
}

result<bool> outbox_sender::read_more() {
  if (read_ == lane_.durable_next() || entries_.size() >= k_most_entries || held_bytes_ >= k_most_bytes)
    return false;
  if (take_offered()) return true;
  const std::uint64_t until = offered_.empty() ? lane_.durable_next() : offered_.front().position;
  RATCHET_TRY(auto page,
              store_.outputs({}, read_, std::min(until, lane_.durable_next()), k_page, k_page_bytes));
  for (output_row& row : page) {
    if (row.position != read_) return make_error_code(errc::state_damaged);
    hold(std::move(row));
  }
  if (page.empty()) return make_error_code(errc::state_damaged);
  return true;
}

/// A page of what is next, where that was offered.
bool outbox_sender::take_offered() {
  std::size_t taken = 0;
  while (!offered_.empty() && offered_.front().position == read_ && read_ < lane_.durable_next() &&
         taken < k_page) {
    offered_bytes_ -= offered_.front().bytes();
    hold(std::move(offered_.front()));
    offered_.pop_front();
    ++taken;
  }
  return taken > 0;
}

void outbox_sender::hold(output_row&& row) {
  const std::uint64_t bytes = row.bytes();
  const step_of at = row.kind == output_kind::skipped ? step_of::delivered : step_of::queued;
  entries_.push_back({std::move(row), bytes, at});
  held_bytes_ += bytes;
  ++read_;
}

}  // namespace ratchet
