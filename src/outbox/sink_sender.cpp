// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "outbox/sink_sender.hpp"

#include <algorithm>

#include "core/shown_id.hpp"
#include "core/typed_command.hpp"
#include "outbox/published_rows.hpp"

namespace ratchet {

namespace {

constexpr std::size_t k_sink_page = 500;
constexpr std::uint64_t k_sink_page_bytes = std::uint64_t{1} << 20U;
constexpr std::size_t k_sink_pages_a_turn = 4;  // others have their turn between them

/// first, 2 first, 4 first, … up to `most`, behind the first, second, third, … failure.
std::chrono::milliseconds pause_behind(std::uint32_t failures, std::chrono::milliseconds first,
                                       std::chrono::milliseconds most) {
  constexpr std::uint32_t k_enough = 20;
  return std::min(most, first * (std::int64_t{1} << std::min(failures - 1, k_enough)));
}

}  // namespace

sink_sender::sink_sender(sink_outlet outlet, const outbox_store& from, log_ptr log)
    : outlet_{std::move(outlet)},
      store_{from},
      log_{std::move(log)},
      lane_{outlet_.name, store_.outboxes().of(outlet_.name), store_.last_step()},
      read_{lane_.first()} {}

bool sink_sender::idle() const noexcept {
  return !waits_for_sync() && heads_.empty() && read_ == lane_.durable_next();
}

bool sink_sender::is_drained() const noexcept {
  return !waits_for_sync() && read_ == lane_.durable_next() && ready_.empty() && stubborn_.empty() &&
         under_way_ == 0 && refused_ == heads_.size();
}

result<void> sink_sender::turn(time_point now) {
  lane_.note_durable(store_.durable_step());
  for (const delivery& d : outlet_.to->delivered()) ended(d, now);
  wake_waiting(now);
  RATCHET_TRY(read_more());
  advance();
  return send_ready(now);
}

void sink_sender::ended(const delivery& d, time_point now) {
  const auto at = heads_.find(d.position);
  if (at == heads_.end() || !at->second.under_way) return;
  at->second.under_way = false;
  --under_way_;
  if (std::exchange(at->second.again, false)) {
    --repeats_under_way_;
    if (at->second.of->second.stubborn) --stubborn_under_way_;
  }
  if (d.ended != delivery::how::done) return failed(at, d, now);
  sink_answers();
  clear_failures(at->second.of->second);
  ++sent_total_;
  put_out_of_the_way(at, at->second.row->bytes);
}

/// It was delivered, or is not to be; the next one of its aggregate may go.
void sink_sender::put_out_of_the_way(heads::iterator at, std::uint64_t bytes) {
  lane_.delivered(at->first, bytes);
  const auto of = at->second.of;
  let_go(at->second);
  heads_.erase(at);
  chain& rest = of->second;
  if (rest.behind.empty()) {
    chains_.erase(of);
    return;
  }
  const std::uint64_t position = rest.behind.pop();
  head& next = heads_.emplace(position, head{of, nullptr}).first->second;
  if (auto row = rest.rows.extract(position)) {
    behind_bytes_ -= row.mapped().bytes;
    hold(next, std::move(row.mapped()));
  }
  unsent_.insert(position);
}

void sink_sender::failed(heads::iterator at, const delivery& d, time_point now) {
  const bool refused = d.ended == delivery::how::refused;
  chain& of = at->second.of->second;
  note_failure(of, *at->second.row, d);
  // It may take long, and others need the room.
  let_go(at->second);
  let_go_behind(of);
  of.until = now + (refused ? pause_behind(of.failures, k_stuck_pause, k_longest_stuck_pause)
                            : pause_behind(of.failures, outlet_.first_pause, outlet_.most_pause));
  waiting_.emplace(*of.until, at->first);
  if (refused) {
    sink_answers();  // it is there, and knows what it does not want
  } else {
    if (!of.stubborn) ++failures_in_a_row_;
    if (is_away() && (!paused_until_ || now >= *paused_until_))
      pause_sink(now + pause_behind(++pauses_in_a_row_, outlet_.first_pause, outlet_.most_pause));
    if (d.pause) {
      const time_point until = now + std::min(*d.pause, k_longest_asked_pause);
      asked_until_ = std::max(until, asked_until_.value_or(until));
      pause_sink(until);
    }
  }
  trouble_is_a_refusal_ = refused;
  trouble_ = "the sink `" + outlet_.name + "` " +
             (refused ? "does not take a message of `" + shown_id(at->second.of->first.second) + "`: "
                      : "takes no messages: ") +
             d.text;
  if (!troubles_.due(now)) return;
  tell(log_, log_kind::messages_in_trouble, "{}; {}{}", *trouble_,
       refused ? "it is kept and tried again, and later messages of its aggregate to this sink wait"
               : "messages are kept and sent again",
       troubles_.suppressed());
}

void sink_sender::note_failure(chain& of, const held& message, const delivery& d) {
  if (++of.failures == 1) ++failing_;
  // What is refused is answered at once, and takes no connection from others for long.
  of.stubborn =
      d.ended != delivery::how::refused && of.failures > 1 && (of.stubborn || of.answered != answered_);
  of.answered = answered_;
  if (of.refused) --refused_;
  of.refused.reset();
  if (d.ended != delivery::how::refused) return;
  output_row told = skipped_row(message.row);
  told.kind = message.row.kind;
  told.type = message.row.type;
  of.refused = std::make_unique<refusal>(refusal{std::move(told), message.bytes, d.text});
  ++refused_;
}

bool sink_sender::is_refused(heads::const_iterator at) const {
  return at != heads_.end() && at->second.of->second.refused != nullptr;
}

std::vector<refused_message> sink_sender::refused(time_point now, std::size_t limit) const {
  std::vector<refused_message> out;
  for (const auto& [who, of] : chains_) {
    if (out.size() == std::min(limit, refused_)) break;
    if (!of.refused) continue;
    const auto rest = of.until ? *of.until - now : time_point::duration{0};
    out.push_back(
        {of.refused->row, of.failures,
         std::max(std::chrono::duration_cast<std::chrono::milliseconds>(rest), std::chrono::milliseconds{0}),
         of.refused->why});
  }
  return out;
}

bool sink_sender::retry(std::uint64_t position) {
  const auto at = heads_.find(position);
  if (!is_refused(at)) return false;
  chain& of = at->second.of->second;
  if (!of.until) return true;  // it is about to be
  waiting_.erase({*of.until, position});
  of.until.reset();
  send_again_from(time_point::min(), at);
  return true;
}

std::optional<skipped_output> sink_sender::skip(std::uint64_t position) const {
  const auto at = heads_.find(position);
  if (!is_refused(at) || at->second.under_way) return std::nullopt;
  const refusal& of = *at->second.of->second.refused;
  return skipped_output{skipped_row(of.row), of.bytes};
}

void sink_sender::skipped(const skipped_output& of) {
  const auto at = heads_.find(of.row.position);
  chain& own = at->second.of->second;
  if (own.until) waiting_.erase({*own.until, of.row.position});
  forget_repeat(of.row.position);
  clear_failures(own);
  put_out_of_the_way(at, of.row.bytes());
  advance();
}

/// As long as any failure in a row goes on, only one message at a time is tried behind the pause.
void sink_sender::pause_sink(time_point until) {
  failures_in_a_row_ = std::max(failures_in_a_row_, k_failures_in_a_row);
  paused_until_ = std::max(until, paused_until_.value_or(until));
}

/// What waits for its turn after failures of the whole sink need wait no longer. What was refused or is
/// stubborn keeps its own time: it would else be sent again with each message of others that comes through.
void sink_sender::sink_answers() {
  const bool was_away = is_away();
  ++answered_;
  failures_in_a_row_ = 0;
  pauses_in_a_row_ = 0;
  paused_until_.reset();
  unsent_has_turn_ = true;
  last_has_turn_ = true;
  if (!was_away) return;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto at = heads_.find(next->second);
    chain& of = at->second.of->second;
    if (of.refused || of.stubborn) {
      ++next;
      continue;
    }
    of.until.reset();
    ready_.insert(*next);
    next = waiting_.erase(next);
  }
}

void sink_sender::clear_failures(chain& of) {
  if (of.failures == 0) return;
  of.failures = 0;
  of.stubborn = false;
  if (of.refused) --refused_;
  of.refused.reset();
  of.until.reset();
  if (--failing_ > 0) return show_what_is_refused();
  trouble_.reset();
  tell(log_, log_kind::messages_get_through, "the messages of the sink `{}` get through again", outlet_.name);
}

/// All that failed otherwise has got through: what is left of the trouble is what was refused.
void sink_sender::show_what_is_refused() {
  if (trouble_is_a_refusal_ || failing_ > refused_) return;
  const auto first = std::find_if(chains_.begin(), chains_.end(),
                                  [](const auto& one) { return one.second.refused != nullptr; });
  if (first == chains_.end()) return;
  trouble_is_a_refusal_ = true;
  trouble_ = "the sink `" + outlet_.name + "` does not take a message of `" + shown_id(first->first.second) +
             "`: " + first->second.refused->why;
  tell(log_, log_kind::messages_get_through,
       "the messages of the sink `{}` get through again, except those that it refuses: {}", outlet_.name,
       typed_command("sinks list"));
}

void sink_sender::wake_waiting(time_point now) {
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    const auto [until, position] = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    const auto at = heads_.find(position);
    at->second.of->second.until.reset();
    send_again_from(until, at);
  }
}

void sink_sender::send_again_from(time_point when, heads::const_iterator at) {
  (at->second.of->second.stubborn ? stubborn_ : ready_).emplace(when, at->first);
}

/// Seldom: an operator skips it.
void sink_sender::forget_repeat(std::uint64_t position) {
  for (repeats* in : {&ready_, &stubborn_}) {
    std::erase_if(*in, [position](const auto& entry) { return entry.second == position; });
  }
}

result<void> sink_sender::send_ready(time_point now) {
  if (asked_until_ && now >= *asked_until_) asked_until_.reset();
  if (asked_until_ || (paused_until_ && now < *paused_until_)) return BOOST_OUTCOME_V2_NAMESPACE::success();
  while (const auto next = next_to_send()) {
    const auto at = heads_.find(*next);
    if (!at->second.row) {
      RATCHET_TRY(read_again(at));
    }
    if (!is_taken(outlet_.to->send(at->second.row->row))) break;
    note_sent(at);
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

std::optional<std::uint64_t> sink_sender::next_to_send() const {
  if (ready_.empty() && stubborn_.empty() && unsent_.empty()) return std::nullopt;
  if (is_away()) return under_way_ > 0 ? std::nullopt : std::optional{next_to_try()};
  if (may_repeat()) {
    if (!ready_.empty()) return ready_.begin()->second;
    if (!stubborn_.empty() && stubborn_under_way_ < quarter()) return stubborn_.begin()->second;
  }
  if (unsent_.empty()) return std::nullopt;
  return *unsent_.begin();
}

/// Each kind has its turn, as one may fail for ever. One end of those that never failed may be full of such.
std::uint64_t sink_sender::next_to_try() const {
  if (!unsent_.empty() && (unsent_has_turn_ || ready_.empty()))
    return last_has_turn_ ? *unsent_.rbegin() : *unsent_.begin();
  return (ready_.empty() ? stubborn_ : ready_).begin()->second;
}

std::size_t sink_sender::quarter() const noexcept {
  return std::max<std::size_t>(outlet_.concurrency / 4, 1);
}

/// What failed may hang until its time is over: most connections are left to what did not.
bool sink_sender::may_repeat() const noexcept {
  if (unsent_.empty()) return true;
  if (outlet_.concurrency == 1 && fresh_in_a_row_ < k_fresh_between) return false;
  return repeats_under_way_ < quarter();
}

void sink_sender::note_sent(heads::iterator at) {
  head& of = at->second;
  of.under_way = true;
  ++under_way_;
  const bool was_unsent = unsent_.erase(at->first) > 0;
  if (was_unsent) {
    ++fresh_in_a_row_;
    if (is_away()) last_has_turn_ = !last_has_turn_;
  } else {
    fresh_in_a_row_ = 0;
    const bool stubborn = of.of->second.stubborn;
    repeats& from = stubborn ? stubborn_ : ready_;
    from.erase(from.begin());
    of.again = true;
    ++repeats_under_way_;
    if (stubborn) ++stubborn_under_way_;
  }
  if (is_away()) unsent_has_turn_ = !was_unsent;
}

result<void> sink_sender::read_again(heads::iterator at) {
  RATCHET_TRY(auto row, store_.outputs(outlet_.name, at->first, at->first + 1, 1, k_sink_page_bytes));
  if (row.empty()) return make_error_code(errc::state_damaged);
  const std::uint64_t bytes = row.front().bytes();
  hold(at->second, {std::move(row.front()), bytes});
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void sink_sender::hold(head& of, held&& message) {
  write_event_headers(message.row, message.row.headers);
  held_bytes_ += message.bytes;
  of.row = std::make_unique<held>(std::move(message));
}

void sink_sender::let_go(head& of) {
  if (!of.row) return;
  held_bytes_ -= of.row->bytes;
  of.row.reset();
}

void sink_sender::let_go_behind(chain& of) {
  for (const auto& [position, message] : of.rows) behind_bytes_ -= message.bytes;
  of.rows.clear();
}

/// While the sink is away, one message that tries whether it is back is enough; but one that never failed has
/// to be among those that may, however many others wait or fail, up to a bound.
bool sink_sender::has_room() const noexcept {
  if (held_bytes_ >= k_most_bytes) return false;
  if (is_away()) return unsent_.empty() && under_way_ == 0 && failing_ - refused_ < k_most_failing_away;
  return unsent_.size() + under_way_ < k_most_ready;  // what failed holds no row until it is sent
}

result<void> sink_sender::read_more() {
  for (std::size_t pages = 0; pages < k_sink_pages_a_turn && reads_on(); ++pages) {
    RATCHET_TRY(auto page,
                store_.outputs(outlet_.name, read_, lane_.durable_next(), k_sink_page, k_sink_page_bytes));
    if (page.empty()) {
      RATCHET_TRY(lane_.missing({read_, lane_.durable_next()}));
      read_ = lane_.durable_next();
    }
    for (output_row& row : page) {
      RATCHET_TRY(lane_.missing({read_, row.position}));
      read_ = row.position + 1;
      take(std::move(row));
    }
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

void sink_sender::take(output_row&& row) {
  const std::uint64_t position = row.position;
  const std::uint64_t bytes = row.bytes();
  if (row.kind == output_kind::skipped) return lane_.delivered(position, bytes);
  const auto [of, is_new] = chains_.try_emplace(aggregate{row.stream, row.aggregate});
  if (is_new) {
    hold(heads_.emplace(position, head{of, nullptr}).first->second, {std::move(row), bytes});
    unsent_.insert(position);
    return;
  }
  of->second.behind.push(position);
  if (of->second.failures > 0 || behind_bytes_ >= k_most_bytes) return;
  behind_bytes_ += bytes;
  of->second.rows.emplace(position, held{std::move(row), bytes});
}

}  // namespace ratchet
