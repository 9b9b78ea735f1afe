// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <string>
#include <vector>

#include "ratchet/test_driver.hpp"

namespace {

using ratchet::order;
using ratchet::partition_id;
using ratchet::test_driver;
using ratchet::test_event;
using ratchet::verdict;
using std::chrono::minutes;

struct appending {
  static constexpr ratchet::reducer_traits traits{.name = "appending", .version = 1};
  ratchet::outcome apply(const ratchet::event& e, ratchet::state& s, ratchet::effects&) const {
    s.assign(std::string{s.value()} + "/" + std::string{e.type});
    return ratchet::done();
  }
};

/// What a test does with a driver; small numbers, so that it shrinks.
struct action {
  int aggregate{0};
  int number{0};
  int partition{0};
  int wait{0};     ///< minutes before it
  int late{0};     ///< minutes by which the event is late
  int is_gone{0};  ///< 0: a tombstone
  int then{9};     ///< 0: sync, 1: crash and reopen
};

void showValue(const action& a, std::ostream& out) {
  out << "{" << a.aggregate << "," << a.number << "," << a.partition << "," << a.wait << "," << a.late << ","
      << a.is_gone << "," << a.then << "}";
}

test_event event_of(const action& a, ratchet::timestamp now) {
  test_event e = ratchet::ev(std::string(1, static_cast<char>('a' + a.aggregate)),
                             static_cast<std::uint64_t>(a.number), std::to_string(a.number))
                     .on(partition_id{a.partition})
                     .at(now - minutes{a.late});
  return a.is_gone == 0 ? e.as_tombstone() : e;
}

/// What was applied, and what came of it.
std::string content_of(const test_driver& t) {
  std::string text = std::to_string(t.count(verdict::applied));
  for (const char* aggregate : {"a", "b", "c"}) {
    const auto last = t.last_sequence(aggregate);
    const auto row = t.read(aggregate);
    text +=
        std::string{" | "} + (last ? std::to_string(last->number) : "never") + " " + (row ? row->value : "-");
  }
  return text;
}

std::string state_of(const test_driver& t) {
  std::string text = t.floor() ? std::to_string(t.floor()->time_since_epoch().count()) : "none";
  text += ", applied " + content_of(t);
  for (const verdict v : {verdict::duplicate, verdict::stale, verdict::rejected}) {
    text += " " + std::to_string(t.count(v));
  }
  return text + " of " + std::to_string(t.consumed());
}

}  // namespace

namespace rc {

template <>
struct Arbitrary<action> {
  static Gen<action> arbitrary() {
    return gen::build<action>(
        gen::set(&action::aggregate, gen::inRange(0, 3)), gen::set(&action::number, gen::inRange(0, 8)),
        gen::set(&action::partition, gen::inRange(0, 2)), gen::set(&action::wait, gen::inRange(0, 20)),
        gen::set(&action::late, gen::weightedElement<int>({{6, 0}, {1, 30}, {1, 120}})),
        gen::set(&action::is_gone, gen::inRange(0, 8)), gen::set(&action::then, gen::inRange(0, 8)));
  }
};

}  // namespace rc

namespace {

TEST(test_driver_model, is_the_same_with_and_without_crashes) {
  for (const order o : {order::latest, order::arrival}) {
    EXPECT_TRUE(rc::check([o] {
      const auto actions = *rc::gen::arbitrary<std::vector<action>>();
      test_driver steady{{.order = o, .window = minutes{60}}, appending{}};
      test_driver crashing{{.order = o, .window = minutes{60}}, appending{}};
      for (const action& a : actions) {
        for (test_driver* t : {&steady, &crashing}) t->advance(minutes{a.wait});
        RC_ASSERT(steady.pipe(event_of(a, steady.now())) == crashing.pipe(event_of(a, crashing.now())));
        if (a.then == 0) crashing.sync();
        if (a.then == 1) crashing.crash_and_reopen();
      }
      crashing.crash_and_reopen();
      RC_ASSERT(state_of(crashing) == state_of(steady));
    }));
  }
}

TEST(test_driver_model, is_the_same_for_direct_and_deferred_handling) {
  for (const order o : {order::strict, order::arrival}) {
    EXPECT_TRUE(rc::check([o] {
      const auto batches = *rc::gen::arbitrary<std::vector<std::vector<action>>>();
      test_driver direct{{.order = o, .window = minutes{60}}, appending{}};
      test_driver deferred{{.order = o, .handling = ratchet::handling::deferred, .window = minutes{60}},
                           appending{}};
      for (const std::vector<action>& batch : batches) {
        std::vector<test_event> events;
        for (const action& a : batch) events.push_back(event_of(a, direct.now() + minutes{a.wait}));
        (void)direct.pipe_all(events);
        for (const verdict v : deferred.pipe_all(events)) RC_ASSERT(v != verdict::applied);
        // How a repeat is told may differ: behind an event that waits it is one of that, whatever its age.
        RC_ASSERT(content_of(direct) == content_of(deferred));
      }
    }));
  }
}

TEST(test_driver_model, is_the_same_for_one_step_and_for_many) {
  for (const order o : {order::latest, order::arrival}) {
    EXPECT_TRUE(rc::check([o] {
      const auto actions = *rc::gen::arbitrary<std::vector<action>>();
      test_driver one{{.order = o, .window = minutes{60}}, appending{}};
      test_driver many{{.order = o, .window = minutes{60}}, appending{}};
      std::vector<test_event> events;
      for (const action& a : actions) events.push_back(event_of(a, one.now() + minutes{a.wait}));
      std::vector<verdict> answers;
      for (const test_event& e : events) answers.push_back(many.pipe(e));
      RC_ASSERT(one.pipe_all(events) == answers);
      RC_ASSERT(state_of(one) == state_of(many));
    }));
  }
}

}  // namespace
