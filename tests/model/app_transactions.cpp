// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Transactions in any interleaving of repeated keys, steps, syncs, lost stores, crashes and callers that give
// up: what was answered is there once, for ever, and is answered the same again.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/event_id_text.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/posted_transactions.hpp"
#include "ratchet/error.hpp"
#include "support/fake_source.hpp"
#include "testing/memory_store.hpp"

namespace ratchet::testing {
namespace {

constexpr int k_keys = 8;
constexpr int k_aggregates = 2;
constexpr std::chrono::milliseconds k_at_once{0};

struct action {
  enum class what : std::uint8_t {
    ask,
    refused,
    turn,
    sync,
    store_lost,
    killed,
    power_cut,
    gives_up,
    time
  } does;
  int number;
};

std::ostream& operator<<(std::ostream& out, const action& a) {
  constexpr const char* k_names[] = {"ask",    "refused",   "turn",     "sync", "store_lost",
                                     "killed", "power_cut", "gives_up", "time"};
  return out << k_names[static_cast<int>(a.does)] << " " << a.number;
}

/// A program that embeds Ratchet, and the callers of its threads. The state of an aggregate is the list of
/// the keys that were done, each of which is also published.
class world {
 public:
  world() {
    config c;
    stream_config s;
    s.name = "orders";
    s.order = order::arrival;
    s.dedup.ids = id_kind::opaque;
    s.outputs = {"out"};
    c.streams = {s};
    auto made = make_streams(c, {});
    streams_ = std::move(*made);
    tasks_ = make_tasks(streams_);
    start();
  }

  void act(const action& a) {
    switch (a.does) {
      case action::what::ask:
        return ask(a.number % k_keys, false);
      case action::what::refused:
        return ask(a.number % k_keys, true);
      case action::what::turn:
        return turn(1 + static_cast<std::size_t>(a.number % 4));
      case action::what::sync:
        return sync();
      case action::what::store_lost:
        queue_->store_lost();
        store_.lose_unsynced();
        return open();
      case action::what::killed:
        return start();
      case action::what::power_cut:
        store_.lose_unsynced();
        return start();
      case action::what::gives_up:
        if (!waiting_.empty()) collect(static_cast<std::size_t>(a.number) % waiting_.size());
        return;
      case action::what::time:
        return clock_.advance(std::chrono::minutes{1});
    }
  }

  /// Everybody asks again until told, as whoever has to know does.
  void drain() {
    start();
    for (int key = 0; key < k_keys; ++key) ask(key, false);
    turn(1000);
    sync();
    while (!waiting_.empty()) collect(0);
  }

  void check() {
    RC_ASSERT(!called_too_late_);
    std::vector<std::string> done(k_aggregates);
    const auto rows = store_.outputs({}, 0, store_.outbox().next, 1000, 1U << 20U).value();
    for (const output_row& row : rows) done.at(row.aggregate == "a0" ? 0 : 1) += *row.value;
    std::uint64_t all = 0;
    for (int a = 0; a < k_aggregates; ++a) {
      const auto row = store_.view().value()->get(store_.id_of("orders"), "a" + std::to_string(a)).value();
      RC_ASSERT(row.snapshot == done.at(static_cast<std::size_t>(a)));
      RC_ASSERT(row.last == seq(row.snapshot.size()));
      all += row.snapshot.size();
    }
    RC_ASSERT(all == std::uint64_t{k_keys});
    for (int key = 0; key < k_keys; ++key) {
      const std::string& of = done.at(static_cast<std::size_t>(key % k_aggregates));
      RC_ASSERT(std::count(of.begin(), of.end(), letter(key)) == 1);
      RC_ASSERT(told_.at(key).reply == of.substr(0, of.find(letter(key)) + 1));
      RC_ASSERT(told_.at(key).number == of.find(letter(key)) + 1);
    }
    const counters& c = tasks_[0]->state.counters;
    RC_ASSERT(c.applied == std::uint64_t{k_keys});
    RC_ASSERT(c.consumed == c.accounted());
  }

 private:
  struct asked {
    int key;
    bool refused;
    std::shared_ptr<bool> gone;  ///< with the function's caller
    posted_transactions::ticket_ptr ticket;
  };
  struct told {
    std::string reply;
    std::uint64_t number;
  };
  static char letter(int key) { return static_cast<char>('a' + key); }

  /// A new process on what is stored: who waited is told nothing more.
  void start() {
    while (!waiting_.empty()) collect(0);
    queue_.emplace();
    queue_->open();
    open();
  }
  void open() {
    RC_ASSERT(bool{load_tasks(streams_, tasks_, store_)});
    way_.emplace(tasks_, store_, clock_);
  }
  void ask(int key, bool refused) {
    auto gone = std::make_shared<bool>(false);
    auto function = std::make_unique<transaction_function>([this, gone, key, refused](state& s, effects& fx) {
      if (*gone) called_too_late_ = true;
      s.assign(std::string{s.value()} + letter(key));
      fx.publish({.topic = "out", .payload = std::string(1, letter(key))});
      fx.reply(s.value());
      return refused ? give_up(make_error_code(errc::io)) : done();
    });
    auto ticket = queue_->post({0, "a" + std::to_string(key % k_aggregates),
                                *hash_opaque_id(std::string(1, letter(key))), std::nullopt, function.get()});
    waiting_.push_back({key, refused, std::move(gone), std::move(ticket)});
    functions_.push_back(std::move(function));
  }
  void turn(std::size_t most) {
    const auto taken = queue_->take(most);
    std::vector<transaction_request> requests;
    requests.reserve(taken.size());
    for (const auto& t : taken)
      requests.push_back({t->what.aggregate, t->what.id, t->what.fingerprint, t->what.function});
    queue_->written(taken, way_->transact(*tasks_[0], requests).value(), store_.last_step());
  }
  void sync() {
    store_.request_sync();
    queue_->answer(store_.durable_step());
  }
  /// A caller goes, with an answer or without.
  void collect(std::size_t index) {
    const asked one = std::move(waiting_.at(index));
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
    const transaction_answer got = queue_->wait(one.ticket, k_at_once);
    *one.gone = true;
    if (got.code == make_error_code(errc::timed_out)) return;
    if (got.code) {
      RC_ASSERT(one.refused);
      RC_ASSERT(got.code == make_error_code(errc::io));
      return;
    }
    RC_ASSERT(!one.refused || got.repeated);
    const auto [first, fresh] = told_.try_emplace(one.key, told{got.reply.value(), got.sequence.number});
    RC_ASSERT(first->second.reply == got.reply);
    RC_ASSERT(first->second.number == got.sequence.number);
  }

  fake_clock clock_;
  memory_store store_{{"orders"}};
  stream_list streams_;
  task_list tasks_;
  std::optional<pipeline> way_;
  std::optional<posted_transactions> queue_;
  std::vector<asked> waiting_;
  std::vector<std::unique_ptr<transaction_function>> functions_;  ///< of all, so that a late call is noticed
  bool called_too_late_{false};
  std::map<int, told> told_;  ///< by key
};

rc::Gen<action> any_action() {
  using what = action::what;
  return rc::gen::apply(
      [](what does, int number) {
        return action{does, number};
      },
      rc::gen::weightedElement<what>({{8, what::ask},
                                      {2, what::refused},
                                      {6, what::turn},
                                      {3, what::sync},
                                      {1, what::store_lost},
                                      {1, what::killed},
                                      {1, what::power_cut},
                                      {2, what::gives_up},
                                      {1, what::time}}),
      rc::gen::inRange(0, 64));
}

TEST(transactions_model, each_key_is_done_once_and_answered_the_same_whatever_happens) {
  const bool held = rc::check([] {
    const auto actions = *rc::gen::container<std::vector<action>>(any_action());
    world w;
    for (const action& a : actions) w.act(a);
    w.drain();
    w.check();
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace ratchet::testing
