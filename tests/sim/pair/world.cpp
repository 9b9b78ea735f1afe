// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "sim/pair/world.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "replicate/base_record.hpp"
#include "replicate/log_record.hpp"

namespace ratchet::pair_sim {

namespace {

constexpr std::uint32_t k_aggregates = 5;
constexpr std::uint32_t k_turns_with_faults = 400;
/// A member's session, a lost claim and an owner's patience are seconds; a turn is some 40 ms.
constexpr std::uint32_t k_turns_to_rest = 3'000;

[[nodiscard]] milliseconds drawn_session(std::uint64_t seed) {
  constexpr std::array k_sessions{milliseconds{600}, milliseconds{2'000}, milliseconds{6'000}};
  return k_sessions.at(seed % k_sessions.size());
}

}  // namespace

void history_result::add(const history_result& more) {
  did.add(more.did);
  steps += more.steps;
  cuts += more.cuts;
  records += more.records;
  for (const auto& [name, times] : more.fates) fates[name] += times;
  for (const auto& [name, times] : more.faults) faults[name] += times;
}

std::string to_text(const history_result& met) {
  std::string text = std::to_string(met.did.processes) + " processes, " + std::to_string(met.did.clients) +
                     " clients, " + std::to_string(met.did.leads) + " leads, " +
                     std::to_string(met.did.killed) + " killed, " + std::to_string(met.did.stopped) +
                     " stood still, " + std::to_string(met.did.handed_over) + " handed over, " +
                     std::to_string(met.did.compared) + " digests compared, " + std::to_string(met.cuts) +
                     " cuts, " + std::to_string(met.steps) + " confirmed steps\n";
  for (const auto* counts : {&met.fates, &met.faults}) {
    for (const auto& [name, count] : *counts)
      text += "  " + std::to_string(count) + (counts == &met.fates ? " records of the log: " : " times ") +
              name + "\n";
  }
  return text;
}

world::world(std::uint64_t seed, std::vector<std::string>* lines)
    : in_{seed},
      of_{in_, 1 + static_cast<std::uint32_t>(seed / 2 % 2), drawn_session(seed)},
      judge_{of_},
      first_partitions_{of_.inputs.size()},
      numbers_(k_aggregates),
      fault_rate_{15 + in_.draw(40)},
      session_{drawn_session(seed)} {
  in_.lines = lines;
  const std::uint32_t count = 2 + static_cast<std::uint32_t>(seed % 4 == 0);
  for (std::uint32_t i = 0; i < count; ++i)
    machines_.push_back(
        std::make_unique<machine>(of_, in_, judge_, "m" + std::to_string(i), seed / 3 % 2 == 0));
}

/// Whatever was found: no process may be left.
world::~world() {
  for (const auto& each : machines_) {
    each->thaw();
    each->kill_in(0);
    while (each->is_up()) {
      try {
        each->go_on();
      } catch (const broken&) {  // was told already
      }
    }
  }
}

history_result world::run() {
  try {
    for (std::uint32_t i = 0; i < k_turns_with_faults; ++i) turn();
    heal();
    std::uint32_t left = k_turns_to_rest;
    std::uint32_t resting = 0;
    while (resting < 20) {
      if (left-- == 0) throw broken("does not come to rest");
      turn();
      resting = is_at_rest() ? resting + 1 : 0;
    }
    check_rest();
  } catch (const broken& what) {
    result_.broken = what.what();
  }
  for (const auto& each : machines_) result_.did.add(each->did());
  result_.steps = judge_.confirmed();
  result_.cuts = judge_.cuts();
  result_.records = static_cast<std::uint64_t>(of_.log.end());
  result_.fates = judge_.fates();
  return result_;
}

void world::turn() {
  in_.now += milliseconds{10 + in_.draw(60)};
  if (!in_.heals) {
    produce();
    meet_faults();
  }
  land(in_.heals);
  of_.group.expire();
  judge_.read_on();
  std::vector<machine*> all;
  for (const auto& each : machines_) all.push_back(each.get());
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[in_.draw(static_cast<std::uint32_t>(i))]);
  for (machine* each : all) {
    if (!each->is_up()) {
      if (in_.heals || in_.one_in(20)) each->start();
      continue;
    }
    for (std::uint32_t slices = 1 + in_.draw(6); slices > 0 && each->is_up() && !each->is_frozen();
         --slices) {
      each->go_on();
      land(false);
    }
    if (!each->is_up()) be_down(*each);
  }
}

/// Events in order, with repeats and late ones.
void world::produce() {
  if (!in_.one_in(3)) return;
  for (std::uint32_t count = 1 + in_.draw(4); count > 0; --count) {
    const std::uint32_t aggregate = in_.draw(static_cast<std::uint32_t>(numbers_.size()));
    const std::size_t at = aggregate < k_aggregates ? aggregate % first_partitions_
                                                    : first_partitions_ + (aggregate - k_aggregates);
    auto& to = of_.inputs[at];
    std::uint32_t& last = numbers_[aggregate];
    std::uint32_t number = last;
    if (last == 0 || !in_.one_in(4)) {
      number = last += 1 + in_.draw(2);  // one that is left out comes late, or never
    } else if (!in_.one_in(3)) {
      number = 1 + in_.draw(last);
    }
    to.push_back({aggregate, number});
  }
}

/// What is under way lands, sooner or later; of writers that are gone, too.
void world::land(bool all) {
  using how = testing::memory_log::how;
  if (!is_led_) return;
  for (const auto& each : of_.log.producers()) {
    const bool is_alive = std::any_of(machines_.begin(), machines_.end(), [&](const auto& m) {
      return m->log() != nullptr && &m->log()->producer() == each.get();
    });
    while (!each->is_idle()) {
      if (!all && !in_.one_in(is_alive && !is_slow_ ? 2 : 40)) break;
      how what = how::kept;
      if (!in_.heals && in_.one_in(40)) {
        constexpr std::array k_hows{how::unsaid, how::repeated, how::lost};
        what = k_hows.at(in_.draw(3));
        note(what == how::unsaid ? "an offset that is not said"
             : what == how::lost ? "a record that fails"
                                 : "a record twice");
      }
      (void)of_.log.land(*each, what);
    }
  }
}

void world::meet_faults() {
  if (!in_.one_in(fault_rate_)) return;
  machine& whose = *machines_[in_.draw(static_cast<std::uint32_t>(machines_.size()))];
  in_.one_in(3) ? meet_brokers(in_.draw(11)) : meet(in_.draw(10), whose);
}

void world::meet(std::uint32_t which, machine& whose) {
  switch (which) {
    case 0:
    case 1:
      note("a kill");
      return whose.kill_in(in_.draw(60));
    case 2:
    case 3:
    case 4: {
      note("a stop");
      const auto longest = static_cast<std::uint32_t>(session_.count()) * 2;
      return whose.freeze_in(in_.draw(60), milliseconds{1 + in_.draw(longest)});
    }
    case 5:
      note("a stop of the process");
      return whose.stop();
    case 6:
      note("a hand-over");
      return whose.hand_over();
    case 7:
      note("a full disk, or room again");
      return whose.fill_disk(!whose.has_full_disk());
    case 8:
      note("a config that does not fit, or does again");
      return whose.misfit(!whose.is_misfit());
    default:
      note("a wrong clock");
      whose.clock().wrong_by += milliseconds{static_cast<std::int64_t>(in_.draw(200'000)) - 100'000};
      return;
  }
}

void world::meet_brokers(std::uint32_t which) {
  switch (which) {
    case 0:
      note("a rebalance");
      return of_.group.rebalance();
    case 1:
      note("slow brokers");
      is_slow_ = !is_slow_;
      return;
    case 2:
      note("a pause of all");
      in_.now += milliseconds{in_.draw(static_cast<std::uint32_t>(session_.count()) * 2)};
      return;
    case 3:
      note("a coordinator that went back");
      return of_.group.go_back(1 + in_.draw(3));
    case 4:
      note("a coordinator that does not answer");
      of_.answers = !of_.answers;
      return;
    case 5:
      note("a log without a leader");
      is_led_ = !is_led_;
      return of_.log.set_led(is_led_);
    case 6:
      return forge_base();
    case 7:
      return add_partition();
    case 8:
      return refuse_records();
    default:
      return repeat_records();
  }
}

/// Somebody else appends to the topic of the bases: an end without a base, one in the middle of a base, or a
/// whole base of a step that the log does not have.
void world::forge_base() {
  replicate::base_content of;
  replicate::log_record last;
  for (std::int64_t at = of_.log.first(); at < of_.log.end(); ++at) {
    const auto& bytes = of_.log.at(at);
    if (!bytes || decode_record(*bytes, last) != replicate::record_fault::none) continue;
    of.at.lineage = last.head.lineage;
    of.layout = last.head.layout;
    if (last.head.kind == replicate::record_kind::fence) of.meaning = last.fence.meaning;
    if (last.head.kind != replicate::record_kind::step || !last.head.last) continue;
    of.at.epoch = last.head.epoch;
    of.at.writer = last.head.writer;
    of.at.step = last.chunk.step;
    of.at.chain = last.chunk.chain;
    of.at.offset = at;
  }
  if (!of.at.is_of_rows()) return;
  note("a base of somebody else");
  std::uint64_t base = 77;
  switch (in_.draw(4)) {
    case 0:
      of.at.offset += 1;
      break;
    case 1:
      of.at.chain.low ^= 1;
      break;
    case 2:
      of.at.bytes = UINT64_MAX;
      of.at.chain.high ^= 1;
      break;
    default: {
      replicate::base_record open;
      const std::int64_t end = of_.bases.end();
      if (end > of_.bases.first() && decode_base_record(*of_.bases.at(end - 1), open)) base = open.head.base;
      break;
    }
  }
  std::string bytes;
  if (base == 77 && in_.one_in(2)) {
    of.at.chain.high += 2;  // the judge looks at the rows of whole ones that are true
    replicate::append_base_begin(bytes, {replicate::base_kind::begin, *of.at.lineage, base}, of);
    of_.bases.append(std::exchange(bytes, {}));
  }
  replicate::append_base_end(bytes, {replicate::base_kind::end, *of.at.lineage, base}, {of, 0, 0, {}});
  of_.bases.append(bytes);
}

/// With aggregates of its own: those that there are stay where they are.
void world::add_partition() {
  constexpr std::size_t k_most = 4;
  if (of_.inputs.size() == k_most) return;
  note("a partition that is added");
  of_.inputs.emplace_back();
  numbers_.push_back(0);
}

/// A right that is taken away, and given back: of fences and all else that is no step, or of steps.
void world::refuse_records() {
  if (of_.log.refuses) {
    of_.log.refuses = {};
    return;
  }
  note("brokers that refuse");
  const bool takes_steps = in_.one_in(2);
  of_.log.refuses = [takes_steps](const replicate::append_request& r) {
    const bool is_taken = (r.ticket.step > 0) == takes_steps;
    return is_taken ? std::error_code{} : make_error_code(errc::access_denied);
  };
}

/// As a client does behind a new leader.
void world::repeat_records() {
  note("records again");
  constexpr std::int64_t k_newest = 20;
  const std::int64_t end = of_.log.end();
  std::int64_t at = std::max(of_.log.first(), end - 1 - static_cast<std::int64_t>(in_.draw(k_newest)));
  for (std::uint32_t count = 1 + in_.draw(3); count > 0 && at < end; --count, ++at) {
    if (const auto record = of_.log.at(at)) of_.log.append(*record);
  }
}

/// Between two processes of a machine.
void world::be_down(machine& whose) {
  if (in_.heals) return;
  if (of_.group.is_empty() && in_.one_in(2) && of_.group.erase()) note("a deleted group");
  switch (in_.draw(8)) {
    case 0:
      note("a power cut");
      return whose.lose_tail();
    case 1:
      note("a lost directory");
      return whose.lose_directory();
    case 2:
      note("an older directory");
      return whose.put_back();
    case 3:
      return whose.back_up();
    default:
      return;
  }
}

void world::heal() {
  in_.trace("the world", "== all is well from now on");
  in_.heals = true;
  is_slow_ = false;
  of_.answers = is_led_ = true;
  of_.log.set_led(true);
  of_.log.refuses = {};
  for (const auto& each : machines_) {
    each->thaw();
    each->fill_disk(false);
    each->misfit(false);
  }
}

/// (9) One owner, and nothing left to do.
bool world::is_at_rest() {
  std::uint32_t owners = 0;
  for (const auto& each : machines_) {
    if (!each->is_up() || each->step() != judge_.last_step()) return false;
    owners += each->leads() ? 1U : 0U;
  }
  return owners == 1 && judge_.is_all_done();
}

void world::check_rest() {
  judge_.at_the_end();
  for (const auto& each : machines_) {
    each->stop();
    // It may have begun something a moment before, and compares its rows with the history behind that.
    for (std::uint32_t left = k_turns_to_rest; each->is_up(); --left) {
      if (left == 0) throw broken("does not stop");
      in_.now += milliseconds{10};
      land(true);
      each->go_on();
    }
  }
}

history_result play(std::uint64_t seed, std::vector<std::string>* lines) {
  return world{seed, lines}.run();
}

}  // namespace ratchet::pair_sim
