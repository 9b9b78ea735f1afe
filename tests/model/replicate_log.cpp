// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replicate/log_owner.hpp"
#include "support/replicate_plain_reader.hpp"
#include "support/replicate_records.hpp"

/// Three instances over one log, and everything that may happen to them: in any order, with records that land
/// late, twice or never, reports that are late or do not come, members of a group that do not know that they
/// are none, kills, and stores that lose their tail. After each action the plain reader reads what was
/// appended, and
///
///   - what any instance took as confirmed is what the plain reader has, and keeps, for ever;
///   - a step that was told is a confirmed one;
///   - nobody refuses a log that has lost nothing.
///
/// Then the faults end: the group's owner leads, all that it makes is confirmed, and all have the same.
namespace ratchet::replicate::testing {
namespace {

constexpr std::size_t k_instances = 3;

enum class action {
  assign,        ///< the group gives the slot to somebody
  notice,        ///< a member hears that it lost it
  thrive,        ///< an instance does what is due, its records land, and it hears of them
  work,          ///< an instance does what is due: claims, fences, reads a record
  make,          ///< a step
  land,          ///< the next record of a producer reaches the log
  lose,          ///< it does not, and that is reported
  repeat,        ///< it does, and is sent once more
  forget,        ///< it does, and the brokers do not say where
  report,        ///< an instance hears of the next outcome
  look,          ///< an instance asks how far the log goes
  kill,          ///< and starts again, maybe with an older store; its records are still under way
  vanish,        ///< what a producer of a killed instance had under way is lost
  litter,        ///< somebody appends something else
  mark,          ///< an offset without a record
  forget_group,  ///< the group's generations begin anew
  truncate,      ///< the log loses its newest records, acknowledged or not
};
constexpr int k_faultless = static_cast<int>(action::truncate);  // those before it lose nothing

struct report {
  append_ticket ticket;
  bool failed{false};
  std::optional<std::int64_t> offset;
};

/// A producer: its records land in their order.
struct producer {
  std::deque<append_request> under_way;
  std::deque<report> reports;
};

struct instance {
  std::unique_ptr<log_owner> owner;
  producer sends;
  std::vector<producer> orphans;      ///< of its attempts and lives before
  std::vector<log_position> store;    ///< as it was with each step, the newest last
  std::optional<std::int64_t> known;  ///< when it asked for the bounds
  std::uint64_t writer{0};
};

class world {
 public:
  explicit world(std::uint64_t seed) : random_{seed} {
    for (std::size_t i = 0; i < k_instances; ++i) start(i, 0);
  }

  void act(action what, unsigned who, unsigned how) {
    const std::size_t i = who % k_instances;
    instance& it = instances_[i];
    switch (what) {
      case action::assign:
        assign(i);
        break;
      case action::notice:
        if (owner_ != i) it.owner->unassigned();
        break;
      case action::thrive:
        for (unsigned k = 0; k <= how % 12; ++k) {
          work(i);
          if (!it.sends.under_way.empty()) land_of(it.sends, action::land);
          hear(it);
        }
        break;
      case action::work:
        work(i);
        break;
      case action::make:
        make(i, how);
        break;
      case action::land:
      case action::lose:
      case action::repeat:
      case action::forget:
        land(it, what, how);
        break;
      case action::report:
        hear(it);
        break;
      case action::look:
        look(it, how);
        break;
      case action::kill:
        kill(i, how);
        break;
      case action::vanish:
        if (!it.orphans.empty())
          it.orphans.erase(it.orphans.begin() + static_cast<std::ptrdiff_t>(how % it.orphans.size()));
        break;
      case action::litter:
        litter(how);
        break;
      case action::mark:
        append(std::nullopt);
        break;
      case action::forget_group:
        generation_ = 0;
        break;
      case action::truncate:
        truncate(how);
        break;
    }
    check_phase(i);
  }

  /// The end of all faults. Whether the group's owner leads, and nobody has anything else.
  void come_to_rest() {
    while (!lands_nothing()) {
    }
    assign(owner_.value_or(0));
    for (std::size_t i = 0; i < k_instances; ++i) {
      if (i != owner_) instances_[i].owner->unassigned();
    }
    for (int turn = 0; turn < 4; ++turn) {
      drive();
      make(*owner_, 7);
    }
    drive();
  }

  bool stopped(std::size_t i) const { return instances_[i].owner->phase() == owner_phase::stopped; }
  void expect_rest() {
    const log_owner& owner = *instances_[*owner_].owner;
    RC_ASSERT(owner.phase() == owner_phase::leading);
    RC_ASSERT(owner.made_step() == owner.reader().position().step);
    RC_ASSERT(owner.pending_steps() == 0U);
    RC_ASSERT(owner.pending_bytes() == 0U);
    for (const instance& each : instances_) {
      RC_ASSERT(each.owner->reader().position().step == plain_.last_step());
      RC_ASSERT(plain_log::hash_bytes(each.owner->reader().position().chain) == chain_of_last());
    }
  }
  /// Of a log that has lost records: the owner has stopped, or who reads the log from its start refuses it,
  /// or nobody who goes on has anything else.
  void expect_noticed() {
    if (!now_.refused().empty() || stopped(*owner_)) return;
    RC_ASSERT(instances_[*owner_].owner->phase() == owner_phase::leading);
    for (std::size_t i = 0; i < k_instances; ++i) {
      const log_position& at = instances_[i].owner->reader().position();
      if (stopped(i) || at.step == 0) continue;
      const auto step = now_.steps().find(at.step);
      RC_ASSERT(step != now_.steps().end());
      RC_ASSERT(plain_log::hash_bytes(at.chain) == step->second.chain);
    }
  }
  void read_now() {
    now_ = plain_log::reader{plain_options()};
    for (std::size_t i = 0; i < log_.size(); ++i) {
      if (log_[i]) (void)now_.take(static_cast<std::int64_t>(i), *log_[i]);
    }
  }
  bool lost_any() const { return lost_; }
  std::uint64_t confirmed() const { return plain_.last_step(); }
  std::size_t told() const { return told_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  static plain_log::options plain_options() {
    plain_log::options with;
    with.slot = k_slot;
    with.newest_layout = k_layout;
    return with;
  }

  std::uint64_t below(std::uint64_t bound) {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return (random_ >> 33U) % bound;
  }

  std::string chain_of_last() const {
    return plain_.steps().empty() ? plain_log::hash_bytes(instances_[0].owner->reader().position().chain)
                                  : plain_.steps().rbegin()->second.chain;
  }

  void start(std::size_t i, std::size_t forgotten) {
    instance& it = instances_[i];
    it.store.resize(it.store.size() - std::min(forgotten, it.store.size()));
    owner_options with;
    with.reading.slot = k_slot;
    with.reading.newest_layout = k_layout;
    with.layout = k_layout;
    with.meaning = k_meaning;
    with.new_lineage = {i + 1, i + 1};
    with.chunk_bytes = 24;
    with.apply = [this, i](const confirmed_step& step) { apply(i, step); };
    with.dropped = [this](std::uint64_t first, std::uint64_t last) { dropped_ += last + 1 - first; };
    const log_position from = it.store.empty() ? log_position{} : it.store.back();
    it.owner = std::make_unique<log_owner>(std::move(with), from);
    it.known.reset();
    if (lost_) tell_bounds(it, it.owner->reader().known_offset());
  }

  void apply(std::size_t i, const confirmed_step& step) {
    instances_[i].store.push_back(step.position);
    if (step.own) told_[step.position.step] = plain_log::hash_bytes(step.position.chain);
    if (lost_) return;
    const auto found = plain_.steps().find(step.position.step);
    RC_ASSERT(found != plain_.steps().end());
    RC_ASSERT(found->second.chain == plain_log::hash_bytes(step.position.chain));
    RC_ASSERT(found->second.rows == step.rows);
  }

  std::int64_t append(std::optional<std::string> record) {
    log_.push_back(std::move(record));
    const auto offset = static_cast<std::int64_t>(log_.size()) - 1;
    if (!lost_ && log_.back()) (void)plain_.take(offset, *log_.back());
    RC_ASSERT(plain_.refused().empty());
    if (kept_ == 0 && plain_.began()) kept_ = log_.size();
    return offset;
  }

  void assign(std::size_t i) {
    ++generation_;
    owner_ = i;
    instances_[i].owner->assigned(generation_);
  }

  void work(std::size_t i) {
    instance& it = instances_[i];
    log_owner& owner = *it.owner;
    if (owner.phase() == owner_phase::claiming && below(2) == 0) {
      owner.claim_answered(owner_ == i);
    } else if (owner.phase() == owner_phase::must_fence && below(2) == 0) {
      orphan(it);
      it.writer = ++writers_;
      it.sends.under_way.push_back(owner.make_fence(it.writer));
    } else if (const auto wanted = owner.wants()) {
      const auto at = static_cast<std::size_t>(wanted->first);
      if (at >= log_.size()) return;
      if (log_[at]) {
        (void)owner.read(wanted->first, *log_[at]);
      } else {
        owner.read_through(wanted->first, wanted->first);
      }
    }
  }

  void make(std::size_t i, unsigned how) {
    instance& it = instances_[i];
    if (it.owner->phase() != owner_phase::leading || it.owner->pending_steps() > 5) return;
    std::vector<append_request> records;
    RC_ASSERT(
        it.owner->append_step(put_row("by " + std::to_string(++made_), std::string(how % 60, 'x')), records));
    for (append_request& each : records) it.sends.under_way.push_back(std::move(each));
  }

  /// One of an instance's producers, of those that have something under way.
  producer* busy(instance& it, unsigned how) {
    std::vector<producer*> all;
    if (!it.sends.under_way.empty()) all.push_back(&it.sends);
    for (producer& each : it.orphans) {
      if (!each.under_way.empty()) all.push_back(&each);
    }
    return all.empty() ? nullptr : all[how % all.size()];
  }

  void land(instance& it, action what, unsigned how) {
    producer* from = busy(it, how);
    if (from != nullptr) land_of(*from, what);
  }

  void land_of(producer& from, action what) {
    const append_request request = from.under_way.front();
    if (what != action::repeat) from.under_way.pop_front();
    report out{request.ticket, what == action::lose, {}};
    if (!out.failed) out.offset = append(request.record);
    if (what == action::forget) out.offset.reset();
    if (what != action::repeat) from.reports.push_back(out);
  }

  void hear(instance& it) {
    if (it.sends.reports.empty()) return;
    const report heard = it.sends.reports.front();
    it.sends.reports.pop_front();
    if (heard.failed) {
      it.owner->failed(heard.ticket);
    } else {
      it.owner->acknowledged(heard.ticket, heard.offset);
    }
  }

  void tell_bounds(instance& it, std::int64_t known) {
    it.owner->look(known, 0, static_cast<std::int64_t>(log_.size()));
  }

  void look(instance& it, unsigned how) {
    if (!it.known || how % 3 == 0) it.known = it.owner->reader().known_offset();
    if (how % 2 == 0) tell_bounds(it, *std::exchange(it.known, std::nullopt));
  }

  /// A producer that is made anew: what the old one had under way may still land; nobody hears of it.
  void orphan(instance& it) {
    if (!it.sends.under_way.empty()) it.orphans.push_back(std::exchange(it.sends, {}));
    it.sends = {};
    if (it.orphans.size() > 3) it.orphans.erase(it.orphans.begin());
  }

  void kill(std::size_t i, unsigned how) {
    orphan(instances_[i]);
    start(i, how % 4);
    if (owner_ == i) owner_.reset();
  }

  void litter(unsigned how) {
    if (how % 3 == 0 && !log_.empty()) {  // what the log has already, once more
      const auto& again = log_[below(log_.size())];
      if (again) append(*again);
    } else if (how % 3 == 1) {
      // As the first of all it would begin a history, which nobody here goes on with.
      if (plain_.began()) append(author{{9, 9}, 9, k_other_lineage}.fence());
    } else {
      append(std::string(how % 50, 'R'));
    }
  }

  /// Never the very first fence: who has read it would go on with a history that nobody else knows.
  void truncate(unsigned how) {
    const std::size_t gone = std::min<std::size_t>(how % 6, log_.size() - kept_);
    if (gone == 0) return;
    log_.resize(log_.size() - gone);
    lost_ = true;
  }

  void check_phase(std::size_t i) {
    if (lost_) return;
    for (const auto& [step, chain] : told_) {
      const auto found = plain_.steps().find(step);
      RC_ASSERT(found != plain_.steps().end());
      RC_ASSERT(found->second.chain == chain);
    }
    RC_ASSERT(!stopped(i));
  }

  bool lands_nothing() {
    bool nothing = true;
    for (instance& each : instances_) {
      while (busy(each, 0) != nullptr) {
        land(each, action::land, 0);
        nothing = false;
      }
    }
    return nothing;
  }

  /// Everybody does what is due until nobody has anything to do.
  void drive() {
    for (int turn = 0; turn < 400; ++turn) {
      lands_nothing();
      for (std::size_t i = 0; i < k_instances; ++i) {
        while (!instances_[i].sends.reports.empty()) hear(instances_[i]);
        for (int k = 0; k < 8; ++k) work(i);
        if (turn % 50 == 0) tell_bounds(instances_[i], instances_[i].owner->reader().known_offset());
      }
    }
  }

  std::uint64_t random_;
  std::vector<std::optional<std::string>> log_;  ///< none: an offset without a record
  std::size_t kept_{0};                          ///< records up to the first fence
  plain_log::reader plain_{plain_options()};     ///< of all that was ever appended
  plain_log::reader now_{plain_options()};       ///< of what is there
  std::array<instance, k_instances> instances_;
  std::map<std::uint64_t, std::string> told_;
  std::optional<std::size_t> owner_;
  std::uint32_t generation_{0};
  std::uint64_t writers_{0};
  std::uint64_t made_{0};
  std::uint64_t dropped_{0};
  bool lost_{false};
};

/// Most of what happens is work; faults are rare enough that somebody gets to lead in between.
rc::Gen<std::vector<std::tuple<int, unsigned, unsigned>>> histories(int actions) {
  using rc::gen::just;
  const auto a = [](action what) { return just(static_cast<int>(what)); };
  auto what = rc::gen::weightedOneOf<int>({{2, a(action::assign)},
                                           {2, a(action::notice)},
                                           {20, a(action::work)},
                                           {20, a(action::thrive)},
                                           {8, a(action::make)},
                                           {16, a(action::land)},
                                           {16, a(action::report)},
                                           {2, a(action::look)},
                                           {3, rc::gen::inRange(0, actions)}});
  return rc::gen::scale(
      4.0, rc::gen::container<std::vector<std::tuple<int, unsigned, unsigned>>>(
               rc::gen::tuple(std::move(what), rc::gen::inRange(0U, 3U), rc::gen::inRange(0U, 240U))));
}

RC_GTEST_PROP(a_replicated_log, never_loses_a_confirmed_step, ()) {
  const auto history = *histories(k_faultless).as("(action, instance, how)");
  world w{*rc::gen::arbitrary<std::uint64_t>()};
  for (const auto& [what, who, how] : history) w.act(static_cast<action>(what), who, how);
  w.come_to_rest();
  w.expect_rest();
  RC_CLASSIFY(w.dropped() > 0, "steps were dropped");
  RC_CLASSIFY(w.told() > 4, "steps were told before the faults ended");
}

RC_GTEST_PROP(a_log_that_lost_records, contradicts_nobody_who_does_not_stop, ()) {
  const auto history = *histories(k_faultless + 1).as("(action, instance, how)");
  world w{*rc::gen::arbitrary<std::uint64_t>()};
  for (const auto& [what, who, how] : history) w.act(static_cast<action>(what), who, how);
  w.act(action::truncate, 0, 3);
  w.come_to_rest();
  w.read_now();
  w.expect_noticed();
}

}  // namespace
}  // namespace ratchet::replicate::testing
