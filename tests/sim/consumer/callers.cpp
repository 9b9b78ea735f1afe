// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/consumer/callers.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "ratchet/error.hpp"
#include "ratchet/reducer.hpp"

namespace ratchet::sim {

namespace {

constexpr std::chrono::milliseconds k_at_once{0};
constexpr std::uint32_t k_pause = 3;         ///< turns before one asks again
constexpr std::uint32_t k_long_enough = 40;  ///< for any sync, once nothing is wrong any more

}  // namespace

void call_census::add(const call_census& more) {
  done += more.done;
  repeated += more.repeated;
  timed_out += more.timed_out;
  cut_off += more.cut_off;
  for (const auto& [why, count] : more.refused) refused[why] += count;
}

callers::callers(const history& h, world_port& world, step_book& book,
                 const std::optional<simulated_disk>& disk)
    : history_{h}, world_{world}, book_{book}, disk_{disk} {
  for (const request& r : h.requests) all_.emplace_back(r);
}

mailbox* callers::start() {
  inbox_.reset(new mailbox{posted_tasks{1}, posted_transactions{}});
  inbox_->transactions.open();
  return inbox_.get();
}

void callers::stop() {
  inbox_->transactions.close();
  for (caller& c : all_) read(c, turn_, false);
  killed();
}

void callers::killed() {
  for (caller& c : all_) {
    if (!c.ticket) continue;
    ++met_.cut_off;
    let_go(c, turn_);
  }
  inbox_.reset();
  functions_.clear();
}

void callers::pass_turn(std::uint32_t turn, bool healed) {
  turn_ = turn;
  if (!inbox_) return;
  for (caller& c : all_) {
    read(c, turn, healed);
    if (!c.knows && !c.ticket && c.asks_at <= turn) ask(c, turn, healed);
  }
}

bool callers::know_all() const {
  return std::all_of(all_.begin(), all_.end(), [](const caller& c) { return c.knows; });
}

std::vector<const request*> callers::asked_in(std::uint32_t stream, const step_plan& plan) const {
  std::vector<const request*> out;
  for (std::size_t i = 0; i < plan.id_of.size(); ++i) {
    const std::string_view aggregate = plan.aggregates.at(plan.aggregate_of.at(i));
    const event_id id = plan.ids.at(plan.id_of[i]).id;
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const caller& c) {
      return c.ticket && c.of->stream == stream && c.of->id == id &&
             aggregate == "a" + std::to_string(c.of->aggregate);
    });
    if (at == all_.end()) throw broken("a transaction that nobody asks for");
    out.push_back(at->of);
  }
  return out;
}

void callers::expect(const std::vector<const request*>& all, const std::vector<transacted>& answers) {
  // Who asks with one key wants the same, but is another caller.
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (caller& c : all_) {
      if (c.ticket && c.of->wants_the_same(*all[i])) c.may_be_told.push_back(answers[i].code);
    }
  }
}

void callers::check_promises(std::uint64_t last_step) const {
  for (const auto& [asked, step] : promises_) {
    if (step > last_step)
      throw broken("the caller of `" + asked->key + "` was answered, and step " + std::to_string(step) +
                   " is lost");
  }
}

/// Which of two requests with one key is meant could not be told from the step's plan.
bool callers::is_asked_otherwise(const request& r) const {
  return std::any_of(all_.begin(), all_.end(), [&](const caller& other) {
    return other.ticket && r.has_key_of(*other.of) && !r.wants_the_same(*other.of);
  });
}

void callers::ask(caller& c, std::uint32_t turn, bool healed) {
  const request& r = *c.of;
  if (is_asked_otherwise(r)) return;
  const transaction_function& function = functions_.emplace_back(function_of(r));
  c.ticket = inbox_->transactions.post(
      {r.stream, "a" + std::to_string(r.aggregate), r.id, r.fingerprint, &function});
  c.gives_up_at = turn + r.patience + (healed ? k_long_enough : 0);
  if (world_.traces()) world_.trace("`" + r.key + "` of a" + std::to_string(r.aggregate) + " is asked for");
}

transaction_function callers::function_of(const request& r) {
  return [this, &r](state& s, effects& fx) {
    const stream_setup& setup = history_.streams[r.stream];
    const std::string after = transacted_state(setup, std::string{s.value()}, r.payload);
    if (r.payload.empty()) {
      s.erase();
    } else {
      s.assign(after);
      if (setup.folds) tell(fx, "a" + std::to_string(r.aggregate), "s" + std::to_string(r.stream), r.payload);
    }
    fx.reply(reply_to(r, after));
    return r.fails ? give_up(make_error_code(errc::reducer_failed)) : done();
  };
}

void callers::read(caller& c, std::uint32_t turn, bool healed) {
  if (!c.ticket) return;
  if (!inbox_->transactions.is_answered(c.ticket) && turn < c.gives_up_at) return;
  const transaction_answer answer = inbox_->transactions.wait(c.ticket, k_at_once);
  take_answer(c, answer, turn, healed);
}

void callers::take_answer(caller& c, const transaction_answer& answer, std::uint32_t turn, bool healed) {
  const request& r = *c.of;
  if (world_.traces())
    world_.trace("`" + r.key + "` is told: " +
                 (answer.code ? answer.code.message()
                              : std::to_string(answer.sequence.number) + (answer.repeated ? " again" : "")));
  if (!answer.code) {
    const transacted told{{}, answer.repeated, answer.sequence.number, answer.reply};
    promises_.insert_or_assign(&r, book_.step_of(r, told, disk_->durable()));
    ++(answer.repeated ? met_.repeated : met_.done);
    c.knows = true;
  } else if (answer.code == make_error_code(errc::timed_out)) {
    ++met_.timed_out;
  } else if (answer.code == make_error_code(errc::not_running)) {
    ++met_.cut_off;
  } else if (answer.code == make_error_code(errc::held_back)) {
    ++met_.refused["held_back"];
  } else {
    if (std::find(c.may_be_told.begin(), c.may_be_told.end(), answer.code) == c.may_be_told.end())
      throw broken("the caller of `" + r.key +
                   "` is told what the oracle does not say: " + answer.code.message());
    ++met_.refused[answer.code.message()];
    const bool may_pass = answer.code == make_error_code(errc::aggregate_blocked) && !healed;
    c.knows = !may_pass;
  }
  let_go(c, turn);
}

void callers::let_go(caller& c, std::uint32_t turn) {
  c.ticket.reset();
  c.may_be_told.clear();
  c.asks_at = turn + k_pause;
}

}  // namespace ratchet::sim
