// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "pipeline/posted_transactions.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

[[nodiscard]] transaction_answer refusal(std::error_code code, std::string text) {
  transaction_answer answer;
  answer.code = code;
  answer.text = std::move(text);
  return answer;
}

}  // namespace

posted_transactions::ticket_ptr posted_transactions::post(wanted what) {
  auto made = std::make_shared<ticket>(std::move(what));
  const std::scoped_lock lock{mutex_};
  if (!open_) {
    finish(*made, refusal(make_error_code(errc::not_running), "run() does not last on any thread"));
    return made;
  }
  if (waiting_.size() + taken_ + written_.size() >= most_) {
    finish(*made, refusal(make_error_code(errc::held_back),
                          std::to_string(most_) + " transactions wait for their answers already"));
    return made;
  }
  const bool is_first = waiting_.empty();
  waiting_.push_back(made);
  has_waiting_.store(true, std::memory_order_release);
  if (is_first && wake_) wake_();
  return made;
}

transaction_answer posted_transactions::wait(const ticket_ptr& t, std::chrono::milliseconds timeout) {
  using stage = ticket::stage;
  std::unique_lock lock{mutex_};
  const auto is_answered = [&] { return t->at == stage::answered; };
  // What is longer would run over the clock's range, and be over at once.
  constexpr std::chrono::milliseconds k_longest = std::chrono::hours{24 * 365};
  if (t->changed.wait_for(lock, std::min(timeout, k_longest), is_answered)) return std::move(t->answer);
  // The owner may be calling the function: it is the caller's, and must stay.
  t->changed.wait(lock, [&] { return t->at != stage::taken; });
  if (is_answered()) return std::move(t->answer);
  const bool was_begun = t->at == stage::written;
  t->at = stage::abandoned;
  std::erase(waiting_, t);
  return refusal(make_error_code(errc::timed_out),
                 was_begun ? "it was written, and not durable in time" : "its turn did not come in time");
}

bool posted_transactions::is_answered(const ticket_ptr& t) const {
  const std::scoped_lock lock{mutex_};
  return t->at == ticket::stage::answered;
}

transaction_answer posted_transactions::run(wanted what, std::chrono::milliseconds timeout) {
  return wait(post(std::move(what)), timeout);
}

bool posted_transactions::is_owner() const {
  const std::scoped_lock lock{mutex_};
  return open_ && owner_ == std::this_thread::get_id();
}

void posted_transactions::open() {
  const std::scoped_lock lock{mutex_};
  open_ = true;
  owner_ = std::this_thread::get_id();
}

void posted_transactions::close() {
  const std::scoped_lock lock{mutex_};
  open_ = false;
  for (auto* all : {&waiting_, &written_}) {
    for (const ticket_ptr& t : *all)
      finish(*t, refusal(make_error_code(errc::not_running), "run() ended before it was durable"));
    all->clear();
  }
  has_waiting_ = false;
  awaits_sync_ = false;
}

void posted_transactions::on_post(std::function<void()> wake) {
  const std::scoped_lock lock{mutex_};
  wake_ = std::move(wake);
  if (wake_ && !waiting_.empty()) wake_();
}

std::vector<posted_transactions::ticket_ptr> posted_transactions::take(std::size_t limit) {
  std::vector<ticket_ptr> taken;
  if (!has_waiting_.load(std::memory_order_acquire)) return taken;
  const std::scoped_lock lock{mutex_};
  while (!waiting_.empty() && taken.size() < limit) {
    waiting_.front()->at = ticket::stage::taken;
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  has_waiting_ = !waiting_.empty();
  taken_ += taken.size();
  if (!waiting_.empty() && wake_) wake_();  // the next turn is theirs
  return taken;
}

void posted_transactions::written(const std::vector<ticket_ptr>& all, std::vector<transaction_answer> answers,
                                  std::uint64_t step) {
  const std::scoped_lock lock{mutex_};
  release(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ticket& t = *all[i];
    t.at = ticket::stage::written;
    t.step = step;
    t.answer = std::move(answers[i]);
    written_.push_back(all[i]);
    t.changed.notify_all();  // its time may be over
  }
  awaits_sync_ = !written_.empty();
}

void posted_transactions::put_back(const std::vector<ticket_ptr>& all) {
  const std::scoped_lock lock{mutex_};
  release(all.size());
  for (const ticket_ptr& t : all) {
    t->at = ticket::stage::waiting;
    t->changed.notify_all();
  }
  waiting_.insert(waiting_.begin(), all.begin(), all.end());
  has_waiting_ = !waiting_.empty();
}

void posted_transactions::refuse(const std::vector<ticket_ptr>& all, std::error_code code,
                                 const std::string& why) {
  const std::scoped_lock lock{mutex_};
  release(all.size());
  for (const ticket_ptr& t : all) finish(*t, refusal(code, why));
}

void posted_transactions::answer(std::uint64_t durable_step) {
  if (!awaits_sync()) return;
  const std::scoped_lock lock{mutex_};
  for (; !written_.empty() && written_.front()->step <= durable_step; written_.pop_front())
    finish(*written_.front(), std::move(written_.front()->answer));
  awaits_sync_ = !written_.empty();
}

void posted_transactions::store_lost() {
  const std::scoped_lock lock{mutex_};
  for (; !written_.empty(); written_.pop_back()) {
    ticket_ptr& t = written_.back();
    if (t->at == ticket::stage::abandoned) continue;  // nobody waits, and the function is gone
    t->at = ticket::stage::waiting;
    waiting_.push_front(std::move(t));
  }
  awaits_sync_ = false;
  has_waiting_ = !waiting_.empty();
}

/// With the lock held.
void posted_transactions::release(std::size_t taken) {
  RATCHET_ASSERT(taken <= taken_);
  taken_ -= taken;
}

/// With the lock held.
void posted_transactions::finish(ticket& t, transaction_answer answer) {
  if (t.at == ticket::stage::abandoned) return;
  t.answer = std::move(answer);
  t.at = ticket::stage::answered;
  t.changed.notify_all();
}

}  // namespace ratchet
